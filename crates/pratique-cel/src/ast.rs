//! The syntax tree: nodes in one vector, linked by index, macros already expanded.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::source::Source;

/// The index of a node in its [`Ast`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExprId(pub u32);

/// A parsed expression.
#[derive(Clone, Debug)]
pub struct Ast {
    /// The text it was parsed from.
    pub source: Arc<Source>,
    /// The node that is the whole expression.
    pub root: ExprId,
    pub(crate) nodes: Vec<Node>,
    /// For each node that a macro made: the call as it was written.
    pub macro_calls: BTreeMap<ExprId, Expr>,
}

/// A node with its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its expression.
    pub expr: Expr,
    /// Where errors about it point: an offset in code points into the source.
    pub offset: u32,
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A constant.
    Literal(Literal),
    /// A name; a leading dot is kept.
    Ident(Arc<str>),
    /// `operand.field`, or with `test_only` the `has(operand.field)` of it.
    Select {
        /// The value whose field is read.
        operand: ExprId,
        /// The name of the field.
        field: Arc<str>,
        /// Whether only its presence is tested.
        test_only: bool,
    },
    /// A function or operator (`_+_`, `_[_]`, `_?._` …), with the receiver as `target` where it has one.
    Call {
        /// The function's name.
        function: Arc<str>,
        /// The expression before the dot.
        target: Option<ExprId>,
        /// The arguments without the target.
        args: Vec<ExprId>,
    },
    /// `[a, ?b]`
    List {
        /// The elements in order.
        elements: Vec<ExprId>,
        /// The indices of elements marked with `?`.
        optional: Vec<u32>,
    },
    /// `{k: v, ?k: v}`
    Map(Vec<MapEntry>),
    /// `Name{field: v, ?field: v}`
    Struct {
        /// The name of the type; a leading dot is kept.
        type_name: Arc<str>,
        /// The fields in order.
        fields: Vec<StructField>,
    },
    /// A comprehension, which only macros make.
    Comprehension(Box<Comprehension>),
}

/// An entry of a map literal.
#[derive(Clone, Debug, PartialEq)]
pub struct MapEntry {
    /// Where errors about the entry point.
    pub offset: u32,
    /// The key.
    pub key: ExprId,
    /// The value.
    pub value: ExprId,
    /// Whether it is marked with `?`.
    pub optional: bool,
}

/// A field of a struct literal.
#[derive(Clone, Debug, PartialEq)]
pub struct StructField {
    /// Where errors about the field point.
    pub offset: u32,
    /// The name of the field.
    pub name: Arc<str>,
    /// The value.
    pub value: ExprId,
    /// Whether it is marked with `?`.
    pub optional: bool,
}

/// A fold over a list or the keys of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Comprehension {
    /// The list or map to iterate over.
    pub range: ExprId,
    /// The variable of the element or key (of the index or key when there are two).
    pub var: Arc<str>,
    /// The variable of the element or value in comprehensions of two variables.
    pub var2: Option<Arc<str>>,
    /// The variable of the accumulated value.
    pub accumulator: Arc<str>,
    /// Its first value.
    pub init: ExprId,
    /// Whether to continue.
    pub condition: ExprId,
    /// Its next value.
    pub step: ExprId,
    /// The result.
    pub result: ExprId,
}

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// `1`, `0x1`
    Int(i64),
    /// `1u`
    Uint(u64),
    /// `1.0`
    Double(f64),
    /// `'a'`
    String(Arc<str>),
    /// `b'a'`
    Bytes(Arc<[u8]>),
}

impl Ast {
    /// The node of an id of this tree; a foreign id gives a null literal.
    pub fn node(&self, id: ExprId) -> &Node {
        const NOTHING: &Node = &Node {
            expr: Expr::Literal(Literal::Null),
            offset: 0,
        };
        self.nodes.get(id.0 as usize).unwrap_or(NOTHING)
    }

    /// The expression of a node.
    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.node(id).expr
    }

    /// How many nodes there are: ids run from 0 to this number, exclusive.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The ids of all nodes, in their order.
    pub fn ids(&self) -> impl Iterator<Item = ExprId> + use<> {
        (0..self.nodes.len() as u32).map(ExprId)
    }

    /// Whether another tree is the same, apart from the places of its nodes.
    pub fn is_same(&self, other: &Ast) -> bool {
        let mut pairs = vec![(self.root, other.root)];
        while let Some((left, others)) = pairs.pop() {
            let (left, others) = (self.expr(left), other.expr(others));
            let without_children = |expr: &Expr| expr.with_children(0, |_| ExprId(0));
            if without_children(left) != without_children(others) {
                return false;
            }
            let mut children = Vec::new();
            others.for_each_child(|child| children.push(child));
            let mut children = children.into_iter();
            left.for_each_child(|child| pairs.extend(children.next().map(|others| (child, others))));
        }
        true
    }

    /// Whether a comprehension only gives its initial value a name, as `optMap` and the like expand to: its range is `[]`, and
    /// its condition `false`.
    pub(crate) fn is_binding(&self, comprehension: &Comprehension) -> bool {
        self.is_empty_list(comprehension.range)
            && *self.expr(comprehension.condition) == Expr::Literal(Literal::Bool(false))
    }

    /// Whether a node is `[]`.
    pub(crate) fn is_empty_list(&self, id: ExprId) -> bool {
        matches!(self.expr(id), Expr::List { elements, .. } if elements.is_empty())
    }

    /// Whether there is no node, as in no parsed tree.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

impl Expr {
    /// The same expression with other children; entries and fields are placed at `offset`.
    pub(crate) fn with_children(&self, offset: u32, child: impl Fn(ExprId) -> ExprId) -> Expr {
        let mut copy = self.clone();
        let replace = |id: &mut ExprId| *id = child(*id);
        match &mut copy {
            Expr::Literal(_) | Expr::Ident(_) => {}
            Expr::Select { operand, .. } => replace(operand),
            Expr::Call { target, args, .. } => target.iter_mut().chain(args).for_each(replace),
            Expr::List { elements, .. } => elements.iter_mut().for_each(replace),
            Expr::Map(entries) => {
                for entry in entries {
                    entry.offset = offset;
                    replace(&mut entry.key);
                    replace(&mut entry.value);
                }
            }
            Expr::Struct { fields, .. } => {
                for field in fields {
                    field.offset = offset;
                    replace(&mut field.value);
                }
            }
            Expr::Comprehension(comprehension) => {
                replace(&mut comprehension.range);
                replace(&mut comprehension.init);
                replace(&mut comprehension.condition);
                replace(&mut comprehension.step);
                replace(&mut comprehension.result);
            }
        }
        copy
    }

    /// Gives the ids of the expressions directly below this one.
    pub fn for_each_child(&self, mut give: impl FnMut(ExprId)) {
        match self {
            Expr::Literal(_) | Expr::Ident(_) => {}
            Expr::Select { operand, .. } => give(*operand),
            Expr::Call { target, args, .. } => target.iter().chain(args).copied().for_each(give),
            Expr::List { elements, .. } => elements.iter().copied().for_each(give),
            Expr::Map(entries) => entries
                .iter()
                .flat_map(|entry| [entry.key, entry.value])
                .for_each(give),
            Expr::Struct { fields, .. } => fields.iter().map(|field| field.value).for_each(give),
            Expr::Comprehension(comprehension) => {
                [
                    comprehension.range,
                    comprehension.init,
                    comprehension.condition,
                    comprehension.step,
                    comprehension.result,
                ]
                .into_iter()
                .for_each(give);
            }
        }
    }
}

/// A name without the dot that makes it absolute.
pub(crate) fn undotted(name: &str) -> &str {
    name.strip_prefix('.').unwrap_or(name)
}
