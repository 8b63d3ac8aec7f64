//! The configuration file of the plugin.

use std::collections::HashSet;
use std::fmt::Display;

use pratique_gotext::strconv::quote;
use pratique_gotext::validation::{dns1123_label, dns1123_subdomain};
use pratique_manifest::{ConfigurationKind, Failure, decode_plugin_configuration};
use serde_json::Value as Json;

use crate::{Level, LevelVersion, Mode, PodSecuritySettings, Policy, Version};

/// Why a configuration is refused, in the server's words.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConfigurationError {
    /// It cannot be decoded.
    #[error("{}", .0.text)]
    Undecodable(Failure),
    /// Defaults are no levels or versions.
    #[error("PodSecurity configuration error: {}", aggregate(.0))]
    Defaults(Vec<String>),
    /// Exemptions are not valid.
    #[error("PodSecurity invalid: {}", aggregate(.0))]
    Exemptions(Vec<String>),
}

const GROUP: &str = "pod-security.admission.config.k8s.io";
const KIND: &str = "PodSecurityConfiguration";

const fn of_version(version: &'static str, type_name: &'static str) -> ConfigurationKind {
    ConfigurationKind {
        group: GROUP,
        version,
        kind: KIND,
        type_name,
    }
}

/// The version that configurations have within a server. It reads that one too, without its fields and defaults.
const INTERNAL: &str = "__internal";

/// The versions of the kind, which have the same fields.
const KINDS: [ConfigurationKind; 4] = [
    of_version("v1", "api/v1.PodSecurityConfiguration"),
    of_version("v1beta1", "api/v1beta1.PodSecurityConfiguration"),
    of_version("v1alpha1", "api/v1alpha1.PodSecurityConfiguration"),
    of_version(INTERNAL, "meta/v1.TypeMeta"),
];

impl PodSecuritySettings {
    /// Reads a configuration file, as a server does when it starts; an empty one says nothing.
    ///
    /// # Errors
    /// The server would not start.
    // Upstream: pod-security-admission/admission/api/load/load.go, LoadFromData
    pub fn read(path: &str, text: &[u8]) -> Result<Self, ConfigurationError> {
        if text.is_empty() {
            return Ok(PodSecuritySettings::default());
        }
        let decoded =
            decode_plugin_configuration(path, text, &KINDS).map_err(ConfigurationError::Undecodable)?;
        let version = member(&decoded, "apiVersion").as_str().unwrap_or_default();
        if version.ends_with(INTERNAL) {
            return Err(ConfigurationError::Defaults(all_required()));
        }
        let exemptions = |list| texts(member(member(&decoded, "exemptions"), list));
        let settings = PodSecuritySettings {
            defaults: defaults(member(&decoded, "defaults"))?,
            exempt_users: exemptions("usernames"),
            exempt_namespaces: exemptions("namespaces"),
            exempt_runtime_classes: exemptions("runtimeClasses"),
        };
        match settings.problems().as_slice() {
            [] => Ok(settings),
            problems => Err(ConfigurationError::Exemptions(problems.to_vec())),
        }
    }

    // Upstream: pod-security-admission/admission/api/validation/validation.go, ValidatePodSecurityConfiguration
    fn problems(&self) -> Vec<String> {
        let user = |name: &str| match name {
            "" => vec!["username must not be empty".to_owned()],
            _ => Vec::new(),
        };
        let mut problems = Vec::new();
        check(
            "namespaces",
            &self.exempt_namespaces,
            dns1123_label,
            &mut problems,
        );
        check(
            "runtimeClasses",
            &self.exempt_runtime_classes,
            dns1123_subdomain,
            &mut problems,
        );
        check("usernames", &self.exempt_users, user, &mut problems);
        problems
    }
}

/// Checks a list of exemptions: each valid, and each once.
fn check(list: &str, names: &[String], faults: impl Fn(&str) -> Vec<String>, problems: &mut Vec<String>) {
    let mut seen = HashSet::new();
    for (index, name) in names.iter().enumerate() {
        let field = format!("exemptions.{list}[{index}]");
        match faults(name).as_slice() {
            [] if seen.insert(name) => {}
            [] => problems.push(format!("{field}: Duplicate value: {}", quote(name))),
            faults => problems.push(format!(
                "{field}: Invalid value: {}: {}",
                quote(name),
                faults.join(", ")
            )),
        }
    }
}

/// The policy of namespaces without labels. What is not said is privileged, and the latest.
// Upstream: pod-security-admission/admission/api/helpers.go, ToPolicy
fn defaults(decoded: &Json) -> Result<Policy, ConfigurationError> {
    let mut problems = Vec::new();
    let mut of_mode = |mode: Mode| {
        let level_field = mode.as_str();
        let version_field = format!("{level_field}-version");
        let given = |field: &str| member(decoded, field).as_str().filter(|text| !text.is_empty());
        let level = given(level_field).map_or(Ok(Level::Privileged), Level::parse);
        let version = given(&version_field).map_or(Ok(Version::Latest), Version::parse);
        let level = noted(level, level_field, &mut problems);
        let version = noted(version, &version_field, &mut problems);
        LevelVersion { level, version }
    };
    let policy = Policy {
        enforce: of_mode(Mode::Enforce),
        audit: of_mode(Mode::Audit),
        warn: of_mode(Mode::Warn),
    };
    match problems.as_slice() {
        [] => Ok(policy),
        _ => Err(ConfigurationError::Defaults(problems)),
    }
}

/// What a configuration without defaults lacks.
fn all_required() -> Vec<String> {
    let modes = [Mode::Enforce, Mode::Audit, Mode::Warn].into_iter();
    let fields = modes.flat_map(|mode| ["", "-version"].map(|suffix| format!("{}{suffix}", mode.as_str())));
    fields.map(|field| format!("{field}: required")).collect()
}

/// The value, or its default with the problem noted.
fn noted<T: Default>(read: Result<T, impl Display>, field: &str, problems: &mut Vec<String>) -> T {
    read.unwrap_or_else(|error| {
        problems.push(format!("{field}: {error}"));
        T::default()
    })
}

/// A field, null where it is missing.
fn member<'a>(value: &'a Json, name: &str) -> &'a Json {
    value.get(name).unwrap_or(&Json::Null)
}

fn texts(list: &Json) -> Vec<String> {
    let texts = list.as_array().into_iter().flatten();
    texts
        .map(|text| text.as_str().unwrap_or_default().to_owned())
        .collect()
}

/// Several errors as one.
// Upstream: apimachinery/pkg/util/errors/errors.go, aggregate.Error
fn aggregate(problems: &[String]) -> String {
    match problems {
        [problem] => problem.clone(),
        problems => format!("[{}]", problems.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fields: &str) -> Result<PodSecuritySettings, String> {
        let text = format!("apiVersion: {GROUP}/v1\nkind: {KIND}\n{fields}");
        PodSecuritySettings::read("psa.yaml", text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn settings() {
        let settings =
            read("defaults: {enforce: baseline, enforce-version: v1.30}\nexemptions: {usernames: [ann]}\n");
        let settings = settings.unwrap();
        assert_eq!(settings.defaults.enforce.to_string(), "baseline:v1.30");
        assert_eq!(settings.defaults.warn, LevelVersion::default());
        assert_eq!(settings.exempt_users, ["ann"]);
        assert_eq!(
            PodSecuritySettings::read("none", b""),
            Ok(PodSecuritySettings::default())
        );
    }

    #[test]
    fn errors() {
        assert_eq!(
            read("defaults: {enforce: all, warn-version: '1.2'}\n").unwrap_err(),
            "PodSecurity configuration error: [enforce: must be one of privileged, baseline, restricted, warn-version: must \
             be \"latest\" or \"v1.x\"]"
        );
        assert_eq!(
            read("exemptions: {usernames: [ann, '', ann]}\n").unwrap_err(),
            "PodSecurity invalid: [exemptions.usernames[1]: Invalid value: \"\": username must not be empty, \
             exemptions.usernames[2]: Duplicate value: \"ann\"]"
        );
        let internal = format!("apiVersion: {GROUP}/__internal\nkind: {KIND}\n");
        let error = PodSecuritySettings::read("psa.yaml", internal.as_bytes()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "PodSecurity configuration error: [enforce: required, enforce-version: required, audit: required, \
             audit-version: required, warn: required, warn-version: required]"
        );
        assert_eq!(
            read("defaults: {enforced: x}\n").unwrap_err(),
            "strict decoding error: unknown field \"defaults.enforced\""
        );
    }
}
