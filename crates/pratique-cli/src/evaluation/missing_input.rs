//! What was needed for a decision and is not known.

use std::borrow::Cow;

use pratique::policy::{MissingDependency, UndecidedDecision};
use pratique_schema::Release;
use serde::Serialize;

/// Why an object is undecided, in the form that is the same for others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UndecidedReason {
    /// The policy, webhook or plugin that is undecided.
    pub(crate) source: String,
    /// What is missing.
    pub(crate) missing: &'static str,
    /// What it is about: a kind.
    pub(crate) subject: String,
}

/// A missing input on which a policy or webhook depends.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct JsonUndecided {
    pub(crate) plugin: Cow<'static, str>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) binding: Option<String>,
    missing: &'static str,
    pub(crate) message: String,
    pub(crate) help: Cow<'static, str>,
    /// What the message is about, without what differs from object to object.
    #[serde(skip)]
    subject: String,
}

impl JsonUndecided {
    /// Whether another one is of the same policy, webhook or plugin.
    pub(crate) fn is_of_same(&self, other: &JsonUndecided) -> bool {
        (&self.plugin, &self.name, &self.binding) == (&other.plugin, &other.name, &other.binding)
    }

    /// Why it is undecided, as for other objects.
    pub(crate) fn reason(&self) -> UndecidedReason {
        UndecidedReason {
            source: self.source().to_owned(),
            missing: self.missing,
            subject: self.subject.clone(),
        }
    }

    /// The policy or webhook, or else the plugin.
    pub(crate) fn source(&self) -> &str {
        match self.name.as_str() {
            "" => &self.plugin,
            name => name,
        }
    }
}

impl From<&UndecidedDecision> for JsonUndecided {
    fn from(undecided: &UndecidedDecision) -> Self {
        JsonUndecided {
            plugin: undecided.plugin.clone(),
            name: undecided.name.clone(),
            binding: undecided.binding.clone(),
            missing: undecided.missing.kind(),
            message: undecided.missing.to_string(),
            help: help(&undecided.missing),
            subject: subject(&undecided.missing),
        }
    }
}

/// What is missing, without the names by which it differs from object to object.
fn subject(missing: &MissingDependency) -> String {
    match missing {
        MissingDependency::Params { kind, .. } | MissingDependency::Status { kind, .. } => kind.clone(),
        // Whether there are any of a kind, and what one of them is, are different questions.
        MissingDependency::Objects { kind, name, .. } => match name {
            None => kind.clone(),
            Some(_) => format!("a {kind}"),
        },
        _ => String::new(),
    }
}

/// How to give a missing input.
pub(crate) fn help(missing: &MissingDependency) -> Cow<'static, str> {
    let help = match missing {
        MissingDependency::Authorizer { .. } => {
            "say with --authorizer FILE what users may do, or give roles and bindings with --objects PATH (and \
             --objects-complete, if these are all)"
        }
        MissingDependency::Params { .. } => {
            "give those that the cluster has, and the definition of their kind, with --objects PATH (and \
             --objects-complete, if these are all)"
        }
        MissingDependency::Objects { kind, .. } => {
            let given = "give those that the cluster has with --objects PATH (and --objects-complete, if these are all)";
            return match resource_name(kind) {
                Some(resource) => {
                    format!("{given}, or say with --none {resource} that there are no others").into()
                }
                // Such a kind has no name that --none takes.
                None => given.into(),
            };
        }
        MissingDependency::Resource { .. } => {
            "give the CustomResourceDefinition of the kind with --objects PATH, or a snapshot of a cluster that has it; `review` \
             takes the name of the resource with --resource, too"
        }
        MissingDependency::RequestDetail { .. } => {
            "read the log of a server that writes it whole, as kube-apiserver does"
        }
        MissingDependency::OldObject { .. } => {
            "give the stored object: an audit log may have it in an earlier event (--remember)"
        }
        MissingDependency::Status { .. } => {
            "give the object with its status, as the cluster has it (kubectl get -o yaml), with --objects PATH"
        }
        MissingDependency::ImageReview => "leave the plugin out with --disable-admission-plugins",
        MissingDependency::Validation { .. } => {
            "ask a server, or leave its validation out with --validation off"
        }
        MissingDependency::WebhookAnswer => "call webhooks with --webhooks",
        _ => "give the namespace as the cluster has it with --objects PATH or --namespace-object FILE",
    };
    help.into()
}

/// The name of the resource of a built-in kind, as `--none` takes it: `priorityclasses.scheduling.k8s.io`.
fn resource_name(kind: &str) -> Option<String> {
    // Its name is the same in all releases that have it.
    let mut resources = Release::list()
        .iter()
        .flat_map(|release| release.resources().served());
    let served = resources
        .find(|served| served.subresource.is_empty() && served.kind.group_kind().to_string() == kind);
    served.map(|served| served.resource.group_resource().to_string())
}
