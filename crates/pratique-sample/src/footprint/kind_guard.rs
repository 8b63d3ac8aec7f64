//! Conditions that the kind of an object decides: policies for several kinds read parts of an object behind such.

use std::sync::Arc;

use pratique_cel::ast::{Ast, Comprehension, Expr, ExprId, Literal};

/// What is known of an object: the text of its field `kind`.
#[derive(Clone, Copy, Debug)]
pub(super) struct KindGuard<'k> {
    pub(super) kind: &'k str,
}

/// A value that is the same for all objects of a kind.
#[derive(Clone, Debug, PartialEq)]
enum KnownValue {
    Bool(bool),
    Text(Arc<str>),
}

/// The names within an expression.
struct KnownNames {
    /// Their values; `None` for one that is not known.
    values: Vec<(Arc<str>, Option<KnownValue>)>,
    /// How many nodes may still be looked at: those of macros within macros are looked at again and again.
    left: usize,
}

/// The most nodes that are looked at for a condition.
const MOST_NODES: usize = 1_000;

impl KindGuard<'_> {
    /// Whether a condition holds for all objects of the kind, or for none. `locals` are names of other values.
    pub(super) fn decide<'n>(
        self,
        ast: &Ast,
        id: ExprId,
        locals: impl Iterator<Item = &'n Arc<str>>,
    ) -> Option<bool> {
        let mut names = KnownNames {
            values: locals.map(|name| (Arc::clone(name), None)).collect(),
            left: MOST_NODES,
        };
        self.truth(ast, id, &mut names)
    }

    /// Whether a node is the kind, outside of macros.
    pub(super) fn is_kind(self, ast: &Ast, id: ExprId) -> bool {
        let mut names = KnownNames {
            values: Vec::new(),
            left: MOST_NODES,
        };
        let is_select = matches!(ast.expr(id), Expr::Select { .. });
        is_select && matches!(self.value(ast, id, &mut names), Some(KnownValue::Text(_)))
    }

    fn truth(self, ast: &Ast, id: ExprId, names: &mut KnownNames) -> Option<bool> {
        match self.value(ast, id, names)? {
            KnownValue::Bool(value) => Some(value),
            KnownValue::Text(_) => None,
        }
    }

    /// Recursion is safe: the parser bounds the depth of expressions.
    fn value(self, ast: &Ast, id: ExprId, names: &mut KnownNames) -> Option<KnownValue> {
        names.left = names.left.checked_sub(1)?;
        match ast.expr(id) {
            Expr::Literal(Literal::Bool(value)) => Some(KnownValue::Bool(*value)),
            Expr::Literal(Literal::String(text)) => Some(KnownValue::Text(Arc::clone(text))),
            Expr::Ident(name) => {
                let (_, value) = names.values.iter().rev().find(|(known, _)| known == name)?;
                value.clone()
            }
            Expr::Select {
                operand,
                field,
                test_only: false,
            } => {
                let is_object = matches!(ast.expr(*operand), Expr::Ident(name) if &**name == "object")
                    && !names.values.iter().any(|(name, _)| &**name == "object");
                (is_object && &**field == "kind").then(|| KnownValue::Text(self.kind.into()))
            }
            Expr::Call {
                function,
                target: None,
                args,
            } => self.call(ast, function, args, names).map(KnownValue::Bool),
            Expr::Comprehension(comprehension) => self
                .comprehension(ast, comprehension, names)
                .map(KnownValue::Bool),
            _ => None,
        }
    }

    fn call(self, ast: &Ast, function: &str, args: &[ExprId], names: &mut KnownNames) -> Option<bool> {
        match (function, args) {
            ("!_", [operand]) => Some(!self.truth(ast, *operand, names)?),
            ("@not_strictly_false", [operand]) => self.truth(ast, *operand, names),
            // The right operand is not evaluated if the left one decides.
            ("_&&_" | "_||_", [left, right]) => {
                let left = self.truth(ast, *left, names)?;
                let decides = left == (function == "_||_");
                if decides {
                    Some(left)
                } else {
                    self.truth(ast, *right, names)
                }
            }
            ("_==_", [left, right]) => {
                Some(self.value(ast, *left, names)? == self.value(ast, *right, names)?)
            }
            ("_!=_", [left, right]) => {
                Some(self.value(ast, *left, names)? != self.value(ast, *right, names)?)
            }
            ("@in", [value, list]) => {
                let value = self.value(ast, *value, names)?;
                Some(self.texts(ast, *list)?.contains(&value))
            }
            _ => None,
        }
    }

    /// A macro over constants, such as `['Job', 'Pod'].all(k, object.kind != k)`.
    fn comprehension(self, ast: &Ast, comprehension: &Comprehension, names: &mut KnownNames) -> Option<bool> {
        if comprehension.var2.is_some() {
            return None;
        }
        let elements = self.texts(ast, comprehension.range)?;
        let mut value = self.truth(ast, comprehension.init, names)?;
        let outer = names.values.len();
        let name = |name: &Arc<str>, value| (Arc::clone(name), Some(value));
        for element in elements {
            names
                .values
                .push(name(&comprehension.accumulator, KnownValue::Bool(value)));
            names.values.push(name(&comprehension.var, element));
            let goes_on = self.truth(ast, comprehension.condition, names);
            let next = self.truth(ast, comprehension.step, names);
            names.values.truncate(outer);
            if !goes_on? {
                break;
            }
            value = next?;
        }
        names
            .values
            .push(name(&comprehension.accumulator, KnownValue::Bool(value)));
        let result = self.truth(ast, comprehension.result, names);
        names.values.truncate(outer);
        result
    }

    /// The elements of a list of texts.
    fn texts(self, ast: &Ast, id: ExprId) -> Option<Vec<KnownValue>> {
        let Expr::List { elements, optional } = ast.expr(id) else {
            return None;
        };
        let text = |id: &ExprId| match ast.expr(*id) {
            Expr::Literal(Literal::String(text)) => Some(KnownValue::Text(Arc::clone(text))),
            _ => None,
        };
        let elements = elements.iter().map(text);
        elements
            .collect::<Option<Vec<_>>>()
            .filter(|_| optional.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use pratique_cel::Environment;

    use super::*;

    #[test]
    fn conditions_on_the_kind_are_decided() {
        let kinds = "['Job', 'Pod']";
        for (condition, expected) in [
            ("object.kind == 'Pod'", Some(true)),
            ("object.kind != 'Pod' || object.spec.x", None),
            ("object.kind == 'Pod' || object.spec.x", Some(true)),
            ("object.kind != 'Pod' && object.spec.x", Some(false)),
            ("object.spec.x || object.kind == 'Pod'", None),
            ("!(object.kind in ['Job'])", Some(true)),
            (&format!("{kinds}.all(k, object.kind != k)"), Some(false)),
            (&format!("{kinds}.exists(k, object.kind == k)"), Some(true)),
            (&format!("{kinds}.exists_one(k, object.kind == k)"), None),
            ("[object].all(object, object.kind == 'Pod')", None),
            ("oldObject.kind == 'Pod'", None),
            ("has(object.kind)", None),
            ("object.kind.startsWith('P')", None),
        ] {
            let ast = Environment::kubernetes().parse(condition).unwrap();
            let guard = KindGuard { kind: "Pod" };
            assert_eq!(guard.decide(&ast, ast.root, [].iter()), expected, "{condition}");
        }
    }

    #[test]
    fn macros_within_macros_end() {
        let names: Vec<String> = (0..30).map(|index| format!("'{index}'")).collect();
        let list = format!("[{}]", names.join(", "));
        let condition = format!("{list}.all(a, {list}.all(b, {list}.all(c, {list}.all(d, a != 'x'))))");
        let ast = Environment::kubernetes().parse(&condition).unwrap();
        assert_eq!(KindGuard { kind: "Pod" }.decide(&ast, ast.root, [].iter()), None);
    }
}
