//! The last decisions, for the page for people.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use pratique_json::base64;
use pratique_types::{AdmissionRequest, AdmissionResponse};
use serde::Deserialize;

use crate::reviewer::Reviewed;

/// How many are kept: many more than are shown at a time, so that there is something to filter.
const KEPT: usize = 1000;
/// How much of a text is kept, in characters.
const LONGEST: usize = 400;
/// How many warnings of a decision are kept.
const MOST_WARNINGS: usize = 10;
/// How long a patch may be to be kept, in bytes.
const LONGEST_PATCH: usize = 4 << 10;
/// What stands before the name of a policy or webhook in messages, and the quote that ends it.
const BEFORE_NAMES: [(&str, char); 5] = [
    ("Policy '", '\''),
    ("policy '", '\''),
    ("policy \"", '"'),
    ("webhook \"", '"'),
    // In the annotation that tells of failed validations.
    ("\"policy\":\"", '"'),
];
/// What ends the annotations' keys that are no policy's.
const NO_POLICY: &str = ".admission.k8s.io";

/// The last decisions.
#[derive(Debug, Default)]
pub(crate) struct Recent(Mutex<VecDeque<Decision>>);

/// A decision.
#[derive(Clone, Debug)]
pub(crate) struct Decision {
    pub(crate) at: SystemTime,
    pub(crate) path: &'static str,
    pub(crate) operation: &'static str,
    pub(crate) resource: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) user: String,
    pub(crate) allowed: bool,
    pub(crate) changed: bool,
    /// Why it was denied.
    pub(crate) why: String,
    pub(crate) warnings: Vec<String>,
    /// The policies and webhooks that the answer names, by name.
    pub(crate) policies: Vec<String>,
    pub(crate) elapsed: Duration,
    /// The patch as it was answered, if it is short.
    patch: Option<String>,
}

/// What a decision is, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    /// The request was refused.
    Denied,
    /// It was allowed, with warnings.
    Warned,
    /// It was allowed, and its object changed.
    Changed,
    /// It was allowed.
    Allowed,
}

impl Answered {
    pub(crate) const ALL: [Answered; 4] = [
        Answered::Denied,
        Answered::Warned,
        Answered::Changed,
        Answered::Allowed,
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Answered::Denied => "denied",
            Answered::Warned => "warned",
            Answered::Changed => "changed",
            Answered::Allowed => "allowed",
        }
    }
}

impl Decision {
    /// What it is; an object that was changed with warnings is both.
    pub(crate) fn is(&self, answered: Answered) -> bool {
        let warned = !self.warnings.is_empty();
        match answered {
            Answered::Denied => !self.allowed,
            Answered::Warned => self.allowed && warned,
            Answered::Changed => self.allowed && self.changed,
            Answered::Allowed => self.allowed && !warned && !self.changed,
        }
    }

    /// What the patch does where. It is read when somebody looks, not when it is answered.
    pub(crate) fn changes(&self) -> String {
        #[derive(Deserialize)]
        struct Operation {
            op: String,
            path: String,
        }
        let patch = self.patch.as_ref().and_then(|own| base64::decode(own).ok());
        let patch = patch.and_then(|own| serde_json::from_slice::<Vec<Operation>>(&own).ok());
        let lines = patch.unwrap_or_default().into_iter();
        let lines = lines.map(|own| format!("{} {}", own.op, own.path));
        cut(&lines.collect::<Vec<_>>().join(", "))
    }
}

impl Recent {
    pub(crate) fn add(
        &self,
        path: &'static str,
        request: &AdmissionRequest<'_>,
        Reviewed { response, mutated_by }: &Reviewed,
        (at, elapsed): (SystemTime, Duration),
    ) {
        let decision = Decision {
            at,
            path,
            operation: request.operation.as_str(),
            resource: cut(&resource(request)),
            namespace: cut(&request.namespace),
            name: cut(&request.name),
            user: cut(&request.user_info.username),
            allowed: response.allowed,
            changed: response.patch.is_some(),
            policies: policies(response, mutated_by),
            why: response
                .result
                .as_ref()
                .map(|status| cut(&status.message))
                .unwrap_or_default(),
            warnings: response
                .warnings
                .iter()
                .take(MOST_WARNINGS)
                .map(|own| cut(own))
                .collect(),
            elapsed,
            patch: response
                .patch
                .as_ref()
                .filter(|own| own.len() <= LONGEST_PATCH)
                .cloned(),
        };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.truncate(KEPT - 1);
        all.push_front(decision);
    }

    /// The newest first.
    pub(crate) fn all(&self) -> Vec<Decision> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .cloned()
            .collect()
    }
}

fn resource(request: &AdmissionRequest<'_>) -> String {
    let mut text = request.resource.resource.clone();
    for (mark, part) in [(".", &request.resource.group), ("/", &request.sub_resource)] {
        if !part.is_empty() {
            text.push_str(mark);
            text.push_str(part);
        }
    }
    text
}

/// The policies and webhooks that an answer names, and those that mutated the object, by name.
fn policies(response: &AdmissionResponse, mutated_by: &[String]) -> Vec<String> {
    let mut found: BTreeSet<&str> = mutated_by.iter().map(String::as_str).collect();
    let message = response.result.iter().map(|status| status.message.as_str());
    let texts = message.chain(response.warnings.iter().take(MOST_WARNINGS).map(String::as_str));
    texts.for_each(|text| names_in(text, &mut found));
    for (key, value) in &response.audit_annotations {
        match key.split_once('/') {
            Some((group, _)) if group.ends_with(NO_POLICY) => names_in(value, &mut found),
            Some((policy, _)) => drop(found.insert(policy)),
            None => {}
        }
    }
    found.into_iter().map(cut).collect()
}

/// Names of policies and webhooks in a message, as far as it would be shown.
fn names_in<'t>(text: &'t str, found: &mut BTreeSet<&'t str>) {
    for (before, end) in BEFORE_NAMES {
        let names = text.split(before).skip(1).take(MOST_WARNINGS);
        found.extend(names.filter_map(|rest| Some(rest.split_once(end)?.0)));
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_name_policies() {
        let check = |text: &str, expected: &[&str]| {
            let mut found = BTreeSet::new();
            names_in(text, &mut found);
            assert_eq!(found.into_iter().collect::<Vec<_>>(), expected, "{text}");
        };
        check(
            "pods \"web\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
            &["p"],
        );
        check("policy \"m\" denied request: no", &["m"]);
        check("policy 'm' with binding 'b' denied request: no", &["m"]);
        check(
            "admission webhook \"h.example.com\" denied the request: no",
            &["h.example.com"],
        );
        check(
            "Validation failed for ValidatingAdmissionPolicy 'w' with binding 'b': old",
            &["w"],
        );
        check(r#"[{"message":"no","policy":"a","binding":"b"}]"#, &["a"]);
        check("no policy at all", &[]);
        check("policy 'unended", &[]);
    }
}
