//! Planning selections and indexing, which extend the path of the attribute that they start from.

use std::sync::Arc;

use super::ExpressionPlanner;
use crate::ast::ExprId;
use crate::constant::Constant;
use crate::error::PlanError;
use crate::plan::node::{
    AttributeCharge, AttributeRoot, MemberKey, MemberStep, NodeId, PlanNode, PlannedAttribute,
};
use crate::types::Type;

impl ExpressionPlanner<'_> {
    pub(super) fn add_attribute(&mut self, id: ExprId, root: AttributeRoot) -> NodeId {
        let attribute = PlannedAttribute {
            root,
            path: Vec::new(),
            optional: false,
            charge: AttributeCharge::One,
        };
        self.add(id, PlanNode::Attribute(attribute))
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
            MemberKey::Declared(field.clone())
        } else {
            MemberKey::Name(field.clone())
        };
        let node = self.extend(id, operand, key, false);
        if test_only {
            self.make_presence(node);
        }
        Ok(node)
    }

    /// Makes an attribute a test of the presence of its last step.
    fn make_presence(&mut self, id: NodeId) {
        let is_of_cel_go_0_33 = self.environment.is_of_cel_go_0_33();
        if let Some(node) = self.nodes.get_mut(id.index())
            && let PlanNode::Attribute(attribute) = node
        {
            attribute.charge = match attribute.charge {
                // Upstream: common/cost/tracker.go of cel-go 0.33, EvalAttribute, which takes nothing back.
                AttributeCharge::Free if !is_of_cel_go_0_33 => AttributeCharge::Refund,
                _ => AttributeCharge::Presence,
            };
            *node = PlanNode::Presence(attribute.clone());
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
        let constant = self
            .constant(key)
            .map(|constant| constant_key(constant, self.environment.is_of_cel_go_0_33()));
        let key = match constant {
            Some(Ok(constant)) => constant,
            Some(Err(fault)) if self.environment.checks_literals() => return Err(fault),
            _ => {
                self.mark_inner(key);
                if self.is_any_input(key) {
                    MemberKey::Input(key)
                } else {
                    MemberKey::Computed(key)
                }
            }
        };
        Ok(self.extend(id, operand, key, optional))
    }

    /// Whether a node is a variable of the environment of any type.
    fn is_any_input(&self, id: NodeId) -> bool {
        let is_input = match self.node(id) {
            Some(PlanNode::Attribute(attribute)) => {
                attribute.path.is_empty() && matches!(attribute.root, AttributeRoot::Variable { .. })
            }
            _ => false,
        };
        let origin = self.origins.get(id.index());
        is_input && origin.is_some_and(|origin| *self.checked.type_of(*origin) == Type::Dyn)
    }

    /// Adds a step to an attribute. Any other operand becomes the root of a new one.
    fn extend(&mut self, id: ExprId, operand: NodeId, key: MemberKey, optional: bool) -> NodeId {
        let step = MemberStep { key, optional };
        if let Some(origin) = self.origins.get_mut(operand.index())
            && let Some(PlanNode::Attribute(attribute)) = self.nodes.get_mut(operand.index())
        {
            attribute.path.push(step);
            attribute.optional |= optional;
            *origin = id;
            return operand;
        }
        let charge = match self.node(operand) {
            Some(PlanNode::Conditional { .. }) => AttributeCharge::Free,
            _ => AttributeCharge::One,
        };
        let attribute = PlannedAttribute {
            root: AttributeRoot::Node(operand),
            path: vec![step],
            optional,
            charge,
        };
        self.add(id, PlanNode::Attribute(attribute))
    }

    /// Marks an attribute as a branch of a conditional or a key.
    pub(super) fn mark_inner(&mut self, id: NodeId) {
        if let Some(PlanNode::Attribute(attribute) | PlanNode::Presence(attribute)) =
            self.nodes.get_mut(id.index())
        {
            attribute.charge = AttributeCharge::Inner;
        }
    }
}

/// A key that is a constant. Where it can be none, errors of cel-go 0.33 have other names for the types of lists and maps.
fn constant_key(constant: &Constant, is_of_cel_go_0_33: bool) -> Result<MemberKey, PlanError> {
    let name = match constant {
        Constant::String(name) => return Ok(MemberKey::Name(name.clone())),
        Constant::Bool(_) | Constant::Int(_) | Constant::Uint(_) | Constant::Double(_) => {
            return Ok(MemberKey::Constant(constant.clone()));
        }
        // Upstream: common/types/list.go, NewRefValList, and common/types/map.go, NewRefValMap
        Constant::List(_) if is_of_cel_go_0_33 => "*types.sliceList[cel.dev/cel-go/common/types/ref.Val]",
        Constant::Map(_) if is_of_cel_go_0_33 => {
            "*types.nativeMap[cel.dev/cel-go/common/types/ref.Val,cel.dev/cel-go/common/types/ref.Val]"
        }
        other => crate::ops::go_type(&other.value()),
    };
    Err(PlanError::InvalidKey(name))
}
