//! The answers of webhooks: decoded as the reference's client does, and verified.

mod error;

use std::collections::BTreeMap;

use pratique_cel::OutOfMemory;
use pratique_json::{Value, parse};
use pratique_schema::{Release, Schema};
use pratique_types::{GroupVersion, GroupVersionKind, Status, warnings};
use pratique_yaml::wire_bytes;

use crate::annotations;
use crate::fields;
use crate::memory;
use crate::webhook::ReviewVersion;
use crate::wire;
use error::{AnswerError, ReviewError};

/// An answer that could be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ReadAnswer {
    kind: GroupVersionKind,
    response: Option<ReviewResponse>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct ReviewResponse {
    uid: String,
    allowed: bool,
    result: Option<Status>,
    patch: Vec<u8>,
    patch_type: Option<String>,
    audit_annotations: BTreeMap<String, String>,
    warnings: Vec<String>,
}

/// An answer that counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct VerifiedAnswer {
    pub(crate) allowed: bool,
    pub(crate) result: Option<Status>,
    /// Empty for none.
    pub(crate) patch: Vec<u8>,
    pub(crate) patch_type: String,
    pub(crate) audit_annotations: BTreeMap<String, String>,
    pub(crate) warnings: Vec<String>,
}

const GROUP: &str = "admission.k8s.io";
const KIND: &str = "AdmissionReview";

impl ReadAnswer {
    /// Reads the answer to a review of a version, by the types of a release. The memory that decoding takes is reserved first.
    ///
    /// # Errors
    /// There is no memory, or the body is no answer.
    pub(crate) fn read(
        release: &'static Release,
        body: &[u8],
        version: ReviewVersion,
        hold: &dyn Fn(usize) -> Result<(), OutOfMemory>,
    ) -> Result<Result<Self, AnswerError>, OutOfMemory> {
        if let Ok(value) = parse(body) {
            return Ok(Self::from_json(release, &value, body, version));
        }
        hold(wire_bytes(body.len()))?;
        let text = match wire::plain(body, release) {
            Ok(text) => text,
            Err(error) => return Ok(Err(error.into())),
        };
        hold(memory::of_answer(text.as_bytes()))?;
        let value = parse(text.as_bytes()).map_err(AnswerError::from);
        Ok(value.and_then(|value| Self::from_json(release, &value, text.as_bytes(), version)))
    }

    fn from_json(
        release: &'static Release,
        value: &Value<'_>,
        text: &[u8],
        version: ReviewVersion,
    ) -> Result<Self, AnswerError> {
        let schema = release.schema();
        let (api_version, kind) = wire::type_of(value, release.is_of_go_1_27())?;
        let kind = wire::with_defaults(GroupVersion::parse(&api_version)?, &kind, &review_kind(version));
        if kind.kind == "Status" {
            // The reference decodes it before it finds that it is no review.
            fields::check_fields(schema, "meta/v1.Status", value, text)?;
        }
        let other = match version {
            ReviewVersion::V1 => ReviewVersion::V1Beta1,
            ReviewVersion::V1Beta1 => ReviewVersion::V1,
        };
        if kind == review_kind(other) {
            // The reference decodes it in its own version before it finds that the version is wrong.
            ReviewResponse::of_review(schema, value, text, other)?;
        }
        readable(&kind, version, release)?;
        let response = ReviewResponse::of_review(schema, value, text, version)?;
        // Only here their case matters.
        let member = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
        let (api_version, kind) = (member("apiVersion"), member("kind"));
        Ok(ReadAnswer {
            kind: GroupVersion::parse(api_version)
                .unwrap_or_default()
                .with_kind(kind),
            response,
        })
    }

    /// Checks that it answers the question of a uid.
    ///
    /// # Errors
    /// Why it does not count.
    pub(crate) fn verified(
        self,
        uid: &str,
        version: ReviewVersion,
        mutating: bool,
    ) -> Result<VerifiedAnswer, ReviewError> {
        let response = self.response.ok_or(ReviewError::NoResponse)?;
        let (patch, patch_type) = match version {
            ReviewVersion::V1 => {
                response.answers(uid, &self.kind)?;
                response.patch_of(mutating)?
            }
            // For v1beta1, the reference ignores uid, kind and type of patch.
            ReviewVersion::V1Beta1 if mutating && !response.patch.is_empty() => {
                (response.patch.clone(), JSON_PATCH.to_owned())
            }
            ReviewVersion::V1Beta1 => Default::default(),
        };
        Ok(VerifiedAnswer {
            allowed: response.allowed,
            result: response.result,
            patch,
            patch_type,
            audit_annotations: response.audit_annotations,
            warnings: response.warnings,
        })
    }
}

/// The only type of patches.
pub(crate) const JSON_PATCH: &str = "JSONPatch";

impl ReviewResponse {
    /// The response in a review of a version, all of which is read.
    ///
    /// # Errors
    /// A value does not fit the type of its field.
    fn of_review(
        schema: &'static Schema,
        review: &Value<'_>,
        text: &[u8],
        version: ReviewVersion,
    ) -> Result<Option<Self>, fields::FieldError> {
        let type_name = match version {
            ReviewVersion::V1 => "admission/v1.AdmissionReview",
            ReviewVersion::V1Beta1 => "admission/v1beta1.AdmissionReview",
        };
        fields::check_fields(schema, type_name, review, text)?;
        Ok(fields::field(review, "response").map(ReviewResponse::read))
    }

    fn read(response: &Value<'_>) -> Self {
        ReviewResponse {
            uid: fields::text_member(response, "uid"),
            allowed: fields::bool(response, "allowed"),
            result: fields::field(response, "status").map(fields::status),
            patch: fields::bytes(response, "patch"),
            patch_type: fields::field(response, "patchType")
                .map(|_| fields::text_member(response, "patchType")),
            audit_annotations: annotations::bounded(fields::texts_by_key(response, "auditAnnotations")),
            warnings: warnings::bounded(fields::texts(response, "warnings")),
        }
    }

    fn answers(&self, uid: &str, kind: &GroupVersionKind) -> Result<(), ReviewError> {
        if self.uid != uid {
            return Err(ReviewError::Uid {
                expected: uid.to_owned(),
                found: self.uid.clone(),
            });
        }
        let expected = review_kind(ReviewVersion::V1);
        if *kind != expected {
            return Err(ReviewError::Kind {
                expected: expected.into(),
                found: kind.clone().into(),
            });
        }
        Ok(())
    }

    fn patch_of(&self, mutating: bool) -> Result<(Vec<u8>, String), ReviewError> {
        Err(
            match (mutating, self.patch.is_empty(), self.patch_type.as_deref()) {
                (true, false, None) => ReviewError::PatchWithoutType,
                (true, true, Some(_)) => ReviewError::TypeWithoutPatch,
                (true, false, Some("")) => ReviewError::EmptyType,
                (true, _, of) => return Ok((self.patch.clone(), of.unwrap_or_default().to_owned())),
                (false, false, _) => ReviewError::Patch,
                (false, true, Some(_)) => ReviewError::Type,
                (false, true, None) => return Ok(Default::default()),
            },
        )
    }
}

fn review_kind(version: ReviewVersion) -> GroupVersionKind {
    GroupVersionKind::new(GROUP, version.name(), KIND)
}

/// Whether the client can make a review of a version of an object of that kind.
fn readable(kind: &GroupVersionKind, version: ReviewVersion, release: &Release) -> Result<(), AnswerError> {
    let wanted = version.name();
    let (group, version) = (kind.group.as_str(), kind.version.as_str());
    if group == GROUP && kind.kind == KIND && version == wanted {
        return Ok(());
    }
    if kind.kind.is_empty() || version.is_empty() {
        return Err(AnswerError::NoKind(kind.clone()));
    }
    let of_group = group == GROUP && matches!(version, "v1" | "v1beta1");
    let package = match kind.kind.as_str() {
        KIND if of_group => Some(version),
        "WatchEvent" | "ListOptions" | "GetOptions" | "DeleteOptions" | "CreateOptions" | "UpdateOptions"
        | "PatchOptions"
            if of_group =>
        {
            Some("v1")
        }
        // These kinds exist in every group and version.
        "Status" | "APIVersions" | "APIGroupList" | "APIGroup" | "APIResourceList" => Some("v1"),
        _ => None,
    };
    Err(match package {
        Some(package) => AnswerError::OtherKind {
            package: package.to_owned(),
            kind: kind.kind.clone(),
            wanted,
        },
        None => AnswerError::UnknownKind {
            kind: kind.clone(),
            registry: release.registry_name(),
        },
    })
}

#[cfg(test)]
mod tests;
