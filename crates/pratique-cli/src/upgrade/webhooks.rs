//! Webhooks that do not see the reviews of users and permissions any more.

use pratique_exclusion::VIRTUAL_RESOURCES;
use pratique_json::Value;
use pratique_schema::FeatureGates;
use pratique_types::{ADMISSION_GROUP, GroupVersionKind};

use super::finding::{UpgradeFinding, UpgradeRule};

/// Whether objects of a kind configure webhooks.
pub(super) fn is_webhook_configuration(kind: &GroupVersionKind) -> bool {
    let kinds = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];
    kind.group == ADMISSION_GROUP && kinds.contains(&kind.kind.as_str())
}

/// A finding for each webhook of a configuration that sees such reviews before an upgrade, and not after it.
pub(super) fn excluded(
    configuration: &Value<'_>,
    old: FeatureGates,
    new: FeatureGates,
) -> Vec<UpgradeFinding> {
    if old.excludes_virtual_resources() || !new.excludes_virtual_resources() {
        return Vec::new();
    }
    let webhooks = list(configuration, "webhooks").iter();
    let findings = webhooks.filter_map(|webhook| {
        let rules = || list(webhook, "rules").iter();
        let seen = VIRTUAL_RESOURCES
            .iter()
            .filter(|(group, resource)| rules().any(|rule| sees(rule, group, resource)));
        let seen: Vec<String> = seen
            .map(|(group, resource)| format!("{resource}.{group}"))
            .collect();
        let name = webhook.get("name").and_then(Value::as_str).unwrap_or_default();
        let release = new.release();
        (!seen.is_empty()).then(|| {
            let message = format!(
                "webhook {name} sees {} now: Kubernetes {release} excludes them from admission webhooks",
                seen.join(", ")
            );
            UpgradeRule::ExcludedWebhook.about(name, message)
        })
    });
    findings.collect()
}

/// Whether a rule matches the creation of a resource.
// Upstream: apiserver/pkg/admission/plugin/webhook/predicates/rules/rules.go, Matcher
fn sees(rule: &Value<'_>, group: &str, resource: &str) -> bool {
    let has_resource = list(rule, "resources")
        .iter()
        .filter_map(Value::as_str)
        .any(|named| {
            let (named, part) = named.split_once('/').unwrap_or((named, ""));
            (named == "*" || named == resource) && (part.is_empty() || part == "*")
        });
    // All but this one are cluster-scoped.
    let scope = if resource == "localsubjectaccessreviews" {
        "Namespaced"
    } else {
        "Cluster"
    };
    let has_scope = match rule.get("scope").and_then(Value::as_str) {
        None | Some("*") => true,
        Some(named) => named == scope,
    };
    has_value(rule, "operations", "CREATE")
        && has_value(rule, "apiGroups", group)
        && has_resource
        && has_scope
}

/// Whether a member of a rule names a value, or all.
pub(super) fn has_value(rule: &Value<'_>, member: &str, value: &str) -> bool {
    let mut named = list(rule, member).iter().filter_map(Value::as_str);
    named.any(|named| named == "*" || named == value)
}

/// The elements of a list; none where there is no such list.
pub(super) fn list<'v>(value: &'v Value<'v>, key: &str) -> &'v [Value<'v>] {
    value.get(key).and_then(Value::as_array).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use pratique_schema::Release;

    use super::*;

    fn found(rule: &str, old: &str, new: &str) -> Vec<String> {
        let text = format!(r#"{{"webhooks":[{{"name":"w","rules":[{rule}]}}]}}"#);
        let configuration = pratique_json::parse(text.as_bytes()).unwrap();
        let gates = |version: &str| FeatureGates::new(Release::by_version(version).unwrap());
        let findings = excluded(&configuration, gates(old), gates(new)).into_iter();
        findings.map(|finding| finding.message).collect()
    }

    #[test]
    fn webhooks_that_see_reviews_do_not_any_more() {
        let named =
            r#"{"operations":["CREATE"],"apiGroups":["authentication.k8s.io"],"resources":["tokenreviews"]}"#;
        assert_eq!(
            found(named, "1.36", "1.37"),
            [
                "webhook w sees tokenreviews.authentication.k8s.io now: Kubernetes 1.37 excludes them from admission webhooks"
            ]
        );
        assert_eq!(found(named, "1.37", "1.37"), [""; 0]);
        assert_eq!(found(named, "1.37", "1.36"), [""; 0]);
        let all = r#"{"operations":["*"],"apiGroups":["*"],"resources":["*/*"],"scope":"Namespaced"}"#;
        assert_eq!(
            found(all, "1.36", "1.37"),
            [
                "webhook w sees localsubjectaccessreviews.authorization.k8s.io now: Kubernetes 1.37 excludes them from admission \
                 webhooks"
            ]
        );
        for other in [
            r#"{"operations":["UPDATE"],"apiGroups":["*"],"resources":["*"]}"#,
            r#"{"operations":["*"],"apiGroups":["apps"],"resources":["*"]}"#,
            r#"{"operations":["*"],"apiGroups":["*"],"resources":["tokenreviews/status"]}"#,
        ] {
            assert_eq!(found(other, "1.36", "1.37"), [""; 0], "{other}");
        }
    }
}
