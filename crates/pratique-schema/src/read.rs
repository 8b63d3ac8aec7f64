//! Reads the table.

use std::collections::HashMap;

use pratique_types::GroupVersionKind;

use crate::{Field, Fields, Presence, Scalar, Schema, Shape, StructType, TypeId};

/// Reads a table; lines that are none of its kinds are left out.
pub(crate) fn read(table: &'static str) -> Schema {
    let names = table.lines().filter_map(|line| line.strip_prefix("type "));
    let ids: HashMap<&str, TypeId> = names.zip(0..).map(|(name, at)| (name, TypeId(at))).collect();
    let mut schema = Schema::default();
    let mut fields: Vec<Vec<Field>> = Vec::new();
    for line in table.lines() {
        if let Some(kind) = line.strip_prefix("kind ") {
            schema.kinds.extend(read_kind(kind, &ids));
        } else if let Some(of) = line.strip_prefix("type ") {
            schema.types.push(StructType {
                name: of.to_owned(),
                fields: Fields::NONE,
            });
            fields.push(Vec::new());
        } else if let (Some(field), Some(of)) = (line.strip_prefix(' '), fields.last_mut()) {
            of.extend(read_field(field, &ids));
        }
    }
    for (of, fields) in schema.types.iter_mut().zip(fields) {
        of.fields = Fields::new(fields);
    }
    schema
}

/// `apps/v1/Deployment apps/v1.Deployment`
fn read_kind(line: &str, ids: &HashMap<&str, TypeId>) -> Option<(GroupVersionKind, TypeId)> {
    let (kind, name) = line.split_once(' ')?;
    let (group_version, kind) = kind.rsplit_once('/')?;
    let (group, version) = group_version.rsplit_once('/')?;
    Some((GroupVersionKind::new(group, version, kind), *ids.get(name)?))
}

/// `containers n [core/v1.Container`
fn read_field(line: &'static str, ids: &HashMap<&str, TypeId>) -> Option<Field> {
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

fn read_shape(text: &str, ids: &HashMap<&str, TypeId>) -> Option<Shape> {
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

    /// An object of a built-in kind keeps its form when it is written and read again: whole numbers are integers in all of
    /// them, so that what policies made need not be looked over once more.
    #[test]
    fn no_type_has_floats() {
        let table = Schema::table();
        let mut words = table
            .lines()
            .filter(|line| line.starts_with(' '))
            .flat_map(str::split_whitespace);
        assert!(!words.any(|word| word.trim_start_matches(['[', '{']) == "float"));
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
