//! FlowSchemas.

use pratique_json::Value;

use super::validate_conditions;
use crate::errors::Errors;
use crate::internal::internal_json;
use crate::kinds::Request;
use crate::messages::{label_name, subdomain_name};
use crate::node::{Node, is_same};
use crate::object_meta::validate_core_meta;

const MAX_PRECEDENCE: i64 = 10_000;
const METHODS: &[&str] = &["ByNamespace", "ByUser"];
const VERBS: &[&str] = &[
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "proxy",
    "update",
    "watch",
];

// Upstream: pkg/apis/flowcontrol/validation/validation.go, ValidateFlowSchema
pub(super) fn validate_flow_schema(request: &Request<'_>, errors: &mut Errors) {
    let (metadata, spec) = (request.object.child("metadata"), request.object.child("spec"));
    let name = metadata.child("name").as_text();
    validate_core_meta(&metadata, false, subdomain_name, errors);
    validate_spec(name, &spec, errors);
    if is_mandatory(name) && !is_same(spec.value(), &mandatory_spec(name)) {
        let detail = format!("spec of '{name}' must equal the fixed value");
        errors.invalid(
            spec,
            internal_json(errors.release(), "flowcontrol.FlowSchemaSpec", spec.value()),
            &detail,
        );
    }
    validate_conditions(&request.object.child("status"), errors);
}

// Upstream: pkg/apis/flowcontrol/validation/validation.go, ValidateFlowSchemaSpec
fn validate_spec(name: &str, spec: &Node<'_, '_>, errors: &mut Errors) {
    let precedence = spec.child("matchingPrecedence");
    let number = precedence.int();
    if number <= 0 {
        errors.invalid(precedence, number, "must be a positive value");
    }
    if number > MAX_PRECEDENCE {
        errors.invalid(
            precedence,
            number,
            &format!("must not be greater than {MAX_PRECEDENCE}"),
        );
    }
    if number == 1 && name != "exempt" {
        errors.invalid(
            precedence,
            number,
            "only the schema named 'exempt' may have matchingPrecedence 1",
        );
    }
    let method = spec.child("distinguisherMethod");
    if method.is_set() {
        let kind = method.child("type");
        if !METHODS.contains(&kind.as_text()) {
            // The server prints the whole method.
            let value = internal_json(
                errors.release(),
                "flowcontrol.FlowDistinguisherMethod",
                method.value(),
            );
            errors.push(pratique_types::field::Error::not_supported(kind, value, METHODS));
        }
    }
    let reference = spec.child("priorityLevelConfiguration");
    let level = reference.child("name");
    if level.as_text().is_empty() {
        errors.required(level, "must reference a priority level");
    } else {
        errors.invalid_each(&level, &subdomain_name(level.as_text(), false));
    }
    for rule in spec.child("rules").items() {
        validate_rule(&rule, errors);
    }
}

// Upstream: pkg/apis/flowcontrol/validation/validation.go, ValidateFlowSchemaPolicyRulesWithSubjects
fn validate_rule(rule: &Node<'_, '_>, errors: &mut Errors) {
    let subjects = rule.child("subjects");
    if subjects.is_empty() {
        errors.required(subjects, "subjects must contain at least one value");
    }
    for subject in subjects.items() {
        validate_subject(&subject, errors);
    }
    let (resources, others) = (rule.child("resourceRules"), rule.child("nonResourceRules"));
    if resources.is_empty() && others.is_empty() {
        errors.required(
            rule,
            "at least one of resourceRules and nonResourceRules has to be non-empty",
        );
    }
    for rule in resources.items() {
        validate_resource_rule(&rule, errors);
    }
    for rule in others.items() {
        validate_path_rule(&rule, errors);
    }
}

// Upstream: pkg/apis/flowcontrol/validation/validation.go, ValidateFlowSchemaSubject
fn validate_subject(subject: &Node<'_, '_>, errors: &mut Errors) {
    // Each kind with the field that it has, in the order in which those of other kinds are forbidden.
    const FIELDS: &[(&str, &str)] = &[
        ("ServiceAccount", "serviceAccount"),
        ("User", "user"),
        ("Group", "group"),
    ];
    let kind = subject.child("kind");
    let Some((_, own)) = FIELDS.iter().find(|(name, _)| *name == kind.as_text()) else {
        errors.not_supported(&kind, &["Group", "ServiceAccount", "User"]);
        return;
    };
    let field = subject.child(own);
    if field.is_set() {
        validate_named_subject(kind.as_text(), &field, errors);
    } else {
        errors.required(
            field,
            &format!("{own} is required when subject kind is '{}'", kind.as_text()),
        );
    }
    for (other_kind, other) in FIELDS.iter().filter(|(_, other)| other != own) {
        let field = subject.child(other);
        if field.is_set() {
            errors.forbidden(
                field,
                &format!("{other} is forbidden when subject kind is not '{other_kind}'"),
            );
        }
    }
}

// Upstream: pkg/apis/flowcontrol/validation/validation.go, ValidateServiceAccountSubject, ValidateUserSubject
fn validate_named_subject(kind: &str, subject: &Node<'_, '_>, errors: &mut Errors) {
    let (name, namespace) = (subject.child("name"), subject.child("namespace"));
    let is_account = kind == "ServiceAccount";
    if name.as_text().is_empty() {
        errors.required(name, "");
    } else if is_account && name.as_text() != "*" {
        errors.invalid_each(&name, &subdomain_name(name.as_text(), false));
    }
    if is_account && namespace.as_text().is_empty() {
        errors.required(namespace, "must specify namespace for service account");
    } else if is_account {
        errors.invalid_each(&namespace, &label_name(namespace.as_text(), false));
    }
}

// Upstream: pkg/apis/flowcontrol/validation/validation.go, ValidateFlowSchemaResourcePolicyRule
fn validate_resource_rule(rule: &Node<'_, '_>, errors: &mut Errors) {
    validate_verbs(&rule.child("verbs"), errors);
    for (field, required, what) in [
        (
            "apiGroups",
            "resource rules must supply at least one api group",
            "api groups",
        ),
        (
            "resources",
            "resource rules must supply at least one resource",
            "resources",
        ),
    ] {
        let list = rule.child(field);
        if list.is_empty() {
            errors.required(list, required);
        } else {
            validate_wildcard(&list, what, errors);
        }
    }
    let namespaces = rule.child("namespaces");
    if namespaces.is_empty() && !rule.child("clusterScope").is_true() {
        errors.required(
            namespaces,
            "resource rules that are not cluster scoped must supply at least one namespace",
        );
    } else if !validate_wildcard(&namespaces, "namespaces", errors) {
        for namespace in namespaces.items() {
            for message in label_name(namespace.as_text(), false) {
                let detail = format!("each member of this list must be '*' or a DNS-1123 label; {message}");
                errors.invalid_value(&namespace, &detail);
            }
        }
    }
}

// Upstream: pkg/apis/flowcontrol/validation/validation.go, ValidateFlowSchemaNonResourcePolicyRule
fn validate_path_rule(rule: &Node<'_, '_>, errors: &mut Errors) {
    validate_verbs(&rule.child("verbs"), errors);
    let paths = rule.child("nonResourceURLs");
    if paths.is_empty() {
        errors.required(paths, "nonResourceURLs must contain at least one value");
    } else if !validate_wildcard(&paths, "non-resource URLs", errors) {
        for path in paths.items() {
            if let Some(detail) = wrong_path(path.as_text()) {
                errors.invalid_value(&path, detail);
            }
        }
    }
}

fn validate_verbs(verbs: &Node<'_, '_>, errors: &mut Errors) {
    if verbs.is_empty() {
        errors.required(verbs, "verbs must contain at least one value");
    } else if !validate_wildcard(verbs, "verbs", errors)
        && !verbs.items().all(|verb| VERBS.contains(&verb.as_text()))
    {
        errors.push(pratique_types::field::Error::not_supported(
            verbs,
            verbs.value(),
            VERBS,
        ));
    }
}

/// Whether a list has the wildcard, which has to be alone.
fn validate_wildcard(list: &Node<'_, '_>, what: &str, errors: &mut Errors) -> bool {
    let has_wildcard = list.items().any(|item| item.as_text() == "*");
    if has_wildcard && list.len() > 1 {
        errors.invalid_value(list, &format!("if '*' is present, must not specify other {what}"));
    }
    has_wildcard
}

// Upstream: pkg/apis/flowcontrol/validation/validation.go, ValidateNonResourceURLPath
fn wrong_path(path: &str) -> Option<&'static str> {
    let wildcards = path.matches('*').count();
    match path {
        "" => Some("must not be empty"),
        "/" => None,
        _ if !path.starts_with('/') => Some("must start with slash"),
        _ if path.contains(' ') => Some("must not contain white-space"),
        _ if path.contains("//") => Some("must not contain double slash"),
        _ if wildcards > 1 || (wildcards == 1 && !path.ends_with("/*")) => {
            Some("wildcard can only do suffix matching")
        }
        _ => None,
    }
}

fn is_mandatory(name: &str) -> bool {
    matches!(name, "exempt" | "catch-all")
}

/// What a server itself puts into the schemas that every cluster has.
// Upstream: apiserver/pkg/apis/flowcontrol/bootstrap/default.go, MandatoryFlowSchemas
fn mandatory_spec(name: &str) -> Value<'static> {
    let (precedence, groups): (i64, &[&str]) = if name == "exempt" {
        (1, &["system:masters"])
    } else {
        (10_000, &["system:unauthenticated", "system:authenticated"])
    };
    let all = || Value::from(vec![Value::from("*")]);
    let subject = |group: &'static str| {
        object([
            ("kind", "Group".into()),
            ("group", object([("name", group.into())])),
        ])
    };
    let subjects: Vec<Value<'static>> = groups.iter().map(|group| subject(group)).collect();
    let resources = object([
        ("verbs", all()),
        ("apiGroups", all()),
        ("resources", all()),
        ("clusterScope", true.into()),
        ("namespaces", all()),
    ]);
    let paths = object([("verbs", all()), ("nonResourceURLs", all())]);
    let rule = object([
        ("subjects", subjects.into()),
        ("resourceRules", vec![resources].into()),
        ("nonResourceRules", vec![paths].into()),
    ]);
    let level = if name == "exempt" { "exempt" } else { "catch-all" };
    let mut spec = vec![
        ("priorityLevelConfiguration", object([("name", level.into())])),
        ("matchingPrecedence", precedence.into()),
        ("rules", vec![rule].into()),
    ];
    if name == "catch-all" {
        spec.push(("distinguisherMethod", object([("type", "ByUser".into())])));
    }
    object(spec)
}

fn object(members: impl IntoIterator<Item = (&'static str, Value<'static>)>) -> Value<'static> {
    Value::Object(
        members
            .into_iter()
            .map(|(name, value)| (name.into(), value))
            .collect(),
    )
}
