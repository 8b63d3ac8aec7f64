//! The value of `oldObject` where there is a stored object that was not given.

use crate::partly_known::PartlyKnown;

/// A stored object of which nothing is known.
pub static UNKNOWN_OBJECT: PartlyKnown = PartlyKnown::new("map", PATH, Vec::new());

const PATH: &str = "oldObject";

/// Whether a path of something unknown leads into such an object.
pub(crate) fn is_of_old_object(path: &str) -> bool {
    let rest = path.strip_prefix(PATH);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

#[cfg(test)]
mod tests {
    use pratique_cel::{Arena, Context, Fault, UnknownValue, Value};

    use super::*;
    use crate::{Cache, Composition, Declarations, ExpressionPurpose, slots};

    fn evaluate(text: &str) -> Result<String, Fault> {
        let cache = Cache::new();
        let expression = Composition::new(&cache)
            .compile(text, ExpressionPurpose::Variable, Declarations::default())
            .unwrap();
        let (arena, mut activation) = (Arena::new(), slots().activation());
        activation.set(slots().old_object, Value::Struct(&UNKNOWN_OBJECT));
        activation.set(slots().object, Value::Null);
        let value = expression
            .program()
            .evaluate(&Context::new(&arena, 1_000_000), &activation)?;
        Ok(format!("{value:?}"))
    }

    #[test]
    fn whatever_is_read_is_unknown_and_nothing_absorbs_it() {
        for (text, path) in [
            ("oldObject", "oldObject"),
            ("oldObject == object", "oldObject"),
            ("has(oldObject.spec) || true", "oldObject.spec"),
            ("oldObject.spec.replicas > 1 || true", "oldObject.spec"),
            (
                "oldObject.?metadata.labels.orValue({}) == {}",
                "oldObject.metadata",
            ),
            ("oldObject['a/b'] == 1", "oldObject['a/b']"),
            ("[oldObject].size() == 1", "oldObject"),
            ("oldObject.all(k, true)", "oldObject"),
            ("'a' in oldObject", "oldObject"),
            ("type(oldObject) == map", "oldObject"),
            ("object == oldObject", "oldObject"),
        ] {
            let unknown = Fault::unknown(UnknownValue::Attribute(path.into()));
            assert_eq!(evaluate(text), Err(unknown), "{text}");
            assert!(is_of_old_object(path));
        }
        assert_eq!(
            evaluate("object == null || oldObject.a"),
            Ok("Bool(true)".to_owned())
        );
        assert!(!is_of_old_object("oldObjects") && !is_of_old_object("namespaceObject.oldObject"));
    }
}
