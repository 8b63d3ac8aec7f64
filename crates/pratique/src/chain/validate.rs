//! The validating phase of the chain, and the registry's checks before it.

use pratique_manifest::ManifestPlugin;
use pratique_plugin::Stage;
use pratique_policy::{DenialCause, UnfinishedEvaluation, ValidationOutcome, validate};

use super::ChainRun;
use super::end::ChainEnd;
use crate::clock::RunStopwatch;
use crate::observer::{AdmissionPhase, ChainObserver, LoggingObserver};
use crate::step::StepPlace;

impl ChainRun<'_> {
    /// Checks configuration of admission as an API server's registry does, if that is enabled.
    pub(super) fn registry_check(&mut self) -> Result<(), ChainEnd> {
        let warnings = self.admission.registry_check(&self.attributes());
        self.outcome.warnings.extend(warnings.map_err(ChainEnd::by_rule)?);
        Ok(())
    }

    pub(super) async fn validate(&mut self, observer: &mut dyn ChainObserver) -> Result<(), ChainEnd> {
        self.plugins(AdmissionPhase::Validating, Stage::BeforeDynamic, observer)
            .await?;
        self.steps(StepPlace::BeforeValidatingPolicies, observer).await?;
        let began = RunStopwatch::start_if(observer.measures_time());
        let ended = self.validating_policies(observer).await;
        let plugin = ManifestPlugin::ValidatingAdmissionPolicy;
        self.record(plugin.name(), AdmissionPhase::Validating, began, ended, observer)?;
        self.steps(StepPlace::BeforeValidatingWebhooks, observer).await?;
        #[cfg(feature = "webhooks")]
        {
            let began = RunStopwatch::start_if(observer.measures_time());
            let ended = self.validating_webhooks(observer).await;
            let plugin = ManifestPlugin::ValidatingAdmissionWebhook;
            self.record(plugin.name(), AdmissionPhase::Validating, began, ended, observer)?;
        }
        self.steps(StepPlace::AfterValidatingWebhooks, observer).await?;
        self.plugins(AdmissionPhase::Validating, Stage::AfterDynamic, observer)
            .await
    }

    async fn validating_policies(&mut self, observer: &mut dyn ChainObserver) -> Result<(), ChainEnd> {
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
        status.map_or(Ok(()), |status| Err(ChainEnd::Refused(status, cause)))
    }

    fn evaluate_validating(
        &self,
        observer: &mut dyn ChainObserver,
    ) -> Result<ValidationOutcome, UnfinishedEvaluation> {
        let sets = self.admission.validating();
        let context = self.admission.settings.helpers.join(self.eval_context());
        let attributes = self.attributes();
        let mut logging = LoggingObserver(observer.policies());
        validate(&sets, attributes, context, &mut logging)
    }
}
