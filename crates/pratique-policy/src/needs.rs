//! Dependencies of the decisions of policies besides requests, according to their expressions and selectors.

use pratique_core::{DecisionNeed, NeedKind};

use crate::compiled_expressions::CompiledExpression;
use crate::policy_set::CompiledPolicy;

/// The needs of a policy.
pub(crate) fn needs(policy: &impl CompiledPolicy) -> Vec<DecisionNeed> {
    let core = policy.core();
    let variables = core.variables.iter().map(|(_, variable)| variable);
    let all: Vec<&CompiledExpression> = variables.chain(policy.expressions()).collect();
    let authorizer = core.asks_authorizer() || all.iter().any(|expression| expression.asks_authorizer());
    // Match conditions have no `namespaceObject`.
    let namespace = all.iter().any(|expression| expression.reads_whole_namespace());
    let needs = [
        (core.param_kind.is_some(), NeedKind::Params),
        (core.constraints.selects_namespaces(), NeedKind::NamespaceLabels),
        (namespace, NeedKind::Namespace),
        (authorizer, NeedKind::Authorizer),
    ];
    let needs = needs.into_iter().filter(|(needed, _)| *needed);
    let needs = needs.map(|(_, kind)| DecisionNeed::new(&core.name, kind));
    let selective = core.bindings.iter().filter(|binding| {
        let resources = binding.terms.resources.as_ref();
        resources.is_some_and(|resources| resources.selects_namespaces())
    });
    let of_bindings =
        selective.map(|binding| DecisionNeed::new(&binding.name.to_string(), NeedKind::NamespaceLabels));
    needs.chain(of_bindings).collect()
}
