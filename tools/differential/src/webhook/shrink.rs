//! Makes a difference small: without operations, members of the object, parts of the patch's text.

use std::time::{Duration, Instant};

use pratique_harness::Error;
use serde_json::{Value, json};

use super::case::Case;
use super::known;
use super::ours::Ours;
use super::patches::operations;
use super::reference::Reference;
use crate::policy::outcome::{Kind, differs};
use crate::tree::shorter;

/// A case on which the two sides differ.
#[derive(Clone, Debug)]
pub(super) struct Difference {
    /// The case.
    pub(super) case: Case,
    /// In what.
    pub(super) kind: Kind,
    /// Our outcome.
    pub(super) ours: Value,
    /// The reference's.
    pub(super) theirs: Value,
}

/// How many candidates are tried at once.
const AT_ONCE: usize = 32;

/// How often the reference is asked, so that what it leaves to chance shows.
const TIMES: usize = 128;

/// How long a difference is made small, at most.
const LONGEST: Duration = Duration::from_secs(60);

/// The smallest case that still differs in the same way; none if it does not differ when asked again and again.
pub(super) fn shrunk(
    reference: &mut Reference,
    ours: &Ours,
    case: Case,
) -> Result<Option<Difference>, Error> {
    let Some(mut best) = sure(reference, ours, case)? else {
        return Ok(None);
    };
    let end = Instant::now() + LONGEST;
    'again: while Instant::now() < end {
        for candidates in smaller(&best.case).chunks(AT_ONCE) {
            for case in candidates {
                reference.ask(case, 1)?;
            }
            let mut likely = Vec::new();
            for case in candidates {
                let theirs = reference.answer()?;
                let outcome = ours.outcome(case);
                if theirs
                    .first()
                    .is_some_and(|theirs| best.is_like(case, &outcome, theirs))
                {
                    likely.push(case);
                }
            }
            for case in likely {
                let found = sure(reference, ours, case.clone())?;
                if let Some(found) = found.filter(|found| best.is_like(case, &found.ours, &found.theirs)) {
                    best = found;
                    continue 'again;
                }
            }
        }
        break;
    }
    Ok(Some(best))
}

fn sure(reference: &mut Reference, ours: &Ours, case: Case) -> Result<Option<Difference>, Error> {
    reference.ask(&case, TIMES)?;
    let theirs = reference.answer()?;
    let outcome = ours.outcome(&case);
    let Ok([theirs]) = <[Value; 1]>::try_from(theirs) else {
        return Ok(None);
    };
    let kind = differs(&outcome, &theirs).filter(|_| !known::is_known(&case, &outcome, &theirs));
    Ok(kind.map(|kind| Difference {
        case,
        kind,
        ours: outcome,
        theirs,
    }))
}

impl Difference {
    fn is_like(&self, case: &Case, ours: &Value, theirs: &Value) -> bool {
        let traits = |outcome: &Value| {
            (
                outcome.get("allowed").cloned(),
                outcome.pointer("/status/code").cloned(),
            )
        };
        differs(ours, theirs) == Some(self.kind)
            && !known::is_known(case, ours, theirs)
            && traits(ours) == traits(&self.ours)
            && traits(theirs) == traits(&self.theirs)
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
