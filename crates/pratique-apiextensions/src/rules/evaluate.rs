//! Evaluates the rules over an object.

use pratique_cel::{Arena, Context, Fault, FaultKind, Program, Stop, Value as CelValue};
use pratique_json::Value;
use pratique_types::cel_limits::{PER_CALL_LIMIT, read_message};
use pratique_types::field::{BadValue, Error, ErrorList, Path};

use super::{CompiledRule, MessageExpression, RefusedRule, RuleBody, RuleNode, values};
use crate::schema::{SchemaNode, SchemaType};
use crate::validate::{CorrelatedValue, KeyedItems};

const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// One evaluation of the rules.
pub(super) struct RuleEvaluation<'e> {
    errors: &'e mut ErrorList,
    warnings: &'e mut Vec<String>,
    budget: u64,
}

/// No further rules are evaluated.
struct RuleHalt;

/// The old value at a place, as far as there is one.
#[derive(Clone, Copy, Default)]
struct OldValue<'o, 'v, 'a> {
    /// The old value that rules see.
    value: Option<&'o Value<'a>>,
    current: Option<&'o CorrelatedValue<'v, 'a>>,
    /// The nearest value around it that has an old one.
    around: Option<&'o CorrelatedValue<'v, 'a>>,
}

impl OldValue<'_, '_, '_> {
    /// Whether errors are only warnings, as nothing changed.
    // Upstream: apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go, shouldRatchetError
    fn is_unchanged(&self) -> bool {
        let nearest = self.current.or(self.around);
        nearest.is_some_and(CorrelatedValue::is_unchanged)
    }
}

/// A value with its schema and rules.
#[derive(Clone, Copy)]
struct ValuePlace<'p, 'a> {
    node: &'p RuleNode,
    schema: &'p SchemaNode,
    value: &'p Value<'a>,
    path: &'p Path<'p>,
}

impl<'e> RuleEvaluation<'e> {
    pub(super) fn new(budget: u64, errors: &'e mut ErrorList, warnings: &'e mut Vec<String>) -> Self {
        RuleEvaluation {
            errors,
            warnings,
            budget,
        }
    }

    /// What is left of the budget.
    pub(super) fn budget(&self) -> u64 {
        self.budget
    }

    /// Evaluates the rules over a value beside an old one that is not correlated with it: no error is left out.
    pub(super) fn beside<'a>(
        &mut self,
        node: &RuleNode,
        schema: &SchemaNode,
        value: &Value<'a>,
        old: Option<&Value<'a>>,
    ) {
        let old = OldValue {
            value: old,
            current: None,
            around: None,
        };
        self.evaluate_from_root(node, schema, value, old);
    }

    pub(super) fn root<'a>(
        &mut self,
        node: &RuleNode,
        schema: &SchemaNode,
        value: &Value<'a>,
        correlated: Option<&CorrelatedValue<'_, 'a>>,
    ) {
        let old = OldValue {
            value: correlated.map(|correlated| correlated.old),
            current: correlated,
            around: None,
        };
        self.evaluate_from_root(node, schema, value, old);
    }

    fn evaluate_from_root<'a>(
        &mut self,
        node: &RuleNode,
        schema: &SchemaNode,
        value: &Value<'a>,
        old: OldValue<'_, '_, 'a>,
    ) {
        let place = ValuePlace {
            node,
            schema,
            value,
            path: &Path::ROOT,
        };
        // The error was reported where the evaluation halted.
        let _ = self.place(place, old);
    }

    // Upstream: apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go, validate
    fn place<'a>(&mut self, place: ValuePlace<'_, 'a>, old: OldValue<'_, '_, 'a>) -> Result<(), RuleHalt> {
        if place.value.is_null() {
            return Ok(());
        }
        if !place.node.rules.is_empty() {
            self.rules(place, old)?;
        }
        match place.value {
            Value::Object(_) => self.members(place, old),
            Value::Array(items) => self.items(place, items, old),
            _ => Ok(()),
        }
    }

    fn members<'a>(&mut self, place: ValuePlace<'_, 'a>, old: OldValue<'_, '_, 'a>) -> Result<(), RuleHalt> {
        let Some(members) = place.value.as_object() else {
            return Ok(());
        };
        let is_correlatable = matches!(
            place.schema.map_type.as_deref(),
            None | Some("granular" | "atomic")
        );
        let old_members = old.value.and_then(Value::as_object).filter(|_| is_correlatable);
        let node = place.node;
        if node.properties.is_empty() && node.additional.is_none() {
            return Ok(());
        }
        for (name, value) in members.iter() {
            let path = place.path.child(name);
            let key = place.path.key(name);
            let (node, schema, path) = match (node.properties.get(name), place.schema.properties.get(name)) {
                (Some(node), Some(_)) if !node.has_type => continue,
                (Some(node), Some(schema)) => (node, schema, &path),
                _ => match (&node.additional, place.schema.additional_schema()) {
                    (Some(node), Some(schema)) => (&**node, schema, &key),
                    _ => continue,
                },
            };
            let inner = ValuePlace {
                node,
                schema,
                value,
                path,
            };
            let value = old_members.and_then(|old_members| old_members.get(name));
            // Types of objects are converted, so a change of theirs would not be seen.
            let is_type = old.around.is_none() && matches!(name, "apiVersion" | "kind");
            match old.current.filter(|_| !is_type) {
                Some(current) => {
                    let current_member = current.key(name);
                    let old = OldValue {
                        value,
                        current: current_member.as_ref(),
                        around: Some(current),
                    };
                    self.place(inner, old)?;
                }
                None => {
                    let around = old.around.filter(|_| old.current.is_none());
                    let old = OldValue {
                        value,
                        current: None,
                        around,
                    };
                    self.place(inner, old)?;
                }
            }
        }
        Ok(())
    }

    fn items<'a>(
        &mut self,
        place: ValuePlace<'_, 'a>,
        items: &[Value<'a>],
        old: OldValue<'_, '_, 'a>,
    ) -> Result<(), RuleHalt> {
        let (Some(node), Some(schema)) = (&place.node.items, place.schema.items.as_deref()) else {
            return Ok(());
        };
        let old_items = old.value.and_then(Value::as_array);
        let keyed = old_items.map(|old_items| KeyedItems::new(place.schema, old_items));
        for (at, value) in items.iter().enumerate() {
            let path = place.path.index(at);
            let inner = ValuePlace {
                node,
                schema,
                value,
                path: &path,
            };
            let current_item = old.current.and_then(|current| current.index(at));
            let old = OldValue {
                value: keyed.as_ref().and_then(|keyed| keyed.get(value)),
                current: current_item.as_ref(),
                around: old.current.or(old.around),
            };
            self.place(inner, old)?;
        }
        Ok(())
    }

    // Upstream: apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go, validateExpressions
    fn rules<'a>(&mut self, place: ValuePlace<'_, 'a>, old: OldValue<'_, '_, 'a>) -> Result<(), RuleHalt> {
        let of = Value::from(place.schema.type_name());
        let field = || place.path.to_string();
        if self.budget == 0 {
            self.errors.push(Error::invalid(field(), &of, OUT_OF_BUDGET));
            return Err(RuleHalt);
        }
        let arena = Arena::new();
        let is_resource = place.node.is_resource;
        let new = values::value(&arena, place.schema, is_resource, place.value);
        let old_value = old.value.filter(|value| !value.is_null());
        let uses_old = place.node.rules.iter().any(|rule| rule.uses_old_self);
        let old_value = old_value.filter(|_| uses_old);
        let old_self = old_value.map(|old_value| values::value(&arena, place.schema, is_resource, old_value));
        let optional = CelValue::Optional(old_self.map(|old_self| arena.value(old_self)));
        for rule in &place.node.rules {
            let body = match &rule.body {
                Ok(body) => body,
                Err(refused) => {
                    let detail = match refused {
                        RefusedRule::Rule(error) => format!("rule compile error: {error}"),
                        RefusedRule::All(error) => format!("rule compiler initialization error: {error}"),
                    };
                    self.errors.push(Error::invalid(field(), &of, &detail));
                    continue;
                }
            };
            if rule.uses_old_self && old_self.is_none() && !rule.is_old_self_optional {
                continue;
            }
            // The `messageExpression` does not see `oldSelf` as an optional.
            let inputs = RuleInputs {
                arena: &arena,
                new,
                old: old_self,
            };
            let of_rule = if rule.is_old_self_optional {
                RuleInputs {
                    old: Some(optional),
                    ..inputs
                }
            } else {
                inputs
            };
            let (result, cost) = of_rule.evaluate(body, &body.program);
            let Some(budget) = self.budget.checked_sub(cost) else {
                self.errors.push(Error::invalid(field(), &of, OUT_OF_BUDGET));
                return Err(RuleHalt);
            };
            self.budget = budget;
            match result {
                Ok(CelValue::Bool(true)) => {}
                Ok(_) => self.failed(rule, body, &inputs, place, old)?,
                Err(fault) => {
                    let is_over = is_over_limit(&fault);
                    let detail = fault_message(&fault, &rule.shown);
                    self.errors.push(Error::invalid(field(), &of, &detail));
                    if is_over {
                        return Err(RuleHalt);
                    }
                }
            }
        }
        Ok(())
    }

    /// Reports that a rule is not met.
    fn failed<'i, 'a>(
        &mut self,
        rule: &CompiledRule,
        body: &'i RuleBody,
        inputs: &RuleInputs<'i>,
        place: ValuePlace<'_, 'a>,
        old: OldValue<'_, '_, 'a>,
    ) -> Result<(), RuleHalt> {
        let path = match rule.field_path.as_str() {
            "" => *place.path,
            below => place.path.child(below),
        };
        let field = path.to_string();
        let is_ratcheted = !rule.uses_old_self && old.is_unchanged();
        let of = Value::from(place.schema.type_name());
        let message = match &body.message {
            MessageExpression::Compiled { program, .. } => self.message(body, program, inputs),
            MessageExpression::Absent | MessageExpression::Refused(_) => Ok(None),
        };
        let detail = match message {
            Ok(Some(message)) => message,
            Ok(None) => rule.default_message.to_string(),
            Err(message) => {
                self.report(Error::invalid(field, &of, &message), is_ratcheted);
                return Err(RuleHalt);
            }
        };
        let value = match place.schema.of {
            _ if !rule.shows_value => Some(&of),
            Some(SchemaType::Object | SchemaType::Array) => None,
            _ => Some(place.value),
        };
        let error = match (rule.reason.as_deref(), value) {
            (Some("FieldValueForbidden"), _) => Error::forbidden(field, &detail),
            (Some("FieldValueRequired"), _) => Error::required(field, &detail),
            (Some("FieldValueDuplicate"), Some(value)) => Error::duplicate(field, value),
            (Some("FieldValueDuplicate"), None) => Error::duplicate(field, BadValue::Omitted),
            (_, Some(value)) => Error::invalid(field, value, &detail),
            (_, None) => Error::invalid(field, BadValue::Omitted, &detail),
        };
        self.report(error, is_ratcheted);
        Ok(())
    }

    fn report(&mut self, error: Error, is_ratcheted: bool) {
        if is_ratcheted {
            self.warnings.push(error.to_string())
        } else {
            self.errors.push(error)
        }
    }

    /// The message of a rule's `messageExpression`; none where it gives none that is valid. The error is a
    /// message, too, and ends the validation.
    // Upstream: apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go, evalMessageExpression
    fn message<'i>(
        &mut self,
        body: &'i RuleBody,
        message: &'i Program,
        inputs: &RuleInputs<'i>,
    ) -> Result<Option<String>, String> {
        let (result, cost) = inputs.evaluate(body, message);
        let Some(budget) = self.budget.checked_sub(cost) else {
            return Err(
                "messageExpression evaluation failed due to running out of cost budget, no further validation rules \
                 will be run"
                    .to_owned(),
            );
        };
        match result {
            Err(fault) if is_over_limit(&fault) => {
                let text = pratique_gotext::strconv::quote(&body.message_text);
                Err(format!(
                    "no further validation rules will be run due to call cost exceeds limit for messageExpression: {text}"
                ))
            }
            Ok(CelValue::String(text)) => {
                self.budget = budget;
                Ok(read_message(text).ok().map(str::to_owned))
            }
            Ok(_) | Err(_) => {
                self.budget = budget;
                Ok(None)
            }
        }
    }
}

/// The inputs of the expressions at a place.
#[derive(Clone, Copy)]
struct RuleInputs<'a> {
    arena: &'a Arena,
    new: CelValue<'a>,
    old: Option<CelValue<'a>>,
}

impl<'a> RuleInputs<'a> {
    fn evaluate(&self, body: &'a RuleBody, program: &'a Program) -> (Result<CelValue<'a>, Fault>, u64) {
        let context = Context::new(self.arena, PER_CALL_LIMIT);
        let mut activation = body.layout.activation();
        activation.set(body.self_slot, self.new);
        if let Some(old) = self.old {
            activation.set(body.old_self_slot, old);
        }
        let result = program.evaluate(&context, &activation);
        (result, context.cost())
    }
}

fn is_over_limit(fault: &Fault) -> bool {
    matches!(fault.kind(), FaultKind::Stopped(Stop::CostLimit))
}

fn fault_message(fault: &Fault, rule: &str) -> String {
    let text = fault.to_string();
    if text.starts_with("no such overload") {
        format!(
            "'{text}': call arguments did not match a supported operator, function or macro signature for rule: {rule}"
        )
    } else if is_over_limit(fault) {
        format!(
            "'{text}': no further validation rules will be run due to call cost exceeds limit for rule: {rule}"
        )
    } else {
        format!("{text} evaluating rule: {rule}")
    }
}
