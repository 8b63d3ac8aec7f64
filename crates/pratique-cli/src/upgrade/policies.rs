//! The policies of an upgrade, loaded as servers of both releases do.

use std::collections::BTreeSet;

use pratique_json::Value;
use pratique_manifest::{Failure, LoadErrors, ManifestFile, OptionalVersion, Problem};
use pratique_policy::Origin;
use pratique_request::kind_of;
use pratique_review::chain::ChainSettings;
use pratique_review::{add_sets, bind};
use pratique_schema::FeatureGates;
use pratique_types::GroupVersion;
use serde::Serialize;

use super::finding::{UpgradeFinding, UpgradeRule};
use super::unmatched_rules::unmatched_rules;
use super::versions::deprecation;
use super::{server_command, webhooks};
use crate::arguments::{PolicyArguments, UpgradeArguments};
use crate::baseline::BaselineLevel;
use crate::evaluation::chain;
use crate::evaluation::policies as evaluated;
use crate::exit::CliError;
use crate::input::FileSelection;
use crate::output::problems;
use crate::policies::{self, LoadFailure, OriginSets};
use crate::replay::engine::{ReadyPolicies, reported};
use crate::snapshot::{StateSource, WebhookUse};

/// The policies as both releases load them, and what differs.
pub(super) struct PolicyPair {
    pub(super) old: ReadyPolicies,
    pub(super) new: ReadyPolicies,
    pub(super) findings: Vec<UpgradeFinding>,
    /// Whether there are policies that the new release does not load, so that it evaluates none of them.
    pub(super) is_new_refused: bool,
}

/// Policies of one release, and what has rules: these policies, and the webhook configurations beside them.
struct LoadedSide {
    policies: ReadyPolicies,
    with_rules: Vec<Value<'static>>,
    /// The policies and bindings of versions that servers have to be told to serve.
    optional: Vec<OptionalVersion>,
    /// What does not compile of those of a cluster.
    uncompiled: Vec<Failure>,
}

impl PolicyPair {
    /// Loads what arguments name, or else what a cluster or snapshot has; `None` if the old release does not load it, which is
    /// reported.
    pub(super) fn load(
        arguments: &UpgradeArguments,
        selection: &FileSelection,
        state: &mut StateSource,
        [old, new]: [FeatureGates; 2],
    ) -> Result<Option<Self>, CliError> {
        let named = &arguments.policies;
        let of_cluster = if is_named(named) {
            None
        } else {
            state.policies(WebhookUse::Taken)?
        };
        let load = |gates| load(named, selection, of_cluster.clone(), gates, arguments.state.bind);
        let Some(loaded) = reported(load(old))? else {
            return Ok(None);
        };
        let mut findings: Vec<UpgradeFinding> = loaded
            .with_rules
            .iter()
            .flat_map(|object| {
                let place = object.at(&["metadata", "name"]).and_then(Value::as_str);
                let place = place.unwrap_or_default().to_owned();
                let releases = [old.release(), new.release()];
                let kind = kind_of(object).ok();
                let unmatched = kind.map(|kind| unmatched_rules(&kind, object, releases));
                let excluded = webhooks::excluded(object, old, new).into_iter();
                let findings = excluded.chain(unmatched.into_iter().flatten());
                findings.map(move |finding| finding.about(&place))
            })
            .collect();
        findings.extend(ignored_plugins(named, [old, new]));
        let (new_policies, is_new_refused) = match load(new) {
            Ok(loaded_new) => {
                let deprecated = loaded_new.optional.iter();
                findings.extend(deprecated.filter_map(|optional| deprecated_policy(optional, new)));
                let failures = loaded_new.uncompiled.iter();
                findings.extend(failures.flat_map(|failure| &failure.problems).map(invalid_policy));
                (loaded_new.policies, false)
            }
            Err(LoadFailure::Cli(error)) => return Err(error),
            Err(LoadFailure::Invalid { errors, .. }) => {
                findings.extend(invalid(&errors, new));
                let admission = policies::builder(new).build().map_err(policies::unusable);
                let Some(admission) = reported(admission)? else {
                    return Ok(None);
                };
                (ReadyPolicies::new(admission, OriginSets::new(), new), true)
            }
        };
        // Without those of one release, nothing can be said of what policies decide otherwise.
        let old_policies = if is_new_refused {
            let admission = policies::builder(old).build().map_err(policies::unusable);
            let Some(admission) = reported(admission)? else {
                return Ok(None);
            };
            ReadyPolicies::new(admission, OriginSets::new(), old)
        } else {
            loaded.policies
        };
        Ok(Some(PolicyPair {
            old: old_policies,
            new: new_policies,
            findings,
            is_new_refused,
        }))
    }

    /// The level of the built-in policies, if these are evaluated.
    pub(super) fn builtin(&self) -> Option<BaselineLevel> {
        self.old.builtin
    }
}

/// Whether arguments name policies.
pub(super) fn is_named(named: &PolicyArguments) -> bool {
    named.admission_control_config_file.is_some()
        || named.manifests.is_some()
        || !named.paths.policies.is_empty()
}

fn load(
    named: &PolicyArguments,
    selection: &FileSelection,
    of_cluster: Option<Vec<ManifestFile>>,
    gates: FeatureGates,
    binds: bool,
) -> Result<LoadedSide, LoadFailure> {
    let builder = policies::builder(gates);
    let expressions = builder.expressions();
    let builtin = (!is_named(named) && of_cluster.is_none()).then_some(named.level);
    let mut static_sets = Vec::new();
    if let Some(path) = &named.admission_control_config_file {
        // The other plugins are started, too: a server refuses what they cannot use.
        let started = chain::start(&ChainSettings::default(), Some(path), gates, expressions)?;
        let configurations = started.configurations.into_iter();
        static_sets.extend(configurations.map(|plugin| plugin.manifests));
    } else if let Some(path) = &named.manifests {
        static_sets.push(evaluated::directory(path, named.plugin, expressions)?);
    } else if let Some(level) = builtin {
        static_sets.push(evaluated::embedded(level, expressions)?);
    }
    let mut sets: OriginSets = static_sets.into_iter().map(|set| (Origin::Static, set)).collect();
    sets.extend(policies::load(&named.paths, selection, expressions)?);
    let of_cluster = of_cluster.map(|files| policies::load_of_cluster(files, expressions));
    sets.extend(of_cluster.transpose()?.into_iter().flatten());
    policies::tell_loaded(&sets, selection);
    if binds {
        bind(&mut sets);
    }
    // What they answer is not known here: they are compared by what they see.
    let mut with_rules = Vec::new();
    let mut optional = Vec::new();
    let mut uncompiled = Vec::new();
    for (_, set) in &mut sets {
        optional.extend(set.optional.iter().cloned());
        uncompiled.append(&mut set.uncompiled);
        let mutating = std::mem::take(&mut set.mutating_webhooks);
        with_rules.extend(mutating.iter().filter_map(|loaded| as_json(&*loaded.object)));
        let validating = std::mem::take(&mut set.validating_webhooks);
        with_rules.extend(validating.iter().filter_map(|loaded| as_json(&*loaded.object)));
        let mutating = set.mutating_policies.iter();
        with_rules.extend(mutating.filter_map(|loaded| as_json(&*loaded.object)));
        let validating = set.validating_policies.iter();
        with_rules.extend(validating.filter_map(|loaded| as_json(&*loaded.object)));
    }
    let admission = add_sets(builder, sets.iter().cloned())
        .build()
        .map_err(policies::unusable)?;
    Ok(LoadedSide {
        policies: ReadyPolicies {
            builtin,
            ..ReadyPolicies::new(admission, sets, gates)
        },
        with_rules,
        optional,
        uncompiled,
    })
}

/// A finding for a policy or binding whose version is deprecated in the new release.
fn deprecated_policy(optional: &OptionalVersion, new: FeatureGates) -> Option<UpgradeFinding> {
    let version = GroupVersion::parse(&optional.version).ok()?;
    let kind = version.with_kind(&optional.name.kind.to_string());
    let finding = deprecation(&kind, new.release())?;
    Some(finding.at(&problems::place(&optional.location)))
}

/// An object as JSON; what was read has that form.
fn as_json(object: &impl Serialize) -> Option<Value<'static>> {
    let text = serde_json::to_string(object).ok()?;
    let value = pratique_json::parse(text.as_bytes()).ok()?;
    Some(value.into_owned())
}

/// A finding for each problem that the new release has with policies which the old one loads.
fn invalid(errors: &LoadErrors, gates: FeatureGates) -> Vec<UpgradeFinding> {
    let findings: Vec<UpgradeFinding> = errors.problems().map(invalid_policy).collect();
    if findings.is_empty() {
        let message = format!("Kubernetes {} does not load it: {errors}", gates.release());
        return vec![UpgradeRule::InvalidPolicy.about("the configuration", message)];
    }
    findings
}

fn invalid_policy(problem: &Problem) -> UpgradeFinding {
    let about = match &problem.object {
        Some(object) => object.name.clone(),
        None => "the configuration".to_owned(),
    };
    let finding = UpgradeRule::InvalidPolicy.about(about, problem.message.as_str());
    match &problem.location {
        Some(location) => finding.at(&problems::place(location)),
        None => finding,
    }
}

/// A finding for each plugin that an AdmissionConfiguration configures and the new release does not have: its name is ignored.
// Upstream: apiserver/pkg/admission/config.go, ConfigFor looks up the names of plugins that there are
fn ignored_plugins(named: &PolicyArguments, [old, new]: [FeatureGates; 2]) -> Vec<UpgradeFinding> {
    let Some(path) = &named.admission_control_config_file else {
        return Vec::new();
    };
    let Ok(file) = crate::input::read(path.as_ref(), MOST_MEBIBYTES, new.release()) else {
        // Loading it says why it cannot be read.
        return Vec::new();
    };
    let plugins = file.objects.iter().flat_map(|input| {
        let plugins = input.object.get("plugins").and_then(Value::as_array);
        plugins.unwrap_or_default().iter()
    });
    let names: BTreeSet<&str> = plugins
        .filter_map(|plugin| plugin.get("name").and_then(Value::as_str))
        .collect();
    let has = |gates: FeatureGates, name| server_command::has_plugin(gates.release(), name);
    let gone = names.into_iter().filter(|name| has(old, name) && !has(new, name));
    gone.map(|name| {
        let message = format!(
            "Kubernetes {} has no admission plugin {name}: its configuration is ignored",
            new.release()
        );
        UpgradeRule::IgnoredPlugin.about(name, message).at(path)
    })
    .collect()
}

/// The largest AdmissionConfiguration that is read for the names of its plugins, in MiB.
const MOST_MEBIBYTES: u32 = 32;
