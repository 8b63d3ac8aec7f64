//! Requests.

use std::collections::BTreeMap;

use pratique_review::ExpandMode;
use pratique_types::Operation;
use serde::Deserialize;

/// A request.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Request {
    /// Policies are loaded, linted and, if there is an object, evaluated.
    Evaluate(Box<Evaluate>),
    /// An expression is evaluated by itself.
    Expression(Expression),
    /// The version of this crate.
    Version {},
}

/// A text with a name, which locations refer to.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Its name.
    pub path: String,
    /// YAML or JSON.
    pub text: String,
}

/// Policies and a request to evaluate.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Evaluate {
    /// Policies and bindings: static manifests and objects of the API, as their names say.
    pub policies: Vec<File>,
    /// Policies and bindings as an API server has stored them, defaulted; they are not validated again.
    pub stored: Vec<serde_json::Value>,
    /// Other objects of the cluster: namespaces, params, definitions, roles and their bindings. They are all that there are,
    /// unless the index of a snapshot among them says more. A snapshot is one text with its index, or, where the index stands
    /// alone, all texts of its directory.
    pub cluster: Vec<File>,
    /// The object: YAML or JSON. For DELETE, the one that is deleted. An AdmissionReview is taken as it is. Without an object
    /// and a request, policies are only loaded.
    pub object: Option<String>,
    /// The stored object, for an update.
    pub old_object: Option<String>,
    /// A whole request, as `admission.k8s.io/v1` has it, instead of an object and what follows here.
    pub request: Option<serde_json::Value>,
    /// The operation: by default UPDATE if there is an old object, else CREATE, or what is usual for the subresource.
    pub operation: Option<Operation>,
    /// The namespace of an object without one; `default` by default.
    pub namespace: Option<String>,
    /// The name in the request, if it differs from the object's.
    pub name: Option<String>,
    /// The resource of an object whose kind is not known.
    pub resource: Option<String>,
    /// The subresource.
    pub subresource: String,
    /// Who sends the request: `kubernetes-admin` by default.
    pub user: Option<User>,
    /// Whether it is a dry run.
    pub dry_run: bool,
    /// Rules of authorization, a text with a field `authorizer` as in a suite; what they do not decide, roles in `cluster` do.
    /// Without both, what depends on the authorizer is undecided.
    pub authorizer: Option<String>,
    /// The release of Kubernetes that the server is of, such as `1.37`: by default that of a snapshot in `cluster`, or else the
    /// newest known one that is out.
    pub kubernetes_version: Option<String>,
    /// Whether policies without a binding are evaluated as if bound.
    pub bind: bool,
    /// Whether the Pod that a controller makes of a workload is evaluated as well; by default where a policy is about Pods.
    pub expand: ExpandMode,
    /// Whether objects stay as they are, instead of being decoded, defaulted and prepared as an API server does.
    pub as_given: bool,
    /// Whether the worst-case cost of each expression is estimated.
    pub costs: bool,
    /// Whether a decision is wanted soon: lints, which take longer than it, are left out, but for those of objects that do not
    /// count, or that only some servers have.
    pub without_lints: bool,
}

/// The user who sends a request.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct User {
    /// The name; a service account is `system:serviceaccount:NAMESPACE:NAME`.
    pub name: String,
    /// The groups, besides those that the name implies.
    pub groups: Vec<String>,
    /// The unique identity.
    pub uid: String,
    /// Further attributes of the user, by key.
    pub extra: BTreeMap<String, Vec<String>>,
}

/// An expression to evaluate, in the environment of an API server.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Expression {
    /// Its text.
    pub expression: String,
    /// The variables: all have type `dyn`.
    pub variables: BTreeMap<String, serde_json::Value>,
    /// Variables as a text: a mapping in YAML or JSON.
    pub variables_text: String,
    /// The most that it may cost: 1,000,000 by default, as for one expression of a policy.
    pub cost_limit: Option<u64>,
}
