//! Random answers of webhooks.

use pratique_harness::{RandomDice, with};
use pratique_json::base64;
use serde_json::{Value, json};

use super::patches;
use crate::sketch::OF_POLICIES;

/// The answer of a webhook.
#[derive(Clone, Debug)]
pub(super) struct WebhookAnswer {
    /// The AdmissionReview; its response gets the patch.
    pub(super) review: Value,
    /// The patch before it is encoded.
    pub(super) patch: Option<String>,
    /// A damaged body, which replaces the review.
    pub(super) damaged: Option<String>,
}

impl WebhookAnswer {
    /// Generates an answer to a request with an object, mostly in the requested version; `patches_often` is the percentage of
    /// answers with a patch.
    pub(super) fn random(dice: &mut RandomDice, object: &Value, beta: bool, patches_often: usize) -> Self {
        let patch = dice.chance(patches_often).then(|| patches::patch(dice, object));
        let of_type = (patch.is_some() && !dice.chance(2)).then(|| ("patchType", json!("JSONPatch")));
        let response = with(OF_POLICIES.draw("response", dice), of_type);
        let response = with(response, [("uid", json!("$UID"))]);
        let version = match (beta, dice.chance(3)) {
            (true, false) | (false, true) => "admission.k8s.io/v1beta1",
            _ => "admission.k8s.io/v1",
        };
        let mut review = json!({"apiVersion": version, "kind": "AdmissionReview", "response": response});
        if dice.chance(3) {
            odd(dice, &mut review);
        }
        let mut answer = WebhookAnswer {
            review,
            patch,
            damaged: None,
        };
        if dice.chance(2) {
            answer.damaged = Some(patches::broken(&answer.body(), dice));
        }
        answer
    }

    /// The body of the answer.
    pub(super) fn body(&self) -> String {
        if let Some(damaged) = &self.damaged {
            return damaged.clone();
        }
        let mut review = self.review.clone();
        if let (Some(patch), Some(response)) = (
            &self.patch,
            review.get_mut("response").and_then(Value::as_object_mut),
        ) {
            response
                .entry("patch")
                .or_insert_with(|| json!(base64::encode(patch.as_bytes())));
        }
        review.to_string()
    }
}

/// Removes or replaces one member of a review.
fn odd(dice: &mut RandomDice, review: &mut Value) {
    let path = OF_POLICIES.word("member of reviews", dice);
    let value = OF_POLICIES.draw("any", dice);
    if let Some((parent, name)) = path.rsplit_once('/')
        && let Some(members) = review.pointer_mut(parent).and_then(Value::as_object_mut)
    {
        if dice.chance(30) {
            members.remove(name)
        } else {
            members.insert(name.to_owned(), value)
        };
    }
}
