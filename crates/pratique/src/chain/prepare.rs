//! Preparing the object for validating admission.

use pratique_policy::object_model::{Prepared, Refused};

use pratique_policy::ObjectModel;
use pratique_types::Reason;

use super::ChainRun;
use super::end::End;
use crate::observer::{ChainObserver, ChainStep, PREPARATION, Phase, StepResult, VALIDATION};

impl ChainRun<'_> {
    /// Prepares the object by the object model, if there is one.
    pub(super) fn prepare(&mut self, observer: &mut dyn ChainObserver) -> Result<(), End> {
        let Some(model) = self.context.object_model else {
            return Ok(());
        };
        let ended = self.prepare_by(model);
        observer.step(&ChainStep {
            name: match &ended {
                Err(End::Refused(status, _)) if status.code == Reason::Invalid.code() => VALIDATION,
                _ => PREPARATION,
            },
            phase: Phase::Validating,
            is_reinvoked: false,
            attributes: self.attributes(),
            result: StepResult::of(&ended),
        });
        ended
    }

    fn prepare_by(&mut self, model: &dyn ObjectModel) -> Result<(), End> {
        match model.prepare(self.attributes()) {
            Ok(Prepared { object, warnings }) => {
                self.outcome.warnings.extend(warnings);
                self.prepared = object;
                Ok(())
            }
            Err(Refused { status, warnings }) => {
                self.outcome.warnings.extend(warnings);
                Err(End::by_rule(status))
            }
        }
    }
}
