//! Partial evaluation of an expression under facts: the values of its nodes, and which nodes are dead.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use pratique_cel::ast::{Ast, Expr, ExprId, Literal};

use super::facts::{KnownValue, RequestFacts};
use super::walk::constant_key;

/// The values of the nodes of an expression.
#[derive(Clone, Debug, Default)]
pub(crate) struct FoldedExpression {
    values: Vec<KnownValue>,
    dead: HashSet<ExprId>,
    paths: HashMap<ExprId, Vec<String>>,
}

impl FoldedExpression {
    /// Simplifies an expression; `variables` are those of the policy as far as they are known.
    pub(crate) fn new(ast: &Ast, facts: &RequestFacts<'_>, variables: &HashMap<String, KnownValue>) -> Self {
        let mut folder = ExpressionFolder {
            ast,
            facts,
            variables,
            locals: Vec::new(),
            folded: FoldedExpression {
                values: vec![KnownValue::Unknown; ast.len()],
                ..FoldedExpression::default()
            },
        };
        folder.fold(ast.root);
        folder.folded
    }

    /// The value of a node.
    pub(crate) fn value(&self, id: ExprId) -> &KnownValue {
        self.values.get(id.0 as usize).unwrap_or(&KnownValue::Unknown)
    }

    /// Whether a node cannot affect the result: another operand decides, and absorbs its errors.
    pub(crate) fn is_dead(&self, id: ExprId) -> bool {
        self.dead.contains(&id)
    }

    /// The path from a variable of the environment to a node's value.
    pub(crate) fn path(&self, id: ExprId) -> Option<&[String]> {
        self.paths.get(&id).map(Vec::as_slice)
    }
}

struct ExpressionFolder<'a> {
    ast: &'a Ast,
    facts: &'a RequestFacts<'a>,
    variables: &'a HashMap<String, KnownValue>,
    /// The variables of the enclosing comprehensions.
    locals: Vec<Arc<str>>,
    folded: FoldedExpression,
}

impl ExpressionFolder<'_> {
    fn fold(&mut self, id: ExprId) -> KnownValue {
        let ast = self.ast;
        let value = match ast.expr(id) {
            Expr::Literal(literal) => of_literal(literal),
            Expr::Ident(name) if self.locals.contains(name) => KnownValue::Unknown,
            Expr::Ident(name) => self.read(id, vec![name.trim_start_matches('.').to_owned()]),
            Expr::Select {
                operand,
                field,
                test_only,
            } => self.select(id, *operand, field, *test_only),
            Expr::Call {
                function,
                target,
                args,
            } => self.call(id, function, *target, args),
            Expr::Comprehension(comprehension) => {
                self.fold(comprehension.range);
                self.fold(comprehension.init);
                let outer = self.locals.len();
                self.locals.push(comprehension.accumulator.clone());
                self.locals.push(comprehension.var.clone());
                self.locals.extend(comprehension.var2.clone());
                self.fold(comprehension.condition);
                self.fold(comprehension.step);
                self.fold(comprehension.result);
                self.locals.truncate(outer);
                KnownValue::Unknown
            }
            other => {
                other.for_each_child(|child| drop(self.fold(child)));
                KnownValue::Present
            }
        };
        if let Some(place) = self.folded.values.get_mut(id.0 as usize) {
            place.clone_from(&value);
        }
        value
    }

    /// The value at a path, which is recorded for the node.
    fn read(&mut self, id: ExprId, path: Vec<String>) -> KnownValue {
        let value = match path.as_slice() {
            [variables, name] if variables == "variables" => {
                self.variables.get(name).cloned().unwrap_or_default()
            }
            path => self.facts.value(path),
        };
        self.folded.paths.insert(id, path);
        value
    }

    fn select(&mut self, id: ExprId, operand: ExprId, field: &str, test_only: bool) -> KnownValue {
        let of = self.fold(operand);
        let path = self.folded.path(operand).map(|path| below(path, field));
        match (test_only, path) {
            (false, Some(path)) => self.read(id, path),
            (true, _) if of == KnownValue::Null => KnownValue::Bool(false),
            (true, Some(path)) => {
                let has = self.facts.has(&path);
                self.folded.paths.insert(id, path);
                has.map_or(KnownValue::Unknown, KnownValue::Bool)
            }
            _ => KnownValue::Unknown,
        }
    }

    fn call(&mut self, id: ExprId, function: &str, target: Option<ExprId>, args: &[ExprId]) -> KnownValue {
        let target = target.map(|target| self.fold(target));
        let values: Vec<KnownValue> = args.iter().map(|arg| self.fold(*arg)).collect();
        match (function, args, values.as_slice()) {
            ("_&&_", [a, b], [left, right]) => self.junction(false, (*a, left), (*b, right)),
            ("_||_", [a, b], [left, right]) => self.junction(true, (*a, left), (*b, right)),
            ("!_", _, [KnownValue::Bool(value)]) => KnownValue::Bool(!value),
            ("_?_:_", [_, a, b], [condition, left, right]) => self.choice(condition, (*a, left), (*b, right)),
            ("_==_", _, [left, right]) => left.equals(right).map_or(KnownValue::Unknown, KnownValue::Bool),
            ("_!=_", _, [left, right]) => left
                .equals(right)
                .map_or(KnownValue::Unknown, |equal| KnownValue::Bool(!equal)),
            ("@in", [_, list], [value, _]) => self.within(value, *list),
            ("_[_]", [operand, key], _) => match (self.folded.path(*operand), constant_key(self.ast, *key)) {
                (Some(path), Some(key)) => {
                    let path = below(path, key);
                    self.read(id, path)
                }
                _ => KnownValue::Unknown,
            },
            ("_?._" | "_[?_]", [operand, key], _) => {
                if let (Some(path), Some(key)) = (self.folded.path(*operand), constant_key(self.ast, *key)) {
                    let path = below(path, key);
                    self.folded.paths.insert(id, path);
                }
                KnownValue::Unknown
            }
            ("dyn", [_], [value]) if target.is_none() => value.clone(),
            _ => KnownValue::Unknown,
        }
    }

    /// `&&` and `||`: a decisive operand absorbs errors of the other one, whichever comes first.
    fn junction(
        &mut self,
        decisive: bool,
        left: (ExprId, &KnownValue),
        right: (ExprId, &KnownValue),
    ) -> KnownValue {
        let decides = KnownValue::Bool(decisive);
        if *left.1 == decides {
            self.folded.dead.insert(right.0);
            return decides;
        }
        if *right.1 == decides {
            self.folded.dead.insert(left.0);
            return decides;
        }
        match (left.1, right.1) {
            (KnownValue::Bool(_), KnownValue::Bool(_)) => KnownValue::Bool(!decisive),
            _ => KnownValue::Unknown,
        }
    }

    fn choice(
        &mut self,
        condition: &KnownValue,
        then: (ExprId, &KnownValue),
        otherwise: (ExprId, &KnownValue),
    ) -> KnownValue {
        match condition {
            KnownValue::Bool(true) => {
                self.folded.dead.insert(otherwise.0);
                then.1.clone()
            }
            KnownValue::Bool(false) => {
                self.folded.dead.insert(then.0);
                otherwise.1.clone()
            }
            _ if then.1 == otherwise.1 => then.1.clone(),
            _ => KnownValue::Unknown,
        }
    }

    /// `value in [a, b]`
    fn within(&self, value: &KnownValue, list: ExprId) -> KnownValue {
        let Expr::List { elements, optional } = self.ast.expr(list) else {
            return KnownValue::Unknown;
        };
        if !optional.is_empty() {
            return KnownValue::Unknown;
        }
        let equal: Vec<Option<bool>> = elements
            .iter()
            .map(|element| value.equals(self.folded.value(*element)))
            .collect();
        if equal.contains(&Some(true)) {
            return KnownValue::Bool(true);
        }
        if equal.contains(&None) {
            KnownValue::Unknown
        } else {
            KnownValue::Bool(false)
        }
    }
}

fn of_literal(literal: &Literal) -> KnownValue {
    match literal {
        Literal::Null => KnownValue::Null,
        Literal::Bool(value) => KnownValue::Bool(*value),
        Literal::Int(value) => KnownValue::Int(*value),
        Literal::String(text) => KnownValue::Text(text.clone()),
        Literal::Uint(_) | Literal::Double(_) | Literal::Bytes(_) => KnownValue::Present,
    }
}

fn below(path: &[String], field: &str) -> Vec<String> {
    let mut path = path.to_vec();
    path.push(field.to_owned());
    path
}
