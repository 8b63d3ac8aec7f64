//! Reads the table.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use pratique_types::GroupVersionKind;

use crate::{Field, Fields, Presence, Scalar, Schema, Shape, StructType, TypeId};

/// Types by name.
type Names = HashMap<&'static str, TypeId, RandomState>;

/// Reads a table; lines that are none of its kinds are left out.
pub(crate) fn read(table: &'static str) -> Schema {
    let names = table.lines().filter_map(|line| line.strip_prefix("type "));
    let mut schema = Schema {
        names: names.zip(0..).map(|(name, at)| (name, TypeId(at))).collect(),
        ..Schema::default()
    };
    let mut fields: Vec<Vec<Field>> = Vec::new();
    for line in table.lines() {
        if let Some(kind) = line.strip_prefix("kind ") {
            schema.kinds.extend(read_kind(kind, &schema.names));
        } else if let Some(of) = line.strip_prefix("type ") {
            schema.types.push(StructType {
                name: of,
                fields: Fields::NONE,
                has_floats: false,
            });
            fields.push(Vec::new());
        } else if let (Some(field), Some(of)) = (line.strip_prefix(' '), fields.last_mut()) {
            of.extend(read_field(field, &schema.names));
        }
    }
    for (of, fields) in schema.types.iter_mut().zip(fields) {
        of.fields = Fields::new(fields);
    }
    mark_floats(&mut schema);
    schema
}

/// Marks the types with floating-point numbers in them, at whatever depth.
fn mark_floats(schema: &mut Schema) {
    loop {
        let has_floats = |of: &StructType| of.fields.iter().any(|field| floats(schema, &field.shape));
        let all = schema.types.iter().enumerate();
        let found = all.filter(|(_, of)| !of.has_floats && has_floats(of));
        let found: Vec<usize> = found.map(|(at, _)| at).collect();
        if found.is_empty() {
            return;
        }
        for at in found {
            if let Some(of) = schema.types.get_mut(at) {
                of.has_floats = true;
            }
        }
    }
}

fn floats(schema: &Schema, shape: &Shape) -> bool {
    match shape {
        Shape::Scalar(scalar) => *scalar == Scalar::Float,
        Shape::Struct(id) => schema.get(*id).has_floats,
        Shape::List(inner) | Shape::Map(inner) => floats(schema, inner),
    }
}

/// `apps/v1/Deployment apps/v1.Deployment`
fn read_kind(line: &str, ids: &Names) -> Option<(GroupVersionKind, TypeId)> {
    let (kind, name) = line.split_once(' ')?;
    let (group_version, kind) = kind.rsplit_once('/')?;
    let (group, version) = group_version.rsplit_once('/')?;
    Some((GroupVersionKind::new(group, version, kind), *ids.get(name)?))
}

/// `containers n [core/v1.Container`
fn read_field(line: &'static str, ids: &Names) -> Option<Field> {
    let (line, embedded) = match line.split_once(" ^") {
        Some((line, embedded)) => (line, Some(embedded.into())),
        None => (line, None),
    };
    let mut words = line.split(' ');
    Some(Field {
        name: words.next()?,
        presence: match words.next()? {
            "!" => Presence::Always,
            "n" => Presence::Nullable,
            "?" => Presence::UnlessNull,
            _ => Presence::UnlessEmpty,
        },
        shape: read_shape(words.next()?, ids)?,
        go: words.next().map(Box::from),
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
        let schema = super::read(table);
        let fields: usize = schema.types.iter().map(|of| of.fields.len()).sum();
        assert_eq!(fields, table.lines().filter(|line| line.starts_with(' ')).count());
        let kinds = table.lines().filter(|line| line.starts_with("kind ")).count();
        assert_eq!(schema.kinds.len(), kinds);
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
