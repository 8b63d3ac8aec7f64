//! Object metadata, of the object itself and of embedded ones: read as its type, without unknown fields.

use std::ops::ControlFlow;

use pratique_json::{Object, Progress, Value};
use pratique_schema::{Release, Schema as BuiltinSchema, TypeId};
use pratique_typed::decode::{Fault, FaultSink, StrictFault, StrictFaults, decode};
use pratique_typed::typed_as;
use pratique_types::field::{Error, Path};

use crate::schema::SchemaNode;

/// How malformed metadata is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MalformedMetadata {
    /// It is an error.
    Refuse,
    /// The fields that are malformed are left out.
    Drop,
}

/// Reads the metadata of embedded resources, and gives the paths of unknown fields.
///
/// # Errors
/// The first field that is malformed.
// Upstream: apiextensions-apiserver/pkg/apiserver/schema/objectmeta/algorithm.go, CoerceWithOptions
pub(crate) fn coerce(
    value: &mut Value<'_>,
    schema: &SchemaNode,
    is_resource: bool,
    malformed: MalformedMetadata,
) -> Result<Vec<String>, Error> {
    let mut coercer = MetadataCoercer {
        malformed,
        unknown: Vec::new(),
    };
    coercer.value(value, schema, is_resource || schema.is_embedded, &Path::ROOT)?;
    coercer.unknown.sort_unstable();
    Ok(coercer.unknown)
}

struct MetadataCoercer {
    malformed: MalformedMetadata,
    unknown: Vec<String>,
}

impl MetadataCoercer {
    fn value(
        &mut self,
        value: &mut Value<'_>,
        schema: &SchemaNode,
        is_resource: bool,
        path: &Path<'_>,
    ) -> Result<(), Error> {
        match value {
            Value::Object(object) => {
                if is_resource {
                    self.resource(object, path)?;
                }
                if schema.properties.is_empty() && schema.additional_schema().is_none() {
                    return Ok(());
                }
                for (name, value) in object.iter_mut() {
                    if let Some((schema, path)) = schema.member_at(name, path) {
                        self.value(value, schema, schema.is_embedded, &path)?;
                    }
                }
            }
            Value::Array(items) => {
                let Some(schema) = &schema.items else {
                    return Ok(());
                };
                for (at, item) in items.iter_mut().enumerate() {
                    self.value(item, schema, schema.is_embedded, &path.index(at))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn resource(&mut self, object: &mut Object<'_>, path: &Path<'_>) -> Result<(), Error> {
        for name in ["apiVersion", "kind"] {
            let Some(value) = object.get(name).filter(|value| value.as_str().is_none()) else {
                continue;
            };
            if self.malformed == MalformedMetadata::Refuse {
                return Err(Error::invalid(path.child(name), value, "must be a string"));
            }
            object.remove(name);
        }
        let Some(metadata) = object.get("metadata") else {
            return Ok(());
        };
        let path = path.child("metadata");
        match read(metadata, self.malformed) {
            Ok(read) => {
                let unknown = read.unknown.into_iter();
                let prefix = path.to_string();
                self.unknown
                    .extend(unknown.map(|name| format!("{prefix}.{name}")));
                object.insert("metadata", read.metadata);
                Ok(())
            }
            Err(_) if self.malformed == MalformedMetadata::Drop => Ok(()),
            Err(message) => Err(Error::invalid(path, metadata, &message)),
        }
    }
}

/// Metadata that was read.
pub(crate) struct ReadMetadata {
    /// In the form of its type.
    pub(crate) metadata: Value<'static>,
    /// The paths of fields that the type does not know, in the metadata.
    pub(crate) unknown: Vec<String>,
}

const OBJECT_META: &str = "meta/v1.ObjectMeta";

/// Reads metadata as its type.
///
/// # Errors
/// The message of a server for a value that cannot be read.
// Upstream: apiextensions-apiserver/pkg/apiserver/schema/objectmeta/coerce.go, GetObjectMetaWithOptions
pub(crate) fn read(value: &Value<'_>, malformed: MalformedMetadata) -> Result<ReadMetadata, String> {
    // The type is the same in all releases, as a test holds.
    let schema = Release::latest().schema();
    let Some(of) = schema.named(OBJECT_META) else {
        return Err("the table of types has no ObjectMeta".to_owned());
    };
    let mut sink = MetadataFaults::default();
    decode(schema, of, value, &mut sink);
    match (sink.fault, value) {
        (None, Value::Object(object)) => Ok(ReadMetadata {
            metadata: formed(schema, of, object),
            unknown: sink.unknown,
        }),
        (None, _) => Ok(ReadMetadata {
            metadata: formed(schema, of, &Object::new()),
            unknown: sink.unknown,
        }),
        (Some(_), Value::Object(object)) if malformed == MalformedMetadata::Drop => {
            let mut kept = Object::new();
            for (name, value) in object.iter() {
                let mut alone = Object::new();
                alone.insert(name, value.borrowed());
                let mut sink = MetadataFaults::default();
                decode(schema, of, &Value::Object(alone), &mut sink);
                if sink.fault.is_none() {
                    kept.insert(name, value.borrowed());
                }
            }
            Ok(ReadMetadata {
                metadata: formed(schema, of, &kept),
                unknown: sink.unknown,
            })
        }
        (Some(message), _) => Err(message),
    }
}

/// Metadata in the form of its type; without the null that a time is that was not set.
fn formed(schema: &'static BuiltinSchema, of: TypeId, object: &Object<'_>) -> Value<'static> {
    let value = Value::Object(object.borrowed());
    let typed = match typed_as(schema, of, &value, &Progress::unwatched()) {
        Ok(Some(typed)) => typed.into_owned(),
        // It is not interrupted, so it has the form already.
        Ok(None) | Err(_) => value.borrowed().into_owned(),
    };
    let mut typed = typed.rewritten("");
    if let Value::Object(metadata) = &mut typed
        && metadata.get("creationTimestamp").is_some_and(Value::is_null)
    {
        metadata.remove("creationTimestamp");
    }
    typed
}

/// The first fault of metadata, and the paths of unknown fields.
#[derive(Default)]
struct MetadataFaults {
    fault: Option<String>,
    strict: StrictFaults,
    unknown: Vec<String>,
}

impl<'v, 'a: 'v> FaultSink<'v, &'v Value<'a>> for MetadataFaults {
    fn fault(&mut self, fault: &Fault<'_, 'v, &'v Value<'a>>) -> ControlFlow<()> {
        if self.fault.is_none() || fault.is_fatal {
            self.fault = Some(fault.message());
        }
        if fault.is_fatal {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn strict_fault(&mut self, fault: &StrictFault<'_, 'v, &'v Value<'a>>) {
        self.unknown.extend(self.strict.admit(fault));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_have_the_same_fields_in_all_releases() {
        let fields = |release: &'static Release| {
            let schema = release.schema();
            let of = schema.get(schema.named(OBJECT_META).unwrap());
            let field = |field: &pratique_schema::Field| {
                format!("{} {:?} {}", field.name, field.presence, field.go_type(schema))
            };
            of.fields.iter().map(field).collect::<Vec<_>>()
        };
        for release in Release::list() {
            assert_eq!(fields(release), fields(Release::latest()), "{release}");
        }
    }
}
