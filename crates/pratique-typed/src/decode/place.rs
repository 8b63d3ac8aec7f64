//! Where a decoder is in a document.

use pratique_schema::StructType;

use super::value_error::{StructField, ValueError};

/// The way from the root of a document to a value.
#[derive(Clone, Debug, Default)]
pub struct ValuePlace<'v> {
    /// The steps from the root.
    pub steps: Vec<PlaceStep<'v>>,
}

/// A step of a [`ValuePlace`].
#[derive(Clone, Copy, Debug)]
pub enum PlaceStep<'v> {
    /// A member of a struct.
    Field {
        /// The struct.
        of: &'static StructType,
        /// The struct that it embeds for the sake of the field, if it does.
        embedded: Option<&'static str>,
        /// The name of the field, which need not exist.
        name: &'v str,
    },
    /// An element of a list.
    Index(usize),
    /// A member of a map.
    Key(&'v str),
}

impl PlaceStep<'_> {
    /// Whether a JSON pointer has this name for the step.
    pub(super) fn is(&self, pointer: &str) -> bool {
        match self {
            PlaceStep::Field { name, .. } | PlaceStep::Key(name) => *name == pointer,
            PlaceStep::Index(index) => pointer.parse() == Ok(*index),
        }
    }
}

impl ValuePlace<'_> {
    /// `spec.containers[0].image`
    pub(super) fn path(&self) -> String {
        let mut path = String::new();
        for step in &self.steps {
            match step {
                PlaceStep::Index(index) => path += &format!("[{index}]"),
                PlaceStep::Field { name, .. } | PlaceStep::Key(name) if path.is_empty() => path += name,
                PlaceStep::Field { name, .. } | PlaceStep::Key(name) => path += &format!(".{name}"),
            }
        }
        path
    }

    /// The fields of structs on the way alone: `spec.containers.image`.
    pub(super) fn field_path(&self) -> String {
        let names = self.steps.iter().filter_map(|step| match step {
            PlaceStep::Field { name, .. } => Some(*name),
            _ => None,
        });
        names.collect::<Vec<_>>().join(".")
    }

    /// `json: cannot unmarshal number into Go struct field PodSpec.spec.nodeName of type string`
    // Upstream: encoding/json/decode.go, decodeState.addErrorContext
    pub(super) fn type_error(&self, description: String, go_type: String) -> ValueError {
        let mut innermost: Option<&str> = None;
        let mut fields: Vec<&str> = Vec::new();
        for step in &self.steps {
            if let PlaceStep::Field { of, embedded, name } = step {
                innermost = Some(of.go_type());
                fields.extend(*embedded);
                fields.push(name);
            }
        }
        let field = innermost.map(|innermost| StructField {
            of: innermost
                .rsplit_once('.')
                .map_or(innermost, |(_, local)| local)
                .to_owned(),
            path: fields.join("."),
        });
        ValueError::Type {
            found: description,
            field,
            go_type,
        }
    }
}
