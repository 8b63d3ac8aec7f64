//! The validating half of the chain, and the reserved names before it.

use pratique_exclusion::Reserved;
use pratique_policy::{Observer, Unfinished, Verdict, validate};

use super::{End, Passage};
use crate::step::Place;

impl Passage<'_> {
    /// What the API says to reserved names, where the chain is to say it.
    pub(super) fn reserved(&mut self) -> Result<(), End> {
        match self.admission.reserved(&self.submission()) {
            Some(Reserved::Refused(status)) => return Err(status.into()),
            Some(Reserved::Warned(warning)) => self.outcome.warnings.push(warning),
            None => {}
        }
        Ok(())
    }

    pub(super) async fn validate(&mut self, observer: &mut (dyn Observer + Send)) -> Result<(), End> {
        self.steps(Place::BeforeValidatingPolicies).await?;
        self.judge(observer).await?;
        self.steps(Place::BeforeValidatingWebhooks).await?;
        self.steps(Place::AfterValidatingWebhooks).await
    }

    async fn judge(&mut self, observer: &mut (dyn Observer + Send)) -> Result<(), End> {
        let Verdict {
            status,
            warnings,
            audit_annotations,
        } = loop {
            self.in_time()?;
            let [first, second] = self.admission.validating();
            match validate(&[first, second], self.submission(), self.surroundings(), observer) {
                Ok(verdict) => break verdict,
                Err(Unfinished::Pending) => self.answer().await?,
                Err(interrupted) => return Err(End::Unfinished(interrupted)),
            }
        };
        self.outcome.warnings.extend(warnings);
        self.annotate(audit_annotations);
        match status {
            Some(status) => Err(status.into()),
            None => Ok(()),
        }
    }
}
