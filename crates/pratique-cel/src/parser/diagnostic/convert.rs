//! From parse tree to syntax tree: iterative, so that no text exhausts the stack of the thread.

use super::super::builder::AstBuilder;
use super::super::limits::MOST_DEPTH;
use super::super::token::{SourceToken, is_reserved};
use super::grammar::{GrammarRule, PartLabel, RuleVariant};
use super::tree::{NodeId, ParseTree, TreeNode};
use crate::ast::ExprId;
use crate::error::Issue;
use crate::source::{Position, Source};

/// The place of missing input: the reference puts it before the beginning.
pub(super) const UNREAD: u32 = u32::MAX;

/// What the reference says of a name in backquotes.
pub(super) const QUOTED_NAME: &str = "unsupported syntax: '`'";

/// What the reference says where a name is missing.
pub(super) const NO_NAME: &str = "unsupported ident kind";

/// A pending step.
enum ConvertTask {
    /// Make the expression of a node; where there is none, stand for it.
    Visit(Option<NodeId>),
    /// Make it from the expressions of its parts, which are made.
    Make(NodeId),
}

/// A conversion under way.
pub(super) struct TreeConverter<'t, 'b, 'm> {
    pub(super) tree: &'t ParseTree,
    pub(super) source: &'t Source,
    pub(super) builder: &'b mut AstBuilder<'m>,
    pub(super) issues: &'t mut Vec<Issue>,
}

impl TreeConverter<'_, '_, '_> {
    /// Converts a node.
    pub(super) fn convert(&mut self, root: NodeId) -> ExprId {
        let mut tasks = vec![ConvertTask::Visit(Some(root))];
        let mut made: Vec<ExprId> = Vec::new();
        let mut depth = 0;
        while let Some(task) = tasks.pop() {
            match task {
                ConvertTask::Visit(id) => {
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
                    tasks.push(ConvertTask::Make(id));
                    tasks.extend(self.operands(node).into_iter().rev().map(ConvertTask::Visit));
                }
                ConvertTask::Make(id) => {
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
                (GrammarRule::Start, _) => true,
                (
                    GrammarRule::Expr
                    | GrammarRule::Or
                    | GrammarRule::And
                    | GrammarRule::Relation
                    | GrammarRule::Calc,
                    _,
                ) => node.token(PartLabel::Op).is_none(),
                (_, RuleVariant::Not | RuleVariant::Negate) => node.tokens(PartLabel::Op).count() % 2 == 0,
                (
                    _,
                    RuleVariant::MemberExpr
                    | RuleVariant::PrimaryExpr
                    | RuleVariant::Nested
                    | RuleVariant::Constant,
                ) => true,
                _ => false,
            };
            if !through {
                return Some(id);
            }
            // An operation whose operator is missing holds its left operand, but does not stand for it.
            if node.variant == RuleVariant::Operation {
                return None;
            }
            id = node.child(PartLabel::First)?;
        }
    }

    /// The nodes whose expressions a node's is made from.
    fn operands(&self, node: &TreeNode) -> Vec<Option<NodeId>> {
        let first = node.child(PartLabel::First);
        match (node.rule, node.variant) {
            (GrammarRule::Expr, _) => vec![first, node.child(PartLabel::Next), node.child(PartLabel::Last)],
            (GrammarRule::Or | GrammarRule::And, _) => [first]
                .into_iter()
                .chain(node.children(PartLabel::Next).map(Some))
                .collect(),
            (_, RuleVariant::Operation | RuleVariant::Index) => vec![first, node.child(PartLabel::Next)],
            (_, RuleVariant::Not | RuleVariant::Negate | RuleVariant::Select) => vec![first],
            (_, RuleVariant::MemberCall) => [first].into_iter().chain(self.arguments(node)).collect(),
            (_, RuleVariant::GlobalCall) if self.is_reserved(node) => Vec::new(),
            (_, RuleVariant::GlobalCall) => self.arguments(node).collect(),
            (_, RuleVariant::List) => self.keys(node).map(|key| self.child_of(key)).collect(),
            (_, RuleVariant::Map) => {
                let entries = self.keys(node).zip(self.values(node));
                entries
                    .flat_map(|(key, value)| [self.child_of(key), Some(value)])
                    .collect()
            }
            (_, RuleVariant::Struct) => {
                let fields = self.keys(node).zip(self.values(node));
                let named = fields.filter(|(key, _)| self.field_name(*key).is_ok());
                named.map(|(_, value)| Some(value)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn arguments(&self, node: &TreeNode) -> impl Iterator<Item = Option<NodeId>> {
        let list = node.child(PartLabel::Args).and_then(|list| self.tree.get(list));
        list.into_iter()
            .flat_map(|list| list.children(PartLabel::First))
            .map(Some)
    }

    /// The elements of a list, or the keys or fields of entries.
    pub(super) fn keys(&self, node: &TreeNode) -> impl Iterator<Item = NodeId> {
        let list = node.child(PartLabel::Args).and_then(|list| self.tree.get(list));
        list.into_iter().flat_map(|list| list.children(PartLabel::Key))
    }

    pub(super) fn values(&self, node: &TreeNode) -> impl Iterator<Item = NodeId> {
        let list = node.child(PartLabel::Args).and_then(|list| self.tree.get(list));
        list.into_iter().flat_map(|list| list.children(PartLabel::Last))
    }

    pub(super) fn colons(&self, node: &TreeNode) -> impl Iterator<Item = SourceToken> {
        let list = node.child(PartLabel::Args).and_then(|list| self.tree.get(list));
        list.into_iter().flat_map(|list| list.tokens(PartLabel::Op))
    }

    fn child_of(&self, id: NodeId) -> Option<NodeId> {
        self.tree.get(id)?.child(PartLabel::First)
    }

    pub(super) fn is_optional(&self, id: NodeId) -> bool {
        self.tree
            .get(id)
            .is_some_and(|node| node.token(PartLabel::Optional).is_some())
    }

    /// The name that the field of a struct has, or the reference's message where it has none.
    pub(super) fn field_name(&self, id: NodeId) -> Result<&str, &'static str> {
        let name = self.tree.get(id).and_then(|node| node.child(PartLabel::Id));
        self.name(name.ok_or(NO_NAME)?)
    }

    /// A name, without its backquotes, or the reference's message where there is none.
    // Upstream: cel-go, parser/parser.go, normalizeIdent
    pub(super) fn name(&self, id: NodeId) -> Result<&str, &'static str> {
        let token = self.tree.get(id).and_then(|node| node.token(PartLabel::Id));
        let text = self.token_text(token.ok_or(NO_NAME)?);
        if self.builder.refuses_quoted_names && text.starts_with('`') {
            return Err(QUOTED_NAME);
        }
        Ok(text.trim_matches('`'))
    }

    pub(super) fn token_text(&self, token: SourceToken) -> &str {
        token.slice(self.source.as_str())
    }

    pub(super) fn id(&self, node: &TreeNode) -> Option<(SourceToken, &str)> {
        let token = node.token(PartLabel::Id)?;
        Some((token, self.token_text(token)))
    }

    fn is_reserved(&self, node: &TreeNode) -> bool {
        self.id(node).is_some_and(|(_, name)| is_reserved(name))
    }

    pub(super) fn report(&mut self, offset: u32, message: impl Into<String>) {
        let position = match offset {
            UNREAD => Position { line: 1, column: -1 },
            offset => self.source.position(offset),
        };
        self.issues.push(Issue::new(position, message));
    }

    fn report_nowhere(&mut self, message: &str) {
        self.issues.push(Issue::new(Position::NOWHERE, message));
    }
}

/// Whether a node counts towards the depth of the whole: chains of operators, selections and calls do.
fn is_counted(node: &TreeNode) -> bool {
    match node.variant {
        RuleVariant::Operation | RuleVariant::Select | RuleVariant::MemberCall | RuleVariant::Index => true,
        _ => node.rule == GrammarRule::Expr,
    }
}
