//! The faults that a decoder finds, and the sinks that receive them.

use std::ops::ControlFlow;

use pratique_gotext::strconv::quote;
use pratique_schema::{Shape, StructType};

use super::node::Node;
use super::place::ValuePlace;
use super::value_error::ValueError;

/// Receives the faults that a decoder finds.
pub trait FaultSink<'v, N: Node<'v>> {
    /// Whether it [visits](FaultSink::visit) values.
    const VISITS: bool = false;

    /// Looks at a value before it is decoded; `false` if that is all there is to it.
    fn visit(&mut self, _place: &ValuePlace<'v>, _value: N) -> bool {
        true
    }

    /// Takes a value that cannot be decoded; returns whether decoding continues.
    fn fault(&mut self, fault: &Fault<'_, 'v, N>) -> ControlFlow<()>;

    /// Takes a member that strict decoding refuses.
    fn strict_fault(&mut self, fault: &StrictFault<'_, 'v, N>);

    /// Why a value of any type cannot be kept.
    fn raw_fault(&mut self, _value: N) -> Option<String> {
        None
    }
}

/// Go's name of the type of a value, computed when it is needed.
pub(super) type GoType<'g> = &'g dyn Fn() -> String;

/// A value that cannot be decoded.
pub struct Fault<'f, 'v, N> {
    /// Where the value is.
    pub place: &'f ValuePlace<'v>,
    /// The value.
    pub value: N,
    /// The shape that it does not have; `None` where its form is right.
    pub expected: Option<&'f Shape>,
    /// Whether an API server's decoder stops at it. After others it continues, to report the first.
    pub is_fatal: bool,
    pub(super) cause: FaultCause<'f>,
}

/// Why a value cannot be decoded.
pub(super) enum FaultCause<'f> {
    /// It is not of this type.
    Type(GoType<'f>),
    /// Its content is wrong.
    Content(String),
}

impl<'v, N: Node<'v>> Fault<'_, 'v, N> {
    /// The error of an API server.
    pub fn error(&self) -> ValueError {
        match &self.cause {
            FaultCause::Type(go_type) => {
                let go_type = go_type();
                self.place.type_error(kind_for(self.value, &go_type), go_type)
            }
            FaultCause::Content(message) => ValueError::Content(message.clone()),
        }
    }

    /// The message of an API server.
    pub fn message(&self) -> String {
        self.error().to_string()
    }

    /// `spec.containers[0].image`; empty for the whole document.
    pub fn path(&self) -> String {
        self.place.path()
    }

    /// The fields of structs on the path alone: `spec.containers.image`.
    pub fn field_path(&self) -> String {
        self.place.field_path()
    }
}

/// A member that strict decoding refuses.
pub struct StrictFault<'f, 'v, N> {
    /// Where the member is.
    pub place: &'f ValuePlace<'v>,
    /// Why it is refused.
    pub kind: StrictKind,
    /// The member.
    pub member: N,
    /// The struct that does not have such a field, if it is unknown.
    pub of: Option<&'static StructType>,
}

/// Why strict decoding refuses a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StrictKind {
    /// There is no such field.
    Unknown,
    /// There is another member of this name.
    Duplicate,
}

impl StrictKind {
    /// `unknown field "spec.x"`
    pub fn message(self, path: &str) -> String {
        let kind = match self {
            StrictKind::Unknown => "unknown",
            StrictKind::Duplicate => "duplicate",
        };
        format!("{kind} field {}", quote(path))
    }
}

impl<N> StrictFault<'_, '_, N> {
    /// `spec.containers[0].image`
    pub fn path(&self) -> String {
        self.place.path()
    }
}

/// Go's name of a value that is not a `go_type`.
fn kind_for<'v, N: Node<'v>>(value: N, go_type: &str) -> String {
    let kind = value.value().kind_for(go_type);
    match value.literal() {
        Some(literal) if kind.starts_with("number ") => format!("number {literal}"),
        _ => kind,
    }
}
