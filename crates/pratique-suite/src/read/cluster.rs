//! Decodes cluster state: objects and authorizer rules.

use pratique::plugins::StateKind;
use pratique_gotext::suggest::{did_you_mean, nearest};
use pratique_manifest::Rule;

use super::Fields;
use super::SuiteDecoder;
use crate::suite::{ClusterState, CompleteKinds};
use pratique_state::Rule as AuthorizerRule;
use pratique_state::StoredState;
use pratique_state::snapshot::SnapshotIndex;

impl<'a> SuiteDecoder<'a> {
    /// Decodes the field `cluster`, if there is one.
    pub(super) fn cluster(&mut self, fields: &Fields<'a>) -> ClusterState {
        let Some(id) = fields.node("cluster") else {
            return ClusterState::default();
        };
        let fields = self.fields(id);
        let namespaces = fields.map("namespaces", |labels| labels.value_of());
        let namespaces = namespaces
            .into_iter()
            .map(|(name, labels)| pratique_state::cluster::namespace(&name, labels));
        let mut objects: Vec<_> = namespaces.collect();
        let mut snapshots = Vec::new();
        for id in fields.list("objects") {
            match self.fields(id).as_text() {
                Some(path) => {
                    let file_objects = self.file(&path, id).unwrap_or_default();
                    let (indexes, stored_objects): (Vec<_>, Vec<_>) =
                        file_objects.into_iter().partition(SnapshotIndex::is_index);
                    for index in &indexes {
                        match StoredState::new(index, &stored_objects) {
                            Ok(state) => snapshots.push(state),
                            Err(error) => {
                                self.fault(Rule::InvalidField, format!("{path}: {error}"), id);
                            }
                        }
                    }
                    objects.extend(stored_objects);
                }
                None => objects.extend(self.fields(id).objects_of()),
            }
        }
        let has_rules = fields.node("authorizer").is_some();
        let rules = fields.list("authorizer").into_iter();
        let rules = rules
            .map(|id| AuthorizerRule::from_fields(&self.fields(id)))
            .collect();
        ClusterState {
            objects,
            rules: has_rules.then_some(rules),
            complete: self.complete_kinds(&fields),
            snapshots,
        }
    }

    /// The kinds of which there are no other objects.
    fn complete_kinds(&mut self, fields: &Fields<'a>) -> CompleteKinds {
        let Some(id) = fields.node("complete") else {
            return CompleteKinds::default();
        };
        self.needs_chain.push((id, "complete"));
        let mut complete = CompleteKinds {
            all: fields.bool("complete").unwrap_or_default(),
            kinds: Vec::new(),
        };
        for id in fields.list("complete") {
            let name = self.fields(id).as_text().unwrap_or_default();
            match StateKind::ALL.iter().find(|kind| kind.to_string() == name) {
                Some(kind) => complete.kinds.push(*kind),
                None => {
                    let names: Vec<String> = StateKind::ALL.iter().map(StateKind::to_string).collect();
                    let meant = nearest(&name, names.iter().map(String::as_str)).map(did_you_mean);
                    let meant = meant.map(|meant| format!(": {meant}")).unwrap_or_default();
                    let message = format!("no admission plugin looks up objects of the kind {name:?}{meant}");
                    self.fault(Rule::InvalidField, message, id);
                }
            }
        }
        complete
    }
}
