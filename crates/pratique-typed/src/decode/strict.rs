//! Strict decoding of JSON into a built-in type: the first fault of a type, else all fields that nobody knows.

use pratique_json::{Object, Value, base64};
use pratique_schema::{Field, LayoutField, Scalar, Schema, Shape, StructType, TypeId, layout};

use super::scalar::{self, Fault};
use crate::settled::is_plain;

/// Why an object cannot be decoded into a type.
pub fn strict(of: TypeId, object: &Object<'_>) -> Result<(), String> {
    match decode(of, object)?.as_slice() {
        [] => Ok(()),
        unknown => Err(format!("strict decoding error: {}", unknown.join(", "))),
    }
}

/// A part of a document that was written by Go from a struct, so that its members are in the order of that.
#[derive(Clone, Debug)]
pub struct Written {
    /// Where it is: names and indices.
    pub path: Vec<String>,
    /// What it was written from.
    pub of: TypeId,
}

/// The same as [`strict`] of an object that has parts which were written from structs of other types.
pub fn strict_written(of: TypeId, object: &Object<'_>, written: &[Written]) -> Result<(), String> {
    match decode_written(of, object, written)?.as_slice() {
        [] => Ok(()),
        unknown => Err(format!("strict decoding error: {}", unknown.join(", "))),
    }
}

/// Why an object cannot be decoded into a type that leaves out what nobody knows.
pub fn lenient(of: TypeId, object: &Object<'_>) -> Result<(), String> {
    decode(of, object).map(drop)
}

/// What is said of fields that nobody knows; the error is the first fault of a type.
fn decode(of: TypeId, object: &Object<'_>) -> Result<Vec<String>, String> {
    decode_written(of, object, &[])
}

fn decode_written(of: TypeId, object: &Object<'_>, written: &[Written]) -> Result<Vec<String>, String> {
    let mut decoder = Decoder {
        schema: Schema::builtin(),
        place: Vec::new(),
        fault: None,
        unknown: Vec::new(),
        written,
    };
    decoder.structure(of, object)?;
    decoder.fault.map_or(Ok(decoder.unknown), Err)
}

struct Decoder<'v> {
    schema: &'static Schema,
    place: Vec<Step<'v>>,
    /// The first fault after which decoding went on.
    fault: Option<String>,
    /// What is said of fields that nobody knows.
    unknown: Vec<String>,
    written: &'v [Written],
}

/// A step to a place.
#[derive(Clone, Copy)]
enum Step<'v> {
    /// A field of a struct with this name, perhaps of one that it embeds.
    Field {
        of: &'static StructType,
        embedded: Option<&'static str>,
        name: &'v str,
    },
    Index(usize),
    Key(&'v str),
}

impl Step<'_> {
    /// Whether it is what a pointer calls so.
    fn is(&self, name: &str) -> bool {
        match self {
            Step::Field { name: own, .. } | Step::Key(own) => *own == name,
            Step::Index(index) => name.parse() == Ok(*index),
        }
    }
}

/// The names of fields in JSON, in Go's order.
fn names_in_order(fields: &'static [LayoutField]) -> Vec<&'static str> {
    let names = fields.iter().flat_map(|field| match field {
        LayoutField::Named { json, .. } => vec![*json],
        LayoutField::Embedded { fields, .. } => names_in_order(fields),
    });
    names.collect()
}

/// What Go calls the type of a value, found out when it is needed.
type GoType<'g> = &'g dyn Fn() -> String;

/// Recursion follows the nesting of the value, which the parser and the evaluator bound, and of the schema.
impl<'v> Decoder<'v> {
    fn structure(&mut self, id: TypeId, object: &'v Object<'_>) -> Result<(), String> {
        let of = self.schema.get(id);
        let mut walk = of.fields.walk();
        let mut members: Vec<(&'v str, &'v Value<'_>)> = Vec::new();
        if let Some(source) = self.source() {
            members.extend(object.iter());
            let order = names_in_order(layout(&self.schema.get(source).name));
            members.sort_by_key(|(name, _)| order.iter().position(|own| own == name).unwrap_or(order.len()));
        }
        let sorted = object.iter().filter(|_| members.is_empty());
        for (name, value) in members.iter().copied().chain(sorted) {
            let field = walk.field(name);
            if let Some(Shape::Scalar(kind)) = field.map(|field| &field.shape)
                && is_plain(*kind, value)
            {
                continue;
            }
            self.place.push(Step::Field {
                of,
                embedded: field.and_then(Field::embedded),
                name,
            });
            match field {
                Some(field) => {
                    let schema = self.schema;
                    self.value(&field.shape, value, &|| field.go_type(schema))?;
                }
                None => {
                    let path = self.path();
                    self.unknown.push(format!("unknown field \"{path}\""));
                }
            }
            self.place.pop();
        }
        Ok(())
    }

    /// The struct that the object at this place was written from, if it was from another than it is read into.
    fn source(&self) -> Option<TypeId> {
        self.written.iter().find_map(|written| {
            let within = written.path.len();
            let is_at = |(step, name): (&Step<'_>, &String)| step.is(name);
            if self.place.len() < within || !self.place.iter().zip(&written.path).all(is_at) {
                return None;
            }
            let root = Shape::Struct(written.of);
            let found = self
                .place
                .iter()
                .skip(within)
                .try_fold(root, |shape, step| match (shape, step) {
                    (Shape::Struct(id), Step::Field { name, .. } | Step::Key(name)) => {
                        Some(self.schema.get(id).field(name)?.shape.clone())
                    }
                    (Shape::List(inner), Step::Index(_)) => Some(*inner),
                    _ => None,
                });
            match found {
                Some(Shape::Struct(id)) => Some(id),
                _ => None,
            }
        })
    }

    fn value(&mut self, shape: &'static Shape, value: &'v Value<'_>, go: GoType<'_>) -> Result<(), String> {
        let schema = self.schema;
        match (shape, value) {
            (_, Value::Null) => Ok(()),
            (Shape::Struct(id), Value::Object(object)) => self.structure(*id, object),
            (Shape::List(element), Value::Array(elements)) => {
                let go = || inner(go(), "[]").unwrap_or_else(|| element.go_type(schema));
                let mut steps = elements.iter().enumerate();
                steps.try_for_each(|(index, own)| self.step(Step::Index(index), element, own, &go))
            }
            (Shape::Map(of), Value::Object(object)) => {
                let go = || inner(go(), "map[string]").unwrap_or_else(|| of.go_type(schema));
                let mut steps = object.iter();
                steps.try_for_each(|(key, own)| self.step(Step::Key(key), of, own, &go))
            }
            (Shape::Scalar(kind), value) => self.scalar(*kind, value, go),
            _ => {
                self.mismatch(value, go);
                Ok(())
            }
        }
    }

    fn step(
        &mut self,
        step: Step<'v>,
        shape: &'static Shape,
        value: &'v Value<'_>,
        go: GoType<'_>,
    ) -> Result<(), String> {
        self.place.push(step);
        self.value(shape, value, go)?;
        self.place.pop();
        Ok(())
    }

    fn scalar(&mut self, kind: Scalar, value: &Value<'_>, go: GoType<'_>) -> Result<(), String> {
        match scalar::fault(kind, value) {
            Some(Fault::Type { what, go }) => return Err(self.in_place(&what, go)),
            Some(Fault::Other(text)) => return Err(text),
            None => {}
        }
        let fits = match kind {
            Scalar::Bool => matches!(value, Value::Bool(_)),
            Scalar::String => matches!(value, Value::String(_)),
            Scalar::Int32 => matches!(value, Value::Int(number) if i32::try_from(*number).is_ok()),
            Scalar::Int64 => matches!(value, Value::Int(_)),
            Scalar::Float => matches!(value, Value::Int(_) | Value::Float(_)),
            Scalar::Bytes => {
                self.bytes(value, go);
                true
            }
            _ => true,
        };
        if !fits {
            self.mismatch(value, go);
        }
        Ok(())
    }

    fn bytes(&mut self, value: &Value<'_>, go: GoType<'_>) {
        match value {
            Value::String(text) => {
                if let (None, Some(at)) = (&self.fault, base64::decode(text).err()) {
                    self.fault = Some(format!("illegal base64 data at input byte {at}"));
                }
            }
            Value::Array(bytes) => {
                let unfit = |byte: &&Value<'_>| !matches!(byte, Value::Int(0..=255) | Value::Null);
                for byte in bytes.iter().filter(unfit) {
                    self.mismatch(byte, &|| "uint8".to_owned());
                }
            }
            _ => self.mismatch(value, go),
        }
    }

    fn mismatch(&mut self, value: &Value<'_>, go: GoType<'_>) {
        if self.fault.is_none() {
            let go = go();
            self.fault = Some(self.in_place(&scalar::kind_of(value, &go), &go));
        }
    }

    /// `json: cannot unmarshal number into Go struct field PodSpec.spec.nodeName of type string`
    fn in_place(&self, what: &str, go: &str) -> String {
        let mut struct_name = "";
        let mut fields: Vec<&str> = Vec::new();
        for step in &self.place {
            if let Step::Field { of, embedded, name } = step {
                struct_name = of.go_type();
                fields.extend(*embedded);
                fields.push(name);
            }
        }
        let of = struct_name.rsplit_once('.').map_or(struct_name, |(_, own)| own);
        let fields = fields.join(".");
        format!("json: cannot unmarshal {what} into Go struct field {of}.{fields} of type {go}")
    }

    /// `spec.containers[0].image`
    fn path(&self) -> String {
        let mut path = String::new();
        for step in &self.place {
            match step {
                Step::Index(index) => path += &format!("[{index}]"),
                Step::Field { name, .. } | Step::Key(name) if path.is_empty() => path += name,
                Step::Field { name, .. } | Step::Key(name) => path += &format!(".{name}"),
            }
        }
        path
    }
}

/// What is left of the name of a list's or map's type.
fn inner(go: String, prefix: &str) -> Option<String> {
    go.strip_prefix(prefix).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use pratique_types::GroupVersionKind;

    use super::*;
    use crate::settled::tests::plain_scalars;

    #[track_caller]
    fn check(object: &str, expected: &str) {
        let object = pratique_json::parse(object.as_bytes()).unwrap();
        let pod = Schema::builtin()
            .kind(&GroupVersionKind::new("", "v1", "Pod"))
            .unwrap();
        let fault = strict(pod, object.as_object().unwrap()).err();
        assert_eq!(fault.unwrap_or_default(), expected);
    }

    #[test]
    fn the_first_fault_of_a_type_counts() {
        check(r#"{"kind":"Pod","spec":{"nodeName":"n","hostNetwork":null}}"#, "");
        check(
            r#"{"metadata":{"frob":1},"spec":{"containers":[{"image":1,"name":2}]}}"#,
            "json: cannot unmarshal number into Go struct field Container.spec.containers.image of type string",
        );
        check(
            r#"{"metadata":{"labels":{"a":true}}}"#,
            "json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string",
        );
        check(
            r#"{"spec":{"priority":3000000000}}"#,
            "json: cannot unmarshal number 3000000000 into Go struct field PodSpec.spec.priority of type int32",
        );
        check(
            r#"{"spec":{"restartPolicy":[]}}"#,
            "json: cannot unmarshal array into Go struct field PodSpec.spec.restartPolicy of type v1.RestartPolicy",
        );
        check(
            r#"{"spec":{"volumes":[{"hostPath":{"path":1}}]}}"#,
            "json: cannot unmarshal number into Go struct field \
             HostPathVolumeSource.spec.volumes.VolumeSource.hostPath.path of type string",
        );
        check(
            r#"{"metadata":{"creationTimestamp":1}}"#,
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string",
        );
    }

    #[test]
    fn plain_scalars_are_read() {
        for (kind, value) in plain_scalars() {
            let mut decoder = Decoder {
                schema: Schema::builtin(),
                place: Vec::new(),
                fault: None,
                unknown: Vec::new(),
                written: &[],
            };
            assert_eq!(
                decoder.scalar(kind, &value, &String::new),
                Ok(()),
                "{kind:?} {value}"
            );
            assert_eq!(decoder.fault, None, "{kind:?} {value}");
        }
    }

    #[test]
    fn unknown_fields_are_listed() {
        check(
            r#"{"frob":1,"spec":{"containers":[{"name":"a"},{"Image":"b"}]}}"#,
            r#"strict decoding error: unknown field "frob", unknown field "spec.containers[1].Image""#,
        );
    }

    #[test]
    fn what_was_written_from_a_struct_is_in_its_order() {
        let schema = Schema::builtin();
        let kind = |name| pratique_types::GroupVersionKind::new("", "v1", name);
        let pod = schema.kind(&kind("Pod")).unwrap();
        let metadata = crate::type_at(&kind("Pod"), &["metadata".to_owned()]).unwrap();
        let document = r#"{"spec": {"labels": {}, "name": "a", "namespace": "b"}}"#;
        let document = pratique_json::parse(document.as_bytes()).unwrap();
        let object = document.as_object().unwrap();
        let check = |written: &[Written], order: [&str; 3]| {
            let fields = order.map(|name| format!("unknown field \"spec.{name}\""));
            let expected = format!("strict decoding error: {}", fields.join(", "));
            assert_eq!(strict_written(pod, object, written), Err(expected));
        };
        check(&[], ["labels", "name", "namespace"]);
        let path = vec!["spec".to_owned()];
        check(&[Written { path, of: metadata }], ["name", "namespace", "labels"]);
    }
}
