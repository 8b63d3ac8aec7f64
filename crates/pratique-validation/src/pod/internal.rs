//! Parts of Pods as the JSON of their internal types.

use pratique_json::Value;
use pratique_schema::Release;
use pratique_types::field::BadValue;

use crate::internal::internal_json;

pub(super) fn security_context_json<'a>(release: &Release, context: &Value<'_>) -> BadValue<'a> {
    internal_json(release, "core.SecurityContext", context)
}

pub(super) fn seccomp_profile_json<'a>(release: &Release, profile: &Value<'_>) -> BadValue<'a> {
    internal_json(release, "core.SeccompProfile", profile)
}

pub(super) fn cluster_trust_bundle_json<'a>(release: &Release, bundle: &Value<'_>) -> BadValue<'a> {
    internal_json(release, "core.ClusterTrustBundleProjection", bundle)
}
