//! Where objects of built-in kinds have pods.

use pratique_json::{Value, text_at};

use crate::pod::present;

/// The kind of an object, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    Namespace,
    Pod,
    /// A PodTemplate, whose template is not in a specification.
    PodTemplate,
    /// A ReplicationController, which may have no template.
    ReplicationController,
    /// Another kind with a template in its specification.
    Workload,
    CronJob,
    Other,
}

/// The metadata and the specification of pods.
#[derive(Clone, Copy)]
pub(crate) struct PodParts<'a> {
    pub(crate) metadata: &'a Value<'a>,
    pub(crate) spec: &'a Value<'a>,
}

impl ObjectKind {
    /// The kind of an object; if it has none, the one of this group and name, which a request has.
    pub(crate) fn new(object: &Value<'_>, requested: (&str, &str)) -> Self {
        if object.is_null() {
            return ObjectKind::Other;
        }
        let api_version = text_at(object, &["apiVersion"]);
        let (group, kind) = match text_at(object, &["kind"]) {
            "" => requested,
            kind => (group_of(api_version), kind),
        };
        match (group, kind) {
            ("", "Namespace") => ObjectKind::Namespace,
            ("", "Pod") => ObjectKind::Pod,
            ("", "PodTemplate") => ObjectKind::PodTemplate,
            ("", "ReplicationController") => ObjectKind::ReplicationController,
            ("apps" | "extensions", "ReplicaSet" | "Deployment" | "DaemonSet")
            | ("apps", "StatefulSet")
            | ("batch", "Job") => ObjectKind::Workload,
            ("batch", "CronJob") => ObjectKind::CronJob,
            _ => ObjectKind::Other,
        }
    }
}

/// The pod of an object, or the one of its template; `Ok(None)` where it has none.
///
/// # Errors
/// Objects of this kind have no pods.
// Upstream: pod-security-admission/admission/admission.go, DefaultPodSpecExtractor.ExtractPodSpec
pub(crate) fn pod_of<'a>(kind: ObjectKind, object: &'a Value<'a>) -> Result<Option<PodParts<'a>>, NoPods> {
    let template = match kind {
        ObjectKind::Pod | ObjectKind::PodTemplate => object,
        ObjectKind::Workload | ObjectKind::ReplicationController => &object["spec"],
        ObjectKind::CronJob => {
            let job = &object["spec"]["jobTemplate"];
            &job["spec"]
        }
        ObjectKind::Namespace | ObjectKind::Other => return Err(NoPods),
    };
    let holder = match kind {
        ObjectKind::Pod => template,
        ObjectKind::ReplicationController if present(template, "template").is_none() => return Ok(None),
        _ => &template["template"],
    };
    Ok(Some(PodParts {
        metadata: &holder["metadata"],
        spec: &holder["spec"],
    }))
}

/// Objects of a kind have no pods.
pub(crate) struct NoPods;

pub(crate) fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}
