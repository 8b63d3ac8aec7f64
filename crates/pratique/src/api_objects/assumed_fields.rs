//! Fields that an object of a file lacks, and that a server's own would have: what its plugins set in a new one, and what stays of
//! the stored one where it is applied rather than replaced.

use pratique_json::{Object, Value};
use pratique_types::GroupVersionKind;

/// The fields of a kind that a stored object has from its server, and that an applied manifest leaves as they are.
struct KeptFields {
    group: &'static str,
    kind: &'static str,
    fields: &'static [&'static [&'static str]],
}

const KEPT: &[KeptFields] = &[
    KeptFields {
        group: "",
        kind: "Pod",
        fields: &[
            &["spec", "nodeName"],
            &["spec", "preemptionPolicy"],
            &["spec", "priority"],
            &["spec", "priorityClassName"],
            &["spec", "serviceAccount"],
            &["spec", "serviceAccountName"],
            &["spec", "tolerations"],
        ],
    },
    KeptFields {
        group: "",
        kind: "PersistentVolumeClaim",
        fields: &[&["spec", "storageClassName"], &["spec", "volumeName"]],
    },
    KeptFields {
        group: "",
        kind: "PersistentVolume",
        fields: &[&["spec", "claimRef"]],
    },
    KeptFields {
        group: "batch",
        kind: "Job",
        fields: &[&["spec", "selector"], &["spec", "template", "metadata", "labels"]],
    },
];

/// Sets what a new object has from the plugins of its server, as far as its validation asks for it; whether it lacked that.
// Upstream: plugin/pkg/admission/serviceaccount/admission.go, Admit
pub(super) fn assume_plugins(kind: &GroupVersionKind, object: &mut Value<'static>) -> bool {
    if !kind.is_core("Pod") || !merge(object, &["spec", "serviceAccountName"], &"default".into()) {
        return false;
    }
    // The old name of the field has the same value in the internal form.
    merge(object, &["spec", "serviceAccount"], &"default".into());
    true
}

/// Keeps the fields of the stored object that an applied manifest leaves out; whether there are any. A Job that is stored has a
/// selector, though a manifest that stands for it may not.
pub(super) fn keep_stored(
    kind: &GroupVersionKind,
    object: &mut Value<'static>,
    old: &mut Value<'static>,
) -> bool {
    let mut is_changed = false;
    if kind.group == "batch" && kind.kind == "Job" {
        is_changed |= add_selector(old);
    }
    let kept = KEPT
        .iter()
        .find(|kept| kept.group == kind.group && kept.kind == kind.kind);
    for field in kept.map(|kept| kept.fields).unwrap_or_default() {
        if let Some(value) = old.at(field).cloned() {
            is_changed |= merge(object, field, &value);
        }
    }
    is_changed
}

// Upstream: pkg/registry/batch/job/strategy.go, generateSelector
fn add_selector(job: &mut Value<'static>) -> bool {
    const LABEL: &str = "batch.kubernetes.io/controller-uid";
    let Some(uid) = job.at(&["metadata", "uid"]).cloned() else {
        return false;
    };
    let has_selector = job
        .at(&["spec", "selector"])
        .is_some_and(|selector| !selector.is_empty());
    if has_selector {
        return false;
    }
    let labels: Object<'static> = [(LABEL.into(), uid)].into_iter().collect();
    let selector: Object<'static> = [("matchLabels".into(), labels.clone().into())]
        .into_iter()
        .collect();
    let with_selector = merge(job, &["spec", "selector"], &selector.into());
    merge(job, &["spec", "template", "metadata", "labels"], &labels.into()) || with_selector
}

/// Sets a field where there is none, or the members that it lacks; whether that changed anything.
fn merge(object: &mut Value<'static>, path: &[&'static str], value: &Value<'static>) -> bool {
    let Value::Object(members) = object else {
        return false;
    };
    let Some((name, rest)) = path.split_first() else {
        return false;
    };
    if !rest.is_empty() {
        if !members.contains_key(name) {
            members.insert(*name, Object::new());
        }
        return members
            .get_mut(name)
            .is_some_and(|inner| merge(inner, rest, value));
    }
    match (members.get_mut(name), value) {
        (Some(Value::Object(here)), Value::Object(there)) => {
            let previous_count = here.len();
            for (key, value) in there.iter() {
                if !here.contains_key(key) {
                    here.insert(key.to_owned(), value.clone());
                }
            }
            here.len() > previous_count
        }
        (Some(here), _) if !here.is_empty() => false,
        _ => {
            members.insert(*name, value.clone());
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Value<'static> {
        pratique_json::parse(text.as_bytes()).unwrap().into_owned()
    }

    #[test]
    fn an_applied_manifest_keeps_what_it_leaves_out() {
        let job = GroupVersionKind::new("batch", "v1", "Job");
        let mut old =
            read(r#"{"metadata":{"uid":"u"},"spec":{"template":{"metadata":{"labels":{"a":"b"}}}}}"#);
        let mut new = read(r#"{"spec":{"template":{"metadata":{"labels":{"a":"b"}}}}}"#);
        assert!(keep_stored(&job, &mut new, &mut old));
        for path in [&["spec", "selector"][..], &["spec", "template"]] {
            assert_eq!(new.at(path), old.at(path));
            assert!(new.at(path).is_some());
        }
        assert!(!keep_stored(&job, &mut new, &mut old));
    }

    #[test]
    fn a_pod_has_an_account() {
        let pod = GroupVersionKind::new("", "v1", "Pod");
        let mut object = read(r#"{"spec":{}}"#);
        assert!(assume_plugins(&pod, &mut object));
        assert!(!assume_plugins(&pod, &mut object));
    }
}
