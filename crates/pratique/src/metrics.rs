//! Metrics as an observer, with an API server's counts.

use std::time::Duration;

use pratique_manifest::ManifestPlugin;
use pratique_metrics as metrics;
use pratique_metrics::Metrics;
use pratique_policy::{Effect, ErrorType, MutationAttempt, ObservedDecision, UndecidedDecision};
use pratique_types::Operation;

use crate::live::{AdmissionObserver, DirectoryReload, ReloadResult};
use crate::observer::{AdmissionPhase, ChainObserver, ChainSpan};

impl AdmissionObserver for Metrics {
    fn reloaded(&self, reload: &DirectoryReload<'_>) {
        let plugin = reload.plugin.name();
        match reload.result {
            ReloadResult::Loaded { hash } => self.reload_succeeded(plugin, hash, reload.at),
            ReloadResult::Unchanged => {}
            ReloadResult::Failed { .. } => self.reload_failed(plugin, reload.at),
        }
    }

    fn watching(&self, plugin: ManifestPlugin, directory: &str, is_watched: bool) {
        self.directory_watched(plugin.name(), directory, is_watched);
    }

    fn compiled(&self, took: &[Duration]) {
        took.iter().for_each(|took| self.compilation(*took));
    }

    fn request(&self) -> Option<Box<dyn ChainObserver + '_>> {
        Some(Box::new(RequestCounts {
            metrics: self,
            conditions: Vec::new(),
            validations: Vec::new(),
            mutations: Vec::new(),
        }))
    }
}

/// Counts the events of one request.
///
/// Policies are evaluated without reading the clock: each decision of a request, and each evaluation of match conditions,
/// counts with an equal share of the time that all took.
struct RequestCounts<'m> {
    metrics: &'m Metrics,
    /// Policies whose match conditions were evaluated, and how many of these failed.
    conditions: Vec<(Box<str>, metrics::Operation, usize)>,
    validations: Vec<(BindingNames, metrics::Action, metrics::PolicyError)>,
    mutations: Vec<(BindingNames, metrics::PolicyError)>,
}

/// A policy and its binding.
type BindingNames = (Box<str>, Box<str>);

impl ChainObserver for RequestCounts<'_> {
    fn policies(&mut self) -> Option<&mut dyn pratique_policy::PolicyObserver> {
        Some(self)
    }

    #[cfg(feature = "webhooks")]
    fn webhooks(&mut self) -> Option<&mut dyn pratique_webhook::WebhookObserver> {
        Some(self)
    }

    fn part(&mut self, name: &str, span: &ChainSpan) {
        let share = |count: usize| span.elapsed / u32::try_from(count.max(1)).unwrap_or(u32::MAX);
        let each = share(self.conditions.len());
        let owner = metrics::ConditionOwner::Policy;
        for (policy, operation, errors) in self.conditions.drain(..) {
            self.metrics.match_conditions(&policy, owner, operation, each);
            (0..errors).for_each(|_| self.metrics.match_condition_error(&policy, owner, operation));
        }
        let each = share(self.validations.len());
        self.metrics.evaluations(self.validations.len(), each);
        for ((policy, binding), action, error) in self.validations.drain(..) {
            self.metrics.validation(&policy, &binding, action, error, each);
        }
        let each: Duration = share(self.mutations.len());
        self.metrics.evaluations(self.mutations.len(), each);
        for ((policy, binding), error) in self.mutations.drain(..) {
            self.metrics.mutation(&policy, &binding, error, each);
        }
        let (step, operation) = (step_type(span.phase), operation(span.operation));
        self.metrics
            .controller(name, step, operation, span.rejected, span.elapsed);
    }

    fn phase(&mut self, span: &ChainSpan) {
        let (step, operation) = (step_type(span.phase), operation(span.operation));
        self.metrics.step(step, operation, span.rejected, span.elapsed);
    }
}

impl pratique_policy::PolicyObserver for RequestCounts<'_> {
    fn decided(&mut self, decision: &ObservedDecision<'_>) {
        let action = match decision.effect {
            Effect::Allow => metrics::Action::Allow,
            Effect::Deny => metrics::Action::Deny,
            Effect::Audit => metrics::Action::Audit,
            Effect::Warn => metrics::Action::Warn,
        };
        let error = match decision.error {
            // A validation that is false is counted as one that is not valid.
            ErrorType::None => metrics::PolicyError::Invalid,
            other => error(other),
        };
        let names = (decision.policy.into(), decision.binding.into());
        self.validations.push((names, action, error));
    }

    fn conditions(&mut self, conditions: &pratique_policy::Conditions<'_>) {
        let operation = operation(conditions.operation);
        self.conditions
            .push((conditions.policy.into(), operation, conditions.errors));
    }

    fn mutating(&mut self, mutating: &MutationAttempt<'_>) {
        let names = (mutating.policy.into(), mutating.binding.into());
        self.mutations.push((names, error(mutating.error)));
    }

    fn undecided(&mut self, undecided: &UndecidedDecision) {
        count_undecided(self.metrics, undecided);
    }
}

#[cfg(feature = "webhooks")]
impl pratique_webhook::WebhookObserver for RequestCounts<'_> {
    fn called(&mut self, called: &pratique_webhook::EndedCall<'_>) {
        use pratique_webhook::Rejection;

        let (name, operation) = (called.webhook, operation(called.operation));
        let webhook = match called.phase {
            pratique_webhook::AdmissionPhase::Mutating => metrics::WebhookType::Mutating,
            pratique_webhook::AdmissionPhase::Validating => metrics::WebhookType::Validating,
        };
        let rejected = called.rejection.is_some();
        self.metrics
            .webhook_call(name, webhook, operation, (rejected, called.code), called.duration);
        if called.failed_open {
            self.metrics.webhook_failed_open(name, webhook);
        }
        if let Some(rejection) = called.rejection {
            let error = match rejection {
                Rejection::Denied => metrics::WebhookError::None,
                Rejection::CallFailed => metrics::WebhookError::Calling,
                Rejection::ServerError => metrics::WebhookError::Internal,
            };
            self.metrics
                .webhook_rejection(name, webhook, operation, error, called.code);
        }
    }

    fn conditions(&mut self, conditions: &pratique_webhook::Conditions<'_>) {
        use metrics::{ConditionOwner, WebhookType};

        let (name, operation) = (conditions.webhook, operation(conditions.operation));
        let (owner, webhook) = match conditions.phase {
            pratique_webhook::AdmissionPhase::Mutating => {
                (ConditionOwner::MutatingWebhook, WebhookType::Mutating)
            }
            pratique_webhook::AdmissionPhase::Validating => {
                (ConditionOwner::ValidatingWebhook, WebhookType::Validating)
            }
        };
        self.metrics
            .match_conditions(name, owner, operation, conditions.duration);
        (0..conditions.errors).for_each(|_| self.metrics.match_condition_error(name, owner, operation));
        if conditions.excluded {
            self.metrics.match_condition_exclusion(name, webhook, operation);
        }
    }

    fn undecided(&mut self, undecided: &UndecidedDecision) {
        count_undecided(self.metrics, undecided);
    }
}

fn count_undecided(metrics: &Metrics, undecided: &UndecidedDecision) {
    metrics.undecided(&undecided.name, &undecided.plugin, undecided.missing.kind());
}

fn error(error: ErrorType) -> metrics::PolicyError {
    match error {
        ErrorType::None => metrics::PolicyError::None,
        ErrorType::Compile => metrics::PolicyError::Compile,
        ErrorType::Invalid => metrics::PolicyError::Invalid,
        ErrorType::OutOfBudget => metrics::PolicyError::OutOfBudget,
    }
}

fn step_type(phase: AdmissionPhase) -> metrics::StepType {
    match phase {
        AdmissionPhase::Mutating => metrics::StepType::Admit,
        AdmissionPhase::Validating => metrics::StepType::Validate,
    }
}

fn operation(operation: Operation) -> metrics::Operation {
    match operation {
        Operation::Create => metrics::Operation::Create,
        Operation::Update => metrics::Operation::Update,
        Operation::Delete => metrics::Operation::Delete,
        Operation::Connect => metrics::Operation::Connect,
        Operation::None => metrics::Operation::None,
    }
}
