//! Inputs that an evaluation needs and does not have: the decision is then neither yes nor no.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};

use pratique_cel::UnknownValue;
use pratique_cel::library::authz::Question;
use pratique_types::GroupVersionKind;

use crate::assumed_request::{is_detail, is_of_assumed_request};
use crate::old_object::is_of_old_object;

/// An input that the decision of a plugin, a policy or a webhook depends on, and that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MissingDependency {
    /// The answer to an authorization check.
    Authorizer {
        /// The check.
        check: Box<Question>,
    },
    /// A namespace, of which an expression reads more than its name.
    Namespace {
        /// The name of the namespace.
        name: String,
        /// The path that is read: `namespaceObject.metadata.annotations`.
        path: String,
    },
    /// The labels of a namespace, by which a selector selects.
    NamespaceLabels {
        /// The name of the namespace.
        name: String,
        /// The selector, as `kubectl` takes it.
        selector: String,
    },
    /// Objects that a binding takes as params.
    Params {
        /// Their kind, as API server messages show it.
        kind: String,
        /// Their namespace; empty for a kind of cluster scope, and where the kind itself is not known.
        namespace: String,
        /// The name of the param; `None` where a selector selects them, and where the kind itself is not known.
        name: Option<String>,
    },
    /// Objects of the cluster that a plugin looks up.
    Objects {
        /// Their kind: `PriorityClass.scheduling.k8s.io`.
        kind: String,
        /// Their namespace; empty for a kind of cluster scope.
        namespace: String,
        /// The name of the object; `None` for all of the kind.
        name: Option<String>,
    },
    /// What a controller writes into the status of an object.
    Status {
        /// The kind of the object.
        kind: String,
        /// Its namespace; empty for a kind of cluster scope.
        namespace: String,
        /// Its name.
        name: String,
        /// The field: `status.hard`.
        field: &'static str,
    },
    /// The answer of the backend of ImagePolicyWebhook.
    ImageReview,
    /// The answer of the webhook.
    WebhookAnswer,
    /// The stored object of an update or a deletion.
    OldObject {
        /// The path that is read: `oldObject.spec`.
        path: String,
    },
    /// What a server validates of the object, and cannot be validated here.
    Validation {
        /// What it is: `the signature of the request`.
        what: String,
    },
    /// What the log does not have that the request comes from.
    RequestDetail {
        /// The path that is read: `request.userInfo.groups`.
        path: String,
    },
    /// The resource of the object's kind.
    Resource {
        /// What it is the resource of: `kind Widget of example.com/v1`, or `the request`.
        kind: String,
    },
}

/// A plugin, policy or webhook whose decision on a request depends on a missing input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndecidedDecision {
    /// The admission plugin that it belongs to, or is: `ValidatingAdmissionPolicy`.
    pub plugin: Cow<'static, str>,
    /// The name of the policy or the webhook; empty for a plugin that is neither's.
    pub name: String,
    /// The binding of the policy; `None` for a webhook, and for an input that all bindings of a policy depend on.
    pub binding: Option<String>,
    /// The missing input.
    pub missing: MissingDependency,
}

impl UndecidedDecision {
    /// The policy or webhook, or else the plugin.
    pub fn source(&self) -> &str {
        match self.name.as_str() {
            "" => &self.plugin,
            name => name,
        }
    }
}

/// The effect of a policy or a webhook whose decision depends on a missing input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnUndecided {
    /// The request is undecided, unless another policy or webhook denies it.
    #[default]
    Report,
    /// It counts as an error of the policy or webhook, whose `failurePolicy` decides: for servers, whose only answers are
    /// yes and no.
    FailurePolicy,
}

impl MissingDependency {
    /// The resource of a kind.
    pub fn resource_of(kind: &GroupVersionKind) -> Self {
        MissingDependency::Resource {
            kind: format!("kind {} of {}", kind.kind, kind.api_version()),
        }
    }

    /// The missing input behind an unknown value, in an evaluation for a request in a namespace.
    pub fn from_unknown(unknown: &UnknownValue, namespace: &str) -> Self {
        match unknown {
            UnknownValue::Check(check) => MissingDependency::Authorizer { check: check.clone() },
            UnknownValue::Attribute(path) if is_of_old_object(path) => MissingDependency::OldObject {
                path: path.to_string(),
            },
            UnknownValue::Attribute(path) if is_detail(path) => MissingDependency::RequestDetail {
                path: path.to_string(),
            },
            // Without a namespace, only the scope of an assumed resource is missing.
            UnknownValue::Attribute(path) if is_of_assumed_request(path) || namespace.is_empty() => {
                MissingDependency::Resource {
                    kind: "the request".to_owned(),
                }
            }
            UnknownValue::Attribute(path) => MissingDependency::Namespace {
                name: namespace.to_owned(),
                path: path.to_string(),
            },
            other => MissingDependency::Namespace {
                name: namespace.to_owned(),
                path: other.to_string(),
            },
        }
    }

    /// A name for it, for programs: `authorizer`, `namespace`, `namespaceLabels`, `params`, `objects`, `status`,
    /// `imageReview`, `webhookAnswer`, `oldObject`, `validation`, `requestDetail`, `resource`.
    pub fn kind(&self) -> &'static str {
        match self {
            MissingDependency::Authorizer { .. } => "authorizer",
            MissingDependency::Namespace { .. } => "namespace",
            MissingDependency::NamespaceLabels { .. } => "namespaceLabels",
            MissingDependency::Params { .. } => "params",
            MissingDependency::Objects { .. } => "objects",
            MissingDependency::Status { .. } => "status",
            MissingDependency::ImageReview => "imageReview",
            MissingDependency::WebhookAnswer => "webhookAnswer",
            MissingDependency::OldObject { .. } => "oldObject",
            MissingDependency::Validation { .. } => "validation",
            MissingDependency::RequestDetail { .. } => "requestDetail",
            MissingDependency::Resource { .. } => "resource",
        }
    }
}

impl Display for MissingDependency {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            MissingDependency::Authorizer { check } => write!(formatter, "it is not known whether {check}"),
            MissingDependency::Namespace { name, path } => {
                write!(formatter, "{path} of namespace {name:?} is not known")
            }
            MissingDependency::Params {
                kind,
                namespace,
                name,
            } => {
                write!(formatter, "params of kind '{kind}'")?;
                not_known(formatter, name.as_deref(), namespace)
            }
            MissingDependency::Objects {
                kind,
                namespace,
                name,
            } => {
                write!(formatter, "{kind} objects")?;
                not_known(formatter, name.as_deref(), namespace)
            }
            MissingDependency::Status {
                kind,
                namespace,
                name,
                field,
            } => {
                write!(formatter, "{field} of {kind} {name:?}")?;
                if !namespace.is_empty() {
                    write!(formatter, " in namespace {namespace:?}")?;
                }
                formatter.write_str(", which its controller writes, is not known")
            }
            MissingDependency::ImageReview => formatter.write_str("the image policy backend was not asked"),
            MissingDependency::WebhookAnswer => {
                formatter.write_str("it is not known what the webhook answers")
            }
            MissingDependency::OldObject { path } => {
                write!(formatter, "{path} of the stored object is not known")
            }
            MissingDependency::Validation { what } => write!(formatter, "{what} cannot be validated here"),
            MissingDependency::RequestDetail { path } => {
                write!(
                    formatter,
                    "the log that the request comes from does not have {path}"
                )
            }
            MissingDependency::Resource { kind } => write!(formatter, "the resource of {kind} is not known"),
            MissingDependency::NamespaceLabels { name, selector } => write!(
                formatter,
                "the labels of namespace {name:?} are not known, and namespaceSelector {selector} selects by them"
            ),
        }
    }
}

fn not_known(formatter: &mut Formatter<'_>, name: Option<&str>, namespace: &str) -> fmt::Result {
    if let Some(name) = name {
        write!(formatter, " named {name:?}")?;
    }
    if !namespace.is_empty() {
        write!(formatter, " in namespace {namespace:?}")?;
    }
    formatter.write_str(" are not known")
}

impl Display for UndecidedDecision {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let UndecidedDecision {
            plugin,
            name,
            binding,
            missing,
        } = self;
        formatter.write_str(plugin)?;
        if !name.is_empty() {
            write!(formatter, " '{name}'")?;
        }
        if let Some(binding) = binding {
            write!(formatter, " with binding '{binding}'")?;
        }
        write!(formatter, " is undecided: {missing}")
    }
}
