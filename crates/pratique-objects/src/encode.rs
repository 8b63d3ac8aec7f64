//! Objects as an API server writes them: the members of structs in Go's order, those of maps by name.

use pratique_json::Value;
use pratique_schema::Shape;
use pratique_typed::Encoder;
use pratique_types::GroupVersionKind;

use crate::json_schema;
use crate::release::ObjectTables;

/// Writes an object of a kind as an API server does; it has the form of its kind. Objects of other kinds are written by
/// name.
pub(crate) fn encode(tables: &ObjectTables, kind: &GroupVersionKind, object: &Value<'_>) -> String {
    let encoder = Encoder {
        schema: tables.schema(),
        layouts: tables.layouts(),
        shape_of: json_schema::shape_of,
        is_bare: false,
    };
    encoder.to_text(tables.type_of(kind).map(Shape::Struct).as_ref(), object)
}
