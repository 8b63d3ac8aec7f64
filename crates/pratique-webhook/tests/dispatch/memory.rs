//! What calls may hold in memory, and what becomes of requests whose webhooks take more.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pratique_cel::{MemoryBudget, MemoryLimit};
use pratique_match::Equivalents;
use pratique_webhook::{AdmissionPhase, Origin, Reinvocation, WebhookObserver, mutate, validate};
use serde_json::{Value, json};

use crate::scene::{Player, allows, context, hook, mutating, request, validating};

/// What is left, and the least that ever was.
#[derive(Debug)]
struct Left {
    left: AtomicUsize,
    least: AtomicUsize,
}

const ALL: usize = 64 << 20;

impl MemoryBudget for Left {
    fn take(&self, bytes: usize) -> bool {
        let take = |left: usize| left.checked_sub(bytes);
        let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        self.least
            .fetch_min(self.left.load(Ordering::Relaxed), Ordering::Relaxed);
        taken.is_ok()
    }

    fn give_back(&self, bytes: usize) {
        self.left.fetch_add(bytes, Ordering::Relaxed);
    }
}

fn left(bytes: usize) -> Arc<Left> {
    Arc::new(Left {
        left: bytes.into(),
        least: bytes.into(),
    })
}

/// The code with which a request is refused whose webhook answers so, whatever its failure policy says; 200 if it is not.
async fn code(does: AdmissionPhase, response: &Value, memory: &MemoryLimit) -> i32 {
    let mut codes = Vec::new();
    for policy in ["Fail", "Ignore"] {
        let player = Player::default().plays("a", response.clone());
        let hook = hook("a", json!({"failurePolicy": policy}));
        let (request, equivalents) = (request(), Equivalents::new());
        let context = context(&equivalents).with_memory(memory);
        let status = match does {
            AdmissionPhase::Mutating => {
                let hooks = mutating(Origin::Api, &[("m", vec![hook])]);
                let mut turns = Reinvocation::default();
                let mutated = mutate(&[&hooks], &request, &context, &mut turns, &player, &mut ()).await;
                mutated.unwrap().status
            }
            AdmissionPhase::Validating => {
                let hooks = validating(vec![hook]);
                let verdict = validate(&[&hooks], &request, &context, &player, &mut ()).await;
                verdict.unwrap().status
            }
        };
        codes.push(status.map_or(200, |status| status.code));
    }
    assert_eq!(codes[0], codes[1]);
    codes[0]
}

/// The codes where it mutates, and where it validates.
async fn codes(response: &Value, memory: &MemoryLimit) -> [i32; 2] {
    let mutating = code(AdmissionPhase::Mutating, response, memory).await;
    [mutating, code(AdmissionPhase::Validating, response, memory).await]
}

#[tokio::test]
async fn answers_are_part_of_what_a_request_may_hold() {
    let limit = |bytes| MemoryLimit::new(bytes).with_budget(left(ALL));
    let long = json!({"allowed": true, "warnings": ["x".repeat(1 << 20)]});
    assert_eq!(codes(&long, &limit(16 << 20)).await, [200, 200]);
    assert_eq!(codes(&long, &limit(1 << 20)).await, [413, 413]);
    // Of few bytes, and many values.
    let dense = json!({"allowed": true, "more": vec![json!([]); 100_000]});
    assert_eq!(codes(&dense, &limit(32 << 20)).await, [200, 200]);
    assert_eq!(codes(&dense, &limit(4 << 20)).await, [413, 413]);
    let nothing = MemoryLimit::default().with_budget(left(1 << 10));
    assert_eq!(codes(&allows(), &nothing).await, [429, 429]);
}

#[tokio::test]
async fn patches_are_part_of_it() {
    let add = json!([{"op": "add", "path": "/spec/a", "value": vec![json!({}); 100_000]}]);
    let patch = pratique_json::base64::encode(add.to_string().as_bytes());
    let patch = json!({"allowed": true, "patchType": "JSONPatch", "patch": patch});
    assert_eq!(
        code(AdmissionPhase::Mutating, &patch, &MemoryLimit::new(128 << 20)).await,
        200
    );
    assert_eq!(
        code(AdmissionPhase::Mutating, &patch, &MemoryLimit::new(16 << 20)).await,
        413
    );
    // Each operation doubles the object.
    let copies: Vec<Value> = (0..12)
        .map(|at| json!({"op": "copy", "from": "/spec", "path": format!("/spec/s{at}")}))
        .collect();
    let patch = pratique_json::base64::encode(json!(copies).to_string().as_bytes());
    let patch = json!({"allowed": true, "patchType": "JSONPatch", "patch": patch});
    assert_eq!(
        code(AdmissionPhase::Mutating, &patch, &MemoryLimit::new(64 << 20)).await,
        200
    );
    assert_eq!(
        code(AdmissionPhase::Mutating, &patch, &MemoryLimit::new(1 << 20)).await,
        413
    );
}

/// Notes what is left while calls are told of.
struct Watching(Arc<Left>, usize);

impl WebhookObserver for Watching {
    fn called(&mut self, called: &pratique_webhook::EndedCall<'_>) {
        let held = ALL - self.0.left.load(Ordering::Relaxed);
        assert!(held >= called.review.len() + called.answer.len(), "{held}");
        self.1 += 1;
    }
}

#[tokio::test]
async fn what_is_held_is_given_back() {
    let left = left(ALL);
    let memory = MemoryLimit::new(ALL).with_budget(left.clone());
    let (mut request, equivalents) = (request(), Equivalents::new());
    let padding = pratique_json::Value::from("x".repeat(1 << 20));
    if let pratique_json::Value::Object(object) = &mut request.object {
        object.insert("padding", padding);
    }
    let context = context(&equivalents).with_memory(&memory);
    let hooks = ["a", "b", "c", "d"];
    let player = hooks.iter().fold(Player::default(), |player, path| {
        player.plays_after(path, allows(), 50)
    });
    let hooks = validating(hooks.map(|path| hook(path, json!({}))).to_vec());
    let mut watching = Watching(left.clone(), 0);
    let verdict = validate(&[&hooks], &request, &context, &player, &mut watching).await;
    assert!(verdict.unwrap().allowed() && watching.1 == 4);
    let most = ALL - left.least.load(Ordering::Relaxed);
    assert!(
        most > 5 << 20,
        "four reviews at once, and what they are made of: {most}"
    );
    assert_eq!(left.left.load(Ordering::Relaxed), ALL);
}
