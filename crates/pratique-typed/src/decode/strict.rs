//! Strict decoding of JSON into a built-in type: the first fault of a type, else all fields that nobody knows.

use pratique_json::{Object, Value, base64};
use pratique_schema::{Field, Scalar, Schema, Shape, StructType, TypeId};

use super::scalar::{self, Fault};
use crate::settled::is_plain;

/// Why an object cannot be decoded into a type.
pub fn strict(of: TypeId, object: &Object<'_>) -> Result<(), String> {
    match decode(of, object)?.as_slice() {
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
    let mut decoder = Decoder {
        schema: Schema::builtin(),
        place: Vec::new(),
        fault: None,
        unknown: Vec::new(),
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

/// What Go calls the type of a value, found out when it is needed.
type GoType<'g> = &'g dyn Fn() -> String;

/// Recursion follows the nesting of the value, which the parser and the evaluator bound, and of the schema.
impl<'v> Decoder<'v> {
    fn structure(&mut self, id: TypeId, object: &'v Object<'_>) -> Result<(), String> {
        let of = self.schema.get(id);
        let mut walk = of.fields.walk();
        for (name, value) in object.iter() {
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
}
