//! When plugins are called.

use pratique_types::Operation;

use crate::looked_up::FieldsRead;
use crate::state::StateKind;

/// A plugin's name, when it is called, and what it may look up.
///
/// ```
/// use pratique_plugin::{Handler, StateKind};
/// use pratique_types::Operation;
///
/// const TEAM: Handler = Handler::new("Team", &[Operation::Create]).validating().needing(&[StateKind::NAMESPACE]);
/// assert!(TEAM.validates && TEAM.operations.contain(Operation::Create) && !TEAM.mutates);
/// ```
// Upstream: pkg/admission/handler.go, Handler
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Handler {
    /// The plugin's name, which metrics, configuration and flags use: `LimitRanger`.
    pub name: &'static str,
    /// The operations that it handles.
    pub operations: Operations,
    /// Whether it has a mutating half.
    pub mutates: bool,
    /// Whether it has a validating half.
    pub validates: bool,
    /// The kinds of objects that it may look up in the cluster.
    pub needs: &'static [StateKind],
    /// What it reads of objects that it looks up, where that is little: of those of other kinds it may read all.
    pub reads: &'static [FieldsRead],
    /// Whether its decisions may depend on the answers to authorization checks.
    pub asks_authorizer: bool,
    /// Whether an object that has the form of its kind has it still once the plugin has changed it, so that nothing looks at it again.
    pub keeps_form: bool,
}

impl Handler {
    /// The handler of a plugin, by its name, for operations; without a half.
    pub const fn new(name: &'static str, operations: &[Operation]) -> Self {
        Handler {
            name,
            operations: Operations::new(operations),
            mutates: false,
            validates: false,
            needs: &[],
            reads: &[],
            asks_authorizer: false,
            keeps_form: false,
        }
    }

    /// With a mutating half.
    #[must_use]
    pub const fn mutating(mut self) -> Self {
        self.mutates = true;
        self
    }

    /// With a validating half.
    #[must_use]
    pub const fn validating(mut self) -> Self {
        self.validates = true;
        self
    }

    /// With the kinds of objects that it may look up in the cluster.
    #[must_use]
    pub const fn needing(mut self, kinds: &'static [StateKind]) -> Self {
        self.needs = kinds;
        self
    }

    /// With the fields that it reads of objects that it looks up, of kinds of which a cluster has many.
    #[must_use]
    pub const fn reading(mut self, fields: &'static [FieldsRead]) -> Self {
        self.reads = fields;
        self
    }

    /// With decisions that may depend on the answers to authorization checks.
    #[must_use]
    pub const fn asking_authorizer(mut self) -> Self {
        self.asks_authorizer = true;
        self
    }

    /// With changes that leave an object in the form of its kind, whatever the state of the cluster is like.
    #[must_use]
    pub const fn keeping_form(mut self) -> Self {
        self.keeps_form = true;
        self
    }

    /// Whether the plugin's mutating half is called for an operation.
    pub const fn admits(&self, operation: Operation) -> bool {
        self.mutates && self.operations.contain(operation)
    }

    /// Whether the plugin's validating half is called for an operation.
    pub const fn checks(&self, operation: Operation) -> bool {
        self.validates && self.operations.contain(operation)
    }
}

/// A set of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operations(u8);

impl Operations {
    /// A set of these operations.
    pub const fn new(mut operations: &[Operation]) -> Self {
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
