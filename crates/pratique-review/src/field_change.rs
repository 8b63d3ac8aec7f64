//! What a step of the chain changed in an object, field by field.

use pratique_json::Value;

use crate::field_path::{FieldPath, shortened};

/// A field that a step changed.
#[derive(Clone, Debug)]
pub(crate) struct FieldChange<'v> {
    pub(crate) path: FieldPath,
    /// The path as it is shown: elements of lists have their names.
    shown: String,
    before: Option<&'v Value<'v>>,
    after: Option<&'v Value<'v>>,
}

impl<'v> FieldChange<'v> {
    /// The outermost fields that differ between two forms of an object.
    pub(crate) fn between(old_value: &'v Value<'v>, new_value: &'v Value<'v>) -> Vec<Self> {
        let mut changes = Vec::new();
        collect(old_value, new_value, "", "", &mut changes);
        changes
    }

    /// Whether the field is not there any more.
    pub(crate) fn is_removal(&self) -> bool {
        self.after.is_none()
    }

    /// The change as what someone did: `set spec.x to 1`, `removed spec.volumes[cache]`.
    pub(crate) fn deed(&self) -> String {
        let display_path = &self.shown;
        match (self.before, self.after) {
            (_, None) => format!("removed {display_path}"),
            (None, Some(new_value)) => format!("set {display_path} to {}", shortened(new_value)),
            (Some(old_value), Some(new_value)) => {
                format!(
                    "changed {display_path} from {} to {}",
                    shortened(old_value),
                    shortened(new_value)
                )
            }
        }
    }
}

/// What makes one form of an object another, field by field: `set spec.x to 1`.
pub fn changed_fields(old: &Value<'_>, new: &Value<'_>) -> Vec<String> {
    let changes = FieldChange::between(old, new);
    changes.iter().map(FieldChange::deed).collect()
}

/// Recursion follows the nesting of the values, which their parser bounds.
fn collect<'v>(
    old_value: &'v Value<'v>,
    new_value: &'v Value<'v>,
    path: &str,
    display_path: &str,
    changes: &mut Vec<FieldChange<'v>>,
) {
    if old_value == new_value {
        return;
    }
    let mut compare = |old_member: Option<&'v Value<'v>>,
                       new_member: Option<&'v Value<'v>>,
                       path: &str,
                       member_path: &str| match (old_member, new_member) {
        (Some(old), Some(new)) => collect(old, new, path, member_path, changes),
        _ => changes.push(FieldChange {
            path: FieldPath::parse(path),
            shown: member_path.to_owned(),
            before: old_member,
            after: new_member,
        }),
    };
    match (old_value, new_value) {
        (Value::Object(old), Value::Object(new)) => {
            let kept = old.iter().map(|(name, _)| name);
            let added = new.iter().map(|(name, _)| name);
            for name in kept.chain(added.filter(|name| !old.contains_key(name))) {
                let dot = if path.is_empty() { "" } else { "." };
                let step = if name.contains(['.', '[']) {
                    format!("[{name}]")
                } else {
                    format!("{dot}{name}")
                };
                let (path, member_path) = (format!("{path}{step}"), format!("{display_path}{step}"));
                compare(old.get(name), new.get(name), &path, &member_path);
            }
        }
        (Value::Array(old), Value::Array(new)) if has_names(old) && has_names(new) => {
            for (index, element) in old.iter().enumerate() {
                let place = (
                    format!("{path}[{index}]"),
                    format!("{display_path}[{}]", name_of(element)),
                );
                compare(Some(element), named(new, element), &place.0, &place.1);
            }
            for (index, element) in new.iter().enumerate() {
                if named(old, element).is_none() {
                    let place = (
                        format!("{path}[{index}]"),
                        format!("{display_path}[{}]", name_of(element)),
                    );
                    compare(None, Some(element), &place.0, &place.1);
                }
            }
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                let step = format!("[{index}]");
                compare(
                    Some(old),
                    Some(new),
                    &format!("{path}{step}"),
                    &format!("{display_path}{step}"),
                );
            }
        }
        _ => changes.push(FieldChange {
            path: FieldPath::parse(path),
            shown: display_path.to_owned(),
            before: Some(old_value),
            after: Some(new_value),
        }),
    }
}

fn has_names(list: &[Value<'_>]) -> bool {
    !list.is_empty() && list.iter().all(|element| !name_of(element).is_empty())
}

fn name_of<'v>(element: &'v Value<'_>) -> &'v str {
    element.get("name").and_then(Value::as_str).unwrap_or_default()
}

fn named<'v>(list: &'v [Value<'v>], element: &Value<'_>) -> Option<&'v Value<'v>> {
    list.iter().find(|other| name_of(other) == name_of(element))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_told_as_deeds() {
        let read = |text: &str| pratique_json::parse(text.as_bytes()).unwrap().into_owned();
        let before = read(r#"{"spec":{"volumes":[{"name":"a"},{"name":"b"}],"x":1,"l":[1]}}"#);
        let after = read(r#"{"spec":{"volumes":[{"name":"b","y":{}}],"x":2,"l":[1,2],"m":{"a.b":1}}}"#);
        let deeds: Vec<String> = FieldChange::between(&before, &after)
            .iter()
            .map(FieldChange::deed)
            .collect();
        assert_eq!(
            deeds,
            [
                "changed spec.l from [1] to [1,2]",
                "removed spec.volumes[a]",
                "set spec.volumes[b].y to {}",
                "changed spec.x from 1 to 2",
                "set spec.m to {\"a.b\":1}",
            ]
        );
    }
}
