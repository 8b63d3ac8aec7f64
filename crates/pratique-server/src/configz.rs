//! The configuration in use: `/configz`.

use std::time::SystemTime;

use jiff::Timestamp;
use serde::{Serialize, Serializer};

/// A source of policies and webhooks, such as a directory of manifests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// The admission plugin.
    pub plugin: String,
    /// The path of a directory, or a description.
    pub location: String,
    /// The hash of the content; may be empty.
    pub hash: String,
    /// The names of policies and webhook configurations.
    pub names: Vec<String>,
    /// When the current content was loaded.
    #[serde(serialize_with = "time")]
    pub loaded: SystemTime,
    /// The last attempt to load it.
    pub last_reload: ReloadAttempt,
}

/// A source of certificates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CertificateSource {
    /// The purpose of the certificates.
    pub(crate) name: &'static str,
    /// The path of a file, or a description.
    pub(crate) location: String,
    /// The earliest expiry.
    #[serde(serialize_with = "optional_time", skip_serializing_if = "Option::is_none")]
    pub(crate) expires: Option<SystemTime>,
    /// When the current certificates were loaded.
    #[serde(serialize_with = "time")]
    pub(crate) loaded: SystemTime,
    /// The last attempt to load them.
    pub(crate) last_reload: ReloadAttempt,
}

/// The certificate of the server.
pub(crate) const SERVING: &str = "serving";
/// The roots of client certificates.
pub(crate) const CLIENT_CA: &str = "client-ca";

/// The last attempt to load something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReloadAttempt {
    /// The time of the attempt.
    #[serde(serialize_with = "time")]
    pub at: SystemTime,
    /// The error, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The content of `/configz`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConfigzContent {
    pub(crate) version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kubernetes_version: Option<String>,
    pub(crate) ready: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) not_ready: Option<String>,
    /// Background tasks that ended before the server did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) ended_tasks: Vec<&'static str>,
    pub(crate) sources: Vec<Source>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) certificates: Vec<CertificateSource>,
}

/// A time in milliseconds, as text.
pub(crate) fn time_text(time: SystemTime) -> String {
    let time = Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{time:.3}")
}

fn time<S: Serializer>(time: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&time_text(*time))
}

fn optional_time<S: Serializer>(at: &Option<SystemTime>, serializer: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => time(at, serializer),
        None => serializer.serialize_none(),
    }
}
