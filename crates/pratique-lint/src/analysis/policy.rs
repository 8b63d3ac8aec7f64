//! The expressions of a policy under facts.

use std::collections::{HashMap, HashSet};

use pratique_cel::ast::Ast;
use pratique_expression::{CURRENT_MINOR, ExpressionPurpose, environment};

use super::facts::{KnownValue, RequestFacts};
use super::fold::FoldedExpression;
use super::walk::live_nodes;
use crate::subject::ExpressionSite;

/// The expressions of a policy, parsed; none for one that does not parse.
pub(crate) struct ParsedExpressions {
    pub(crate) asts: Vec<Option<Ast>>,
}

/// The expressions of a policy, folded under facts.
pub(crate) struct FoldedPolicy {
    /// By site.
    pub(crate) folded: Vec<FoldedExpression>,
    /// Whether a site is evaluated.
    pub(crate) active: Vec<bool>,
}

/// The syntax tree of an expression; none for one that does not parse.
pub(crate) fn parse_site(site: &ExpressionSite<'_>) -> Option<Ast> {
    environment(site.declarations, CURRENT_MINOR)
        .parse(site.text)
        .ok()
}

impl ParsedExpressions {
    pub(crate) fn new(sites: &[ExpressionSite<'_>]) -> Self {
        ParsedExpressions {
            asts: sites.iter().map(parse_site).collect(),
        }
    }

    /// Folds the expressions under facts; `None` if a match condition is always false.
    pub(crate) fn fold(
        &self,
        sites: &[ExpressionSite<'_>],
        facts: &RequestFacts<'_>,
    ) -> Option<FoldedPolicy> {
        let mut variables = HashMap::new();
        let mut folded_policy = FoldedPolicy {
            folded: Vec::with_capacity(sites.len()),
            active: Vec::with_capacity(sites.len()),
        };
        let mut holds = false;
        for (site, ast) in sites.iter().zip(&self.asts) {
            let facts = RequestFacts {
                no_namespace: site.usage == ExpressionPurpose::MatchCondition,
                ..*facts
            };
            let folded = ast
                .as_ref()
                .map(|ast| FoldedExpression::new(ast, &facts, &variables))
                .unwrap_or_default();
            let value = ast
                .as_ref()
                .map_or(KnownValue::Unknown, |ast| folded.value(ast.root).clone());
            match site.usage {
                ExpressionPurpose::MatchCondition if value == KnownValue::Bool(false) => return None,
                ExpressionPurpose::Validation => holds = value == KnownValue::Bool(true),
                _ => {}
            }
            if let Some(name) = site.variable() {
                variables.insert(name.to_owned(), value);
            }
            // The message of a validation that holds is never evaluated.
            folded_policy
                .active
                .push(site.variable().is_none() && !(site.usage == ExpressionPurpose::Message && holds));
            folded_policy.folded.push(folded);
        }
        self.activate_variables(sites, &mut folded_policy);
        Some(folded_policy)
    }

    /// Marks the variables that are read, from the last to the first: each sees those before it.
    fn activate_variables(&self, sites: &[ExpressionSite<'_>], folded_policy: &mut FoldedPolicy) {
        let mut read = HashSet::new();
        for (index, site) in sites.iter().enumerate().rev() {
            let active = match site.variable() {
                Some(name) => read.contains(name),
                None => folded_policy.active.get(index).copied().unwrap_or_default(),
            };
            if let Some(place) = folded_policy.active.get_mut(index) {
                *place = active;
            }
            let (Some(Some(ast)), Some(folded), true) =
                (self.asts.get(index), folded_policy.folded.get(index), active)
            else {
                continue;
            };
            for id in live_nodes(ast, folded) {
                if let Some([root, name, ..]) = folded.path(id)
                    && root == "variables"
                {
                    read.insert(name.clone());
                }
            }
        }
    }
}
