//! Webhooks and policies whose rules name versions that the new release does not serve.

use std::collections::BTreeSet;

use pratique_json::Value;
use pratique_manifest::Kind;
use pratique_schema::Release;
use pratique_types::builtin::ServedResource;
use pratique_types::{ADMISSION_GROUP, GroupVersionKind, GroupVersionResource};

use super::finding::{UpgradeFinding, UpgradeRule};
use super::webhooks::{has_value, is_webhook_configuration, list};

/// A finding for each webhook of a configuration, and for a policy, that does not see a resource any more because its rules name
/// no version of it that the new release serves. Requests for other versions are matched as equivalent only to versions that are
/// served.
// Upstream: apiserver/pkg/admission/plugin/webhook/generic/webhook.go, ShouldCallHook, and plugin/policy/matching/matching.go
pub(super) fn unmatched_rules(
    kind: &GroupVersionKind,
    object: &Value<'_>,
    releases: [&'static Release; 2],
) -> Vec<UpgradeFinding> {
    let name_of = |value: &Value<'_>| {
        value
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let is_policy = kind.group == ADMISSION_GROUP && Kind::from_name(&kind.kind).is_some_and(Kind::is_policy);
    if is_webhook_configuration(kind) {
        let webhooks = list(object, "webhooks").iter();
        let findings = webhooks.filter_map(|webhook| {
            let seen_by = SeenBy {
                what: "webhook",
                name: name_of(webhook),
                rules: list(webhook, "rules"),
            };
            seen_by.finding(releases)
        });
        findings.collect()
    } else if is_policy {
        let constraints = object.at(&["spec", "matchConstraints"]);
        let rules = constraints.map(|constraints| list(constraints, "resourceRules"));
        let seen_by = SeenBy {
            what: "policy",
            name: object.get("metadata").map(name_of).unwrap_or_default(),
            rules: rules.unwrap_or_default(),
        };
        seen_by.finding(releases).into_iter().collect()
    } else {
        Vec::new()
    }
}

/// What sees requests by its rules.
struct SeenBy<'v> {
    what: &'static str,
    name: String,
    rules: &'v [Value<'v>],
}

impl SeenBy<'_> {
    fn finding(&self, [old, new]: [&'static Release; 2]) -> Option<UpgradeFinding> {
        let (mut lost, mut named, mut served) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for resource in resources(old).filter(|resource| self.sees(resource)) {
            let is_same = |other: &&ServedResource| {
                (
                    &other.resource.group,
                    &other.resource.resource,
                    &other.subresource,
                ) == (
                    &resource.resource.group,
                    &resource.resource.resource,
                    &resource.subresource,
                )
            };
            // The versions that every server has come first.
            let Some(first) = resources(new).find(is_same) else {
                continue;
            };
            if resources(new).filter(is_same).any(|other| self.sees(other)) {
                continue;
            }
            lost.insert(format!(
                "{}.{}",
                resource.resource.resource, resource.resource.group
            ));
            named.insert(version_of(resource));
            served.insert(version_of(first));
        }
        if lost.is_empty() {
            return None;
        }
        let join = |texts: BTreeSet<String>| texts.into_iter().collect::<Vec<_>>().join(", ");
        let message = format!(
            "{} {} does not see {} any more where its rules match it now: they name {}, which Kubernetes {new} does not serve, and \
             not {}",
            self.what,
            self.name,
            join(lost),
            join(named),
            join(served)
        );
        Some(UpgradeRule::UnmatchedRule.about(self.name.as_str(), message))
    }

    fn sees(&self, served: &ServedResource) -> bool {
        self.rules.iter().any(|rule| names(rule, served))
    }
}

/// Whether a rule names a resource, in its version.
// Upstream: apiserver/pkg/admission/plugin/webhook/predicates/rules/rules.go, Matcher
fn names(rule: &Value<'_>, served: &ServedResource) -> bool {
    let resource = &served.resource;
    let mut patterns = list(rule, "resources").iter().filter_map(Value::as_str);
    let has_resource = patterns.any(|pattern| {
        let (named, part) = pattern.split_once('/').unwrap_or((pattern, ""));
        (named == "*" || named == resource.resource) && (part == "*" || part == served.subresource)
    });
    has_value(rule, "apiGroups", &resource.group)
        && has_value(rule, "apiVersions", &resource.version)
        && has_resource
}

/// The resources of a release, those that its servers serve by default first.
fn resources(release: &'static Release) -> impl Iterator<Item = &'static ServedResource> {
    let resources = release.resources();
    resources.served().iter().chain(resources.optional())
}

/// `networking.k8s.io/v1`
fn version_of(served: &ServedResource) -> String {
    let GroupVersionResource { group, version, .. } = &served.resource;
    match group.as_str() {
        "" => version.clone(),
        group => format!("{group}/{version}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(kind: &str, object: &str, releases: [&str; 2]) -> Vec<String> {
        let kind = GroupVersionKind::new(ADMISSION_GROUP, "v1", kind);
        let object = pratique_json::parse(object.as_bytes()).unwrap();
        let releases = releases.map(|version| Release::by_version(version).unwrap());
        let findings = unmatched_rules(&kind, &object, releases).into_iter();
        findings.map(|finding| finding.message).collect()
    }

    fn webhook(rule: &str) -> String {
        format!(r#"{{"webhooks":[{{"name":"w","rules":[{rule}]}}]}}"#)
    }

    const BETA: &str = r#"{"operations":["CREATE"],"apiGroups":["networking.k8s.io"],"apiVersions":["v1beta1"],
        "resources":["servicecidrs","ipaddresses"]}"#;

    #[test]
    fn versions_that_are_gone_match_nothing() {
        assert_eq!(
            found("ValidatingWebhookConfiguration", &webhook(BETA), ["1.36", "1.37"]),
            [
                "webhook w does not see ipaddresses.networking.k8s.io, servicecidrs.networking.k8s.io any more where its rules match \
                 it now: they name networking.k8s.io/v1beta1, which Kubernetes 1.37 does not serve, and not networking.k8s.io/v1"
            ]
        );
        let policy = format!(
            r#"{{"metadata":{{"name":"p"}},"spec":{{"matchConstraints":{{"resourceRules":[{BETA}]}}}}}}"#
        );
        let policy = found("ValidatingAdmissionPolicy", &policy, ["1.36", "1.37"]);
        assert!(
            policy
                .iter()
                .all(|text| text.starts_with("policy p does not see ")),
            "{policy:?}"
        );
        assert_eq!(policy.len(), 1);
    }

    #[test]
    fn rules_that_name_a_version_which_is_served_match_it() {
        for rule in [
            &BETA.replace(r#""v1beta1""#, r#""v1","v1beta1""#),
            &BETA.replace("v1beta1", "*"),
            &BETA.replace("networking.k8s.io", "example.com"),
        ] {
            let texts = found("MutatingWebhookConfiguration", &webhook(rule), ["1.36", "1.37"]);
            assert_eq!(texts, [""; 0], "{rule}");
        }
        let webhook = webhook(BETA);
        assert_eq!(
            found("MutatingWebhookConfiguration", &webhook, ["1.35", "1.36"]),
            [""; 0]
        );
        assert_eq!(found("ConfigMap", &webhook, ["1.36", "1.37"]), [""; 0]);
    }
}
