//! The objects: recorded ones of `testdata/validation`, an object of each kind, and random ones.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use pratique_differential::random_objects;
use pratique_harness::{ToolError, entries, workspace};
use pratique_registry::{Placeholders, is_stored};
use pratique_schema::Release;
use pratique_types::{GroupVersion, GroupVersionKind};
use serde_json::{Value, json};

/// An object that is created.
pub(super) struct CreatedObject {
    /// Where it comes from.
    pub(super) name: String,
    pub(super) object: Value,
}

/// The namespace of all objects that are in one.
const NAMESPACE: &str = "default";

/// All objects of kinds that a server of the release serves by itself and stores, each once: about half of them are invalid.
pub(super) fn collect(release: &Release, seed: u64, random: usize) -> Result<Vec<CreatedObject>, ToolError> {
    let mut objects = recorded(&workspace::root().join("testdata/validation"))?;
    let mut seen = BTreeSet::new();
    let mut is_new = |object: &mut Value| {
        let Some(is_namespaced) = served_as(release, object) else {
            return false;
        };
        place(object, is_namespaced);
        seen.insert(object.to_string())
    };
    objects.retain_mut(|created| is_new(&mut created.object));
    let valid = (objects.len() + random) / 2;
    let accepted = valid
        .saturating_sub(objects.len() / RECORDED_TO_VALID)
        .min(random);
    let random = random_objects(seed, [accepted, random - accepted], &mut is_new)?;
    let random = random.into_iter().enumerate().map(|(at, object)| CreatedObject {
        name: format!("random {seed}/{at}"),
        object,
    });
    objects.extend(random);
    Ok(objects)
}

/// Of so many recorded objects one is valid.
const RECORDED_TO_VALID: usize = 5;

impl CreatedObject {
    /// `apps/v1 Deployment`
    pub(super) fn kind(&self) -> String {
        let text = |name: &str| self.object.get(name).and_then(Value::as_str).unwrap_or_default();
        format!("{} {}", text("apiVersion"), text("kind"))
    }
}

/// The objects of the recorded cases that create one: arrays of cases, or lines.
fn recorded(directory: &Path) -> Result<Vec<CreatedObject>, ToolError> {
    let mut objects = Vec::new();
    let is_of_cases = |path: &PathBuf| {
        let extension = path.extension().and_then(OsStr::to_str);
        matches!(extension, Some("json" | "jsonl"))
    };
    for path in entries(directory)?.into_iter().filter(is_of_cases) {
        let text = fs::read_to_string(&path).map_err(ToolError::file(&path))?;
        // What has the time that stands for now would seem to be set by the server.
        let text = text.replace(&Placeholders::default().time, "2001-01-01T00:00:00Z");
        let values = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
        let values = values.collect::<Result<Vec<Value>, _>>();
        let values = values.map_err(|error| format!("{}: {error}", path.display()))?;
        let cases = values.into_iter().flat_map(|value| match value {
            Value::Array(cases) => cases,
            case => vec![case],
        });
        objects.extend(cases.filter_map(created));
    }
    Ok(objects)
}

fn created(mut case: Value) -> Option<CreatedObject> {
    let is_creation = case.get("old").or(case.get("oldObject")).is_none()
        && case
            .get("subresource")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .is_empty()
        && case
            .get("operation")
            .is_none_or(|operation| operation == "CREATE");
    let object = case.get_mut("object").map(Value::take)?;
    let name = case.get("name").and_then(Value::as_str).unwrap_or_default();
    is_creation.then(|| CreatedObject {
        name: name.to_owned(),
        object,
    })
}

/// Whether an object is in a namespace, if its kind is served without flags and stored.
fn served_as(release: &Release, object: &Value) -> Option<bool> {
    let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
    let version = GroupVersion::parse(text("apiVersion")).ok()?;
    let kind: GroupVersionKind = version.with_kind(text("kind"));
    let mut served = release.resources().served().iter();
    let resource = served.find(|served| served.kind == kind && served.subresource.is_empty())?;
    is_stored(&kind).then_some(resource.namespaced)
}

/// Puts an object where it can be created: what only a stored one has is removed.
fn place(object: &mut Value, is_namespaced: bool) {
    // One without metadata is sent to a namespace as well.
    if is_namespaced && object.get("metadata").is_none_or(Value::is_null) {
        object["metadata"] = json!({});
    }
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        return;
    };
    // With a uid it would be an object of the cluster, which has what it names.
    for name in ["creationTimestamp", "resourceVersion", "uid"] {
        metadata.remove(name);
    }
    if is_namespaced {
        metadata.insert("namespace".to_owned(), NAMESPACE.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_to_a_namespace_names_it() {
        for metadata in ["{}", "null", r#"{"uid": "u"}"#] {
            let mut object: Value = serde_json::from_str(&format!("{{\"metadata\": {metadata}}}")).unwrap();
            place(&mut object, true);
            assert_eq!(object, json!({"metadata": {"namespace": NAMESPACE}}));
        }
        let mut object = json!({});
        place(&mut object, true);
        assert_eq!(object, json!({"metadata": {"namespace": NAMESPACE}}));
    }

    #[test]
    fn thousands_of_objects_are_collected() {
        let objects = collect(Release::latest(), 1, 200).unwrap();
        assert!(objects.len() > 800, "{}", objects.len());
        let kinds: BTreeSet<String> = objects.iter().map(CreatedObject::kind).collect();
        assert!(kinds.len() > 40, "{kinds:?}");
    }
}
