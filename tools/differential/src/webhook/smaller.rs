//! Smaller cases, each without one part: an operation, a member of the object, a piece of the patch's text.

use serde_json::{Value, json};

use super::answers::WebhookAnswer;
use super::case::WebhookCase;
use super::patches::operations;
use crate::shrink::{AllowedCuts, RemovablePart};
use crate::tree::shorter;

/// Variants of a case without one of its parts; large parts are removed first.
pub(super) fn smaller(case: &WebhookCase) -> Vec<WebhookCase> {
    let mut cases = Vec::new();
    for (path, answer) in &case.answers {
        let mut with = |change: &dyn Fn(&mut WebhookAnswer)| {
            let mut smaller = case.clone();
            if let Some(place) = smaller.answers.get_mut(path) {
                change(place);
            }
            cases.push(smaller);
        };
        if answer.damaged.is_some() || answer.patch.is_some() {
            with(&|answer| {
                answer.damaged = None;
                answer.patch = None;
                if let Some(review) = answer.review.as_object_mut() {
                    review.insert("response".to_owned(), json!({"uid": "$UID", "allowed": true}));
                }
            });
        }
        if let Some(damaged) = &answer.damaged {
            for shorter in shorter(damaged) {
                with(&|answer| answer.damaged = Some(shorter.clone()));
            }
            continue;
        }
        let Some(patch) = &answer.patch else { continue };
        let operations = operations(patch).unwrap_or_default();
        for index in 0..operations.len() {
            let mut fewer = operations.clone();
            fewer.remove(index);
            let fewer = Value::Array(fewer).to_string();
            if fewer.len() < patch.len() {
                with(&|answer| answer.patch = Some(fewer.clone()));
            }
        }
        for shorter in shorter(patch) {
            with(&|answer| answer.patch = Some(shorter.clone()));
        }
    }
    let cuts = AllowedCuts {
        may_go: &|path, part| {
            !path.is_empty() || !matches!(part, RemovablePart::Member("apiVersion" | "kind"))
        },
        texts: &|_, _| Vec::new(),
    };
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
        replaced.extend(
            cuts.list_cuts(value, &mut Vec::new())
                .into_iter()
                .map(|(_, value)| Some(value)),
        );
        for value in replaced {
            let mut smaller = case.clone();
            if let Some(members) = smaller.request.as_object_mut() {
                match value {
                    None => members.remove(name),
                    Some(value) => members.insert(name.to_owned(), value),
                };
            }
            cases.push(smaller);
        }
    }
    cases
}
