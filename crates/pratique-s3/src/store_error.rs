//! What goes wrong with a store.

use std::io;

/// Why an object is not read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The store refuses it.
    #[error("the store answers {status}{}{}", parenthesized(.code), after_colon(.message))]
    Refused {
        /// The HTTP status code.
        status: u16,
        /// The store's code, such as `NoSuchKey`; empty if it says none.
        code: String,
        /// The store's message.
        message: String,
    },
    /// The bucket is in another region.
    #[error("the bucket is in region {region}: set AWS_REGION")]
    Region {
        /// Where it is.
        region: String,
    },
    /// The store is not reached.
    #[error("the store is not reached: {0}")]
    Unreached(String),
    /// The answer is not that of a store.
    #[error("the store's answer is not understood: {0}")]
    Answer(String),
    /// The object is larger than what is read.
    #[error("larger than {mebibytes} MiB")]
    TooLarge {
        /// The bound.
        mebibytes: usize,
    },
    /// A bucket cannot be addressed.
    #[error("bucket {bucket}: {why}")]
    Bucket {
        /// The bucket.
        bucket: String,
        /// Why.
        why: String,
    },
    /// The certificates that are trusted cannot be read.
    #[error("AWS_CA_BUNDLE: {path}: {why}")]
    Certificates {
        /// The file.
        path: String,
        /// Why.
        why: String,
    },
    /// There is nothing to send requests with.
    #[error("cannot start: {0}")]
    Start(String),
}

impl From<StoreError> for io::Error {
    fn from(error: StoreError) -> Self {
        let kind = match &error {
            StoreError::Refused { status: 404, .. } => io::ErrorKind::NotFound,
            StoreError::Refused {
                status: 401 | 403, ..
            } => io::ErrorKind::PermissionDenied,
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, error)
    }
}

impl StoreError {
    /// The error of an answer that is none of success.
    pub(crate) fn refused(status: u16, body: &[u8]) -> Self {
        let body = String::from_utf8_lossy(body);
        StoreError::Refused {
            status,
            code: element(&body, "Code"),
            message: element(&body, "Message"),
        }
    }
}

fn parenthesized(text: &str) -> String {
    match text {
        "" => String::new(),
        text => format!(" ({text})"),
    }
}

fn after_colon(text: &str) -> String {
    match text {
        "" => String::new(),
        text => format!(": {text}"),
    }
}

/// The text of an element of an error, which has no others of the name; empty if there is none.
fn element(body: &str, name: &str) -> String {
    let content_and_rest = body
        .split_once(&format!("<{name}>"))
        .and_then(|(_, rest)| rest.split_once(&format!("</{name}>")));
    unescaped(content_and_rest.map(|(text, _)| text).unwrap_or_default())
}

/// The text that XML has in escaped form: stores written in Go escape quotation marks by their numbers.
fn unescaped(text: &str) -> String {
    let (mut plain, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((plain_text, after)) = rest.split_once('&') {
        plain.push_str(plain_text);
        let reference = after.split_once(';');
        rest = match reference.and_then(|(name, rest)| Some((character(name)?, rest))) {
            Some((character, rest)) => {
                plain.push(character);
                rest
            }
            None => {
                plain.push('&');
                after
            }
        };
    }
    plain + rest
}

/// The character of a reference.
fn character(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "amp" => Some('&'),
        name => {
            let number = name.strip_prefix('#')?;
            let number = match number.strip_prefix('x') {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(number.ok()?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_words_of_the_store() {
        let body =
            b"<?xml version=\"1.0\"?><Error><Code>NoSuchKey</Code><Message>no &lt;key&gt;</Message></Error>";
        assert_eq!(
            StoreError::refused(404, body).to_string(),
            "the store answers 404 (NoSuchKey): no <key>"
        );
        assert_eq!(
            StoreError::refused(502, b"<html>").to_string(),
            "the store answers 502"
        );
        let body = b"<Error><Message>&#34;eu&#x22; &amp;lt; &none; & &#x110000;</Message></Error>";
        assert_eq!(
            StoreError::refused(400, body).to_string(),
            "the store answers 400: \"eu\" &lt; &none; & &#x110000;"
        );
    }
}
