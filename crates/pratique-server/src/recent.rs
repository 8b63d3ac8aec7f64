//! The last decisions, for the page for people.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use pratique_json::base64;
use pratique_types::{AdmissionRequest, AdmissionResponse};
use serde::Deserialize;

/// How many are kept.
const KEPT: usize = 50;
/// How much of a text is kept, in characters.
const LONGEST: usize = 400;
/// How long a patch may be to be kept, in bytes.
const LONGEST_PATCH: usize = 8 << 10;

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
    pub(crate) name: String,
    pub(crate) user: String,
    pub(crate) allowed: bool,
    pub(crate) changed: bool,
    pub(crate) why: String,
    pub(crate) elapsed: Duration,
    /// The patch as it was answered, if it is short.
    patch: Option<String>,
}

impl Decision {
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
        response: &AdmissionResponse,
        (at, elapsed): (SystemTime, Duration),
    ) {
        let decision = Decision {
            at,
            path,
            operation: request.operation.as_str(),
            resource: cut(&resource(request)),
            name: cut(&[&*request.namespace, &request.name]
                .into_iter()
                .filter(|own| !own.is_empty())
                .collect::<Vec<_>>()
                .join("/")),
            user: cut(&request.user_info.username),
            allowed: response.allowed,
            changed: response.patch.is_some(),
            why: cut(&why(response)),
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

fn why(response: &AdmissionResponse) -> String {
    match &response.result {
        Some(status) => status.message.clone(),
        None => response.warnings.join("; "),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
