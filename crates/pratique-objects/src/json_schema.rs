//! Schemas within CustomResourceDefinitions, parts of which are decoded by methods of their own: a schema or something
//! else. A value of the wrong type within such a part is an error; unknown fields there are ignored.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/v1/marshal.go

use pratique_json::{Object, Progress, Value};
use pratique_schema::{Schema, Shape, TypeId};
use pratique_typed::decode::{StructField, ValueError, strict_faults};
use pratique_typed::settle_in;
use pratique_types::GroupVersionKind;

use crate::release::ObjectTables;

/// Why a schema cannot be decoded, with the message of an API server.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SchemaError {
    #[error(transparent)]
    Value(#[from] ValueError),
    #[error("boolean or JSON schema expected")]
    NeitherBooleanNorSchema,
}

/// Gives the schemas in an object of a kind their form; false where one cannot be decoded.
pub(crate) fn settle(tables: &ObjectTables, kind: &GroupVersionKind, object: &mut Object<'_>) -> bool {
    let Some(of) = schema_type(tables, kind) else {
        return true;
    };
    let mut is_valid = true;
    for_each_schema(object, &mut |props, _| {
        is_valid = is_valid && settle_props(of, props).is_ok()
    });
    is_valid
}

/// Why a schema in an object cannot be decoded.
pub(crate) fn check_object(
    tables: &ObjectTables,
    kind: &GroupVersionKind,
    object: &Value<'_>,
) -> Result<(), SchemaError> {
    let (Some(of), Value::Object(object)) = (schema_type(tables, kind), object) else {
        return Ok(());
    };
    let mut checked = Ok(());
    for_each_schema(&mut object.clone(), &mut |props, path| {
        if checked.is_ok() {
            checked = settle_props(of, props).map_err(within(path));
        }
    });
    checked
}

/// The type of schemas in a version of CustomResourceDefinitions.
#[derive(Clone, Copy)]
struct PropsType {
    schema: &'static Schema,
    id: TypeId,
}

/// The type of schemas in objects of a kind, if it has any.
fn schema_type(tables: &ObjectTables, kind: &GroupVersionKind) -> Option<PropsType> {
    let schema = tables.schema();
    let name = || format!("apiextensions/{}.JSONSchemaProps", kind.version);
    let is_definition = kind.is_custom_resource_definition();
    let id = is_definition.then(|| schema.named(&name())).flatten()?;
    Some(PropsType { schema, id })
}

/// The shape of a value in a schema that may be one or something else, where it is one.
pub(crate) fn shape_of(schema: &Schema, of: TypeId, field: &str, value: &Value<'_>) -> Option<Shape> {
    let is_free = matches!(
        field,
        "items" | "additionalItems" | "additionalProperties" | "dependencies"
    ) && schema.get(of).name.ends_with(".JSONSchemaProps");
    is_free.then(|| match (field, value) {
        ("dependencies", _) => Shape::Map(Box::new(Shape::Struct(of))),
        (_, Value::Array(_)) => Shape::List(Box::new(Shape::Struct(of))),
        _ => Shape::Struct(of),
    })
}

/// Something that is done with a schema, at a path of fields.
type SchemaVisit<'v, 'a> = &'v mut dyn FnMut(&mut Object<'a>, &'static str);

fn for_each_schema<'a>(object: &mut Object<'a>, visit: SchemaVisit<'_, 'a>) {
    let Some(Value::Object(spec)) = object.get_mut("spec") else {
        return;
    };
    let mut within = |holder: Option<&mut Value<'a>>, path| {
        if let Some(Value::Object(props)) = holder.and_then(|holder| holder.get_mut("openAPIV3Schema")) {
            visit(props, path);
        }
    };
    within(spec.get_mut("validation"), "spec.validation.openAPIV3Schema");
    if let Some(Value::Array(versions)) = spec.get_mut("versions") {
        for version in versions {
            within(version.get_mut("schema"), "spec.versions.schema.openAPIV3Schema");
        }
    }
}

/// Recursion follows the nesting of the value, which its parser bounds.
fn settle_props(of: PropsType, props: &mut Object<'_>) -> Result<(), SchemaError> {
    for field in ["properties", "patternProperties", "definitions"] {
        if let Some(Value::Object(schemas)) = props.get_mut(field) {
            for value in schemas.values_mut() {
                settle_value(of, value).map_err(within(field))?;
            }
        }
    }
    for field in ["allOf", "anyOf", "oneOf"] {
        if let Some(Value::Array(schemas)) = props.get_mut(field) {
            for value in schemas {
                settle_value(of, value).map_err(within(field))?;
            }
        }
    }
    if let Some(value) = props.get_mut("not") {
        settle_value(of, value).map_err(within("not"))?;
    }
    if let Some(value) = props.get_mut("items") {
        match value {
            Value::Array(schemas) if !schemas.is_empty() => decode_all(of, schemas),
            Value::Object(_) => decode(of, value),
            Value::Null => Ok(()),
            // It is there, and written as `null`.
            _ => {
                *value = Value::NilArray;
                Ok(())
            }
        }
        .map_err(within("items"))?;
    }
    for field in ["additionalItems", "additionalProperties"] {
        match props.get_mut(field) {
            Some(value @ Value::Object(_)) => decode(of, value).map_err(within(field))?,
            None | Some(Value::Bool(_) | Value::Null) => {}
            Some(_) => return Err(SchemaError::NeitherBooleanNorSchema),
        }
    }
    if let Some(Value::Object(dependencies)) = props.get_mut("dependencies") {
        for value in dependencies.values_mut() {
            match value {
                Value::Object(_) => decode(of, value),
                Value::Array(names) if !names.is_empty() => check_texts(names),
                _ => {
                    *value = Value::Null;
                    Ok(())
                }
            }
            .map_err(within("dependencies"))?;
        }
    }
    Ok(())
}

/// Prefixes the path in the error of a part that was decoded by itself.
// Upstream: encoding/json/decode.go, decodeState.addErrorContext
fn within(prefix: &'static str) -> impl Fn(SchemaError) -> SchemaError {
    const PROPS: &str = "JSONSchemaProps";
    move |mut error| {
        if let SchemaError::Value(ValueError::Type { field, .. }) = &mut error {
            match field {
                Some(field) if field.of == PROPS => field.path = format!("{prefix}.{}", field.path),
                Some(_) => {}
                None => {
                    *field = Some(StructField {
                        of: PROPS.to_owned(),
                        path: prefix.to_owned(),
                    });
                }
            }
        }
        error
    }
}

fn settle_value(of: PropsType, value: &mut Value<'_>) -> Result<(), SchemaError> {
    match value {
        Value::Object(props) => settle_props(of, props),
        _ => Ok(()),
    }
}

fn decode_all(of: PropsType, schemas: &mut [Value<'_>]) -> Result<(), SchemaError> {
    schemas.iter_mut().try_for_each(|schema| decode(of, schema))
}

/// Decodes a schema by itself.
fn decode(of: PropsType, value: &mut Value<'_>) -> Result<(), SchemaError> {
    strict_faults(of.schema, of.id, &*value)?;
    if value.is_null() {
        *value = Object::new().into();
    }
    if let Value::Object(props) = value {
        settle_in(of.schema, of.id, props, &Progress::unwatched());
        settle_props(of, props)?;
    }
    Ok(())
}

fn check_texts(names: &[Value<'_>]) -> Result<(), SchemaError> {
    let wrong = names
        .iter()
        .find(|name| !matches!(name, Value::String(_) | Value::Null));
    match wrong {
        None => Ok(()),
        Some(wrong) => Err(SchemaError::Value(ValueError::Type {
            found: wrong.kind().to_owned(),
            field: None,
            go_type: "string".to_owned(),
        })),
    }
}
