//! What requests are judged by: `/configz`.

use std::time::SystemTime;

use jiff::Timestamp;
use serde::{Serialize, Serializer};

/// A directory of manifests, or something else that is judged by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// The admission plugin that it belongs to.
    pub plugin: String,
    /// Where it is: the path of a directory, or words.
    pub location: String,
    /// The hash of its content; empty where there is none.
    pub hash: String,
    /// The names of policies and webhooks.
    pub names: Vec<String>,
    /// When what is judged by was loaded.
    #[serde(serialize_with = "time")]
    pub loaded: SystemTime,
    /// The last time that it was loaded or could not be.
    pub last_reload: Attempt,
}

/// A file of certificates in use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CertificateSource {
    /// What they are for.
    pub(crate) name: &'static str,
    /// Where they are: the path of a file, or words.
    pub(crate) location: String,
    /// When the first of them expires.
    #[serde(serialize_with = "optional_time", skip_serializing_if = "Option::is_none")]
    pub(crate) expires: Option<SystemTime>,
    /// When those in use were loaded.
    #[serde(serialize_with = "time")]
    pub(crate) loaded: SystemTime,
    /// The last time that certificates were loaded or could not be.
    pub(crate) last_reload: Attempt,
}

/// The server's own certificate.
pub(crate) const SERVING: &str = "serving";
/// The roots of clients' certificates.
pub(crate) const CLIENT_CA: &str = "client-ca";

/// The last time that something was loaded or could not be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// When.
    #[serde(serialize_with = "time")]
    pub at: SystemTime,
    /// Why it could not be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// All that `/configz` tells.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Configuration {
    pub(crate) version: &'static str,
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

/// A time as texts have it.
pub(crate) fn text(time: SystemTime) -> String {
    let time = Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{time:.3}")
}

fn time<S: Serializer>(time: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&text(*time))
}

fn optional_time<S: Serializer>(at: &Option<SystemTime>, serializer: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => time(at, serializer),
        None => serializer.serialize_none(),
    }
}
