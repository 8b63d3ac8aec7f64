//! Whether a user may do something in the name of a signer.

use pratique_plugin::{Access, AccessAnswer, MissingState, PluginContext, Rejection};
use pratique_types::UserInfo;

use super::CERTIFICATES;

/// Whether a user may `approve`, `sign` or `attest` for a signer: by its name, or for all of its domain.
// Upstream: pkg/certauthorization/certauthorization.go, IsAuthorizedForSignerName
pub(super) fn is_authorized(
    context: &PluginContext<'_>,
    user: &UserInfo,
    verb: &str,
    signer: &str,
) -> Result<bool, Rejection> {
    let domain = signer.split('/').next().unwrap_or_default();
    let all = format!("{domain}/*");
    Ok(is_allowed(context, user, verb, signer)? || is_allowed(context, user, verb, &all)?)
}

fn is_allowed(
    context: &PluginContext<'_>,
    user: &UserInfo,
    verb: &str,
    name: &str,
) -> Result<bool, Rejection> {
    let access = Access {
        user,
        verb,
        group: CERTIFICATES,
        version: "*",
        resource: "signers",
        subresource: "",
        namespace: "",
        name,
    };
    match context.access.review(&access) {
        AccessAnswer::Allowed => Ok(true),
        AccessAnswer::Denied { .. } | AccessAnswer::Failed { .. } => Ok(false),
        AccessAnswer::Pending => Err(Rejection::Pending),
        AccessAnswer::Unknown => Err(MissingState::Access(Box::new(access.question())).into()),
    }
}
