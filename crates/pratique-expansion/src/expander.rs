//! From a workload to its first Pod.

use pratique_json::{Object, Value};
use pratique_types::GroupVersion;

use super::metadata::{PodOwner, hash, pod_of, set_label};
use super::template::PodTemplate;
use super::{job, sets};

/// Finds the Pods of workloads.
#[derive(Clone, Debug, Default)]
pub struct Expander {
    /// Kinds with a Pod template besides the built-in ones.
    pub templates: Vec<PodTemplate>,
}

/// A Pod that a controller makes.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpandedPod<'v> {
    /// The Pod. It shares the texts of its workload.
    pub pod: Value<'v>,
    /// The user of the controller that creates it.
    pub user: &'static str,
}

/// Why the Pod of a workload is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpansionError {
    /// The workload has no Pod template where its kind has one.
    #[error("no Pod is reviewed for {kind} {name:?}: it has no Pod template at {path}")]
    NoTemplate {
        /// The kind of the workload.
        kind: String,
        /// The name of the workload.
        name: String,
        /// Where the template should be.
        path: String,
    },
}

/// A built-in kind that makes Pods.
#[derive(Clone, Copy)]
struct WorkloadKind {
    group: &'static str,
    kind: &'static str,
    /// The fields that lead to the Pod template.
    path: &'static [&'static str],
    controller: &'static str,
}

const TEMPLATE: &[&str] = &["spec", "template"];

/// The built-in kinds. Controllers have service accounts of their own, as `kube-controller-manager` is run with
/// `--use-service-account-credentials`.
const WORKLOADS: [WorkloadKind; 7] = [
    WorkloadKind {
        group: "apps",
        kind: "Deployment",
        path: TEMPLATE,
        controller: "system:serviceaccount:kube-system:replicaset-controller",
    },
    WorkloadKind {
        group: "apps",
        kind: "ReplicaSet",
        path: TEMPLATE,
        controller: "system:serviceaccount:kube-system:replicaset-controller",
    },
    WorkloadKind {
        group: "apps",
        kind: "StatefulSet",
        path: TEMPLATE,
        controller: "system:serviceaccount:kube-system:statefulset-controller",
    },
    WorkloadKind {
        group: "apps",
        kind: "DaemonSet",
        path: TEMPLATE,
        controller: "system:serviceaccount:kube-system:daemon-set-controller",
    },
    WorkloadKind {
        group: "",
        kind: "ReplicationController",
        path: TEMPLATE,
        controller: "system:serviceaccount:kube-system:replication-controller",
    },
    WorkloadKind {
        group: "batch",
        kind: "Job",
        path: TEMPLATE,
        controller: "system:serviceaccount:kube-system:job-controller",
    },
    WorkloadKind {
        group: "batch",
        kind: "CronJob",
        path: &["spec", "jobTemplate", "spec", "template"],
        controller: "system:serviceaccount:kube-system:job-controller",
    },
];

/// A placeholder for the user that creates the Pods of custom resources, which depends on the controller.
const CUSTOM: &str = "system:serviceaccount:kube-system:custom-controller";

impl Expander {
    /// Whether the objects of a kind make Pods.
    pub fn is_workload(&self, group: &str, kind: &str) -> bool {
        builtin(group, kind).is_some() || self.custom(group, kind).is_some()
    }

    fn custom(&self, group: &str, kind: &str) -> Option<&PodTemplate> {
        self.templates
            .iter()
            .find(|template| template.group == group && template.kind == kind)
    }

    /// The first Pod that the controller of an object creates; `None` if it is no workload.
    ///
    /// # Errors
    /// The workload has no Pod template.
    pub fn pod<'v>(&self, workload: &'v Value<'_>) -> Result<Option<ExpandedPod<'v>>, ExpansionError> {
        let text = |path: &[&str]| workload.at(path).and_then(Value::as_str).unwrap_or_default();
        let (version, kind) = (text(&["apiVersion"]), text(&["kind"]));
        let name = text(&["metadata", "name"]);
        let Ok(group_version) = GroupVersion::parse(version) else {
            return Ok(None);
        };
        let group = group_version.group.as_str();
        let (path, workload_kind): (Vec<&str>, Option<WorkloadKind>) =
            match (builtin(group, kind), self.custom(group, kind)) {
                (Some(builtin_kind), _) => (builtin_kind.path.to_vec(), Some(builtin_kind)),
                (None, Some(custom)) => (custom.path.iter().map(String::as_str).collect(), None),
                (None, None) => return Ok(None),
            };
        let template = workload.at(&path).and_then(Value::as_object);
        let Some(template) = template else {
            return Err(ExpansionError::NoTemplate {
                kind: kind.to_owned(),
                name: name.to_owned(),
                path: path.join("."),
            });
        };
        let owner = PodOwner::new(version, kind, workload);
        let mut pod = match kind {
            "Deployment" if workload_kind.is_some() => of_deployment(template, &owner),
            "StatefulSet" if workload_kind.is_some() => sets::of_stateful_set(workload, template, &owner),
            "DaemonSet" if workload_kind.is_some() => sets::of_daemon_set(workload, template, &owner),
            "Job" if workload_kind.is_some() => job::of_job(workload, template, &owner),
            "CronJob" if workload_kind.is_some() => job::of_cron_job(workload, template, &owner),
            _ => pod_of(template, &owner),
        };
        set_namespace(&mut pod, text(&["metadata", "namespace"]));
        let user = workload_kind.map_or(CUSTOM, |workload| workload.controller);
        Ok(Some(ExpandedPod {
            pod: Value::Object(pod),
            user,
        }))
    }
}

fn builtin(group: &str, kind: &str) -> Option<WorkloadKind> {
    WORKLOADS
        .into_iter()
        .find(|workload| workload.group == group && workload.kind == kind)
}

/// The Pod of the ReplicaSet that a Deployment makes.
// Upstream: pkg/controller/deployment/sync.go, getNewReplicaSet
fn of_deployment<'v>(template: &'v Object<'_>, owner: &PodOwner) -> Object<'v> {
    let hash = hash(template);
    let name = format!("{}-{hash}", owner.name);
    let mut pod = pod_of(template, &PodOwner::placeholder("apps/v1", "ReplicaSet", name));
    set_label(&mut pod, "pod-template-hash", hash);
    pod
}

fn set_namespace(pod: &mut Object<'_>, namespace: &str) {
    if let (Some(Value::Object(metadata)), false) = (pod.get_mut("metadata"), namespace.is_empty()) {
        metadata.insert("namespace", namespace.to_owned());
    }
}

#[cfg(test)]
mod tests;
