//! The value of `namespaceObject` where only the name of the namespace is known.

use crate::partly_known::{KnownMember, PartlyKnown};
use crate::types::NAMESPACE_TYPE;

/// The label that every namespace has: its name.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// A namespace of which only the name is known, and the label that an API server gives it for that.
pub fn named_namespace(name: &str) -> PartlyKnown {
    let text = || KnownMember::Text(name.into());
    let part = |path, members| PartlyKnown::new(NAMESPACE_TYPE, path, members);
    let labels = part("namespaceObject.metadata.labels", vec![(NAME_LABEL, text())]);
    let metadata = vec![("name", text()), ("labels", KnownMember::Part(labels))];
    let metadata = part("namespaceObject.metadata", metadata);
    part("namespaceObject", vec![("metadata", KnownMember::Part(metadata))])
}

/// The namespace of an object that names none, if it is not known whether its kind is namespaced.
pub static UNKNOWN_NAMESPACE: PartlyKnown = PartlyKnown::new(NAMESPACE_TYPE, "namespaceObject", Vec::new());

/// Whether such a namespace has the value at a path, or with `presence` whether its presence is known.
pub(crate) fn has_path(path: &[&str], presence: bool) -> bool {
    match path {
        ["metadata", "name"] | ["metadata", "labels", NAME_LABEL] => true,
        ["metadata"] | ["metadata", "labels"] => presence,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pratique_cel::{Arena, Context, Fault, UnknownValue, Value};

    use super::*;
    use crate::{Cache, Composition, Declarations, Expression, ExpressionPurpose, slots};

    fn compiled(text: &str) -> Arc<Expression> {
        let cache = Cache::new();
        let composition = Composition::new(&cache);
        composition
            .compile(text, ExpressionPurpose::Variable, Declarations::default())
            .unwrap()
    }

    /// Evaluates in namespace `shop`.
    fn evaluate(expression: &Expression) -> Result<String, Fault> {
        let namespace = named_namespace("shop");
        let (arena, mut activation) = (Arena::new(), slots().activation());
        activation.set(slots().namespace_object, Value::Struct(&namespace));
        activation.set(slots().object, Value::Null);
        let context = Context::new(&arena, 1_000_000);
        let value = expression.program().evaluate(&context, &activation)?;
        Ok(format!("{value:?}"))
    }

    #[track_caller]
    fn known(text: &str, expected: &str) {
        let expression = compiled(text);
        assert_eq!(evaluate(&expression).as_deref(), Ok(expected), "{text}");
    }

    #[track_caller]
    fn undecided(text: &str, path: &str) {
        let expression = compiled(text);
        let unknown = Fault::unknown(UnknownValue::Attribute(path.into()));
        assert_eq!(evaluate(&expression), Err(unknown), "{text}");
        assert!(expression.reads_whole_namespace(), "{text}");
    }

    #[test]
    fn the_name_is_known() {
        for text in [
            "namespaceObject.metadata.name",
            "namespaceObject.metadata.labels['kubernetes.io/metadata.name']",
        ] {
            known(text, r#"String("shop")"#);
            assert!(!compiled(text).reads_whole_namespace(), "{text}");
        }
        for text in [
            "has(namespaceObject.metadata.labels)",
            "has(namespaceObject.metadata) && namespaceObject.metadata.name == 'shop'",
            "['shop'].exists(n, n == namespaceObject.metadata.name)",
            "namespaceObject.metadata.?labels[?'kubernetes.io/metadata.name'].orValue('') == 'shop'",
        ] {
            known(text, "Bool(true)");
            assert!(!compiled(text).reads_whole_namespace(), "{text}");
        }
    }

    #[test]
    fn what_is_not_reached_does_not_count() {
        known(
            "object == null || namespaceObject.spec.finalizers.size() == 0",
            "Bool(true)",
        );
        known(
            "size(object != null ? namespaceObject.metadata.labels : {}) == 0",
            "Bool(true)",
        );
    }

    #[test]
    fn all_else_is_unknown() {
        let labels = "namespaceObject.metadata.labels";
        undecided("namespaceObject", "namespaceObject");
        undecided("namespaceObject == object", "namespaceObject");
        undecided("[namespaceObject] == [object]", "namespaceObject");
        undecided(
            "type(namespaceObject.metadata) == map",
            "namespaceObject.metadata",
        );
        undecided("size(namespaceObject.metadata.labels) > 0", labels);
        undecided("'env' in namespaceObject.metadata.labels", labels);
        undecided("namespaceObject.metadata.labels.all(k, k != 'env')", labels);
        undecided("namespaceObject.?metadata", "namespaceObject.metadata");
        undecided(
            "{'a': 1}[?namespaceObject.metadata.labels['b']]",
            &format!("{labels}.b"),
        );
        undecided(
            "namespaceObject.metadata.?labels[?'env'].hasValue()",
            &format!("{labels}.env"),
        );
        undecided(
            "has(namespaceObject.metadata.annotations)",
            "namespaceObject.metadata.annotations",
        );
        undecided(
            "namespaceObject.metadata.labels['a/b'] == 'c'",
            &format!("{labels}['a/b']"),
        );
        undecided("has(namespaceObject.spec)", "namespaceObject.spec");
        undecided(
            "namespaceObject.status.phase == 'Active'",
            "namespaceObject.status",
        );
    }

    #[test]
    fn nothing_absorbs_it() {
        for text in [
            "namespaceObject.status.phase == 'Active' && false",
            "namespaceObject.status.phase == 'Active' || true",
            "[1, 2].exists(n, n == 2 || namespaceObject.status.phase == 'Active')",
            "[namespaceObject.status.phase].all(n, false)",
        ] {
            undecided(text, "namespaceObject.status");
        }
    }
}
