//! What the value of an expression depends on besides the request, so that those who depend on the same share it.
//!
//! Equal expressions are one [`Expression`](crate::Expression), but `variables.x` means in each policy what that policy
//! defines. A [`Closed`] is an expression together with the definitions of the variables that it names, and theirs:
//! where two policies have the same one, it has the same value for the same request, at the same cost.

use std::sync::Arc;

use crate::environments::slots;
use crate::expression::Expression;
use crate::in_use::InUse;

/// An expression with the definitions of the variables that it names: one value for all who have the same and see the
/// same objects, request and namespace.
#[derive(Debug)]
pub struct Closed {
    expression: Arc<Expression>,
    /// Kept, so that nothing else comes to their addresses.
    _definitions: Box<[Option<Arc<Closed>>]>,
    sees: Sees,
}

/// Which parts of a request an expression sees, its variables included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sees {
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
    Missing,
    /// It is this one.
    Closed(Arc<Closed>),
    /// It is one whose value nobody shares.
    Open,
}

/// The closed expressions in use, each once, by the addresses of what they are made of.
#[derive(Debug, Default)]
pub(crate) struct ClosedSet(InUse<Box<[usize]>, Closed>);

/// More variables than this in one expression are not kept account of.
const MAX_VARIABLES: usize = 64;

impl Closed {
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

    /// What it sees of a request.
    pub fn sees(&self) -> Sees {
        self.sees
    }
}

impl ClosedSet {
    /// The closed form of an expression. `None` where its value is that of one policy: where it reads params, asks the
    /// authorizer, or reads variables by names that are not written in it.
    pub(crate) fn close(
        &mut self,
        expression: &Arc<Expression>,
        define: impl Fn(&str) -> Definition,
    ) -> Option<Arc<Closed>> {
        let program = expression.program();
        let slots = slots();
        let unshared = [slots.params, slots.authorizer, slots.request_resource];
        let fields = expression.variables_read()?;
        if unshared.iter().any(|slot| program.reads(*slot)) || fields.len() > MAX_VARIABLES {
            return None;
        }
        let mut sees = Sees {
            objects: program.reads(slots.object) || program.reads(slots.old_object),
            request: program.reads(slots.request),
            namespace: program.reads(slots.namespace_object),
        };
        let mut variables = Vec::with_capacity(fields.len());
        for field in fields {
            variables.push(match define(field) {
                Definition::Missing => None,
                Definition::Closed(closed) => {
                    sees = sees.and(closed.sees);
                    Some(closed)
                }
                Definition::Open => return None,
            });
        }
        let addresses = variables
            .iter()
            .map(|definition| definition.as_ref().map_or(0, address));
        let key: Box<[usize]> = std::iter::once(address(expression)).chain(addresses).collect();
        // What a known one is made of is kept by it, so that nothing else can have come to those addresses.
        if let Some(known) = self.0.get(&key) {
            return Some(known);
        }
        let closed = Arc::new(Closed {
            expression: expression.clone(),
            _definitions: variables.into(),
            sees,
        });
        self.0.insert(key, &closed);
        Some(closed)
    }
}

impl Sees {
    /// What one of the two sees.
    #[must_use]
    pub fn and(self, other: Sees) -> Sees {
        Sees {
            objects: self.objects || other.objects,
            request: self.request || other.request,
            namespace: self.namespace || other.namespace,
        }
    }
}

fn address<T>(shared: &Arc<T>) -> usize {
    Arc::as_ptr(shared).addr()
}
