//! Decodes rows: variants of a test.

use pratique_json::Value;
use pratique_manifest::{Entry, Location, NodeId, Rule};

use super::SuiteDecoder;
use crate::substitute::{ObjectPath, merge};
use crate::suite::{Case, CaseNodes, TestInput};

impl SuiteDecoder<'_> {
    /// The case of a row; `None` if it has a problem.
    pub(super) fn row(&mut self, test: &Case, id: NodeId) -> Option<Case> {
        let fields = self.fields(id);
        if !self.affords(&test.input, id) {
            return None;
        }
        let mut input = test.input.clone();
        if let Some(id) = fields.node("merge") {
            let patches = self.fields(id);
            for (name, target) in [
                ("object", &mut input.object),
                ("oldObject", &mut input.old_object),
            ] {
                if let Some(patch) = patches.value(name) {
                    merge(target.get_or_insert_default(), patch);
                }
            }
        }
        self.remove(&mut input, &fields.list("remove"))?;
        self.set(&mut input, fields.entries("set"))?;
        let expectation = fields.node("expect");
        let cluster = self.cluster(&fields);
        input.operation = super::operation(&fields).or(input.operation);
        input.subresource = fields.read_text("subresource").or(input.subresource);
        input.namespace = fields.read_text("namespace").or(input.namespace);
        input.user = fields.node("user").map(|id| self.user(id)).or(input.user);
        input.dry_run = fields.bool("dryRun").unwrap_or(input.dry_run);
        input.cluster.extend(cluster);
        // What the row says of webhooks comes first.
        let of_test = std::mem::take(&mut input.webhooks);
        input.webhooks = self.webhooks(&fields).unwrap_or_default();
        input.webhooks.extend(of_test);
        Some(Case {
            name: format!("{} / {}", test.name, fields.read_text("name").unwrap_or_default()),
            location: self.name_location(id),
            expected: match expectation {
                Some(expect) => self.expected(expect),
                None => test.expected.clone(),
            },
            input,
            nodes: CaseNodes {
                node: id,
                expect: expectation,
                shared: test.nodes.shared,
            },
        })
    }

    fn remove(&mut self, input: &mut TestInput, paths: &[NodeId]) -> Option<()> {
        for id in paths {
            let text = self.fields(*id).as_text().unwrap_or_default();
            let place = self.location(*id);
            let (path, target) = self.path(input, &text, place)?;
            path.remove(target);
        }
        Some(())
    }

    fn set(&mut self, input: &mut TestInput, set: &[Entry]) -> Option<()> {
        for entry in set {
            let value = self.fields(entry.value).value_of();
            let place = self.source.document().location(entry.key_span);
            let (path, target) = self.path(input, &entry.key, place.clone())?;
            if let Err(why) = path.set(target, value) {
                self.fault_at(Rule::InvalidField, format!("{}: {why}", entry.key), place);
                return None;
            }
        }
        Some(())
    }

    /// Parses a path; gives it with its root object.
    fn path<'v>(
        &mut self,
        input: &'v mut TestInput,
        text: &str,
        at: Location,
    ) -> Option<(ObjectPath, &'v mut Value<'static>)> {
        match ObjectPath::parse(text) {
            Ok((root, path)) if root == "object" => Some((path, input.object.get_or_insert_default())),
            Ok((root, path)) if root == "oldObject" => Some((path, input.old_object.get_or_insert_default())),
            Ok(_) => {
                let message = format!("{text}: a path starts with object or oldObject");
                self.fault_at(Rule::InvalidField, message, at);
                None
            }
            Err(why) => {
                self.fault_at(Rule::InvalidField, format!("{text}: {why}"), at);
                None
            }
        }
    }
}
