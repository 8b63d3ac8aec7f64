//! The nodes of a plan.

use std::sync::Arc;

use pratique_gotext::regexp::Regex;

use super::names::NameInterner;
use super::set::ConstantSet;
use crate::boxed_slice::into_boxed_exact;
use crate::constant::Constant;
use crate::cost::{CostFn, CostNeed};
use crate::environment::Slot;
use crate::environment::TypeProvider;
use crate::function::{ConstantValue, Implementation, Intrinsic, PatternFn};
use crate::types::Type;

/// The index of a node in its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct NodeId(pub(super) u32);

impl NodeId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The index of a comprehension's variable among those of the program.
pub(super) type LocalIndex = u32;

/// A step of an evaluation.
#[derive(Clone, Debug)]
pub(super) enum PlanNode {
    /// A constant.
    Constant(Constant),
    /// A variable or a computed value, with the members to follow from it.
    Attribute(PlannedAttribute),
    /// `has(attribute)`: whether the last step finds a member.
    Presence(PlannedAttribute),
    /// `!operand`
    Not(NodeId),
    /// A call of a function of two operands that the evaluator computes itself if they have the usual types.
    Intrinsic(Intrinsic, Box<PlannedCall>),
    /// `text.matches(pattern)` with a constant pattern.
    Matches(Box<PlannedCall>),
    /// `a && b && …`
    And(Box<[NodeId]>),
    /// `a || b || …`
    Or(Box<[NodeId]>),
    /// `condition ? yes : no`
    Conditional {
        condition: NodeId,
        yes: NodeId,
        no: NodeId,
    },
    /// `left == right`, or negated `left != right`.
    Equality {
        left: NodeId,
        right: NodeId,
        negated: bool,
    },
    /// `optional.or(optional)`, or with `unwrap` `optional.orValue(value)`.
    OptionalOr {
        left: NodeId,
        right: NodeId,
        unwrap: bool,
    },
    /// `element in [constants]`
    InSet { element: NodeId, set: Box<ConstantSet> },
    /// `@not_strictly_false(operand)`: the condition of quantifiers in comprehensions that are not the macros'.
    NotStrictlyFalse(NodeId),
    /// A call.
    Call(Box<PlannedCall>),
    /// `[a, ?b]`
    List(Box<[ListElement]>),
    /// `{k: v, ?k: v}`
    Map(Box<[PlannedEntry]>),
    /// `Name{field: v, ?field: v}`
    Struct(Box<StructLiteral>),
    /// A comprehension over a list or map.
    Fold(Box<PlannedFold>),
    /// A named value that is computed when it is first used, as `optMap` and the like expand to.
    Let {
        local: LocalIndex,
        value: NodeId,
        body: NodeId,
    },
}

/// A root and the path from it.
#[derive(Clone, Debug)]
pub(super) struct PlannedAttribute {
    pub(super) root: AttributeRoot,
    pub(super) path: Vec<MemberStep>,
    /// Whether a step is marked with `?`.
    pub(super) optional: bool,
    pub(super) charge: AttributeCharge,
}

/// Where an attribute starts.
#[derive(Clone, Debug)]
pub(super) enum AttributeRoot {
    /// A variable of the environment.
    Variable { slot: Slot, name: Arc<str> },
    /// A variable of a comprehension.
    Local(LocalIndex),
    /// The value of another node.
    Node(NodeId),
}

/// The cost of an attribute besides its steps, which cost 1 each.
///
/// The reference charges 1 for evaluating an attribute. An attribute that is the branch of a conditional or the key of another
/// is resolved without being evaluated, and is not charged; `has()` takes its 1 back even if it was not charged, until cel-go 0.33.
///
/// Upstream: github.com/google/cel-go, interpreter/runtimecost.go, CostObserver
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttributeCharge {
    /// An attribute that is evaluated.
    One,
    /// `has()` of an attribute.
    Presence,
    /// `has()` of a member of a conditional: takes 1 back that was not charged.
    Refund,
    /// A member of a conditional.
    Free,
    /// An attribute that is a branch or a key.
    Inner,
}

/// A member to follow.
#[derive(Clone, Debug)]
pub(super) struct MemberStep {
    pub(super) key: MemberKey,
    /// Whether it is marked with `?`.
    pub(super) optional: bool,
}

/// The name or index of a member.
#[derive(Clone, Debug)]
pub(super) enum MemberKey {
    /// A field of a structured type that the checker knows.
    Declared(Arc<str>),
    /// A constant string.
    Name(Arc<str>),
    /// Any other constant that can be a key.
    Constant(Constant),
    /// A computed key.
    Computed(NodeId),
    /// A variable of the environment of any type.
    Input(NodeId),
}

impl PlanNode {
    /// Interns names and releases spare capacity, after planning.
    pub(super) fn compact(&mut self, names: &mut NameInterner<'_>) {
        match self {
            PlanNode::Attribute(attribute) | PlanNode::Presence(attribute) => attribute.compact(names),
            PlanNode::Call(call) | PlanNode::Intrinsic(_, call) | PlanNode::Matches(call) => {
                names.intern(&mut call.name)
            }
            PlanNode::Constant(Constant::String(text)) if text.len() <= SHORT => names.intern(text),
            _ => {}
        }
    }
}

/// Constants up to this length are interned, as they may be names.
const SHORT: usize = 24;

impl PlannedAttribute {
    fn compact(&mut self, names: &mut NameInterner<'_>) {
        if let AttributeRoot::Variable { name, .. } = &mut self.root {
            names.intern(name);
        }
        for step in &mut self.path {
            if let MemberKey::Name(name) | MemberKey::Declared(name) = &mut step.key {
                names.intern(name);
            }
        }
        self.path = into_boxed_exact(std::mem::take(&mut self.path)).into();
    }

    /// The cost if each step finds its member.
    #[inline]
    pub(super) fn cost(&self) -> u64 {
        self.path.len() as u64 + u64::from(self.charge == AttributeCharge::One)
    }
}

impl MemberStep {
    /// The name of the member, if it is constant.
    #[inline]
    pub(super) fn name(&self) -> Option<&str> {
        match &self.key {
            MemberKey::Name(name) | MemberKey::Declared(name) => Some(name),
            _ => None,
        }
    }
}

/// A call of a function.
#[derive(Clone, Debug)]
pub(super) struct PlannedCall {
    pub(super) name: Arc<str>,
    pub(super) arguments: Box<[NodeId]>,
    pub(super) target: CallTarget,
    pub(super) cost: PlannedCost,
    /// Whether arguments after one that is an error are not evaluated, and the call is not charged.
    pub(super) sequential: bool,
}

/// The code of a call.
#[derive(Clone, Debug)]
pub(super) enum CallTarget {
    /// One implementation, for arguments that pass its guards.
    Direct {
        implementation: Implementation,
        guards: Arc<[Type]>,
    },
    /// The first implementation whose guards the arguments pass.
    Dispatch(Box<[GuardedImplementation]>),
    /// An implementation for a pattern that was compiled while planning.
    Pattern {
        call: PatternFn,
        regex: Box<Regex>,
        /// The size of the pattern in characters.
        size: u64,
    },
    /// None: the value and its cost were computed while planning.
    Made { value: ConstantValue, cost: u64 },
    /// None: the function is only declared.
    Missing,
}

/// An implementation, with a guard for each argument.
pub(super) type GuardedImplementation = (Arc<[Type]>, Implementation);

/// The cost of a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum PlannedCost {
    One,
    By(CostFn),
    /// Walking over all of the first argument.
    Walk,
    /// By a function that needs an argument to have a type.
    Needing(usize, CostNeed, CostFn),
}

/// The cost of a list literal. The reference makes one for each element that a comprehension appends.
pub(super) const LIST_COST: u64 = 10;

/// An element of a list literal.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListElement {
    pub(super) value: NodeId,
    pub(super) optional: bool,
}

/// An entry of a map literal.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlannedEntry {
    pub(super) key: NodeId,
    pub(super) value: NodeId,
    pub(super) optional: bool,
}

/// A struct literal.
#[derive(Clone, Debug)]
pub(super) struct StructLiteral {
    pub(super) provider: Arc<dyn TypeProvider>,
    pub(super) type_name: Arc<str>,
    pub(super) fields: Box<[(Arc<str>, ListElement)]>,
}

/// A comprehension.
#[derive(Clone, Debug)]
pub(super) struct PlannedFold {
    pub(super) range: NodeId,
    pub(super) first: LocalIndex,
    pub(super) second: Option<LocalIndex>,
    pub(super) shape: FoldKind,
}

/// What a comprehension computes from its range.
#[derive(Clone, Debug)]
pub(super) enum FoldKind {
    /// Whether a predicate holds for all.
    All(NodeId),
    /// Whether it holds for at least one.
    Exists(NodeId),
    /// Whether it holds for exactly one.
    ExistsOne(NodeId),
    /// A list of the elements that pass the filter.
    List {
        filter: Option<NodeId>,
        element: NodeId,
        /// The cost of the list of one element that the reference appends.
        list_cost: u64,
    },
    /// A map from the first variable to values, or else of the entries of maps.
    Map {
        filter: Option<NodeId>,
        value: NodeId,
        by_key: bool,
    },
    /// Any other comprehension, as it is written.
    Generic {
        accumulator: LocalIndex,
        init: NodeId,
        condition: NodeId,
        step: NodeId,
        result: NodeId,
    },
}
