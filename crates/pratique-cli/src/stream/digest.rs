//! A digest of all that decisions depend on besides the inputs: runs with the same digest decide alike.

use pratique_gotext::hex::encode_to_string;
use pratique_json::Value;
use pratique_manifest::SourcedObject;
use pratique_report::ReportRun;
use pratique_state::Rules;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::arguments::StateArguments;
use crate::policies::OriginSets;

/// A digest of policies, arguments and the state of the cluster.
pub(crate) struct RunDigest {
    hash: Sha256,
    /// The number of policies.
    policies: u64,
}

impl RunDigest {
    /// The digest of the arguments that decisions depend on; `others` are those of the command alone.
    pub(crate) fn new(state: &StateArguments, others: &str) -> Self {
        let mut digest = RunDigest {
            hash: Sha256::new(),
            policies: 0,
        };
        let StateArguments {
            objects_complete,
            snapshot,
            client,
            authorizer: _,
            bind,
            gates,
            objects: _,
            max_input: _,
            none,
        } = state;
        digest.text_part(others);
        digest.text_part(&format!(
            "{objects_complete} {snapshot:?} {client:?} {bind} {gates:?}"
        ));
        if !none.is_empty() {
            digest.text_part(&format!("{none:?}"));
        }
        digest
    }

    /// Adds policies with their bindings.
    pub(crate) fn add_policies(&mut self, sets: &OriginSets) {
        self.text_part(&format!("{} sets", sets.len()));
        for (origin, set) in sets {
            self.text_part(&format!("{origin:?}"));
            let policies = set.validating_policies.len() + set.mutating_policies.len();
            self.policies += u64::try_from(policies).unwrap_or(u64::MAX);
            let validating = jsons(&set.validating_policies).chain(jsons(&set.validating_bindings));
            let mutating = jsons(&set.mutating_policies).chain(jsons(&set.mutating_bindings));
            validating.chain(mutating).for_each(|text| self.text_part(&text));
        }
    }

    /// Adds the rules of an authorizer, as they were read: a pipe could not be read again.
    pub(crate) fn add_rules(&mut self, rules: &Rules) {
        self.text_part(&format!("{rules:?}"));
    }

    /// Adds objects of the cluster.
    pub(crate) fn add_objects<'o>(&mut self, objects: impl Iterator<Item = &'o Value<'static>>) {
        objects.for_each(|object| self.text_part(&object.to_string()));
    }

    /// The description of a run of a command over inputs for its report, all of which have requests of one operation, if any is named;
    /// `can_deny` is whether a policy can deny one.
    pub(crate) fn run(
        self,
        command: &str,
        inputs: Vec<String>,
        operation: &str,
        can_deny: bool,
    ) -> ReportRun {
        ReportRun {
            command: command.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            inputs,
            operation: operation.to_owned(),
            policies: format!("sha256:{}", encode_to_string(self.hash.finalize())),
            policy_count: self.policies,
            can_deny,
        }
    }

    /// Lengths separate the texts.
    fn text_part(&mut self, text: &str) {
        self.hash.update(text.len().to_le_bytes());
        self.hash.update(text.as_bytes());
    }
}

/// Objects as JSON.
fn jsons<T: Serialize>(loaded: &[SourcedObject<T>]) -> impl Iterator<Item = String> {
    // What cannot be written as JSON was not read from it.
    let text = |loaded: &SourcedObject<T>| serde_json::to_string(&*loaded.object).unwrap_or_default();
    loaded.iter().map(text)
}
