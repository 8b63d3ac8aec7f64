//! Dependencies of decisions besides requests.

/// Something that the decision of a policy, a webhook or a plugin may depend on besides the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionNeed {
    /// The policy, binding, webhook or plugin.
    pub name: String,
    /// The kind of dependency.
    pub kind: NeedKind,
}

/// A dependency of decisions besides requests.
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
    /// Objects that a plugin looks up.
    PluginState,
}

impl DecisionNeed {
    /// The need of a policy, binding, webhook or plugin.
    pub fn new(name: &str, kind: NeedKind) -> Self {
        DecisionNeed {
            name: name.to_owned(),
            kind,
        }
    }
}
