//! What a server says of the rules of a definition once they are compiled.

use pratique_types::field::{Error, Path};
use pratique_validation::rules::{Errors, Node, internal_json};

use super::cost::{self, RULE_LIMIT, TotalCost};
use super::{CompiledRule, MessageExpression, RefusedRule, RuleNode};

/// The place of a schema, as far as it matters to its rules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RulePlace<'r> {
    /// The rules of the schema and below it, if there are any.
    pub(crate) node: Option<&'r RuleNode>,
    /// How many values of the schema there may be; `None` where nothing bounds them.
    pub(crate) cardinality: Option<u64>,
}

/// Tells the errors of rules.
pub(crate) struct RuleReporter<'r> {
    pub(crate) place: RulePlace<'r>,
    /// The list or map whose values have no old ones.
    pub(crate) uncorrelatable: Option<&'r Path<'r>>,
    /// Whether a rule may cost more than the limit of one, as those may that were there before.
    pub(crate) ignores_costs: bool,
    pub(crate) total: &'r mut TotalCost,
    pub(crate) errors: &'r mut Errors,
}

impl<'r> RulePlace<'r> {
    /// The place of a part of the schema, of which each value has up to `factor` values.
    // Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/cel_validation.go, childContext
    pub(crate) fn part(&self, node: Option<&'r RuleNode>, factor: Option<u64>) -> Self {
        let cardinality = self.cardinality.zip(factor);
        RulePlace {
            node,
            cardinality: cardinality.map(|(cardinality, factor)| cost::times(cardinality, factor)),
        }
    }
}

impl RuleReporter<'_> {
    /// Tells the errors of the rules of a schema, given as the definition has them.
    // Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, ValidateCustomResourceDefinitionOpenAPISchema
    pub(crate) fn report(&mut self, rules: &Node<'_, '_>) {
        let Some(node) = self.place.node else {
            return;
        };
        if let Some(detail) = node.type_error {
            self.errors.push(Error::internal(rules, detail));
            return;
        }
        for (rule, compiled) in rules.items().zip(&node.rules) {
            self.rule(&rule, compiled, node.max_cardinality);
        }
    }

    fn rule(&mut self, rule: &Node<'_, '_>, compiled: &CompiledRule, max_cardinality: u64) {
        let text = rule.child("rule");
        let cardinality = self.place.cardinality.unwrap_or(max_cardinality);
        let max_cost = cost::times(compiled.max_cost, cardinality);
        self.add_cost("estimated rule cost", max_cost, &text);
        match &compiled.body {
            Err(RefusedRule::Rule(detail) | RefusedRule::All(detail)) => {
                let bad_value = internal_json(
                    self.errors.release(),
                    "apiextensions.ValidationRule",
                    rule.value(),
                );
                self.errors.invalid(text, bad_value, detail);
            }
            Ok(body) => self.message(rule, &body.message),
        }
        let optional = rule.child("optionalOldSelf");
        if compiled.uses_old_self {
            if let Some(list) = self.uncorrelatable {
                let detail = format!(
                    "oldSelf cannot be used on the uncorrelatable portion of the schema within {list}"
                );
                self.errors.invalid(text, text.as_text(), &detail);
            }
        } else if let Some(given) = optional.some_bool() {
            let detail = "may not be set if oldSelf is not used in rule";
            self.errors.invalid(optional, given, detail);
        }
    }

    fn message(&mut self, rule: &Node<'_, '_>, message: &MessageExpression) {
        let field = rule.child("messageExpression");
        match message {
            MessageExpression::Absent => {}
            MessageExpression::Compiled { max_cost, .. } => {
                self.add_cost("estimated messageExpression cost", *max_cost, &field);
            }
            MessageExpression::Refused(detail) => {
                let bad_value = internal_json(
                    self.errors.release(),
                    "apiextensions.ValidationRule",
                    rule.value(),
                );
                self.errors.invalid(field, bad_value, detail);
            }
        }
    }

    /// Adds a cost to the total, and refuses one above the limit.
    fn add_cost(&mut self, what: &str, cost: u64, field: &Node<'_, '_>) {
        if cost > RULE_LIMIT && !self.ignores_costs {
            self.errors
                .forbidden(field, &cost::message(what, cost, RULE_LIMIT));
        }
        self.total.add(field, cost);
    }
}
