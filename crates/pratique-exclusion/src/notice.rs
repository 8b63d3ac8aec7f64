//! What an API server logs of webhook configurations whose rules name what webhooks never see.

use k8s_openapi::api::admissionregistration::v1::RuleWithOperations;

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
    /// What to log of a configuration, given the rules of all its webhooks; `None` where nothing is to be logged.
    pub fn of<'r>(
        kind: &'static str,
        name: &str,
        rules: impl IntoIterator<Item = &'r RuleWithOperations>,
    ) -> Option<Self> {
        let mut excluded_resources: Vec<String> = rules.into_iter().flat_map(excluded_by).collect();
        excluded_resources.sort();
        excluded_resources.dedup();
        (!excluded_resources.is_empty()).then(|| Notice {
            kind,
            name: name.to_owned(),
            excluded_resources,
        })
    }
}

/// The virtual resources that a rule names. One with `*` for groups or resources does not: who knows what it means.
/// Versions do not matter.
pub fn excluded_by(rule: &RuleWithOperations) -> Vec<String> {
    let groups = rule.api_groups.as_deref().unwrap_or_default();
    let resources = rule.resources.as_deref().unwrap_or_default();
    if groups.iter().chain(resources).any(|name| name == "*") {
        return Vec::new();
    }
    let named = groups.iter().flat_map(|group| {
        resources
            .iter()
            .map(move |resource| (group.as_str(), resource.as_str()))
    });
    named
        .filter(|(group, resource)| is_virtual(group, resource))
        .map(|named| group_resource(named).to_string())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rules: &str, expected: &[&str]) {
        let rules: Vec<RuleWithOperations> = serde_json::from_str(rules).unwrap();
        let notice = Notice::of("ValidatingWebhookConfiguration", "w", &rules);
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
