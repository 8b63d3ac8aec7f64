//! Decodes rows: variants of a test.

use pratique_json::Value;
use pratique_manifest::{Location, NodeId, Rule};

use super::Reader;
use crate::substitute::{Path, merge};
use crate::suite::{Ask, Case, Written};

impl Reader<'_> {
    /// The case of a row; `None` if it has a problem.
    pub(super) fn row(&mut self, test: &Case, id: NodeId) -> Option<Case> {
        let fields = self.fields(id);
        if !self.affords(&test.ask, id) {
            return None;
        }
        let mut ask = test.ask.clone();
        if let Some(id) = fields.node("merge") {
            let patches = self.fields(id);
            for (name, target) in [("object", &mut ask.object), ("oldObject", &mut ask.old_object)] {
                if let Some(patch) = patches.value(name) {
                    merge(target.get_or_insert_default(), patch);
                }
            }
        }
        self.remove(&mut ask, &fields.list("remove"))?;
        self.set(&mut ask, fields.node("set"))?;
        let expectation = fields.node("expect");
        let surroundings = self.surroundings(&fields);
        ask.operation = fields.operation().or(ask.operation);
        ask.subresource = fields.text("subresource").or(ask.subresource);
        ask.namespace = fields.text("namespace").or(ask.namespace);
        ask.user = fields.node("user").map(|id| self.user(id)).or(ask.user);
        ask.dry_run = fields.bool("dryRun").unwrap_or(ask.dry_run);
        ask.surroundings.objects.extend(surroundings.objects);
        if let Some(mut rules) = surroundings.rules {
            // The rules of the row come first.
            rules.extend(ask.surroundings.rules.take().unwrap_or_default());
            ask.surroundings.rules = Some(rules);
        }
        Some(Case {
            name: format!("{} / {}", test.name, fields.text("name").unwrap_or_default()),
            location: self.name_location(id),
            expected: match expectation {
                Some(expect) => self.expected(expect),
                None => test.expected.clone(),
            },
            ask,
            written: Written {
                node: id,
                expect: expectation,
            },
        })
    }

    fn remove(&mut self, ask: &mut Ask, paths: &[NodeId]) -> Option<()> {
        for id in paths {
            let text = self.fields(*id).own_text().unwrap_or_default();
            let place = self.location(*id);
            let (path, target) = self.path(ask, &text, place)?;
            path.remove(target);
        }
        Some(())
    }

    fn set(&mut self, ask: &mut Ask, set: Option<NodeId>) -> Option<()> {
        let Some(set) = set else {
            return Some(());
        };
        let tree = self.source.tree();
        let pratique_manifest::Value::Map(entries) = &tree.get(set).value else {
            return Some(());
        };
        for entry in entries {
            let value = self.fields(entry.value).value_of();
            let place = self.source.document().location(entry.key_span);
            let (path, target) = self.path(ask, &entry.key, place.clone())?;
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
        ask: &'v mut Ask,
        text: &str,
        at: Location,
    ) -> Option<(Path, &'v mut Value<'static>)> {
        match Path::parse(text) {
            Ok((root, path)) if root == "object" => Some((path, ask.object.get_or_insert_default())),
            Ok((root, path)) if root == "oldObject" => Some((path, ask.old_object.get_or_insert_default())),
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
