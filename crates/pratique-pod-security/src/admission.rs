//! The admission plugin: namespaces, pods and workloads.

use std::sync::Arc;

use pratique_core::Attributes;
use pratique_core::status::namespace_not_found;
use pratique_gotext::strconv::quote;
use pratique_json::{Value, text_at};
use pratique_plugin::{
    Effects, Handler, Plugin, PluginContext, PluginFactory, PluginSettings, Rejection, StartError, StateKind,
    gates,
};
use pratique_types::builtin::BuiltinResources;
use pratique_types::{AdmissionRequest, ObjectRef, Operation, Status, aggregate, status};

use crate::configuration::ConfigurationError;
use crate::existing_pods::{PODS_READ, PodCheckLimits};
use crate::extract::{ObjectKind, PodParts, pod_of};
use crate::go_type::go_type;
use crate::observer::{PodSecurityObserver, PolicyEvaluation};
use crate::policy::LabelError;
use crate::{
    Evaluator, LevelVersion, Mode, Pod, PodSecuritySettings, Policy, Version, Violation, significant,
    violation,
};

/// The plugin's name.
pub const NAME: &str = "PodSecurity";

/// Makes the plugin from its configuration.
pub const FACTORY: PluginFactory = PluginFactory {
    handler: Handler::new(NAME, &[Operation::Create, Operation::Update])
        .validating()
        .needing(&[StateKind::NAMESPACE, StateKind::POD])
        .reading(&[PODS_READ]),
    make: |_, settings| Ok(Box::new(PodSecurity::configured(settings)?)),
};

/// The keys of audit annotations.
const ENFORCED_POLICY: &str = "pod-security.kubernetes.io/enforce-policy";
const VIOLATIONS: &str = "pod-security.kubernetes.io/audit-violations";
const EXEMPT: &str = "pod-security.kubernetes.io/exempt";
const ERROR: &str = "pod-security.kubernetes.io/error";

/// The admission plugin `PodSecurity`.
pub struct PodSecurity {
    pub(crate) settings: PodSecuritySettings,
    pub(crate) evaluator: Evaluator,
    pub(crate) resources: &'static BuiltinResources,
    pub(crate) limits: PodCheckLimits,
    observer: Arc<dyn PodSecurityObserver>,
}

impl PodSecurity {
    /// The plugin of kube-apiserver 1.37 with these settings.
    pub fn new(settings: PodSecuritySettings) -> Self {
        PodSecurity {
            settings,
            evaluator: Evaluator::new(),
            resources: BuiltinResources::latest(),
            limits: PodCheckLimits::default(),
            observer: Arc::new(()),
        }
    }

    /// The same, with the settings in its configuration.
    ///
    /// # Errors
    /// A server would not start with it.
    pub fn configured(settings: &PluginSettings<'_>) -> Result<Self, StartError> {
        let text = settings.configuration.unwrap_or_default();
        let release = settings.feature_gates.release();
        match PodSecuritySettings::read(settings.configuration_file, text, release) {
            Ok(of_plugin) => {
                // Upstream: pod-security-admission/policy/registry.go: a release has no checks of later ones.
                let (_, minor) = release.version();
                let mut evaluator = Evaluator::emulating(Version::Minor(i64::from(minor)));
                // Upstream: plugin/pkg/admission/security/podsecurity/admission.go, InspectFeatureGates: 1.34 has the gate last.
                if settings
                    .feature_gates
                    .is_on(gates::USER_NAMESPACES_POD_SECURITY_STANDARDS)
                {
                    evaluator = evaluator.relaxing_user_namespaces();
                }
                Ok(PodSecurity {
                    resources: release.resources(),
                    ..PodSecurity::new(of_plugin).with_evaluator(evaluator)
                })
            }
            Err(ConfigurationError::Undecodable(failure)) => Err(StartError::Refused(failure)),
            Err(ConfigurationError::Invalid(failure)) => Err(StartError::NotInitialized(failure)),
        }
    }

    /// Sets the checks.
    #[must_use]
    pub fn with_evaluator(self, evaluator: Evaluator) -> Self {
        PodSecurity { evaluator, ..self }
    }

    /// Sets how many existing pods are checked when the labels of a namespace change.
    #[must_use]
    pub fn with_limits(self, limits: PodCheckLimits) -> Self {
        PodSecurity { limits, ..self }
    }

    /// Sets the observer of evaluations.
    #[must_use]
    pub fn with_observer(self, observer: Arc<dyn PodSecurityObserver>) -> Self {
        PodSecurity { observer, ..self }
    }

    /// The policy of a namespace, with the errors in its labels.
    pub fn policy_of(&self, namespace: &Value<'_>) -> (Policy, Vec<LabelError>) {
        Policy::of_labels(ObjectRef::new(namespace).labels(), self.settings.defaults)
    }

    // Upstream: pod-security-admission/admission/admission.go, ValidatePod
    fn validate_pod(
        &self,
        attributes: &Attributes<'_>,
        context: &PluginContext<'_>,
        effects: &mut Effects,
    ) -> Result<(), Rejection> {
        let request = attributes.request;
        if IGNORED_SUBRESOURCES.contains(&request.sub_resource.as_str())
            || self.is_exempt(attributes, effects)
        {
            return Ok(());
        }
        let name = request.namespace.as_str();
        let Some(namespace) = context.state.find(StateKind::NAMESPACE, "", name)? else {
            self.observer.failed(request, true);
            let message = format!("failed to lookup namespace {}", quote(name));
            let status = status::internal_error(&message);
            effects.annotate_known(ERROR, format!("{}: {}", status.message, not_found(name)));
            return Err(status.into());
        };
        let (policy, errors) = self.policy_of(namespace);
        if errors.is_empty() && policy.is_privileged() {
            self.evaluated(attributes, Mode::Enforce, &policy, &[]);
            effects.annotate_known(ENFORCED_POLICY, "privileged:latest");
            return Ok(());
        }
        let pod = self.decoded(attributes, attributes.object, "", effects)?;
        if request.operation == Operation::Update {
            self.decoded(attributes, &request.old_object, "old ", effects)?;
            if !significant::is_significant(pod.spec, &request.old_object) {
                return Ok(());
            }
        }
        self.evaluate(attributes, &policy, &errors, pod, true, effects)
    }

    // Upstream: pod-security-admission/admission/admission.go, ValidatePodController
    fn validate_workload(
        &self,
        attributes: &Attributes<'_>,
        context: &PluginContext<'_>,
        effects: &mut Effects,
    ) -> Result<(), Rejection> {
        let request = attributes.request;
        if !request.sub_resource.is_empty() || self.is_exempt(attributes, effects) {
            return Ok(());
        }
        let name = request.namespace.as_str();
        let Some(namespace) = context.state.find(StateKind::NAMESPACE, "", name)? else {
            self.observer.failed(request, true);
            let message = format!("failed to lookup namespace {}: {}", quote(name), not_found(name));
            effects.annotate_known(ERROR, message);
            return Ok(());
        };
        let (policy, errors) = self.policy_of(namespace);
        let is_privileged =
            policy.warn.level == crate::Level::Privileged && policy.audit.level == crate::Level::Privileged;
        if errors.is_empty() && is_privileged {
            return Ok(());
        }
        let kind = kind_of(attributes.object, request);
        let error = match kind {
            ObjectKind::Other => {
                let actual_type = go_type(self.resources, attributes.object, &request.kind);
                format!("failed to decode object: unexpected type {actual_type}")
            }
            kind => match pod_of(kind, attributes.object) {
                Ok(Some(pod)) => return self.evaluate(attributes, &policy, &errors, pod, false, effects),
                Ok(None) => return Ok(()),
                Err(_) => "failed to extract pod template: unexpected object type: /, Kind=".to_owned(),
            },
        };
        self.observer.failed(request, true);
        effects.annotate_known(ERROR, error);
        Ok(())
    }

    /// Whether the namespace or the user is exempt.
    fn is_exempt(&self, attributes: &Attributes<'_>, effects: &mut Effects) -> bool {
        let request = attributes.request;
        let reason = if self.settings.exempts_namespace(&request.namespace) {
            "namespace"
        } else if self.settings.exempts_user(&request.user_info.username) {
            "user"
        } else {
            return false;
        };
        self.observer.exempted(request);
        effects.annotate_known(EXEMPT, reason);
        true
    }

    /// The pod in an object of a request for pods.
    fn decoded<'a>(
        &self,
        attributes: &Attributes<'_>,
        object: &'a Value<'a>,
        which: &str,
        effects: &mut Effects,
    ) -> Result<PodParts<'a>, Rejection> {
        let kind = kind_of(object, attributes.request);
        if kind == ObjectKind::Pod
            && let Ok(Some(pod)) = pod_of(kind, object)
        {
            return Ok(pod);
        }
        self.observer.failed(attributes.request, true);
        let names = (format!("{which}object"), format!("{which}pod"));
        Err(undecodable(
            self.resources,
            attributes,
            object,
            (&names.0, &names.1),
            effects,
        ))
    }

    // Upstream: pod-security-admission/admission/admission.go, EvaluatePod
    fn evaluate(
        &self,
        attributes: &Attributes<'_>,
        policy: &Policy,
        errors: &[LabelError],
        pod: PodParts<'_>,
        enforces: bool,
        effects: &mut Effects,
    ) -> Result<(), Rejection> {
        let request = attributes.request;
        if self
            .settings
            .exempts_runtime_class(text_at(pod.spec, &["runtimeClassName"]))
        {
            self.observer.exempted(request);
            effects.annotate_known(EXEMPT, "runtimeClass");
            return Ok(());
        }
        if !errors.is_empty() {
            effects.annotate_known(ERROR, format!("Failed to parse policy: {}", aggregate(errors)));
            self.observer.failed(request, false);
        }
        let pod = Pod::from_parts(pod.metadata, pod.spec);
        let mut denial = None;
        let mut enforced = None;
        let mut description = LevelDescription::default();
        if enforces {
            effects.annotate_known(ENFORCED_POLICY, policy.enforce.to_text());
            let violations = self.evaluator.violations(policy.enforce, &pod);
            self.evaluated(attributes, Mode::Enforce, policy, &violations);
            if !violations.is_empty() {
                let message = ["violates ", description.describe(policy.enforce, &violations)].concat();
                denial = Some(status::forbidden(
                    &request.resource,
                    attributes.object_name(),
                    &message,
                ));
            }
            enforced = Some(violations);
        }
        // The same level is not evaluated twice.
        let enforced = enforced.as_deref().map(|violations| (policy.enforce, violations));
        let evaluated_audit;
        let audited = match enforced {
            Some((evaluated, violations)) if evaluated == policy.audit => violations,
            _ => {
                evaluated_audit = self.evaluator.violations(policy.audit, &pod);
                &evaluated_audit
            }
        };
        if !audited.is_empty() {
            let message = ["would violate ", description.describe(policy.audit, audited)].concat();
            effects.annotate_known(VIOLATIONS, message);
            self.evaluated(attributes, Mode::Audit, policy, audited);
        }
        if let Some(status) = denial {
            return Err(status.into());
        }
        let evaluated_warn;
        let warned = match enforced {
            Some((evaluated, violations)) if evaluated == policy.warn => violations,
            _ if policy.audit == policy.warn => audited,
            _ => {
                evaluated_warn = self.evaluator.violations(policy.warn, &pod);
                &evaluated_warn
            }
        };
        if !warned.is_empty() {
            effects.warn(["would violate ", description.describe(policy.warn, warned)].concat());
            self.evaluated(attributes, Mode::Warn, policy, warned);
        }
        Ok(())
    }

    /// Reports the result in a mode.
    fn evaluated(&self, attributes: &Attributes<'_>, mode: Mode, policy: &Policy, violations: &[Violation]) {
        let evaluation = PolicyEvaluation {
            mode,
            policy: policy.of_mode(mode),
            is_allowed: violations.is_empty(),
        };
        self.observer.evaluated(attributes.request, evaluation);
    }
}

impl Plugin for PodSecurity {
    fn handler(&self) -> &Handler {
        &FACTORY.handler
    }

    // Upstream: plugin/pkg/admission/security/podsecurity/admission.go, Validate
    fn validate(
        &self,
        attributes: &Attributes<'_>,
        context: &PluginContext<'_>,
        effects: &mut Effects,
    ) -> Result<(), Rejection> {
        let resource = &attributes.request.resource;
        match (resource.group.as_str(), resource.resource.as_str()) {
            ("", "pods") => self.validate_pod(attributes, context, effects),
            ("", "namespaces") => self.validate_namespace(attributes, context, effects),
            ("", "replicationcontrollers" | "podtemplates")
            | ("apps", "replicasets" | "deployments" | "statefulsets" | "daemonsets")
            | ("batch", "jobs" | "cronjobs") => self.validate_workload(attributes, context, effects),
            _ => Ok(()),
        }
    }
}

/// Parts of pods that cannot change their containers.
const IGNORED_SUBRESOURCES: [&str; 8] = [
    "exec",
    "attach",
    "binding",
    "eviction",
    "log",
    "portforward",
    "proxy",
    "status",
];

/// The message about violations of a level, made once for modes of the same level: `PodSecurity "restricted:latest": …`
#[derive(Default)]
struct LevelDescription(Option<(LevelVersion, String)>);

impl LevelDescription {
    fn describe(&mut self, level: LevelVersion, violations: &[Violation]) -> &str {
        if self.0.as_ref().is_some_and(|(described, _)| *described != level) {
            self.0 = None;
        }
        let describe = || {
            let mut described = ["PodSecurity \"", &level.to_text(), "\": "].concat();
            violation::write_details(&mut described, violations);
            (level, described)
        };
        &self.0.get_or_insert_with(describe).1
    }
}

/// The kind of an object; if it has none, that of its request.
pub(crate) fn kind_of(object: &Value<'_>, request: &AdmissionRequest<'_>) -> ObjectKind {
    ObjectKind::new(object, (&request.kind.group, &request.kind.kind))
}

fn not_found(namespace: &str) -> String {
    namespace_not_found(namespace).message
}

/// The rejection of a request whose object is of another kind than its resource.
pub(crate) fn undecodable(
    resources: &'static BuiltinResources,
    attributes: &Attributes<'_>,
    object: &Value<'_>,
    (object_name, kind_name): (&str, &str),
    effects: &mut Effects,
) -> Rejection {
    let request = attributes.request;
    let (message, error) = match kind_of(object, request) {
        ObjectKind::Other => {
            let message = format!("failed to decode {object_name}");
            let error = format!(
                "{message}: unexpected type {}",
                go_type(resources, object, &request.kind)
            );
            (message, error)
        }
        _ => {
            let message = format!("failed to decode {kind_name}");
            (message.clone(), message)
        }
    };
    effects.annotate_known(ERROR, error);
    // The details are those of the status that the reference replaces with this one.
    let refusal = status::forbidden(&request.resource, attributes.object_name(), "");
    Status {
        details: refusal.details,
        ..status::bad_request(message)
    }
    .into()
}
