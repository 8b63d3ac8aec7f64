//! The runs of an observed policy: what of it is evaluated by itself.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use k8s_openapi::api::admissionregistration::v1 as api;
use pratique_cel::ast::{Ast, Expr, ExprId};
use pratique_exclusion::Origin;
use pratique_expression::Cache;
use pratique_policy::ExpressionId;

use crate::policy::Policy;
use crate::runner::PolicyRunner;

/// A part of a policy that is evaluated by itself: its conditions, and one validation or mutation, or all audit annotations, with the
/// variables that these read. A mutation that fails must not hide those after it, and a validation reads less of an object than all of
/// them.
#[derive(Debug)]
pub struct ObservedRun {
    /// The index of the validation or mutation, which is the first one of this run.
    pub(super) index: usize,
    pub(super) kind: RunKind,
    /// The places of its expressions among those of the policy.
    pub(super) sites: Vec<usize>,
    alone: RunPolicy,
    key: Arc<str>,
    /// Compiled when something is evaluated: what is known already needs none.
    runner: OnceCell<PolicyRunner>,
}

/// A policy that has only the expressions of a run.
#[derive(Debug)]
enum RunPolicy {
    Validating(Box<api::ValidatingAdmissionPolicy>),
    Mutating(Box<api::MutatingAdmissionPolicy>),
}

/// What a run is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunKind {
    Validation,
    Annotations,
    Mutation,
}

impl ObservedRun {
    pub(super) fn new(
        policy: Policy<'_>,
        run: (RunKind, usize),
        ids: &[ExpressionId],
        trees: &[Option<Ast>],
    ) -> Self {
        let (kind, index) = run;
        let sites = find_run_sites(run, ids, trees);
        let names = sites.iter().filter_map(|site| variable_name(ids.get(*site)?));
        let alone = RunPolicy::new(policy, run, &names.collect());
        ObservedRun {
            index,
            kind,
            key: format!("{index} {kind:?} {sites:?} {alone:?}").into(),
            sites,
            alone,
            runner: OnceCell::new(),
        }
    }

    /// What evaluates it.
    pub(super) fn runner(&self, cache: &Cache) -> &PolicyRunner {
        // Static policies see all kinds, those of the API no configuration of admission.
        let compile = || PolicyRunner::new(self.alone.policy(), Origin::Static, None, cache);
        self.runner.get_or_init(compile)
    }

    /// Whether it is of a validation with this index.
    pub fn is_of_validation(&self, index: usize) -> bool {
        self.kind == RunKind::Validation && self.index == index
    }

    /// All that its observations depend on, apart from the release and the requests: two runs with one key are evaluated alike, and
    /// their expressions have the same places.
    pub fn key(&self) -> &Arc<str> {
        &self.key
    }
}

impl RunPolicy {
    /// A policy with the variables of these names, and of the rest what a run evaluates.
    fn new(policy: Policy<'_>, (kind, index): (RunKind, usize), variables: &BTreeSet<&str>) -> Self {
        let is_variable = |variable: &api::Variable| variables.contains(variable.name.as_str());
        match policy {
            Policy::Validating(policy) => {
                let of_spec = |spec: &api::ValidatingAdmissionPolicySpec| {
                    let validations = spec.validations.iter().flatten().enumerate();
                    let is_alone = |at: usize| kind == RunKind::Validation && at == index;
                    let validations = validations
                        .filter(|(at, _)| is_alone(*at))
                        .map(|(_, validation)| {
                            // A text that is no expression is not observed.
                            api::Validation {
                                message: None,
                                reason: None,
                                ..validation.clone()
                            }
                        });
                    let annotations = spec.audit_annotations.as_ref();
                    api::ValidatingAdmissionPolicySpec {
                        audit_annotations: annotations.filter(|_| kind == RunKind::Annotations).cloned(),
                        failure_policy: spec.failure_policy.clone(),
                        match_conditions: spec.match_conditions.clone(),
                        match_constraints: None,
                        param_kind: spec.param_kind.clone(),
                        validations: Some(validations.collect()),
                        variables: spec.variables.as_ref().map(|all| {
                            let read = all.iter().filter(|variable| is_variable(variable));
                            read.cloned().collect()
                        }),
                    }
                };
                RunPolicy::Validating(Box::new(api::ValidatingAdmissionPolicy {
                    spec: policy.spec.as_ref().map(of_spec),
                    ..Default::default()
                }))
            }
            Policy::Mutating(policy) => {
                let of_spec = |spec: &api::MutatingAdmissionPolicySpec| {
                    let mut spec = spec.clone();
                    spec.match_constraints = None;
                    spec.variables.iter_mut().for_each(|all| all.retain(is_variable));
                    if let Some(mutations) = spec.mutations.as_mut() {
                        *mutations = mutations.drain(..).skip(index).take(1).collect();
                    }
                    spec
                };
                RunPolicy::Mutating(Box::new(api::MutatingAdmissionPolicy {
                    spec: policy.spec.as_ref().map(of_spec),
                    ..Default::default()
                }))
            }
        }
    }

    fn policy(&self) -> Policy<'_> {
        match self {
            RunPolicy::Validating(policy) => Policy::Validating(policy),
            RunPolicy::Mutating(policy) => Policy::Mutating(policy),
        }
    }
}

/// The places of the expressions that a run evaluates: of variables only those that others of them read.
fn find_run_sites(
    (kind, index): (RunKind, usize),
    ids: &[ExpressionId],
    trees: &[Option<Ast>],
) -> Vec<usize> {
    let is_evaluated = |id: &ExpressionId| match id {
        ExpressionId::Condition(_) => true,
        ExpressionId::Validation(at) | ExpressionId::Message(at) => {
            kind == RunKind::Validation && *at == index
        }
        ExpressionId::Mutation(at) => kind == RunKind::Mutation && *at == index,
        ExpressionId::Annotation(_) => kind == RunKind::Annotations,
        ExpressionId::Variable(_) => false,
    };
    let mut sites = Vec::new();
    let mut read = BTreeSet::new();
    let mut reads_all = false;
    // Variables see those before them.
    for (site, id) in ids.iter().enumerate().rev() {
        let is_read = variable_name(id).is_some_and(|name| reads_all || read.contains(name));
        if !is_evaluated(id) && !is_read {
            continue;
        }
        sites.push(site);
        match trees.get(site).and_then(Option::as_ref) {
            Some(tree) => reads_all |= !collect_read_variables(tree, &mut read),
            None => reads_all = true,
        }
    }
    sites.reverse();
    sites
}

/// Adds the names of the variables that an expression reads; false if it may read any.
fn collect_read_variables<'t>(tree: &'t Ast, read: &mut BTreeSet<&'t str>) -> bool {
    let is_variables = |id: &ExprId| matches!(tree.expr(*id), Expr::Ident(name) if name.trim_start_matches('.') == "variables");
    let mut selected = BTreeSet::new();
    for id in tree.ids() {
        if let Expr::Select { operand, field, .. } = tree.expr(id)
            && is_variables(operand)
        {
            read.insert(&**field);
            selected.insert(*operand);
        }
    }
    tree.ids().filter(is_variables).all(|id| selected.contains(&id))
}

/// The name of a variable.
pub(super) fn variable_name(id: &ExpressionId) -> Option<&str> {
    match id {
        ExpressionId::Variable(name) => Some(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use pratique_cel::Environment;
    use serde_json::json;

    use super::*;

    /// The names of the variables that the run of each validation has.
    fn read_variables(variables: &[&str], validations: &[&str]) -> Vec<String> {
        let names = ["a", "b", "c", "a"];
        let variables = names.iter().zip(variables);
        let variables: Vec<_> = variables
            .map(|(name, text)| json!({"name": name, "expression": text}))
            .collect();
        let validations: Vec<_> = validations
            .iter()
            .map(|text| json!({"expression": text}))
            .collect();
        let spec = json!({"variables": variables, "validations": validations});
        let policy: api::ValidatingAdmissionPolicy = serde_json::from_value(json!({"spec": spec})).unwrap();
        let policy = Policy::Validating(&policy);
        let expressions = policy.expressions();
        let environment = Environment::kubernetes();
        let trees = expressions
            .iter()
            .map(|expression| environment.parse(expression.text).ok());
        let trees: Vec<Option<Ast>> = trees.collect();
        let ids: Vec<ExpressionId> = expressions.into_iter().map(|expression| expression.id).collect();
        let names = |index: usize| {
            let run = ObservedRun::new(policy, (RunKind::Validation, index), &ids, &trees);
            let RunPolicy::Validating(alone) = run.alone else {
                panic!("not a validating policy")
            };
            let variables = alone.spec.unwrap().variables.unwrap();
            let names: Vec<String> = variables.into_iter().map(|variable| variable.name).collect();
            names.join(" ")
        };
        (0..validations.len()).map(names).collect()
    }

    #[test]
    fn a_run_has_the_variables_that_it_reads() {
        let variables = ["object.x", "variables.a + 1", "2", "3"];
        let validations = [
            "object.y == 1",
            "variables.b == 1",
            "has(variables.c)",
            ".variables == null",
            "syntax error",
        ];
        let read = read_variables(&variables, &validations);
        assert_eq!(read, ["", "a b a", "c", "a b c a", "a b c a"]);
    }
}
