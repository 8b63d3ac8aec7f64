//! Why other plugins are not offered.

use pratique_types::admission_plugins::BuiltIn;

/// Why a webhook does not stand in for a plugin. Of one that not all releases have, it says which servers run it.
pub(super) fn reason(plugin: &BuiltIn) -> String {
    let reason = match plugin.name {
        "ResourceQuota" => {
            "what it books must be exact, and a webhook does not learn whether a request that it saw is stored"
        }
        "NamespaceAutoProvision" => "it creates namespaces, and a webhook must not change the cluster",
        "NamespaceLifecycle" | "NamespaceExists" => {
            "every API server runs NamespaceLifecycle, and a namespace that goes just now must not be missed"
        }
        "MutatingAdmissionPolicy" | "ValidatingAdmissionPolicy" => {
            "policies are evaluated without naming it: give them by --policies, --manifests or --follow"
        }
        "MutatingAdmissionWebhook" | "ValidatingAdmissionWebhook" => {
            "webhooks are called without naming it: give them by --policies, --manifests or --follow"
        }
        "ServiceAccount" => {
            "every API server runs it; the tokens that it mounts must be there before other plugins see the Pod"
        }
        "LimitRanger" | "Priority" | "RuntimeClass" | "DefaultTolerationSeconds" => {
            "every API server runs it, and what it fills in must be there before other plugins see the Pod"
        }
        "NodeRestriction" => {
            "it belongs to the node authorizer, and the requests of nodes must not depend on a webhook on a node"
        }
        "AlwaysAdmit" => "it allows everything, which needs no webhook",
        "AlwaysDeny" => "it refuses everything, also what would turn it off",
        _ if plugin.by_default => {
            let servers = plugin.releases().map(|releases| format!(" {releases}"));
            return format!(
                "every API server{} runs it by itself, on a managed control plane as well, and a second time changes nothing",
                servers.unwrap_or_default()
            );
        }
        _ => "a webhook cannot do what it does",
    };
    reason.to_owned()
}
