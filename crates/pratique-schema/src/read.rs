//! Reads the table.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use pratique_types::GroupVersionKind;

use crate::{Field, LazyFields, Presence, Scalar, Schema, Shape, StructType, TypeId};

/// Types by name.
pub(crate) type TypeNames = HashMap<&'static str, TypeId, RandomState>;

/// Reads a table: its kinds, and where the fields of its types are.
pub(crate) fn read(table: &'static str) -> Schema {
    let (kinds, types) = table.split_once("\ntype ").unwrap_or((table, ""));
    let blocks: Vec<(&str, &str)> = types
        .split("\ntype ")
        .map(|block| block.split_once('\n').unwrap_or((block, "")))
        .collect();
    let name_of = |head: &'static str| head.split_once(' ').unwrap_or((head, ""));
    let numbered = (0..).zip(&blocks);
    let names = numbered.map(|(at, (head, _))| (name_of(head).0, TypeId(at)));
    let names: Arc<TypeNames> = Arc::new(names.collect());
    let named = |word| {
        let lines = kinds.lines().filter_map(move |line| line.strip_prefix(word));
        lines.filter_map(|line| read_kind(line, &names)).collect()
    };
    let (kinds, others) = (named("kind "), named("other "));
    let types = blocks.into_iter().map(|(head, fields)| {
        let (name, floats) = name_of(head);
        StructType {
            name,
            fields: LazyFields::new(fields, Arc::clone(&names)),
            has_floats: floats == "floats",
        }
    });
    Schema {
        types: types.collect(),
        names,
        kinds,
        others,
        hides_embedded: false,
    }
}

/// Reads the fields of a type.
pub(crate) fn fields(lines: &'static str, names: &TypeNames) -> Vec<Field> {
    let lines = lines.lines().filter_map(|line| line.strip_prefix(' '));
    lines.filter_map(|line| read_field(line, names)).collect()
}

/// `apps/v1/Deployment apps/v1.Deployment`
fn read_kind(line: &str, ids: &TypeNames) -> Option<(GroupVersionKind, TypeId)> {
    let (kind, name) = line.split_once(' ')?;
    Some((GroupVersionKind::from_path(kind)?, *ids.get(name)?))
}

/// `containers n [core/v1.Container`
fn read_field(line: &'static str, ids: &TypeNames) -> Option<Field> {
    let (line, embedded) = match line.split_once(" ^") {
        Some((line, embedded)) => (line, Some(embedded.into())),
        None => (line, None),
    };
    let mut columns = line.split(' ');
    Some(Field {
        name: columns.next()?,
        presence: match columns.next()? {
            "!" => Presence::Always,
            "n" => Presence::Nullable,
            "?" => Presence::UnlessNull,
            _ => Presence::UnlessEmpty,
        },
        shape: read_shape(columns.next()?, ids)?,
        go: columns.next().map(Box::from),
        embedded,
    })
}

fn read_shape(text: &str, ids: &TypeNames) -> Option<Shape> {
    if let Some(inner) = text.strip_prefix('[') {
        return Some(Shape::List(Box::new(read_shape(inner, ids)?)));
    }
    if let Some(inner) = text.strip_prefix('{') {
        return Some(Shape::Map(Box::new(read_shape(inner, ids)?)));
    }
    let scalar = match text {
        "bool" => Scalar::Bool,
        "int32" => Scalar::Int32,
        "int64" => Scalar::Int64,
        "float" => Scalar::Float,
        "string" => Scalar::String,
        "bytes" => Scalar::Bytes,
        "quantity" => Scalar::Quantity,
        "int-or-string" => Scalar::IntOrString,
        "time" => Scalar::Time,
        "micro-time" => Scalar::MicroTime,
        "duration" => Scalar::Duration,
        "json" => Scalar::Json,
        name => return ids.get(name).copied().map(Shape::Struct),
    };
    Some(Shape::Scalar(scalar))
}

#[cfg(test)]
mod tests {
    use crate::Release;

    /// Objects of all other kinds keep their form when they are written and read again: whole numbers are integers in them.
    #[test]
    fn only_definitions_have_floats() {
        let schema = Release::latest().schema();
        let mut with_floats: Vec<_> = schema
            .kinds()
            .filter(|kind| schema.kind(kind).is_some_and(|id| schema.get(id).has_floats))
            .map(ToString::to_string)
            .collect();
        with_floats.sort();
        let definitions = ["v1", "v1beta1"]
            .map(|version| format!("apiextensions.k8s.io/{version}, Kind=CustomResourceDefinition"));
        assert_eq!(with_floats, definitions);
    }

    #[test]
    fn no_line_is_lost() {
        let table = Release::latest().tables().types;
        let schema = super::read(table);
        let fields: usize = schema.types.iter().map(|of| of.fields.len()).sum();
        assert_eq!(fields, table.lines().filter(|line| line.starts_with(' ')).count());
        let count = |word| table.lines().filter(|line| line.starts_with(word)).count();
        assert_eq!(schema.kinds.len(), count("kind "));
        assert_eq!(schema.others.len(), count("other "));
        for of in &schema.types {
            for field in of.fields.iter() {
                assert!(
                    of.field(field.name)
                        .is_some_and(|found| std::ptr::eq(found, field))
                );
            }
            assert!(
                of.fields.iter().is_sorted_by(|a, b| a.name < b.name),
                "{}",
                of.name
            );
        }
    }
}
