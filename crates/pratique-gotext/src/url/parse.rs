//! Taking a URL apart.

use super::escape::{UrlPart, escape, unescape};
use super::{AddressError, Url, authority};
use crate::strconv::{quote, quote_bytes};

/// Why a text is no URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("parse {}: {reason}", quote(.text))]
pub struct ParseError {
    /// What was read; without fragment when the fault lies before it.
    pub text: String,
    /// Why it is malformed.
    pub reason: Reason,
}

/// Why a URL is malformed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// A control character.
    #[error("net/url: invalid control character in URL")]
    ControlCharacter,
    /// Nothing, where a URL must be absolute.
    #[error("empty url")]
    Empty,
    /// A colon with no scheme before it.
    #[error("missing protocol scheme")]
    MissingScheme,
    /// A relative path, where a URL must be absolute.
    #[error("invalid URI for request")]
    NotAbsolute,
    /// A relative path that looks like a scheme.
    #[error("first path segment in URL cannot contain colon")]
    ColonInFirstSegment,
    /// A `%` without two hexadecimal digits, or one that may not stand there.
    #[error("invalid URL escape {}", quote_bytes(.0))]
    Escape(Vec<u8>),
    /// A character that hosts cannot have.
    #[error("invalid character {} in host name", quote_bytes(&[*.0]))]
    HostCharacter(u8),
    /// Brackets around or behind something that is no IPv6 address.
    #[error("invalid IP-literal")]
    IpLiteral,
    /// A bracket that is not closed.
    #[error("missing ']' in host")]
    MissingBracket,
    /// A port that is no number.
    #[error("invalid port {} after host", quote(.0))]
    Port(String),
    /// Something in brackets that is no address.
    #[error("invalid host: {0}")]
    Host(AddressError),
    /// A character that users cannot have.
    #[error("net/url: invalid userinfo")]
    User,
}

pub(super) fn reference(text: &str) -> Result<Url, ParseError> {
    let (without_fragment, fragment) = text.split_once('#').unwrap_or((text, ""));
    let mut url = parse(without_fragment, false).map_err(|reason| ParseError {
        text: without_fragment.to_owned(),
        reason,
    })?;
    set_fragment(&mut url, fragment).map_err(|reason| ParseError {
        text: text.to_owned(),
        reason,
    })?;
    Ok(url)
}

pub(super) fn request_uri(text: &str) -> Result<Url, ParseError> {
    parse(text, true).map_err(|reason| ParseError {
        text: text.to_owned(),
        reason,
    })
}

fn parse(text: &str, must_be_absolute: bool) -> Result<Url, Reason> {
    if text.bytes().any(|byte| byte.is_ascii_control()) {
        return Err(Reason::ControlCharacter);
    }
    if text.is_empty() && must_be_absolute {
        return Err(Reason::Empty);
    }
    let mut url = Url::default();
    if text == "*" {
        url.path = b"*".to_vec();
        return Ok(url);
    }
    let (scheme, rest) = split_scheme(text)?;
    url.scheme = scheme.to_ascii_lowercase();
    let rest = take_query(&mut url, rest);
    if !rest.starts_with('/') {
        if !url.scheme.is_empty() {
            url.opaque = rest.to_owned();
            return Ok(url);
        }
        check_relative(rest, must_be_absolute)?;
    }
    let path = take_authority(&mut url, rest, must_be_absolute)?;
    set_path(&mut url, path)?;
    Ok(url)
}

/// Splits off the text before the first colon, if it could be a scheme.
fn split_scheme(text: &str) -> Result<(&str, &str), Reason> {
    if text.starts_with(':') {
        return Err(Reason::MissingScheme);
    }
    let is_scheme = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    };
    Ok(text
        .split_once(':')
        .filter(|(scheme, _)| is_scheme(scheme))
        .unwrap_or(("", text)))
}

fn take_query<'a>(url: &mut Url, text: &'a str) -> &'a str {
    let Some((without_query, query)) = text.split_once('?') else {
        return text;
    };
    url.bare_question_mark = query.is_empty();
    url.raw_query = query.to_owned();
    without_query
}

fn check_relative(path: &str, must_be_absolute: bool) -> Result<(), Reason> {
    if must_be_absolute {
        return Err(Reason::NotAbsolute);
    }
    let first_segment = path.split('/').next().unwrap_or_default();
    if first_segment.contains(':') {
        Err(Reason::ColonInFirstSegment)
    } else {
        Ok(())
    }
}

/// Reads `//authority`, where it is one, and gives the path.
fn take_authority<'a>(url: &mut Url, text: &'a str, must_be_absolute: bool) -> Result<&'a str, Reason> {
    let may_have_authority = !url.scheme.is_empty() || (!must_be_absolute && !text.starts_with("///"));
    match text.strip_prefix("//").filter(|_| may_have_authority) {
        Some(behind) => {
            let slash = behind.find('/').unwrap_or(behind.len());
            let (authority, path) = behind.split_at_checked(slash).unwrap_or((behind, ""));
            (url.user, url.host) = authority::parse(&url.scheme, authority)?;
            Ok(path)
        }
        None => {
            url.omit_host = !url.scheme.is_empty() && text.starts_with('/');
            Ok(text)
        }
    }
}

fn set_path(url: &mut Url, text: &str) -> Result<(), Reason> {
    url.path = unescape(text.as_bytes(), UrlPart::Path)?;
    url.raw_path = (escape(&url.path, UrlPart::Path) != text).then(|| text.to_owned());
    Ok(())
}

fn set_fragment(url: &mut Url, text: &str) -> Result<(), Reason> {
    url.fragment = unescape(text.as_bytes(), UrlPart::Fragment)?;
    url.raw_fragment = (escape(&url.fragment, UrlPart::Fragment) != text).then(|| text.to_owned());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let got = reference(text).map_or_else(|error| error.to_string(), |url| url.to_string());
        assert_eq!(got, expected, "{text}");
    }

    fn check_request(text: &str, expected: &str) {
        let got = request_uri(text).map_or_else(|error| error.to_string(), |url| url.to_string());
        assert_eq!(got, expected, "{text}");
    }

    #[test]
    fn references() {
        check("", "");
        check("a/b", "a/b");
        check(
            "a\nb#c",
            "parse \"a\\nb\": net/url: invalid control character in URL",
        );
        check(":a", "parse \":a\": missing protocol scheme");
        check(
            "1a:b",
            "parse \"1a:b\": first path segment in URL cannot contain colon",
        );
        check("/%zz", "parse \"/%zz\": invalid URL escape \"%zz\"");
        check("/a#%zz", "parse \"/a#%zz\": invalid URL escape \"%zz\"");
        check(
            "https://a b/",
            "parse \"https://a b/\": invalid character \" \" in host name",
        );
    }

    #[test]
    fn request_uris() {
        check_request("", "parse \"\": empty url");
        check_request("a/b", "parse \"a/b\": invalid URI for request");
        check_request("//h/a", "//h/a");
        check_request("https://h/a#b", "https://h/a%23b");
        check_request("mailto:x", "mailto:x");
        check_request("*", "*");
    }
}
