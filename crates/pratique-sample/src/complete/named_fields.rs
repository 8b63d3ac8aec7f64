//! The fields that expressions name, and the values that they compare them with.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use pratique_cel::ast::{Ast, Expr, ExprId, Literal};

use super::matching_text::make_matching_text;
use super::text_conversion::ConvertedText;

/// The maximum number of keys of a map, and of values that are tried for a field.
const MOST_KEYS: usize = 12;
const MOST_VALUES: usize = 5;

/// A text without signs.
const WORD: &str = "example";

/// What the name of an object is called among the fields that are compared.
pub(super) const OBJECT_NAME: &str = "metadata.name";

/// What the expressions of a policy refer to.
#[derive(Clone, Debug, Default)]
pub struct NamedFields {
    names: BTreeSet<Arc<str>>,
    /// Strings that may be keys of maps.
    pub(crate) keys: Vec<Arc<str>>,
    /// The values that fields are compared with, by the last name of their path.
    values: HashMap<Arc<str>, Vec<Literal>>,
    /// Whether `oldObject` is read.
    pub(crate) reads_old: bool,
    /// Whether `authorizer` is read.
    pub(crate) reads_authorizer: bool,
}

impl NamedFields {
    /// Reads expressions in order; those with a name are variables of that name.
    pub fn new<'a>(expressions: impl IntoIterator<Item = (Option<&'a str>, &'a Ast)>) -> Self {
        let mut interest = NamedFields::default();
        let mut variables: HashMap<Arc<str>, Arc<str>> = HashMap::new();
        for (name, ast) in expressions {
            let mut reader = NameReader {
                ast,
                variables: &variables,
                locals: HashMap::new(),
            };
            reader.read(&mut interest);
            if let (Some(name), Some(field)) = (name, reader.field(ast.root)) {
                variables.insert(name.into(), field);
            }
        }
        interest
    }

    /// That of expressions which name every field.
    #[cfg(test)]
    pub(crate) fn everything() -> Self {
        let types = pratique_schema::Release::latest().schema().types();
        let fields = types.flat_map(|of| of.fields.iter());
        NamedFields {
            names: fields.map(|field| field.name.into()).collect(),
            ..NamedFields::default()
        }
    }

    /// Whether an expression names a field.
    pub fn names(&self, field: &str) -> bool {
        self.names.contains(field)
    }

    /// The values that a field is compared with.
    pub(crate) fn values(&self, field: &str) -> &[Literal] {
        self.values.get(field).map_or(&[], Vec::as_slice)
    }

    /// The names of all fields.
    pub(super) fn all_names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    /// The values that are compared, by the field, in no order.
    pub(super) fn all_values(&self) -> impl Iterator<Item = (&str, &[Literal])> {
        self.values
            .iter()
            .map(|(field, values)| (&**field, values.as_slice()))
    }

    /// The maximum number of values of a field.
    pub(crate) fn most_values(&self) -> usize {
        self.values.values().map(Vec::len).max().unwrap_or_default()
    }

    fn compare(&mut self, field: &Arc<str>, literal: &Literal) {
        if let Literal::Bool(_) | Literal::Null = literal {
            return;
        }
        let values = self.values.entry(field.clone()).or_default();
        if values.len() < MOST_VALUES && !values.contains(literal) {
            values.push(literal.clone());
        }
    }

    /// Adds the fields and keys that a JSON pointer names.
    fn add_pointer(&mut self, pointer: &str) {
        for part in pointer.split('/').filter(|part| !part.is_empty()) {
            self.add_text(&part.replace("~1", "/").replace("~0", "~").into());
        }
    }

    fn add_text(&mut self, text: &Arc<str>) {
        if text.starts_with('/') {
            self.add_pointer(text);
            return;
        }
        let is_key = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
        let fits = (1..=128).contains(&text.len()) && text.chars().all(is_key);
        self.names.insert(text.clone());
        if fits && self.keys.len() < MOST_KEYS && !self.keys.contains(text) {
            self.keys.push(text.clone());
        }
    }
}

/// Reads one expression.
struct NameReader<'a> {
    ast: &'a Ast,
    /// The last field names of the paths that variables of the policy refer to.
    variables: &'a HashMap<Arc<str>, Arc<str>>,
    /// The same for variables of comprehensions.
    locals: HashMap<Arc<str>, Arc<str>>,
}

impl NameReader<'_> {
    fn read(&mut self, interest: &mut NamedFields) {
        let ast = self.ast;
        let nodes = || ast.ids();
        for id in nodes() {
            if let Expr::Comprehension(comprehension) = ast.expr(id)
                && let Some(field) = self.field(comprehension.range)
            {
                self.locals.insert(comprehension.var.clone(), field.clone());
                if let Some(second) = &comprehension.var2 {
                    self.locals.insert(second.clone(), field);
                }
            }
        }
        for id in nodes() {
            match ast.expr(id) {
                Expr::Ident(name) => {
                    interest.reads_old |= &**name == "oldObject";
                    interest.reads_authorizer |= &**name == "authorizer";
                }
                Expr::Select { field, .. } => {
                    interest.names.insert(field.clone());
                    // Keys of maps may be written as fields.
                    if self.is_map_key(id) {
                        interest.add_text(field);
                    }
                }
                Expr::Literal(Literal::String(text)) => interest.add_text(text),
                // What an apply configuration sets.
                Expr::Struct { type_name, fields } if type_name.starts_with("Object") => {
                    let names = fields.iter().map(|field| Arc::clone(&field.name));
                    interest.names.extend(names);
                }
                Expr::Call {
                    function,
                    target,
                    args,
                } => {
                    self.call(function, *target, args, interest);
                    self.convert(id, interest);
                }
                _ => {}
            }
        }
    }

    /// Whether a field is selected from a field that is always a map of strings.
    fn is_map_key(&self, id: ExprId) -> bool {
        const MAPS: [&str; 6] = [
            "labels",
            "annotations",
            "matchLabels",
            "nodeSelector",
            "limits",
            "requests",
        ];
        let Expr::Select { operand, .. } = self.ast.expr(id) else {
            return false;
        };
        self.field(*operand).is_some_and(|field| MAPS.contains(&&*field))
    }

    fn call(&self, function: &str, target: Option<ExprId>, args: &[ExprId], interest: &mut NamedFields) {
        match (function, target, args) {
            ("_==_" | "_!=_" | "_<_" | "_<=_" | "_>_" | "_>=_" | "@in", None, [left, right]) => {
                self.compare(*left, *right, interest);
                self.compare(*right, *left, interest);
            }
            ("startsWith" | "endsWith" | "contains", Some(target), [text]) => {
                self.compare(target, *text, interest);
            }
            ("matches", Some(target), [pattern]) => {
                if let Expr::Literal(Literal::String(pattern)) = self.ast.expr(*pattern)
                    && let Some(field) = self.field(target)
                    && let Some(text) = make_matching_text(pattern)
                {
                    interest.compare(&field, &Literal::String(text.into()));
                }
            }
            ("isLessThan" | "isGreaterThan" | "compareTo", Some(target), [quantity]) => {
                self.compare(target, *quantity, interest);
            }
            // A text without what it is divided at.
            ("split", Some(target), [_, ..]) => {
                if let Some(field) = self.field(target) {
                    interest.compare(&field, &Literal::String(WORD.into()));
                }
            }
            _ => {}
        }
    }

    /// Adds a text that a function takes, where it converts a label or an annotation: most texts are none.
    fn convert(&self, call: ExprId, interest: &mut NamedFields) {
        if let Some(ConvertedText { key, conversion, .. }) = ConvertedText::find(self.ast, call) {
            interest.compare(&key.into(), &Literal::String(conversion.valid_text.into()));
        }
    }

    fn compare(&self, value: ExprId, with: ExprId, interest: &mut NamedFields) {
        let Some(field) = self.field(value) else { return };
        match self.ast.expr(with) {
            Expr::Call { function, args, .. } if &**function == "quantity" => {
                args.iter().for_each(|text| self.compare(value, *text, interest));
            }
            Expr::Literal(literal) => interest.compare(&field, literal),
            Expr::List { elements, .. } => {
                for element in elements {
                    if let Expr::Literal(literal) = self.ast.expr(*element) {
                        interest.compare(&field, literal);
                    }
                }
            }
            _ => {}
        }
    }

    /// The last field name of the path that a node refers to.
    fn field(&self, id: ExprId) -> Option<Arc<str>> {
        match self.ast.expr(id) {
            Expr::Ident(name) => self.locals.get(name).cloned(),
            Expr::Select { operand, field, .. } => match self.ast.expr(*operand) {
                Expr::Ident(name) if &**name == "variables" => self.variables.get(field).cloned(),
                // Elements of lists have names as well, with which other texts are compared.
                Expr::Select { field: holder, .. } if &**holder == "metadata" && &**field == "name" => {
                    Some(OBJECT_NAME.into())
                }
                _ => Some(field.clone()),
            },
            Expr::Call {
                function,
                target: Some(target),
                ..
            } if matches!(
                &**function,
                "orValue" | "lowerAscii" | "upperAscii" | "trim" | "value"
            ) =>
            {
                self.field(*target)
            }
            Expr::Call {
                function,
                target: None,
                args,
            } => match (&**function, args.as_slice()) {
                ("_?._" | "_[_]" | "_[?_]", [operand, key]) => match self.ast.expr(*key) {
                    Expr::Literal(Literal::String(key)) => Some(key.clone()),
                    _ => self.field(*operand),
                },
                ("quantity", [text]) => self.field(*text),
                ("_?_:_", [_, yes, _]) => self.field(*yes),
                ("_+_", [left, _]) => self.field(*left),
                _ => None,
            },
            _ => None,
        }
    }
}
