//! What manifests may expect of `pratique serve`.

/// Paths that tell how the server is.
pub(super) const HEALTH: [&str; 2] = ["/livez", "/readyz"];

/// The path of metrics.
pub(super) const METRICS: &str = "/metrics";

/// The paths that the webhooks of a kind of configuration may be sent to.
pub(super) fn reviews(kind: &str) -> &'static [&'static str] {
    match kind {
        "MutatingWebhookConfiguration" => &["/mutate", "/admit"],
        _ => &["/validate"],
    }
}

/// Flags whose values are files that have to be mounted.
pub(super) const FILES: [&str; 3] = [
    "--admission-control-config-file",
    "--tls-cert-file",
    "--tls-private-key-file",
];

/// The flag that has it ask the cluster, as its service account.
pub(super) const CLUSTER: &str = "--cluster";

/// The flag that has it run admission plugins.
pub(super) const PLUGINS: &str = "--plugins=";

/// Plugins that look something up in the cluster.
pub(super) const LOOKING_UP: [&str; 4] = [
    "OwnerReferencesPermissionEnforcement",
    "PodNodeSelector",
    "PodSecurity",
    "PodTolerationRestriction",
];
