//! The suite `webhook`: webhook configurations and a request, sent to scripted webhooks on real sockets.

mod compare;
mod configured;
mod world;

use std::sync::{Mutex, OnceLock, PoisonError};

use pratique_harness::Error;
use serde_json::Value;

use super::Outcome;
use configured::Configured;
use world::World;

pub(super) fn run_case(case: &Value) -> Outcome {
    // The listeners serve one case at a time.
    static WORLD: OnceLock<Result<Mutex<World>, Error>> = OnceLock::new();
    let world = WORLD.get_or_init(|| World::start().map(Mutex::new));
    let ran = world
        .as_ref()
        .map_err(|error| error.to_string().into())
        .and_then(|world| {
            let world = world.lock().unwrap_or_else(PoisonError::into_inner);
            let configured = Configured::new(&world, case)?;
            world.run(case, &configured)
        });
    let expect = case.get("expect").cloned().unwrap_or_default();
    match ran {
        Ok(actual) => compare::compare(&expect, actual),
        Err(why) => Outcome::failed(case, &why.to_string()),
    }
}
