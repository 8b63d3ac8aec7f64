//! Preparing the object for validating admission.

use std::borrow::Cow;
use std::sync::Arc;

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
        let given = self.object.take_if(|_| self.gives_object);
        let given = given.map(|object| Arc::try_unwrap(object).unwrap_or_else(|shared| (*shared).clone()));
        let mut object = match given {
            Some(object) => Cow::Owned(object),
            None => Cow::Borrowed(self.object.as_deref().unwrap_or(&self.request.object)),
        };
        let prepared = model.prepare(self.request, (&mut object, self.form), self.context.cluster);
        match prepared {
            Ok(prepared) => {
                self.outcome
                    .undecided
                    .extend(undecided_validation(prepared.undecided));
                self.outcome.warnings.extend(prepared.warnings);
                self.may_differ |= prepared.is_changed;
                if prepared.is_changed {
                    let object = object.into_owned();
                    self.form = Attributes::mutated(self.admission.release(), self.request, &object).form;
                    self.prepared = Some(object);
                } else if let Cow::Owned(object) = object {
                    self.object = Some(Arc::new(object));
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
