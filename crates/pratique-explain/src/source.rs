//! The tree of an expression as it was written: macros are calls, not their expansions.

use std::sync::OnceLock;

use pratique_cel::ast::{Ast, Expr, ExprId};
use pratique_cel::{Environment, print};

/// The tree of an expression as its author wrote it.
#[derive(Clone, Debug)]
pub struct SourceExpression {
    ast: Ast,
}

/// The logical form of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpressionLogic {
    /// `a && b && …`, with its terms in order.
    And(Vec<ExprId>),
    /// `a || b || …`
    Or(Vec<ExprId>),
    /// `!a`
    Not(ExprId),
    /// `condition ? yes : no`
    Conditional {
        /// The condition.
        condition: ExprId,
        /// The value where it is true.
        yes: ExprId,
        /// The value where it is false.
        no: ExprId,
    },
    /// Anything else.
    Other,
}

impl SourceExpression {
    /// Parses an expression of a policy; `None` on a syntax error.
    ///
    /// Its node ids are those that an evaluation of the same text reports.
    pub fn read(text: &str) -> Option<Self> {
        static ENVIRONMENT: OnceLock<Environment> = OnceLock::new();
        let environment = ENVIRONMENT.get_or_init(Environment::kubernetes);
        environment.parse(text).ok().map(|ast| SourceExpression { ast })
    }

    /// The whole expression.
    pub fn root(&self) -> ExprId {
        self.ast.root
    }

    /// An expression as it was written.
    pub fn expr(&self, id: ExprId) -> &Expr {
        self.ast.macro_calls.get(&id).unwrap_or_else(|| self.ast.expr(id))
    }

    /// The text of an expression, in one line.
    pub fn print_part(&self, id: ExprId) -> String {
        let mut ast = self.ast.clone();
        ast.root = id;
        print::print(&ast)
    }

    /// The direct subexpressions, in source order.
    pub fn children(&self, id: ExprId) -> Vec<ExprId> {
        let mut children = Vec::new();
        match self.expr(id) {
            // Macro expansions are reported as their calls; comprehensions cannot be written.
            Expr::Comprehension(_) => {}
            expr => expr.for_each_child(|child| children.push(child)),
        }
        children
    }

    /// All subexpressions, in preorder.
    pub fn subexpressions(&self) -> Vec<ExprId> {
        let mut nodes = Vec::new();
        let mut left = vec![self.ast.root];
        while let Some(id) = left.pop() {
            nodes.push(id);
            left.extend(self.children(id).into_iter().rev());
        }
        nodes
    }

    /// The logical form of an expression.
    pub fn logic(&self, id: ExprId) -> ExpressionLogic {
        let Expr::Call {
            function,
            target: None,
            args,
        } = self.expr(id)
        else {
            return ExpressionLogic::Other;
        };
        match (&**function, args.as_slice()) {
            ("_&&_", _) => ExpressionLogic::And(self.terms(id, "_&&_")),
            ("_||_", _) => ExpressionLogic::Or(self.terms(id, "_||_")),
            ("!_", [operand]) => ExpressionLogic::Not(*operand),
            ("_?_:_", [condition, yes, no]) => ExpressionLogic::Conditional {
                condition: *condition,
                yes: *yes,
                no: *no,
            },
            _ => ExpressionLogic::Other,
        }
    }

    /// Whether an expression is a constant, whose value need not be shown.
    pub fn is_literal(&self, id: ExprId) -> bool {
        match self.expr(id) {
            Expr::Literal(_) => true,
            Expr::List { elements, .. } => elements.iter().all(|element| self.is_literal(*element)),
            _ => false,
        }
    }

    /// The position at which to show the value of an expression, in code points: its operator, field, function or name.
    pub fn anchor(&self, id: ExprId) -> u32 {
        let offset = self.ast.node(id).offset;
        match self.expr(id) {
            Expr::Select { .. } => self.after(offset, &['.', '?']),
            Expr::Call { function, args, .. } if is_named(function) => self.name_before(offset, function),
            Expr::Call { function, .. } if &**function == "_?._" => self.after(offset, &['.', '?']),
            Expr::Call { args, .. } if args.is_empty() => offset,
            _ => offset,
        }
    }

    /// The byte offset of an expression, or of its operator if it begins with a parenthesis.
    pub fn start(&self, id: ExprId) -> usize {
        let mut first = self.anchor(id);
        let mut left = vec![id];
        while let Some(id) = left.pop() {
            first = first.min(self.anchor(id));
            left.extend(self.children(id));
        }
        let text = self.ast.source.as_str();
        text.char_indices()
            .nth(first as usize)
            .map_or(text.len(), |(at, _)| at)
    }

    /// The terms of a chain of one operator, however it is nested.
    fn terms(&self, id: ExprId, operator: &str) -> Vec<ExprId> {
        let mut terms = Vec::new();
        let mut left = vec![id];
        while let Some(id) = left.pop() {
            match self.expr(id) {
                Expr::Call {
                    function,
                    target: None,
                    args,
                } if **function == *operator => left.extend(args.iter().rev()),
                _ => terms.push(id),
            }
        }
        terms
    }

    /// The first position from an offset on that is neither one of these characters nor white space.
    fn after(&self, offset: u32, skipped: &[char]) -> u32 {
        let rest = self.ast.source.as_str().chars().skip(offset as usize);
        let skipped = rest.take_while(|next| skipped.contains(next) || next.is_whitespace());
        offset + skipped.count() as u32
    }

    /// The start of the name of a function whose parenthesis opens at an offset.
    fn name_before(&self, offset: u32, name: &str) -> u32 {
        let text: Vec<char> = self.ast.source.as_str().chars().take(offset as usize).collect();
        let name: Vec<char> = name.chars().collect();
        let blanks = text
            .iter()
            .rev()
            .take_while(|character| character.is_whitespace())
            .count();
        let end = text.len() - blanks;
        let start = text.get(..end).unwrap_or_default();
        if start.ends_with(&name) {
            (end - name.len()) as u32
        } else {
            offset
        }
    }
}

/// Whether a function is called by its name, and not as an operator.
fn is_named(function: &str) -> bool {
    function
        .chars()
        .all(|character| character.is_alphanumeric() || character == '_')
        && function.chars().any(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Marks the anchor of every expression that is not a constant.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let source = SourceExpression::read(text).unwrap();
        let mut marks = vec![' '; text.chars().count()];
        for id in source
            .subexpressions()
            .into_iter()
            .filter(|id| !source.is_literal(*id))
        {
            marks[source.anchor(id) as usize] = '^';
        }
        let marks: String = marks.into_iter().collect();
        assert_eq!(marks.trim_end(), expected, "\n{text}");
    }

    #[test]
    fn values_stand_under_what_gives_them() {
        check("object.spec.x <= 5", "^      ^    ^ ^");
        check("has(object.a) && !b", "^   ^      ^  ^  ^^");
        check("l.all(x, x.f(1) > 2)", "^ ^   ^  ^ ^    ^");
        check("size(l) == 0 ? a : m['k']", "^    ^  ^    ^ ^   ^^");
        check("object.?a.orValue(1)", "^       ^ ^");
    }

    #[test]
    fn chains_are_flat() {
        let source = SourceExpression::read("a && (b && c) && (d || e)").unwrap();
        let ExpressionLogic::And(terms) = source.logic(source.root()) else {
            panic!()
        };
        let texts: Vec<_> = terms.iter().map(|term| source.print_part(*term)).collect();
        assert_eq!(texts, ["a", "b", "c", "d || e"]);
    }
}
