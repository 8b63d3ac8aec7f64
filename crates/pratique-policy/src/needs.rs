//! What the decisions of policies may depend on besides the request, as their expressions and selectors tell.

use crate::compiled::Compiled;
use crate::hook::Hook;
use crate::policies::Policies;

/// What the decision of a policy or a webhook may depend on besides the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The policy, binding or webhook.
    pub name: String,
    /// What it needs.
    pub kind: NeedKind,
}

/// What decisions may depend on besides the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NeedKind {
    /// Answers to authorization checks.
    Authorizer,
    /// More of `namespaceObject` than its name.
    Namespace,
    /// Labels of namespaces besides that of their names, by which a selector selects.
    NamespaceLabels,
    /// Params.
    Params,
}

impl Policies {
    /// What they may depend on besides the request.
    pub fn needs(&self) -> impl Iterator<Item = Need> {
        self.policies.iter().flat_map(|policy| {
            let expressions = &policy.expressions;
            let validations = expressions.validations.iter();
            let validations =
                validations.flat_map(|own| [&own.expression].into_iter().chain(&own.message_expression));
            let annotations = expressions.annotations.iter().map(|own| &own.value);
            needs(&policy.hook, validations.chain(annotations))
        })
    }
}

/// `expressions` are those besides variables and match conditions.
pub(crate) fn needs<'p>(hook: &'p Hook, expressions: impl Iterator<Item = &'p Compiled>) -> Vec<Need> {
    let named = |name: &str, kind| Need {
        name: name.to_owned(),
        kind,
    };
    let mut needs = Vec::new();
    let mut add = |needed: bool, kind| needs.extend(needed.then(|| named(&hook.name, kind)));
    let variables = hook.variables.iter().map(|(_, variable)| variable);
    let all: Vec<&Compiled> = variables.chain(expressions).collect();
    let asks = hook.asks_authorizer() || all.iter().any(|own| own.asks_authorizer());
    // There is no namespace in match conditions.
    let reads = all.iter().any(|own| own.reads_whole_namespace());
    add(hook.param_kind.is_some(), NeedKind::Params);
    add(hook.constraints.selects_namespaces(), NeedKind::NamespaceLabels);
    add(reads, NeedKind::Namespace);
    add(asks, NeedKind::Authorizer);
    let selective = hook.bindings.iter().filter(|binding| {
        let resources = binding.terms.resources.as_ref();
        resources.is_some_and(|own| own.selects_namespaces())
    });
    needs.extend(selective.map(|own| named(&own.name.to_string(), NeedKind::NamespaceLabels)));
    needs
}
