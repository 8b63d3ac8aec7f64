//! Policies of manifests: their expressions, and the resources that they match.

use k8s_openapi::api::admissionregistration::v1 as api;
use pratique_expression::{CURRENT_MINOR, Declarations, ExpressionPurpose, environment};
use pratique_policy::ExpressionId;
use pratique_schema::Release;
use pratique_types::Operation;
use pratique_types::builtin::ServedResource;

use crate::reads::PolicyReads;

/// A policy.
#[derive(Clone, Copy, Debug)]
pub enum Policy<'p> {
    /// A validating one.
    Validating(&'p api::ValidatingAdmissionPolicy),
    /// A mutating one.
    Mutating(&'p api::MutatingAdmissionPolicy),
}

/// An expression of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyExpression<'p> {
    /// Its identity.
    pub id: ExpressionId,
    /// Its field: `spec.validations[0].expression`.
    pub field: String,
    /// Its text.
    pub text: &'p str,
    /// What it is for.
    pub usage: ExpressionPurpose,
    /// The variables that it can use.
    pub declarations: Declarations,
}

/// A field that the specs of both kinds of policies have; `None` without a spec.
macro_rules! spec_field {
    ($policy:expr, $field:ident) => {
        match $policy {
            Policy::Validating(policy) => policy.spec.as_ref().map_or(&None, |spec| &spec.$field),
            Policy::Mutating(policy) => policy.spec.as_ref().map_or(&None, |spec| &spec.$field),
        }
    };
}

impl<'p> Policy<'p> {
    /// The expressions: match conditions, variables, then the rest in order.
    pub fn expressions(self) -> Vec<PolicyExpression<'p>> {
        let params = self.param_kind().is_some();
        let mut all = Vec::new();
        let mut add = |id, field, text, usage| {
            all.push(PolicyExpression {
                id,
                field,
                text,
                usage,
                declarations: Declarations {
                    params,
                    authorizer: usage != ExpressionPurpose::Message,
                    patch_types: matches!(
                        usage,
                        ExpressionPurpose::ApplyConfiguration | ExpressionPurpose::JsonPatch
                    ),
                    variables: usage != ExpressionPurpose::MatchCondition,
                },
            });
        };
        for (at, condition) in self.conditions().iter().enumerate() {
            let field = format!("spec.matchConditions[{at}].expression");
            let id = ExpressionId::Condition(at);
            add(
                id,
                field,
                &condition.expression,
                ExpressionPurpose::MatchCondition,
            );
        }
        for (at, variable) in self.variables().iter().enumerate() {
            let id = ExpressionId::Variable(variable.name.clone());
            let field = format!("spec.variables[{at}].expression");
            add(id, field, &variable.expression, ExpressionPurpose::Variable);
        }
        match self {
            Policy::Validating(policy) => {
                let spec = policy.spec.as_ref();
                let validations = spec.and_then(|spec| spec.validations.as_deref());
                for (at, validation) in validations.unwrap_or_default().iter().enumerate() {
                    let id = ExpressionId::Validation(at);
                    let field = format!("spec.validations[{at}].expression");
                    add(id, field, &validation.expression, ExpressionPurpose::Validation);
                    let message = validation.message_expression.as_deref();
                    if let Some(text) = message.filter(|text| !text.is_empty()) {
                        let field = format!("spec.validations[{at}].messageExpression");
                        add(ExpressionId::Message(at), field, text, ExpressionPurpose::Message);
                    }
                }
                let annotations = spec.and_then(|spec| spec.audit_annotations.as_deref());
                for (at, annotation) in annotations.unwrap_or_default().iter().enumerate() {
                    let field = format!("spec.auditAnnotations[{at}].valueExpression");
                    let id = ExpressionId::Annotation(at);
                    add(
                        id,
                        field,
                        &annotation.value_expression,
                        ExpressionPurpose::AuditAnnotation,
                    );
                }
            }
            Policy::Mutating(policy) => {
                let mutations = policy.spec.as_ref().and_then(|spec| spec.mutations.as_deref());
                for (at, mutation) in mutations.unwrap_or_default().iter().enumerate() {
                    let apply = mutation
                        .apply_configuration
                        .as_ref()
                        .and_then(|configuration| configuration.expression.as_deref());
                    let patch = mutation
                        .json_patch
                        .as_ref()
                        .and_then(|patch| patch.expression.as_deref());
                    let both = [
                        ("applyConfiguration", apply, ExpressionPurpose::ApplyConfiguration),
                        ("jsonPatch", patch, ExpressionPurpose::JsonPatch),
                    ];
                    for (form, text, usage) in both {
                        let field = format!("spec.mutations[{at}].{form}.expression");
                        if let Some(text) = text {
                            add(ExpressionId::Mutation(at), field, text, usage);
                        }
                    }
                }
            }
        }
        all
    }

    /// The reads of its expressions; those with syntax errors read nothing.
    pub fn reads(self) -> PolicyReads {
        let expressions = self.expressions();
        let parsed: Vec<_> = expressions
            .iter()
            .filter_map(|expression| {
                let name = match &expression.id {
                    ExpressionId::Variable(name) => Some(name.as_str()),
                    _ => None,
                };
                Some((
                    name,
                    environment(expression.declarations, CURRENT_MINOR)
                        .parse(expression.text)
                        .ok()?,
                ))
            })
            .collect();
        PolicyReads::new(parsed.iter().map(|(name, ast)| (*name, ast)))
    }

    /// The built-in resources of a release that its rules match, with the operations; exclude rules are ignored.
    pub fn served(self, release: &'static Release) -> Vec<(&'static ServedResource, Vec<Operation>)> {
        let rules = self
            .constraints()
            .and_then(|constraints| constraints.resource_rules.as_deref());
        let rules = rules.unwrap_or_default();
        let operations = |served: &ServedResource| {
            let rules = rules.iter().filter(|rule| matches(rule, served));
            let names: Vec<&String> = rules.flat_map(|rule| rule.operations.iter().flatten()).collect();
            let named = |operation: &Operation| {
                names
                    .iter()
                    .any(|name| *name == "*" || *name == operation.as_str())
            };
            Operation::ALL.into_iter().filter(named).collect::<Vec<_>>()
        };
        let all = release
            .resources()
            .served()
            .iter()
            .map(|served| (served, operations(served)));
        all.filter(|(_, operations)| !operations.is_empty()).collect()
    }

    /// The match constraints.
    pub fn constraints(self) -> Option<&'p api::MatchResources> {
        spec_field!(self, match_constraints).as_ref()
    }

    /// The failure policy: `Fail` or `Ignore`.
    pub fn failure_policy(self) -> Option<&'p str> {
        spec_field!(self, failure_policy).as_deref()
    }

    fn param_kind(self) -> Option<&'p api::ParamKind> {
        spec_field!(self, param_kind).as_ref()
    }

    fn conditions(self) -> &'p [api::MatchCondition] {
        spec_field!(self, match_conditions).as_deref().unwrap_or_default()
    }

    fn variables(self) -> &'p [api::Variable] {
        spec_field!(self, variables).as_deref().unwrap_or_default()
    }
}

fn matches(rule: &api::NamedRuleWithOperations, served: &ServedResource) -> bool {
    let has = |names: &Option<Vec<String>>, name: &str| {
        let names = names.as_deref().unwrap_or_default();
        names.iter().any(|pattern| pattern == "*" || pattern == name)
    };
    let is = |pattern: &String| {
        let (resource, part) = pattern.split_once('/').unwrap_or((pattern, ""));
        (resource == "*" || resource == served.resource.resource)
            && (part == "*" || part == served.subresource)
    };
    let in_scope = match rule.scope.as_deref() {
        Some("Namespaced") => served.namespaced,
        Some("Cluster") => !served.namespaced,
        _ => true,
    };
    in_scope
        && has(&rule.api_groups, &served.resource.group)
        && has(&rule.api_versions, &served.resource.version)
        && rule.resources.iter().flatten().any(is)
}
