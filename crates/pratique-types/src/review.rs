//! The way from an [`AdmissionReview`] to its request, and back to its answer.

use crate::admission::{API_VERSION, KIND};
use crate::{AdmissionRequest, AdmissionResponse, AdmissionReview, InvalidRequest};

/// The older version of reviews, which has the same fields.
const OLDER_VERSION: &str = "admission.k8s.io/v1beta1";

/// Why an [`AdmissionReview`] has no request to decide about.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidReview {
    /// It is something else, or of a version that is not known.
    #[error("expected an AdmissionReview of {API_VERSION}, found kind {kind:?} of {api_version:?}")]
    Kind {
        /// Its `kind`.
        kind: String,
        /// Its `apiVersion`.
        api_version: String,
    },
    /// It has no request.
    #[error("the AdmissionReview has no request")]
    NoRequest,
    /// No API server sends its request.
    #[error("no API server sends the request of this AdmissionReview: {0}")]
    Request(#[from] InvalidRequest),
}

impl<'a> AdmissionReview<'a> {
    /// The request, where an API server can have sent it.
    ///
    /// A policy matches the `pods` of the core group: a request about `Pods`, or without an operation, matches nothing and
    /// would be allowed, so it is not one to decide about.
    ///
    /// ```
    /// use pratique_types::AdmissionReview;
    ///
    /// let review = AdmissionReview::parse(br#"{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
    ///     "request": {"kind": {"group": "apps", "version": "v1", "kind": "Deployment"}, "operation": "DELETE",
    ///     "resource": {"grp": "apps", "version": "v1", "resource": "deployments"}}}"#)?;
    /// let error = review.valid_request().unwrap_err();
    /// assert!(error.to_string().ends_with(
    ///     "requests for deployments of v1 carry objects of the same group and version, not Deployment of apps/v1"
    /// ));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The first thing that no API server sends: another kind or version, no request, or an
    /// [invalid](AdmissionRequest::validate) one.
    pub fn valid_request(&self) -> Result<&AdmissionRequest<'a>, InvalidReview> {
        self.check_kind()?;
        let request = self.request.as_ref().ok_or(InvalidReview::NoRequest)?;
        request.validate()?;
        Ok(request)
    }

    /// As [`valid_request`](Self::valid_request), for programs that do not need the review any more. The answer to a review
    /// has its version: [`answer_with`](Self::answer_with) needs the review.
    ///
    /// # Errors
    /// As [`valid_request`](Self::valid_request).
    pub fn into_valid_request(self) -> Result<AdmissionRequest<'a>, InvalidReview> {
        self.check_kind()?;
        let request = self.request.ok_or(InvalidReview::NoRequest)?;
        request.validate()?;
        Ok(request)
    }

    fn check_kind(&self) -> Result<(), InvalidReview> {
        let is_known = [API_VERSION, OLDER_VERSION].contains(&&*self.api_version);
        if is_known && self.kind == KIND {
            return Ok(());
        }
        Err(InvalidReview::Kind {
            kind: self.kind.clone(),
            api_version: self.api_version.clone(),
        })
    }

    /// The envelope of the response to this review, in the version in which it was asked.
    pub fn answer_with(&self, response: AdmissionResponse) -> AdmissionReview<'static> {
        AdmissionReview {
            api_version: self.api_version.clone(),
            ..AdmissionReview::answer(response)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: &str = r#"{"uid":"u","operation":"CREATE","namespace":"shop","kind":{"version":"v1","kind":"Pod"},
        "resource":{"version":"v1","resource":"pods"},"object":{}}"#;

    #[track_caller]
    fn check(review: &str, expected: Result<(), &str>) {
        let review = AdmissionReview::parse(review.as_bytes()).unwrap();
        let borrowed = review
            .valid_request()
            .map(drop)
            .map_err(|error| error.to_string());
        assert_eq!(borrowed.as_ref().copied().map_err(String::as_str), expected);
        let owned = review.into_valid_request().map(drop);
        assert_eq!(owned.map_err(|error| error.to_string()), borrowed);
    }

    #[test]
    fn only_what_an_api_server_sends_has_a_request() {
        let review = |version: &str, kind: &str, rest: &str| {
            format!(r#"{{"apiVersion":"{version}","kind":"{kind}"{rest}}}"#)
        };
        let request = &format!(r#","request":{REQUEST}"#);
        for version in [API_VERSION, OLDER_VERSION] {
            check(&review(version, KIND, request), Ok(()));
        }
        let version = "expected an AdmissionReview of admission.k8s.io/v1, \
            found kind \"AdmissionReview\" of \"admission.k8s.io/v2\"";
        check(&review("admission.k8s.io/v2", KIND, request), Err(version));
        let kind = "expected an AdmissionReview of admission.k8s.io/v1, found kind \"Pod\" of \"admission.k8s.io/v1\"";
        check(&review(API_VERSION, "Pod", request), Err(kind));
        let neither = "expected an AdmissionReview of admission.k8s.io/v1, found kind \"\" of \"\"";
        check(r#"{"request":{}}"#, Err(neither));
        check(
            &review(API_VERSION, KIND, ""),
            Err("the AdmissionReview has no request"),
        );
        let operation = "no API server sends the request of this AdmissionReview: \
            operation: must be one of CREATE, UPDATE, DELETE and CONNECT";
        check(&review(API_VERSION, KIND, r#","request":{}"#), Err(operation));
    }

    #[test]
    fn an_answer_has_the_version_that_was_asked() {
        for version in [API_VERSION, OLDER_VERSION] {
            let review = AdmissionReview {
                api_version: version.to_owned(),
                ..AdmissionReview::question(AdmissionRequest::default())
            };
            let answer = review.answer_with(AdmissionResponse::default());
            assert_eq!(
                (answer.api_version.as_str(), answer.kind.as_str()),
                (version, KIND)
            );
        }
    }
}
