//! Levels and versions of the Pod Security Standards.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use pratique_gotext::strconv::atoi;

/// A level of the Pod Security Standards, from the least to the most strict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// Everything is allowed.
    #[default]
    Privileged,
    /// Known privilege escalations are not allowed.
    Baseline,
    /// Current hardening practices are required.
    Restricted,
}

/// A version of the checks: of a minor release of Kubernetes, or the latest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Version {
    /// `v1.` and the minor version.
    Minor(i64),
    /// `latest`, newer than every other.
    #[default]
    Latest,
}

/// A level at a version: `restricted:v1.30`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LevelVersion {
    /// The level.
    pub level: Level,
    /// The version of its checks.
    pub version: Version,
}

/// A text is no level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be one of privileged, baseline, restricted")]
pub struct InvalidLevel;

/// A text is no version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be \"latest\" or \"v1.x\"")]
pub struct InvalidVersion;

impl Level {
    /// Reads a level.
    ///
    /// # Errors
    /// It is none of the three.
    pub fn parse(text: &str) -> Result<Self, InvalidLevel> {
        match text {
            "privileged" => Ok(Level::Privileged),
            "baseline" => Ok(Level::Baseline),
            "restricted" => Ok(Level::Restricted),
            _ => Err(InvalidLevel),
        }
    }

    /// The level as labels have it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Level::Privileged => "privileged",
            Level::Baseline => "baseline",
            Level::Restricted => "restricted",
        }
    }
}

impl Version {
    /// Reads `latest` or `v1.x`.
    ///
    /// # Errors
    /// It is neither, or the number has leading zeros or more than 63 bits.
    // Upstream: pod-security-admission/api/helpers.go, ParseVersion
    pub fn parse(text: &str) -> Result<Self, InvalidVersion> {
        if text == "latest" {
            return Ok(Version::Latest);
        }
        let digits = text.strip_prefix("v1.").ok_or(InvalidVersion)?;
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number || (digits.len() > 1 && digits.starts_with('0')) {
            return Err(InvalidVersion);
        }
        atoi(digits).map(Version::Minor).map_err(|_| InvalidVersion)
    }
}

impl LevelVersion {
    /// The text form. Nearly all are of the latest version.
    #[cfg(any(test, feature = "plugin"))]
    pub(crate) fn to_text(self) -> String {
        match self.version {
            Version::Latest => [self.level.as_str(), ":latest"].concat(),
            Version::Minor(_) => self.to_string(),
        }
    }

    /// Whether both allow the same: versions of the privileged level do not differ.
    pub fn is_equivalent(self, other: Self) -> bool {
        self == other || (self.level == Level::Privileged && other.level == Level::Privileged)
    }
}

impl FromStr for Level {
    type Err = InvalidLevel;

    fn from_str(text: &str) -> Result<Self, InvalidLevel> {
        Level::parse(text)
    }
}

impl FromStr for Version {
    type Err = InvalidVersion;

    fn from_str(text: &str) -> Result<Self, InvalidVersion> {
        Version::parse(text)
    }
}

impl Display for Level {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Display for Version {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Version::Minor(minor) => write!(f, "v1.{minor}"),
            Version::Latest => f.write_str("latest"),
        }
    }
}

impl Display for LevelVersion {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.level.as_str())?;
        match self.version {
            Version::Latest => f.write_str(":latest"),
            Version::Minor(_) => write!(f, ":{}", self.version),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        for (text, expected) in [
            ("latest", Some(Version::Latest)),
            ("v1.0", Some(Version::Minor(0))),
            ("v1.36", Some(Version::Minor(36))),
            ("v1.9223372036854775807", Some(Version::Minor(i64::MAX))),
            ("v1.9223372036854775808", None),
            ("v1.01", None),
            ("v1.", None),
            ("v1.-1", None),
            ("v1.+1", None),
            ("v2.0", None),
            ("1.20", None),
            ("v1.2.3", None),
            ("Latest", None),
            ("", None),
            ("v1.1\n", None),
        ] {
            assert_eq!(text.parse::<Version>().ok(), expected, "{text}");
        }
        assert!(Version::Minor(i64::MAX) < Version::Latest);
    }

    #[test]
    fn levels() {
        for level in [Level::Privileged, Level::Baseline, Level::Restricted] {
            assert_eq!(level.as_str().parse::<Level>(), Ok(level));
        }
        for version in [Version::Latest, Version::Minor(30)] {
            let level = LevelVersion {
                level: Level::Baseline,
                version,
            };
            assert_eq!(level.to_text(), level.to_string());
        }
        assert_eq!(Level::parse("strict"), Err(InvalidLevel));
        assert!(Level::Privileged < Level::Baseline && Level::Baseline < Level::Restricted);
    }
}
