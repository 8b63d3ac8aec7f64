//! The value of `oldObject` where there is a stored object that was not given.

use pratique_cel::value::Struct;
use pratique_cel::{Context, Fault, Unknown, Value};

/// A stored object of which nothing is known. Whatever an expression reads of it is [unknown](Unknown).
#[derive(Clone, Copy, Debug)]
pub struct UnknownObject;

const PATH: &str = "oldObject";

impl UnknownObject {
    /// Whether a path of something unknown leads into such an object.
    pub(crate) fn has(path: &str) -> bool {
        let rest = path.strip_prefix(PATH);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    }
}

fn unknown(field: &str) -> Fault {
    let is_name = field
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let path = match is_name {
        true => format!("{PATH}.{field}"),
        false => format!("{PATH}['{field}']"),
    };
    Fault::unknown(Unknown::Attribute(path.into()))
}

fn whole() -> Fault {
    Fault::unknown(Unknown::Attribute(PATH.into()))
}

impl Struct for UnknownObject {
    fn type_name(&self) -> &str {
        "map"
    }

    fn get<'a>(&'a self, _: &Context<'a>, field: &str) -> Result<Option<Value<'a>>, Fault> {
        Err(unknown(field))
    }

    fn has(&self, _: &Context<'_>, field: &str) -> Result<bool, Fault> {
        Err(unknown(field))
    }

    fn fields<'a>(&'a self, _: &Context<'a>) -> Result<Vec<(&'a str, Value<'a>)>, Fault> {
        Err(whole())
    }

    fn unknown(&self) -> Option<Unknown> {
        Some(Unknown::Attribute(PATH.into()))
    }

    fn unfit_index(&self, _: &Value<'_>) -> Fault {
        whole()
    }
}

#[cfg(test)]
mod tests {
    use pratique_cel::Arena;

    use super::*;
    use crate::{Cache, Composition, Declarations, Use, slots};

    fn evaluate(text: &str) -> Result<String, Fault> {
        let cache = Cache::new();
        let expression = Composition::new(&cache)
            .compile(text, Use::Variable, Declarations::default())
            .unwrap();
        let (arena, mut activation) = (Arena::new(), slots().activation());
        activation.set(slots().old_object, Value::Struct(&UnknownObject));
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
            let unknown = Fault::unknown(Unknown::Attribute(path.into()));
            assert_eq!(evaluate(text), Err(unknown), "{text}");
            assert!(UnknownObject::has(path));
        }
        assert_eq!(
            evaluate("object == null || oldObject.a"),
            Ok("Bool(true)".to_owned())
        );
        assert!(!UnknownObject::has("oldObjects") && !UnknownObject::has("namespaceObject.oldObject"));
    }
}
