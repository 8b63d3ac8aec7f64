//! Answers authorization checks by asking a cluster.

use std::sync::{Arc, Mutex, PoisonError};

use pratique::authorization::{Answer, Authorizer, Check, Question};
use pratique_kube::{ApiServer, SubjectAccessReviewer};

use super::warn;
use crate::output::text::text;

/// Answers by a cluster's SubjectAccessReviews.
#[derive(Clone, Debug)]
pub(crate) struct ClusterAccess {
    reviewer: SubjectAccessReviewer,
    url: Arc<str>,
    /// Whether the cluster gave no answer before: it is not asked again.
    has_failed: Arc<Mutex<bool>>,
}

impl ClusterAccess {
    /// The permissions of a cluster.
    pub(crate) fn new(server: &ApiServer) -> Self {
        ClusterAccess {
            reviewer: server.reviewer(),
            url: server.url().trim_end_matches('/').into(),
            has_failed: Arc::default(),
        }
    }
}

impl Authorizer for ClusterAccess {
    fn authorize(&self, check: &Check<'_>) -> Answer {
        let failed = || self.has_failed.lock().unwrap_or_else(PoisonError::into_inner);
        if *failed() {
            return Answer::Unknown;
        }
        match self.reviewer.ask(Question::from(check)) {
            Ok(decision) => Answer::Decided(decision),
            Err(error) => {
                if !std::mem::replace(&mut *failed(), true) {
                    warn(&text!("{}: permissions are not known: {}", self.url, error));
                }
                Answer::Unknown
            }
        }
    }
}
