//! The parts that validating and mutating policies have in common: matching, match conditions, variables, bindings.

use std::sync::Arc;

use pratique_core::Cluster;
pub(crate) use pratique_core::FailurePolicy;
use pratique_expression::{Cache, Composition, Declarations, ExpressionPurpose, MissingDependency};
use pratique_match::{MatchResources, MatchedResource};
use pratique_types::{GroupVersion, GroupVersionKind};

use k8s_openapi::api::admissionregistration::v1 as api;

use crate::binding::PolicyBindings;
use crate::compiled_expressions::{CompiledExpression, NamedVariable, PolicyCompiler};
use crate::constraints::SharedConstraints;
use crate::unmatched_reason::UnmatchedReason;

/// A compiled policy without its validations or mutations.
#[derive(Debug)]
pub(crate) struct PolicyCore {
    pub(crate) name: String,
    pub(crate) constraints: Arc<MatchResources>,
    pub(crate) failure_policy: FailurePolicy,
    pub(crate) param_kind: Option<GroupVersionKind>,
    /// By name, in order.
    pub(crate) variables: Box<[NamedVariable]>,
    pub(crate) conditions: Box<[CompiledExpression]>,
    pub(crate) bindings: PolicyBindings,
}

/// The parts of a policy's `spec` that make a [`PolicyCore`].
pub(crate) struct PolicyParts<'p> {
    pub(crate) constraints: Option<&'p api::MatchResources>,
    pub(crate) failure_policy: Option<&'p str>,
    pub(crate) param_kind: Option<&'p api::ParamKind>,
    pub(crate) variables: &'p [api::Variable],
    pub(crate) conditions: &'p [api::MatchCondition],
}

/// The [`PolicyParts`] of a `spec` of either kind of policy; their types have no trait in common.
macro_rules! parts_of {
    ($spec:ident) => {
        $crate::policy_core::PolicyParts {
            constraints: $spec.match_constraints.as_ref(),
            failure_policy: $spec.failure_policy.as_deref(),
            param_kind: $spec.param_kind.as_ref(),
            variables: $spec.variables.as_deref().unwrap_or_default(),
            conditions: $spec.match_conditions.as_deref().unwrap_or_default(),
        }
    };
}
pub(crate) use parts_of;

impl PolicyCore {
    /// Compiles the common parts; returns the compiler for the rest as well.
    ///
    /// `None` for a policy whose `paramKind` is no kind at all: an API server leaves it out.
    pub(crate) fn compile<'c>(
        name: String,
        parts: &PolicyParts<'_>,
        bindings: PolicyBindings,
        cache: &'c Cache,
        constraints: &SharedConstraints,
    ) -> Option<(Self, PolicyCompiler<'c>)> {
        let param_kind = match parts.param_kind {
            None => None,
            Some(kind) => {
                let version = GroupVersion::parse(kind.api_version.as_deref().unwrap_or_default()).ok()?;
                Some(version.with_kind(kind.kind.as_deref().unwrap_or_default()))
            }
        };
        let declarations = parts.declarations();
        let composition = Composition::new(cache);
        let (compiler, variables) = PolicyCompiler::new(composition, parts.variables, declarations);
        let conditions = parts.conditions.iter().map(|condition| {
            compiler.compile(
                &condition.expression,
                ExpressionPurpose::MatchCondition,
                declarations,
            )
        });
        let core = PolicyCore {
            name,
            constraints: constraints.shared(MatchResources::compile(parts.constraints)),
            failure_policy: FailurePolicy::parse(parts.failure_policy),
            param_kind,
            variables,
            conditions: conditions.collect(),
            bindings,
        };
        Some((core, compiler))
    }

    /// Whether a variable or a condition reads `authorizer`.
    pub(crate) fn asks_authorizer(&self) -> bool {
        let variables = self.variables.iter().map(|(_, variable)| variable);
        variables
            .chain(&self.conditions)
            .any(CompiledExpression::asks_authorizer)
    }

    /// Accepts a request that matches the policy's constraints, unless the `paramKind` is in error or unknown.
    pub(crate) fn accepts<'s>(
        &self,
        matched: MatchedResource<'s>,
        cluster: &dyn Cluster,
    ) -> Result<MatchedResource<'s>, UnmatchedReason> {
        match &self.param_kind {
            Some(kind) if cluster.param_scope(kind).is_none() => Err(if cluster.knows_params(kind) {
                UnmatchedReason::failed(format!(
                    "failed to find resource referenced by paramKind: '{kind}'"
                ))
            } else {
                UnmatchedReason::Undecided(Box::new(MissingDependency::Params {
                    kind: kind.to_string(),
                    namespace: String::new(),
                    name: None,
                }))
            }),
            _ => Ok(matched),
        }
    }
}

impl PolicyParts<'_> {
    /// The variables that all expressions but those of messages may name.
    pub(crate) fn declarations(&self) -> Declarations {
        Declarations {
            params: self.param_kind.is_some(),
            authorizer: true,
            patch_types: false,
            variables: true,
        }
    }
}
