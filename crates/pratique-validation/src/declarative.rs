//! Declarative rules: those that the API's types state in comments, as far as a server enforces them.
//!
//! They are a [table], made of the functions that Kubernetes generates from the comments, with one
//! [interpreter]. A server applies them to the object in the version of the request, after the rules that are written by
//! hand, of which they [replace](coverage) some.
// Upstream: k8s.io/api, +k8s: tags; apiserver/pkg/registry/rest/validate.go, ValidateDeclarativelyWithMigrationChecks

mod coverage;
mod custom_rules;
mod formats;
mod image_reference;
mod interpreter;
mod matching;
mod table;
mod typed_values;

use pratique_json::Value;
use pratique_types::GroupVersionKind;
use pratique_types::field::Error;

pub(crate) use coverage::CoveredError;
pub(crate) use formats::long_name;

use crate::errors::Errors;
use crate::node::Node;

/// An error of a declarative rule.
#[derive(Debug)]
struct DeclarativeError {
    error: Error,
    /// What kind of rule found it; empty for those that are told apart by the error's kind alone.
    origin: &'static str,
    /// Whether it replaces that of a rule by hand.
    is_beta: bool,
}

/// The groups of servers that are libraries of their own, whose strategies know no declarative rules.
const WITHOUT_RULES: [&str; 2] = ["apiextensions.k8s.io", "apiregistration.k8s.io"];

/// Adds the errors of an object's declarative rules; `old` is `null` where the object is new. With them, a server drops
/// handwritten errors that are there twice.
pub(crate) fn validate_declaratively(
    kind: &GroupVersionKind,
    subresource: &str,
    object: &Value<'_>,
    old: &Value<'_>,
    errors: &mut Errors,
) {
    if WITHOUT_RULES.contains(&kind.group.as_str()) {
        return;
    }
    let table = table::RuleTable::of_release(errors.release());
    let rules = table.kind(kind, subresource);
    // Upstream: apiserver/pkg/registry/rest/validate.go: before 1.37, only kinds that say so have their declarative rules enforced.
    if rules.is_some() || errors.release().at_least(1, 37) {
        errors.remove_duplicates();
    }
    let Some(rules) = rules else {
        return;
    };
    let old = Some(old).filter(|old| !old.is_null());
    apply_rules(table, rules, &Node::root(object), old, errors);
}

/// Adds the errors of the declarative rules of metadata, of kinds whose strategies know no others.
// Upstream: apimachinery/pkg/api/validation/objectmeta.go, ValidateObjectMetaDeclaratively
pub(crate) fn apply_meta_rules(metadata: &Node<'_, '_>, old: Option<&Value<'_>>, errors: &mut Errors) {
    let table = table::RuleTable::of_release(errors.release());
    if let Some(rules) = table.of_type("meta/v1.ObjectMeta") {
        apply_rules(table, rules, metadata, old, errors);
    }
}

fn apply_rules(
    table: &'static table::RuleTable,
    rules: &table::TypeRules,
    node: &Node<'_, '_>,
    old: Option<&Value<'_>>,
    errors: &mut Errors,
) {
    let declarative_errors = interpreter::validate(table, rules, node, old, errors.gates());
    if declarative_errors.is_empty() {
        return;
    }
    coverage::remove_covered(errors, &declarative_errors);
    for declarative in declarative_errors {
        errors.push(declarative.error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn validate(api_version: &str, kind: &str, subresource: &str, object: &str, old: &str) -> Vec<String> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let kind = GroupVersionKind::new(group, version, kind);
        let object = pratique_json::parse(object.as_bytes()).unwrap();
        let old = pratique_json::parse(old.as_bytes()).unwrap();
        let mut errors = Errors::default();
        validate_declaratively(&kind, subresource, &object, &old, &mut errors);
        errors.into_list().iter().map(ToString::to_string).collect()
    }

    #[track_caller]
    fn check_create(api_version: &str, kind: &str, object: &str, expected: &[&str]) {
        assert_eq!(validate(api_version, kind, "", object, "null"), expected);
    }

    #[track_caller]
    fn check_update(api_version: &str, kind: &str, object: &str, old: &str, expected: &[&str]) {
        assert_eq!(validate(api_version, kind, "", object, old), expected);
    }

    #[test]
    fn what_did_not_change_is_not_validated_again() {
        let role = r#"{"rules": [{"verbs": null}]}"#;
        let more = r#"{"rules": [{"verbs": null}, {"verbs": ["get"]}]}"#;
        let kind = ("rbac.authorization.k8s.io/v1", "Role");
        let refused = ["rules[0].verbs: Required value"];
        check_create(kind.0, kind.1, role, &refused);
        check_update(kind.0, kind.1, role, role, &[]);
        // Rules have no key, so that none is known to be an old one.
        check_update(kind.0, kind.1, more, role, &refused);
    }

    #[test]
    fn elements_are_those_with_the_same_key() {
        let slice = |name: &str, more: &str| {
            format!(r#"{{"spec": {{"sharedCounters": [{more}{{"name": "{name}", "counters": {{}}}}]}}}}"#)
        };
        let kind = ("resource.k8s.io/v1", "ResourceSlice");
        let refused = "spec.sharedCounters[0].counters: Required value";
        check_create(kind.0, kind.1, &slice("a", ""), &[refused]);
        let before = r#"{"name": "b", "counters": {"c": {"value": "1"}}}, "#;
        check_update(kind.0, kind.1, &slice("a", before), &slice("a", ""), &[]);
        check_update(kind.0, kind.1, &slice("b", ""), &slice("a", ""), &[refused]);
    }

    #[test]
    fn an_empty_map_is_the_same_as_none() {
        let kind = ("storage.k8s.io/v1", "StorageClass");
        let class = |parameters: &str| format!(r#"{{"provisioner": "x/y"{parameters}}}"#);
        let empty = class(r#", "parameters": {}"#);
        check_update(kind.0, kind.1, &empty, &class(""), &[]);
        check_update(kind.0, kind.1, &class(""), &empty, &[]);
        let other = class(r#", "parameters": {"a": "b"}"#);
        let refused = ["parameters: Invalid value: null: field is immutable"];
        check_update(kind.0, kind.1, &other, &class(""), &refused);
    }

    #[test]
    fn an_empty_struct_is_another_value_than_none() {
        let request = |status: &str| format!(r#"{{"spec": {{"driver": "a"}}{status}}}"#);
        let (new, old) = (request(r#", "status": {}"#), request(""));
        let kind = ("resource.k8s.io/v1alpha3", "ResourcePoolStatusRequest");
        assert_eq!(
            validate(kind.0, kind.1, "status", &new, &old),
            ["status.poolCount: Required value"]
        );
    }

    #[test]
    fn what_is_missing_is_validated_no_further() {
        let class = r#"{"handler": ""}"#;
        check_create(
            "node.k8s.io/v1",
            "RuntimeClass",
            class,
            &["handler: Required value"],
        );
        let changed = r#"{"handler": "b"}"#;
        let immutable = "handler: Invalid value: null: field is immutable";
        check_update("node.k8s.io/v1", "RuntimeClass", changed, class, &[immutable]);
    }

    #[test]
    fn members_depend_on_others() {
        let level = |spec: &str| format!(r#"{{"spec": {spec}}}"#);
        let kind = ("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration");
        check_create(kind.0, kind.1, &level(r#"{"type": "Exempt", "exempt": {}}"#), &[]);
        let limited = level(r#"{"type": "Limited", "exempt": {"lendablePercent": 0}}"#);
        let refused = ["spec.exempt: Forbidden", "spec.limited: Required value"];
        check_create(kind.0, kind.1, &limited, &refused);
        check_update(
            kind.0,
            kind.1,
            &limited,
            &level(r#"{"type": "Exempt"}"#),
            &refused,
        );
    }

    #[test]
    fn at_most_one_element_of_two_kinds() {
        let request = r#"{"status": {"conditions": [{"type": "Approved"}, {"type": "Denied"}]}}"#;
        let refused = "status.conditions: Invalid value: \"{conditions[{\\\"type\\\": \\\"Approved\\\"}], \
                       conditions[{\\\"type\\\": \\\"Denied\\\"}]}\": must specify at most one of: \
                       `conditions[{\"type\": \"Approved\"}]`, `conditions[{\"type\": \"Denied\"}]`";
        let kind = ("certificates.k8s.io/v1", "CertificateSigningRequest");
        assert_eq!(validate(kind.0, kind.1, "approval", request, "{}"), [refused]);
        assert_eq!(validate(kind.0, kind.1, "approval", request, request), [""; 0]);
    }

    #[test]
    fn rules_apply_where_they_are_stated() {
        let scale = r#"{"spec": {"replicas": -1}}"#;
        let refused = "spec.replicas: Invalid value: -1: must be greater than or equal to 0";
        assert_eq!(
            validate("autoscaling/v1", "Scale", "scale", scale, "{}"),
            [refused]
        );
        assert_eq!(validate("autoscaling/v1", "Scale", "", scale, "{}"), [""; 0]);
    }

    #[test]
    fn names_and_priorities_of_kubernetes_are_its_own() {
        let responders = [
            r#"{"name": "example.com/a", "priority": 1000}"#,
            r#"{"name": "example.com/b", "priority": 128}"#,
            r#"{"name": "a.K8s.io/c", "priority": 2000}"#,
            r#"{"name": "ak8s.io/d", "priority": 2000}"#,
        ];
        let pod = format!(
            r#"{{"spec": {{"evictionResponders": [{}]}}}}"#,
            responders.join(",")
        );
        let errors = validate("v1", "Pod", "", &pod, "null").into_iter();
        let errors: Vec<String> = errors.filter(|error| error.contains("reserved")).collect();
        assert_eq!(
            errors,
            [
                "spec.evictionResponders[1].priority: Invalid value: 128: priorities 0-999 are reserved for responders with \
                 *.k8s.io suffix",
                "spec.evictionResponders[2].name: Invalid value: \"a.K8s.io/c\": domain names *.k8s.io, *.kubernetes.io are \
                 reserved",
            ]
        );
    }

    #[test]
    fn silent_rules_end_the_validation() {
        // A name that is missing is optional, and is no malformed one.
        check_create(
            "v1",
            "ReplicationController",
            r#"{"metadata": {"name": ""}, "spec": {}}"#,
            &["spec.replicas: Required value"],
        );
    }

    fn after_rules_by_hand(
        version: &str,
        kind: &GroupVersionKind,
        object: &Value<'_>,
        validate_by_hand: impl Fn(&Node<'_, '_>, &mut Errors),
    ) -> Vec<String> {
        let mut errors = Errors::of_release(pratique_schema::Release::by_version(version).unwrap());
        validate_by_hand(&Node::root(object), &mut errors);
        validate_declaratively(kind, "status", object, &Value::Null, &mut errors);
        errors.into_list().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn conditions_have_rules_since_1_38() {
        let object = r#"{"status": {"conditions": [{"type": "", "status": "x", "observedGeneration": -1}]}}"#;
        let object = pratique_json::parse(object.as_bytes()).unwrap();
        let kind = GroupVersionKind::new("policy", "v1", "PodDisruptionBudget");
        let validate = |version: &str| {
            after_rules_by_hand(version, &kind, &object, |node, errors| {
                crate::conditions::validate_conditions(&node.child("status").child("conditions"), errors);
            })
        };
        let place = "status.conditions[0]";
        let errors = |kind_detail: &str, generation_detail: &str| {
            [
                format!("{place}.type: Required value{kind_detail}"),
                format!(
                    "{place}.status: Unsupported value: \"x\": supported values: \"False\", \"True\", \"Unknown\""
                ),
                format!(
                    "{place}.observedGeneration: Invalid value: -1: must be greater than or equal to {generation_detail}"
                ),
                format!("{place}.lastTransitionTime: Required value"),
                format!("{place}.reason: Required value"),
            ]
        };
        assert_eq!(validate("1.37"), errors(": is required", "zero"));
        assert_eq!(validate("1.38"), errors("", "0"));
    }

    #[test]
    fn owners_have_rules_since_1_38_of_kinds_without_others_too() {
        let object =
            pratique_json::parse(br#"{"ownerReferences": [{"kind": "K", "name": "n", "uid": "u"}]}"#)
                .unwrap();
        for (version, expected) in [
            (
                "1.37",
                "ownerReferences[0].apiVersion: Required value: must not be empty",
            ),
            ("1.38", "ownerReferences[0].apiVersion: Required value"),
        ] {
            let mut errors = Errors::of_release(pratique_schema::Release::by_version(version).unwrap());
            let no_rule = |_: &str, _: bool| Vec::new();
            crate::object_meta::validate_meta_declaratively(
                &Node::root(&object),
                false,
                no_rule,
                &mut errors,
            );
            let errors: Vec<_> = errors.into_list().iter().map(ToString::to_string).collect();
            assert_eq!(
                errors,
                ["name: Required value: name or generateName is required", expected]
            );
        }
    }

    #[test]
    fn twins_of_rules_by_hand_stand_instead_of_them() {
        let field = pratique_types::field::Path::new("handler");
        let by_hand = |object: &str, old: &str| {
            let object = pratique_json::parse(object.as_bytes()).unwrap();
            let old = pratique_json::parse(old.as_bytes()).unwrap();
            let mut errors = Errors::default();
            errors.invalid(field, "A", "by hand");
            errors.cover_from(0, "format=k8s-short-name");
            let kind = GroupVersionKind::new("node.k8s.io", "v1", "RuntimeClass");
            validate_declaratively(&kind, "", &object, &old, &mut errors);
            let list = errors.into_list();
            list.iter().filter(|error| error.body.contains("by hand")).count()
        };
        assert_eq!(by_hand(r#"{"handler": "A"}"#, "null"), 0);
        // The twin does not validate what did not change.
        assert_eq!(by_hand(r#"{"handler": "A"}"#, r#"{"handler": "A"}"#), 1);
    }
}
