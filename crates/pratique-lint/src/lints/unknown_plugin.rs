//! Entries of an AdmissionConfiguration that no plugin reads.
//!
//! # What
//!
//! An AdmissionConfiguration has an entry for a plugin that does not exist, a second one for the same plugin, or one
//! for a plugin that is off with the flags of `check`. For plugins that were removed, such as PodSecurityPolicy, the
//! warning names the release and the replacement.
//!
//! # Why
//!
//! The server ignores all of them silently: their configuration has no effect.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: apiserver.config.k8s.io/v1
//! kind: AdmissionConfiguration
//! plugins: [{name: ValidatingAdmissionPolicies}]
//! ```
//!
//! The plugin is named `ValidatingAdmissionPolicy`.

use pratique_gotext::suggest::{did_you_mean, nearest};
use pratique_manifest::{Help, IgnoredPlugin, IgnoredReason};
use pratique_types::admission_plugins::{self, BUILT_IN, known_in};

use crate::lint::{Lint, LintContext, LintSubject};
use crate::lint_meta::LintMeta;
use crate::report::LintReport;
use crate::warning::Warning;

/// The lint `unknown-plugin`.
pub(crate) struct UnknownPlugin;

impl Lint for UnknownPlugin {
    const META: &'static LintMeta = &LintMeta {
        name: "unknown-plugin",
        summary: "An AdmissionConfiguration has an entry that no plugin reads: a name that none has, one that is given twice, or one that is off.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        if let LintSubject::IgnoredPlugin(plugin) = context.subject {
            report.push(warning(plugin));
        }
    }
}

fn warning(plugin: &IgnoredPlugin) -> Warning {
    let name = &plugin.name;
    let (message, help) = match plugin.reason {
        IgnoredReason::Duplicate => (
            format!("the plugin {name:?} is configured before: this entry is ignored"),
            Some("make one of both entries: only the first counts".to_owned()),
        ),
        IgnoredReason::Off => (
            format!("the plugin {name:?} is not on: the entry is ignored"),
            Some("turn it on with --enable-admission-plugins".to_owned()),
        ),
        IgnoredReason::Unread => (
            format!(
                "before Kubernetes 1.36 the plugin {name:?} reads no configuration: the entry is ignored"
            ),
            None,
        ),
        IgnoredReason::Unknown => {
            let help = match known_in(name, plugin.release) {
                Err(admission_plugins::UnknownPlugin::Unknown(_)) => meant(name, plugin.release),
                Err(absent) => Some(absent.to_string()),
                Ok(_) => None,
            };
            (
                format!("no admission plugin is named {name:?}: the entry is ignored"),
                help,
            )
        }
    };
    Warning {
        lint: UnknownPlugin::META,
        message,
        object: None,
        field: "plugins".to_owned(),
        location: plugin.location.clone(),
        help: help.map(Help::from),
        example: None,
    }
}

/// The plugin of a release that a name was meant to be.
fn meant(name: &str, release: (u32, u32)) -> Option<String> {
    let plugins = BUILT_IN.iter().filter(|plugin| plugin.is_in(release));
    nearest(name, plugins.map(|plugin| plugin.name)).map(did_you_mean)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pratique_manifest::{ConfigurationLoader, ConfigurationOptions, LoadOptions, UncheckedExpressions};
    use pratique_schema::{FeatureGates, Release};

    #[track_caller]
    fn check_names(names: &[&str], expected: &[(u32, &str)]) {
        check_names_in("1.37", names, expected);
    }

    #[track_caller]
    fn check_names_in(release: &str, names: &[&str], expected: &[(u32, &str)]) {
        let entries: String = names.iter().map(|name| format!("- {{name: {name}}}\n")).collect();
        let text = format!(
            "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n{entries}"
        );
        let path = std::env::temp_dir().join(format!(
            "pratique-lint-{}-{release}-{}.yaml",
            std::process::id(),
            names.len()
        ));
        fs::write(&path, text).unwrap();
        let options = ConfigurationOptions {
            manifests: LoadOptions::new(&UncheckedExpressions),
            feature_gates: FeatureGates::new(Release::by_version(release).unwrap()),
        };
        let loaded = ConfigurationLoader::new(&options)
            .load(&path.to_string_lossy())
            .unwrap();
        fs::remove_file(&path).unwrap();
        let found = crate::lint_configuration(&loaded.ignored, None);
        let found: Vec<_> = found
            .iter()
            .map(|warning| {
                (
                    warning.location.start.line,
                    warning.help.as_ref().map_or("", |help| help.text.as_str()),
                )
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn plugins_are_those_of_the_release() {
        let enforcer = "AuthorizationConditionsEnforcer";
        let later = "admission plugin AuthorizationConditionsEnforcer is there since Kubernetes 1.38";
        check_names_in("1.37", &[enforcer], &[(4, later)]);
        check_names_in("1.38", &[enforcer], &[]);
        // What is not there yet is not what was meant.
        check_names_in("1.37", &["AuthorizationConditionEnforcer"], &[(4, "")]);
        let meant = "did you mean \"AuthorizationConditionsEnforcer\"?";
        check_names_in("1.38", &["AuthorizationConditionEnforcer"], &[(4, meant)]);
        let exists = "PodGroupWorkloadExists";
        let later = "admission plugin PodGroupWorkloadExists is there since Kubernetes 1.36";
        let gone = "admission plugin PodGroupWorkloadExists is gone since Kubernetes 1.37; instead there is nothing: a PodGroup may \
            come before its Workload";
        check_names_in("1.35", &[exists], &[(4, later)]);
        check_names_in("1.36", &[exists], &[]);
        check_names_in("1.37", &[exists], &[(4, gone)]);
    }

    #[test]
    fn ignored_entries() {
        check_names(
            &[
                "ValidatingAdmissionPolicies",
                "PodSecurity",
                "PodSecurity",
                "Nonsense",
                "PodSecurityPolicy",
            ],
            &[
                (4, "did you mean \"ValidatingAdmissionPolicy\"?"),
                (6, "make one of both entries: only the first counts"),
                (7, ""),
                (
                    8,
                    "admission plugin PodSecurityPolicy is gone since Kubernetes 1.25; instead there is PodSecurity, or \
                     policies of your own",
                ),
            ],
        );
        check_names(&["ValidatingAdmissionPolicy", "ImagePolicyWebhook"], &[]);
    }
}
