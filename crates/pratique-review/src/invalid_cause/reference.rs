//! The other end of a reference within an object.

use pratique_gotext::suggest::{did_you_mean, nearest};
use pratique_json::Value;

use super::cause_help::CauseHelp;
use crate::field_path::FieldPath;

/// A field that names an element of a list of the Pod.
struct PodReference {
    /// The last steps of the path of the field.
    field: [&'static str; 2],
    /// The list of the Pod's specification.
    list: &'static str,
    /// What an element of it is called.
    noun: &'static str,
}

const REFERENCES: &[PodReference] = &[
    PodReference {
        field: ["volumeMounts", "name"],
        list: "volumes",
        noun: "volume",
    },
    PodReference {
        field: ["volumeDevices", "name"],
        list: "volumes",
        noun: "volume",
    },
    PodReference {
        field: ["claims", "name"],
        list: "resourceClaims",
        noun: "resource claim",
    },
    PodReference {
        field: ["ephemeralContainers", "targetContainerName"],
        list: "containers",
        noun: "container",
    },
];

/// How many names are listed.
const MAX_NAMES: usize = 8;

/// What there is instead of what a field names: `no volume is named "date": did you mean "data"?`
pub(super) fn help(path: &FieldPath, object: &Value<'_>) -> Option<CauseHelp> {
    let names = path.names();
    let (field, at) = names.split_last()?;
    let (_, at) = at.split_last()?;
    let list = at.last()?;
    let reference = REFERENCES
        .iter()
        .find(|reference| reference.field == [list.as_str(), field.as_str()])?;
    let named = path.value(object)?.as_str()?;
    // The Pod's specification is what has the containers.
    let holders = ["containers", "initContainers", "ephemeralContainers"];
    let depth = names.iter().position(|name| holders.contains(&name.as_str()))?;
    let spec = names.get(..depth)?;
    let spec = spec.iter().try_fold(object, |value, name| value.get(name))?;
    let elements = spec
        .get(reference.list)
        .and_then(Value::as_array)
        .unwrap_or_default();
    let there: Vec<&str> = elements
        .iter()
        .filter_map(|element| element.get("name").and_then(Value::as_str))
        .collect();
    let noun = reference.noun;
    let text = |rest: String| format!("no {noun} is named {named:?}: {rest}");
    if let Some(meant) = nearest(named, there.iter().copied()) {
        return Some(CauseHelp::with_replacement(meant, text(did_you_mean(meant))));
    }
    let rest = if there.is_empty() {
        format!("there is no {noun} at all")
    } else {
        let more = if there.len() > MAX_NAMES { ", …" } else { "" };
        let listed = there.into_iter().take(MAX_NAMES).collect::<Vec<_>>().join(", ");
        format!("there are {listed}{more}")
    };
    Some(CauseHelp::without_replacement(text(rest)))
}
