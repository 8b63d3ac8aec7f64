//! The validating phase of the chain, and the registry's checks before it.

use pratique_manifest::ManifestPlugin;
use pratique_plugin::Stage;
use pratique_policy::{DenialCause, Unfinished, ValidationOutcome, validate};

use super::ChainRun;
use super::end::End;
use crate::clock::Stopwatch;
use crate::observer::{ChainObserver, Logging, Phase};
use crate::step::Place;

impl ChainRun<'_> {
    /// Checks configuration of admission as an API server's registry does, if that is enabled.
    pub(super) fn registry_check(&mut self) -> Result<(), End> {
        let warnings = self.admission.registry_check(&self.attributes());
        self.outcome.warnings.extend(warnings.map_err(End::by_rule)?);
        Ok(())
    }

    pub(super) async fn validate(&mut self, observer: &mut dyn ChainObserver) -> Result<(), End> {
        self.plugins(Phase::Validating, Stage::BeforeDynamic, observer)
            .await?;
        self.steps(Place::BeforeValidatingPolicies, observer).await?;
        let began = Stopwatch::start();
        let ended = self.validating_policies(observer).await;
        let plugin = ManifestPlugin::ValidatingAdmissionPolicy;
        self.record(plugin.name(), Phase::Validating, began, ended, observer)?;
        self.steps(Place::BeforeValidatingWebhooks, observer).await?;
        #[cfg(feature = "webhooks")]
        {
            let began = Stopwatch::start();
            let ended = self.validating_webhooks(observer).await;
            let plugin = ManifestPlugin::ValidatingAdmissionWebhook;
            self.record(plugin.name(), Phase::Validating, began, ended, observer)?;
        }
        self.steps(Place::AfterValidatingWebhooks, observer).await?;
        self.plugins(Phase::Validating, Stage::AfterDynamic, observer)
            .await
    }

    async fn validating_policies(&mut self, observer: &mut dyn ChainObserver) -> Result<(), End> {
        let ValidationOutcome {
            status,
            undecided,
            cause,
            warnings,
            audit_annotations,
        } = loop {
            self.in_time()?;
            let evaluated = self.evaluate_validating(observer);
            match evaluated {
                Ok(evaluated) => break evaluated,
                Err(unfinished) => self.resume(unfinished).await?,
            }
        };
        self.outcome.undecided.extend(undecided);
        self.outcome.warnings.extend(warnings);
        self.annotate(audit_annotations);
        let cause = cause.unwrap_or(DenialCause::Failure);
        status.map_or(Ok(()), |status| Err(End::Refused(status, cause)))
    }

    fn evaluate_validating(&self, observer: &mut dyn ChainObserver) -> Result<ValidationOutcome, Unfinished> {
        let sets = self.admission.validating();
        let context = self.admission.settings.helpers.join(self.eval_context());
        let attributes = self.attributes();
        let mut logging = Logging(observer.policies());
        validate(&sets, attributes, context, &mut logging)
    }
}
