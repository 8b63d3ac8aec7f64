//! Pod templates in objects of which nobody said that a controller makes Pods of them.

use std::fmt::Write as _;

use pratique_json::Value;

/// How deep a template is looked for.
const MAX_DEPTH: usize = 24;

/// A step on the way to a template.
enum PathStep<'v> {
    Member(&'v str),
    Item(usize),
}

/// The fields that lead to the first Pod template within an object, such as `spec.template`; with `[0]` for an item of a list, where
/// no [`PodTemplate`](crate::PodTemplate) can name it. It is known by the containers of its `spec`.
pub fn find_template(object: &Value<'_>) -> Option<String> {
    // What is a Pod itself has containers too.
    let mut steps = below(object, MAX_DEPTH)?;
    steps.reverse();
    let mut path = String::new();
    for step in &steps {
        // Writing to a text does not fail.
        let _ = match step {
            PathStep::Member(name) if path.is_empty() => write!(path, "{name}"),
            PathStep::Member(name) => write!(path, ".{name}"),
            PathStep::Item(index) => write!(path, "[{index}]"),
        };
    }
    Some(path)
}

/// The steps to the first template below a value, the last one first.
fn below<'v>(value: &'v Value<'_>, depth: usize) -> Option<Vec<PathStep<'v>>> {
    let depth = depth.checked_sub(1)?;
    let with_step = |step: PathStep<'v>, value: &'v Value<'_>| {
        let mut steps = if has_containers(value) {
            Vec::new()
        } else {
            below(value, depth)?
        };
        steps.push(step);
        Some(steps)
    };
    match value {
        Value::Object(members) => {
            let mut members = members.iter();
            members.find_map(|(name, value)| with_step(PathStep::Member(name), value))
        }
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(index, value)| with_step(PathStep::Item(index), value))
        }
        _ => None,
    }
}

fn has_containers(value: &Value<'_>) -> bool {
    let containers = value.at(&["spec", "containers"]).and_then(Value::as_array);
    let is_container = |item: &Value<'_>| item.get("image").is_some() || item.get("name").is_some();
    containers.is_some_and(|containers| containers.iter().any(is_container))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(object: &str, expected: Option<&str>) {
        let object = pratique_json::parse(object.as_bytes()).unwrap();
        assert_eq!(find_template(&object).as_deref(), expected);
    }

    #[test]
    fn templates_are_found_by_their_containers() {
        let template = r#"{"metadata":{},"spec":{"containers":[{"name":"c","image":"i"}]}}"#;
        check(
            &format!(r#"{{"kind":"Rollout","spec":{{"replicas":1,"template":{template}}}}}"#),
            Some("spec.template"),
        );
        check(
            &format!(r#"{{"spec":{{"replicaSpecs":{{"Master":{{"template":{template}}}}}}}}}"#),
            Some("spec.replicaSpecs.Master.template"),
        );
        check(
            &format!(r#"{{"spec":{{"workers":[{{"a":1}},{{"template":{template}}}]}}}}"#),
            Some("spec.workers[1].template"),
        );
        check(template, None);
        check(r#"{"spec":{"template":{"spec":{"containers":[]}}}}"#, None);
        check(r#"{"spec":{"template":{"spec":{"containers":"many"}}}}"#, None);
        check("[]", None);
    }

    #[test]
    fn what_is_too_deep_is_not_looked_for() {
        let nested = |depth: usize| {
            let inner = r#"{"spec":{"containers":[{"name":"c"}]}}"#;
            let head = r#"{"a":"#.repeat(depth);
            format!("{head}{inner}{}", "}".repeat(depth))
        };
        check(&nested(2), Some("a.a"));
        check(&nested(MAX_DEPTH + 1), None);
    }
}
