//! Preparing the object for validating admission.

use pratique_policy::object_model::{Prepared, Refused};

use super::{ChainRun, End};

impl ChainRun<'_> {
    /// Prepares the object as the object model says, if there is one.
    pub(super) fn prepare(&mut self) -> Result<(), End> {
        let Some(model) = self.context.object_model else {
            return Ok(());
        };
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
