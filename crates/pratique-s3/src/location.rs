//! Where an object is: `s3://bucket/key`.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// What locations begin with.
const SCHEME: &str = "s3://";

/// Where an object is, as in `s3://bucket/key`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreLocation {
    bucket: String,
    key: String,
}

/// Why a text is no location.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocationError {
    /// It has another form.
    #[error("{0}: expected s3://BUCKET/KEY")]
    Form(String),
    /// A URL cannot have the key.
    #[error("{0}: a key cannot have parts that are empty, `.` or `..`")]
    Key(String),
}

impl StoreLocation {
    /// Whether a text is meant to be a location.
    pub fn is_meant(text: &str) -> bool {
        text.starts_with(SCHEME)
    }

    /// The bucket.
    pub fn bucket(&self) -> &str {
        &self.bucket
    }

    /// The key of the object.
    pub fn key(&self) -> &str {
        &self.key
    }
}

impl FromStr for StoreLocation {
    type Err = LocationError;

    fn from_str(text: &str) -> Result<Self, LocationError> {
        let form = || LocationError::Form(text.to_owned());
        let rest = text.strip_prefix(SCHEME).ok_or_else(form)?;
        let (bucket, key) = rest.split_once('/').ok_or_else(form)?;
        // The rules of AWS, and of those that came before them.
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        let is_name = bucket.len() >= 3 && bucket.bytes().all(is_plain);
        if !is_name || bucket.contains("..") || bucket.starts_with('.') || key.is_empty() {
            return Err(form());
        }
        // They would be resolved, or lead to the bucket itself.
        if key.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(LocationError::Key(text.to_owned()));
        }
        Ok(StoreLocation {
            bucket: bucket.to_owned(),
            key: key.to_owned(),
        })
    }
}

impl Display for StoreLocation {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{SCHEME}{}/{}", self.bucket, self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_name_a_bucket_and_a_key() {
        for text in ["s3://reports/a.json", "s3://a.b-c/x/y z/0.parquet"] {
            assert_eq!(text.parse::<StoreLocation>().unwrap().to_string(), text);
        }
        for text in [
            "reports/a",
            "s3://reports",
            "s3://reports/",
            "s3:///a",
            "s3://a/b",
            "s3://re:po/a",
        ] {
            assert_eq!(
                text.parse::<StoreLocation>(),
                Err(LocationError::Form(text.to_owned()))
            );
        }
        for text in [
            "s3://reports/../other/a",
            "s3://reports/a/./b",
            "s3://reports//a",
            "s3://reports/a/",
        ] {
            assert_eq!(
                text.parse::<StoreLocation>(),
                Err(LocationError::Key(text.to_owned()))
            );
        }
    }
}
