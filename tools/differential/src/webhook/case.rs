//! A request, and the answers of webhooks.

use std::collections::BTreeMap;

use pratique_harness::RandomDice;
use serde_json::{Value, json};

use super::answers::WebhookAnswer;
use super::configurations::{configurations, namespaces, set_clients};
use crate::policy::kinds::{KINDS, POD};
use crate::policy::requests::plain;

/// A request, and the answers of the webhooks of a configuration.
#[derive(Clone, Debug)]
pub(crate) struct WebhookCase {
    /// The index of the configuration.
    pub(super) configuration: usize,
    /// The request.
    pub(super) request: Value,
    /// Answers of webhooks, by path.
    pub(super) answers: BTreeMap<String, WebhookAnswer>,
}

/// Whether the webhooks want the v1beta1 version of reviews.
fn is_beta(configuration: &Value) -> bool {
    configuration.pointer("/webhooks/0/admissionReviewVersions/0") == Some(&json!("v1beta1"))
}

impl WebhookCase {
    /// Generates a random case.
    pub(super) fn random(dice: &mut RandomDice) -> Self {
        let kind = *dice.pick(KINDS).unwrap_or(&POD);
        let request = plain(dice, kind);
        let object = request.get("object").cloned().unwrap_or_default();
        let configuration = dice.below(configurations().len());
        let beta = configurations().get(configuration).is_some_and(is_beta);
        let usual = [("/first", 92), ("/second", 40)];
        // Objects of deletions cannot be patched.
        let often = |often| if object.is_null() { often / 10 } else { often };
        let answers = usual.map(|(path, often_patched)| {
            (
                path.to_owned(),
                WebhookAnswer::random(dice, &object, beta, often(often_patched)),
            )
        });
        WebhookCase {
            configuration,
            request,
            answers: answers.into(),
        }
    }

    /// The case in the form that the reference reads; it answers `times` times.
    pub(super) fn question(&self, times: usize) -> Value {
        let answers: BTreeMap<&String, String> = self
            .answers
            .iter()
            .map(|(path, answer)| (path, answer.body()))
            .collect();
        json!({"configuration": self.configuration, "request": self.request, "answers": answers, "times": times})
    }

    /// The patches, before they are encoded.
    pub(super) fn patches(&self) -> Vec<&str> {
        self.answers
            .values()
            .filter_map(|answer| answer.patch.as_deref())
            .collect()
    }

    /// The case in the form of conformance suites.
    pub(super) fn conformance(&self, expect: &Value) -> Value {
        let mut configuration = configurations()
            .get(self.configuration)
            .cloned()
            .unwrap_or_default();
        set_clients(
            &mut configuration,
            |path| json!({"url": format!("$BACKEND{path}"), "caBundle": "$CA"}),
        );
        let backends = self
            .answers
            .iter()
            .map(|(path, answer)| (path.clone(), json!({"body": answer.body()})));
        json!({
            "name": "differential/",
            "configurations": [configuration],
            "backends": backends.collect::<serde_json::Map<_, _>>(),
            "objects": namespaces(),
            "typed": self.request.pointer("/kind/group") != Some(&json!("example.com")),
            "request": self.request,
            "expect": expect,
        })
    }
}
