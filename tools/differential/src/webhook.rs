//! Random objects and random patches of webhooks: the resulting object here and in the API server's plugin.
//!
//! A `case` is a request with the `answers` of webhooks (and their `patches`) and one of the `configurations`; `ours` and the
//! API server's own plugin give its outcomes, and differences are shrunk through `smaller` cases.

mod answers;
mod case;
mod configurations;
mod known;
mod ours;
mod patches;
mod smaller;

use pratique_harness::{Dice, Error};
use serde_json::{Value, json};

use self::case::Case;
use self::configurations::{configurations, namespaces};
use self::ours::Ours;
use super::RunSpan;
use super::area::{ComparedArea, RunReport};
use super::policy::kinds::definitions;
use super::reference::Reference;
use super::release::ComparedRelease;
use super::shrink::CaseDifference;

/// The area.
pub(super) struct Webhook {
    ours: Ours,
    compared: ComparedRelease,
}

impl Webhook {
    pub(super) fn new(span: &RunSpan) -> Result<Self, Error> {
        let compared = span.release.find()?;
        Ok(Webhook {
            ours: Ours::new(compared.release)?,
            compared,
        })
    }
}

impl ComparedArea for Webhook {
    type Case = Case;

    const NAME: &'static str = "webhook";

    fn start(&self) -> Result<Reference, Error> {
        let mut reference = Reference::start(&self.compared, "policy", &["webhook".as_ref()])?;
        let objects = [namespaces(), definitions()].concat();
        reference.ask(&json!({"configurations": configurations(), "objects": objects}))?;
        Ok(reference)
    }

    fn random(&self, dice: &mut Dice) -> Case {
        Case::random(dice)
    }

    fn question(&self, case: &Case, times: usize) -> Value {
        case.question(times)
    }

    fn ours(&self, case: &Case) -> Result<Vec<Value>, Error> {
        Ok(vec![self.ours.outcome(case)])
    }

    fn with_question(&self, case: &Case, _: usize) -> Case {
        case.clone()
    }

    fn is_known(&self, case: &Case, ours: &Value, theirs: &Value) -> bool {
        known::is_known(case, ours, theirs)
    }

    fn smaller(&self, case: &Case) -> Vec<Case> {
        smaller::smaller(case)
    }

    fn counts(&self, _: &Value, theirs: &Value) -> Vec<(&'static str, bool)> {
        vec![
            ("changed", theirs.get("object").is_some()),
            ("denied", theirs["allowed"] == false),
        ]
    }

    fn describe(&self, difference: &CaseDifference<Case>) -> String {
        let CaseDifference {
            case,
            kind,
            ours,
            theirs,
        } = difference;
        let (patches, case) = (case.patches(), case.conformance(theirs));
        format!(
            "{kind}:\n  ours:      {ours}\n  reference: {theirs}\n  patches: {patches:?}\n  case: {case}\n"
        )
    }

    fn summary(&self, report: &RunReport) -> String {
        format!(
            "{} cases: {} changed, {} denied; {} differ on purpose\n{} differences",
            report.questions,
            report.count("changed"),
            report.count("denied"),
            report.known,
            report.differences()
        )
    }
}

#[cfg(test)]
mod tests;
