//! What a node may do beyond what its pods need.

use pratique_plugin::{Access, AccessAnswer, MissingState, Rejection};

use super::NodeRequest;

/// The answer to an authorization check of a node.
pub(super) enum NodePermission {
    Granted,
    Refused,
    /// The check failed with this error, and nothing allows it.
    Failed(String),
}

impl<'a> NodeRequest<'a> {
    /// Asks whether the node may do something with a resource, which need not exist, in the name of a service account.
    ///
    /// # Errors
    /// The answer is not there.
    // Upstream: plugin/pkg/admission/noderestriction/admission.go, buildAuthorizerAttributes
    pub(super) fn ask(&self, verb: &str, resource: &str, account: &str) -> Result<NodePermission, Rejection> {
        let request = self.attributes.request;
        let access = Access {
            user: &request.user_info,
            verb,
            group: &request.resource.group,
            version: &request.resource.version,
            resource,
            subresource: "",
            namespace: &request.namespace,
            name: account,
        };
        match self.context.access.review(&access) {
            AccessAnswer::Allowed => Ok(NodePermission::Granted),
            AccessAnswer::Denied { .. } => Ok(NodePermission::Refused),
            AccessAnswer::Failed { error, .. } => Ok(NodePermission::Failed(error)),
            AccessAnswer::Pending => Err(Rejection::Pending),
            AccessAnswer::Unknown => Err(MissingState::Access(Box::new(access.question())).into()),
        }
    }
}
