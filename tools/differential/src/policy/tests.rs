//! The generator, our side and the shrinker, without the reference.

use pratique_harness::RandomDice;
use serde_json::Value;

use super::smaller::smaller;
use super::{ours, world};
use crate::release::ComparedRelease;

#[test]
fn worlds_load_and_are_of_use() {
    let mut dice = RandomDice::new(1);
    let (mut refused, mut denied, mut mutated, mut all) = (Vec::new(), 0, 0, 0);
    for _ in 0..120 {
        let world = world::world(&mut dice, 10, &ComparedRelease::default());
        match ours::outcomes(&world) {
            Err(error) => refused.push(error.to_string()),
            Ok(outcomes) => {
                all += outcomes.len();
                denied += outcomes
                    .iter()
                    .filter(|outcome| outcome["allowed"] == false)
                    .count();
                mutated += outcomes
                    .iter()
                    .filter(|outcome| outcome.get("object").is_some())
                    .count();
                let crashed: Vec<&Value> = outcomes
                    .iter()
                    .filter(|outcome| outcome.get("allowed").is_none())
                    .collect();
                assert!(crashed.is_empty(), "{crashed:?}");
            }
        }
    }
    assert!(refused.len() < 15, "{}", refused.join("\n"));
    assert!(
        denied * 20 > all && denied * 10 < all * 9,
        "{denied} of {all} are denied"
    );
    assert!(mutated * 40 > all, "{mutated} of {all} are mutated");
}

#[test]
fn smaller_worlds_are_smaller() {
    let mut dice = RandomDice::new(2);
    let world = world::world(&mut dice, 1, &ComparedRelease::default());
    let size = |world: &world::PolicyWorld| serde_json::to_string(world).map_or(0, |text| text.len());
    let candidates = smaller(&world);
    assert!(candidates.len() > 20);
    for candidate in candidates {
        assert!(size(&candidate) < size(&world));
    }
}
