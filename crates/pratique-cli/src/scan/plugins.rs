//! Plugins of an API server that decide about an object by what it is: each by itself, in addition to the policies.
//!
//! What is there already was admitted once. So a plugin makes sense here only if it would decide alike about an object today
//! because of what the object is: not because of who sends it, of when, or of how much there is besides. An object is not
//! changed by the scan, but each plugin sees it as it would be created, with what plugins set. None hides what others find.

use pratique::Admission;
use pratique::plugins::{self, Effects, MutableAttributes, Plugin, PluginContext, Rejection, StateKind};
use pratique_json::Value;
use pratique_manifest::ManifestPlugin;
use pratique_report::{Action, Decision};
use pratique_review::chain::ChainSettings;
use pratique_types::GroupResource;
use pratique_types::admission_plugins::{BUILT_IN, BuiltIn, PluginSwitches};
use pratique_types::{AdmissionRequest, Operation};

use crate::arguments::ScanChainArguments;
use crate::evaluation::missing_input::JsonUndecided;
use crate::evaluation::record::DecisionRecord;
use crate::evaluation::state::OF_CLUSTER_TO_PLUGINS;
use crate::exit::CliError;
use crate::scan::scan_error::ScanError;
use pratique_review::PolicyDecision;

/// Whether objects of a kind are kept that plugins look up. PodSecurity looks for the Pods of a namespace only where its labels
/// change, and there may be any number of them.
pub(super) fn is_kept(kind: &StateKind) -> bool {
    OF_CLUSTER_TO_PLUGINS.contains(&kind.kind)
}

/// A plugin that decides by what an object is, and the resources that it decides about.
struct ScannedPlugin {
    name: &'static str,
    /// By their group.
    resources: &'static [(&'static str, &'static [&'static str])],
}

const PODS: &[(&str, &[&str])] = &[("", &["pods"])];

const SCANNED: [ScannedPlugin; 6] = [
    ScannedPlugin {
        name: "LimitPodHardAntiAffinityTopology",
        resources: PODS,
    },
    ScannedPlugin {
        name: "LimitRanger",
        resources: &[("", &["pods", "persistentvolumeclaims"])],
    },
    ScannedPlugin {
        name: "PodSecurity",
        resources: &[
            (
                "",
                &["namespaces", "pods", "podtemplates", "replicationcontrollers"],
            ),
            (
                "apps",
                &["daemonsets", "deployments", "replicasets", "statefulsets"],
            ),
            ("batch", &["cronjobs", "jobs"]),
        ],
    },
    ScannedPlugin {
        name: "PodNodeSelector",
        resources: PODS,
    },
    ScannedPlugin {
        name: "PodTolerationRestriction",
        resources: PODS,
    },
    ScannedPlugin {
        name: "DenyServiceExternalIPs",
        resources: &[("", &["services"])],
    },
];

fn scanned(name: &str) -> Option<&'static ScannedPlugin> {
    SCANNED.iter().find(|scanned| scanned.name == name)
}

/// Whether a plugin decides about a resource.
pub(super) fn concerns(plugin: &str, resource: &GroupResource) -> bool {
    let mut resources = scanned(plugin).into_iter().flat_map(|scanned| scanned.resources);
    resources.any(|(group, names)| *group == resource.group && names.contains(&resource.resource.as_str()))
}

/// Why a plugin is not evaluated for what is there.
fn why_not(name: &str) -> &'static str {
    match name {
        "ResourceQuota" => "what is there is counted in the usage of its quotas already",
        "NamespaceAutoProvision" | "NamespaceExists" | "NamespaceLifecycle" => {
            "what is there was created while its namespace could have objects"
        }
        "AlwaysAdmit" | "AlwaysDeny" => "it does not look at objects",
        "EventRateLimit" | "ImagePolicyWebhook" => "it decides by when it is asked, or asks another program",
        "NodeRestriction"
        | "OwnerReferencesPermissionEnforcement"
        | "CertificateApproval"
        | "CertificateSigning"
        | "ClusterTrustBundleAttest" => "it decides by who sends a request",
        _ => "it completes objects, which what is there was, or decides about changes of them",
    }
}

/// The plugins that are evaluated, if any are.
///
/// # Errors
/// One is named that makes no sense for what is there, or for updates.
pub(super) fn settings(
    arguments: &ScanChainArguments,
    operation: Operation,
) -> Result<Option<ChainSettings>, CliError> {
    if !arguments.is_on() {
        return Ok(None);
    }
    if operation != Operation::Create {
        return Err(CliError::Scan(ScanError::PluginsOfUpdates));
    }
    let PluginSwitches {
        release,
        enabled,
        mut disabled,
    } = arguments.admission_plugins.switches();
    let is_run = |plugin: &BuiltIn| {
        let is_for_manifests = ManifestPlugin::from_name(plugin.name).is_some();
        is_for_manifests || scanned(plugin.name).is_some()
    };
    if let Some(plugin) = enabled.iter().flatten().find(|plugin| !is_run(plugin)) {
        return Err(CliError::Scan(ScanError::NotScanned {
            plugin: plugin.name,
            why: why_not(plugin.name),
        }));
    }
    let others = BUILT_IN
        .iter()
        .filter(|plugin| plugin.is_in(release) && !is_run(plugin));
    disabled.extend(others);
    Ok(Some(ChainSettings {
        switches: PluginSwitches {
            release,
            enabled,
            disabled,
        },
        ..ChainSettings::default()
    }))
}

/// The plugins over a request.
pub(super) struct PluginRun<'a> {
    admission: &'a Admission,
    context: PluginContext<'a>,
    /// Those that have decided already.
    decided: Vec<&'static str>,
    decisions: Vec<PolicyDecision>,
    undecided: Vec<JsonUndecided>,
}

impl<'a> PluginRun<'a> {
    /// Plugins that see this of the cluster.
    pub(super) fn new(admission: &'a Admission, context: PluginContext<'a>) -> Self {
        PluginRun {
            admission,
            context,
            decided: Vec::new(),
            decisions: Vec::new(),
            undecided: Vec::new(),
        }
    }

    /// Runs the mutating halves, which change the object of the request.
    pub(super) fn admit(&mut self, request: &mut AdmissionRequest<'_>) {
        let mut copy = None;
        {
            let mut attributes = MutableAttributes::copy_on_write(request, &request.object, &mut copy);
            for plugin in self.admission.plugins() {
                if plugin.handler().admits(request.operation) {
                    let mut effects = Effects::default();
                    let result = plugin.admit(&mut attributes, &self.context, &mut effects);
                    self.found(plugin, result, &effects);
                }
            }
        }
        if let Some(changed) = copy {
            request.object = changed;
        }
    }

    /// Runs the validating halves for the object as policies leave it.
    pub(super) fn validate(&mut self, request: &AdmissionRequest<'_>, object: &Value<'_>) {
        let mut copy = None;
        let attributes = MutableAttributes::copy_on_write(request, object, &mut copy);
        let attributes = attributes.as_attributes();
        for plugin in self.admission.plugins() {
            let handler = plugin.handler();
            if handler.checks(request.operation) && !self.decided.contains(&handler.name) {
                let mut effects = Effects::default();
                let result = plugin.validate(&attributes, &self.context, &mut effects);
                self.found(plugin, result, &effects);
            }
        }
    }

    fn found(&mut self, plugin: &dyn Plugin, result: Result<(), Rejection>, effects: &Effects) {
        let name = plugin.handler().name;
        let decision = |action, failed, message: &str| PolicyDecision {
            policy: name.to_owned(),
            binding: String::new(),
            validation: None,
            action,
            failed,
            is_step: false,
            message: message.to_owned(),
        };
        let warnings = effects.warnings.iter();
        self.decisions
            .extend(warnings.map(|warning| decision(Action::Warn, false, warning)));
        let violations = effects.audit_annotations().iter();
        let violations = violations.filter(|(key, _)| key.ends_with("/audit-violations"));
        self.decisions
            .extend(violations.map(|(_, violations)| decision(Action::Audit, false, violations)));
        let Err(rejection) = result else { return };
        self.decided.push(name);
        let message = rejection.to_string();
        match rejection {
            Rejection::Denied(_) => self.decisions.push(decision(Action::Deny, false, &message)),
            // None of them asks anything that has to be waited for: an answer that is missing is an error.
            Rejection::Error(_) | Rejection::Pending => {
                self.decisions.push(decision(Action::Deny, true, &message))
            }
            Rejection::Undecided(missing) => {
                let undecided = plugins::undecided(plugin, *missing);
                self.undecided.push(JsonUndecided::from(&undecided));
            }
        }
    }

    /// Adds what plugins found to what policies did.
    pub(super) fn add_to(self, record: &mut DecisionRecord) {
        let denial = self
            .decisions
            .iter()
            .find(|decision| decision.action == Action::Deny);
        if let Some(denial) = denial {
            if !record.decision.denies() {
                record.message = Some(denial.message.clone());
                record.refused_by = Some(denial.policy.clone());
            }
            record.decision = Decision::Denied;
        } else if record.decision == Decision::Allowed && !self.undecided.is_empty() {
            record.decision = Decision::Undecided;
        }
        record.policies.extend(self.decisions);
        record.undecided.extend(self.undecided);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_scanned_is_built_in() {
        for scanned in SCANNED {
            let plugin = BUILT_IN.iter().find(|plugin| plugin.name == scanned.name);
            assert!(plugin.is_some(), "{}", scanned.name);
            let factory = pratique_plugins::factory(scanned.name).unwrap();
            // What they need to know is looked for among the inputs.
            let lacking = factory.handler.needs.iter().filter(|kind| !is_kept(kind));
            let lacking: Vec<_> = lacking.map(|kind| (scanned.name, kind.kind)).collect();
            assert!(
                lacking.iter().all(|lacks| *lacks == ("PodSecurity", "Pod")),
                "{lacking:?}"
            );
            assert!(!factory.handler.asks_authorizer, "{}", scanned.name);
        }
    }
}
