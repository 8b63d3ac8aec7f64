//! Reading versions, with the texts that users of `semver()` know.

use super::Version;
use crate::strconv::{NumberError, parse_uint, quote};

/// Why a text is no version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// Nothing to read.
    #[error("Version string empty")]
    Empty,
    /// Fewer than three numbers.
    #[error("No Major.Minor.Patch elements found")]
    TooFewParts,
    /// A number with something else than digits in it.
    #[error("Invalid character(s) found in {part} number {}", quote(.text))]
    NotANumber {
        /// `major`, `minor` or `patch`.
        part: &'static str,
        /// What stands there.
        text: String,
    },
    /// A number that starts with a superfluous zero.
    #[error("{part} number must not contain leading zeroes {}", quote(.text))]
    LeadingZeroes {
        /// `Major`, `Minor` or `Patch`.
        part: &'static str,
        /// What stands there.
        text: String,
    },
    /// A number without digits, or above 2^64 − 1.
    #[error(transparent)]
    Number(#[from] NumberError),
    /// A pre-release part without characters.
    #[error("Prerelease is empty")]
    EmptyPrerelease,
    /// A number among the pre-release parts that starts with a superfluous zero.
    #[error("Numeric PreRelease version must not contain leading zeroes {}", quote(.0))]
    PrereleaseLeadingZeroes(String),
    /// A pre-release part with other characters than letters, digits and hyphens.
    #[error("Invalid character(s) found in prerelease {}", quote(.0))]
    InvalidPrerelease(String),
    /// A build part without characters.
    #[error("Build meta data is empty")]
    EmptyBuild,
    /// A build part with other characters than letters, digits and hyphens.
    #[error("Invalid character(s) found in build meta data {}", quote(.0))]
    InvalidBuild(String),
    /// A version to be filled up that has a pre-release or build metadata already.
    #[error("short version cannot contain PreRelease/Build meta data")]
    ShortWithSuffix,
}

pub(super) fn strict(text: &str) -> Result<Version, ParseError> {
    if text.is_empty() {
        return Err(ParseError::Empty);
    }
    let mut parts = text.splitn(3, '.');
    let (Some(major), Some(minor), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(ParseError::TooFewParts);
    };
    let major = number(major, "major", "Major")?;
    let minor = number(minor, "minor", "Minor")?;
    let (rest, build) = cut_list(rest, '+');
    let (patch, pre) = cut_list(rest, '-');
    Ok(Version {
        major,
        minor,
        patch: number(patch, "patch", "Patch")?,
        pre: identifiers(pre, prerelease)?,
        build: identifiers(build, build_part)?,
    })
}

pub(super) fn normalized(text: &str) -> Result<Version, ParseError> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let mut parts: Vec<String> = text.splitn(3, '.').map(without_leading_zeroes).collect();
    if parts.len() < 3 && parts.last().is_some_and(|last| last.contains(['+', '-'])) {
        return Err(ParseError::ShortWithSuffix);
    }
    parts.resize(3, "0".to_owned());
    strict(&parts.join("."))
}

/// Drops zeroes as long as the part still starts with a digit.
fn without_leading_zeroes(part: &str) -> String {
    if part.len() < 2 {
        return part.to_owned();
    }
    let trimmed = part.trim_start_matches('0');
    if trimmed.starts_with(|c: char| c.is_ascii_digit()) {
        trimmed.to_owned()
    } else {
        format!("0{trimmed}")
    }
}

/// Splits off the dotted list behind the first `mark`.
fn cut_list(text: &str, mark: char) -> (&str, Option<&str>) {
    match text.split_once(mark) {
        Some((head, list)) => (head, Some(list)),
        None => (text, None),
    }
}

/// A dotted list, each part of which is looked at.
fn identifiers(
    list: Option<&str>,
    check: fn(&str) -> Result<(), ParseError>,
) -> Result<Box<str>, ParseError> {
    let list = match list {
        Some(list) => list,
        None => return Ok(Box::default()),
    };
    list.split('.').try_for_each(check)?;
    Ok(list.into())
}

fn number(text: &str, part: &'static str, part_capitalized: &'static str) -> Result<u64, ParseError> {
    if !all_digits(text) {
        return Err(ParseError::NotANumber {
            part,
            text: text.to_owned(),
        });
    }
    if has_leading_zero(text) {
        return Err(ParseError::LeadingZeroes {
            part: part_capitalized,
            text: text.to_owned(),
        });
    }
    Ok(parse_uint(text)?)
}

fn prerelease(text: &str) -> Result<(), ParseError> {
    if text.is_empty() {
        return Err(ParseError::EmptyPrerelease);
    }
    if all_digits(text) {
        if has_leading_zero(text) {
            return Err(ParseError::PrereleaseLeadingZeroes(text.to_owned()));
        }
        parse_uint(text)?;
        return Ok(());
    }
    if !all_word_characters(text) {
        return Err(ParseError::InvalidPrerelease(text.to_owned()));
    }
    Ok(())
}

fn build_part(text: &str) -> Result<(), ParseError> {
    if text.is_empty() {
        return Err(ParseError::EmptyBuild);
    }
    if !all_word_characters(text) {
        return Err(ParseError::InvalidBuild(text.to_owned()));
    }
    Ok(())
}

fn all_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn all_word_characters(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn has_leading_zero(text: &str) -> bool {
    text.len() > 1 && text.starts_with('0')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let got = strict(text).map_or_else(|error| error.to_string(), |version| version.to_string());
        assert_eq!(got, expected, "{text}");
    }

    fn check_normalized(text: &str, expected: &str) {
        let got = normalized(text).map_or_else(|error| error.to_string(), |version| version.to_string());
        assert_eq!(got, expected, "{text}");
    }

    #[test]
    fn numbers() {
        check("1.2.3", "1.2.3");
        check("", "Version string empty");
        check("1.2", "No Major.Minor.Patch elements found");
        check("v1.2.3", "Invalid character(s) found in major number \"v1\"");
        check("1.02.3", "Minor number must not contain leading zeroes \"02\"");
        check("1.2.3.4", "Invalid character(s) found in patch number \"3.4\"");
        check("..", "strconv.ParseUint: parsing \"\": invalid syntax");
        check(
            "18446744073709551616.0.0",
            "strconv.ParseUint: parsing \"18446744073709551616\": value out of range",
        );
    }

    #[test]
    fn pre_release_and_build() {
        check("1.2.3-", "Prerelease is empty");
        check(
            "1.2.3-01",
            "Numeric PreRelease version must not contain leading zeroes \"01\"",
        );
        check("1.2.3-a_b", "Invalid character(s) found in prerelease \"a_b\"");
        check("1.2.3+", "Build meta data is empty");
        check("1.2.3+é", "Invalid character(s) found in build meta data \"é\"");
        check("1.2.3+a-b", "1.2.3+a-b");
    }

    #[test]
    fn normalizing() {
        check_normalized("v1", "1.0.0");
        check_normalized("1.2", "1.2.0");
        check_normalized("01.000.0-alpha", "1.0.0-alpha");
        check_normalized("v01.02.03+b", "1.2.3+b");
        check_normalized("1.2-a", "short version cannot contain PreRelease/Build meta data");
        check_normalized("vv1", "Invalid character(s) found in major number \"0v1\"");
        check_normalized("", "strconv.ParseUint: parsing \"\": invalid syntax");
        check_normalized("00x.1.1", "Invalid character(s) found in major number \"0x\"");
    }
}
