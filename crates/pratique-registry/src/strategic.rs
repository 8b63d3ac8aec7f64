//! Strategic merge patches: lists of built-in kinds are merged by element where their type says so.

use pratique_json::{Object, Value};
use pratique_schema::{PatchStrategy, Release, Shape, TypeId};
use pratique_types::{GroupVersionKind, Status, status};

/// The formats of patches that kinds without patch strategies take.
const WITHOUT_STRATEGIC_MERGE: [&str; 4] = [
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/apply-patch+yaml",
    "application/apply-patch+cbor",
];

const PATCH: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";
const SET_ORDER: &str = "$setElementOrder/";

/// An object with a patch merged in.
// Upstream: apimachinery/pkg/util/strategicpatch/patch.go, StrategicMergeMapPatch
pub(crate) fn merge(
    release: &'static Release,
    kind: &GroupVersionKind,
    object: Value<'static>,
    patch: Value<'static>,
) -> Result<Value<'static>, Box<Status>> {
    let Value::Object(patch) = patch else {
        return Err(Box::new(status::bad_request(
            "json: cannot unmarshal a value that is no object into a strategic merge patch",
        )));
    };
    let Some(id) = release.schema().kind(kind) else {
        return Err(Box::new(status::unsupported_media_type(&WITHOUT_STRATEGIC_MERGE)));
    };
    let object = match object {
        Value::Object(object) => object,
        _ => Object::new(),
    };
    PatchMerge(release)
        .merge_struct(Some(id), object, patch)
        .map(Value::Object)
}

/// Merges patches by the types of a release.
#[derive(Clone, Copy)]
struct PatchMerge(&'static Release);

impl PatchMerge {
    /// Recursion follows the nesting of the patch, which its parser bounds.
    // Upstream: apimachinery/pkg/util/strategicpatch/patch.go, mergeMap
    fn merge_struct(
        self,
        of: Option<TypeId>,
        mut object: Object<'static>,
        mut patch: Object<'static>,
    ) -> Result<Object<'static>, Box<Status>> {
        if let Some(directive) = patch.remove(PATCH) {
            match directive.as_str() {
                Some("replace") => return Ok(patch),
                Some("delete") => return Ok(Object::new()),
                Some("merge") => {}
                _ => {
                    return Err(Box::new(status::bad_request(format!(
                        "Unknown patch type found: {}",
                        show_value(&directive)
                    ))));
                }
            }
        }
        if let Some(Value::Array(keys)) = patch.remove(RETAIN_KEYS) {
            let names = object.iter().map(|(name, _)| name.to_owned()).collect::<Vec<_>>();
            for name in names {
                if !keys.iter().any(|key| key.as_str() == Some(name.as_str())) {
                    object.remove(&name);
                }
            }
        }
        let of = of.map(|id| self.0.schema().get(id));
        let mut orders: Vec<(String, Vec<Value<'static>>)> = Vec::new();
        for (name, change) in patch {
            if let Some(field) = name.strip_prefix(DELETE_FROM) {
                if let (Some(Value::Array(elements)), Value::Array(deleted)) =
                    (object.get_mut(field), &change)
                {
                    elements.retain(|element| !deleted.contains(element));
                }
                continue;
            }
            if let Some(field) = name.strip_prefix(SET_ORDER) {
                if let Value::Array(order) = change {
                    orders.push((field.to_owned(), order));
                }
                continue;
            }
            if change.is_null() {
                object.remove(&name);
                continue;
            }
            let shape = of.and_then(|of| of.field(&name)).map(|field| &field.shape);
            let strategies = self.0.patch_strategies();
            let strategy = of.map(|of| strategies.find(of.name, &name)).unwrap_or_default();
            let current = object.remove(&name);
            let merged = match (current, change) {
                (Some(Value::Object(current)), Value::Object(change)) => {
                    self.merge_member(shape, current, change)?.into()
                }
                (None, Value::Object(change)) => {
                    let without_directives = self.merge_member(shape, Object::new(), change)?;
                    without_directives.into()
                }
                (Some(Value::Array(current)), Value::Array(change)) if strategy.merges => {
                    self.merge_list(shape, strategy, current, change)?.into()
                }
                (None, Value::Array(change)) if strategy.merges && strategy.key.is_some() => {
                    self.merge_list(shape, strategy, Vec::new(), change)?.into()
                }
                (_, change) => change,
            };
            object.insert(name, merged);
        }
        for (field, order) in orders {
            let key = of.and_then(|of| self.0.patch_strategies().find(of.name, &field).key);
            if let Some(Value::Array(elements)) = object.get_mut(&field) {
                set_order(elements, &order, key);
            }
        }
        Ok(object)
    }

    fn merge_member(
        self,
        shape: Option<&Shape>,
        current: Object<'static>,
        change: Object<'static>,
    ) -> Result<Object<'static>, Box<Status>> {
        let of = match shape {
            Some(Shape::Struct(id)) => Some(*id),
            _ => None,
        };
        self.merge_struct(of, current, change)
    }

    /// Elements that the patch adds come first, as upstream where there is no order.
    // Upstream: apimachinery/pkg/util/strategicpatch/patch.go, mergeSlice
    fn merge_list(
        self,
        shape: Option<&Shape>,
        strategy: PatchStrategy,
        current: Vec<Value<'static>>,
        change: Vec<Value<'static>>,
    ) -> Result<Vec<Value<'static>>, Box<Status>> {
        let Some(key) = strategy.key else {
            let mut merged = current;
            for element in change {
                if !merged.contains(&element) {
                    merged.push(element);
                }
            }
            return Ok(merged);
        };
        let of = match shape {
            Some(Shape::List(element)) => match element.as_ref() {
                Shape::Struct(id) => Some(*id),
                _ => None,
            },
            _ => None,
        };
        if change
            .iter()
            .any(|element| element.get(PATCH).and_then(Value::as_str) == Some("replace"))
        {
            let mut replaced = change;
            replaced.retain(|element| element.get(PATCH).is_none());
            return Ok(replaced);
        }
        let mut merged = current;
        let mut added = Vec::new();
        for element in change {
            let Value::Object(mut element) = element else {
                return Err(Box::new(status::bad_request(format!(
                    "map: {}: element is not a map",
                    show_value(&element)
                ))));
            };
            let Some(identity) = element.get(key).cloned() else {
                return Err(Box::new(status::bad_request(format!(
                    "map: {} does not contain declared merge key: {key}",
                    Value::Object(element)
                ))));
            };
            if element.get(PATCH).and_then(Value::as_str) == Some("delete") {
                merged.retain(|other| other.get(key) != Some(&identity));
                continue;
            }
            let same = merged.iter_mut().find(|other| other.get(key) == Some(&identity));
            match same {
                Some(same) => {
                    let current = match std::mem::take(same) {
                        Value::Object(current) => current,
                        _ => Object::new(),
                    };
                    *same = self.merge_struct(of, current, element)?.into();
                }
                None => {
                    element.remove(PATCH);
                    added.push(self.merge_struct(of, Object::new(), element)?.into());
                }
            }
        }
        added.extend(merged);
        Ok(added)
    }
}

/// Sorts elements as the patch says. Elements that it does not name follow, in their order.
// Upstream: apimachinery/pkg/util/strategicpatch/patch.go, normalizeElementOrder
fn set_order(elements: &mut Vec<Value<'static>>, order: &[Value<'static>], key: Option<&str>) {
    let identity = |element: &Value<'static>| match key {
        Some(key) => element.get(key).cloned().unwrap_or_default(),
        None => element.clone(),
    };
    let wanted: Vec<Value<'static>> = order.iter().map(identity).collect();
    let position = |element: &Value<'static>| wanted.iter().position(|one| *one == identity(element));
    let (mut named, others): (Vec<_>, Vec<_>) = std::mem::take(elements)
        .into_iter()
        .partition(|element| position(element).is_some());
    named.sort_by_key(|element| position(element).unwrap_or_default());
    named.extend(others);
    *elements = named;
}

fn show_value(value: &Value<'static>) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(object: &str, patch: &str, expected: &str) {
        let parse = |text: &str| pratique_json::parse(text.as_bytes()).unwrap().into_owned();
        let kind = GroupVersionKind::new("", "v1", "Pod");
        let merged = merge(Release::latest(), &kind, parse(object), parse(patch)).unwrap();
        assert_eq!(merged.to_string(), expected, "{patch}");
    }

    #[test]
    fn lists_are_merged_by_their_keys() {
        let pod =
            r#"{"spec":{"containers":[{"image":"x","name":"a"},{"name":"b"}],"nodeSelector":{"k":"v"}}}"#;
        check(
            pod,
            r#"{"spec":{"containers":[{"name":"a","image":"y"}]}}"#,
            r#"{"spec":{"containers":[{"image":"y","name":"a"},{"name":"b"}],"nodeSelector":{"k":"v"}}}"#,
        );
        check(
            pod,
            r#"{"spec":{"containers":[{"$patch":"delete","name":"a"},{"name":"c"}],"nodeSelector":null}}"#,
            r#"{"spec":{"containers":[{"name":"c"},{"name":"b"}]}}"#,
        );
        check(
            pod,
            r#"{"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}],"nodeSelector":{"$patch":"replace","x":"y"}}}"#,
            r#"{"spec":{"containers":[{"name":"b"},{"image":"x","name":"a"}],"nodeSelector":{"x":"y"}}}"#,
        );
        check(
            r#"{"metadata":{"finalizers":["a","b"]}}"#,
            r#"{"metadata":{"$deleteFromPrimitiveList/finalizers":["a"],"finalizers":["c"]}}"#,
            r#"{"metadata":{"finalizers":["b","c"]}}"#,
        );
    }
}
