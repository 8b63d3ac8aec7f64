//! The generator and our side, without the reference.

use pratique_harness::RandomDice;
use pratique_schema::Release;

use super::case::WebhookCase;
use super::ours::CompiledWebhooks;

#[test]
fn cases_are_of_use_and_nothing_makes_us_panic() {
    let mut dice = RandomDice::new(1);
    let ours = CompiledWebhooks::new(Release::latest()).unwrap();
    let (mut changed, mut denied) = (0, 0);
    for _ in 0..400 {
        let case = WebhookCase::random(&mut dice);
        let outcome = ours.outcome(&case);
        assert!(outcome.get("allowed").is_some(), "{outcome} {:?}", case.patches());
        changed += usize::from(outcome.get("object").is_some());
        denied += usize::from(outcome["allowed"] == false);
    }
    assert!(changed > 30 && denied > 60, "{changed} changed, {denied} denied");
}
