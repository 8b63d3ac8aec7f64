//! What a difference of policies is made small by.

use pratique_harness::Error;
use serde_json::Value;

use super::known;
use super::ours;
use super::reference::Reference;
use super::smaller::smaller;
use super::world::World;
use crate::outcomes::Subject;

/// A reference that is asked about worlds of one request.
impl Subject for Reference {
    type Case = World;

    fn ask(&mut self, world: &World, times: usize) -> Result<(), Error> {
        Reference::ask(self, world, times)
    }

    fn theirs(&mut self) -> Result<Vec<Value>, Error> {
        let answer = self.answer()?;
        Ok(answer
            .ok()
            .and_then(|answers| answers.into_iter().next())
            .unwrap_or_default())
    }

    fn ours(&self, world: &World) -> Option<Value> {
        ours::outcomes(world).ok()?.into_iter().next()
    }

    fn is_known(&self, _: &World, ours: &Value, theirs: &Value) -> bool {
        known::is_known(ours, theirs)
    }

    fn smaller(&self, world: &World) -> Vec<World> {
        smaller(world)
    }
}
