//! Facts that are known of a request statically.

use std::sync::Arc;

use pratique_match::Equivalent;
use pratique_types::Operation;
use pratique_types::builtin::ServedResource;

/// A value as far as it is known statically.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum KnownValue {
    /// Nothing.
    #[default]
    Unknown,
    /// It is null.
    Null,
    /// It is not null.
    Present,
    /// It is this bool.
    Bool(bool),
    /// It is this text.
    Text(Arc<str>),
    /// It is this number.
    Int(i64),
}

/// Whether the field at a path is present, if that is known.
pub(crate) type PresenceTest<'f> = dyn Fn(&[String]) -> Option<bool> + 'f;

/// Facts that hold for some of the requests that a policy matches.
#[derive(Clone, Copy, Default)]
pub(crate) struct RequestFacts<'f> {
    /// The operation.
    pub(crate) operation: Option<Operation>,
    /// The resource.
    pub(crate) served: Option<&'f ServedResource>,
    /// The resource that was asked for, where a policy gets the object in the version of another one.
    pub(crate) requested: Option<&'f Equivalent>,
    /// Whether fields are present, if that is known.
    pub(crate) presence: Option<&'f PresenceTest<'f>>,
    /// Whether `namespaceObject` is null, as in match conditions.
    pub(crate) no_namespace: bool,
}

impl KnownValue {
    pub(crate) fn from_text(text: &str) -> Self {
        match text {
            // Empty fields are absent from the request.
            "" => KnownValue::Unknown,
            text => KnownValue::Text(text.into()),
        }
    }

    /// Whether two values are equal, if that is known.
    pub(crate) fn equals(&self, other: &KnownValue) -> Option<bool> {
        match (self, other) {
            (KnownValue::Unknown, _) | (_, KnownValue::Unknown) => None,
            (KnownValue::Null, KnownValue::Null) => Some(true),
            (KnownValue::Null, _) | (_, KnownValue::Null) => Some(false),
            (KnownValue::Present, _) | (_, KnownValue::Present) => None,
            (one, other) => Some(one == other),
        }
    }
}

impl RequestFacts<'_> {
    /// The value at a path of variables and fields, as far as it is known.
    pub(crate) fn value(&self, path: &[String]) -> KnownValue {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        match path.as_slice() {
            ["object"] => self.object(&[Operation::Delete]),
            ["oldObject"] => self.object(&[Operation::Create, Operation::Connect]),
            ["namespaceObject"] if self.no_namespace => KnownValue::Null,
            ["request", "operation"] => self.operation.map_or(KnownValue::Unknown, |operation| {
                KnownValue::from_text(operation.as_str())
            }),
            _ => {
                let requested = self
                    .requested
                    .and_then(|requested| requested_value(requested, &path));
                let served = self.served.map(|served| resource_value(served, &path));
                requested.or(served).unwrap_or_default()
            }
        }
    }

    fn object(&self, absent: &[Operation]) -> KnownValue {
        match self.operation {
            None => KnownValue::Unknown,
            Some(operation) if absent.contains(&operation) => KnownValue::Null,
            Some(_) => KnownValue::Present,
        }
    }

    /// Whether a field is present, if that is known.
    pub(crate) fn has(&self, path: &[String]) -> Option<bool> {
        self.presence.and_then(|presence| presence(path))
    }
}

/// A field of the request about the resource that was asked for.
fn requested_value(requested: &Equivalent, path: &[&str]) -> Option<KnownValue> {
    let text = match path {
        ["request", "requestKind", "group"] => &requested.kind.group,
        ["request", "requestKind", "version"] => &requested.kind.version,
        ["request", "requestKind", "kind"] => &requested.kind.kind,
        ["request", "requestResource", "group"] => &requested.resource.group,
        ["request", "requestResource", "version"] => &requested.resource.version,
        ["request", "requestResource", "resource"] => &requested.resource.resource,
        _ => return None,
    };
    Some(KnownValue::from_text(text))
}

fn resource_value(served: &ServedResource, path: &[&str]) -> KnownValue {
    match path {
        ["object" | "oldObject", "kind"] | ["request", "kind" | "requestKind", "kind"] => {
            KnownValue::from_text(&served.kind.kind)
        }
        ["object" | "oldObject", "apiVersion"] => KnownValue::from_text(&served.kind.api_version()),
        ["request", "kind", "group"] => KnownValue::from_text(&served.kind.group),
        ["request", "kind", "version"] => KnownValue::from_text(&served.kind.version),
        ["request", "resource" | "requestResource", "resource"] => {
            KnownValue::from_text(&served.resource.resource)
        }
        ["request", "resource", "group"] => KnownValue::from_text(&served.resource.group),
        ["request", "subResource" | "requestSubResource"] => KnownValue::from_text(&served.subresource),
        _ => KnownValue::Unknown,
    }
}
