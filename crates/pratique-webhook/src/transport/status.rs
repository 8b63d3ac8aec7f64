//! The messages for HTTP statuses other than success: the reference's sentences, or the Status in the body.

use pratique_gotext::strconv::quote_bytes;
use serde::Deserialize;

use super::media_type;

/// The most of a body that is quoted.
const LONGEST_QUOTE: usize = 2048;

/// An answer with a status other than success.
pub(super) struct FailedStatus<'a> {
    pub(super) code: u16,
    /// Empty: none.
    pub(super) content_type: &'a str,
    pub(super) body: &'a [u8],
}

impl FailedStatus<'_> {
    /// An API server's message.
    pub(super) fn message(&self) -> String {
        status_message(self.body).unwrap_or_else(|| self.sentence())
    }

    fn sentence(&self) -> String {
        let text = match self.code {
            400 => "the server rejected our request for an unknown reason",
            401 => "the server has asked for the client to provide credentials",
            403 | 415 => return self.to_text(),
            404 => "the server could not find the requested resource",
            405 => "the server does not allow this method on the requested resource",
            406 => match self.to_text() {
                message if message.is_empty() || message == UNKNOWN => {
                    "the server was unable to respond with a content type that the client supports"
                }
                message => return message,
            },
            409 => "the server reported a conflict",
            422 => "the server rejected our request due to an error in our request",
            429 => "the server has received too many requests and has asked us to try again later",
            503 => "the server is currently unable to handle the request",
            504 => {
                "the server was unable to return a response in the time allotted, but may still be processing the \
                 request"
            }
            500.. => {
                let body_text = quote_bytes(self.read_text().unwrap_or(UNKNOWN.as_bytes()));
                return format!(
                    "an error on the server ({body_text}) has prevented the request from succeeding"
                );
            }
            code => {
                return format!(
                    "the server responded with the status code {code} but did not return more information"
                );
            }
        };
        text.to_owned()
    }

    fn to_text(&self) -> String {
        let text = self.read_text().unwrap_or(UNKNOWN.as_bytes());
        String::from_utf8_lossy(text).into_owned()
    }

    /// The body, if it is text.
    fn read_text(&self) -> Option<&[u8]> {
        let kind = media_type::parse(self.content_type);
        let is_text = self.content_type.is_empty() || kind.is_ok_and(|kind| kind.starts_with("text/"));
        let body = self.body.get(..LONGEST_QUOTE).unwrap_or(self.body);
        is_text.then(|| body.trim_ascii())
    }
}

const UNKNOWN: &str = "unknown";

/// The fields of a Status object that are read; with a member of another type it is no Status.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StatusFields {
    kind: String,
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    #[expect(dead_code, reason = "must be text to be decoded")]
    reason: Option<String>,
    #[serde(default)]
    #[expect(dead_code, reason = "must be a number to be decoded")]
    code: Option<i32>,
}

/// The message of a Status that reports a failure.
fn status_message(body: &[u8]) -> Option<String> {
    let status: StatusFields = serde_json::from_slice(body).ok()?;
    let failed = status.kind == "Status" && status.status.as_deref() == Some("Failure");
    failed.then(|| status.message.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: u16, content_type: &str, body: &[u8], expected: &str) {
        let failed = FailedStatus {
            code,
            content_type,
            body,
        };
        assert_eq!(failed.message(), expected);
    }

    #[test]
    fn sentences() {
        let nothing = |code| {
            format!("the server responded with the status code {code} but did not return more information")
        };
        check(402, "text/plain", b"x", &nothing(402));
        check(304, "", b"", &nothing(304));
        check(403, "text/plain", b" no \n", "no");
        check(403, "application/json", b"{}", "unknown");
        check(403, "", b"hello", "hello");
        check(
            406,
            "",
            b"",
            "the server was unable to respond with a content type that the client supports",
        );
        check(406, "text/html", b"<p>", "<p>");
        let error = |shown: &str| {
            format!("an error on the server ({shown}) has prevented the request from succeeding")
        };
        check(500, "text/plain", b"a \"q\"\n", &error(r#""a \"q\"""#));
        check(599, "application/json", b"x", &error("\"unknown\""));
        let mut long = vec![b'x'; 2047];
        long.extend("\u{e9}".bytes());
        check(
            500,
            "text/plain",
            &long,
            &error(&format!("\"{}\\xc3\"", "x".repeat(2047))),
        );
    }

    #[test]
    fn statuses() {
        let unknown = "an error on the server (\"unknown\") has prevented the request from succeeding";
        let json = "application/json";
        check(
            500,
            json,
            br#"{"kind":"Status","apiVersion":"v1","status":"Failure","message":"m"}"#,
            "m",
        );
        check(500, json, br#"{"kind":"Status","status":"Failure"}"#, "");
        check(
            500,
            json,
            br#"{"kind":"Status","status":"Success","message":"m"}"#,
            unknown,
        );
        check(500, json, br#"{"status":"Failure","message":"m"}"#, unknown);
        check(
            500,
            json,
            br#"{"kind":"Status","status":"Failure","message":1}"#,
            unknown,
        );
    }
}
