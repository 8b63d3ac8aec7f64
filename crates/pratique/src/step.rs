//! Admission steps written in Rust, at any place of the chain: [`AdmissionBuilder::step`](crate::AdmissionBuilder::step).

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use pratique_json::Value;
pub use pratique_policy::Attributes;
use pratique_types::{Reason, Status};

use crate::observer::AdmissionPhase;

/// A step of the chain that a program adds: it may change the object, reject the request, warn and annotate.
///
/// ```
/// use pratique::step::{AdmissionStep, StepPlace, StepOutcome};
/// use pratique::{Admission, Attributes};
///
/// /// Asks another service for the quota of a namespace.
/// struct Quota;
///
/// impl AdmissionStep for Quota {
///     fn name(&self) -> &str {
///         "quota"
///     }
///
///     async fn evaluate(&self, attributes: Attributes<'_>) -> StepOutcome {
///         match left(&attributes.request.namespace).await {
///             0 => StepOutcome::deny("nothing is left of the quota"),
///             1..5 => StepOutcome::allow().warn("little is left of the quota"),
///             _ => StepOutcome::allow(),
///         }
///     }
/// }
/// # async fn left(_: &str) -> u32 { 10 }
///
/// let builder = Admission::builder().step(StepPlace::BeforeValidatingPolicies, Quota);
/// ```
pub trait AdmissionStep: Send + Sync {
    /// Its name, for observers and logs.
    fn name(&self) -> &str;

    /// Evaluates a request with its current object; may be written as an `async fn`. The future is dropped when the caller no
    /// longer waits for the answer. A panic refuses the request, with 500 Internal Server Error, and affects no other.
    fn evaluate(&self, attributes: Attributes<'_>) -> impl Future<Output = StepOutcome> + Send;
}

/// An [`AdmissionStep`] of any type.
pub(crate) trait DynStep: Send + Sync {
    fn name(&self) -> &str;

    fn evaluate<'a>(
        &'a self,
        attributes: Attributes<'a>,
    ) -> Pin<Box<dyn Future<Output = StepOutcome> + Send + 'a>>;
}

impl<S: AdmissionStep> DynStep for S {
    fn name(&self) -> &str {
        AdmissionStep::name(self)
    }

    fn evaluate<'a>(
        &'a self,
        attributes: Attributes<'a>,
    ) -> Pin<Box<dyn Future<Output = StepOutcome> + Send + 'a>> {
        Box::pin(AdmissionStep::evaluate(self, attributes))
    }
}

/// The result of a step.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StepOutcome {
    /// The changed object; `None` leaves it unchanged. A step after the mutating phase may not change it.
    pub object: Option<Value<'static>>,
    /// Why the request is rejected; `None` if it is not.
    pub status: Option<Status>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// Annotations for the audit log; existing keys keep their value.
    pub audit_annotations: BTreeMap<String, String>,
}

/// Where in the chain a step is. Steps at the same place act in the order in which they were given.
///
/// A place belongs to one [phase](StepPlace::phase). Where the phases are evaluated one at a time, as for webhooks, which an API
/// server calls in one of them, a step runs in the phase of its place only: a step that denies belongs into a validating
/// place, as one before the mutating policies does not run for a validating webhook.
///
/// Up to [`AfterMutatingWebhooks`](StepPlace::AfterMutatingWebhooks) steps act in each round: a policy or webhook that
/// changes the object brings about a second one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StepPlace {
    /// Before everything.
    BeforeMutatingPolicies,
    /// Between mutating policies and mutating webhooks.
    BeforeMutatingWebhooks,
    /// After mutating webhooks.
    AfterMutatingWebhooks,
    /// Once, after mutation: where a server defaults and validates the object. Such a step may change it.
    Schema,
    /// Before validating policies.
    BeforeValidatingPolicies,
    /// Between validating policies and validating webhooks.
    BeforeValidatingWebhooks,
    /// After everything.
    AfterValidatingWebhooks,
}

impl StepPlace {
    /// The phase of the chain in which a step at this place runs.
    pub fn phase(self) -> AdmissionPhase {
        if self.mutates() {
            AdmissionPhase::Mutating
        } else {
            AdmissionPhase::Validating
        }
    }

    /// Whether a step may change the object there.
    pub fn mutates(self) -> bool {
        self <= StepPlace::Schema
    }
}

impl StepOutcome {
    /// Allows the request unchanged.
    pub fn allow() -> Self {
        StepOutcome::default()
    }

    /// Rejects the request with 403 Forbidden.
    pub fn deny(message: impl Into<String>) -> Self {
        StepOutcome {
            status: Some(Status::failure(Reason::Forbidden, message)),
            ..StepOutcome::default()
        }
    }

    /// Allows the request with a changed object.
    pub fn change(object: Value<'static>) -> Self {
        StepOutcome {
            object: Some(object),
            ..StepOutcome::default()
        }
    }

    /// Adds a warning for the user.
    #[must_use]
    pub fn warn(mut self, warning: impl Into<String>) -> Self {
        self.warnings.push(warning.into());
        self
    }

    /// Adds an annotation for the audit log.
    #[must_use]
    pub fn annotate(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.audit_annotations.insert(key.into(), value.into());
        self
    }
}

/// A step from a function that returns at once.
pub fn step<F>(name: impl Into<String>, evaluate: F) -> impl AdmissionStep + 'static
where
    F: Fn(Attributes<'_>) -> StepOutcome + Send + Sync + 'static,
{
    ImmediateStep {
        name: name.into(),
        evaluate,
    }
}

struct ImmediateStep<F> {
    name: String,
    evaluate: F,
}

impl<F: Fn(Attributes<'_>) -> StepOutcome + Send + Sync> AdmissionStep for ImmediateStep<F> {
    fn name(&self) -> &str {
        &self.name
    }

    async fn evaluate(&self, attributes: Attributes<'_>) -> StepOutcome {
        (self.evaluate)(attributes)
    }
}

/// The steps of a chain.
#[derive(Clone, Default)]
pub(crate) struct ChainSteps(Vec<(StepPlace, Arc<dyn DynStep>)>);

impl ChainSteps {
    pub(crate) fn add(&mut self, place: StepPlace, step: Arc<dyn DynStep>) {
        self.0.push((place, step));
    }

    pub(crate) fn at(&self, place: StepPlace) -> impl Iterator<Item = &dyn DynStep> {
        let steps = self.0.iter().filter(move |(at, _)| *at == place);
        steps.map(|(_, step)| &**step)
    }
}

impl std::fmt::Debug for ChainSteps {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.0.iter().map(|(place, step)| (place, step.name()));
        formatter.debug_list().entries(names).finish()
    }
}
