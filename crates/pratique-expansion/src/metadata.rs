//! The metadata of Pods that controllers write.

use pratique_json::{Object, Value};

/// The UID of objects that no server has created.
const NO_UID: &str = "00000000-0000-0000-0000-000000000000";

/// The longest name of a Pod.
const LONGEST_NAME: usize = 253;

/// The owner of a Pod.
pub(crate) struct PodOwner {
    api_version: String,
    kind: String,
    pub(crate) name: String,
    pub(crate) uid: String,
}

impl PodOwner {
    /// A workload as the owner.
    pub(crate) fn new(api_version: &str, kind: &str, workload: &Value<'_>) -> Self {
        let text = |field: &str| workload.at(&["metadata", field]).and_then(Value::as_str);
        PodOwner {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            // Objects without a name get one from the server.
            name: text("name")
                .or(text("generateName"))
                .unwrap_or_default()
                .to_owned(),
            uid: text("uid").unwrap_or(NO_UID).to_owned(),
        }
    }

    /// An owner that a controller makes.
    pub(crate) fn placeholder(api_version: &str, kind: &str, name: String) -> Self {
        PodOwner {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            name,
            uid: NO_UID.to_owned(),
        }
    }

    fn reference(&self) -> Value<'static> {
        let mut reference = Object::new();
        reference.insert("apiVersion", self.api_version.clone());
        reference.insert("kind", self.kind.clone());
        reference.insert("name", self.name.clone());
        reference.insert("uid", self.uid.clone());
        reference.insert("controller", Value::Bool(true));
        reference.insert("blockOwnerDeletion", Value::Bool(true));
        Value::Object(reference)
    }
}

/// The Pod of a template. Of the template's metadata, labels, annotations and finalizers count.
// Upstream: pkg/controller/controller_utils.go, GetPodFromTemplate
pub(crate) fn pod_of<'v>(template: &'v Object<'_>, owner: &PodOwner) -> Object<'v> {
    let mut metadata = Object::new();
    let of_template = template.get("metadata");
    for field in ["labels", "annotations", "finalizers"] {
        if let Some(value) = of_template.and_then(|metadata| metadata.get(field)) {
            metadata.insert(field, value.borrowed());
        }
    }
    metadata.insert("generateName", prefix(&owner.name));
    metadata.insert("ownerReferences", Value::Array(vec![owner.reference()]));
    let mut pod = Object::new();
    pod.insert("apiVersion", "v1");
    pod.insert("kind", "Pod");
    pod.insert("metadata", Value::Object(metadata));
    if let Some(spec) = template.get("spec") {
        pod.insert("spec", spec.borrowed());
    }
    pod
}

/// The prefix of the names of a controller's Pods, which ends in a dash unless the name is too long.
// Upstream: pkg/controller/controller_utils.go, getPodsPrefix
fn prefix(name: &str) -> String {
    let dash = if name.len() < LONGEST_NAME { "-" } else { "" };
    format!("{name}{dash}")
}

/// Sets a label.
pub(crate) fn set_label(pod: &mut Object<'_>, key: &'static str, value: impl Into<String>) {
    set(pod, "labels", key, value);
}

/// Sets an entry of a map in the metadata.
pub(crate) fn set(pod: &mut Object<'_>, map: &'static str, key: &'static str, value: impl Into<String>) {
    let Some(Value::Object(metadata)) = pod.get_mut("metadata") else {
        return;
    };
    if !matches!(metadata.get(map), Some(Value::Object(_))) {
        metadata.insert(map, Value::Object(Object::new()));
    }
    if let Some(Value::Object(entries)) = metadata.get_mut(map) {
        entries.insert(key, value.into());
    }
}

/// Takes the list in a member out of an object; empty where there is none.
pub(crate) fn take_list<'o>(members: &mut Object<'o>, name: &str) -> Vec<Value<'o>> {
    match members.remove(name) {
        Some(Value::Array(elements)) => elements,
        _ => Vec::new(),
    }
}

/// A placeholder for the hash of a template: of the form of a server's, and different for different templates. A server's
/// own depends on how Go lays out its types.
// Upstream: pkg/controller/controller_utils.go, ComputeHash
pub(crate) fn hash(template: &Object<'_>) -> String {
    const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut hash = 0x811c_9dc5_u32;
    for byte in Value::Object(template.borrowed()).to_string().bytes() {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    let digits = hash.to_string();
    let letter = |digit: u8| {
        LETTERS
            .get(usize::from(digit) % LETTERS.len())
            .copied()
            .unwrap_or(b'b')
    };
    digits.bytes().map(|digit| char::from(letter(digit))).collect()
}
