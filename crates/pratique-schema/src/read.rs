//! Reads the table.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use pratique_types::GroupVersionKind;

use crate::{Field, LazyFields, Presence, Scalar, Schema, Shape, StructType, TypeId};

/// Types by name.
type Names = HashMap<&'static str, TypeId, RandomState>;

/// Reads a table: its kinds, and where the fields of its types are.
pub(crate) fn read(table: &'static str, owner: fn() -> &'static Schema) -> Schema {
    let mut schema = Schema::default();
    let (kinds, types) = table.split_once("\ntype ").unwrap_or((table, ""));
    for (at, of) in (0..).zip(types.split("\ntype ")) {
        let (head, fields) = of.split_once('\n').unwrap_or((of, ""));
        let (name, floats) = head.split_once(' ').unwrap_or((head, ""));
        schema.names.insert(name, TypeId(at));
        schema.types.push(StructType {
            name,
            fields: LazyFields::new(fields, owner),
            has_floats: floats == "floats",
        });
    }
    let named = |word| {
        let lines = kinds.lines().filter_map(move |line| line.strip_prefix(word));
        lines.filter_map(|line| read_kind(line, &schema.names)).collect()
    };
    let (kinds, others) = (named("kind "), named("other "));
    schema.kinds = kinds;
    schema.others = others;
    schema
}

/// Reads the fields of a type.
pub(crate) fn fields(lines: &'static str, schema: &Schema) -> Vec<Field> {
    let lines = lines.lines().filter_map(|line| line.strip_prefix(' '));
    lines.filter_map(|line| read_field(line, &schema.names)).collect()
}

/// `apps/v1/Deployment apps/v1.Deployment`
fn read_kind(line: &str, ids: &Names) -> Option<(GroupVersionKind, TypeId)> {
    let (kind, name) = line.split_once(' ')?;
    Some((GroupVersionKind::from_path(kind)?, *ids.get(name)?))
}

/// `containers n [core/v1.Container`
fn read_field(line: &'static str, ids: &Names) -> Option<Field> {
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

fn read_shape(text: &str, ids: &Names) -> Option<Shape> {
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
    use super::*;

    /// Objects of all other kinds keep their form when they are written and read again: whole numbers are integers in them.
    #[test]
    fn only_definitions_have_floats() {
        let schema = Schema::builtin();
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
        let table = Schema::table();
        let schema = super::read(table, Schema::builtin);
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
