//! The types of volumes.

use pratique_json::{Object, Value, text_at};

use crate::pod::{Pod, present};
use crate::violation::{QuotedNames, SortedValues, Violation, detail, plural};

/// Whether volumes of a type are allowed at the restricted level.
fn is_allowed(source: &str) -> bool {
    matches!(
        source,
        "configMap"
            | "csi"
            | "downwardAPI"
            | "emptyDir"
            | "ephemeral"
            | "image"
            | "persistentVolumeClaim"
            | "projected"
            | "secret"
    )
}

/// The other types, in the order in which the first one of a volume is found.
const OTHERS: [&str; 21] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "gitRepo",
    "nfs",
    "iscsi",
    "glusterfs",
    "rbd",
    "flexVolume",
    "cinder",
    "cephfs",
    "flocker",
    "fc",
    "azureFile",
    "vsphereVolume",
    "quobyte",
    "azureDisk",
    "photonPersistentDisk",
    "portworxVolume",
    "scaleIO",
    "storageos",
];

// Upstream: pod-security-admission/policy/check_hostPathVolumes.go, hostPathVolumes_1_0
pub(super) fn host_path(pod: &Pod<'_>) -> Option<Violation> {
    let names = named(pod, |volume| has(volume, "hostPath"));
    (!names.is_empty()).then(|| Violation::new("hostPath volumes", volumes(&names)))
}

// Upstream: pod-security-admission/policy/check_restrictedVolumes.go, restrictedVolumes_1_0
pub(super) fn restricted(pod: &Pod<'_>) -> Option<Violation> {
    let mut types = SortedValues::new();
    let names = named(pod, |volume| {
        let mut sources = volume.as_object().into_iter().flat_map(Object::iter);
        if sources.any(|(source, value)| is_allowed(source) && !value.is_null()) {
            return false;
        }
        let volume_type = OTHERS.into_iter().find(|other| has(volume, other));
        types.insert(volume_type.unwrap_or("unknown"));
        true
    });
    if names.is_empty() {
        return None;
    }
    let uses = plural(names.len(), "uses", "use");
    let word = plural(types.len(), "restricted volume type", "restricted volume types");
    Some(Violation::new(
        "restricted volume types",
        detail(&[
            &volumes(&names).as_str(),
            &" ",
            &uses,
            &" ",
            &word,
            &" ",
            &QuotedNames(&types),
        ]),
    ))
}

fn has(volume: &Value<'_>, source: &str) -> bool {
    present(volume, source).is_some()
}

fn named<'a>(pod: &Pod<'a>, mut is_bad: impl FnMut(&'a Value<'a>) -> bool) -> Vec<&'a str> {
    let bad = pod.volumes.iter().filter(|volume| is_bad(volume));
    bad.map(|volume| text_at(volume, &["name"])).collect()
}

fn volumes(names: &[&str]) -> String {
    detail(&[&plural(names.len(), "volume ", "volumes "), &QuotedNames(names)])
}
