//! Preparing the object for validating admission.

use pratique_policy::object_model::RefusedRequest;

use pratique_policy::ObjectModel;
use pratique_types::Reason;

use super::ChainRun;
use super::end::ChainEnd;
use crate::observer::{AdmissionPhase, ChainObserver, ChainStep, PREPARATION, StepResult, VALIDATION};
use crate::outcome::undecided_validation;
use crate::step::Attributes;

impl ChainRun<'_> {
    /// Prepares the object by the object model, if there is one.
    pub(super) fn prepare(&mut self, observer: &mut dyn ChainObserver) -> Result<(), ChainEnd> {
        let Some(model) = self.context.object_model else {
            return Ok(());
        };
        let ended = self.prepare_by(model);
        observer.step(&ChainStep {
            name: match &ended {
                Err(ChainEnd::Refused(status, _)) if status.code == Reason::Invalid.code() => VALIDATION,
                _ => PREPARATION,
            },
            phase: AdmissionPhase::Validating,
            is_reinvoked: false,
            attributes: self.attributes(),
            may_differ: self.may_differ,
            result: StepResult::new(&ended),
        });
        self.may_differ = false;
        ended
    }

    fn prepare_by(&mut self, model: &dyn ObjectModel) -> Result<(), ChainEnd> {
        let object = self.object.as_deref().unwrap_or(&self.request.object);
        match model.prepare(self.request, object, self.context.cluster) {
            Ok(prepared) => {
                self.outcome
                    .undecided
                    .extend(undecided_validation(prepared.undecided));
                self.outcome.warnings.extend(prepared.warnings);
                self.may_differ |= prepared.object.is_some();
                if let Some(object) = prepared.object {
                    self.form = Attributes::mutated(self.admission.release(), self.request, &object).form;
                    self.prepared = Some(object);
                }
                Ok(())
            }
            Err(RefusedRequest { status, warnings }) => {
                self.outcome.warnings.extend(warnings);
                Err(ChainEnd::by_rule(status))
            }
        }
    }
}
