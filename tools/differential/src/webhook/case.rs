//! A request, and what webhooks say to it.

use std::collections::BTreeMap;

use pratique_harness::Dice;
use serde_json::{Value, json};

use super::answers::Said;
use super::configurations::{configurations, namespaces, set_clients};
use crate::policy::kinds::{KINDS, POD};
use crate::policy::requests::plain;

/// A request, and what the webhooks of a configuration say to it.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// Which of the configurations it meets.
    pub(super) configuration: usize,
    /// The request.
    pub(super) request: Value,
    /// What webhooks say, by path.
    pub(super) said: BTreeMap<String, Said>,
}

/// Whether webhooks ask for the old version of reviews.
fn is_beta(configuration: &Value) -> bool {
    configuration.pointer("/webhooks/0/admissionReviewVersions/0") == Some(&json!("v1beta1"))
}

impl Case {
    /// Any case.
    pub(super) fn random(dice: &mut Dice) -> Self {
        let kind = *dice.pick(KINDS).unwrap_or(&POD);
        let request = plain(dice, kind);
        let object = request.get("object").cloned().unwrap_or_default();
        let configuration = dice.below(configurations().len());
        let beta = configurations().get(configuration).is_some_and(is_beta);
        let said = [("/first", 92), ("/second", 40)];
        // What is deleted cannot be patched.
        let often = |often| if object.is_null() { often / 10 } else { often };
        let said =
            said.map(|(path, usual)| (path.to_owned(), Said::random(dice, &object, beta, often(usual))));
        Case {
            configuration,
            request,
            said: said.into(),
        }
    }

    /// The question about it, asked so many times.
    pub(super) fn question(&self, times: usize) -> Value {
        let answers: BTreeMap<&String, String> =
            self.said.iter().map(|(path, said)| (path, said.body())).collect();
        json!({"configuration": self.configuration, "request": self.request, "answers": answers, "times": times})
    }

    /// The patches, as they are written.
    pub(super) fn patches(&self) -> Vec<&str> {
        self.said
            .values()
            .filter_map(|said| said.patch.as_deref())
            .collect()
    }

    /// As conformance suites have it.
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
            .said
            .iter()
            .map(|(path, said)| (path.clone(), json!({"body": said.body()})));
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
