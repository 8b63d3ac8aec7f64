//! Random policies, params, objects and users: the outcomes of requests here and in the API server's plugins.
//!
//! A `world` has policies (`policies`, their expressions from `writer`), a cluster and requests (`requests`, `objects` of
//! `kinds`); `ours` and the API server's own plugins give the outcomes, differences are shrunk through `smaller`
//! worlds, and printed as cases of conformance suites.

pub(super) mod kinds;
mod known_differences;
pub(super) mod objects;
mod ours;
pub(super) mod outcome;
mod policies;
mod question;
pub(super) mod requests;
mod smaller;
mod world;
mod writer;

use pratique_harness::{RandomDice, ToolError};
use serde::Serialize;
use serde_json::{Value, json};

pub use self::ours::outcomes;
pub use self::outcome::differs;
pub(super) use self::question::GoldenPolicies;
pub use self::world::PolicyWorld;
use super::RunSpan;
use super::area::{ComparedArea, RunReport};
use super::reference::ReferenceProgram;
use super::release::ComparedRelease;
use super::shrink::CaseDifference;

/// Options to compare policies.
#[derive(clap::Args)]
pub(super) struct PolicyRun {
    #[command(flatten)]
    pub(super) span: RunSpan,
    /// How many requests share policies.
    #[arg(long, default_value_t = 16)]
    batch: usize,
}

/// The area.
pub(super) struct PolicyArea {
    batch: usize,
    compared: ComparedRelease,
}

impl PolicyArea {
    pub(super) fn new(run: &PolicyRun) -> Result<Self, ToolError> {
        Ok(PolicyArea {
            batch: run.batch,
            compared: run.span.release.find()?,
        })
    }
}

/// A world in the form that the reference reads.
#[derive(Debug, Serialize)]
pub struct PolicyQuestion<'w> {
    /// The world.
    #[serde(flatten)]
    pub world: &'w PolicyWorld,
    /// How often the reference evaluates it from scratch.
    pub times: usize,
}

/// Builds and starts the reference: the API server's own plugins, in a Go program that answers [questions](PolicyQuestion).
///
/// # Errors
/// Go is not installed, or the program does not build.
pub fn start() -> Result<ReferenceProgram, ToolError> {
    start_release(&ComparedRelease::default())
}

/// The same with the code of a release.
pub(super) fn start_release(compared: &ComparedRelease) -> Result<ReferenceProgram, ToolError> {
    // It reads the OpenAPI documents of the built-in types.
    let documents = compared.kubernetes()?.join("api/openapi-spec/v3");
    ReferenceProgram::start(compared, "policy", &["policy".as_ref(), documents.as_os_str()])
}

impl ComparedArea for PolicyArea {
    type Case = PolicyWorld;

    const NAME: &'static str = "policy";

    fn start(&self) -> Result<ReferenceProgram, ToolError> {
        start_release(&self.compared)
    }

    fn random(&self, dice: &mut RandomDice) -> PolicyWorld {
        world::world(dice, self.batch, &self.compared)
    }

    fn question(&self, world: &PolicyWorld, times: usize) -> Value {
        json!(PolicyQuestion { world, times })
    }

    fn ours(&self, world: &PolicyWorld) -> Result<Vec<Value>, ToolError> {
        outcomes(world)
    }

    fn with_question(&self, world: &PolicyWorld, index: usize) -> PolicyWorld {
        world.with_request(index)
    }

    fn is_known(&self, _: &PolicyWorld, ours: &Value, theirs: &Value) -> bool {
        known_differences::is_known(ours, theirs)
    }

    fn smaller(&self, world: &PolicyWorld) -> Vec<PolicyWorld> {
        smaller::smaller(world)
    }

    fn counts(&self, _: &Value, theirs: &Value) -> Vec<(&'static str, bool)> {
        vec![
            ("denied", theirs["allowed"] == false),
            ("mutated", theirs.get("object").is_some()),
            ("warned", theirs.get("warnings").is_some()),
        ]
    }

    fn describe(&self, difference: &CaseDifference<PolicyWorld>) -> String {
        let CaseDifference {
            case,
            kind,
            ours,
            theirs,
        } = difference;
        let case = case.case(theirs);
        format!("{kind}:\n  ours:      {ours}\n  reference: {theirs}\n  case: {case}\n")
    }

    fn summary(&self, report: &RunReport) -> String {
        format!(
            "{} worlds, {} requests: {} denied, {} mutated, {} warned\n\
             {} worlds not loaded, {} requests where the reference varies, {} differ on purpose\n\
             {} differences, {} worlds without an answer",
            report.cases,
            report.questions,
            report.count("denied"),
            report.count("mutated"),
            report.count("warned"),
            report.refused,
            report.varies,
            report.known,
            report.differences(),
            report.unanswered,
        )
    }
}

#[cfg(test)]
mod tests;
