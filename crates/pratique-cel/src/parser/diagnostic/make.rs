//! The expressions that the nodes of a parse tree become, and the faults found when they are made.

use super::super::literal;
use super::super::token::is_reserved;
use super::convert::{NO_NAME, QUOTED_NAME, TreeConverter, UNREAD};
use super::grammar::{GrammarRule, PartLabel, RuleVariant};
use super::tree::TreeNode;
use crate::ast::{Expr, ExprId, Literal, MapEntry, StructField};

impl TreeConverter<'_, '_, '_> {
    /// Makes the expression of a node from those of its operands.
    pub(super) fn make(&mut self, node: &TreeNode, operands: Vec<ExprId>) -> ExprId {
        let op = node.token(PartLabel::Op);
        let offset = op.map_or(node.offset, |op| op.offset);
        match (node.rule, node.variant) {
            (GrammarRule::Expr, _) => self.builder.operation("_?_:_", operands, offset),
            (GrammarRule::Or, _) => self.chain("_||_", node, &operands),
            (GrammarRule::And, _) => self.chain("_&&_", node, &operands),
            (_, RuleVariant::Operation) => {
                let operator = op.and_then(|op| op.kind.operator()).unwrap_or("_==_");
                self.builder.operation(operator, operands, offset)
            }
            (_, RuleVariant::Not) => self.builder.operation("!_", operands, offset),
            (_, RuleVariant::Negate) => self.builder.operation("-_", operands, offset),
            (_, RuleVariant::Select) => self.select(node, operands, offset),
            (_, RuleVariant::MemberCall) => self.member_call(node, operands),
            (_, RuleVariant::Index) => {
                let optional = node.token(PartLabel::Optional).is_some();
                let operator = if optional { "_[?_]" } else { "_[_]" };
                self.builder.operation(operator, operands, offset)
            }
            (_, RuleVariant::Ident | RuleVariant::GlobalCall) => self.named(node, operands, offset),
            (_, RuleVariant::List) => self.list(node, operands, offset),
            (_, RuleVariant::Map) => self.map(node, &operands, offset),
            (_, RuleVariant::Struct) => self.structure(node, operands, offset),
            (GrammarRule::Literal, _) => self.literal(node),
            (GrammarRule::Unary, _) => self.builder.nothing(node.offset),
            _ => self.builder.nothing(UNREAD),
        }
    }

    fn chain(&mut self, operator: &'static str, node: &TreeNode, operands: &[ExprId]) -> ExprId {
        let offsets: Vec<u32> = node.tokens(PartLabel::Op).map(|token| token.offset).collect();
        self.builder.balanced(operator, operands, &offsets)
    }

    fn select(&mut self, node: &TreeNode, operands: Vec<ExprId>, offset: u32) -> ExprId {
        let (Some(id), [operand]) = (node.child(PartLabel::Id), operands.as_slice()) else {
            return self.builder.nothing(node.offset);
        };
        let place = self.tree.get(id).map_or(offset, |name| name.offset);
        let field = match self.name(id) {
            Ok(field) => field,
            // The reference goes on, with the empty name.
            Err(message @ QUOTED_NAME) => {
                self.report(place, message);
                ""
            }
            Err(message) => {
                self.report(place, message);
                return self.builder.nothing(offset);
            }
        };
        if node.token(PartLabel::Optional).is_some() {
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

    fn member_call(&mut self, node: &TreeNode, mut operands: Vec<ExprId>) -> ExprId {
        let Some((_, name)) = self.id(node).filter(|_| !operands.is_empty()) else {
            return self.builder.nothing(node.offset);
        };
        let name = name.to_owned();
        let target = operands.remove(0);
        let offset = node
            .token(PartLabel::Open)
            .map_or(node.offset, |open| open.offset);
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

    fn named(&mut self, node: &TreeNode, args: Vec<ExprId>, offset: u32) -> ExprId {
        let Some((token, name)) = self.id(node) else {
            return self.builder.nothing(node.offset);
        };
        if is_reserved(name) {
            let message = format!("reserved identifier: {name}");
            self.report(node.offset, message);
            return self.builder.nothing(node.offset);
        }
        let rooted = node.token(PartLabel::Prefix).is_some();
        let name = if rooted {
            format!(".{name}")
        } else {
            name.to_owned()
        };
        match node.variant {
            RuleVariant::Ident => self.builder.add(Expr::Ident(name.into()), token.offset),
            _ => self.call(&name, None, args, offset),
        }
    }

    fn list(&mut self, node: &TreeNode, elements: Vec<ExprId>, offset: u32) -> ExprId {
        let optional = self
            .keys(node)
            .enumerate()
            .filter(|(_, key)| self.is_optional(*key));
        let optional = optional.map(|(index, _)| index as u32).collect();
        self.builder.add(Expr::List { elements, optional }, offset)
    }

    fn map(&mut self, node: &TreeNode, operands: &[ExprId], offset: u32) -> ExprId {
        let entries = operands
            .chunks_exact(2)
            .zip(self.keys(node))
            .zip(self.colons(node));
        let entries = entries.filter_map(|((operands, key_node), colon)| {
            let [key, value] = *operands else { return None };
            Some(MapEntry {
                offset: colon.offset,
                key,
                value,
                optional: self.is_optional(key_node),
            })
        });
        let entries = entries.collect();
        self.builder.add(Expr::Map(entries), offset)
    }

    fn structure(&mut self, node: &TreeNode, operands: Vec<ExprId>, offset: u32) -> ExprId {
        let prefix = node.token(PartLabel::Prefix).map(|_| "").into_iter();
        let path: Vec<&str> = prefix
            .chain(node.tokens(PartLabel::Id).map(|token| self.token_text(token)))
            .collect();
        let type_name = path.join(".").into();
        let mut values = operands.into_iter();
        let (mut fields, mut nameless) = (Vec::new(), Vec::new());
        for ((key_node, colon), _) in self.keys(node).zip(self.colons(node)).zip(self.values(node)) {
            match (self.field_name(key_node), values.len()) {
                (Ok(name), 1..) => fields.extend(values.next().map(|value| StructField {
                    offset: colon.offset,
                    name: name.into(),
                    value,
                    optional: self.is_optional(key_node),
                })),
                (named, _) => nameless.push(named.err().unwrap_or(NO_NAME)),
            }
        }
        let list = node.child(PartLabel::Args).and_then(|list| self.tree.get(list));
        let place = list.map_or(offset, |list| list.offset);
        for message in nameless {
            self.report(place, message);
        }
        self.builder.add(Expr::Struct { type_name, fields }, offset)
    }

    fn literal(&mut self, node: &TreeNode) -> ExprId {
        let Some((_, text)) = self.id(node) else {
            return self.builder.nothing(node.offset);
        };
        let negative = node.token(PartLabel::Prefix).is_some();
        let value = match node.variant {
            RuleVariant::Int => literal::int(text, negative),
            RuleVariant::Uint => literal::uint(text),
            RuleVariant::Double => literal::double(text, negative),
            RuleVariant::String => literal::string(text),
            RuleVariant::Bytes => literal::bytes(text),
            RuleVariant::True => Ok(Literal::Bool(true)),
            RuleVariant::False => Ok(Literal::Bool(false)),
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
