//! Webhook client credentials: headers and client certificates.

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue};
use pratique_gotext::strconv::quote;
use pratique_json::base64;

/// Why there are no credentials for a webhook. The messages are Go's, without `could not get REST client: `.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CredentialError {
    /// There is a bearer token as well as a name and password.
    #[error("username/password or bearer token may be set, but not both")]
    Ambiguous,
    /// An auth provider would be needed.
    #[error("auth provider not supported")]
    AuthProvider,
    /// A command would be needed.
    #[error("exec credential plugins are not supported")]
    Exec,
    /// The file of the token, by its path, is empty.
    #[error("read empty token from file {}", quote(.0))]
    EmptyToken(String),
    /// A file cannot be read, or another reason: `open /token: no such file or directory`.
    #[error("{0}")]
    Other(String),
}

/// Provides the credentials for webhooks.
pub trait CredentialSource: Send + Sync {
    /// The credentials for a webhook at `host:port`.
    ///
    /// # Errors
    /// There are no usable credentials: the call fails.
    fn credentials(&self, authority: &str) -> Result<Credentials, CredentialError>;
}

/// Provides no credentials.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCredentials;

impl CredentialSource for NoCredentials {
    fn credentials(&self, _authority: &str) -> Result<Credentials, CredentialError> {
        Ok(Credentials::default())
    }
}

/// The credentials for one webhook.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Credentials {
    /// A bearer token.
    pub token: Option<String>,
    /// A user's name and password.
    pub basic: Option<(String, String)>,
    /// A client certificate and its key, as PEM.
    pub certificate: Option<(Vec<u8>, Vec<u8>)>,
    /// The user to impersonate.
    pub impersonation: Option<Impersonation>,
}

/// A user to impersonate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Impersonation {
    /// The user's name.
    pub user: String,
    /// The user's id; empty for none.
    pub uid: String,
    /// The user's groups.
    pub groups: Vec<String>,
    /// Anything else, by name.
    pub extra: Vec<(String, Vec<String>)>,
}

/// The headers of all requests to a webhook, and the name of one whose value cannot be sent.
#[derive(Clone, Debug, Default)]
pub(super) struct WebhookHeaders {
    pub(super) all: HeaderMap,
    pub(super) invalid: Option<String>,
}

impl Credentials {
    pub(super) fn headers(&self) -> Result<WebhookHeaders, CredentialError> {
        let mut headers = WebhookHeaders::default();
        headers.add(USER_AGENT, "kube-apiserver-admission");
        headers.add(ACCEPT, "application/json, */*");
        headers.add(CONTENT_TYPE, "application/json");
        // A password without a name is ignored.
        let basic = self.basic.as_ref().filter(|(user, _)| !user.is_empty());
        match (&self.token, basic) {
            (Some(_), Some(_)) => {
                return Err(CredentialError::Ambiguous);
            }
            (Some(token), None) => headers.add(AUTHORIZATION, &format!("Bearer {token}")),
            (None, Some((user, password))) => {
                let pair = base64::encode(format!("{user}:{password}").as_bytes());
                headers.add(AUTHORIZATION, &format!("Basic {pair}"));
            }
            (None, None) => {}
        }
        if let Some(impersonation) = &self.impersonation {
            headers.impersonate(impersonation);
        }
        Ok(headers)
    }
}

impl WebhookHeaders {
    fn add(&mut self, name: HeaderName, value: &str) {
        match HeaderValue::try_from(value) {
            Ok(mut value) => {
                value.set_sensitive(name == AUTHORIZATION);
                self.all.append(name, value);
            }
            Err(_) => drop(self.invalid.get_or_insert_with(|| canonical(name.as_str()))),
        }
    }

    fn impersonate(&mut self, impersonation: &Impersonation) {
        self.add(HeaderName::from_static("impersonate-user"), &impersonation.user);
        if !impersonation.uid.is_empty() {
            self.add(HeaderName::from_static("impersonate-uid"), &impersonation.uid);
        }
        for group in &impersonation.groups {
            self.add(HeaderName::from_static("impersonate-group"), group);
        }
        for (key, values) in &impersonation.extra {
            let name = format!("impersonate-extra-{}", escape_key(key));
            let Ok(name) = HeaderName::try_from(name) else {
                continue;
            };
            for value in values {
                self.add(name.clone(), value);
            }
        }
    }
}

/// Percent-encodes what header names cannot hold, and `%`.
fn escape_key(key: &str) -> String {
    let mut escaped = String::with_capacity(key.len());
    for byte in key.bytes() {
        if byte.is_ascii_alphanumeric() || b"!#$&'*+-.^_`|~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

/// A header's name as Go shows it: `Impersonate-User`.
fn canonical(name: &str) -> String {
    let mut canonical_name = String::with_capacity(name.len());
    for letter in name.chars() {
        let first = canonical_name.is_empty() || canonical_name.ends_with('-');
        canonical_name.push(if first {
            letter.to_ascii_uppercase()
        } else {
            letter
        });
    }
    canonical_name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(credentials: Credentials, expected: &[&str]) {
        let headers = credentials.headers().unwrap();
        let shown: Vec<String> = headers
            .all
            .iter()
            .skip(3)
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn authorization() {
        let pair = |user: &str, password: &str| Some((user.to_owned(), password.to_owned()));
        check(Credentials::default(), &[]);
        check(
            Credentials {
                basic: pair("a:b", "c"),
                ..Credentials::default()
            },
            &["authorization: Basic YTpiOmM="],
        );
        check(
            Credentials {
                basic: pair("", "c"),
                token: Some("t".to_owned()),
                ..Credentials::default()
            },
            &["authorization: Bearer t"],
        );
        let both = Credentials {
            basic: pair("u", ""),
            token: Some("t".to_owned()),
            ..Credentials::default()
        };
        let fault = both.headers().unwrap_err();
        assert_eq!(fault, CredentialError::Ambiguous);
    }

    #[test]
    fn impersonation() {
        let impersonation = Impersonation {
            user: "jane".to_owned(),
            uid: "7".to_owned(),
            groups: vec!["a".to_owned(), "b".to_owned()],
            extra: vec![("k/e y".to_owned(), vec!["v".to_owned()])],
        };
        let credentials = Credentials {
            impersonation: Some(impersonation),
            ..Credentials::default()
        };
        check(
            credentials,
            &[
                "impersonate-user: jane",
                "impersonate-uid: 7",
                "impersonate-group: a",
                "impersonate-group: b",
                "impersonate-extra-k%2fe%20y: v",
            ],
        );
    }

    #[test]
    fn invalid_values() {
        let credentials = Credentials {
            token: Some("t\n".to_owned()),
            ..Credentials::default()
        };
        assert_eq!(
            credentials.headers().unwrap().invalid.as_deref(),
            Some("Authorization")
        );
    }
}
