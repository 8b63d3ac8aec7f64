//! Strict decoding against the built-in types: a value as JSON without what is empty, and everything that does not fit.

pub(crate) mod failures;
mod help;
pub(crate) mod registry;
mod value;

use std::ops::ControlFlow::{self, Continue};

use pratique_gotext::suggest::nearest;
use pratique_schema::{Release, Scalar, Shape, TypeId, names_in_order};
use pratique_typed::decode::{self, FaultSink, Node, StrictFaults};
use pratique_types::GroupVersionKind;
use serde_json::Value as Json;

use crate::parse::MAX_COMPACT_DEPTH;
use crate::parse::source::ObjectSource;
use crate::position::Span;
use crate::problem::Problem;
use crate::tree::{NodeId, Tree, TreeValue};
pub(crate) use pratique_typed::decode::StrictKind;
pub use pratique_typed::decode::TreeNode;
pub(crate) use value::RawDecoding;

/// A value that was decoded, and the problems with it that strict decoding reports.
#[derive(Debug, Default)]
pub(crate) struct DecodedField {
    pub(crate) value: Json,
    /// Faults that end decoding. The server reports the first.
    pub(crate) fatal: Vec<FieldFault>,
    /// Values of the wrong type. The server reports the first, if nothing ends decoding.
    pub(crate) types: Vec<FieldFault>,
    /// Fields that do not exist or are given twice. The server reports all, if nothing else is wrong.
    pub(crate) strict: Vec<StrictFault>,
}

/// A value that does not fit its field.
#[derive(Debug)]
pub(crate) struct FieldFault {
    pub(crate) message: String,
    pub(crate) field: String,
    pub(crate) span: Span,
    /// The found and expected forms, where a value has the wrong type.
    pub(crate) mismatch: Option<TypeMismatch>,
}

/// A value of the wrong type.
#[derive(Clone, Debug)]
pub(crate) struct TypeMismatch {
    pub(crate) found: ValueForm,
    pub(crate) wanted: ValueForm,
    /// The fields of the mapping that was expected, where they are known.
    pub(crate) fields: Vec<&'static str>,
}

/// The forms of values that people mix up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueForm {
    Text,
    Number,
    Bool,
    List,
    Mapping,
    Other,
}

/// A field that should not be there.
#[derive(Debug)]
pub(crate) struct StrictFault {
    pub(crate) kind: StrictKind,
    pub(crate) field: String,
    pub(crate) span: Span,
    /// The field of that object whose name is nearest.
    pub(crate) meant: Option<&'static str>,
}

/// More values of the wrong type of one document are not listed. The server reports the first only.
const MAX_TYPES: usize = 1000;

/// Decodes a value as a type of a release, such as `admissionregistration/v1.ValidatingAdmissionPolicy`.
pub(crate) fn decode(
    release: &'static Release,
    tree: &Tree,
    id: NodeId,
    type_name: &str,
    raw: RawDecoding,
) -> DecodedField {
    match release.schema().named(type_name) {
        Some(of) => decode_as(release, tree, id, of, raw),
        // Nothing is known of the value then: it is no value without fields.
        None => DecodedField {
            fatal: vec![FieldFault {
                message: format!("Kubernetes {release} has no type {type_name}"),
                field: String::new(),
                span: tree.get(id).span,
                mismatch: None,
            }],
            ..DecodedField::default()
        },
    }
}

/// Decodes a value as a type of a release.
fn decode_as(
    release: &'static Release,
    tree: &Tree,
    id: NodeId,
    of: TypeId,
    raw: RawDecoding,
) -> DecodedField {
    let schema = release.schema();
    let mut faults = FaultCollector {
        release,
        raw,
        strict: StrictFaults::default(),
        decoded: DecodedField::default(),
    };
    decode::decode(schema, of, TreeNode::new(tree, id), &mut faults);
    DecodedField {
        value: value::json(schema, tree, id, of, raw),
        ..faults.decoded
    }
}

/// What strict decoding has against an object of a built-in kind, each at its place: values that no server takes, with its messages,
/// and fields that it does not know. There is nothing against objects of other kinds.
pub fn decode_problems(
    release: &'static Release,
    source: &ObjectSource,
    id: NodeId,
    kind: &GroupVersionKind,
) -> Vec<Problem> {
    match release.schema().kind(kind) {
        Some(of) => {
            let decoded = decode_as(release, source.tree(), id, of, RawDecoding::LeftOut);
            failures::decode_problems(source.document(), &decoded)
        }
        None => Vec::new(),
    }
}

/// Keeps all faults with their positions.
struct FaultCollector {
    release: &'static Release,
    raw: RawDecoding,
    strict: StrictFaults,
    decoded: DecodedField,
}

impl<'t> FaultSink<'t, TreeNode<'t>> for FaultCollector {
    fn fault(&mut self, fault: &decode::Fault<'_, 't, TreeNode<'t>>) -> ControlFlow<()> {
        let faults = if fault.is_fatal {
            &mut self.decoded.fatal
        } else {
            &mut self.decoded.types
        };
        if faults.len() < MAX_TYPES {
            let node = fault.value.node();
            faults.push(FieldFault {
                message: fault.message(),
                field: fault.path(),
                span: node.span,
                mismatch: fault
                    .expected
                    .map(|shape| TypeMismatch::new(self.release, &node.value, shape)),
            });
        }
        Continue(())
    }

    fn strict_fault(&mut self, fault: &decode::StrictFault<'_, 't, TreeNode<'t>>) {
        let Some(field) = self.strict.admit(fault) else {
            return;
        };
        let fields = fault.of.into_iter().flat_map(|of| of.fields.iter());
        self.decoded.strict.push(StrictFault {
            kind: fault.kind,
            field,
            span: fault.member.key_span(),
            meant: nearest(fault.member.key(), fields.map(|field| field.name)),
        });
    }

    fn raw_fault(&mut self, value: TreeNode<'t>) -> Option<String> {
        (self.raw == RawDecoding::Kept && exceeds(value, MAX_COMPACT_DEPTH))
            .then(|| "exceeded max depth".to_owned())
    }
}

/// Whether a value nests deeper than so many levels.
fn exceeds(value: TreeNode<'_>, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else {
        return true;
    };
    let mut members = value.members();
    value.elements().any(|element| exceeds(element, depth))
        || members.any(|(_, member)| exceeds(member, depth))
}

impl TypeMismatch {
    fn new(release: &'static Release, value: &TreeValue, expected: &Shape) -> Self {
        let fields = match expected {
            Shape::Struct(id) => names_in_order(release.layouts().for_type(release.schema().get(*id).name)),
            _ => Vec::new(),
        };
        TypeMismatch {
            found: ValueForm::of_value(value),
            wanted: ValueForm::of_shape(expected),
            fields,
        }
    }
}

impl ValueForm {
    fn of_value(value: &TreeValue) -> Self {
        match value {
            TreeValue::Null => ValueForm::Other,
            TreeValue::Bool(_) => ValueForm::Bool,
            TreeValue::Number(_) => ValueForm::Number,
            TreeValue::String(..) => ValueForm::Text,
            TreeValue::List(_) => ValueForm::List,
            TreeValue::Map(_) => ValueForm::Mapping,
        }
    }

    fn of_shape(shape: &Shape) -> Self {
        match shape {
            Shape::Scalar(Scalar::String) => ValueForm::Text,
            Shape::Scalar(Scalar::Bool) => ValueForm::Bool,
            Shape::Scalar(Scalar::Int32 | Scalar::Int64 | Scalar::Float) => ValueForm::Number,
            Shape::Scalar(_) => ValueForm::Other,
            Shape::List(_) => ValueForm::List,
            Shape::Struct(_) | Shape::Map(_) => ValueForm::Mapping,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(json: &str) -> DecodedField {
        let document = crate::json::parse(json.as_bytes(), &crate::budget::Budget::unlimited()).unwrap();
        decode(
            Release::latest(),
            &document.tree,
            document.root,
            "admissionregistration/v1.ValidatingAdmissionPolicy",
            RawDecoding::Kept,
        )
    }

    #[test]
    fn what_is_empty_is_left_out() {
        let json = r#"{"metadata": {"name": "a", "labels": {}, "generation": 0, "creationTimestamp": null},
            "spec": {"matchConstraints": {}, "validations": [], "failurePolicy": "", "variables": [null]}}"#;
        let expected = serde_json::json!({
            "metadata": {"name": "a"},
            "spec": {"matchConstraints": {}, "failurePolicy": "", "variables": [{"name": "", "expression": ""}]},
            "status": {},
        });
        assert_eq!(decoded(json).value, expected);
    }

    #[test]
    fn types_are_checked_and_all_faults_kept() {
        let json = r#"{"metadata": [], "spec": {"validations": [{"expression": 1, "reason": true}], "paramKind": "x"}}"#;
        let found: Vec<String> = decoded(json)
            .types
            .into_iter()
            .map(|fault| fault.message)
            .collect();
        assert_eq!(
            found,
            [
                "json: cannot unmarshal array into Go struct field ValidatingAdmissionPolicy.metadata of type v1.ObjectMeta",
                "json: cannot unmarshal number into Go struct field Validation.spec.validations.expression of type string",
                "json: cannot unmarshal bool into Go struct field Validation.spec.validations.reason of type v1.StatusReason",
                "json: cannot unmarshal string into Go struct field ValidatingAdmissionPolicySpec.spec.paramKind of type v1.ParamKind",
            ]
        );
    }

    #[test]
    fn fields_are_told_by_exact_name_and_once() {
        let json = r#"{"Kind": "", "spec": {"validations": [{"expresion": ""}], "variables": [], "variables": []},
            "metadata": {"labels": {"a": "", "a": ""}}}"#;
        let found: Vec<_> = decoded(json)
            .strict
            .into_iter()
            .map(|fault| (fault.kind, fault.field, fault.meant))
            .collect();
        assert_eq!(
            found,
            [
                (StrictKind::Unknown, "Kind".to_owned(), Some("kind")),
                (
                    StrictKind::Unknown,
                    "spec.validations[0].expresion".to_owned(),
                    Some("expression")
                ),
                (StrictKind::Duplicate, "spec.variables".to_owned(), None),
                (StrictKind::Duplicate, "metadata.labels.a".to_owned(), None),
            ]
        );
    }
}
