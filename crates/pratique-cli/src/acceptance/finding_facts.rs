//! A finding about an object, as exceptions and a baseline look at it.

use pratique_report::Action;
use pratique_review::{DroppedField, PolicyDecision};

use super::finding_key::{FindingKey, is_acceptable};
use super::known_policies::{KnownPolicies, ValidationExpression};
use crate::evaluation::placed_drop::PlacedDrop;
use crate::evaluation::record::{DecisionRecord, INVALID, SERVER_WARNING};

/// A finding about an object, as exceptions look at it.
pub(super) struct FindingFacts<'r> {
    record: &'r DecisionRecord,
    /// The policy, webhook or plugin, or else what the server does.
    pub(super) policy: &'r str,
    pub(super) binding: &'r str,
    /// Which validation of the policy.
    pub(super) validation: Option<usize>,
    /// Its expression.
    pub(super) expression: Option<&'r ValidationExpression>,
    pub(super) action: Action,
    pub(super) namespace: &'r str,
    pub(super) message: &'r str,
}

impl<'r> FindingFacts<'r> {
    /// A decision of a policy; `None` for an error that its failure policy ignores.
    pub(super) fn of_policy(
        record: &'r DecisionRecord,
        decision: &'r PolicyDecision,
        policies: &'r KnownPolicies,
    ) -> Option<Self> {
        if !is_acceptable(decision.action) {
            return None;
        }
        Some(FindingFacts {
            policy: &decision.policy,
            binding: &decision.binding,
            validation: decision.validation,
            expression: policies.expression(&decision.policy, decision.validation),
            ..Self::of_server(record, decision.action, "", &decision.message)
        })
    }

    /// A denial by anything but a policy.
    pub(super) fn of_denial(record: &'r DecisionRecord, message: &'r str) -> Self {
        let by = match &record.refused_by {
            Some(plugin) => plugin,
            None if record.invalid.is_empty() => "",
            None => INVALID,
        };
        Self::of_server(record, Action::Deny, by, message)
    }

    /// A warning of the server itself.
    pub(super) fn of_warning(record: &'r DecisionRecord, message: &'r str) -> Self {
        Self::of_server(record, Action::Warn, SERVER_WARNING, message)
    }

    /// A field that the server drops.
    pub(super) fn of_drop(record: &'r DecisionRecord, placed: &'r PlacedDrop) -> Self {
        Self::of_server(record, Action::Warn, DroppedField::RULE, &placed.subject.message)
    }

    fn of_server(record: &'r DecisionRecord, action: Action, policy: &'r str, message: &'r str) -> Self {
        FindingFacts {
            record,
            policy,
            binding: "",
            validation: None,
            expression: None,
            action,
            namespace: &record.namespace,
            message,
        }
    }

    /// The kind of the object, and of the workload that makes it.
    pub(super) fn kinds(&self) -> impl Iterator<Item = &'r str> {
        let parent = self.record.parent.as_ref().map(|parent| parent.kind.as_str());
        std::iter::once(self.record.kind.as_str()).chain(parent)
    }

    /// The name of the object, and of the workload that makes it.
    pub(super) fn names(&self) -> impl Iterator<Item = &'r str> {
        let parent = self.record.parent.as_ref().map(|parent| parent.name.as_str());
        std::iter::once(self.record.name.as_str()).chain(parent)
    }

    /// By what the finding is known again.
    pub(super) fn key(&self) -> FindingKey {
        let record = self.record;
        let (name, of) = record.finding_names();
        FindingKey {
            policy: self.policy.to_owned(),
            binding: self.binding.to_owned(),
            action: self.action,
            resource: record.resource_with_part(),
            namespace: record.namespace.clone(),
            name,
            of,
            expression: match self.expression {
                Some(expression) => expression.hash().to_owned(),
                None => String::new(),
            },
            message: match self.expression {
                Some(_) => String::new(),
                None => self.message.to_owned(),
            },
        }
    }
}
