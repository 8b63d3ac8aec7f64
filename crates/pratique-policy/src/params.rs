//! The params of a binding.

use k8s_openapi::api::admissionregistration::v1 as api;
use pratique_core::{Cluster, ParamScope};
use pratique_expression::MissingDependency;
use pratique_json::Value;
use pratique_match::{InvalidSelector, Selector, labels_of};
use pratique_types::GroupVersionKind;

use crate::cause::DenialCause;
use crate::unmatched_reason::UnmatchedReason;

/// A compiled `paramRef`.
#[derive(Debug, PartialEq)]
pub(crate) struct ParamRef {
    name: String,
    namespace: String,
    selector: Option<Result<Selector, InvalidSelector>>,
    deny_when_missing: bool,
}

/// Why there are no params to evaluate with; its text is an API server's message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ParamError {
    #[error("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")]
    NoNamespace,
    /// The kind is shown as Go shows the field.
    #[error(
        "paramKind kind `&ParamKind{{APIVersion:{},Kind:{},}}` not yet synced to use for admission",
        .0.api_version(),
        .0.kind
    )]
    NotSynced(GroupVersionKind),
    #[error("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")]
    NamespaceOfCluster,
    #[error("paramRef.name and paramRef.selector are mutually exclusive")]
    NameAndSelector,
    #[error("one of name or selector must be provided")]
    NeitherNameNorSelector,
    #[error(transparent)]
    Selector(#[from] InvalidSelector),
    #[error("no params found for policy binding with `Deny` parameterNotFoundAction")]
    NotFound,
    /// They may be there.
    #[error("{0}")]
    Unknown(MissingDependency),
    #[error("params are still to be looked up")]
    Pending,
}

impl From<ParamError> for UnmatchedReason {
    fn from(error: ParamError) -> Self {
        match error {
            ParamError::Unknown(missing) => UnmatchedReason::Undecided(Box::new(missing)),
            ParamError::Pending => UnmatchedReason::Pending,
            // The binding configures that denial.
            ParamError::NotFound => UnmatchedReason::Error {
                message: error.to_string(),
                cause: DenialCause::Rule,
            },
            error => UnmatchedReason::failed(error.to_string()),
        }
    }
}

impl ParamRef {
    pub(crate) fn compile(param_ref: &api::ParamRef) -> Self {
        ParamRef {
            name: param_ref.name.clone().unwrap_or_default(),
            namespace: param_ref.namespace.clone().unwrap_or_default(),
            selector: param_ref.selector.as_ref().map(Selector::compile),
            deny_when_missing: param_ref.parameter_not_found_action.as_deref() == Some("Deny"),
        }
    }

    /// The params for a request in `namespace`. Where none are found and none are required, the list is empty: the
    /// binding then does nothing.
    pub(crate) fn find<'c>(
        &self,
        kind: &GroupVersionKind,
        scope: ParamScope,
        namespace: &str,
        cluster: &'c dyn Cluster,
    ) -> Result<Vec<&'c Value<'c>>, ParamError> {
        let params_namespace = self.namespace_of_params(scope, namespace);
        // Upstream: admission/plugin/policy/generic/policy_dispatcher.go, CollectParams
        let namespace = match params_namespace {
            Err(ParamError::NoNamespace) => params_namespace?,
            _ if !cluster.params_synced(kind) => return Err(ParamError::NotSynced(kind.clone())),
            params_namespace => params_namespace?,
        };
        let objects = match (&self.selector, self.name.as_str()) {
            (Some(_), name) if !name.is_empty() => return Err(ParamError::NameAndSelector),
            (None, "") => return Err(ParamError::NeitherNameNorSelector),
            _ if cluster.params_pending(kind, namespace) => return Err(ParamError::Pending),
            (None, name) => cluster.param(kind, namespace, name).into_iter().collect(),
            (Some(selector), _) => {
                let selector = selector.as_ref().map_err(Clone::clone)?;
                let mut params = cluster.params(kind, namespace);
                params.retain(|param| labels_of(kind, param).is_some_and(|labels| selector.matches(labels)));
                params
            }
        };
        // A param that is selected by its name is found or not.
        let whole = !objects.is_empty() && self.selector.is_none();
        if !whole && !cluster.knows_params(kind) {
            return Err(ParamError::Unknown(MissingDependency::Params {
                kind: kind.to_string(),
                namespace: namespace.to_owned(),
                name: (!self.name.is_empty()).then(|| self.name.clone()),
            }));
        }
        if objects.is_empty() && self.deny_when_missing {
            return Err(ParamError::NotFound);
        }
        Ok(objects)
    }

    fn namespace_of_params<'a>(
        &'a self,
        scope: ParamScope,
        of_request: &'a str,
    ) -> Result<&'a str, ParamError> {
        match (scope, self.namespace.as_str(), of_request) {
            (ParamScope::Cluster, "", _) => Ok(""),
            (ParamScope::Cluster, ..) => Err(ParamError::NamespaceOfCluster),
            (ParamScope::Namespaced, "", "") => Err(ParamError::NoNamespace),
            (ParamScope::Namespaced, "", of_request) => Ok(of_request),
            (ParamScope::Namespaced, namespace, _) => Ok(namespace),
        }
    }
}
