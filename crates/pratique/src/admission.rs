//! The compiled policies, webhooks and steps.

use std::borrow::Cow;
use std::sync::Arc;

use pratique_exclusion::registry_check;
use pratique_json::Value;
use pratique_plugin::Plugin;
use pratique_policy::object_model::{PreparedObject, RefusedRequest};
use pratique_policy::{
    DecisionNeed, DenialCause, EvalContext, MutatingPolicies, NeedKind, Policies, PolicyObserver,
    UnfinishedEvaluation, ValidationOutcome, mutate, validate,
};
use pratique_schema::Release;
use pratique_types::{AdmissionRequest, AdmissionResponse, Status};

use crate::outcome::{Outcome, undecided_validation};
use crate::settings::AdmissionSettings;
use crate::step::{Attributes, ChainSteps};

/// Plugins, policies, webhooks and steps: compiled, immutable, and shared between threads. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Admission {
    /// In the order in which they mutate.
    pub(crate) mutating: [Arc<MutatingPolicies>; 2],
    /// In the order in which they are evaluated.
    pub(crate) validating: [Arc<Policies>; 2],
    pub(crate) names: Arc<[String]>,
    pub(crate) settings: AdmissionSettings,
    #[cfg(feature = "webhooks")]
    pub(crate) webhooks: crate::webhooks::CompiledWebhooks,
}

impl Admission {
    /// Drops the state that is needed only to compile the next admission from this one.
    pub(crate) fn without_reload_state(mut self) -> Self {
        let mutating = self.mutating.iter_mut().filter_map(Arc::get_mut);
        mutating.for_each(MutatingPolicies::forget_origins);
        let validating = self.validating.iter_mut().filter_map(Arc::get_mut);
        validating.for_each(Policies::forget_origins);
        self
    }

    /// Evaluates a request by policies only, without waiting for anything: mutating policies change its object, validating
    /// policies see the result; in both phases static ones come before those of the API. Plugins, webhooks and steps are left out:
    /// [`admit`](Self::admit) runs the whole chain, and takes requests as they are given, too.
    ///
    /// # Errors
    /// There is no decision yet: an authorization check has no answer, or the caller interrupted.
    pub fn admit_policies(
        &self,
        request: &AdmissionRequest<'_>,
        context: EvalContext<'_>,
        observer: &mut dyn PolicyObserver,
    ) -> Result<Outcome, UnfinishedEvaluation> {
        let [first, second] = self.mutating();
        let context = context
            .on_undecided(self.settings.on_undecided)
            .of_release(self.release());
        let mutated = mutate(&[first, second], request, &context, observer)?;
        if !mutated.allowed() {
            return Ok(Outcome::new(mutated, None, ValidationOutcome::default()));
        }
        let keeps_prepared = context.keeps_prepared;
        let attributes = match &mutated.object {
            Some(object) => Attributes::mutated(self.release(), request, object),
            None => Attributes::from(request),
        };
        let mut object = Cow::Borrowed(mutated.object.as_ref().unwrap_or(&request.object));
        let prepared = match context.object_model {
            Some(model) => model.prepare(request, (&mut object, attributes.form), context.cluster),
            None => Ok(PreparedObject::default()),
        };
        let PreparedObject {
            is_changed,
            mut warnings,
            undecided,
        } = match prepared {
            Ok(prepared) => prepared,
            Err(RefusedRequest { status, warnings }) => {
                return Ok(Outcome::new(mutated, None, refused(status, warnings)).by_the_registry());
            }
        };
        let object = is_changed.then(|| object.into_owned());
        let attributes = match &object {
            Some(object) => Attributes::mutated(self.release(), request, object),
            None => attributes,
        };
        let validated = match self.registry_check(&attributes) {
            Ok(registry_warnings) => {
                warnings.extend(registry_warnings);
                let mut validated = self.validate(attributes, warnings, context, observer)?;
                let undecided = undecided_validation(undecided).filter(|_| validated.status.is_none());
                validated.undecided.extend(undecided);
                validated
            }
            Err(status) => {
                return Ok(Outcome::new(mutated, None, refused(status, warnings)).by_the_registry());
            }
        };
        let prepared = object.filter(|_| keeps_prepared).map(Value::into_owned);
        let mut outcome = Outcome::new(mutated, prepared, validated);
        outcome.compare_with(&request.object);
        Ok(outcome)
    }

    /// Runs the validating phase of policies, after these warnings.
    fn validate(
        &self,
        attributes: Attributes<'_>,
        warnings: Vec<String>,
        context: EvalContext<'_>,
        observer: &mut dyn PolicyObserver,
    ) -> Result<ValidationOutcome, UnfinishedEvaluation> {
        let [first, second] = self.validating();
        let mut validated = validate(
            &[first, second],
            attributes,
            self.settings.helpers.join(context),
            observer,
        )?;
        validated.warnings.splice(0..0, warnings);
        Ok(validated)
    }

    /// The release of the API server that it stands in for.
    pub fn release(&self) -> &'static Release {
        self.settings.feature_gates.release()
    }

    /// The warnings of an API server's registry, where this stands in for one.
    ///
    /// # Errors
    /// The status with which the registry refuses the request.
    pub(crate) fn registry_check(&self, attributes: &Attributes<'_>) -> Result<Vec<String>, Box<Status>> {
        if !self.settings.registry_checks {
            return Ok(Vec::new());
        }
        let request = attributes.request;
        registry_check(
            request.operation,
            &request.kind,
            attributes.object,
            self.settings.feature_gates,
        )
    }

    /// [`admit_policies`](Self::admit_policies), answered in the form of an admission webhook's: changes are a JSON Patch.
    ///
    /// # Errors
    /// As [`admit_policies`](Self::admit_policies).
    pub fn review_policies(
        &self,
        request: &AdmissionRequest<'_>,
        context: EvalContext<'_>,
        observer: &mut dyn PolicyObserver,
    ) -> Result<AdmissionResponse, UnfinishedEvaluation> {
        Ok(self
            .admit_policies(request, context, observer)?
            .into_response(request))
    }

    /// The dependencies of decisions besides the request: everything that policies and webhooks read and select by.
    pub fn needs(&self) -> Vec<DecisionNeed> {
        let mutating = self.mutating.iter().flat_map(|policies| policies.needs());
        let validating = self.validating.iter().flat_map(|policies| policies.needs());
        let needs = mutating.chain(validating);
        #[cfg(feature = "webhooks")]
        let needs = needs.chain(self.webhooks.needs());
        needs.collect()
    }

    /// The dependencies of the decisions of plugins besides the request.
    pub fn plugin_needs(&self) -> Vec<DecisionNeed> {
        let of_plugin = |plugin: &dyn Plugin| {
            let handler = plugin.handler();
            let looks_up = (!handler.needs.is_empty()).then_some(NeedKind::PluginState);
            let asks = handler.asks_authorizer.then_some(NeedKind::Authorizer);
            let kinds = looks_up.into_iter().chain(asks);
            let needs: Vec<DecisionNeed> = kinds.map(|kind| DecisionNeed::new(handler.name, kind)).collect();
            needs
        };
        self.settings.plugins.iter().flat_map(of_plugin).collect()
    }

    /// Whether there are webhooks to call, which may have side effects.
    #[cfg(feature = "webhooks")]
    pub fn has_webhooks(&self) -> bool {
        self.webhooks.mutating().is_some() || self.webhooks.validating().is_some()
    }

    /// Whether there are policies that may change objects.
    pub fn has_mutating_policies(&self) -> bool {
        self.mutating.iter().any(|policies| !policies.is_empty())
    }

    /// The plugins, in their order, to run them one by one.
    pub fn plugins(&self) -> impl Iterator<Item = &dyn Plugin> {
        self.settings.plugins.iter()
    }

    /// The names of the plugins, in their order.
    pub fn plugin_names(&self) -> impl Iterator<Item = &str> {
        self.settings.plugins.iter().map(|plugin| plugin.handler().name)
    }

    /// The names of the static policies: mutating ones first, each kind in the order in which they act.
    pub fn policy_names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    pub(crate) fn mutating(&self) -> [&MutatingPolicies; 2] {
        self.mutating.each_ref().map(|policies| &**policies)
    }

    pub(crate) fn validating(&self) -> [&Policies; 2] {
        self.validating.each_ref().map(|policies| &**policies)
    }

    pub(crate) fn steps(&self) -> &ChainSteps {
        &self.settings.steps
    }
}

/// The outcome of a request that is refused between the phases.
fn refused(status: Box<Status>, warnings: Vec<String>) -> ValidationOutcome {
    ValidationOutcome {
        status: Some(status),
        cause: Some(DenialCause::Rule),
        warnings,
        ..ValidationOutcome::default()
    }
}
