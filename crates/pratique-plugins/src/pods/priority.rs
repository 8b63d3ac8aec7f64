//! Priority: pods and pod groups get the priority of their class.

mod groups;

use pratique_core::Attributes;
use pratique_json::{Object, Value, same_name};
use pratique_plugin::{MutableAttributes, PluginContext, PluginSettings, Rejection, StateKind};
use pratique_types::Operation;

use super::is_pod;
use crate::answer::{bad_request, forbidden};
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};
use crate::object::{descend_mut, is_kind, name, set_at, text};

// Upstream: plugin/pkg/admission/priority/admission.go
pub(crate) struct PodPriority {
    groups: groups::GroupPriorities,
}

impl PodPriority {
    pub(crate) fn new(settings: &PluginSettings<'_>) -> Self {
        PodPriority {
            groups: groups::GroupPriorities::new(settings),
        }
    }
}

/// The fields that a class sets in a pod.
struct ClassFields<'s> {
    class: &'s str,
    priority: i64,
    preemption_policy: Option<&'s str>,
}

impl BuiltInPlugin for PodPriority {
    fn admit(
        &self,
        attributes: &mut MutableAttributes<'_, '_>,
        context: &mut PluginCall<'_>,
    ) -> PluginAnswer {
        let request = attributes.request;
        if !request.sub_resource.is_empty() {
            return Ok(());
        }
        let resource = &request.resource;
        match (
            resource.group.as_str(),
            resource.resource.as_str(),
            request.operation,
        ) {
            ("", "pods", Operation::Create) => admit_new_pod(attributes, context),
            ("", "pods", Operation::Update) => admit_changed_pod(attributes),
            ("scheduling.k8s.io", groups, Operation::Create) => {
                self.groups.admit(groups, attributes, context)
            }
            _ => Ok(()),
        }
    }

    fn validate(&self, attributes: &Attributes<'_>, context: &mut PluginCall<'_>) -> PluginAnswer {
        let request = attributes.request;
        let resource = &request.resource;
        if !request.sub_resource.is_empty()
            || resource.resource != "priorityclasses"
            || resource.group != "scheduling.k8s.io"
            || request.operation == Operation::Delete
        {
            return Ok(());
        }
        if !is_kind(attributes.object, "scheduling.k8s.io", "PriorityClass") {
            return Err(not_converted("PriorityClass"));
        }
        if attributes.object.get("globalDefault").and_then(Value::as_bool) != Some(true) {
            return Ok(());
        }
        match default_class(context)? {
            Some(class)
                if request.operation == Operation::Create || name(class) != name(attributes.object) =>
            {
                let class = name(class);
                let error =
                    format!("PriorityClass {class} is already marked as default. Only one default can exist");
                Err(forbidden(attributes, error))
            }
            _ => Ok(()),
        }
    }
}

// Upstream: plugin/pkg/admission/priority/admission.go, admitPod
fn admit_new_pod(
    attributes: &mut MutableAttributes<'_, '_>,
    context: &PluginContext<'_>,
) -> Result<(), Rejection> {
    if !is_pod(attributes.object()) {
        return Err(not_converted("Pod"));
    }
    let established = establish(attributes, context)?;
    let spec = attributes.object().get("spec");
    let priority = established.priority;
    if let Some(given) = spec.and_then(|spec| spec.get("priority")?.as_int())
        && given != priority
    {
        let error = format!(
            "the integer value of priority ({given}) must not be provided in pod spec; priority admission controller \
             computed {priority} from the given PriorityClass name"
        );
        return Err(forbidden(&attributes.as_attributes(), error));
    }
    if let Some(policy) = established.preemption_policy
        && let Some(given) = spec.and_then(|spec| spec.get("preemptionPolicy")?.as_str())
        && given != policy
    {
        let error = format!(
            "the string value of PreemptionPolicy ({given}) must not be provided in pod spec; priority admission \
             controller computed {policy} from the given PriorityClass name"
        );
        return Err(forbidden(&attributes.as_attributes(), error));
    }
    if let Some(spec) = descend_mut(attributes.object_mut(), &["spec"]) {
        set_class(spec, &established);
        match established.preemption_policy {
            Some("PreemptLowerPriority") => _ = spec.insert("preemptionPolicy", "PreemptLowerPriority"),
            Some(policy) => _ = spec.insert("preemptionPolicy", policy.to_owned()),
            None => {}
        }
    }
    Ok(())
}

/// An update keeps what was set on creation.
fn admit_changed_pod(attributes: &mut MutableAttributes<'_, '_>) -> Result<(), Rejection> {
    let old = &attributes.request.old_object;
    if !is_pod(attributes.object()) || !is_pod(old) {
        return Err(not_converted("Pod"));
    }
    for field in ["priority", "preemptionPolicy"] {
        let path = ["spec", field];
        let is_set = attributes
            .object()
            .at(&path)
            .is_some_and(|value| !value.is_null());
        if let (false, Some(old)) = (is_set, old.at(&path).filter(|value| !value.is_null())) {
            set_at(
                attributes.object_mut(),
                &["spec"],
                field,
                old.clone().into_owned(),
            );
        }
    }
    Ok(())
}

fn set_class(spec: &mut Object<'_>, established: &ClassFields<'_>) {
    let class = spec.get("priorityClassName").and_then(Value::as_str);
    if !same_name(class.unwrap_or_default(), established.class) {
        spec.insert("priorityClassName", established.class.to_owned());
    }
    spec.insert("priority", established.priority);
}

// Upstream: plugin/pkg/admission/priority/admission.go, establishPriority
fn establish<'s>(
    attributes: &MutableAttributes<'_, '_>,
    context: &PluginContext<'s>,
) -> Result<ClassFields<'s>, Rejection> {
    let state = context.state;
    let class_name = text(attributes.object(), &["spec", "priorityClassName"]);
    let class = match class_name {
        "" => default_class(context)?,
        class_name => match state.find(StateKind::PRIORITY_CLASS, "", class_name)? {
            None => {
                let error = format!("no PriorityClass with name {class_name} was found");
                return Err(forbidden(&attributes.as_attributes(), error));
            }
            known_class => known_class,
        },
    };
    Ok(class.map_or(
        ClassFields {
            class: "",
            priority: 0,
            preemption_policy: Some("PreemptLowerPriority"),
        },
        |class| ClassFields {
            class: name(class),
            priority: value_of(class),
            preemption_policy: class.get("preemptionPolicy").and_then(Value::as_str),
        },
    ))
}

/// The default class of pods: of several, the one with the lowest value.
// Upstream: plugin/pkg/admission/priority/admission.go, getDefaultPriorityClass
fn default_class<'s>(context: &PluginContext<'s>) -> Result<Option<&'s Value<'s>>, Rejection> {
    let state = context.state;
    let classes = state.require_list(StateKind::PRIORITY_CLASS, "")?;
    let defaults = classes.iter().map(|class| -> &'s Value<'s> { class });
    Ok(defaults
        .filter(|class| class.get("globalDefault").and_then(Value::as_bool) == Some(true))
        .min_by_key(|class| value_of(class)))
}

fn value_of(class: &Value<'_>) -> i64 {
    class.get("value").and_then(Value::as_int).unwrap_or_default()
}

fn not_converted(kind: &str) -> Rejection {
    bad_request(format!(
        "resource was marked with kind {kind} but was unable to be converted"
    ))
}
