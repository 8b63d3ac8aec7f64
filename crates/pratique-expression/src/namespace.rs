//! The value of `namespaceObject` where only the name of the namespace is known.

use pratique_cel::value::Struct;
use pratique_cel::{Context, Fault, Unknown, Value};

use crate::types::NAMESPACE_TYPE;

/// A namespace of which only the name is known, and the label that an API server gives it for that. All else that an
/// expression reads of it is [unknown](Unknown).
#[derive(Debug)]
pub struct NamedNamespace {
    metadata: Metadata,
}

#[derive(Debug)]
struct Metadata {
    name: Box<str>,
    labels: Labels,
}

#[derive(Debug)]
struct Labels {
    name: Box<str>,
}

/// The label that every namespace has: its name.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

const METADATA: &str = "namespaceObject.metadata";
const LABELS: &str = "namespaceObject.metadata.labels";

impl NamedNamespace {
    /// A namespace of this name.
    pub fn new(name: &str) -> Self {
        NamedNamespace {
            metadata: Metadata {
                name: name.into(),
                labels: Labels { name: name.into() },
            },
        }
    }

    /// Whether this has what an expression reads by a path of names, or with `presence` whether it is there.
    pub(crate) fn has_path(path: &[&str], presence: bool) -> bool {
        match path {
            ["metadata", "name"] | ["metadata", "labels", NAME_LABEL] => true,
            ["metadata"] | ["metadata", "labels"] => presence,
            _ => false,
        }
    }
}

fn unknown(path: String) -> Fault {
    Fault::unknown(Unknown::Attribute(path.into()))
}

/// `path.field`, or `path['field']` where that is no name.
fn member(path: &str, field: &str) -> String {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    match field.bytes().all(is_name) {
        true => format!("{path}.{field}"),
        false => format!("{path}['{field}']"),
    }
}

/// Implements a struct by the path to it, and the value of the fields that are known.
macro_rules! known_in_part {
    ($type:ty, $path:expr, |$part:ident| { $($field:pat => $value:expr,)* }) => {
        impl Struct for $type {
            fn type_name(&self) -> &str {
                NAMESPACE_TYPE
            }

            fn get<'a>(&'a self, _: &Context<'a>, field: &str) -> Result<Option<Value<'a>>, Fault> {
                let $part = self;
                match field {
                    $($field => Ok(Some($value)),)*
                    _ => Err(unknown(member($path, field))),
                }
            }

            fn has(&self, context: &Context<'_>, field: &str) -> Result<bool, Fault> {
                let _ = context;
                match field {
                    $($field => Ok(true),)*
                    _ => Err(unknown(member($path, field))),
                }
            }

            fn fields<'a>(&'a self, _: &Context<'a>) -> Result<Vec<(&'a str, Value<'a>)>, Fault> {
                Err(unknown($path.to_owned()))
            }

            fn unknown(&self) -> Option<Unknown> {
                Some(Unknown::Attribute($path.into()))
            }

            fn unfit_index(&self, _: &Value<'_>) -> Fault {
                unknown($path.to_owned())
            }
        }
    };
}

known_in_part!(NamedNamespace, "namespaceObject", |part| {
    "metadata" => Value::Struct(&part.metadata),
});

known_in_part!(Metadata, METADATA, |part| {
    "name" => Value::String(&part.name),
    "labels" => Value::Struct(&part.labels),
});

known_in_part!(Labels, LABELS, |part| {
    NAME_LABEL => Value::String(&part.name),
});

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pratique_cel::Arena;

    use super::*;
    use crate::{Cache, Composition, Declarations, Expression, Use, slots};

    fn compiled(text: &str) -> Arc<Expression> {
        let cache = Cache::new();
        let composition = Composition::new(&cache);
        composition
            .compile(text, Use::Variable, Declarations::default())
            .unwrap()
    }

    /// Evaluates in namespace `shop`.
    fn evaluate(expression: &Expression) -> Result<String, Fault> {
        let namespace = NamedNamespace::new("shop");
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
        let unknown = Fault::unknown(Unknown::Attribute(path.into()));
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
