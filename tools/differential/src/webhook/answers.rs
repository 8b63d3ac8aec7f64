//! What webhooks answer.

use pratique_harness::Dice;
use pratique_json::base64;
use serde_json::{Map, Value, json};

use super::patches;
use crate::policy::objects::{any, maybe, text};

/// What a webhook says.
#[derive(Clone, Debug)]
pub(super) struct Said {
    /// The AdmissionReview; its response gets the patch.
    pub(super) review: Value,
    /// The patch before it is encoded.
    pub(super) patch: Option<String>,
    /// What the body is instead of that review: damaged.
    pub(super) damaged: Option<String>,
}

impl Said {
    /// Anything, to a request with an object, mostly in the version that was asked for, with a patch so often in a
    /// hundred times.
    pub(super) fn random(dice: &mut Dice, object: &Value, beta: bool, patches_often: usize) -> Self {
        let mut response = Map::new();
        response.insert("uid".to_owned(), json!("$UID"));
        response.insert("allowed".to_owned(), json!(!dice.chance(4)));
        let patch = dice.chance(patches_often).then(|| patches::patch(dice, object));
        if patch.is_some() && !dice.chance(2) {
            response.insert("patchType".to_owned(), json!("JSONPatch"));
        }
        maybe(dice, 6, &mut response, "warnings", |dice| {
            json!([text(dice), "careful"])
        });
        maybe(
            dice,
            6,
            &mut response,
            "auditAnnotations",
            |dice| json!({"k": text(dice), "": "x", "a/b": "c"}),
        );
        maybe(
            dice,
            6,
            &mut response,
            "status",
            |dice| json!({"code": dice.below(600), "message": text(dice), "reason": "Conflict"}),
        );
        let version = match (beta, dice.chance(3)) {
            (true, false) | (false, true) => "admission.k8s.io/v1beta1",
            _ => "admission.k8s.io/v1",
        };
        let mut review = json!({"apiVersion": version, "kind": "AdmissionReview", "response": response});
        if dice.chance(3) {
            odd(dice, &mut review);
        }
        let mut said = Said {
            review,
            patch,
            damaged: None,
        };
        if dice.chance(2) {
            said.damaged = Some(patches::broken(&said.body(), dice));
        }
        said
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

/// One member of a review that is not as it should be.
fn odd(dice: &mut Dice, review: &mut Value) {
    const MEMBERS: &[&str] = &[
        "/apiVersion",
        "/kind",
        "/response",
        "/response/uid",
        "/response/allowed",
        "/response/patchType",
        "/response/warnings",
        "/response/status",
        "/response/auditAnnotations",
    ];
    let path = dice.pick(MEMBERS).copied().unwrap_or("/kind");
    let value = any(dice);
    if let Some((parent, name)) = path.rsplit_once('/')
        && let Some(members) = review.pointer_mut(parent).and_then(Value::as_object_mut)
    {
        match dice.chance(30) {
            true => members.remove(name),
            false => members.insert(name.to_owned(), value),
        };
    }
}
