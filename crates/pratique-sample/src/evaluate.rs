//! Evaluates one policy over one object, with the engine that serves requests.

use std::cell::RefCell;
use std::sync::Arc;

use k8s_openapi::api::admissionregistration::v1 as api;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use pratique_cel::ast::ExprId;
use pratique_cel::value::Evaluation;
use pratique_exclusion::Origin;
use pratique_expression::Cache;
use pratique_json::Value;
use pratique_match::{Equivalents, Namespace, Namespaces};
use pratique_policy::authz::FixedAuthorizer;
use pratique_policy::{
    Cluster, EvalContext, ExpressionId, MutatingPolicies, ParamScope, Policies, Trace, mutate,
    settle_request, validate,
};
use pratique_types::builtin::ServedResource;
use pratique_types::{AdmissionRequest, GroupVersionKind, Operation, UserInfo};

use crate::generate::{NAMESPACE, OBJECT_NAME};
use crate::param::{ParamName, generate_param};
use crate::policy::Policy;
use crate::reads::Reads;

/// A compiled policy that is evaluated for one resource and operation, regardless of its selectors and bindings.
#[derive(Debug)]
pub struct Evaluator<'e> {
    compiled: Compiled,
    served: &'e ServedResource,
    operation: Operation,
    cluster: SampleCluster,
}

#[derive(Debug)]
enum Compiled {
    Validating(Box<Policies>),
    Mutating(Box<MutatingPolicies>),
}

/// An evaluation of one expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluated {
    /// The expression.
    pub expression: ExpressionId,
    /// Its cost, without that of the variables that it reads.
    pub cost: u64,
    /// The error, if it has no value.
    pub error: Option<String>,
    /// The values of its nodes, in the order of evaluation; recorded for the watched expression only.
    pub parts: Vec<(ExprId, PartValue)>,
}

/// The value of a node of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartValue {
    /// `true` or `false`
    Bool(bool),
    /// Any other value.
    Other,
    /// An error.
    Error(String),
}

impl<'e> Evaluator<'e> {
    /// Compiles a policy. Its rules and selectors are replaced by a rule for the resource; its params are generated
    /// from the reads of expressions.
    pub fn new(
        policy: Policy<'_>,
        served: &'e ServedResource,
        operation: Operation,
        params: &Reads,
        seed: u64,
    ) -> Self {
        let cache = Cache::new();
        let mut param_kind = None;
        let compiled = match policy {
            Policy::Validating(policy) => {
                let mut policy = policy.clone();
                policy.metadata = named(POLICY);
                let spec = policy.spec.get_or_insert_default();
                spec.match_constraints = Some(constraints(served, operation));
                param_kind = spec.param_kind.as_ref().and_then(kind_of);
                let binding = api::ValidatingAdmissionPolicyBinding {
                    metadata: named(BINDING),
                    spec: api::ValidatingAdmissionPolicyBindingSpec {
                        policy_name: POLICY.to_owned(),
                        validation_actions: vec!["Deny".to_owned()],
                        param_ref: param_kind.is_some().then(param_ref),
                        ..Default::default()
                    },
                };
                Compiled::Validating(Box::new(Policies::compile(
                    [&policy],
                    [&binding],
                    Origin::Api,
                    &cache,
                )))
            }
            Policy::Mutating(policy) => {
                let mut policy = policy.clone();
                policy.metadata = named(POLICY);
                let spec = policy.spec.get_or_insert_default();
                spec.match_constraints = Some(constraints(served, operation));
                param_kind = spec.param_kind.as_ref().and_then(kind_of).or(param_kind);
                let binding = api::MutatingAdmissionPolicyBinding {
                    metadata: named(BINDING),
                    spec: Some(api::MutatingAdmissionPolicyBindingSpec {
                        policy_name: Some(POLICY.to_owned()),
                        param_ref: param_kind.is_some().then(param_ref),
                        ..Default::default()
                    }),
                };
                let compiled = MutatingPolicies::compile([&policy], [&binding], Origin::Api, &cache);
                Compiled::Mutating(Box::new(compiled))
            }
        };
        Evaluator {
            compiled,
            served,
            operation,
            cluster: SampleCluster::new(param_kind, params, seed),
        }
    }

    /// Evaluates the policy over an object; gives the evaluated expressions, in order. The node values of the `watched`
    /// expression are recorded.
    ///
    /// An update does not change the object; a deletion has it as the old object.
    pub fn evaluate(&self, object: &Value<'_>, watched: Option<&ExpressionId>) -> Vec<Evaluated> {
        let is = |operation| self.operation == operation;
        let null = || Value::Null;
        let metadata_or = |field, plain: &str| {
            let text = object.at(&["metadata", field]).and_then(Value::as_str);
            text.unwrap_or(plain).to_owned()
        };
        let mut request = AdmissionRequest {
            uid: "a".to_owned(),
            kind: self.served.kind.clone(),
            resource: self.served.resource.clone(),
            sub_resource: self.served.subresource.clone(),
            name: metadata_or("name", OBJECT_NAME),
            namespace: match self.served.namespaced {
                true => metadata_or("namespace", NAMESPACE),
                false => String::new(),
            },
            operation: self.operation,
            user_info: UserInfo {
                username: "a".to_owned(),
                groups: vec!["system:authenticated".to_owned()],
                ..UserInfo::default()
            },
            object: if is(Operation::Delete) {
                null()
            } else {
                object.borrowed()
            },
            old_object: if is(Operation::Create) {
                null()
            } else {
                object.borrowed()
            },
            ..AdmissionRequest::default()
        };
        settle_request(&mut request);
        let recorder = Recorder::new(watched);
        let context = EvalContext::new(&self.cluster, Arc::new(self.cluster.authorizer));
        let context = context.with_trace(&recorder);
        // The decision does not matter, only the recorded evaluations.
        match &self.compiled {
            Compiled::Validating(policies) => {
                drop(validate(&[&**policies], &request, context, &mut ()));
            }
            Compiled::Mutating(policies) => {
                drop(mutate(&[&**policies], &request, &context, &mut ()));
            }
        }
        recorder.into_evaluated()
    }
}

const POLICY: &str = "a";
const BINDING: &str = "b";
const PARAM: &str = "p";

fn named(name: &str) -> ObjectMeta {
    ObjectMeta {
        name: Some(name.to_owned()),
        ..ObjectMeta::default()
    }
}

fn constraints(served: &ServedResource, operation: Operation) -> api::MatchResources {
    let resource = match served.subresource.as_str() {
        "" => served.resource.resource.clone(),
        part => format!("{}/{part}", served.resource.resource),
    };
    api::MatchResources {
        resource_rules: Some(vec![api::NamedRuleWithOperations {
            api_groups: Some(vec![served.resource.group.clone()]),
            api_versions: Some(vec![served.resource.version.clone()]),
            operations: Some(vec![operation.as_str().to_owned()]),
            resources: Some(vec![resource]),
            scope: Some("*".to_owned()),
            ..Default::default()
        }]),
        match_policy: Some("Exact".to_owned()),
        namespace_selector: Some(LabelSelector::default()),
        object_selector: Some(LabelSelector::default()),
        ..Default::default()
    }
}

fn kind_of(kind: &api::ParamKind) -> Option<GroupVersionKind> {
    let version = pratique_types::GroupVersion::parse(kind.api_version.as_deref()?).ok()?;
    Some(version.with_kind(kind.kind.as_deref()?))
}

fn param_ref() -> api::ParamRef {
    api::ParamRef {
        name: Some(PARAM.to_owned()),
        parameter_not_found_action: Some("Deny".to_owned()),
        ..Default::default()
    }
}

/// A cluster with a namespace and a param.
#[derive(Debug)]
struct SampleCluster {
    equivalents: Equivalents,
    namespace: Value<'static>,
    param_kind: Option<GroupVersionKind>,
    param: Value<'static>,
    authorizer: FixedAuthorizer,
}

impl SampleCluster {
    fn new(param_kind: Option<GroupVersionKind>, params: &Reads, seed: u64) -> Self {
        let param = param_kind.as_ref().map(|kind| {
            let of = ParamName {
                kind,
                name: PARAM,
                namespace: "",
            };
            generate_param(of, params, seed)
        });
        let namespace = r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default",
            "labels":{"kubernetes.io/metadata.name":"default"}},"spec":{"finalizers":["kubernetes"]},
            "status":{"phase":"Active"}}"#;
        let namespace = pratique_json::parse(namespace.as_bytes()).map(Value::into_owned);
        SampleCluster {
            equivalents: Equivalents::builtin(),
            namespace: namespace.unwrap_or_default(),
            param_kind,
            param: param.unwrap_or_default(),
            authorizer: FixedAuthorizer {
                allowed: seed.is_multiple_of(2),
            },
        }
    }
}

impl Namespaces for SampleCluster {
    fn namespace<'a>(&'a self, _: &str) -> Namespace<'a> {
        Namespace::Stored(&self.namespace)
    }
}

impl Cluster for SampleCluster {
    fn equivalents(&self) -> &Equivalents {
        &self.equivalents
    }

    fn param_scope(&self, kind: &GroupVersionKind) -> Option<ParamScope> {
        // A cluster-scoped param applies to requests in any namespace.
        (self.param_kind.as_ref() == Some(kind)).then_some(ParamScope::Cluster)
    }

    fn param<'a>(&'a self, _: &GroupVersionKind, _: &str, name: &str) -> Option<&'a Value<'a>> {
        (name == PARAM).then_some(&self.param)
    }

    fn params<'a>(&'a self, _: &GroupVersionKind, _: &str) -> Vec<&'a Value<'a>> {
        vec![&self.param]
    }
}

/// Records the expressions that are evaluated.
struct Recorder<'w> {
    watched: Option<&'w ExpressionId>,
    open: RefCell<Vec<Evaluated>>,
    done: RefCell<Vec<Evaluated>>,
}

impl<'w> Recorder<'w> {
    fn new(watched: Option<&'w ExpressionId>) -> Self {
        Recorder {
            watched,
            open: RefCell::default(),
            done: RefCell::default(),
        }
    }

    fn into_evaluated(self) -> Vec<Evaluated> {
        self.done.into_inner()
    }
}

impl Trace for Recorder<'_> {
    fn begin(&self, id: ExpressionId<&str>, _: &str) {
        self.open.borrow_mut().push(Evaluated {
            expression: id.to_owned(),
            cost: 0,
            error: None,
            parts: Vec::new(),
        });
    }

    fn wants_values(&self) -> bool {
        self.watched.is_some()
    }

    fn value(&self, expression: ExprId, value: &Evaluation<'_>) {
        const MOST: usize = 10_000;
        let mut open = self.open.borrow_mut();
        let Some(of) = open.last_mut() else { return };
        if self.watched == Some(&of.expression) && of.parts.len() < MOST {
            let value = match value {
                Ok(pratique_cel::Value::Bool(value)) => PartValue::Bool(*value),
                Ok(_) => PartValue::Other,
                Err(fault) => PartValue::Error(fault.to_string()),
            };
            of.parts.push((expression, value));
        }
    }

    fn end(&self, result: &Evaluation<'_>, cost: u64) {
        let ended = self.open.borrow_mut().pop();
        self.done.borrow_mut().extend(ended.map(|ended| Evaluated {
            cost,
            error: result.as_ref().err().map(ToString::to_string),
            ..ended
        }));
    }
}

#[cfg(test)]
mod tests {
    use pratique_types::builtin::named;
    use serde_json::json;

    use super::*;

    /// Evaluates a policy with a condition, a variable and validations over a Pod.
    fn evaluated(operation: Operation, object: &str) -> Vec<(ExpressionId, Option<String>)> {
        let policy = json!({"metadata": {"name": "p"}, "spec": {
            "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
            // Rules and selectors are ignored.
            "matchConstraints": {"resourceRules": [], "objectSelector": {"matchLabels": {"a": "b"}}},
            "matchConditions": [{"name": "c", "expression": "request.operation != 'CONNECT'"}],
            "variables": [{"name": "names", "expression": "object.spec.containers.map(c, c.name)"}],
            "validations": [
                {"expression": "variables.names.exists(n, n == params.data.name)"},
                {"expression": "object.metadata.labels.size() > 0"},
            ],
        }});
        let policy: api::ValidatingAdmissionPolicy = serde_json::from_value(policy).unwrap();
        let policy = Policy::Validating(&policy);
        let evaluator = Evaluator::new(
            policy,
            named("pods").unwrap(),
            operation,
            &policy.reads().params,
            1,
        );
        let object = pratique_json::parse(object.as_bytes()).unwrap();
        let evaluated = evaluator.evaluate(&object, None);
        assert!(
            evaluated
                .iter()
                .all(|evaluation| evaluation.cost > 0 && evaluation.parts.is_empty()),
            "{evaluated:?}"
        );
        evaluated
            .into_iter()
            .map(|evaluation| (evaluation.expression, evaluation.error))
            .collect()
    }

    #[test]
    fn expressions_have_their_errors() {
        let pod = r#"{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a"}]}}"#;
        assert_eq!(
            evaluated(Operation::Create, pod),
            [
                (ExpressionId::Condition(0), None),
                (ExpressionId::Variable("names".to_owned()), None),
                (ExpressionId::Validation(0), None),
                (
                    ExpressionId::Validation(1),
                    Some("no such key: labels".to_owned())
                ),
            ]
        );
    }
}
