//! Strict decoding of JSON into a built-in type: the first fault of a type, else all fields that are unknown or given
//! twice.

use std::collections::HashSet;

use pratique_gotext::json::UnmarshalTypeError;
use pratique_gotext::strconv::quote;
use pratique_json::{Object, Progress, Value, base64};
use pratique_schema::{Field, LayoutField, Scalar, Schema, Shape, StructType, TypeId, layout};

use super::DecodeError;
use super::node::Node;
use super::scalar::{self, Fault};
use crate::settled::is_plain;

/// Why an object cannot be decoded into a type.
///
/// # Errors
/// As Go says it, or it was interrupted.
pub fn strict(of: TypeId, object: &Object<'_>, progress: &Progress<'_>) -> Result<(), DecodeError> {
    strict_written(of, object, &[], progress)
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
///
/// # Errors
/// As [`strict`].
pub fn strict_written(
    of: TypeId,
    object: &Object<'_>,
    written: &[Written],
    progress: &Progress<'_>,
) -> Result<(), DecodeError> {
    let decoded = decode_written(of, object.iter(), written, progress);
    progress.outcome()?;
    match decoded.map_err(DecodeError::Invalid)?.as_slice() {
        [] => Ok(()),
        unknown => {
            let unknown = unknown.join(", ");
            Err(DecodeError::Invalid(format!("strict decoding error: {unknown}")))
        }
    }
}

/// Why an object cannot be decoded into a type that leaves out what nobody knows.
///
/// # Errors
/// As [`strict`].
pub fn lenient(of: TypeId, object: &Object<'_>, progress: &Progress<'_>) -> Result<(), DecodeError> {
    let decoded = decode_written(of, object.iter(), &[], progress);
    progress.outcome()?;
    decoded.map(drop).map_err(DecodeError::Invalid)
}

/// What strict decoding of an object with some members would fail with, though it can be decoded; the error is why it
/// cannot.
pub(super) fn decode<'v, N: Node<'v>>(
    of: TypeId,
    members: impl Iterator<Item = (&'v str, N)>,
) -> Result<Vec<String>, String> {
    decode_written(of, members, &[], &Progress::unwatched())
}

fn decode_written<'v, N: Node<'v>>(
    of: TypeId,
    members: impl Iterator<Item = (&'v str, N)>,
    written: &'v [Written],
    progress: &Progress<'_>,
) -> Result<Vec<String>, String> {
    let mut decoder = Decoder::new(written, progress);
    decoder.structure(of, members)?;
    decoder.fault.map_or(Ok(decoder.strict.texts), Err)
}

/// The members that an object without a schema has twice.
pub(super) fn repeated<'v, N: Node<'v>>(object: N) -> Vec<String> {
    let progress = Progress::unwatched();
    let mut decoder = Decoder::new(&[], &progress);
    decoder.untyped(object);
    decoder.strict.texts
}

/// Where its `progress` is not to go on, it finds no more.
struct Decoder<'v, 'p> {
    schema: &'static Schema,
    progress: &'p Progress<'p>,
    place: Vec<Step<'v>>,
    /// The first fault after which decoding went on.
    fault: Option<String>,
    strict: StrictErrors,
    written: &'v [Written],
}

/// What strict decoding finds. Upstream: sigs.k8s.io/json, saveStrictError
#[derive(Default)]
struct StrictErrors {
    texts: Vec<String>,
    seen: HashSet<String>,
}

/// So many are kept.
const MAX_STRICT_ERRORS: usize = 100;

impl StrictErrors {
    fn is_full(&self) -> bool {
        self.texts.len() >= MAX_STRICT_ERRORS
    }

    fn add(&mut self, text: String) {
        if !self.is_full() && self.seen.insert(text.clone()) {
            self.texts.push(text);
        }
    }
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
impl<'v, 'p> Decoder<'v, 'p> {
    fn new(written: &'v [Written], progress: &'p Progress<'_>) -> Self {
        Decoder {
            schema: Schema::builtin(),
            progress,
            place: Vec::new(),
            fault: None,
            strict: StrictErrors::default(),
            written,
        }
    }

    fn structure<N: Node<'v>>(
        &mut self,
        id: TypeId,
        members: impl Iterator<Item = (&'v str, N)>,
    ) -> Result<(), String> {
        let of = self.schema.get(id);
        let mut walk = of.fields.walk();
        let mut members = members;
        let mut ordered: Vec<(&'v str, N)> = Vec::new();
        if let Some(source) = self.source() {
            ordered.extend(members.by_ref());
            let order = names_in_order(layout(&self.schema.get(source).name));
            ordered.sort_by_key(|(name, _)| order.iter().position(|own| own == name).unwrap_or(order.len()));
        }
        let mut seen = HashSet::new();
        for (name, node) in ordered.into_iter().chain(members) {
            if !self.progress.nodes(1) {
                return Ok(());
            }
            let field = walk.field(name);
            let is_repeated = N::MAY_REPEAT && field.is_some() && !seen.insert(name);
            if let Some(Shape::Scalar(kind)) = field.map(|field| &field.shape)
                && !is_repeated
                && is_plain(*kind, &node.value())
            {
                continue;
            }
            self.place.push(Step::Field {
                of,
                embedded: field.and_then(Field::embedded),
                name,
            });
            if is_repeated {
                self.strict_error("duplicate");
            }
            match field {
                Some(field) => {
                    let schema = self.schema;
                    self.value(&field.shape, node, &|| field.go_type(schema))?;
                }
                None => self.strict_error("unknown"),
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

    fn value<N: Node<'v>>(&mut self, shape: &'static Shape, node: N, go: GoType<'_>) -> Result<(), String> {
        let schema = self.schema;
        match (shape, &*node.value()) {
            (_, Value::Null) => Ok(()),
            (Shape::Struct(id), Value::Object(_)) => self.structure(*id, node.members()),
            (Shape::List(element), Value::Array(_)) => {
                let go = || inner(go(), "[]").unwrap_or_else(|| element.go_type(schema));
                let mut steps = node.elements().enumerate();
                steps.try_for_each(|(index, item)| self.step(Step::Index(index), element, item, &go))
            }
            (Shape::Map(of), Value::Object(_)) => {
                let go = || inner(go(), "map[string]").unwrap_or_else(|| of.go_type(schema));
                let mut seen = HashSet::new();
                node.members().try_for_each(|(key, member)| {
                    self.key::<N>(&mut seen, key);
                    self.step(Step::Key(key), of, member, &go)
                })
            }
            (Shape::Scalar(kind), value) => self.scalar(*kind, node, value, go),
            _ => {
                self.mismatch(node, go);
                Ok(())
            }
        }
    }

    /// Notes a key of a map.
    fn key<N: Node<'v>>(&mut self, seen: &mut HashSet<&'v str>, key: &'v str) {
        if N::MAY_REPEAT && !seen.insert(key) {
            self.place.push(Step::Key(key));
            self.strict_error("duplicate");
            self.place.pop();
        }
    }

    fn untyped<N: Node<'v>>(&mut self, node: N) {
        let mut seen = HashSet::new();
        for (key, member) in node.members() {
            self.key::<N>(&mut seen, key);
            self.place.push(Step::Key(key));
            self.untyped(member);
            self.place.pop();
        }
        for (index, element) in node.elements().enumerate() {
            self.place.push(Step::Index(index));
            self.untyped(element);
            self.place.pop();
        }
    }

    fn strict_error(&mut self, what: &str) {
        if !self.strict.is_full() {
            let path = quote(&self.path());
            self.strict.add(format!("{what} field {path}"));
        }
    }

    fn step<N: Node<'v>>(
        &mut self,
        step: Step<'v>,
        shape: &'static Shape,
        node: N,
        go: GoType<'_>,
    ) -> Result<(), String> {
        if !self.progress.nodes(1) {
            return Ok(());
        }
        self.place.push(step);
        self.value(shape, node, go)?;
        self.place.pop();
        Ok(())
    }

    fn scalar<N: Node<'v>>(
        &mut self,
        kind: Scalar,
        node: N,
        value: &Value<'v>,
        go: GoType<'_>,
    ) -> Result<(), String> {
        let fault = match node.literal() {
            // It reads itself from the text.
            Some(literal) if kind == Scalar::Quantity => scalar::quantity_fault(literal),
            _ => scalar::fault(kind, value),
        };
        match fault {
            Some(Fault::Type { go, .. }) => return Err(self.in_place(&what(node, go), go)),
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
                self.bytes(node, value, go);
                true
            }
            _ => true,
        };
        if !fits {
            self.mismatch(node, go);
        }
        Ok(())
    }

    fn bytes<N: Node<'v>>(&mut self, node: N, value: &Value<'v>, go: GoType<'_>) {
        match value {
            Value::String(text) => {
                if let (None, Some(at)) = (&self.fault, base64::decode(text).err()) {
                    self.fault = Some(format!("illegal base64 data at input byte {at}"));
                }
            }
            Value::Array(_) => {
                let unfit = |byte: &N| !matches!(*byte.value(), Value::Int(0..=255) | Value::Null);
                for byte in node.elements().filter(unfit) {
                    self.mismatch(byte, &|| "uint8".to_owned());
                }
            }
            _ => self.mismatch(node, go),
        }
    }

    fn mismatch<N: Node<'v>>(&mut self, node: N, go: GoType<'_>) {
        if self.fault.is_none() {
            let go = go();
            self.fault = Some(self.in_place(&what(node, &go), &go));
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
        UnmarshalTypeError::of_field(what, of, &fields, go).to_string()
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

/// What a value is, as Go says it of one that is no `go`.
fn what<'v, N: Node<'v>>(node: N, go: &str) -> String {
    let what = node.value().kind_for(go);
    match node.literal() {
        Some(literal) if what.starts_with("number ") => format!("number {literal}"),
        _ => what,
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
        let fault = strict(pod, object.as_object().unwrap(), &Progress::unwatched()).err();
        assert_eq!(fault.map_or(String::new(), |fault| fault.to_string()), expected);
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
            let progress = Progress::unwatched();
            let mut decoder = Decoder::new(&[], &progress);
            let decoded = decoder.scalar(kind, &value, &value, &String::new);
            assert_eq!(decoded, Ok(()), "{kind:?} {value}");
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
            let decoded = strict_written(pod, object, written, &Progress::unwatched());
            assert_eq!(decoded, Err(DecodeError::Invalid(expected)));
        };
        check(&[], ["labels", "name", "namespace"]);
        let path = vec!["spec".to_owned()];
        check(&[Written { path, of: metadata }], ["name", "namespace", "labels"]);
    }
}
