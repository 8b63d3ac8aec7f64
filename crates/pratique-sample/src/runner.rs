//! Runs one policy over any request, with the engine that serves requests.

use std::sync::Arc;

use k8s_openapi::api::admissionregistration::v1 as api;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use pratique_exclusion::Origin;
use pratique_expression::Cache;
use pratique_json::Value;
use pratique_match::{Equivalents, Namespace, Namespaces};
use pratique_policy::authz::FixedAuthorizer;
use pratique_policy::{
    Cluster, EvalContext, MutatedRequest, MutatingPolicies, ParamScope, Policies, PolicyTrace, Reinvocation,
    mutate, mutate_once, validate,
};
use pratique_schema::Release;
use pratique_schema::merge::MergeSchema;
use pratique_types::{AdmissionRequest, GroupVersionKind};

use crate::custom::{CustomKind, CustomKinds};
use crate::param::{ParamName, generate_param};
use crate::policy::Policy;
use crate::reads::ReadTree;

/// A compiled policy that applies to all requests, regardless of its rules, selectors and bindings.
#[derive(Debug)]
pub(crate) struct PolicyRunner {
    release: &'static Release,
    compiled: CompiledPolicy,
    cluster: SampleCluster,
}

#[derive(Debug)]
enum CompiledPolicy {
    Validating(Box<Policies>),
    Mutating(Box<MutatingPolicies>),
}

impl PolicyRunner {
    /// Compiles a policy for the release of a cache, as one of an origin. Its params are generated from reads of them and a seed;
    /// `params` is null without.
    pub(crate) fn new(
        policy: Policy<'_>,
        origin: Origin,
        params: Option<(&ReadTree, u64)>,
        cache: &Cache,
    ) -> Self {
        let mut param_kind = None;
        let compiled = match policy {
            Policy::Validating(policy) => {
                let mut policy = policy.clone();
                policy.metadata = named(POLICY);
                let spec = policy.spec.get_or_insert_default();
                spec.match_constraints = Some(any_request());
                param_kind = spec.param_kind.as_ref().and_then(parse_kind);
                let binding = api::ValidatingAdmissionPolicyBinding {
                    metadata: named(BINDING),
                    spec: api::ValidatingAdmissionPolicyBindingSpec {
                        policy_name: POLICY.to_owned(),
                        validation_actions: vec!["Deny".to_owned()],
                        param_ref: params.and(param_kind.as_ref()).map(|_| param_ref()),
                        ..Default::default()
                    },
                };
                CompiledPolicy::Validating(Box::new(Policies::compile([&policy], [&binding], origin, cache)))
            }
            Policy::Mutating(policy) => {
                let mut policy = policy.clone();
                policy.metadata = named(POLICY);
                let spec = policy.spec.get_or_insert_default();
                spec.match_constraints = Some(any_request());
                param_kind = spec.param_kind.as_ref().and_then(parse_kind).or(param_kind);
                let binding = api::MutatingAdmissionPolicyBinding {
                    metadata: named(BINDING),
                    spec: Some(api::MutatingAdmissionPolicyBindingSpec {
                        policy_name: Some(POLICY.to_owned()),
                        param_ref: params.and(param_kind.as_ref()).map(|_| param_ref()),
                        ..Default::default()
                    }),
                };
                let compiled = MutatingPolicies::compile([&policy], [&binding], origin, cache);
                CompiledPolicy::Mutating(Box::new(compiled))
            }
        };
        PolicyRunner {
            release: cache.release(),
            compiled,
            cluster: SampleCluster::new(cache.release(), param_kind, params),
        }
    }

    /// The release of the server.
    pub(crate) fn release(&self) -> &'static Release {
        self.release
    }

    /// Has kinds of custom resources in its cluster.
    pub(crate) fn with_custom_kinds(mut self, custom: Arc<CustomKinds>) -> Self {
        self.cluster.custom = custom;
        self
    }

    /// Runs the policy; the authorizer allows every check, or none. The decision does not matter, only what the trace
    /// sees of it.
    pub(crate) fn run(&self, request: &AdmissionRequest<'_>, allowed: bool, trace: &dyn PolicyTrace) {
        let authorizer = Arc::new(FixedAuthorizer { allowed });
        let context = EvalContext::new(&self.cluster, authorizer).with_trace(trace);
        match &self.compiled {
            CompiledPolicy::Validating(policies) => {
                drop(validate(&[&**policies], request, context, &mut ()));
            }
            CompiledPolicy::Mutating(policies) => {
                drop(mutate(&[&**policies], request, &context, &mut ()));
            }
        }
    }

    /// Runs a mutating policy; `None` for a validating one, and where a run does not end.
    pub(crate) fn mutate(
        &self,
        request: &AdmissionRequest<'_>,
        allowed: bool,
        trace: &dyn PolicyTrace,
    ) -> Option<MutatedRequest> {
        let CompiledPolicy::Mutating(policies) = &self.compiled else {
            return None;
        };
        let authorizer = Arc::new(FixedAuthorizer { allowed });
        let context = EvalContext::new(&self.cluster, authorizer).with_trace(trace);
        let mut once = Reinvocation::default();
        mutate_once(&[&**policies], request, &context, &mut once, &mut ()).ok()
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

fn any_request() -> api::MatchResources {
    let any = || Some(vec!["*".to_owned()]);
    api::MatchResources {
        resource_rules: Some(vec![api::NamedRuleWithOperations {
            api_groups: any(),
            api_versions: any(),
            operations: any(),
            resources: Some(vec!["*/*".to_owned()]),
            scope: Some("*".to_owned()),
            ..Default::default()
        }]),
        match_policy: Some("Exact".to_owned()),
        namespace_selector: Some(LabelSelector::default()),
        object_selector: Some(LabelSelector::default()),
        ..Default::default()
    }
}

fn parse_kind(kind: &api::ParamKind) -> Option<GroupVersionKind> {
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
    custom: Arc<CustomKinds>,
}

/// The namespace of requests.
const NAMESPACE_OBJECT: &[u8] = br#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default",
    "creationTimestamp":"2025-01-01T00:00:00Z","labels":{"kubernetes.io/metadata.name":"default"},"resourceVersion":"1",
    "uid":"01234567-89ab-cdef-0123-456789abcdef"},"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}}"#;

impl SampleCluster {
    fn new(
        release: &'static Release,
        param_kind: Option<GroupVersionKind>,
        params: Option<(&ReadTree, u64)>,
    ) -> Self {
        let param = param_kind.as_ref().zip(params).map(|(kind, (reads, seed))| {
            let name = ParamName {
                kind,
                name: PARAM,
                namespace: "",
            };
            generate_param(name, reads, seed)
        });
        let namespace = pratique_json::parse(NAMESPACE_OBJECT).map(Value::into_owned);
        SampleCluster {
            equivalents: Equivalents::of_release(release.resources()),
            namespace: namespace.unwrap_or_default(),
            param_kind,
            param: param.unwrap_or_default(),
            custom: Arc::default(),
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

    fn custom_merge_schema(&self, kind: &GroupVersionKind) -> Option<&MergeSchema> {
        self.custom.find(kind).map(CustomKind::merge_schema)
    }
}
