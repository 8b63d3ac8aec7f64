//! What the environment says of a store, by the names that the tools of AWS use.

use std::fmt::{self, Formatter};
use std::path::PathBuf;

use rusty_s3::{Credentials, UrlStyle};
use url::Url;

/// The region where none is named.
const REGION: &str = "us-east-1";

/// How a store is reached.
///
/// | variable | |
/// |---|---|
/// | `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` | the credentials |
/// | `AWS_SESSION_TOKEN` | the token of temporary ones |
/// | `AWS_REGION`, or `AWS_DEFAULT_REGION` | the region; `us-east-1` by default |
/// | `AWS_ENDPOINT_URL_S3`, or `AWS_ENDPOINT_URL` | where a store is that is not that of AWS |
/// | `AWS_CA_BUNDLE` | a file with the certificates, as PEM, that are trusted instead of those of the system |
#[derive(Clone)]
pub struct StoreSettings {
    pub(crate) credentials: Credentials,
    pub(crate) region: String,
    pub(crate) endpoint: Url,
    /// Whether the endpoint is one of AWS, which has a host for each bucket.
    pub(crate) is_aws: bool,
    pub(crate) ca_bundle: Option<PathBuf>,
}

/// Why a store cannot be reached.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// There are no credentials.
    #[error("{0} is not set: credentials of the store are in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")]
    NoCredentials(&'static str),
    /// The endpoint is no URL of HTTP.
    #[error("{variable}: {text}: expected a URL such as https://s3.example.com")]
    Endpoint {
        /// What names it.
        variable: &'static str,
        /// The text.
        text: String,
    },
    /// The region is no name.
    #[error("{0:?} is no name of a region")]
    Region(String),
}

impl StoreSettings {
    /// What the environment says.
    ///
    /// # Errors
    /// There are no credentials, or a variable is faulty.
    pub fn of_environment() -> Result<Self, SettingsError> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// The settings of environment variables.
    ///
    /// # Errors
    /// There are no credentials, or a variable is faulty.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let value = |name: &str| variable(name).filter(|text| !text.trim().is_empty());
        let needed = |name| value(name).ok_or(SettingsError::NoCredentials(name));
        let (key, secret) = (needed("AWS_ACCESS_KEY_ID")?, needed("AWS_SECRET_ACCESS_KEY")?);
        let credentials = match value("AWS_SESSION_TOKEN") {
            Some(token) => Credentials::new_with_token(key, secret, token),
            None => Credentials::new(key, secret),
        };
        let region = value("AWS_REGION").or_else(|| value("AWS_DEFAULT_REGION"));
        let region = region.unwrap_or_else(|| REGION.to_owned());
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if !region.bytes().all(is_plain) {
            return Err(SettingsError::Region(region));
        }
        let names = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"];
        let named = names.into_iter().find_map(|name| Some((name, value(name)?)));
        let (variable, text) = match &named {
            Some((variable, text)) => (*variable, text.clone()),
            None => {
                let domain = if region.starts_with("cn-") {
                    "amazonaws.com.cn"
                } else {
                    "amazonaws.com"
                };
                ("AWS_REGION", format!("https://s3.{region}.{domain}"))
            }
        };
        let endpoint = Url::parse(&text).ok();
        let is_http = |url: &Url| {
            matches!(url.scheme(), "http" | "https") && url.has_host() && url.username().is_empty()
        };
        match endpoint.filter(is_http) {
            Some(endpoint) => Ok(StoreSettings {
                credentials,
                region,
                endpoint,
                is_aws: named.is_none(),
                ca_bundle: value("AWS_CA_BUNDLE").map(PathBuf::from),
            }),
            None => Err(SettingsError::Endpoint { variable, text }),
        }
    }

    /// How the URLs of a bucket are made.
    pub(crate) fn style(&self, bucket: &str) -> UrlStyle {
        let is_host = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if self.is_aws && bucket.bytes().all(is_host) {
            UrlStyle::VirtualHost
        } else {
            // Certificates of AWS have no names with further dots, and others may have no host for a bucket.
            UrlStyle::Path
        }
    }
}

/// Without secrets.
impl fmt::Debug for StoreSettings {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("StoreSettings")
            .field("region", &self.region)
            .field("endpoint", &self.endpoint.as_str())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> Result<StoreSettings, SettingsError> {
        let keys = [("AWS_ACCESS_KEY_ID", "key"), ("AWS_SECRET_ACCESS_KEY", "secret")];
        StoreSettings::from_variables(|name| {
            let mut all = variables.iter().chain(&keys);
            let found = all.find(|(variable, _)| *variable == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn variables_have_the_names_of_aws() {
        let check = |variables: &[(&str, &str)], expected: &str| {
            let settings = settings(variables).unwrap();
            assert_eq!(settings.endpoint.as_str(), expected, "{variables:?}");
        };
        check(&[], "https://s3.us-east-1.amazonaws.com/");
        check(
            &[("AWS_DEFAULT_REGION", "eu-west-1"), ("AWS_REGION", "eu-west-3")],
            "https://s3.eu-west-3.amazonaws.com/",
        );
        check(
            &[("AWS_DEFAULT_REGION", "cn-north-1")],
            "https://s3.cn-north-1.amazonaws.com.cn/",
        );
        let minio = [("AWS_ENDPOINT_URL", "http://minio:9000")];
        check(&minio, "http://minio:9000/");
        check(
            &[minio[0], ("AWS_ENDPOINT_URL_S3", "https://s3.example.com")],
            "https://s3.example.com/",
        );
    }

    #[test]
    fn what_is_missing_or_faulty_is_named() {
        let check = |variables: &[(&str, &str)], expected: &str| {
            let error = settings(variables).unwrap_err();
            assert_eq!(error.to_string(), expected, "{variables:?}");
        };
        check(
            &[("AWS_SECRET_ACCESS_KEY", "")],
            "AWS_SECRET_ACCESS_KEY is not set: credentials of the store are in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
        );
        check(
            &[("AWS_ENDPOINT_URL", "minio:9000")],
            "AWS_ENDPOINT_URL: minio:9000: expected a URL such as https://s3.example.com",
        );
        check(&[("AWS_REGION", "a/b")], "\"a/b\" is no name of a region");
    }

    #[test]
    fn secrets_are_not_shown() {
        let shown = format!("{:?}", settings(&[("AWS_SESSION_TOKEN", "token")]).unwrap());
        assert!(!shown.contains("secret") && !shown.contains("token"), "{shown}");
    }
}
