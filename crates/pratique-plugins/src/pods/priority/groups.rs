//! The priorities of groups of pods.

use pratique_json::Value;
use pratique_plugin::{MutableAttributes, PluginContext, PluginSettings, Rejection, gates};

use super::{establish, not_converted, set_class};
use crate::answer::forbidden;
use crate::object::{descend_mut, is_kind};

/// Which groups of pods get a priority.
pub(super) struct GroupPriorities {
    pod_groups: bool,
    composite_pod_groups: bool,
    /// Whether groups also get the preemption policy of their class, which is new in 1.37.
    preemption_policy: bool,
}

/// A kind of groups.
struct GroupKind {
    kind: &'static str,
    /// As messages call it.
    noun: &'static str,
}

const POD_GROUP: GroupKind = GroupKind {
    kind: "PodGroup",
    noun: "pod group",
};

const COMPOSITE_POD_GROUP: GroupKind = GroupKind {
    kind: "CompositePodGroup",
    noun: "composite pod group",
};

/// The policies that a group may have.
const POLICIES: [&str; 2] = ["PreemptLowerPriority", "Never"];

impl GroupPriorities {
    pub(super) fn new(settings: &PluginSettings<'_>) -> Self {
        let enabled = |gate| settings.feature_gates.is_on(gate);
        let release = settings.feature_gates.release();
        GroupPriorities {
            // Upstream: admitPodGroup, whose gate was another one before 1.37.
            pod_groups: enabled(if release.at_least(1, 37) {
                gates::GENERIC_WORKLOAD
            } else {
                "WorkloadAwarePreemption"
            }),
            composite_pod_groups: enabled(gates::COMPOSITE_POD_GROUP),
            // Upstream: the gate is gone since 1.38.
            preemption_policy: enabled(gates::POD_GROUP_PREEMPTION_POLICY) || release.at_least(1, 38),
        }
    }

    /// Gives a new group of a resource the priority of its class.
    // Upstream: plugin/pkg/admission/priority/admission.go, admitPodGroup, admitCompositePodGroup
    pub(super) fn admit(
        &self,
        resource: &str,
        attributes: &mut MutableAttributes<'_, '_>,
        context: &PluginContext<'_>,
    ) -> Result<(), Rejection> {
        let group = match resource {
            "podgroups" if self.pod_groups => &POD_GROUP,
            "compositepodgroups" if self.composite_pod_groups => &COMPOSITE_POD_GROUP,
            _ => return Ok(()),
        };
        if !is_kind(attributes.object(), "scheduling.k8s.io", group.kind) {
            return Err(not_converted(group.kind));
        }
        let established = establish(attributes, context)?;
        let priority = established.priority;
        let given = attributes.object().at(&["spec", "priority"]);
        if let Some(given) = given.and_then(Value::as_int)
            && given != priority
        {
            let noun = group.noun;
            let error = format!(
                "priority set in the {noun} ({given}) must match the priority computed ({priority}) based on the \
                 priority class set in the spec"
            );
            return Err(forbidden(&attributes.as_attributes(), error));
        }
        let policy = established.preemption_policy.filter(|_| self.preemption_policy);
        if let Some(policy) = policy {
            check_policy(group, policy, attributes)?;
        }
        if let Some(spec) = descend_mut(attributes.object_mut(), &["spec"]) {
            set_class(spec, &established);
            if let Some(policy) = policy {
                spec.insert("preemptionPolicy", policy.to_owned());
            }
        }
        Ok(())
    }
}

fn check_policy(
    group: &GroupKind,
    policy: &str,
    attributes: &MutableAttributes<'_, '_>,
) -> Result<(), Rejection> {
    let noun = group.noun;
    let refused = |error: String| Err(forbidden(&attributes.as_attributes(), error));
    if !POLICIES.contains(&policy) {
        return refused(format!(
            "preemptionPolicy set in the PriorityClass object ({policy}) must match one of the allowed values of \
             PreemptionPolicy type in {noun}"
        ));
    }
    let given = attributes.object().at(&["spec", "preemptionPolicy"]);
    match given.and_then(Value::as_str) {
        Some(given) if given != policy => refused(format!(
            "the string value of PreemptionPolicy ({given}) must not be provided in {noun} spec; priority admission \
             controller computed {policy} from the given PriorityClass name"
        )),
        _ => Ok(()),
    }
}
