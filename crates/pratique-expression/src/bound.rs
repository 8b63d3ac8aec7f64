//! Expressions bound to the definitions of their variables, so that policies with equal ones share their values.
//!
//! Equal expressions are one [`Expression`](crate::Expression), but `variables.x` means in each policy what that policy
//! defines. A [`BoundExpression`] is an expression together with the definitions of the variables that it names, and
//! theirs: where two policies have the same one, it has the same value for the same request, at the same cost.

use std::sync::Arc;

use crate::environments::slots;
use crate::expression::Expression;
use crate::identity::ExpressionIdentity;
use crate::weak_map::WeakMap;

/// An expression with the definitions of the variables that it names. It has one value for all policies that have it and
/// see the same objects, request and namespace.
#[derive(Debug)]
pub struct BoundExpression {
    identity: ExpressionIdentity,
    expression: Arc<Expression>,
    /// Kept in use, so that the equal variables of a policy that is compiled later are these.
    _variables: Box<[Arc<BoundExpression>]>,
    inputs: InputSet,
}

/// The parts of a request that an expression depends on, through its variables as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputSet {
    /// `object` or `oldObject`
    pub objects: bool,
    /// `request`
    pub request: bool,
    /// `namespaceObject`
    pub namespace: bool,
}

/// What the name of a variable means to an expression.
#[derive(Clone, Debug)]
pub enum Definition {
    /// There is no such variable.
    Undeclared,
    /// A variable whose value is shared.
    Bound(Arc<BoundExpression>),
    /// A variable whose value is that of one policy.
    Unbound,
}

/// The bound expressions in use, each once, by the identities of their parts.
#[derive(Debug, Default)]
pub(crate) struct BoundExpressions(WeakMap<Box<[Option<ExpressionIdentity>]>, BoundExpression>);

/// Expressions that read more variables than this are not shared.
const MAX_VARIABLES: usize = 64;

impl BoundExpression {
    /// The expression.
    pub fn expression(&self) -> &Arc<Expression> {
        &self.expression
    }

    /// The names of the variables that it reads, by position.
    pub fn variable(&self, position: u32) -> Option<&str> {
        let fields = self.expression.variables_read()?;
        fields.get(position as usize).map(|name| &**name)
    }

    /// The position of a variable that it reads.
    pub fn position(&self, name: &str) -> Option<u32> {
        let fields = self.expression.variables_read()?;
        fields
            .iter()
            .position(|field| **field == *name)
            .map(|at| at as u32)
    }

    /// The parts of a request that it depends on.
    pub fn inputs(&self) -> InputSet {
        self.inputs
    }
}

impl BoundExpressions {
    /// Binds an expression. `None` where its value is that of one policy: where it reads params, asks the authorizer, or
    /// reads variables by names that are not written in it.
    pub(crate) fn bind(
        &mut self,
        expression: &Arc<Expression>,
        define: impl Fn(&str) -> Definition,
    ) -> Option<Arc<BoundExpression>> {
        let program = expression.program();
        let slots = slots();
        let unshared = [slots.params, slots.authorizer, slots.request_resource];
        let fields = expression.variables_read()?;
        if unshared.iter().any(|slot| program.reads(*slot)) || fields.len() > MAX_VARIABLES {
            return None;
        }
        let mut inputs = InputSet {
            objects: program.reads(slots.object) || program.reads(slots.old_object),
            request: program.reads(slots.request),
            namespace: program.reads(slots.namespace_object),
        };
        let mut variables = Vec::with_capacity(fields.len());
        let mut key = Vec::with_capacity(1 + fields.len());
        key.push(Some(expression.identity()));
        for field in fields {
            key.push(match define(field) {
                Definition::Undeclared => None,
                Definition::Bound(variable) => {
                    inputs = inputs.union(variable.inputs);
                    let identity = variable.identity;
                    variables.push(variable);
                    Some(identity)
                }
                Definition::Unbound => return None,
            });
        }
        let key = key.into_boxed_slice();
        if let Some(known) = self.0.get(&key) {
            return Some(known);
        }
        let bound = Arc::new(BoundExpression {
            identity: ExpressionIdentity::new(),
            expression: expression.clone(),
            _variables: variables.into(),
            inputs,
        });
        self.0.insert(key, &bound);
        Some(bound)
    }
}

impl InputSet {
    /// The parts that are in one of the two.
    #[must_use]
    pub fn union(self, other: InputSet) -> InputSet {
        InputSet {
            objects: self.objects || other.objects,
            request: self.request || other.request,
            namespace: self.namespace || other.namespace,
        }
    }
}
