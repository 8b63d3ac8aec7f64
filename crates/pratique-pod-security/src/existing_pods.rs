//! Which existing pods of a namespace violate a new policy.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use pratique_gotext::strconv::quote;
use pratique_json::{Value, text_at};
use pratique_plugin::{FieldsRead, StateKind};
use pratique_types::ObjectRef;

use crate::extract::{ObjectKind, pod_of};
use crate::pod::items;
use crate::{Evaluator, LevelVersion, Pod, PodSecuritySettings, violation};

const CONTAINERS: &str = "containers|initContainers|ephemeralContainers";

/// What connects to a host.
const HANDLERS: &str = "httpGet|tcpSocket";

/// What is read of an existing pod.
pub(crate) const PODS_READ: FieldsRead = FieldsRead {
    kind: StateKind::POD,
    fields: &[
        &["metadata", "annotations"],
        &["metadata", "ownerReferences"],
        &["spec", "hostIPC"],
        &["spec", "hostNetwork"],
        &["spec", "hostPID"],
        &["spec", "hostUsers"],
        &["spec", "os"],
        &["spec", "runtimeClassName"],
        &["spec", "securityContext"],
        &["spec", "volumes"],
        &["spec", CONTAINERS, "name|securityContext"],
        &["spec", CONTAINERS, "ports", "hostPort"],
        &[
            "spec",
            CONTAINERS,
            "livenessProbe|readinessProbe|startupProbe",
            HANDLERS,
            "host",
        ],
        &[
            "spec",
            CONTAINERS,
            "lifecycle",
            "postStart|preStop",
            HANDLERS,
            "host",
        ],
    ],
};

/// How many pods are checked, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct PodCheckLimits {
    /// The number of pods.
    pub pods: usize,
    /// The time after which no further pod is checked, where a clock is given.
    pub time: Duration,
    /// A clock that never goes back.
    pub clock: Option<fn() -> Duration>,
}

impl Default for PodCheckLimits {
    /// The limits of an API server, without a clock.
    fn default() -> Self {
        PodCheckLimits {
            pods: 3000,
            time: Duration::from_secs(1),
            clock: None,
        }
    }
}

/// Pods with the same violations.
struct ViolationGroup<'a> {
    reasons: String,
    /// The first name.
    name: &'a str,
    pods: usize,
}

/// The warnings about pods that a level no longer allows.
// Upstream: pod-security-admission/admission/admission.go, EvaluatePodsInNamespace
pub(crate) fn warnings(
    evaluator: &Evaluator,
    settings: &PodSecuritySettings,
    limits: PodCheckLimits,
    namespace: &str,
    enforce: LevelVersion,
    pods: &[Arc<Value<'static>>],
) -> Vec<String> {
    let end = limits
        .clock
        .map(|clock| (clock, clock().saturating_add(limits.time)));
    let pods = prioritized(pods, settings);
    let mut groups: Vec<ViolationGroup<'_>> = Vec::new();
    let mut checked = 0;
    for pod in pods.iter().take(limits.pods) {
        checked += 1;
        if let Ok(Some(parts)) = pod_of(ObjectKind::Pod, pod) {
            let violations = evaluator.violations(enforce, &Pod::from_parts(parts.metadata, parts.spec));
            if !violations.is_empty() {
                count(
                    &mut groups,
                    violation::reasons(&violations),
                    ObjectRef::new(pod).name(),
                );
            }
        }
        if end.is_some_and(|(clock, end)| clock() >= end) {
            break;
        }
    }
    let mut warnings = Vec::new();
    if checked < pods.len() {
        let total = pods.len();
        warnings.push(format!(
            "new PodSecurity enforce level only checked against the first {checked} of {total} existing pods"
        ));
    }
    if !groups.is_empty() {
        warnings.push(format!(
            "existing pods in namespace {} violate the new PodSecurity enforce level {}",
            quote(namespace),
            quote(&enforce.to_string())
        ));
    }
    let mut about_pods: Vec<String> = groups.iter().map(ViolationGroup::warning).collect();
    about_pods.sort();
    warnings.append(&mut about_pods);
    warnings
}

impl ViolationGroup<'_> {
    fn warning(&self) -> String {
        let ViolationGroup { reasons, name, pods } = self;
        match pods {
            1 => format!("{name}: {reasons}"),
            2 => format!("{name} (and 1 other pod): {reasons}"),
            _ => format!("{name} (and {} other pods): {reasons}", pods.saturating_sub(1)),
        }
    }
}

fn count<'a>(groups: &mut Vec<ViolationGroup<'a>>, reasons: String, name: &'a str) {
    match groups.iter_mut().find(|group| group.reasons == reasons) {
        Some(group) => {
            group.name = group.name.min(name);
            group.pods += 1;
        }
        None => groups.push(ViolationGroup {
            reasons,
            name,
            pods: 1,
        }),
    }
}

/// The pods that are not exempt; further pods of the same controller come last.
// Upstream: pod-security-admission/admission/admission.go, prioritizePods
fn prioritized<'a>(
    pods: &'a [Arc<Value<'static>>],
    settings: &PodSecuritySettings,
) -> Vec<&'a Value<'static>> {
    let mut controllers = HashSet::new();
    let (mut first, mut duplicates) = (Vec::new(), Vec::new());
    for pod in pods {
        let runtime_class = pod.at(&["spec", "runtimeClassName"]).and_then(Value::as_str);
        if settings.exempts_runtime_class(runtime_class.unwrap_or_default()) {
            continue;
        }
        match controller(pod) {
            Some(uid) if !controllers.insert(uid) => duplicates.push(&**pod),
            _ => first.push(&**pod),
        }
    }
    first.append(&mut duplicates);
    first
}

/// The UID of the controller of a pod.
fn controller<'a>(pod: &'a Value<'static>) -> Option<&'a str> {
    let owners = items(pod.get("metadata")?, "ownerReferences");
    let mut controllers = owners
        .iter()
        .filter(|owner| owner.get("controller").and_then(Value::as_bool) == Some(true));
    controllers.next().map(|owner| text_at(owner, &["uid"]))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use pratique_plugin::{ClusterState as _, FieldTree, ObjectText, StateObjects};

    use super::*;
    use crate::{Level, Version};

    /// The violations of a pod, at each level.
    fn violations(pod: &Value<'_>) -> Option<Vec<String>> {
        let parts = pod_of(ObjectKind::Pod, pod).ok()??;
        let levels = [Level::Baseline, Level::Restricted].into_iter();
        let reasons = levels.map(|level| {
            let enforce = LevelVersion {
                level,
                version: Version::Latest,
            };
            let pod = Pod::from_parts(parts.metadata, parts.spec);
            violation::reasons(&Evaluator::new().violations(enforce, &pod))
        });
        Some(reasons.collect())
    }

    #[test]
    fn what_is_read_is_all_that_decides() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/pod-security/cases.json");
        let text = std::fs::read(path).unwrap();
        let cases = pratique_json::parse(&text).unwrap();
        let objects = cases.as_array().unwrap().iter().flat_map(|case| {
            let request = case.get("request").unwrap();
            [request.get("object"), request.get("oldObject")]
        });
        let mut compared = 0;
        for pod in objects
            .flatten()
            .filter(|object| text_at(object, &["kind"]) == "Pod")
        {
            let mut state = StateObjects::default();
            let text = ObjectText::of_fields(pod, &FieldTree::new(PODS_READ.fields));
            state.insert_text(StateKind::POD, "", "pod", text);
            let kept = state.get(StateKind::POD, "", "pod").found().unwrap();
            assert_eq!(violations(kept), violations(pod), "{pod}");
            assert_eq!(controller_of(kept), controller_of(pod));
            compared += 1;
        }
        assert!(compared > 50, "{compared}");
    }

    fn controller_of(pod: &Value<'_>) -> Option<String> {
        controller(&pod.clone().into_owned()).map(str::to_owned)
    }
}
