//! The conversion of values of expressions: its context and its errors.

use pratique_cel::Fault;
use pratique_gotext::strconv::quote;
use pratique_json::Progress;
use pratique_merge::structured_merge::Patch;
use pratique_schema::Release;
use pratique_types::GroupVersionKind;

use crate::typed::{GoValue, ObjectPart};

/// The context of conversions of values.
#[derive(Clone, Copy)]
pub(super) struct ValueConversion<'g> {
    /// How Go formats the parts of an input that expressions see through Go types.
    pub(super) go: &'g dyn Fn(ObjectPart<'_>) -> Option<GoValue>,
    /// Once it is stopped, results of conversions are void.
    pub(super) progress: &'g Progress<'g>,
    /// Whether the object is of a Go type, which it is converted into.
    pub(super) has_go_type: bool,
    /// Whether lists and maps of all sorts, and `variables`, are plain data in a field. Otherwise those alone that the expression
    /// made of values.
    pub(super) is_deep: bool,
    /// Whether a list that the expression joined is one of values, like one that it wrote. Otherwise it is one of what they hold.
    pub(super) joins_values: bool,
    /// Whether the fault of an object literal in a field is one of the whole. Otherwise it takes the place of the value.
    pub(super) passes_faults: bool,
    /// Whether numbers that JSON does not have are kept, to see whether there are other faults.
    pub(super) keeps_infinite: bool,
}

impl<'g> ValueConversion<'g> {
    /// The context in a release, for a mutation of an object of this kind.
    pub(super) fn new(
        (release, kind): (&'static Release, &GroupVersionKind),
        go: &'g dyn Fn(ObjectPart<'_>) -> Option<GoValue>,
        progress: &'g Progress<'g>,
    ) -> Self {
        ValueConversion {
            go,
            progress,
            has_go_type: release.has_type(kind),
            // Upstream: apiserver/pkg/cel/mutation/dynamic/objects.go, convertField and ObjectVal.ConvertToNative, changed in 1.37.
            is_deep: release.at_least(1, 37),
            // Upstream: cel-go/common/types/list.go, concatList.Value, changed in the version of 1.38.
            joins_values: release.at_least(1, 38),
            // Upstream: apiserver/pkg/cel/mutation/dynamic/objects.go, convertField: object literals come first since 1.38.
            passes_faults: release.at_least(1, 38),
            keeps_infinite: false,
        }
    }
}

impl ValueConversion<'_> {
    pub(super) fn go_value(&self, part: ObjectPart<'_>) -> Option<GoValue> {
        (self.go)(part)
    }

    /// The empty list of an expression, which is a nil slice.
    pub(super) fn empty_list<'s>(&self) -> Patch<'s> {
        if self.has_go_type {
            Patch::EmptyList
        } else {
            Patch::NilList
        }
    }
}

/// Why a value of an expression does not become a patch; its text is an API server's message.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConversionError {
    #[error("invalid return type: *dynamic.ObjectVal")]
    InvalidObject,
    #[error("unsupported return type from ApplyConfiguration expression: {0}")]
    NotAnObject(String),
    #[error(transparent)]
    Fields(#[from] Fault),
    #[error("fail to convert field {}: {error}", quote(.name))]
    Field {
        name: String,
        error: Box<ConversionError>,
    },
    /// A key of a map in a patch.
    #[error("map key {shown} is of type {type_name}, not string")]
    PatchKey { shown: String, type_name: &'static str },
    /// A key of a map in JSON.
    #[error("type conversion error from {0} to 'string'")]
    Key(String),
    #[error("unable to convert to string")]
    ObjectKey,
    #[error("unsupported type conversion from '{0}' to string")]
    IntegerKey(String),
    #[error("type conversion error from {0} to '*structpb.Value'")]
    NoJsonForm(String),
    #[error("type conversion error from struct type {0} to *structpb.Value")]
    GoStruct(String),
    #[error("unsupported conversion to ref.Val: ({type_name}){shown}")]
    GoValue { type_name: String, shown: String },
    #[error("disallowed conversion from {} to \"\"", quote(.0))]
    Struct(String),
    #[error(
        "This request caused apiserver to panic: before 1.37, the value of a patch has no object literal in a list or map"
    )]
    Panic,
    #[error("cannot convert to native type: *structpb.Value")]
    JsonPatch,
    #[error("optional.none() dereference")]
    EmptyOptional,
    #[error("type conversion not supported for 'type'")]
    Type,
    #[error("proto: invalid type: {0}")]
    NoProtoType(String),
    #[error(
        "json: error calling MarshalJSON for type {of}: proto: google.protobuf.Value.number_value: invalid {number} value"
    )]
    Number { of: &'static str, number: &'static str },
}
