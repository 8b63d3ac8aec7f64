//! URLs as `net/url` reads them: more lenient than the WHATWG standard here, stricter there, and byte-preserving.
//!
//! ```
//! use pratique_gotext::url::Url;
//!
//! let url = Url::parse("HTTPS://example.com:80/a b?x=1#y")?;
//! assert_eq!((url.scheme(), url.hostname().as_str(), url.port().as_str()), ("https", "example.com", "80"));
//! assert_eq!(url.escaped_path(), "/a%20b");
//! assert_eq!(
//!     Url::parse_request_uri("a b").unwrap_err().to_string(),
//!     r#"parse "a b": invalid URI for request"#,
//! );
//! # Ok::<(), pratique_gotext::url::ParseError>(())
//! ```

mod authority;
mod escape;
mod parse;
mod query;

use std::fmt;
use std::str::FromStr;

pub use parse::{ParseError, Reason};

use crate::net::AddressError;
use crate::utf8::lossy;
use authority::UrlUser;
use escape::{UrlPart, escape};

/// A parsed URL.
///
/// Parts are kept decoded as bytes, since percent-encoded text need not be UTF-8.
#[derive(Debug, Clone, Default)]
pub struct Url {
    scheme: String,
    /// What follows the scheme of a URL that has no slash there: `mailto:someone`.
    opaque: String,
    user: Option<UrlUser>,
    host: Vec<u8>,
    path: Vec<u8>,
    /// The path as it was written, where that is not how it would be encoded.
    raw_path: Option<String>,
    raw_query: String,
    /// Whether there was a `?` with nothing behind it.
    bare_question_mark: bool,
    fragment: Vec<u8>,
    raw_fragment: Option<String>,
    /// Whether the path followed the scheme without `//`.
    omit_host: bool,
}

impl Url {
    /// Reads any URL or relative reference.
    ///
    /// # Errors
    /// The first fault of `text`.
    // Upstream: net/url/url.go, Parse
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        parse::reference(text)
    }

    /// Reads an absolute URL or an absolute path, as HTTP requests carry them. `#` has no meaning here.
    ///
    /// # Errors
    /// The first fault of `text`.
    // Upstream: net/url/url.go, ParseRequestURI
    pub fn parse_request_uri(text: &str) -> Result<Self, ParseError> {
        parse::request_uri(text)
    }

    /// How much memory its parts take, about.
    pub fn owned_bytes(&self) -> usize {
        let raw = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let texts = self.scheme.len() + self.opaque.len() + self.raw_query.len();
        let decoded = self.host.len() + self.path.len() + self.fragment.len();
        texts + decoded + raw(&self.raw_path) + raw(&self.raw_fragment)
    }

    /// The scheme in lower case; empty where there is none.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// Whether there is `user@` or `user:password@`.
    pub fn has_user(&self) -> bool {
        self.user.is_some()
    }

    /// `host` or `host:port`, decoded.
    pub fn host(&self) -> String {
        lossy(&self.host).into_owned()
    }

    /// The host without port and without the brackets of IPv6.
    pub fn hostname(&self) -> String {
        lossy(authority::split_port(&self.host).0).into_owned()
    }

    /// The port; empty where there is none.
    pub fn port(&self) -> String {
        lossy(authority::split_port(&self.host).1).into_owned()
    }

    /// The decoded path.
    pub fn path(&self) -> String {
        lossy(&self.path).into_owned()
    }

    /// The path, percent-encoded; as it was written where that is a valid encoding.
    // Upstream: net/url/url.go, URL.EscapedPath
    pub fn escaped_path(&self) -> String {
        match &self.raw_path {
            Some(raw) if escape::is_valid(raw, UrlPart::Path) => raw.clone(),
            _ if self.path == b"*" => "*".to_owned(),
            _ => escape(&self.path, UrlPart::Path),
        }
    }

    /// What follows `?`, as it was written.
    pub fn raw_query(&self) -> &str {
        &self.raw_query
    }

    /// The query's keys in order of appearance, each with its values. Pairs that are malformed are left out.
    pub fn query(&self) -> Vec<(String, Vec<String>)> {
        query::parse(&self.raw_query)
    }

    /// What follows `#`, decoded.
    pub fn fragment(&self) -> String {
        lossy(&self.fragment).into_owned()
    }

    fn escaped_fragment(&self) -> String {
        match &self.raw_fragment {
            Some(raw) if escape::is_valid(raw, UrlPart::Fragment) => raw.clone(),
            _ => escape(&self.fragment, UrlPart::Fragment),
        }
    }

    fn hierarchy(&self) -> String {
        let mut out = String::new();
        let has_authority = !self.host.is_empty() || self.user.is_some();
        if has_authority || (!self.scheme.is_empty() && !self.omit_host && !self.path.is_empty()) {
            out.push_str("//");
        }
        if let Some(user) = &self.user {
            out.push_str(&format!("{user}@"));
        }
        out.push_str(&escape(&self.host, UrlPart::Host));
        let path = self.escaped_path();
        if !path.is_empty() && !path.starts_with('/') && !self.host.is_empty() {
            out.push('/');
        }
        // The first segment of a relative path must not look like a scheme.
        let first_segment = path.split('/').next().unwrap_or_default();
        if out.is_empty() && self.scheme.is_empty() && first_segment.contains(':') {
            out.push_str("./");
        }
        out + &path
    }
}

impl FromStr for Url {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::parse(text)
    }
}

/// The URL put together again.
// Upstream: net/url/url.go, URL.String
impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.scheme.is_empty() {
            write!(f, "{}:", self.scheme)?;
        }
        if self.opaque.is_empty() {
            f.write_str(&self.hierarchy())?;
        } else {
            f.write_str(&self.opaque)?;
        }
        if self.bare_question_mark || !self.raw_query.is_empty() {
            write!(f, "?{}", self.raw_query)?;
        }
        if !self.fragment.is_empty() {
            write!(f, "#{}", self.escaped_fragment())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: [&str; 5]) {
        let url = Url::parse(text).unwrap();
        let parts = [
            url.scheme().to_owned(),
            url.host(),
            url.hostname(),
            url.port(),
            url.escaped_path(),
        ];
        assert_eq!(parts, expected, "{text}");
    }

    #[test]
    fn parts() {
        check(
            "HTTPS://u:p@example.com:80/a%2fb/c?x#y",
            ["https", "example.com:80", "example.com", "80", "/a%2fb/c"],
        );
        check("https://[::1]:8443/", ["https", "[::1]:8443", "::1", "8443", "/"]);
        check(
            "https://[fe80::1%25eth0]/",
            ["https", "[fe80::1%eth0]", "fe80::1%eth0", "", "/"],
        );
        check(
            "https://example.com:",
            ["https", "example.com:", "example.com", "", ""],
        );
        check("/a%2fb c", ["", "", "", "", "/a/b%20c"]);
        check("/only/path", ["", "", "", "", "/only/path"]);
        check("mailto:a@b", ["mailto", "", "", "", ""]);
        check("https://h%C3%A9/é", ["https", "hé", "hé", "", "/%C3%A9"]);
        check("*", ["", "", "", "", "*"]);
        check("https://h/%2A*'", ["https", "h", "h", "", "/%2A*'"]);
    }

    fn check_text(text: &str, expected: &str) {
        assert_eq!(Url::parse(text).unwrap().to_string(), expected);
    }

    #[test]
    fn displays() {
        check_text("HTTP://Example.com/a b?q#f g", "http://Example.com/a%20b?q#f%20g");
        check_text("http://u:p%40@h/?", "http://u:p%40@h/?");
        check_text("http://u@h", "http://u@h");
        check_text("http:/a", "http:/a");
        check_text("http://", "http:");
        check_text("file:///etc", "file:///etc");
        check_text("mailto:a@b?x=1", "mailto:a@b?x=1");
        check_text("//h/a", "//h/a");
        check_text("///a", "///a");
        check_text("./a:b", "./a:b");
        check_text("https://[::1%25a%20b]/", "https://[::1%25a%20b]/");
    }
}
