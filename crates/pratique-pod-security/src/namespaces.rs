//! Requests for namespaces: their labels must be valid, and a stricter policy warns about existing pods.

use pratique_core::Attributes;
use pratique_gotext::strconv::quote;
use pratique_json::Value;
use pratique_plugin::{Effects, PluginContext, Rejection, StateKind};
use pratique_types::builtin::BuiltinResources;
use pratique_types::{ObjectRef, Operation, Status, field, status};

use crate::admission::{PodSecurity, kind_of, undecodable};
use crate::existing_pods;
use crate::extract::ObjectKind;
use crate::policy::LabelError;
use crate::{Level, Mode, Policy};

impl PodSecurity {
    // Upstream: pod-security-admission/admission/admission.go, ValidateNamespace
    pub(crate) fn validate_namespace(
        &self,
        attributes: &Attributes<'_>,
        context: &PluginContext<'_>,
        effects: &mut Effects,
    ) -> Result<(), Rejection> {
        let request = attributes.request;
        if !request.sub_resource.is_empty() {
            return Ok(());
        }
        let namespace = attributes.object;
        check_kind(
            self.resources,
            attributes,
            namespace,
            ("object", "namespace"),
            effects,
        )?;
        let (policy, errors) = self.policy_of(namespace);
        if request.operation == Operation::Create {
            if !errors.is_empty() {
                return Err(invalid(attributes, &errors).into());
            }
            if self.settings.exempts_namespace(&request.namespace) {
                self.warn_of_exemption(namespace, &policy, effects);
            }
            return Ok(());
        }
        if request.operation != Operation::Update {
            return Ok(());
        }
        // The reference has two spaces in these.
        let names = (" old object", " old namespace");
        check_kind(self.resources, attributes, &request.old_object, names, effects)?;
        let (old_policy, old_errors) = self.policy_of(&request.old_object);
        // Errors that the old labels have are tolerated.
        if !errors.is_empty() && errors != old_errors {
            return Err(invalid(attributes, &errors).into());
        }
        let (new, old) = (policy.enforce, old_policy.enforce);
        let is_relaxed = new.version == old.version && new.level <= old.level;
        if new == old || new.level == Level::Privileged || is_relaxed {
            return Ok(());
        }
        if self.settings.exempts_namespace(&request.namespace) {
            self.warn_of_exemption(namespace, &policy, effects);
            return Ok(());
        }
        let name = ObjectRef::new(namespace).name();
        match context.state.list(StateKind::POD, name) {
            Some(pods) => {
                let warnings =
                    existing_pods::warnings(&self.evaluator, &self.settings, self.limits, name, new, pods);
                effects.warnings.extend(warnings);
            }
            // As the reference warns where it cannot list them: the decision does not depend on them.
            None => effects.warn("failed to list pods while checking new PodSecurity enforce level"),
        }
        Ok(())
    }

    /// Warns that the labels of an exempt namespace have no effect.
    // Upstream: pod-security-admission/admission/admission.go, exemptNamespaceWarning
    fn warn_of_exemption(&self, namespace: &Value<'_>, policy: &Policy, effects: &mut Effects) {
        if policy.is_privileged() || policy.is_equivalent(&self.settings.defaults) {
            return;
        }
        let labels = ObjectRef::new(namespace).labels();
        let is_labelled = |mode: Mode| {
            let has = |label| labels.is_some_and(|labels| labels.contains_key(label));
            mode.labels().into_iter().any(has)
        };
        let modes = Mode::ALL.into_iter();
        let restricting_modes =
            modes.filter(|mode| policy.of_mode(*mode).level != Level::Privileged && is_labelled(*mode));
        let mode_labels: Vec<String> = restricting_modes
            .map(|mode| format!("{}={}", mode.as_str(), policy.of_mode(mode)))
            .collect();
        effects.warn(format!(
            "namespace {} is exempt from Pod Security, and the policy ({}) will be ignored",
            quote(ObjectRef::new(namespace).name()),
            mode_labels.join(", ")
        ));
    }
}

fn is_of_other_kind(attributes: &Attributes<'_>, object: &Value<'_>) -> bool {
    kind_of(object, attributes.request) != ObjectKind::Namespace
}

fn check_kind(
    resources: &'static BuiltinResources,
    attributes: &Attributes<'_>,
    object: &Value<'_>,
    names: (&str, &str),
    effects: &mut Effects,
) -> Result<(), Rejection> {
    if is_of_other_kind(attributes, object) {
        Err(undecodable(resources, attributes, object, names, effects))
    } else {
        Ok(())
    }
}

/// The status of labels that cannot be read.
fn invalid(attributes: &Attributes<'_>, errors: &[LabelError]) -> Status {
    let errors: Vec<field::Error> = errors.iter().map(LabelError::to_field_error).collect();
    status::invalid(&attributes.request.kind, attributes.object_name(), errors)
}
