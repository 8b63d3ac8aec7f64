//! The last decisions, for the page for people.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use pratique_types::{AdmissionRequest, AdmissionResponse};

/// How many are kept.
const KEPT: usize = 50;
/// How much of a text is kept, in characters.
const LONGEST: usize = 400;

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
