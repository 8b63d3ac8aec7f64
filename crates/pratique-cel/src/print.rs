//! From syntax tree to text that parses to the same tree, with macros as they were written.

mod literal;

pub use crate::text::quote_cel as quote;

use self::literal::{is_plain, write_literal};
use crate::ast::{Ast, Expr, ExprId, Literal};

/// Writes a tree as an expression, with the parentheses it needs and one blank around operators.
pub fn print(ast: &Ast) -> String {
    let mut printer = AstPrinter {
        ast,
        left: vec![OpenPiece::Node(ast.root, BindingLevel::Conditional)],
        text: String::with_capacity(ast.source.as_str().len()),
    };
    printer.run();
    printer.text
}

/// How strongly an expression holds together, from the weakest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum BindingLevel {
    Conditional,
    Or,
    And,
    Relation,
    Sum,
    Product,
    Unary,
    Member,
}

/// A part that is yet to be written.
enum OpenPiece<'a> {
    Text(&'a str),
    Field(&'a str),
    /// A node, in parentheses unless it holds together at least as strongly as the level.
    Node(ExprId, BindingLevel),
}

/// A stack instead of recursion: trees may be deep.
struct AstPrinter<'a> {
    ast: &'a Ast,
    left: Vec<OpenPiece<'a>>,
    text: String,
}

impl<'a> AstPrinter<'a> {
    fn run(&mut self) {
        while let Some(piece) = self.left.pop() {
            match piece {
                OpenPiece::Text(text) => self.text.push_str(text),
                OpenPiece::Field(name) if is_plain(name) => self.text.push_str(name),
                OpenPiece::Field(name) => {
                    self.text.push('`');
                    self.text.push_str(name);
                    self.text.push('`');
                }
                OpenPiece::Node(id, at_least) => {
                    let parenthesized = self.level(id) < at_least;
                    let mut pieces = Vec::new();
                    if parenthesized {
                        pieces.push(OpenPiece::Text("("));
                    }
                    self.expr(id, &mut pieces);
                    if parenthesized {
                        pieces.push(OpenPiece::Text(")"));
                    }
                    self.left.extend(pieces.into_iter().rev());
                }
            }
        }
    }

    /// The expression of a node as it was written.
    fn written(&self, id: ExprId) -> &'a Expr {
        self.ast.macro_calls.get(&id).unwrap_or_else(|| self.ast.expr(id))
    }

    /// The operator of a node, and its operands.
    fn operation(&self, id: ExprId) -> Option<(&'a str, &'a [ExprId])> {
        match self.written(id) {
            Expr::Call {
                function,
                target: None,
                args,
            } => Some((function, args)),
            _ => None,
        }
    }

    fn level(&self, id: ExprId) -> BindingLevel {
        match self.operation(id) {
            Some(("_?_:_", [_, _, _])) => BindingLevel::Conditional,
            Some((function, [_, _])) => binary(function).map_or(BindingLevel::Member, |(level, _)| level),
            Some(("!_" | "-_", [_])) => BindingLevel::Unary,
            _ => BindingLevel::Member,
        }
    }

    fn expr(&mut self, id: ExprId, pieces: &mut Vec<OpenPiece<'a>>) {
        match self.written(id) {
            Expr::Literal(literal) => {
                // A literal is written at once, after the texts before it.
                self.flush(pieces);
                write_literal(&mut self.text, literal);
            }
            Expr::Ident(name) => pieces.push(OpenPiece::Text(name)),
            Expr::Select {
                operand,
                field,
                test_only,
            } => {
                let (opening, closing) = if *test_only { ("has(", ")") } else { ("", "") };
                pieces.extend([
                    OpenPiece::Text(opening),
                    OpenPiece::Node(*operand, BindingLevel::Member),
                    OpenPiece::Text("."),
                    OpenPiece::Field(field),
                    OpenPiece::Text(closing),
                ]);
            }
            Expr::Call {
                function,
                target,
                args,
            } => match target {
                Some(target) => {
                    pieces.extend([
                        OpenPiece::Node(*target, BindingLevel::Member),
                        OpenPiece::Text("."),
                    ]);
                    arguments(function, args, pieces);
                }
                None => self.operator_or_call(id, function, args, pieces),
            },
            Expr::List { elements, optional } => {
                pieces.push(OpenPiece::Text("["));
                for (index, element) in elements.iter().enumerate() {
                    separate(index, pieces);
                    mark(optional.contains(&(index as u32)), pieces);
                    pieces.push(OpenPiece::Node(*element, BindingLevel::Conditional));
                }
                pieces.push(OpenPiece::Text("]"));
            }
            Expr::Map(entries) => {
                pieces.push(OpenPiece::Text("{"));
                for (index, entry) in entries.iter().enumerate() {
                    separate(index, pieces);
                    mark(entry.optional, pieces);
                    pieces.extend([
                        OpenPiece::Node(entry.key, BindingLevel::Conditional),
                        OpenPiece::Text(": "),
                    ]);
                    pieces.push(OpenPiece::Node(entry.value, BindingLevel::Conditional));
                }
                pieces.push(OpenPiece::Text("}"));
            }
            Expr::Struct { type_name, fields } => {
                pieces.extend([OpenPiece::Text(type_name), OpenPiece::Text("{")]);
                for (index, field) in fields.iter().enumerate() {
                    separate(index, pieces);
                    mark(field.optional, pieces);
                    pieces.extend([OpenPiece::Field(&field.name), OpenPiece::Text(": ")]);
                    pieces.push(OpenPiece::Node(field.value, BindingLevel::Conditional));
                }
                pieces.push(OpenPiece::Text("}"));
            }
            // Only macros make comprehensions; this shows the parts of one without its macro.
            Expr::Comprehension(comprehension) => {
                let parts = [
                    comprehension.range,
                    comprehension.init,
                    comprehension.condition,
                    comprehension.step,
                    comprehension.result,
                ];
                arguments("@comprehension", &parts, pieces);
            }
        }
    }

    /// Writes the texts that are waiting.
    fn flush(&mut self, pieces: &mut Vec<OpenPiece<'a>>) {
        for piece in pieces.drain(..) {
            if let OpenPiece::Text(text) = piece {
                self.text.push_str(text);
            }
        }
    }

    fn operator_or_call(
        &self,
        id: ExprId,
        function: &'a str,
        args: &'a [ExprId],
        pieces: &mut Vec<OpenPiece<'a>>,
    ) {
        match (function, args) {
            ("_?_:_", [condition, then, otherwise]) => pieces.extend([
                OpenPiece::Node(*condition, BindingLevel::Or),
                OpenPiece::Text(" ? "),
                OpenPiece::Node(*then, BindingLevel::Or),
                OpenPiece::Text(" : "),
                OpenPiece::Node(*otherwise, BindingLevel::Conditional),
            ]),
            ("!_", [operand]) => pieces.extend([
                OpenPiece::Text("!"),
                OpenPiece::Node(*operand, BindingLevel::Member),
            ]),
            ("-_", [operand]) if self.begins_with_number(*operand) => {
                let inner = OpenPiece::Node(*operand, BindingLevel::Conditional);
                pieces.extend([OpenPiece::Text("-("), inner, OpenPiece::Text(")")]);
            }
            ("-_", [operand]) => pieces.extend([
                OpenPiece::Text("-"),
                OpenPiece::Node(*operand, BindingLevel::Member),
            ]),
            ("_[_]", [operand, index]) => index_pieces(*operand, "[", *index, pieces),
            ("_[?_]", [operand, index]) => index_pieces(*operand, "[?", *index, pieces),
            ("_?._", [operand, field]) => {
                pieces.extend([
                    OpenPiece::Node(*operand, BindingLevel::Member),
                    OpenPiece::Text(".?"),
                ]);
                pieces.push(match self.written(*field) {
                    Expr::Literal(Literal::String(name)) => OpenPiece::Field(name),
                    _ => OpenPiece::Node(*field, BindingLevel::Member),
                });
            }
            (_, [left, right]) if binary(function).is_some() => {
                let Some((level, sign)) = binary(function) else {
                    return;
                };
                if matches!(level, BindingLevel::And | BindingLevel::Or) {
                    self.logic(id, function, level, sign, pieces);
                } else {
                    let stronger = stronger(level);
                    pieces.extend([
                        OpenPiece::Node(*left, level),
                        OpenPiece::Text(sign),
                        OpenPiece::Node(*right, stronger),
                    ]);
                }
            }
            _ => arguments(function, args, pieces),
        }
    }

    /// `a && b && c`: without parentheses where the parser makes the same balanced tree of the chain.
    fn logic(
        &self,
        id: ExprId,
        function: &'a str,
        level: BindingLevel,
        sign: &'a str,
        pieces: &mut Vec<OpenPiece<'a>>,
    ) {
        let terms = self.terms(id, function);
        let terms = if self.is_balanced(id, function, terms.len().saturating_sub(1)) {
            terms
        } else {
            self.operation(id)
                .map_or_else(Vec::new, |(_, args)| args.to_vec())
        };
        for (index, term) in terms.into_iter().enumerate() {
            pieces.push(OpenPiece::Text(if index > 0 { sign } else { "" }));
            pieces.push(OpenPiece::Node(term, stronger(level)));
        }
    }

    /// The operands of a chain, in order.
    fn terms(&self, id: ExprId, function: &str) -> Vec<ExprId> {
        let (mut waiting, mut terms) = (vec![id], Vec::new());
        while let Some(id) = waiting.pop() {
            match self.operation(id) {
                Some((operator, args)) if operator == function => waiting.extend(args.iter().rev()),
                _ => terms.push(id),
            }
        }
        terms
    }

    /// Whether a tree is what the parser makes of a chain with a number of operators.
    fn is_balanced(&self, id: ExprId, function: &str, operators: usize) -> bool {
        let middle = operators / 2;
        match self.operation(id) {
            Some((operator, [left, right])) if operator == function => {
                operators > 0
                    && self.is_balanced(*left, function, middle)
                    && self.is_balanced(*right, function, operators - middle - 1)
            }
            _ => operators == 0,
        }
    }

    /// Whether a minus sign before an expression would become part of a number.
    fn begins_with_number(&self, mut id: ExprId) -> bool {
        loop {
            id = match self.written(id) {
                Expr::Literal(Literal::Int(_) | Literal::Double(_)) => return true,
                Expr::Select { operand, .. } => *operand,
                Expr::Call {
                    target: Some(target), ..
                } => *target,
                Expr::Call { function, args, .. } => match (&**function, args.as_slice()) {
                    ("_[_]" | "_[?_]" | "_?._", [operand, _]) => *operand,
                    _ => return false,
                },
                _ => return false,
            };
        }
    }
}

/// The level and the text of an operator between two operands.
fn binary(function: &str) -> Option<(BindingLevel, &'static str)> {
    Some(match function {
        "_||_" => (BindingLevel::Or, " || "),
        "_&&_" => (BindingLevel::And, " && "),
        "_==_" => (BindingLevel::Relation, " == "),
        "_!=_" => (BindingLevel::Relation, " != "),
        "@in" => (BindingLevel::Relation, " in "),
        "_<_" => (BindingLevel::Relation, " < "),
        "_<=_" => (BindingLevel::Relation, " <= "),
        "_>_" => (BindingLevel::Relation, " > "),
        "_>=_" => (BindingLevel::Relation, " >= "),
        "_+_" => (BindingLevel::Sum, " + "),
        "_-_" => (BindingLevel::Sum, " - "),
        "_*_" => (BindingLevel::Product, " * "),
        "_/_" => (BindingLevel::Product, " / "),
        "_%_" => (BindingLevel::Product, " % "),
        _ => return None,
    })
}

/// The level above that of an operator between two operands.
fn stronger(level: BindingLevel) -> BindingLevel {
    match level {
        BindingLevel::Conditional => BindingLevel::Or,
        BindingLevel::Or => BindingLevel::And,
        BindingLevel::And => BindingLevel::Relation,
        BindingLevel::Relation => BindingLevel::Sum,
        BindingLevel::Sum => BindingLevel::Product,
        BindingLevel::Product => BindingLevel::Unary,
        BindingLevel::Unary | BindingLevel::Member => BindingLevel::Member,
    }
}

fn index_pieces<'a>(operand: ExprId, open: &'static str, index: ExprId, pieces: &mut Vec<OpenPiece<'a>>) {
    pieces.extend([
        OpenPiece::Node(operand, BindingLevel::Member),
        OpenPiece::Text(open),
    ]);
    pieces.extend([
        OpenPiece::Node(index, BindingLevel::Conditional),
        OpenPiece::Text("]"),
    ]);
}

fn arguments<'a>(function: &'a str, args: &[ExprId], pieces: &mut Vec<OpenPiece<'a>>) {
    pieces.extend([OpenPiece::Text(function), OpenPiece::Text("(")]);
    for (index, argument) in args.iter().enumerate() {
        separate(index, pieces);
        pieces.push(OpenPiece::Node(*argument, BindingLevel::Conditional));
    }
    pieces.push(OpenPiece::Text(")"));
}

fn separate(index: usize, pieces: &mut Vec<OpenPiece<'_>>) {
    if index > 0 {
        pieces.push(OpenPiece::Text(", "));
    }
}

fn mark(optional: bool, pieces: &mut Vec<OpenPiece<'_>>) {
    if optional {
        pieces.push(OpenPiece::Text("?"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Environment;

    fn check(text: &str, expected: &str) {
        let environment = Environment::kubernetes();
        let parse = |text: &str| {
            environment
                .parse(text)
                .unwrap_or_else(|error| panic!("{text}: {error}"))
        };
        let ast = parse(text);
        let printed = print(&ast);
        assert_eq!(printed, expected);
        assert!(parse(&printed).is_same(&ast), "{text} as {printed}");
    }

    #[test]
    fn operators_keep_only_the_parentheses_they_need() {
        check("((a+b))*c-(d-e)", "(a + b) * c - (d - e)");
        check("(a?b:c)?d:(e?f:g)", "(a ? b : c) ? d : e ? f : g");
        check("a&&(b||c)||d", "a && (b || c) || d");
        check("a && b && c && d", "a && b && c && d");
        check("a && (b && (c && d))", "a && (b && (c && d))");
        check("(1 < 2) == (x in y)", "1 < 2 == (x in y)");
        check("!(!a) && ---b", "!(!a) && -b");
        check(
            "-(1) + -(-1) + -(1.0.f()) + -1u + !-1",
            "-(1) + -(-1) + -(1.0.f()) + -1u + !-1",
        );
    }

    #[test]
    fn members_and_literals_are_written_as_they_must_be() {
        check("a.?b[?c].`d-e`.`in`.f( 1 )", "a.?b[?c].`d-e`.`in`.f(1)");
        check("[ ?a, b, ]+[,]", "[?a, b] + []");
        check("{?'a':1, b:2}", r#"{?"a": 1, b: 2}"#);
        check(".a.B{?c:1, `d.e`:2}", ".a.B{?c: 1, `d.e`: 2}");
        check(r#"'"\n\x01\\é' + b'\xff"a'"#, r#""\"\n\u0001\\é" + b"\xff\"a""#);
        check("1e3 + .5 + 1u + 0x1F + null", "1000.0 + 0.5 + 1u + 31 + null");
    }

    #[test]
    fn macros_are_shown_as_written() {
        check("has( a.b )", "has(a.b)");
        check("x.all(a,a.exists(b,b>0))", "x.all(a, a.exists(b, b > 0))");
        check(
            "x.optMap(a, a+1).optMap(b, b.map(c,c))",
            "x.optMap(a, a + 1).optMap(b, b.map(c, c))",
        );
        check(
            "x.transformMap(k, v, v>1, [v]).f()",
            "x.transformMap(k, v, v > 1, [v]).f()",
        );
    }
}
