//! The checks of an API server's registry for the configuration of admission.

use pratique_json::Value;
use pratique_schema::FeatureGates;
use pratique_types::{GroupVersionKind, Operation, Status};

use crate::configuration::is_configuration;
use crate::notice::excluded_by;
use crate::reserved_names::ReservedResponse;

/// Checks a policy, a binding or a webhook configuration as an API server's registry does, after mutating and before
/// validating admission; gives what it warns of, in order. Other kinds pass.
///
/// Names that are reserved for static manifests are refused on CREATE, or warned of where the gate is off, and on
/// UPDATE. Webhooks whose rules name resources that webhooks do not see are warned of, unless that gate is off.
///
/// # Errors
/// The status with which the request is refused.
// Upstream: pkg/registry/admissionregistration/*/strategy.go, WarningsOnCreate and WarningsOnUpdate
pub fn registry_check(
    operation: Operation,
    kind: &GroupVersionKind,
    object: &Value<'_>,
    gates: FeatureGates,
) -> Result<Vec<String>, Box<Status>> {
    let mut warnings = Vec::new();
    if !is_configuration(kind) || !matches!(operation, Operation::Create | Operation::Update) {
        return Ok(warnings);
    }
    let name = object.at(&["metadata", "name"]).and_then(Value::as_str);
    let reserved =
        || ReservedResponse::find(operation, kind, name.unwrap_or_default(), gates.reads_manifests());
    // Upstream: pkg/apis/admissionregistration/validation/static_suffix.go: since 1.36, with static manifests.
    match gates.release().at_least(1, 36).then(reserved).flatten() {
        Some(ReservedResponse::Refused(status)) => return Err(status),
        Some(ReservedResponse::Warned(warning)) => warnings.push(warning),
        None => {}
    }
    if gates.excludes_virtual_resources() {
        warnings.extend(rules_without_effect(object));
    }
    Ok(warnings)
}

/// A warning for each virtual resource that a rule of a webhook names. Policies have no `webhooks`.
fn rules_without_effect<'o>(object: &'o Value<'_>) -> impl Iterator<Item = String> + 'o {
    let webhooks = list(object, "webhooks").iter().enumerate();
    let rules = webhooks.flat_map(|(webhook, value)| {
        let rules = list(value, "rules").iter().enumerate();
        rules.map(move |(rule, value)| (webhook, rule, value))
    });
    rules.flat_map(|(webhook, rule, value)| {
        let names = |key| -> Vec<&str> { list(value, key).iter().filter_map(Value::as_str).collect() };
        let excluded = excluded_by(&names("apiGroups"), &names("resources"));
        excluded.into_iter().map(move |resource| {
            format!(
                "webhooks[{webhook}].rules[{rule}]: {resource} is excluded from admission webhooks; this rule will \
                 have no effect"
            )
        })
    })
}

fn list<'v>(value: &'v Value<'v>, key: &str) -> &'v [Value<'v>] {
    value.get(key).and_then(Value::as_array).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use pratique_schema::Release;

    use super::*;

    #[track_caller]
    fn check(operation: Operation, object: &str, gates: FeatureGates, expected: Result<&[&str], i32>) {
        let object = pratique_json::parse(object.as_bytes()).unwrap();
        let kind = object.get("kind").and_then(Value::as_str).unwrap();
        let kind = GroupVersionKind::new("admissionregistration.k8s.io", "v1", kind);
        let found = registry_check(operation, &kind, &object, gates).map_err(|status| status.code);
        let expected = expected.map(|warnings| warnings.iter().map(|text| (*text).to_owned()).collect());
        assert_eq!(found, expected);
    }

    const HOOKS: &str = r#"{"kind":"MutatingWebhookConfiguration","metadata":{"name":"w.static.k8s.io"},"webhooks":[
        {"rules":[{"apiGroups":[""],"resources":["pods"]}]},
        {"rules":[{"apiGroups":["*"],"resources":["tokenreviews"]},
                  {"apiGroups":["authentication.k8s.io","authentication.k8s.io"],"resources":["pods","tokenreviews"]}]}]}"#;
    const NAME: &str = "metadata.name: names ending with \".static.k8s.io\" are reserved for static manifest-based \
                        configurations and cannot be managed via the API";
    const RULE: &str = "webhooks[1].rules[1]: tokenreviews.authentication.k8s.io is excluded from admission webhooks; \
                        this rule will have no effect";

    #[test]
    fn names_and_rules_are_checked() {
        let on = FeatureGates::default();
        let off = on.with("ManifestBasedAdmissionControlConfig", false);
        check(Operation::Create, HOOKS, on, Err(422));
        check(Operation::Create, HOOKS, off, Ok(&[NAME, RULE]));
        check(Operation::Update, HOOKS, on, Ok(&[NAME, RULE]));
        check(Operation::Delete, HOOKS, on, Ok(&[]));
        let seen = on.with("ExcludeAdmissionWebhookVirtualResources", false);
        check(Operation::Update, HOOKS, seen, Ok(&[NAME]));
    }

    #[test]
    fn names_are_reserved_since_static_manifests() {
        for (version, expected) in [("1.35", Ok(&[] as &[&str])), ("1.36", Ok(&[NAME] as &[&str]))] {
            let gates = FeatureGates::new(Release::by_version(version).unwrap())
                .with("ManifestBasedAdmissionControlConfig", false)
                .with("ExcludeAdmissionWebhookVirtualResources", false);
            check(Operation::Create, HOOKS, gates, expected);
        }
    }

    #[test]
    fn other_kinds_pass() {
        check(
            Operation::Create,
            &HOOKS.replace("MutatingWebhookConfiguration", "Pod"),
            FeatureGates::default(),
            Ok(&[]),
        );
        check(
            Operation::Create,
            r#"{"kind":"ValidatingAdmissionPolicy","metadata":null,"webhooks":7}"#,
            FeatureGates::default(),
            Ok(&[]),
        );
    }
}
