//! Planning selections and indexing, which extend the path of the attribute that they start from.

use std::sync::Arc;

use super::Planner;
use crate::ast::ExprId;
use crate::constant::Constant;
use crate::error::PlanError;
use crate::plan::node::{Attribute, AttributeRoot, Charge, Key, MemberStep, Node, NodeId};
use crate::types::Type;

impl Planner<'_> {
    pub(super) fn add_attribute(&mut self, id: ExprId, root: AttributeRoot) -> NodeId {
        let attribute = Attribute {
            root,
            path: Vec::new(),
            optional: false,
            charge: Charge::One,
        };
        self.add(id, Node::Attribute(attribute))
    }

    /// `operand.field`, or `has(operand.field)`.
    pub(super) fn plan_select(
        &mut self,
        id: ExprId,
        operand: ExprId,
        field: &Arc<str>,
        test_only: bool,
    ) -> Result<NodeId, PlanError> {
        let declared = matches!(self.checked.type_of(operand), Type::Struct(_));
        let operand = self.plan(operand)?;
        let key = if declared {
            Key::Declared(field.clone())
        } else {
            Key::Name(field.clone())
        };
        let node = self.extend(id, operand, key, false);
        if test_only {
            self.make_presence(node);
        }
        Ok(node)
    }

    /// Makes an attribute a test of the presence of its last step.
    fn make_presence(&mut self, id: NodeId) {
        if let Some(node) = self.nodes.get_mut(id.index())
            && let Node::Attribute(attribute) = node
        {
            attribute.charge = match attribute.charge {
                Charge::Free => Charge::Refund,
                _ => Charge::Presence,
            };
            *node = Node::Presence(attribute.clone());
        }
    }

    /// `operand[key]`, `operand[?key]`, `operand.?key`
    pub(super) fn plan_index(
        &mut self,
        id: ExprId,
        operand: NodeId,
        key: NodeId,
        optional: bool,
    ) -> Result<NodeId, PlanError> {
        let constant = self.constant(key).map(constant_key);
        let key = match constant {
            Some(Ok(constant)) => constant,
            Some(Err(fault)) if self.environment.checks_literals() => return Err(fault),
            _ => {
                self.mark_inner(key);
                if self.is_any_input(key) {
                    Key::Input(key)
                } else {
                    Key::Computed(key)
                }
            }
        };
        Ok(self.extend(id, operand, key, optional))
    }

    /// Whether a node is a variable of the environment of any type.
    fn is_any_input(&self, id: NodeId) -> bool {
        let is_input = match self.node(id) {
            Some(Node::Attribute(attribute)) => {
                attribute.path.is_empty() && matches!(attribute.root, AttributeRoot::Variable { .. })
            }
            _ => false,
        };
        let origin = self.origins.get(id.index());
        is_input && origin.is_some_and(|origin| *self.checked.type_of(*origin) == Type::Dyn)
    }

    /// Adds a step to an attribute. Any other operand becomes the root of a new one.
    fn extend(&mut self, id: ExprId, operand: NodeId, key: Key, optional: bool) -> NodeId {
        let step = MemberStep { key, optional };
        if let Some(origin) = self.origins.get_mut(operand.index())
            && let Some(Node::Attribute(attribute)) = self.nodes.get_mut(operand.index())
        {
            attribute.path.push(step);
            attribute.optional |= optional;
            *origin = id;
            return operand;
        }
        let charge = match self.node(operand) {
            Some(Node::Conditional { .. }) => Charge::Free,
            _ => Charge::One,
        };
        let attribute = Attribute {
            root: AttributeRoot::Node(operand),
            path: vec![step],
            optional,
            charge,
        };
        self.add(id, Node::Attribute(attribute))
    }

    /// Marks an attribute as a branch of a conditional or a key.
    pub(super) fn mark_inner(&mut self, id: NodeId) {
        if let Some(Node::Attribute(attribute) | Node::Presence(attribute)) = self.nodes.get_mut(id.index()) {
            attribute.charge = Charge::Inner;
        }
    }
}

fn constant_key(constant: &Constant) -> Result<Key, PlanError> {
    let name = match constant {
        Constant::String(name) => return Ok(Key::Name(name.clone())),
        Constant::Bool(_) | Constant::Int(_) | Constant::Uint(_) | Constant::Double(_) => {
            return Ok(Key::Constant(constant.clone()));
        }
        other => crate::ops::go_type(&other.value()),
    };
    Err(PlanError::InvalidKey(name))
}
