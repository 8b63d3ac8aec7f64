//! Gatekeeper's ConstraintTemplates with expressions, as the policies that Gatekeeper makes of them.
// Upstream: open-policy-agent/gatekeeper pkg/drivers/k8scel/transform/make_vap_objects.go, cel_snippets.go

use pratique_json::{Object, Value};

use super::text;

/// The engine of templates whose code is expressions.
const ENGINE: &str = "K8sNativeValidation";

/// The target of templates for admission.
const TARGET: &str = "admission.k8s.gatekeeper.sh";

const GROUP: &str = "constraints.gatekeeper.sh";

/// A policy and a binding, and what they need of the cluster: the constraint is the param.
pub(super) struct Constrained {
    /// The name of the policy.
    pub(super) policy: String,
    /// The policy and the binding, as a JSON document.
    pub(super) manifest: String,
    /// The definition of the constraint's kind, and the constraint.
    pub(super) objects: Vec<Value<'static>>,
}

/// The code of a template's expressions; or why there is none.
fn code<'t>(template: &'t Value<'static>) -> Result<&'t Value<'static>, String> {
    let targets = template.at(&["spec", "targets"]).and_then(Value::as_array);
    let target = targets
        .unwrap_or_default()
        .iter()
        .find(|target| text(target, &["target"]) == TARGET);
    let code = target
        .and_then(|target| target.get("code"))
        .and_then(Value::as_array);
    let mut engines = code.unwrap_or_default().iter();
    let source = engines.find(|code| text(code, &["engine"]) == ENGINE);
    let source = source.and_then(|code| code.get("source"));
    source.ok_or_else(|| "its template is written in Rego: there are no expressions in it".to_owned())
}

/// The policy of a template and a constraint; or why there is none.
pub(super) fn constrained(
    template: &Value<'static>,
    constraint: &Value<'static>,
) -> Result<Constrained, String> {
    let source = code(template)?;
    let kind = text(template, &["spec", "crd", "spec", "names", "kind"]);
    if kind.is_empty() || kind != text(constraint, &["kind"]) {
        return Err(format!(
            "the constraint is a {}, the template is of {kind}",
            text(constraint, &["kind"])
        ));
    }
    unsupported(constraint)?;
    let policy = format!("gatekeeper-{}", text(template, &["metadata", "name"]));
    let mut spec = object([
        ("failurePolicy", Value::from("Fail")),
        ("paramKind", param_kind(constraint)),
        (
            "matchConstraints",
            value(object([("resourceRules", list([everything()]))])),
        ),
        ("matchConditions", Value::Array(conditions(source))),
        ("variables", Value::Array(variables(source))),
    ]);
    for name in ["validations", "failurePolicy"] {
        if let Some(given) = source.get(name) {
            spec.insert(name, given.clone());
        }
    }
    let matching = |name: &str| constraint.at(&["spec", "match", name]).cloned();
    let mut resources = Object::new();
    for (name, given) in [
        ("objectSelector", "labelSelector"),
        ("namespaceSelector", "namespaceSelector"),
    ] {
        if let Some(selector) = matching(given) {
            resources.insert(name, selector);
        }
    }
    let name = text(constraint, &["metadata", "name"]);
    let binding = object([
        ("policyName", Value::from(policy.clone())),
        ("validationActions", list([Value::from("Deny")])),
        ("matchResources", value(resources)),
        (
            "paramRef",
            value(object([
                ("name", Value::from(name.to_owned())),
                ("parameterNotFoundAction", Value::from("Allow")),
            ])),
        ),
    ]);
    let items = list([
        manifest("ValidatingAdmissionPolicy", &policy, spec),
        manifest(
            "ValidatingAdmissionPolicyBinding",
            &format!("gatekeeper-{name}"),
            binding,
        ),
    ]);
    let manifest = value(object([
        ("apiVersion", Value::from("v1")),
        ("kind", Value::from("List")),
        ("items", items),
    ]));
    Ok(Constrained {
        policy,
        manifest: manifest.to_string(),
        objects: vec![definition(constraint, kind), constraint.clone()],
    })
}

/// What a constraint matches by that policies cannot.
fn unsupported(constraint: &Value<'static>) -> Result<(), String> {
    let matching = constraint.at(&["spec", "match"]);
    let given = |name: &str| {
        matching
            .map(|matching| text(matching, &[name]))
            .unwrap_or_default()
    };
    for (name, plain) in [("scope", "*"), ("source", "All")] {
        let found = given(name);
        if !found.is_empty() && found != plain {
            return Err(format!("its constraint matches by {name}: {found}"));
        }
    }
    Ok(())
}

/// The match conditions: those by which constraints match, and the template's.
fn conditions(source: &Value<'static>) -> Vec<Value<'static>> {
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
    let ours = all.map(|(name, expression)| named(name, expression));
    let theirs = source.get("matchConditions").and_then(Value::as_array);
    ours.into_iter()
        .chain(theirs.unwrap_or_default().iter().cloned())
        .collect()
}

/// The variables: those that all templates can use, and the template's.
fn variables(source: &Value<'static>) -> Vec<Value<'static>> {
    const OBJECT: &str =
        "has(request.operation) && request.operation == 'DELETE' && object == null ? oldObject : object";
    const PARAMS: &str = "has(params.spec) && has(params.spec.parameters) ? params.spec.parameters : null";
    let theirs = source.get("variables").and_then(Value::as_array);
    [named("anyObject", OBJECT), named("params", PARAMS)]
        .into_iter()
        .chain(theirs.unwrap_or_default().iter().cloned())
        .collect()
}

fn named(name: &'static str, expression: &'static str) -> Value<'static> {
    value(object([
        ("name", Value::from(name)),
        ("expression", Value::from(expression)),
    ]))
}

/// A rule that matches everything.
fn everything() -> Value<'static> {
    let all = || list([Value::from("*")]);
    value(object([
        ("apiGroups", all()),
        ("apiVersions", all()),
        ("operations", all()),
        ("resources", all()),
    ]))
}

fn param_kind(constraint: &Value<'static>) -> Value<'static> {
    value(object([
        (
            "apiVersion",
            Value::from(text(constraint, &["apiVersion"]).to_owned()),
        ),
        ("kind", Value::from(text(constraint, &["kind"]).to_owned())),
    ]))
}

/// The definition of a constraint's kind.
fn definition(constraint: &Value<'static>, kind: &str) -> Value<'static> {
    let version = text(constraint, &["apiVersion"]);
    let version = version.rsplit('/').next().unwrap_or_default().to_owned();
    let plural = kind.to_lowercase();
    let spec = object([
        ("group", Value::from(GROUP)),
        ("scope", Value::from("Cluster")),
        (
            "names",
            value(object([
                ("kind", Value::from(kind.to_owned())),
                ("plural", Value::from(plural.clone())),
                ("singular", Value::from(plural.clone())),
            ])),
        ),
        (
            "versions",
            list([value(object([
                ("name", Value::from(version)),
                ("served", Value::Bool(true)),
                ("storage", Value::Bool(true)),
            ]))]),
        ),
    ]);
    let metadata = object([("name", Value::from(format!("{plural}.{GROUP}")))]);
    value(object([
        ("apiVersion", Value::from("apiextensions.k8s.io/v1")),
        ("kind", Value::from("CustomResourceDefinition")),
        ("metadata", value(metadata)),
        ("spec", value(spec)),
    ]))
}

fn manifest(kind: &'static str, name: &str, spec: Object<'static>) -> Value<'static> {
    value(object([
        ("apiVersion", Value::from("admissionregistration.k8s.io/v1")),
        ("kind", Value::from(kind)),
        (
            "metadata",
            value(object([("name", Value::from(name.to_owned()))])),
        ),
        ("spec", value(spec)),
    ]))
}

fn object<const N: usize>(fields: [(&'static str, Value<'static>); N]) -> Object<'static> {
    let mut object = Object::new();
    for (name, value) in fields {
        object.insert(name, value);
    }
    object
}

fn value(object: Object<'static>) -> Value<'static> {
    Value::Object(object)
}

fn list<const N: usize>(items: [Value<'static>; N]) -> Value<'static> {
    Value::Array(items.into())
}
