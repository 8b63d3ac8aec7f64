//! The interface of a plugin.

use pratique_core::Attributes;
use pratique_types::Operation;

use crate::attributes::MutableAttributes;
use crate::context::PluginContext;
use crate::effects::Effects;
use crate::rejection::Rejection;
use crate::state::StateKind;

/// An admission plugin: it may change the object, reject the request, warn, annotate, and say what it would write.
///
/// Objects are decoded into their kind and defaulted, as an API server has them at that point.
// Upstream: pkg/admission/interfaces.go, Interface, MutationInterface, ValidationInterface
pub trait Plugin: Send + Sync {
    /// Its name, which metrics, configuration and flags use: `LimitRanger`.
    fn name(&self) -> &str;

    /// The operations that it handles.
    fn operations(&self) -> Operations;

    /// Whether it has a mutating half.
    fn mutates(&self) -> bool {
        false
    }

    /// Whether it has a validating half.
    fn validates(&self) -> bool {
        false
    }

    /// The kinds of objects that it may look up in the cluster.
    fn needs(&self) -> &'static [StateKind] {
        &[]
    }

    /// Whether its decisions may depend on the answers to authorization checks.
    fn asks_authorizer(&self) -> bool {
        false
    }

    /// The mutating half. It runs once more when a policy or a webhook changed the object afterwards.
    ///
    /// # Errors
    /// The request does not pass.
    fn admit(
        &self,
        attributes: &mut MutableAttributes<'_, '_>,
        context: &PluginContext<'_>,
        effects: &mut Effects,
    ) -> Result<(), Rejection> {
        let _ = (attributes, context, effects);
        Ok(())
    }

    /// The validating half.
    ///
    /// # Errors
    /// The request does not pass.
    fn validate(
        &self,
        attributes: &Attributes<'_>,
        context: &PluginContext<'_>,
        effects: &mut Effects,
    ) -> Result<(), Rejection> {
        let _ = (attributes, context, effects);
        Ok(())
    }
}

/// A set of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operations(u8);

impl Operations {
    /// All operations.
    pub const ALL: Self = Self::of(&Operation::ALL);

    /// A set of these operations.
    pub const fn of(mut operations: &[Operation]) -> Self {
        let mut bits = 0;
        while let [first, rest @ ..] = operations {
            bits |= bit(*first);
            operations = rest;
        }
        Operations(bits)
    }

    /// Whether an operation is among them.
    pub const fn contain(self, operation: Operation) -> bool {
        self.0 & bit(operation) != 0
    }
}

const fn bit(operation: Operation) -> u8 {
    match operation {
        Operation::Create => 1,
        Operation::Update => 2,
        Operation::Delete => 4,
        Operation::Connect => 8,
        Operation::None => 0,
    }
}
