//! From parse tree to syntax tree: the second half of the thorough way, with a stack of its own as the first.

use super::super::MOST_DEPTH;
use super::super::builder::Builder;
use super::super::literal;
use super::super::token::{Token, is_reserved};
use super::grammar::{Label, Rule, Variant};
use super::tree::{Node, NodeId, Tree};
use crate::ast::{Expr, ExprId, Literal, MapEntry, StructField};
use crate::error::Issue;
use crate::source::{Position, Source};

/// The place of what was not read: the reference puts it before the beginning.
const UNREAD: u32 = u32::MAX;

/// What is left to do.
enum Task {
    /// Make the expression of a node; where there is none, stand for it.
    Visit(Option<NodeId>),
    /// Make it from the expressions of its parts, which are made.
    Make(NodeId),
}

/// A conversion under way.
pub(super) struct Converter<'t, 'b, 'm> {
    pub(super) tree: &'t Tree,
    pub(super) source: &'t Source,
    pub(super) builder: &'b mut Builder<'m>,
    pub(super) issues: &'t mut Vec<Issue>,
}

impl Converter<'_, '_, '_> {
    /// Converts what a node stands for.
    pub(super) fn convert(&mut self, root: NodeId) -> ExprId {
        let mut tasks = vec![Task::Visit(Some(root))];
        let mut made: Vec<ExprId> = Vec::new();
        let mut depth = 0;
        while let Some(task) = tasks.pop() {
            match task {
                Task::Visit(id) => {
                    let id = id.and_then(|id| self.unnest(id));
                    let Some((id, node)) = id.and_then(|id| Some((id, self.tree.get(id)?))) else {
                        made.push(self.builder.nothing(UNREAD));
                        continue;
                    };
                    depth += u32::from(is_counted(node));
                    if depth > MOST_DEPTH {
                        self.report_nowhere("max recursion depth exceeded");
                        break;
                    }
                    tasks.push(Task::Make(id));
                    tasks.extend(self.operands(node).into_iter().rev().map(Task::Visit));
                }
                Task::Make(id) => {
                    let Some(node) = self.tree.get(id) else { continue };
                    depth -= u32::from(is_counted(node));
                    let operands = made.split_off(made.len().saturating_sub(self.operands(node).len()));
                    let expr = self.make(node, operands);
                    made.push(expr);
                }
            }
        }
        made.pop().unwrap_or(ExprId(0))
    }

    /// Goes down through nodes that only hold another; `None` where one holds nothing.
    fn unnest(&self, mut id: NodeId) -> Option<NodeId> {
        loop {
            let node = self.tree.get(id)?;
            let through = match (node.rule, node.variant) {
                (Rule::Start, _) => true,
                (Rule::Expr | Rule::Or | Rule::And | Rule::Relation | Rule::Calc, _) => {
                    node.token(Label::Op).is_none()
                }
                (_, Variant::Not | Variant::Negate) => node.tokens(Label::Op).count() % 2 == 0,
                (_, Variant::MemberExpr | Variant::PrimaryExpr | Variant::Nested | Variant::Constant) => true,
                _ => false,
            };
            if !through {
                return Some(id);
            }
            // An operation whose operator is missing holds its left operand, but does not stand for it.
            if node.variant == Variant::Operation {
                return None;
            }
            id = node.child(Label::First)?;
        }
    }

    /// The nodes whose expressions a node's is made from.
    fn operands(&self, node: &Node) -> Vec<Option<NodeId>> {
        let first = node.child(Label::First);
        match (node.rule, node.variant) {
            (Rule::Expr, _) => vec![first, node.child(Label::Next), node.child(Label::Last)],
            (Rule::Or | Rule::And, _) => [first]
                .into_iter()
                .chain(node.children(Label::Next).map(Some))
                .collect(),
            (_, Variant::Operation | Variant::Index) => vec![first, node.child(Label::Next)],
            (_, Variant::Not | Variant::Negate | Variant::Select) => vec![first],
            (_, Variant::MemberCall) => [first].into_iter().chain(self.arguments(node)).collect(),
            (_, Variant::GlobalCall) if self.is_reserved(node) => Vec::new(),
            (_, Variant::GlobalCall) => self.arguments(node).collect(),
            (_, Variant::List) => self.keys(node).map(|key| self.child_of(key)).collect(),
            (_, Variant::Map) => {
                let entries = self.keys(node).zip(self.values(node));
                entries
                    .flat_map(|(key, value)| [self.child_of(key), Some(value)])
                    .collect()
            }
            (_, Variant::Struct) => {
                let fields = self.keys(node).zip(self.values(node));
                let named = fields.filter(|(key, _)| self.field_name(*key).is_some());
                named.map(|(_, value)| Some(value)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn arguments(&self, node: &Node) -> impl Iterator<Item = Option<NodeId>> {
        let list = node.child(Label::Args).and_then(|list| self.tree.get(list));
        list.into_iter()
            .flat_map(|list| list.children(Label::First))
            .map(Some)
    }

    /// The elements of a list, or the keys or fields of entries.
    fn keys(&self, node: &Node) -> impl Iterator<Item = NodeId> {
        let list = node.child(Label::Args).and_then(|list| self.tree.get(list));
        list.into_iter().flat_map(|list| list.children(Label::Key))
    }

    fn values(&self, node: &Node) -> impl Iterator<Item = NodeId> {
        let list = node.child(Label::Args).and_then(|list| self.tree.get(list));
        list.into_iter().flat_map(|list| list.children(Label::Last))
    }

    fn colons(&self, node: &Node) -> impl Iterator<Item = Token> {
        let list = node.child(Label::Args).and_then(|list| self.tree.get(list));
        list.into_iter().flat_map(|list| list.tokens(Label::Op))
    }

    fn child_of(&self, id: NodeId) -> Option<NodeId> {
        self.tree.get(id)?.child(Label::First)
    }

    fn is_optional(&self, id: NodeId) -> bool {
        self.tree
            .get(id)
            .is_some_and(|node| node.token(Label::Optional).is_some())
    }

    /// The name that the field of a struct has, if it was read.
    fn field_name(&self, id: NodeId) -> Option<&str> {
        self.name(self.tree.get(id)?.child(Label::Id)?)
    }

    /// A name, without its backticks.
    fn name(&self, id: NodeId) -> Option<&str> {
        let token = self.tree.get(id)?.token(Label::Id)?;
        Some(self.text(token).trim_matches('`'))
    }

    fn text(&self, token: Token) -> &str {
        token.text(self.source.text())
    }

    fn id(&self, node: &Node) -> Option<(Token, &str)> {
        let token = node.token(Label::Id)?;
        Some((token, self.text(token)))
    }

    fn is_reserved(&self, node: &Node) -> bool {
        self.id(node).is_some_and(|(_, name)| is_reserved(name))
    }

    fn report(&mut self, offset: u32, message: impl Into<String>) {
        let position = match offset {
            UNREAD => Position { line: 1, column: -1 },
            offset => self.source.position(offset),
        };
        self.issues.push(Issue {
            position,
            message: message.into(),
        });
    }

    fn report_nowhere(&mut self, message: &str) {
        self.issues.push(Issue {
            position: Position::NOWHERE,
            message: message.into(),
        });
    }

    /// Makes the expression of a node from those of its operands.
    fn make(&mut self, node: &Node, operands: Vec<ExprId>) -> ExprId {
        let op = node.token(Label::Op);
        let offset = op.map_or(node.offset, |op| op.offset);
        match (node.rule, node.variant) {
            (Rule::Expr, _) => self.builder.operation("_?_:_", operands, offset),
            (Rule::Or, _) => self.chain("_||_", node, &operands),
            (Rule::And, _) => self.chain("_&&_", node, &operands),
            (_, Variant::Operation) => {
                let operator = op.and_then(|op| op.kind.operator()).unwrap_or("_==_");
                self.builder.operation(operator, operands, offset)
            }
            (_, Variant::Not) => self.builder.operation("!_", operands, offset),
            (_, Variant::Negate) => self.builder.operation("-_", operands, offset),
            (_, Variant::Select) => self.select(node, operands, offset),
            (_, Variant::MemberCall) => self.member_call(node, operands),
            (_, Variant::Index) => {
                let optional = node.token(Label::Optional).is_some();
                let operator = if optional { "_[?_]" } else { "_[_]" };
                self.builder.operation(operator, operands, offset)
            }
            (_, Variant::Ident | Variant::GlobalCall) => self.named(node, operands, offset),
            (_, Variant::List) => self.list(node, operands, offset),
            (_, Variant::Map) => self.map(node, &operands, offset),
            (_, Variant::Struct) => self.structure(node, operands, offset),
            (Rule::Literal, _) => self.literal(node),
            (Rule::Unary, _) => self.builder.nothing(node.offset),
            _ => self.builder.nothing(UNREAD),
        }
    }

    fn chain(&mut self, operator: &'static str, node: &Node, operands: &[ExprId]) -> ExprId {
        let offsets: Vec<u32> = node.tokens(Label::Op).map(|token| token.offset).collect();
        self.builder.balanced(operator, operands, &offsets)
    }

    fn select(&mut self, node: &Node, operands: Vec<ExprId>, offset: u32) -> ExprId {
        let (Some(id), [operand]) = (node.child(Label::Id), operands.as_slice()) else {
            return self.builder.nothing(node.offset);
        };
        let place = self.tree.get(id).map_or(offset, |name| name.offset);
        let Some(field) = self.name(id) else {
            self.report(place, "unsupported ident kind");
            return self.builder.nothing(offset);
        };
        if node.token(Label::Optional).is_some() {
            let field = Expr::Literal(Literal::String(field.into()));
            let field = self.builder.add(field, place);
            return self.builder.operation("_?._", vec![*operand, field], offset);
        }
        let select = Expr::Select {
            operand: *operand,
            field: field.into(),
            test_only: false,
        };
        self.builder.add(select, offset)
    }

    fn member_call(&mut self, node: &Node, mut operands: Vec<ExprId>) -> ExprId {
        let Some((_, name)) = self.id(node).filter(|_| !operands.is_empty()) else {
            return self.builder.nothing(node.offset);
        };
        let name = name.to_owned();
        let target = operands.remove(0);
        let offset = node.token(Label::Open).map_or(node.offset, |open| open.offset);
        self.call(&name, Some(target), operands, offset)
    }

    fn call(&mut self, name: &str, target: Option<ExprId>, args: Vec<ExprId>, offset: u32) -> ExprId {
        match self.builder.call(name, target, args, offset) {
            Ok(id) => id,
            Err(error) => {
                self.report(error.offset, error.message);
                self.builder.nothing(error.offset)
            }
        }
    }

    fn named(&mut self, node: &Node, args: Vec<ExprId>, offset: u32) -> ExprId {
        let Some((token, name)) = self.id(node) else {
            return self.builder.nothing(node.offset);
        };
        if is_reserved(name) {
            let message = format!("reserved identifier: {name}");
            self.report(node.offset, message);
            return self.builder.nothing(node.offset);
        }
        let rooted = node.token(Label::Prefix).is_some();
        let name = if rooted {
            format!(".{name}")
        } else {
            name.to_owned()
        };
        match node.variant {
            Variant::Ident => self.builder.add(Expr::Ident(name.into()), token.offset),
            _ => self.call(&name, None, args, offset),
        }
    }

    fn list(&mut self, node: &Node, elements: Vec<ExprId>, offset: u32) -> ExprId {
        let optional = self
            .keys(node)
            .enumerate()
            .filter(|(_, key)| self.is_optional(*key));
        let optional = optional.map(|(index, _)| index as u32).collect();
        self.builder.add(Expr::List { elements, optional }, offset)
    }

    fn map(&mut self, node: &Node, operands: &[ExprId], offset: u32) -> ExprId {
        let entries = operands
            .chunks_exact(2)
            .zip(self.keys(node))
            .zip(self.colons(node));
        let entries = entries.filter_map(|((operands, own), colon)| {
            let [key, value] = *operands else { return None };
            Some(MapEntry {
                offset: colon.offset,
                key,
                value,
                optional: self.is_optional(own),
            })
        });
        let entries = entries.collect();
        self.builder.add(Expr::Map(entries), offset)
    }

    fn structure(&mut self, node: &Node, operands: Vec<ExprId>, offset: u32) -> ExprId {
        let prefix = node.token(Label::Prefix).map(|_| "").into_iter();
        let path: Vec<&str> = prefix
            .chain(node.tokens(Label::Id).map(|token| self.text(token)))
            .collect();
        let type_name = path.join(".").into();
        let mut values = operands.into_iter();
        let (mut fields, mut nameless) = (Vec::new(), 0);
        for ((own, colon), _) in self.keys(node).zip(self.colons(node)).zip(self.values(node)) {
            match (self.field_name(own), values.len()) {
                (Some(name), 1..) => fields.extend(values.next().map(|value| StructField {
                    offset: colon.offset,
                    name: name.into(),
                    value,
                    optional: self.is_optional(own),
                })),
                _ => nameless += 1,
            }
        }
        let list = node.child(Label::Args).and_then(|list| self.tree.get(list));
        let place = list.map_or(offset, |list| list.offset);
        for _ in 0..nameless {
            self.report(place, "unsupported ident kind");
        }
        self.builder.add(Expr::Struct { type_name, fields }, offset)
    }

    fn literal(&mut self, node: &Node) -> ExprId {
        let Some((_, text)) = self.id(node) else {
            return self.builder.nothing(node.offset);
        };
        let negative = node.token(Label::Prefix).is_some();
        let value = match node.variant {
            Variant::Int => literal::int(text, negative),
            Variant::Uint => literal::uint(text),
            Variant::Double => literal::double(text, negative),
            Variant::String => literal::string(text),
            Variant::Bytes => literal::bytes(text),
            Variant::True => Ok(Literal::Bool(true)),
            Variant::False => Ok(Literal::Bool(false)),
            _ => Ok(Literal::Null),
        };
        match value {
            Ok(value) => self.builder.add(Expr::Literal(value), node.offset),
            Err(message) => {
                self.report(node.offset, message);
                self.builder.nothing(node.offset)
            }
        }
    }
}

/// Whether a node counts towards the depth of the whole: chains of operators, selections and calls do.
fn is_counted(node: &Node) -> bool {
    match node.variant {
        Variant::Operation | Variant::Select | Variant::MemberCall | Variant::Index => true,
        _ => node.rule == Rule::Expr,
    }
}
