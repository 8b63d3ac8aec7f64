//! Validation rules (`x-kubernetes-validations`).

mod compile;
mod cost;
mod evaluate;
mod field_path;
mod names;
mod types;
mod values;

use std::collections::BTreeMap;

use pratique_cel::{Environment, Program, Slot};
use pratique_json::Value;
use pratique_types::field::{Error, ErrorList, Path};

use crate::schema::Schema;
use crate::validate::Correlated;

/// The rules of a schema, compiled.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    root: Option<Node>,
}

/// The rules of a part of a schema.
#[derive(Debug, Default)]
struct Node {
    rules: Vec<CompiledRule>,
    is_resource: bool,
    properties: BTreeMap<Box<str>, Node>,
    items: Option<Box<Node>>,
    additional: Option<Box<Node>>,
}

/// A rule.
#[derive(Debug)]
struct CompiledRule {
    body: Result<Body, Refused>,
    uses_old_self: bool,
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
struct Body {
    program: Program,
    message: Option<Program>,
    /// The text of the expression of the message.
    message_text: Box<str>,
    self_slot: Slot,
    old_self_slot: Slot,
    layout: Environment,
}

/// Why a rule is not evaluated: a definition that is stored may have such rules.
#[derive(Debug)]
enum Refused {
    /// It does not compile.
    Rule(Box<str>),
    /// No rule of the schema does.
    All(Box<str>),
}

impl CompiledRule {
    fn refused(refused: Refused) -> Self {
        CompiledRule {
            body: Err(refused),
            uses_old_self: false,
            is_old_self_optional: false,
            field_path: String::new(),
            shown: Box::default(),
            default_message: Box::default(),
            reason: None,
        }
    }
}

impl Rules {
    /// Compiles the rules of a schema; their errors are those of the definition.
    pub(crate) fn compile(schema: &Schema, path: &Path<'_>, errors: &mut ErrorList) -> Rules {
        let mut compiler = compile::Compiler::new(errors);
        let root = compiler.node(schema, true, path, &compile::Place::root());
        compiler.finish(path);
        Rules { root }
    }

    /// Evaluates the rules over an object, unless its errors may make rules fail.
    pub(crate) fn validate<'a>(
        &self,
        new: &Value<'a>,
        correlated: Option<&Correlated<'_, 'a>>,
        schema: &Schema,
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
        let mut evaluation = evaluate::Evaluation::new(errors, warnings);
        evaluation.root(root, schema, new, correlated);
    }
}
