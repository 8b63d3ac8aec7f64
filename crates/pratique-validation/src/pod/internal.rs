//! Parts of Pods as the JSON of their internal types.

use pratique_json::Value;
use pratique_types::field::BadValue;

use crate::internal::internal_json;

pub(super) fn security_context_json<'a>(context: &Value<'_>) -> BadValue<'a> {
    internal_json("core.SecurityContext", context)
}

pub(super) fn seccomp_profile_json<'a>(profile: &Value<'_>) -> BadValue<'a> {
    internal_json("core.SeccompProfile", profile)
}

pub(super) fn cluster_trust_bundle_json<'a>(bundle: &Value<'_>) -> BadValue<'a> {
    internal_json("core.ClusterTrustBundleProjection", bundle)
}
