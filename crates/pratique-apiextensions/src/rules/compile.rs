//! Compiles the rules of a schema.

use std::sync::{Arc, OnceLock};

use pratique_cel::estimate::estimate;
use pratique_cel::{Environment, Program, Type as CelType, library};
use pratique_json::{Value, escape_html};
use pratique_types::field::{BadValue, Error, ErrorList, Path};

use super::cost::{self, RULE_LIMIT, TotalCost};
use super::field_path;
use super::types::{Declared, MAX_REQUEST, ObjectTypes};
use super::{Body, CompiledRule, Node, Refused};
use crate::schema::{Rule, Schema, Type};

/// The minor version of the reference whose functions rules may use.
const CURRENT_MINOR: u32 = 37;

/// The name of the type of `self`. A server's ends in digits of the time, so that no rule can use it.
const SELF_TYPE: &str = "selfType";

const REASONS: [&str; 4] = [
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
];

pub(super) struct Compiler<'e> {
    errors: &'e mut ErrorList,
    /// Errors of rules other than those of their expressions.
    schema_errors: ErrorList,
    total: TotalCost,
    base: Environment,
}

/// The place of a schema, as far as it matters to rules.
#[derive(Clone, Default)]
pub(super) struct Place {
    /// How many values of the schema there may be; `None` where nothing bounds them.
    cardinality: Option<u64>,
    /// The list or map whose values have no old ones.
    uncorrelatable: Option<String>,
}

impl Place {
    pub(super) fn root() -> Self {
        Place {
            cardinality: Some(1),
            uncorrelatable: None,
        }
    }

    /// The place of the members or items of a schema.
    // Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/cel_validation.go, childContext
    fn within(&self, schema: &Schema) -> Self {
        let elements = |max: Option<i64>| max.map(|max| max.max(0).unsigned_abs());
        let factor = match schema.of {
            Some(Type::Object) if schema.additional.is_some() => elements(schema.values.max_properties),
            Some(Type::Array) => elements(schema.values.max_items),
            _ => Some(1),
        };
        let cardinality = self.cardinality.zip(factor);
        Place {
            cardinality: cardinality.map(|(cardinality, factor)| cost::times(cardinality, factor)),
            uncorrelatable: self.uncorrelatable.clone(),
        }
    }
}

impl<'e> Compiler<'e> {
    pub(super) fn new(errors: &'e mut ErrorList) -> Self {
        Compiler {
            errors,
            schema_errors: ErrorList::default(),
            total: TotalCost::default(),
            base: base(),
        }
    }

    /// Reports the errors of all rules together.
    pub(super) fn finish(self, path: &Path<'_>) {
        self.errors.extend(self.schema_errors.into_vec());
        self.total.finish(path, self.errors);
    }

    /// Compiles the rules of a schema and those below it; `None` if there are none.
    // Upstream: apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go, validator
    pub(super) fn node(
        &mut self,
        schema: &Schema,
        is_resource: bool,
        path: &Path<'_>,
        place: &Place,
    ) -> Option<Node> {
        let mut node = Node {
            is_resource,
            ..Node::default()
        };
        let before = self.schema_errors.len();
        let mut within = place.within(schema);
        let is_correlatable = matches!(schema.map_type.as_deref(), None | Some("granular" | "atomic"));
        if !is_correlatable && within.uncorrelatable.is_none() {
            within.uncorrelatable = Some(path.to_string());
        }
        let properties = path.child("properties");
        for (name, property) in &schema.properties {
            let path = properties.key(name);
            let inner = self.node(property, property.is_embedded, &path, &within);
            // Rules of fields that have no type in CEL are not evaluated.
            let has_type = Declared::of(property, property.is_embedded).is_some();
            if let Some(inner) = inner.filter(|_| has_type) {
                node.properties.insert(name.clone(), inner);
            }
        }
        if let Some(additional) = schema.additional_schema() {
            let path = path.child("additionalProperties");
            let inner = self.node(additional, additional.is_embedded, &path, &within);
            node.additional = inner.map(Box::new);
        }
        if let Some(items) = &schema.items {
            if !schema.is_list_map() && within.uncorrelatable.is_none() {
                within.uncorrelatable = Some(path.to_string());
            }
            let path = path.child("items");
            let inner = self.node(items, items.is_embedded, &path, &within);
            node.items = inner.map(Box::new);
        }
        if !schema.rules.is_empty() {
            node.rules = self.rules(schema, is_resource, path, place, before);
        }
        let is_empty = node.rules.is_empty()
            && node.properties.is_empty()
            && node.items.is_none()
            && node.additional.is_none();
        (!is_empty).then_some(node)
    }

    /// Compiles the rules of one schema. Errors of expressions are reported only where the schema and all
    /// below it have no other errors: there were `before` errors before these.
    fn rules(
        &mut self,
        schema: &Schema,
        is_resource: bool,
        path: &Path<'_>,
        place: &Place,
        before: usize,
    ) -> Vec<CompiledRule> {
        let list = path.child("x-kubernetes-validations");
        for (at, rule) in schema.rules.iter().enumerate() {
            self.check_fields(rule, schema, &list.index(at));
        }
        let is_reported = self.schema_errors.len() == before;
        let Some(declared) = Declared::of(schema, is_resource) else {
            if is_reported {
                let detail = "internal error: failed to construct type information for x-kubernetes-validations rules: unable \
                              to convert structural schema to CEL declarations";
                self.errors.push(Error::internal(list, detail));
            }
            let refused = "failed to convert to declType for CEL validation rules";
            return vec![CompiledRule::refused(Refused::All(refused.into()))];
        };
        let mut types = ObjectTypes::default();
        let of_self = declared.cel_type(SELF_TYPE, &mut types);
        let types = Arc::new(types);
        let environment = |old_self: CelType| {
            let base = self.base.clone();
            base.with_variable("self", of_self.clone())
                .with_variable("oldSelf", old_self)
                .with_types(types.clone())
        };
        let plain = environment(of_self.clone());
        let optional = environment(CelType::optional(of_self.clone()));
        let mut compiled = Vec::new();
        for (at, rule) in schema.rules.iter().enumerate() {
            if rule.rule.trim().is_empty() {
                // That is an error already.
                continue;
            }
            let environment = match rule.optional_old_self {
                Some(true) => &optional,
                _ => &plain,
            };
            let mut found = ErrorList::default();
            let mut compilation = RuleCompilation {
                rule,
                schema,
                environment,
                declared: &declared,
                place,
                errors: &mut found,
                total: &mut self.total,
            };
            compiled.push(compilation.compile(&list.index(at)));
            if is_reported {
                self.errors.extend(found.into_vec());
            }
        }
        compiled
    }

    /// Checks the fields of a rule other than its expressions.
    // Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, ValidateCustomResourceDefinitionOpenAPISchema
    fn check_fields(&mut self, rule: &Rule, schema: &Schema, path: &Path<'_>) {
        let has_lines = |text: &str| text.contains(['\n', '\r']);
        let (text, message) = (rule.rule.trim(), rule.message.trim());
        let errors = &mut self.schema_errors;
        if text.is_empty() {
            errors.push(Error::required(path.child("rule"), "rule is not specified"));
        } else if !rule.message.is_empty() && message.is_empty() {
            let detail = "must be non-empty if specified";
            errors.push(Error::invalid(path.child("message"), &*rule.message, detail));
        } else if has_lines(message) {
            let detail = "must not contain line breaks";
            errors.push(Error::invalid(path.child("message"), &*rule.message, detail));
        } else if has_lines(text) && message.is_empty() {
            let detail = "message must be specified if rule contains line breaks";
            errors.push(Error::required(path.child("message"), detail));
        }
        if !rule.message_expression.is_empty() && rule.message_expression.trim().is_empty() {
            let detail = "messageExpression must be non-empty if specified";
            errors.push(Error::required(path.child("messageExpression"), detail));
        }
        if let Some(reason) = rule.reason.as_deref().filter(|reason| !REASONS.contains(reason)) {
            errors.push(Error::not_supported(path.child("reason"), reason, REASONS));
        }
        let field_path = &*rule.field_path;
        for (is_wrong, detail) in [
            (field_path.trim().is_empty(), "must be non-empty if specified"),
            (has_lines(field_path), "must not contain line breaks"),
            (
                field_path::normalized(field_path, schema).is_none(),
                "must be a valid path",
            ),
        ] {
            if is_wrong && !field_path.is_empty() {
                errors.push(Error::invalid(path.child("fieldPath"), field_path, detail));
            }
        }
    }
}

/// The compilation of one rule.
struct RuleCompilation<'o> {
    rule: &'o Rule,
    schema: &'o Schema,
    environment: &'o Environment,
    declared: &'o Declared,
    place: &'o Place,
    errors: &'o mut ErrorList,
    total: &'o mut TotalCost,
}

impl RuleCompilation<'_> {
    // Upstream: apiextensions-apiserver/pkg/apiserver/schema/cel/compilation.go, compileRule
    fn compile(&mut self, path: &Path<'_>) -> CompiledRule {
        let rule = self.rule;
        let field = path.child("rule").to_string();
        let (program, cost) = match expression(self.environment, &rule.rule, self.declared, &CelType::Bool) {
            Ok(compiled) => compiled,
            Err(refusal) => {
                let detail = match refusal {
                    Refusal::Type => "cel expression must evaluate to a bool".to_owned(),
                    Refusal::Compile(message) => message,
                };
                self.errors.push(Error::invalid(
                    path.child("rule"),
                    BadValue::Prepared(rule_text(rule).into()),
                    &detail,
                ));
                return CompiledRule::refused(Refused::Rule(detail.into()));
            }
        };
        let cost = cost::times(cost, self.cardinality());
        self.add_cost("estimated rule cost", cost, field.clone());
        let message = self.message(path);
        let slots = self
            .environment
            .slot("self")
            .zip(self.environment.slot("oldSelf"));
        let Some((self_slot, old_self_slot)) = slots else {
            let detail = "the environment has no self";
            self.errors.push(Error::internal(field, detail));
            return CompiledRule::refused(Refused::Rule(detail.into()));
        };
        let uses_old_self = program.reads(old_self_slot);
        self.old_self(uses_old_self, path);
        let message_text = rule.message.trim();
        CompiledRule {
            body: Ok(Body {
                program,
                message,
                message_text: rule.message_expression.clone(),
                self_slot,
                old_self_slot,
                layout: self.environment.clone(),
            }),
            uses_old_self,
            is_old_self_optional: rule.optional_old_self == Some(true),
            field_path: field_path::normalized(&rule.field_path, self.schema).unwrap_or_default(),
            shown: match rule.message.is_empty() {
                true => rule.rule.trim().into(),
                false => message_text.into(),
            },
            default_message: match rule.message.is_empty() {
                true => format!("failed rule: {}", rule.rule.trim()).into(),
                false => message_text.into(),
            },
            reason: rule.reason.clone(),
        }
    }

    /// How often the rule may be evaluated: unbounded, a value takes at least so many bytes of a request.
    fn cardinality(&self) -> u64 {
        let most = MAX_REQUEST / self.declared.min_size.saturating_add(1);
        let most = u64::try_from(most).unwrap_or_default();
        self.place.cardinality.unwrap_or(most)
    }

    /// Adds a cost to the total, and refuses one above the limit.
    fn add_cost(&mut self, what: &str, cost: u64, field: String) {
        if cost > RULE_LIMIT {
            let detail = cost::message(what, cost, RULE_LIMIT);
            self.errors.push(Error::forbidden(field.clone(), &detail));
        }
        self.total.add(field, cost);
    }

    /// Refuses uses of `oldSelf` where there is none, and `optionalOldSelf` where it is not used.
    fn old_self(&mut self, is_used: bool, path: &Path<'_>) {
        let rule = self.rule;
        if let Some(list) = self.place.uncorrelatable.as_deref().filter(|_| is_used) {
            let detail =
                format!("oldSelf cannot be used on the uncorrelatable portion of the schema within {list}");
            self.errors
                .push(Error::invalid(path.child("rule"), &*rule.rule, &detail));
        } else if let Some(given) = rule.optional_old_self.filter(|_| !is_used) {
            let detail = "may not be set if oldSelf is not used in rule";
            self.errors
                .push(Error::invalid(path.child("optionalOldSelf"), given, detail));
        }
    }

    fn message(&mut self, path: &Path<'_>) -> Option<Program> {
        let rule = self.rule;
        if rule.message_expression.is_empty() {
            return None;
        }
        let field = path.child("messageExpression").to_string();
        let compiled = expression(
            self.environment,
            &rule.message_expression,
            self.declared,
            &CelType::String,
        );
        match compiled {
            Ok((program, cost)) => {
                self.add_cost("estimated messageExpression cost", cost, field);
                Some(program)
            }
            Err(refusal) => {
                let detail = match refusal {
                    Refusal::Type => "messageExpression must evaluate to a string".to_owned(),
                    Refusal::Compile(message) => format!("messageExpression {message}"),
                };
                self.errors.push(Error::invalid(
                    path.child("messageExpression"),
                    BadValue::Prepared(rule_text(rule).into()),
                    &detail,
                ));
                None
            }
        }
    }
}

/// The functions that rules may use.
fn base() -> Environment {
    static BASE: OnceLock<Environment> = OnceLock::new();
    BASE.get_or_init(|| library::kubernetes_at(CURRENT_MINOR)).clone()
}

/// Why an expression is refused.
enum Refusal {
    /// It gives another type.
    Type,
    Compile(String),
}

/// Compiles an expression that gives a type, with its greatest cost.
fn expression(
    environment: &Environment,
    text: &str,
    declared: &Declared,
    of: &CelType,
) -> Result<(Program, u64), Refusal> {
    let failed = |error| Refusal::Compile(format!("compilation failed: {error}"));
    let checked = environment
        .parse(text)
        .and_then(|ast| environment.check(ast))
        .map_err(failed)?;
    if checked.result_type() != of {
        return Err(Refusal::Type);
    }
    let program = environment
        .plan(&checked)
        .map_err(|error| Refusal::Compile(error.to_string()))?;
    Ok((program, estimate(&checked, declared).max))
}

/// A rule as a server shows it: its own struct as JSON.
fn rule_text(rule: &Rule) -> String {
    let text = |text: &str| escape_html(&Value::from(text).to_string()).into_owned();
    let reason = rule.reason.as_deref().map_or("null".to_owned(), text);
    let optional = rule
        .optional_old_self
        .map_or("null".to_owned(), |flag| flag.to_string());
    format!(
        "{{\"Rule\":{},\"Message\":{},\"MessageExpression\":{},\"Reason\":{reason},\"FieldPath\":{},\"OptionalOldSelf\":{optional}}}",
        text(&rule.rule),
        text(&rule.message),
        text(&rule.message_expression),
        text(&rule.field_path),
    )
}
