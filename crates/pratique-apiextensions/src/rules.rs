//! Validation rules (`x-kubernetes-validations`).

mod compile;
mod cost;
mod environments;
mod evaluate;
mod field_path;
mod names;
mod report;
mod types;
mod values;

use std::collections::BTreeMap;

use pratique_cel::{Environment, Program, Slot};
use pratique_json::Value;
use pratique_types::cel_limits::RUNTIME_BUDGET;
use pratique_types::field::{Error, ErrorList, Path};

use crate::schema::SchemaNode;
use crate::validate::CorrelatedValue;

pub(crate) use cost::TotalCost;
pub(crate) use environments::{ExpressionScope, KnownExpressions};
pub(crate) use field_path::{FieldPathError, resolve};
pub(crate) use report::{RulePlace, RuleReporter};

/// The rules of a schema, compiled.
#[derive(Debug, Default)]
pub(crate) struct SchemaRules {
    root: Option<RuleNode>,
}

/// The rules of a part of a schema.
#[derive(Debug, Default)]
pub(crate) struct RuleNode {
    rules: Vec<CompiledRule>,
    is_resource: bool,
    /// Rules of fields that have no type in CEL are not evaluated.
    has_type: bool,
    /// Why a server does not compile the rules.
    type_error: Option<&'static str>,
    /// How many values of the schema a request can have.
    max_cardinality: u64,
    properties: BTreeMap<Box<str>, RuleNode>,
    items: Option<Box<RuleNode>>,
    additional: Option<Box<RuleNode>>,
}

/// A rule.
#[derive(Debug)]
struct CompiledRule {
    body: Result<RuleBody, RefusedRule>,
    /// The greatest cost of the rule.
    max_cost: u64,
    uses_old_self: bool,
    /// Whether its error shows the value; otherwise it shows the type of it.
    shows_value: bool,
    is_old_self_optional: bool,
    /// The field that the rule's error names, from that of the rule: `.spec.a[b]` without the dot.
    field_path: String,
    /// The text that stands for the rule in errors.
    shown: Box<str>,
    /// The message of the rule, or one that names the rule.
    default_message: Box<str>,
    reason: Option<Box<str>>,
}

/// The compiled expressions of a rule.
#[derive(Debug)]
struct RuleBody {
    program: Program,
    message: MessageExpression,
    /// The text of the expression of the message.
    message_text: Box<str>,
    self_slot: Slot,
    old_self_slot: Slot,
    layout: Environment,
}

/// The `messageExpression` of a rule.
#[derive(Debug)]
enum MessageExpression {
    Absent,
    Compiled {
        program: Box<Program>,
        max_cost: u64,
    },
    /// It does not compile, and is not evaluated.
    Refused(Box<str>),
}

/// Why a rule is not evaluated: a definition that is stored may have such rules.
#[derive(Debug)]
enum RefusedRule {
    /// It does not compile.
    Rule(Box<str>),
    /// No rule of the schema does.
    All(Box<str>),
}

impl CompiledRule {
    fn refused(refused: RefusedRule) -> Self {
        CompiledRule {
            body: Err(refused),
            max_cost: 0,
            uses_old_self: false,
            shows_value: false,
            is_old_self_optional: false,
            field_path: String::new(),
            shown: Box::default(),
            default_message: Box::default(),
            reason: None,
        }
    }
}

impl RuleNode {
    /// The rules of a property.
    pub(crate) fn property(&self, name: &str) -> Option<&RuleNode> {
        self.properties.get(name)
    }

    /// The rules of the items.
    pub(crate) fn items(&self) -> Option<&RuleNode> {
        self.items.as_deref()
    }

    /// The rules of the members that `properties` does not name.
    pub(crate) fn additional(&self) -> Option<&RuleNode> {
        self.additional.as_deref()
    }

    /// Evaluates the rules over a default, as one that did not change and as a new one; what is left of the budget is kept.
    // Upstream: apiextensions-apiserver/pkg/apiserver/schema/defaulting/validation.go, validate
    pub(crate) fn validate_default(
        &self,
        default: &Value<'static>,
        schema: &SchemaNode,
        budget: &mut u64,
        errors: &mut ErrorList,
    ) {
        let previous_count = errors.len();
        let mut left = *budget;
        for old in [Some(default), None] {
            // Nothing is ratcheted, so there are no warnings.
            let mut warnings = Vec::new();
            let mut evaluation = evaluate::RuleEvaluation::new(*budget, errors, &mut warnings);
            evaluation.beside(self, schema, default, old);
            left = left.min(evaluation.budget());
            if errors.len() > previous_count {
                break;
            }
        }
        *budget = left;
    }
}

impl SchemaRules {
    /// Compiles the rules of a schema. Those that do not compile are told by a [`RuleReporter`].
    pub(crate) fn compile(schema: &SchemaNode, scope: &ExpressionScope) -> SchemaRules {
        SchemaRules {
            root: compile::RuleCompiler::new(scope).root(schema),
        }
    }

    /// The rules of the whole schema.
    pub(crate) fn root(&self) -> Option<&RuleNode> {
        self.root.as_ref()
    }

    /// Evaluates the rules over an object, unless its errors may make rules fail.
    pub(crate) fn validate<'a>(
        &self,
        new: &Value<'a>,
        correlated: Option<&CorrelatedValue<'_, 'a>>,
        schema: &SchemaNode,
        errors: &mut ErrorList,
        warnings: &mut Vec<String>,
    ) {
        let Some(root) = &self.root else {
            return;
        };
        if errors.has_blocking() {
            let detail = "some validation rules were not checked because the object was invalid; correct the existing errors \
                          to complete validation";
            errors.push(Error::invalid(Path::ROOT, &Value::Null, detail));
            return;
        }
        let mut evaluation = evaluate::RuleEvaluation::new(RUNTIME_BUDGET, errors, warnings);
        evaluation.root(root, schema, new, correlated);
    }
}
