//! What somebody gives as texts to have it reviewed, and what comes of it.

use std::collections::BTreeMap;

use pratique_manifest::Problem;
use pratique_state::TextFile;
use pratique_types::{Operation, UserInfo};
use serde::{Deserialize, Serialize};

use crate::plain_finding::PlainFinding;
use crate::pod_expansion::ExpandMode;
use crate::review_report::ReviewReport;

/// Policies and a request to evaluate.
///
/// ```
/// use pratique::{Admission, Release};
/// use pratique_report::Decision;
/// use pratique_review::ReviewTexts;
///
/// let texts = ReviewTexts {
///     object: Some("{apiVersion: v1, kind: ConfigMap, metadata: {name: Settings}}".into()),
///     ..ReviewTexts::default()
/// };
/// let reviewed = texts.review(Release::latest(), Admission::builder(), |_, _, _| {});
/// let report = reviewed.decision.unwrap();
/// assert_eq!(report.decision, Decision::Denied);
/// assert_eq!(report.causes[0].field.as_deref(), Some("metadata.name"));
/// ```
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ReviewTexts {
    /// Policies and bindings: static manifests and objects of the API, as their names say.
    pub policies: Vec<TextFile>,
    /// Policies and bindings as an API server has stored them, defaulted; they are not validated again.
    pub stored: Vec<serde_json::Value>,
    /// Other objects of the cluster: namespaces, params, definitions, roles and their bindings. They are all that there are,
    /// unless the index of a snapshot among them says more. A snapshot is one text with its index, or, where the index stands
    /// alone, all texts of its directory.
    pub cluster: Vec<TextFile>,
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
    pub user: Option<NamedUser>,
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
}

/// The user who sends a request.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct NamedUser {
    /// The name; a service account is `system:serviceaccount:NAMESPACE:NAME`.
    pub name: String,
    /// The groups, besides those that the name implies.
    pub groups: Vec<String>,
    /// The unique identity.
    pub uid: String,
    /// Further attributes of the user, by key.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl From<&NamedUser> for UserInfo {
    fn from(user: &NamedUser) -> Self {
        UserInfo {
            uid: user.uid.clone(),
            extra: user.extra.clone(),
            ..pratique_request::user(&user.name, &user.groups)
        }
    }
}

/// What comes of texts: the problems of the inputs, or the decision, and how it came about.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewedTexts {
    /// Problems that prevent the evaluation.
    pub problems: Vec<PlainFinding>,
    /// Objects that are not evaluated.
    pub not_evaluated: Vec<String>,
    /// The assumptions that were made.
    pub notes: Vec<String>,
    /// The decision.
    #[serde(flatten)]
    pub decision: Option<ReviewReport>,
}

impl ReviewedTexts {
    pub(crate) fn add_problems<'p>(&mut self, problems: impl IntoIterator<Item = &'p Problem>) {
        let problems = problems.into_iter().map(PlainFinding::from);
        self.problems.extend(problems);
    }
}

impl ReviewTexts {
    /// A text that is none of a list.
    pub(crate) fn make_text(name: &str, text: Option<&String>) -> Option<TextFile> {
        text.map(|text| TextFile {
            path: name.to_owned(),
            text: text.clone(),
        })
    }
}
