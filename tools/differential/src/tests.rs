//! The generator and our side, without the reference.

use pratique_harness::RandomDice;
use pratique_schema::Release;

use super::area::ComparedArea as _;
use super::generate::GenerationManner;
use super::ours::CompiledWorld;
use super::release::ReleaseArguments;
use super::{CelRun, RunSpan, cel::CelArea, world};

#[test]
fn nothing_makes_us_panic() {
    let mut dice = RandomDice::new(1);
    let cel = CelArea::new(&CelRun {
        span: RunSpan {
            seconds: 0,
            seed: None,
            release: ReleaseArguments::default(),
        },
        batch: 100,
        regex: false,
    })
    .unwrap();
    for _ in 0..6 {
        let round = cel.random(&mut dice);
        for (expression, outcome) in round.expressions.iter().zip(cel.ours(&round).unwrap()) {
            assert!(outcome.get("crash").is_none(), "{}", expression.source);
        }
    }
}

#[test]
fn sound_expressions_are_mostly_well_typed() {
    let mut dice = RandomDice::new(1);
    let mut refused = Vec::new();
    for _ in 0..8 {
        let (world, mut generator) = world::world(&mut dice, GenerationManner { sound: true });
        let ours = CompiledWorld::new(&world, Release::latest());
        for _ in 0..50 {
            let source = generator.expression(&mut dice).1.plain();
            let outcome = ours.outcome(&source);
            if !outcome.compile.is_empty() {
                refused.push(outcome.compile);
            }
        }
    }
    // Of what is in an empty literal the checker does not know the type, so that a few are not.
    assert!(refused.len() < 20, "{}", refused.join("\n"));
}
