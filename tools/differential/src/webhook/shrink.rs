//! What a difference of webhooks is made small by: without operations, members of the object, parts of the patch's text.

use pratique_harness::Error;
use serde_json::{Value, json};

use super::case::Case;
use super::known;
use super::ours::Ours;
use super::patches::operations;
use super::reference::Reference;
use crate::outcomes::Subject;
use crate::tree::shorter;

/// Both sides.
pub(super) struct Sides<'s> {
    pub(super) reference: &'s mut Reference,
    pub(super) ours: &'s Ours,
}

impl Subject for Sides<'_> {
    type Case = Case;

    fn ask(&mut self, case: &Case, times: usize) -> Result<(), Error> {
        self.reference.ask(case, times)
    }

    fn theirs(&mut self) -> Result<Vec<Value>, Error> {
        self.reference.answer()
    }

    fn ours(&self, case: &Case) -> Option<Value> {
        Some(self.ours.outcome(case))
    }

    fn is_known(&self, case: &Case, ours: &Value, theirs: &Value) -> bool {
        known::is_known(case, ours, theirs)
    }

    fn smaller(&self, case: &Case) -> Vec<Case> {
        smaller(case)
    }
}

/// The same case without one of the things in it; large things come first.
fn smaller(case: &Case) -> Vec<Case> {
    let mut found = Vec::new();
    for (path, said) in &case.said {
        let mut with = |change: &dyn Fn(&mut super::answers::Said)| {
            let mut smaller = case.clone();
            if let Some(place) = smaller.said.get_mut(path) {
                change(place);
            }
            found.push(smaller);
        };
        if said.damaged.is_some() || said.patch.is_some() {
            with(&|said| {
                said.damaged = None;
                said.patch = None;
                if let Some(review) = said.review.as_object_mut() {
                    review.insert("response".to_owned(), json!({"uid": "$UID", "allowed": true}));
                }
            });
        }
        if let Some(damaged) = &said.damaged {
            for shorter in shorter(damaged) {
                with(&|said| said.damaged = Some(shorter.clone()));
            }
            continue;
        }
        let Some(patch) = &said.patch else { continue };
        let operations = operations(patch).unwrap_or_default();
        for index in 0..operations.len() {
            let mut fewer = operations.clone();
            fewer.remove(index);
            let fewer = Value::Array(fewer).to_string();
            if fewer.len() < patch.len() {
                with(&|said| said.patch = Some(fewer.clone()));
            }
        }
        for shorter in shorter(patch) {
            with(&|said| said.patch = Some(shorter.clone()));
        }
    }
    for name in [
        "object",
        "oldObject",
        "userInfo",
        "options",
        "dryRun",
        "subResource",
    ] {
        let Some(value) = case.request.get(name) else {
            continue;
        };
        let mut replaced = Vec::new();
        if name != "object" && name != "userInfo" {
            replaced.push(None);
        }
        replaced.extend(without_one(value, 0).into_iter().map(Some));
        for value in replaced {
            let mut smaller = case.clone();
            if let Some(members) = smaller.request.as_object_mut() {
                match value {
                    None => members.remove(name),
                    Some(value) => members.insert(name.to_owned(), value),
                };
            }
            found.push(smaller);
        }
    }
    found
}

/// A value without one of the members in it.
fn without_one(value: &Value, depth: usize) -> Vec<Value> {
    let mut found = Vec::new();
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if depth > 0 || !["apiVersion", "kind"].contains(&name.as_str()) {
                    let mut fewer = members.clone();
                    fewer.remove(name);
                    found.push(Value::Object(fewer));
                }
                for replacement in without_one(member, depth + 1) {
                    let mut smaller = members.clone();
                    smaller.insert(name.clone(), replacement);
                    found.push(Value::Object(smaller));
                }
            }
        }
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                let mut fewer = elements.clone();
                fewer.remove(index);
                found.push(Value::Array(fewer));
                for replacement in without_one(element, depth + 1) {
                    let mut smaller = elements.clone();
                    if let Some(place) = smaller.get_mut(index) {
                        *place = replacement;
                    }
                    found.push(Value::Array(smaller));
                }
            }
        }
        _ => {}
    }
    found
}
