//! Gatekeeper's ConstraintTemplates with expressions, as the policies that Gatekeeper makes of them.
// Upstream: open-policy-agent/gatekeeper pkg/drivers/k8scel/transform/make_vap_objects.go, cel_snippets.go

use pratique_json::{Value, text_at};
use serde_json::{Value as Json, json};

use crate::reason::NotEvaluatedReason;

/// The engine of templates whose code is expressions.
const ENGINE: &str = "K8sNativeValidation";

/// The target of templates for admission.
const TARGET: &str = "admission.k8s.gatekeeper.sh";

const GROUP: &str = "constraints.gatekeeper.sh";

/// A policy and a binding, and what they need of the cluster: the constraint is the param.
pub(crate) struct ConstraintPolicy {
    /// The name of the policy.
    pub(crate) policy: String,
    /// The policy and the binding, as a JSON document.
    pub(crate) manifest: String,
    /// The definition of the constraint's kind, and the constraint.
    pub(crate) objects: Vec<Value<'static>>,
}

/// The code of a template's expressions.
fn code<'t>(template: &'t Value<'static>) -> Result<&'t Value<'static>, NotEvaluatedReason> {
    let targets = template.at(&["spec", "targets"]).and_then(Value::as_array);
    let target = targets
        .unwrap_or_default()
        .iter()
        .find(|target| text_at(target, &["target"]) == TARGET);
    let code = target
        .and_then(|target| target.get("code"))
        .and_then(Value::as_array);
    let mut engines = code.unwrap_or_default().iter();
    let source = engines.find(|code| text_at(code, &["engine"]) == ENGINE);
    let source = source.and_then(|code| code.get("source"));
    source.ok_or(NotEvaluatedReason::Rego)
}

/// The policy of a template and a constraint.
pub(crate) fn policy_of(
    template: &Value<'static>,
    constraint: &Value<'static>,
) -> Result<ConstraintPolicy, NotEvaluatedReason> {
    let source = code(template)?;
    let kind = text_at(template, &["spec", "crd", "spec", "names", "kind"]);
    if kind.is_empty() || kind != text_at(constraint, &["kind"]) {
        return Err(NotEvaluatedReason::ConstraintKind {
            constraint: text_at(constraint, &["kind"]).to_owned(),
            template: kind.to_owned(),
        });
    }
    check_match(constraint)?;
    let policy = format!("gatekeeper-{}", text_at(template, &["metadata", "name"]));
    let name = text_at(constraint, &["metadata", "name"]);
    let spec = json!({
        "failurePolicy": source.get("failurePolicy").unwrap_or(&Value::from("Fail")),
        "paramKind": {"apiVersion": text_at(constraint, &["apiVersion"]), "kind": text_at(constraint, &["kind"])},
        "matchConstraints": {"resourceRules": [
            {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]},
        ]},
        "matchConditions": conditions(source),
        "variables": variables(source),
        "validations": source.get("validations"),
    });
    let binding = json!({
        "policyName": policy,
        "validationActions": ["Deny"],
        "matchResources": {
            "objectSelector": constraint.at(&["spec", "match", "labelSelector"]),
            "namespaceSelector": constraint.at(&["spec", "match", "namespaceSelector"]),
        },
        "paramRef": {"name": name, "parameterNotFoundAction": "Allow"},
    });
    let policy_manifest = manifest("ValidatingAdmissionPolicy", &policy, &spec);
    let binding_name = format!("gatekeeper-{name}");
    let binding_manifest = manifest("ValidatingAdmissionPolicyBinding", &binding_name, &binding);
    let all = json!({"apiVersion": "v1", "kind": "List", "items": [policy_manifest, binding_manifest]});
    Ok(ConstraintPolicy {
        policy,
        manifest: all.to_string(),
        objects: vec![definition(constraint, kind), constraint.clone()],
    })
}

/// Checks that a constraint matches by nothing that policies cannot match by.
fn check_match(constraint: &Value<'static>) -> Result<(), NotEvaluatedReason> {
    for (field, default) in [("scope", "*"), ("source", "All")] {
        let value = text_at(constraint, &["spec", "match", field]);
        if !value.is_empty() && value != default {
            return Err(NotEvaluatedReason::Match {
                field,
                value: value.to_owned(),
            });
        }
    }
    Ok(())
}

/// The match conditions: those by which constraints match, and the template's.
fn conditions(source: &Value<'static>) -> Vec<Json> {
    const KINDS: &str = "!has(params.spec.match) || !has(params.spec.match.kinds) || params.spec.match.kinds.exists(entry, \
         (!has(entry.kinds) || size(entry.kinds) == 0 || '*' in entry.kinds || request.kind.kind in entry.kinds) && \
         (!has(entry.apiGroups) || size(entry.apiGroups) == 0 || '*' in entry.apiGroups || request.kind.group in entry.apiGroups))";
    const NAME: &str = "!has(params.spec.match) || !has(params.spec.match.name) || \
         request.name.matches('^' + string(params.spec.match.name).replace('*', '.*') + '$')";
    const NAMESPACES: &str = "!has(params.spec.match) || !has(params.spec.match.namespaces) || request.namespace == '' || \
         params.spec.match.namespaces.exists(name, request.namespace.matches('^' + string(name).replace('*', '.*') + '$'))";
    const EXCLUDED: &str = "!has(params.spec.match) || !has(params.spec.match.excludedNamespaces) || request.namespace == '' || \
         !params.spec.match.excludedNamespaces.exists(name, request.namespace.matches('^' + string(name).replace('*', '.*') + '$'))";
    let all = [
        ("excluded-namespaces", EXCLUDED),
        ("namespaces", NAMESPACES),
        ("name", NAME),
        ("kinds", KINDS),
    ];
    named(&all, source.get("matchConditions"))
}

/// The variables: those that all templates can use, and the template's.
fn variables(source: &Value<'static>) -> Vec<Json> {
    const OBJECT: &str =
        "has(request.operation) && request.operation == 'DELETE' && object == null ? oldObject : object";
    const PARAMS: &str = "has(params.spec) && has(params.spec.parameters) ? params.spec.parameters : null";
    named(
        &[("anyObject", OBJECT), ("params", PARAMS)],
        source.get("variables"),
    )
}

/// Expressions of ours by their names, and those of a template.
fn named(ours: &[(&str, &str)], theirs: Option<&Value<'_>>) -> Vec<Json> {
    let ours = ours.iter();
    let ours = ours.map(|(name, expression)| json!({"name": name, "expression": expression}));
    let theirs = theirs.and_then(Value::as_array).unwrap_or_default().iter();
    ours.chain(theirs.map(|entry| json!(entry))).collect()
}

/// The definition of a constraint's kind.
fn definition(constraint: &Value<'static>, kind: &str) -> Value<'static> {
    let version = text_at(constraint, &["apiVersion"]).rsplit('/').next();
    let plural = kind.to_lowercase();
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{GROUP}")},
        "spec": {
            "group": GROUP,
            "scope": "Cluster",
            "names": {"kind": kind, "plural": plural, "singular": plural},
            "versions": [{"name": version, "served": true, "storage": true, "schema": schema}],
        },
    });
    let parsed = pratique_json::parse(definition.to_string().as_bytes()).map(Value::into_owned);
    parsed.unwrap_or_default()
}

fn manifest(kind: &str, name: &str, spec: &Json) -> Json {
    let version = "admissionregistration.k8s.io/v1";
    json!({"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec})
}
