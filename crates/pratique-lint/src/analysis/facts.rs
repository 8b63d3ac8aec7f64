//! Facts that are known of a request statically.

use std::sync::Arc;

use pratique_types::Operation;
use pratique_types::builtin::ServedResource;

/// What is known of a value statically.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Known {
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
pub(crate) type Presence<'f> = dyn Fn(&[String]) -> Option<bool> + 'f;

/// Facts that hold for some of the requests that a policy matches.
#[derive(Clone, Copy, Default)]
pub(crate) struct Facts<'f> {
    /// The operation.
    pub(crate) operation: Option<Operation>,
    /// The resource.
    pub(crate) served: Option<&'f ServedResource>,
    /// Whether fields are present, if that is known.
    pub(crate) presence: Option<&'f Presence<'f>>,
    /// Whether `namespaceObject` is null, as in match conditions.
    pub(crate) no_namespace: bool,
}

impl Known {
    pub(crate) fn text(text: &str) -> Self {
        match text {
            // Empty fields are absent from the request.
            "" => Known::Unknown,
            text => Known::Text(text.into()),
        }
    }

    /// Whether two values are equal, if that is known.
    pub(crate) fn equals(&self, other: &Known) -> Option<bool> {
        match (self, other) {
            (Known::Unknown, _) | (_, Known::Unknown) => None,
            (Known::Null, Known::Null) => Some(true),
            (Known::Null, _) | (_, Known::Null) => Some(false),
            (Known::Present, _) | (_, Known::Present) => None,
            (one, other) => Some(one == other),
        }
    }
}

impl Facts<'_> {
    /// What is known of the value at a path of variables and fields.
    pub(crate) fn value(&self, path: &[String]) -> Known {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        match path.as_slice() {
            ["object"] => self.object(&[Operation::Delete]),
            ["oldObject"] => self.object(&[Operation::Create, Operation::Connect]),
            ["namespaceObject"] if self.no_namespace => Known::Null,
            ["request", "operation"] => self
                .operation
                .map_or(Known::Unknown, |operation| Known::text(operation.as_str())),
            _ => self
                .served
                .map_or(Known::Unknown, |served| of_resource(served, &path)),
        }
    }

    fn object(&self, absent: &[Operation]) -> Known {
        match self.operation {
            None => Known::Unknown,
            Some(operation) if absent.contains(&operation) => Known::Null,
            Some(_) => Known::Present,
        }
    }

    /// Whether a field is present, if that is known.
    pub(crate) fn has(&self, path: &[String]) -> Option<bool> {
        self.presence.and_then(|presence| presence(path))
    }
}

fn of_resource(served: &ServedResource, path: &[&str]) -> Known {
    match path {
        ["object" | "oldObject", "kind"] | ["request", "kind" | "requestKind", "kind"] => {
            Known::text(&served.kind.kind)
        }
        ["object" | "oldObject", "apiVersion"] => Known::text(&served.kind.api_version()),
        ["request", "kind", "group"] => Known::text(&served.kind.group),
        ["request", "kind", "version"] => Known::text(&served.kind.version),
        ["request", "resource" | "requestResource", "resource"] => Known::text(&served.resource.resource),
        ["request", "resource", "group"] => Known::text(&served.resource.group),
        ["request", "subResource" | "requestSubResource"] => Known::text(&served.subresource),
        _ => Known::Unknown,
    }
}
