//! Shapes of documents: tables of fields, against which documents are validated strictly.

use pratique_gotext::suggest::nearest;
use pratique_manifest::{Entry, Help, NodeId, ObjectSource, Problem, Rule, Span, Value};

/// The required shape of a value.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// A string.
    Text,
    /// One of some strings.
    OneOf(&'static [&'static str]),
    /// A boolean.
    Bool,
    /// A whole number.
    Integer,
    /// A string, a number, or true or false.
    Scalar,
    /// Anything.
    Any,
    /// A mapping of anything.
    Object,
    /// A list.
    List(&'static Shape),
    /// A mapping from any keys.
    Map(&'static Shape),
    /// A mapping of known fields.
    Struct(&'static Struct),
    /// A string, or a value of another shape.
    TextOr(&'static Shape),
    /// True or false, or a value of another shape.
    BoolOr(&'static Shape),
    /// One of some strings, or a value of another shape.
    OneOfOr(&'static [&'static str], &'static Shape),
}

/// A mapping of known fields.
#[derive(Clone, Copy, Debug)]
pub struct Struct {
    /// Its name in the schema.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Its fields.
    pub fields: &'static [Field],
}

/// A field.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// The shape of its value.
    pub shape: Shape,
    /// Whether it has to be given.
    pub required: bool,
}

/// Validates a value; gives all problems.
pub fn faults(source: &ObjectSource, id: NodeId, shape: Shape) -> Vec<Problem> {
    let mut checker = Checker {
        source,
        path: Vec::new(),
        problems: Vec::new(),
    };
    checker.value(id, shape);
    checker.problems
}

struct Checker<'a> {
    source: &'a ObjectSource,
    path: Vec<String>,
    problems: Vec<Problem>,
}

impl Checker<'_> {
    /// Recursion is safe: the depth of documents and shapes is bounded.
    fn value(&mut self, id: NodeId, shape: Shape) {
        let tree = self.source.tree();
        let node = tree.get(id);
        match (shape, &node.value) {
            (Shape::Any, _)
            | (Shape::Text | Shape::TextOr(_), Value::String(..))
            | (Shape::Bool | Shape::BoolOr(_), Value::Bool(_))
            | (Shape::Scalar, Value::String(..) | Value::Number(_) | Value::Bool(_))
            | (Shape::Object, Value::Map(_)) => {}
            (Shape::Integer, Value::Number(text)) if text.parse::<i32>().is_ok() => {}
            (Shape::OneOf(names) | Shape::OneOfOr(names, _), Value::String(text, _)) => {
                self.one_of(names, text, node.span)
            }
            (Shape::TextOr(other) | Shape::BoolOr(other) | Shape::OneOfOr(_, other), _) => {
                self.value(id, *other)
            }
            (Shape::List(item), Value::List(items)) => {
                for (index, id) in items.iter().enumerate() {
                    self.within(format!("[{index}]"), *id, *item);
                }
            }
            (Shape::Map(item), Value::Map(entries)) => {
                for entry in entries {
                    self.within(format!("[{:?}]", entry.key), entry.value, *item);
                }
            }
            (Shape::Struct(of), Value::Map(entries)) => self.fields(of, id, entries),
            (shape, _) => {
                let message = format!("expected {}", shape.name());
                self.fault(Rule::WrongType, message, node.span, None);
            }
        }
    }

    fn within(&mut self, step: String, id: NodeId, shape: Shape) {
        self.path.push(step);
        self.value(id, shape);
        self.path.pop();
    }

    fn fields(&mut self, of: &'static Struct, id: NodeId, entries: &[Entry]) {
        for (index, entry) in entries.iter().enumerate() {
            let Some(field) = of.fields.iter().find(|field| *field.name == *entry.key) else {
                let meant = nearest(&entry.key, of.fields.iter().map(|field| field.name));
                let help = meant.map(|name| {
                    let help = Help::new(format!("did you mean `{name}`?"));
                    help.replacing(self.source.document(), entry.key_span, name)
                });
                let message = format!("unknown field `{}`", entry.key);
                self.fault(Rule::UnknownField, message, entry.key_span, help);
                continue;
            };
            if entries.iter().take(index).any(|before| before.key == entry.key) {
                let message = format!("field `{}` is given twice", entry.key);
                self.fault(Rule::DuplicateField, message, entry.key_span, None);
            }
            let dot = if self.path.is_empty() { "" } else { "." };
            self.within(format!("{dot}{}", field.name), entry.value, field.shape);
        }
        for field in of.fields.iter().filter(|field| field.required) {
            if self.source.tree().entry(id, field.name).is_none() {
                let span = self.source.tree().nearest_span(id, &[]);
                let span = entries.first().map_or(span, |first| first.key_span);
                let message = format!("field `{}` is missing", field.name);
                self.fault(Rule::InvalidField, message, span, Some(field.about.into()));
            }
        }
    }

    fn one_of(&mut self, names: &[&str], text: &str, span: Span) {
        if !names.contains(&text) {
            let message = format!("expected {}, not `{text}`", alternatives(names));
            self.fault(Rule::InvalidField, message, span, None);
        }
    }

    fn fault(&mut self, rule: Rule, message: String, span: Span, help: Option<Help>) {
        self.problems.push(Problem {
            rule,
            message,
            field: Some(self.path.concat()).filter(|field| !field.is_empty()),
            object: None,
            location: Some(self.source.document().location(span)),
            help,
            summary: None,
        });
    }
}

impl Shape {
    /// The description in messages.
    fn name(self) -> String {
        match self {
            Shape::Text => "a string".to_owned(),
            Shape::OneOf(names) => alternatives(names),
            Shape::Bool => "true or false".to_owned(),
            Shape::Integer => "a whole number".to_owned(),
            Shape::Scalar => "a string or a number".to_owned(),
            Shape::Any => "anything".to_owned(),
            Shape::Object | Shape::Map(_) | Shape::Struct(_) => "a mapping".to_owned(),
            Shape::List(_) => "a list".to_owned(),
            Shape::TextOr(other) => format!("a string or {}", other.name()),
            Shape::BoolOr(other) => format!("true, false or {}", other.name()),
            Shape::OneOfOr(names, other) => format!("{} or {}", alternatives(names), other.name()),
        }
    }
}

fn alternatives(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} or {last}", before.join(", ")),
        None => String::new(),
    }
}
