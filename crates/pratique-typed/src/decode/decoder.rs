//! Decoding of JSON into a built-in type, to find values that do not fit.

use std::collections::HashSet;
use std::marker::PhantomData;
use std::ops::ControlFlow::{self, Continue};

use pratique_json::{Progress, Value, base64};
use pratique_schema::{Field, Release, Scalar, Schema, Shape, StructType, TypeId, names_in_order};

use super::fault::{Fault, FaultCause, FaultSink, GoType, StrictFault, StrictKind};
use super::node::Node;
use super::place::{PlaceStep, ValuePlace};
use super::scalar::{self, ScalarFault};
use crate::settled_form::is_plain;

/// A part of a document that was written by Go from a struct, so that its members are in the order of that.
#[derive(Clone, Debug)]
pub struct WrittenStruct {
    /// Where it is: names and indices.
    pub path: Vec<String>,
    /// The struct that it was written from.
    pub of: TypeId,
    /// The release that has the struct.
    pub release: &'static Release,
}

/// Walks a document along a type. Once its `progress` is interrupted, it reports no more faults.
pub(super) struct TypeDecoder<'v, 'd, N, S> {
    schema: &'static Schema,
    progress: &'d Progress<'d>,
    place: ValuePlace<'v>,
    written: &'v [WrittenStruct],
    sink: &'d mut S,
    node: PhantomData<N>,
}

/// Recursion follows the nesting of the value, which the parser and the evaluator bound, and of the schema.
impl<'v, 'd, N: Node<'v>, S: FaultSink<'v, N>> TypeDecoder<'v, 'd, N, S> {
    pub(super) fn new(
        schema: &'static Schema,
        written: &'v [WrittenStruct],
        progress: &'d Progress<'_>,
        sink: &'d mut S,
    ) -> Self {
        TypeDecoder {
            schema,
            progress,
            place: ValuePlace::default(),
            written,
            sink,
            node: PhantomData,
        }
    }

    /// Decodes the members of a struct.
    pub(super) fn structure(
        &mut self,
        id: TypeId,
        members: impl Iterator<Item = (&'v str, N)>,
    ) -> ControlFlow<()> {
        let of = self.schema.get(id);
        let Some((release, source)) = self.source() else {
            return self.fields(of, members);
        };
        let order = names_in_order(release.layouts().for_type(self.schema.get(source).name));
        let mut ordered: Vec<(&'v str, N)> = members.collect();
        ordered.sort_by_key(|(name, _)| {
            order
                .iter()
                .position(|field| field == name)
                .unwrap_or(order.len())
        });
        self.fields(of, ordered.into_iter())
    }

    /// Decodes members as fields of a struct.
    fn fields(
        &mut self,
        of: &'static StructType,
        members: impl Iterator<Item = (&'v str, N)>,
    ) -> ControlFlow<()> {
        let mut walk = of.fields.walk();
        let mut names = SeenNames::new::<N>();
        for (name, node) in members {
            if !self.progress.nodes(1) {
                return Continue(());
            }
            let field = walk.field(name);
            let is_repeated = field.is_some() && names.is_repeated(name);
            if let Some(Shape::Scalar(kind)) = field.map(|field| &field.shape)
                && !S::VISITS
                && !is_repeated
                && is_plain(*kind, &node.value())
            {
                continue;
            }
            self.place.steps.push(PlaceStep::Field {
                of,
                embedded: field
                    .and_then(Field::embedded)
                    .filter(|_| !self.schema.hides_embedded()),
                name,
            });
            if is_repeated {
                self.duplicate(node);
            }
            match field {
                Some(field) => {
                    let schema = self.schema;
                    self.value(&field.shape, node, &|| field.go_type(schema))?;
                }
                None => self.sink.strict_fault(&StrictFault {
                    place: &self.place,
                    kind: StrictKind::Unknown,
                    member: node,
                    of: Some(of),
                }),
            }
            self.place.steps.pop();
        }
        Continue(())
    }

    /// Decodes a whole document.
    pub(super) fn root(&mut self, id: TypeId, node: N) -> ControlFlow<()> {
        match *node.value() {
            _ if !self.visit(node) => Continue(()),
            Value::Null => Continue(()),
            Value::Object(_) => self.structure(id, node.members()),
            _ => {
                let of = self.schema.get(id);
                self.fault(
                    false,
                    Some(&Shape::Struct(id)),
                    node,
                    FaultCause::Type(&|| of.go_type().to_owned()),
                )
            }
        }
    }

    /// The struct that the object at this place was written from, if it was from another than it is read into, and its
    /// release.
    fn source(&self) -> Option<(&'static Release, TypeId)> {
        let steps = &self.place.steps;
        self.written.iter().find_map(|written| {
            let within = written.path.len();
            let is_at = |(step, name): (&PlaceStep<'_>, &String)| step.is(name);
            if steps.len() < within || !steps.iter().zip(&written.path).all(is_at) {
                return None;
            }
            let root = Shape::Struct(written.of);
            let source_shape = steps
                .iter()
                .skip(within)
                .try_fold(root, |shape, step| match (shape, step) {
                    (Shape::Struct(id), PlaceStep::Field { name, .. } | PlaceStep::Key(name)) => {
                        Some(self.schema.get(id).field(name)?.shape.clone())
                    }
                    (Shape::List(inner), PlaceStep::Index(_)) => Some(*inner),
                    _ => None,
                });
            match source_shape {
                Some(Shape::Struct(id)) => Some((written.release, id)),
                _ => None,
            }
        })
    }

    /// Decodes a value, whose type Go calls `go_type`.
    pub(super) fn value(&mut self, shape: &'static Shape, node: N, go_type: GoType<'_>) -> ControlFlow<()> {
        let schema = self.schema;
        match (shape, &*node.value()) {
            _ if !self.visit(node) => Continue(()),
            (_, Value::Null) => Continue(()),
            (Shape::Struct(id), Value::Object(_)) => self.structure(*id, node.members()),
            (Shape::List(element), Value::Array(_)) => {
                let go_type = || inner(go_type(), "[]").unwrap_or_else(|| element.go_type(schema));
                let mut steps = node.elements().enumerate();
                steps
                    .try_for_each(|(index, item)| self.step(PlaceStep::Index(index), element, item, &go_type))
            }
            (Shape::Map(of), Value::Object(_)) => {
                let go_type = || inner(go_type(), "map[string]").unwrap_or_else(|| of.go_type(schema));
                let mut keys = SeenNames::new::<N>();
                node.members().try_for_each(|(key, member)| {
                    self.key(&mut keys, key, member);
                    self.step(PlaceStep::Key(key), of, member, &go_type)
                })
            }
            (Shape::Scalar(kind), value) => self.scalar(*kind, shape, node, value, go_type),
            _ => self.mismatch(shape, node, go_type),
        }
    }

    /// Shows a value to a sink that visits values; whether it is to be decoded.
    fn visit(&mut self, node: N) -> bool {
        !S::VISITS || self.sink.visit(&self.place, node)
    }

    /// Reports a key of a map that is there for the second time.
    fn key(&mut self, keys: &mut SeenNames<'v>, key: &'v str, member: N) {
        if keys.is_repeated(key) {
            self.place.steps.push(PlaceStep::Key(key));
            self.duplicate(member);
            self.place.steps.pop();
        }
    }

    /// Reports duplicate keys in a value without a type.
    pub(super) fn untyped(&mut self, node: N) {
        let mut keys = SeenNames::new::<N>();
        for (key, member) in node.members() {
            self.key(&mut keys, key, member);
            self.place.steps.push(PlaceStep::Key(key));
            self.untyped(member);
            self.place.steps.pop();
        }
        for (index, element) in node.elements().enumerate() {
            self.place.steps.push(PlaceStep::Index(index));
            self.untyped(element);
            self.place.steps.pop();
        }
    }

    fn duplicate(&mut self, member: N) {
        self.sink.strict_fault(&StrictFault {
            place: &self.place,
            kind: StrictKind::Duplicate,
            member,
            of: None,
        });
    }

    fn step(
        &mut self,
        step: PlaceStep<'v>,
        shape: &'static Shape,
        node: N,
        go_type: GoType<'_>,
    ) -> ControlFlow<()> {
        if !self.progress.nodes(1) {
            return Continue(());
        }
        self.place.steps.push(step);
        self.value(shape, node, go_type)?;
        self.place.steps.pop();
        Continue(())
    }

    fn scalar(
        &mut self,
        kind: Scalar,
        shape: &Shape,
        node: N,
        value: &Value<'v>,
        go_type: GoType<'_>,
    ) -> ControlFlow<()> {
        let fault = match node.literal() {
            // A quantity is parsed from the literal.
            Some(literal) if kind == Scalar::Quantity => scalar::quantity_fault(literal),
            _ => scalar::fault(kind, value),
        };
        match fault {
            Some(ScalarFault::Type(go_type)) => {
                return self.fault(true, None, node, FaultCause::Type(&|| go_type.to_owned()));
            }
            Some(ScalarFault::Content(message)) => {
                return self.fault(true, None, node, FaultCause::Content(message));
            }
            None => {}
        }
        match kind {
            Scalar::Bytes => self.bytes(shape, node, value, go_type),
            Scalar::Json => match self.sink.raw_fault(node) {
                Some(message) => self.fault(true, None, node, FaultCause::Content(message)),
                None => Continue(()),
            },
            _ if scalar::has_json_type(kind, value) => Continue(()),
            _ => self.mismatch(shape, node, go_type),
        }
    }

    /// Bytes are base64, or a list of numbers.
    fn bytes(&mut self, shape: &Shape, node: N, value: &Value<'v>, go_type: GoType<'_>) -> ControlFlow<()> {
        match value {
            Value::String(text) => match base64::decode(text) {
                Ok(_) => Continue(()),
                Err(at) => {
                    let message = format!("illegal base64 data at input byte {at}");
                    self.fault(false, None, node, FaultCause::Content(message))
                }
            },
            Value::Array(_) => {
                let unfit = |byte: &N| !matches!(*byte.value(), Value::Int(0..=255) | Value::Null);
                let mut unfit = node.elements().filter(unfit);
                unfit.try_for_each(|byte| {
                    self.fault(false, None, byte, FaultCause::Type(&|| "uint8".to_owned()))
                })
            }
            _ => self.mismatch(shape, node, go_type),
        }
    }

    fn mismatch(&mut self, shape: &Shape, node: N, go_type: GoType<'_>) -> ControlFlow<()> {
        self.fault(false, Some(shape), node, FaultCause::Type(go_type))
    }

    fn fault(
        &mut self,
        is_fatal: bool,
        expected: Option<&Shape>,
        value: N,
        cause: FaultCause<'_>,
    ) -> ControlFlow<()> {
        let place = &self.place;
        self.sink.fault(&Fault {
            place,
            value,
            expected,
            is_fatal,
            cause,
        })
    }
}

/// The names that an object was seen to have; none of one that cannot repeat them.
struct SeenNames<'v>(Option<HashSet<&'v str>>);

impl<'v> SeenNames<'v> {
    #[inline]
    fn new<N: Node<'v>>() -> Self {
        SeenNames(N::MAY_REPEAT.then(HashSet::new))
    }

    /// Whether a name was seen before.
    #[inline]
    fn is_repeated(&mut self, name: &'v str) -> bool {
        self.0.as_mut().is_some_and(|names| !names.insert(name))
    }
}

/// The type of the elements, by the name of the list's or map's type.
fn inner(go_type: String, prefix: &str) -> Option<String> {
    go_type.strip_prefix(prefix).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use pratique_types::GroupVersionKind;

    use super::*;
    use crate::decode::first::FirstFault;
    use crate::decode::{DecodeError, strict, strict_written};
    use crate::settled_form::tests::plain_scalars;

    #[track_caller]
    fn check(object: &str, expected: &str) {
        check_release(Release::latest(), object, expected);
    }

    #[track_caller]
    fn check_release(release: &'static Release, object: &str, expected: &str) {
        let object = pratique_json::parse(object.as_bytes()).unwrap();
        let schema = release.schema();
        let pod = schema.kind(&GroupVersionKind::new("", "v1", "Pod")).unwrap();
        let fault = strict(schema, pod, object.as_object().unwrap(), &Progress::unwatched()).err();
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
    fn embedded_structs_are_on_the_path_since_1_35() {
        let object = r#"{"spec":{"volumes":[{"hostPath":{"path":1}}]}}"#;
        for (version, path) in [("1.34", ""), ("1.35", "VolumeSource.")] {
            let message = format!(
                "json: cannot unmarshal number into Go struct field \
                 HostPathVolumeSource.spec.volumes.{path}hostPath.path of type string"
            );
            check_release(Release::by_version(version).unwrap(), object, &message);
        }
    }

    #[test]
    fn plain_scalars_are_read() {
        for (kind, value) in plain_scalars() {
            let progress = Progress::unwatched();
            let mut sink = FirstFault::default();
            let shape = Shape::Scalar(kind);
            let mut decoder = TypeDecoder::new(Release::latest().schema(), &[], &progress, &mut sink);
            let decoded = decoder.scalar(kind, &shape, &value, &value, &String::new);
            assert_eq!(decoded, Continue(()), "{kind:?} {value}");
            assert_eq!(sink.into_result(), Ok(Vec::new()), "{kind:?} {value}");
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
        let schema = Release::latest().schema();
        let kind = |name| pratique_types::GroupVersionKind::new("", "v1", name);
        let pod = schema.kind(&kind("Pod")).unwrap();
        let metadata = crate::type_at(schema, &kind("Pod"), &["metadata".to_owned()]).unwrap();
        let document = r#"{"spec": {"labels": {}, "name": "a", "namespace": "b"}}"#;
        let document = pratique_json::parse(document.as_bytes()).unwrap();
        let object = document.as_object().unwrap();
        let check = |written: &[WrittenStruct], order: [&str; 3]| {
            let fields = order.map(|name| format!("unknown field \"spec.{name}\""));
            let expected = format!("strict decoding error: {}", fields.join(", "));
            let decoded = strict_written(schema, pod, object, written, &Progress::unwatched());
            assert_eq!(decoded, Err(DecodeError::Invalid(expected)));
        };
        check(&[], ["labels", "name", "namespace"]);
        let path = vec!["spec".to_owned()];
        check(
            &[WrittenStruct {
                path,
                of: metadata,
                release: Release::latest(),
            }],
            ["name", "namespace", "labels"],
        );
    }
}
