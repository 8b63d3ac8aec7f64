//! Random policies, params, objects and users: the outcomes of requests here and in the API server's plugins.
//!
//! A `world` has policies (`policies`, their expressions from `writer`), a cluster and requests (`requests`, `objects` of
//! `kinds`); `ours` and the API server's own plugins give the outcomes, differences are shrunk through `smaller`
//! worlds, and printed as cases of conformance suites.

pub(super) mod kinds;
mod known;
pub(super) mod objects;
mod ours;
pub(super) mod outcome;
mod policies;
pub(super) mod requests;
mod smaller;
mod world;
mod writer;

use pratique_harness::{Dice, Error, go};
use pratique_schema::Release;
use serde::Serialize;
use serde_json::{Value, json};

pub use self::ours::outcomes;
pub use self::outcome::differs;
pub use self::world::World;
use super::RunSpan;
use super::area::{ComparedArea, RunReport};
use super::reference::Reference;
use super::shrink::CaseDifference;

/// Options to compare policies.
#[derive(clap::Args)]
pub(super) struct Run {
    #[command(flatten)]
    pub(super) span: RunSpan,
    /// How many requests share policies.
    #[arg(long, default_value_t = 16)]
    batch: usize,
    /// Compare with this release of Kubernetes, such as 1.36.3.
    #[arg(long, value_name = "VERSION")]
    kubernetes_version: Option<String>,
}

/// The area.
pub(super) struct Policy {
    batch: usize,
    /// The version of the release that is compared; none for the latest one that is known.
    version: Option<String>,
}

impl Policy {
    pub(super) fn new(run: &Run) -> Result<Self, Error> {
        let version = run.kubernetes_version.clone();
        if let Some(version) = &version {
            // An unknown one would be answered as the latest.
            Release::by_version(version).map_err(|error| error.to_string())?;
        }
        Ok(Policy {
            batch: run.batch,
            version,
        })
    }
}

/// A world in the form that the reference reads.
#[derive(Debug, Serialize)]
pub struct Question<'w> {
    /// The world.
    #[serde(flatten)]
    pub world: &'w World,
    /// How often the reference evaluates it from scratch.
    pub times: usize,
}

/// Builds and starts the reference: the API server's own plugins, in a Go program that answers [questions](Question).
///
/// # Errors
/// Go is not installed, or the program does not build.
pub fn start() -> Result<Reference, Error> {
    start_version(None)
}

/// The same with the code of a release.
fn start_version(version: Option<&str>) -> Result<Reference, Error> {
    const KUBERNETES: &str = "k8s.io/kubernetes";
    // It reads the OpenAPI documents of the built-in types.
    let kubernetes = match version {
        Some(version) => go::dependency_at(version, "objects", KUBERNETES),
        None => go::dependency("objects", KUBERNETES),
    };
    let documents = kubernetes?.join("api/openapi-spec/v3");
    Reference::start(version, "policy", &["policy".as_ref(), documents.as_os_str()])
}

impl ComparedArea for Policy {
    type Case = World;

    const NAME: &'static str = "policy";

    fn start(&self) -> Result<Reference, Error> {
        start_version(self.version.as_deref())
    }

    fn random(&self, dice: &mut Dice) -> World {
        World {
            version: self.version.clone(),
            ..world::world(dice, self.batch)
        }
    }

    fn question(&self, world: &World, times: usize) -> Value {
        json!(Question { world, times })
    }

    fn ours(&self, world: &World) -> Result<Vec<Value>, Error> {
        outcomes(world)
    }

    fn with_question(&self, world: &World, index: usize) -> World {
        world.with_request(index)
    }

    fn is_known(&self, _: &World, ours: &Value, theirs: &Value) -> bool {
        known::is_known(ours, theirs)
    }

    fn smaller(&self, world: &World) -> Vec<World> {
        smaller::smaller(world)
    }

    fn counts(&self, _: &Value, theirs: &Value) -> Vec<(&'static str, bool)> {
        vec![
            ("denied", theirs["allowed"] == false),
            ("mutated", theirs.get("object").is_some()),
            ("warned", theirs.get("warnings").is_some()),
        ]
    }

    fn describe(&self, difference: &CaseDifference<World>) -> String {
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
