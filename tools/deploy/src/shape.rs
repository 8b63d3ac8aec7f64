//! Whether objects have the fields of their kinds, and no others.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use pratique_harness::ToolError;
use pratique_manifest::yaml_as_json;
use pratique_schema::Release;
use pratique_types::GroupVersionKind;
use serde_json::Value;

use super::objects::RenderedObject;

/// The fields of kinds that others define, by `API_VERSION KIND`.
// The text is a constant of ours; a test reads it.
static FOREIGN: LazyLock<BTreeMap<String, Vec<String>>> = LazyLock::new(|| {
    let text = yaml_as_json(include_bytes!("foreign.yaml")).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
});

/// Fields of all objects.
const METADATA: [&str; 6] = [
    "apiVersion",
    "kind",
    "metadata.annotations.*",
    "metadata.labels.*",
    "metadata.name",
    "metadata.namespace",
];

/// The faults of an object's fields, as for an API server.
pub(super) fn faults(object: &RenderedObject) -> Vec<String> {
    let api_version = object.text_at("/apiVersion");
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let kind = GroupVersionKind::new(group, version, object.kind());
    if let Some(id) = Release::latest().schema().kind(&kind) {
        let fault = builtin(id, &object.value).err();
        return fault.iter().map(ToolError::to_string).collect();
    }
    match FOREIGN.get(&format!("{api_version} {}", object.kind())) {
        None => vec![format!("unknown kind {} of {api_version}", object.kind())],
        Some(fields) => {
            let mut unknown = Vec::new();
            foreign(&object.value, "", fields, &mut unknown);
            unknown
        }
    }
}

fn builtin(id: pratique_schema::TypeId, value: &Value) -> Result<(), ToolError> {
    let json = value.to_string();
    let parsed = pratique_json::parse(json.as_bytes()).map_err(|error| error.to_string())?;
    let object = parsed.as_object().ok_or("not an object")?;
    pratique_typed::decode::strict(
        Release::latest().schema(),
        id,
        object,
        &pratique_json::Progress::unwatched(),
    )
    .map_err(|error| ToolError::from(error.to_string()))
}

/// Recursion follows the nesting, which the reader bounds.
fn foreign(value: &Value, path: &str, fields: &[String], unknown: &mut Vec<String>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, value) in members {
                let below = match path {
                    "" => name.clone(),
                    // Names with dots in them are one step.
                    _ => format!("{path}.{}", name.replace('.', "_")),
                };
                foreign(value, &below, fields, unknown);
            }
        }
        Value::Array(elements) => {
            for element in elements {
                foreign(element, &format!("{path}.[]"), fields, unknown);
            }
        }
        _ => {
            if !fields
                .iter()
                .map(String::as_str)
                .chain(METADATA)
                .any(|field| fits(field, path))
            {
                unknown.push(format!("unknown field {path:?}"));
            }
        }
    }
}

fn fits(field: &str, path: &str) -> bool {
    let (mut wanted, mut given) = (field.split('.'), path.split('.'));
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return true,
            (Some("*"), Some(_)) => {}
            (Some(wanted), Some(given)) if wanted == given => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::objects::read;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let objects = read("a", text).unwrap();
        assert_eq!(super::faults(&objects[0]), expected);
    }

    #[test]
    fn unknown_fields_are_faults() {
        check("apiVersion: v1\nkind: Service\nspec: {clusterIP: None}\n", &[]);
        check(
            "apiVersion: v1\nkind: Service\nspec: {clusterIp: None}\n",
            &["strict decoding error: unknown field \"spec.clusterIp\""],
        );
        check(
            "apiVersion: cert-manager.io/v1\nkind: Issuer\nmetadata: {labels: {a.b/c: d}}\nspec: {ca: {secret: a}}\n",
            &["unknown field \"spec.ca.secret\""],
        );
        check("apiVersion: a/v1\nkind: B\n", &["unknown kind B of a/v1"]);
    }
}
