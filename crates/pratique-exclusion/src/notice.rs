//! The log line of an API server for webhook configurations whose rules name resources that webhooks do not intercept.

use k8s_openapi::api::admissionregistration::v1::RuleWithOperations;
use pratique_types::GroupResource;

use crate::virtual_resources::{group_resource, is_virtual};

/// The log line.
pub const NOTICE: &str = "Admission webhook configuration names resources that are excluded from admission webhooks; \
                          the matching rules will have no effect";

/// A configuration to log [`NOTICE`] of, with the line's keys as fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// `kind`: `ValidatingWebhookConfiguration` or `MutatingWebhookConfiguration`.
    pub kind: &'static str,
    /// `name`
    pub name: String,
    /// `excludedResources`: `tokenreviews.authentication.k8s.io` and the like, sorted, each once.
    pub excluded_resources: Vec<String>,
}

impl Notice {
    /// The notice for a configuration, given the rules of all its webhooks; none if they name no such resources.
    pub fn for_rules<'r>(
        kind: &'static str,
        name: &str,
        rules: impl IntoIterator<Item = &'r RuleWithOperations>,
    ) -> Option<Self> {
        let excluded = rules.into_iter().flat_map(|rule| {
            let names = |list: &'r Option<Vec<String>>| -> Vec<&'r str> {
                list.iter().flatten().map(String::as_str).collect()
            };
            excluded_by(&names(&rule.api_groups), &names(&rule.resources))
        });
        let mut excluded_resources: Vec<String> = excluded.map(|excluded| excluded.to_string()).collect();
        excluded_resources.sort();
        excluded_resources.dedup();
        (!excluded_resources.is_empty()).then(|| Notice {
            kind,
            name: name.to_owned(),
            excluded_resources,
        })
    }
}

/// The virtual resources that a rule names by its API groups and resources, in the rule's order, each once.
///
/// A rule with `*` in either names none, since what it intends for them is not known. Versions do not matter.
// Upstream: pkg/apis/admissionregistration/validation/warnings.go, excludedResourcesNamedByRule
pub fn excluded_by(groups: &[&str], resources: &[&str]) -> Vec<GroupResource> {
    let mut named = Vec::new();
    if groups.iter().chain(resources).any(|name| *name == "*") {
        return named;
    }
    for group in groups {
        for resource in resources.iter().filter(|resource| is_virtual(group, resource)) {
            let resource = group_resource((group, resource));
            if !named.contains(&resource) {
                named.push(resource);
            }
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rules: &str, expected: &[&str]) {
        let rules: Vec<RuleWithOperations> = serde_json::from_str(rules).unwrap();
        let notice = Notice::for_rules("ValidatingWebhookConfiguration", "w", &rules);
        let named = notice.map(|notice| notice.excluded_resources).unwrap_or_default();
        assert_eq!(named, expected);
    }

    #[test]
    fn only_what_is_named_counts() {
        check(
            r#"[{"apiGroups":["authorization.k8s.io","authentication.k8s.io",""],"resources":["tokenreviews","pods"]},
                {"apiGroups":["authorization.k8s.io"],"apiVersions":["v9"],"resources":["subjectaccessreviews"]},
                {"apiGroups":["authentication.k8s.io"],"resources":["tokenreviews"]}]"#,
            &[
                "subjectaccessreviews.authorization.k8s.io",
                "tokenreviews.authentication.k8s.io",
            ],
        );
        check(r#"[{"apiGroups":["*"],"resources":["tokenreviews"]}]"#, &[]);
        check(
            r#"[{"apiGroups":["authentication.k8s.io"],"resources":["tokenreviews","*"]}]"#,
            &[],
        );
        check(
            r#"[{"apiGroups":["authentication.k8s.io"],"resources":["tokenreviews/*"]}]"#,
            &[],
        );
    }
}
