//! Semantic versions: `github.com/blang/semver`, as `k8s.io/apiserver`'s `semver()` and `isSemver()` read them, strictly
//! or after filling up what is missing.
//!
//! ```
//! use pratique_gotext::semver::Version;
//!
//! assert!(Version::parse("1.2.3-rc.1")? < Version::parse_normalized("v1.02.3")?);
//! assert_eq!(Version::parse("1.2").unwrap_err().to_string(), "No Major.Minor.Patch elements found");
//! # Ok::<(), pratique_gotext::semver::ParseError>(())
//! ```

mod parse;

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

pub use parse::ParseError;

/// A version `major.minor.patch[-pre][+build]`.
///
/// Ordering and equality are precedence as semver 2.0 defines it, so build metadata takes no part in them.
#[derive(Debug, Clone)]
pub struct Version {
    /// Incremented by incompatible changes.
    pub major: u64,
    /// Incremented by new features.
    pub minor: u64,
    /// Incremented by fixes.
    pub patch: u64,
    /// The identifiers of the pre-release with dots between them; empty for a release. There may be a million of them.
    pre: Box<str>,
    /// Those of the build metadata.
    build: Box<str>,
}

/// One part of a pre-release. Numbers sort before words; they have no leading zeroes, so that longer ones are larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PreReleasePart<'v> {
    Number(usize, &'v str),
    Word(&'v str),
}

impl<'v> From<&'v str> for PreReleasePart<'v> {
    fn from(text: &'v str) -> Self {
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            PreReleasePart::Number(text.len(), text)
        } else {
            PreReleasePart::Word(text)
        }
    }
}

impl Version {
    /// Reads a version that is complete and has no leading zeroes.
    ///
    /// # Errors
    /// The first fault of `text`.
    // Upstream: blang/semver/v4/semver.go, Parse
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        parse::strict(text)
    }

    /// Reads a version after dropping a leading `v` and leading zeroes and adding missing minor and patch numbers.
    ///
    /// # Errors
    /// The first fault of the text after that, or a shortened version that has a pre-release or build metadata.
    // Upstream: apiserver/pkg/cel/library/semverlib.go, normalizeAndParse
    pub fn parse_normalized(text: &str) -> Result<Self, ParseError> {
        parse::normalized(text)
    }
}

impl Version {
    /// How much memory its parts take, about.
    pub fn owned_bytes(&self) -> usize {
        self.pre.len() + self.build.len()
    }

    /// The identifiers of the pre-release.
    fn identifiers(&self) -> impl Iterator<Item = PreReleasePart<'_>> {
        self.pre.split('.').map(PreReleasePart::from)
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let numbers = |v: &Self| (v.major, v.minor, v.patch);
        numbers(self)
            .cmp(&numbers(other))
            // A release comes after all of its pre-releases.
            .then_with(|| self.pre.is_empty().cmp(&other.pre.is_empty()))
            .then_with(|| self.identifiers().cmp(other.identifiers()))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Version {}

impl FromStr for Version {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::parse(text)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        for (mark, list) in [("-", &self.pre), ("+", &self.build)] {
            if !list.is_empty() {
                write!(f, "{mark}{list}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_order(low: &str, high: &str) {
        let parsed = |text| Version::parse(text).unwrap();
        assert_eq!(parsed(low).cmp(&parsed(high)), Ordering::Less, "{low} < {high}");
        assert_eq!(
            parsed(high).cmp(&parsed(low)),
            Ordering::Greater,
            "{high} > {low}"
        );
    }

    #[test]
    fn precedence() {
        check_order("1.2.3", "1.2.4");
        check_order("1.9.9", "1.10.0");
        check_order("9.0.0", "10.0.0");
        check_order("1.0.0-alpha", "1.0.0");
        check_order("1.0.0-alpha", "1.0.0-alpha.1");
        check_order("1.0.0-alpha.1", "1.0.0-alpha.beta");
        check_order("1.0.0-2", "1.0.0-11");
        check_order("1.0.0-99", "1.0.0-a");
        check_order("1.0.0-Z", "1.0.0-a");
    }

    #[test]
    fn build_metadata_does_not_count() {
        assert_eq!(
            Version::parse("1.0.0+a").unwrap(),
            Version::parse("1.0.0+b").unwrap()
        );
    }

    #[test]
    fn displays_what_was_read() {
        for text in [
            "0.0.0",
            "1.2.3-a.1.b-c+x.007.-",
            "1.2.3+01",
            "18446744073709551615.0.0-0",
        ] {
            assert_eq!(Version::parse(text).unwrap().to_string(), text);
        }
    }
}
