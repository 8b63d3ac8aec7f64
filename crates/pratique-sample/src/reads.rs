//! The fields that the expressions of a policy read, and the values that they compare them with.
//!
//! An abstract interpretation of the syntax trees: the abstract value of a node is the set of places in the object that
//! it may come from, and the constants that it may be. Places are followed through variables, conditional operators,
//! `orValue`, concatenation, and the macros that iterate over lists.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use pratique_cel::ast::{Ast, Comprehension, Expr, ExprId, Literal};

/// The parts of a value that are read, as a tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadTree {
    /// By the name of a field, or the key of an entry.
    pub fields: BTreeMap<Arc<str>, ReadTree>,
    /// Reads of the elements of a list, or the values of a map.
    pub item: Option<Box<ReadTree>>,
    /// Texts that it is compared with.
    pub texts: Vec<ComparedText>,
    /// Numbers that it is compared with.
    pub numbers: Vec<i64>,
}

/// A text that a value is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ComparedText {
    /// The whole string.
    Whole(Arc<str>),
    /// A prefix.
    Start(Arc<str>),
    /// A suffix.
    End(Arc<str>),
    /// A substring.
    Part(Arc<str>),
}

/// What a policy reads of its inputs.
#[derive(Clone, Debug, Default)]
pub struct PolicyReads {
    /// `object` and `oldObject`
    pub object: ReadTree,
    /// `params`
    pub params: ReadTree,
}

/// A step from a value to a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadStep {
    /// A field, or an entry of a map.
    Field(Arc<str>),
    /// Any element of a list, or any value of a map.
    Item,
}

/// The maximum number of places and constants of an abstract value, and the maximum length of a path.
const MOST: usize = 16;
const DEEPEST: usize = 24;

impl PolicyReads {
    /// Analyses expressions in order; those with a name are variables of that name.
    pub fn new<'a>(expressions: impl IntoIterator<Item = (Option<&'a str>, &'a Ast)>) -> Self {
        let mut walk = ReadWalk::default();
        for (name, ast) in expressions {
            walk.locals.clear();
            let value = walk.visit(ast, ast.root);
            if let Some(name) = name {
                walk.variables.insert(name.to_owned(), value);
            }
        }
        walk.reads
    }
}

impl ReadTree {
    /// The reads at a path.
    fn at(&mut self, steps: &[ReadStep]) -> &mut ReadTree {
        steps.iter().fold(self, |at, step| match step {
            ReadStep::Field(name) => at.fields.entry(name.clone()).or_default(),
            ReadStep::Item => at.item.get_or_insert_default(),
        })
    }

    /// The paths of all parts that are read, parents before children; at most `most`.
    pub fn paths(&self, most: usize) -> Vec<Vec<ReadStep>> {
        let mut paths = Vec::new();
        let mut open = std::collections::VecDeque::from([(Vec::new(), self)]);
        while let Some((path, reads)) = open.pop_front() {
            let fields = reads.fields.iter();
            let fields = fields.map(|(name, of)| (ReadStep::Field(name.clone()), of));
            let item = reads.item.iter().map(|of| (ReadStep::Item, &**of));
            for (step, of) in fields.chain(item) {
                if paths.len() >= most {
                    return paths;
                }
                let mut next: Vec<ReadStep> = path.clone();
                next.push(step);
                paths.push(next.clone());
                open.push_back((next, of));
            }
        }
        paths
    }
}

/// The root of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadRoot {
    Object,
    Params,
}

type ReadPlace = (ReadRoot, Vec<ReadStep>);

/// An abstract value.
#[derive(Clone, Debug, Default)]
struct AbstractValue {
    /// The places that it may come from.
    places: Vec<ReadPlace>,
    /// The places that elements of a list that the expression builds may come from.
    elements: Vec<ReadPlace>,
    /// The constants that it, or one of its elements, may be.
    texts: Vec<Arc<str>>,
    numbers: Vec<i64>,
}

impl AbstractValue {
    fn or(mut self, other: AbstractValue) -> Self {
        add_all(&mut self.places, other.places);
        add_all(&mut self.elements, other.elements);
        add_all(&mut self.texts, other.texts);
        add_all(&mut self.numbers, other.numbers);
        self
    }
}

fn add_all<T: PartialEq>(to: &mut Vec<T>, from: Vec<T>) {
    for value in from {
        if to.len() < MOST && !to.contains(&value) {
            to.push(value);
        }
    }
}

#[derive(Default)]
struct ReadWalk {
    reads: PolicyReads,
    variables: HashMap<String, AbstractValue>,
    /// The variables of the enclosing comprehensions.
    locals: Vec<(Arc<str>, AbstractValue)>,
}

impl ReadWalk {
    fn visit(&mut self, ast: &Ast, id: ExprId) -> AbstractValue {
        match ast.expr(id) {
            Expr::Literal(literal) => of_literal(literal),
            Expr::Ident(name) => self.name(name),
            Expr::Select { operand, field, .. } => match ast.expr(*operand) {
                Expr::Ident(name) if &**name == "variables" => {
                    self.variables.get(&**field).cloned().unwrap_or_default()
                }
                _ => {
                    let of = self.visit(ast, *operand);
                    self.below(&of, &ReadStep::Field(field.clone()))
                }
            },
            Expr::Call {
                function,
                target,
                args,
            } => self.call(ast, function, *target, args),
            Expr::List { elements, .. } => {
                let mut list = AbstractValue::default();
                for element in elements {
                    let of = self.visit(ast, *element);
                    add_all(&mut list.elements, of.places);
                    add_all(&mut list.elements, of.elements);
                    add_all(&mut list.texts, of.texts);
                    add_all(&mut list.numbers, of.numbers);
                }
                list
            }
            Expr::Comprehension(comprehension) => self.comprehension(ast, comprehension),
            other => {
                other.for_each_child(|child| drop(self.visit(ast, child)));
                AbstractValue::default()
            }
        }
    }

    fn name(&self, name: &str) -> AbstractValue {
        if let Some((_, local)) = self.locals.iter().rev().find(|(known, _)| **known == *name) {
            return local.clone();
        }
        let root = match name.trim_start_matches('.') {
            "object" | "oldObject" => ReadRoot::Object,
            "params" => ReadRoot::Params,
            _ => return AbstractValue::default(),
        };
        AbstractValue {
            places: vec![(root, Vec::new())],
            ..AbstractValue::default()
        }
    }

    /// Selects a part of a value, and records the read.
    fn below(&mut self, of: &AbstractValue, step: &ReadStep) -> AbstractValue {
        let mut places = Vec::new();
        for (root, path) in &of.places {
            if path.len() >= DEEPEST {
                continue;
            }
            let mut path = path.clone();
            path.push(step.clone());
            self.reads_at(*root, &path);
            places.push((*root, path));
        }
        let mut part = AbstractValue {
            places,
            ..AbstractValue::default()
        };
        if *step == ReadStep::Item {
            add_all(&mut part.places, of.elements.clone());
            part.texts.clone_from(&of.texts);
            part.numbers.clone_from(&of.numbers);
        }
        part
    }

    fn reads_at(&mut self, root: ReadRoot, path: &[ReadStep]) -> &mut ReadTree {
        match root {
            ReadRoot::Object => self.reads.object.at(path),
            ReadRoot::Params => self.reads.params.at(path),
        }
    }

    fn call(&mut self, ast: &Ast, function: &str, target: Option<ExprId>, args: &[ExprId]) -> AbstractValue {
        let target = target.map(|target| self.visit(ast, target));
        let values: Vec<AbstractValue> = args.iter().map(|arg| self.visit(ast, *arg)).collect();
        match (function, target, values.as_slice()) {
            ("_[_]" | "_[?_]" | "_?._", None, [of, key]) => {
                if key.texts.is_empty() {
                    return self.below(of, &ReadStep::Item);
                }
                let keys = key.texts.iter().cloned();
                keys.fold(AbstractValue::default(), |all, key| {
                    all.or(self.below(of, &ReadStep::Field(key)))
                })
            }
            ("_?_:_", None, [_, then, otherwise]) => then.clone().or(otherwise.clone()),
            ("_+_", None, [left, right]) => left.clone().or(right.clone()),
            ("orValue" | "or", Some(target), [other]) => target.or(other.clone()),
            ("_==_" | "_!=_" | "_<_" | "_<=_" | "_>_" | "_>=_", None, [left, right]) => {
                self.compare(left, right);
                self.compare(right, left);
                AbstractValue::default()
            }
            ("isLessThan" | "isGreaterThan" | "compareTo", Some(target), [other]) => {
                self.compare(&target, other);
                self.compare(other, &target);
                AbstractValue::default()
            }
            ("@in", None, [value, list]) => {
                self.compare(value, list);
                let item = self.below(list, &ReadStep::Item);
                self.compare(&item, value);
                // In a map it is a key.
                for key in &value.texts {
                    self.below(list, &ReadStep::Field(key.clone()));
                }
                AbstractValue::default()
            }
            ("startsWith" | "endsWith" | "contains", Some(target), [other]) => {
                let kind = match function {
                    "startsWith" => ComparedText::Start,
                    "endsWith" => ComparedText::End,
                    _ => ComparedText::Part,
                };
                let texts: Vec<ComparedText> = other.texts.iter().cloned().map(kind).collect();
                self.record(&target, &texts, &[]);
                AbstractValue::default()
            }
            (
                "value" | "lowerAscii" | "upperAscii" | "trim" | "flatten" | "distinct" | "slice" | "sort"
                | "reverse" | "first" | "last" | "sum" | "min" | "max",
                Some(target),
                _,
            ) => target,
            (
                "dyn" | "optional.of" | "optional.ofNonZeroValue" | "quantity" | "string" | "int",
                None,
                [only],
            ) => only.clone(),
            ("of" | "ofNonZeroValue", Some(_), [only]) => only.clone(),
            _ => AbstractValue::default(),
        }
    }

    /// Records the constants that a value is compared with.
    fn compare(&mut self, value: &AbstractValue, with: &AbstractValue) {
        let texts: Vec<ComparedText> = with.texts.iter().cloned().map(ComparedText::Whole).collect();
        self.record(value, &texts, &with.numbers);
    }

    /// Records constants for the places that a value may come from.
    fn record(&mut self, value: &AbstractValue, texts: &[ComparedText], numbers: &[i64]) {
        if texts.is_empty() && numbers.is_empty() {
            return;
        }
        for (root, path) in &value.places {
            let reads = self.reads_at(*root, path);
            add_all(&mut reads.texts, texts.to_vec());
            add_all(&mut reads.numbers, numbers.to_vec());
        }
    }

    fn comprehension(&mut self, ast: &Ast, comprehension: &Comprehension) -> AbstractValue {
        let range = self.visit(ast, comprehension.range);
        let init = self.visit(ast, comprehension.init);
        let item = self.below(&range, &ReadStep::Item);
        let outer = self.locals.len();
        self.locals
            .push((comprehension.accumulator.clone(), init.clone()));
        // Of two variables the first is an index or a key, which may be one of the constants.
        self.locals.push((comprehension.var.clone(), item.clone()));
        if let Some(second) = &comprehension.var2 {
            self.locals.push((second.clone(), item));
        }
        self.visit(ast, comprehension.condition);
        let step = self.visit(ast, comprehension.step);
        self.locals.truncate(outer);
        self.locals
            .push((comprehension.accumulator.clone(), init.or(step)));
        let result = self.visit(ast, comprehension.result);
        self.locals.truncate(outer);
        result
    }
}

fn of_literal(literal: &Literal) -> AbstractValue {
    match literal {
        Literal::String(text) => AbstractValue {
            texts: vec![text.clone()],
            ..AbstractValue::default()
        },
        Literal::Int(number) => AbstractValue {
            numbers: vec![*number],
            ..AbstractValue::default()
        },
        _ => AbstractValue::default(),
    }
}

#[cfg(test)]
mod tests {
    use pratique_cel::Environment;

    use super::*;

    /// The paths that expressions read; expressions are variables `v0`, `v1` …
    fn paths(expressions: &[&str]) -> Vec<String> {
        let environment = Environment::kubernetes();
        let asts: Vec<Ast> = expressions
            .iter()
            .map(|text| environment.parse(text).unwrap())
            .collect();
        let names: Vec<String> = (0..asts.len()).map(|at| format!("v{at}")).collect();
        let reads = PolicyReads::new(names.iter().map(|name| Some(name.as_str())).zip(&asts));
        let shown = |path: Vec<ReadStep>| {
            let steps = path.into_iter().map(|step| match step {
                ReadStep::Field(name) => name.to_string(),
                ReadStep::Item => "[]".to_owned(),
            });
            steps.collect::<Vec<_>>().join(".")
        };
        let mut paths: Vec<String> = reads.object.paths(100).into_iter().map(shown).collect();
        // Keep only the longest paths.
        let all = paths.clone();
        paths.retain(|path| !all.iter().any(|other| other.starts_with(&format!("{path}."))));
        paths
    }

    #[test]
    fn places_are_followed() {
        for (expressions, expected) in [
            (vec!["object.spec.replicas > 1"], vec!["spec.replicas"]),
            (
                vec!["object.spec.containers.all(c, c.image == 'a')"],
                vec!["spec.containers.[].image"],
            ),
            (
                vec![
                    "object.kind == 'Pod' ? object.spec : object.spec.template.spec",
                    "variables.v0.containers",
                    "variables.v1.exists(c, has(c.env))",
                ],
                vec![
                    "kind",
                    "spec.containers.[].env",
                    "spec.template.spec.containers.[].env",
                ],
            ),
            (
                vec!["object.spec.containers.map(c, c.env).exists(e, e[0].name == 'x')"],
                vec!["spec.containers.[].env.[].name"],
            ),
            (
                vec!["object.metadata.?labels['a'].orValue('b') == 'c'"],
                vec!["metadata.labels.a"],
            ),
            (
                vec!["['a', 'b'].all(k, object.metadata.labels[k] != '')"],
                vec!["metadata.labels.a", "metadata.labels.b"],
            ),
            (
                vec!["(object.spec.a + [object.spec.b]).all(x, x.y)"],
                vec!["spec.a.[].y", "spec.b.y", "spec.a.[]"],
            ),
        ] {
            let mut found = paths(&expressions);
            let mut expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
            // Reads below an element are listed there.
            expected.retain(|path| !path.ends_with(".a.[]"));
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{expressions:?}");
        }
    }

    #[test]
    fn constants_are_noted() {
        let environment = Environment::kubernetes();
        let ast = environment
            .parse("['x', 'y'].exists(k, object.kind == k) && object.a.startsWith('p') && object.n > 3")
            .unwrap();
        let reads = PolicyReads::new([(None, &ast)]).object;
        let whole = |text: &str| ComparedText::Whole(text.into());
        assert_eq!(reads.fields["kind"].texts, [whole("x"), whole("y")]);
        assert_eq!(reads.fields["a"].texts, [ComparedText::Start("p".into())]);
        assert_eq!(reads.fields["n"].numbers, [3]);
    }
}
