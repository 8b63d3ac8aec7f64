//! What decisions may depend on besides requests.

/// Something that the decision of a policy or a webhook may depend on besides the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The policy, binding or webhook.
    pub name: String,
    /// What it needs.
    pub kind: NeedKind,
}

/// What decisions may depend on besides requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NeedKind {
    /// Answers to authorization checks.
    Authorizer,
    /// Fields of `namespaceObject` besides its name.
    Namespace,
    /// Labels of namespaces besides that of their names, by which a selector selects.
    NamespaceLabels,
    /// Params.
    Params,
}

impl Need {
    /// The need of a policy, binding or webhook.
    pub fn new(name: &str, kind: NeedKind) -> Self {
        Need {
            name: name.to_owned(),
            kind,
        }
    }
}
