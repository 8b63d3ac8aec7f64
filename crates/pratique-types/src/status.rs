//! The answer of an API server to a request that failed.

mod api_errors;

use serde::{Deserialize, Serialize};

use crate::null::or_default;
pub use api_errors::{
    already_exists, bad_request, conflict, forbidden, internal_error, invalid, method_not_supported,
    not_found, timeout, unsupported_media_type,
};

/// `meta/v1`'s `Status`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    /// `Success` or `Failure`; empty if not set.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub status: String,
    /// The error for people.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The error for programs: one of [`Reason`], or any other text.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Metadata that a webhook may add; an API server itself leaves it empty.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_default")]
    pub metadata: ListMeta,
    /// More about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<StatusDetails>,
    /// The HTTP code; 0 if not set.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_zero")]
    pub code: i32,
}

/// `meta/v1`'s `ListMeta`, which statuses share with lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ListMeta {
    /// The address of a list, in old releases.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub self_link: String,
    /// The version of a list.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
    /// Where a list goes on.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub r#continue: String,
    /// How many items come after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining_item_count: Option<i64>,
}

/// The object that a [`Status`] is about, and the causes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct StatusDetails {
    /// The name of the object.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The group of the object's resource.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The object's kind or, in most messages of an API server, its resource.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The object's uid.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// The causes.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<StatusCause>,
    /// After how many seconds to try again; 0 for no advice.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "is_zero")]
    pub retry_after_seconds: i32,
}

/// One cause of a [`Status`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatusCause {
    /// The cause for programs.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The cause for people.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The field of the object that it is about.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub field: String,
}

/// The reasons that admission gives, with their codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// 400
    BadRequest,
    /// 401
    Unauthorized,
    /// 403
    Forbidden,
    /// 404
    NotFound,
    /// 409: an object of the name exists.
    AlreadyExists,
    /// 409: the object is not as the request takes it to be.
    Conflict,
    /// 413
    RequestEntityTooLarge,
    /// 422
    Invalid,
    /// 429
    TooManyRequests,
    /// 500
    InternalError,
    /// 503
    ServiceUnavailable,
    /// 504
    Timeout,
}

impl Reason {
    /// The reason as a [`Status`] shows it.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::BadRequest => "BadRequest",
            Reason::Timeout => "Timeout",
            Reason::Unauthorized => "Unauthorized",
            Reason::Forbidden => "Forbidden",
            Reason::NotFound => "NotFound",
            Reason::AlreadyExists => "AlreadyExists",
            Reason::Conflict => "Conflict",
            Reason::RequestEntityTooLarge => "RequestEntityTooLarge",
            Reason::Invalid => "Invalid",
            Reason::TooManyRequests => "TooManyRequests",
            Reason::InternalError => "InternalError",
            Reason::ServiceUnavailable => "ServiceUnavailable",
        }
    }

    /// The HTTP code that goes with it.
    pub fn code(self) -> i32 {
        match self {
            Reason::BadRequest => 400,
            Reason::Timeout => 504,
            Reason::Unauthorized => 401,
            Reason::Forbidden => 403,
            Reason::NotFound => 404,
            Reason::AlreadyExists | Reason::Conflict => 409,
            Reason::RequestEntityTooLarge => 413,
            Reason::Invalid => 422,
            Reason::TooManyRequests => 429,
            Reason::InternalError => 500,
            Reason::ServiceUnavailable => 503,
        }
    }
}

impl Status {
    /// A failure.
    pub fn failure(reason: Reason, message: impl Into<String>) -> Self {
        Status {
            status: "Failure".to_owned(),
            message: message.into(),
            reason: reason.as_str().to_owned(),
            metadata: ListMeta::default(),
            details: None,
            code: reason.code(),
        }
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn is_zero(number: &i32) -> bool {
    *number == 0
}
