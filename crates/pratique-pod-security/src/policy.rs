//! The policy of a namespace: its labels, over the defaults.

use std::fmt::{self, Display, Formatter};

use pratique_json::Object;
use pratique_types::field::{self, Path};

use crate::{Level, LevelVersion, Version};

/// The prefix of the labels, and of the keys of audit annotations.
pub const PREFIX: &str = "pod-security.kubernetes.io/";

/// The action on violations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Pods are refused.
    Enforce,
    /// They are recorded in the audit log.
    Audit,
    /// The user is warned.
    Warn,
}

/// The levels of the three modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// The level that pods must satisfy.
    pub enforce: LevelVersion,
    /// The level whose violations are recorded in the audit log.
    pub audit: LevelVersion,
    /// The level whose violations cause warnings.
    pub warn: LevelVersion,
}

/// A label whose value cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelError {
    /// The key of the label.
    pub label: &'static str,
    /// Its value.
    pub value: String,
    /// Whether it should be a version; otherwise a level.
    pub is_version: bool,
}

impl Mode {
    /// All, in the order of messages.
    pub(crate) const ALL: [Self; 3] = [Mode::Enforce, Mode::Audit, Mode::Warn];

    /// The mode as metrics name it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Mode::Enforce => "enforce",
            Mode::Audit => "audit",
            Mode::Warn => "warn",
        }
    }

    /// The keys of the labels for its level and its version.
    pub const fn labels(self) -> [&'static str; 2] {
        match self {
            Mode::Enforce => [
                "pod-security.kubernetes.io/enforce",
                "pod-security.kubernetes.io/enforce-version",
            ],
            Mode::Audit => [
                "pod-security.kubernetes.io/audit",
                "pod-security.kubernetes.io/audit-version",
            ],
            Mode::Warn => [
                "pod-security.kubernetes.io/warn",
                "pod-security.kubernetes.io/warn-version",
            ],
        }
    }
}

impl LabelError {
    /// The error of the namespace's field.
    pub fn to_field_error(&self) -> field::Error {
        let expected = if self.is_version {
            crate::InvalidVersion.to_string()
        } else {
            crate::InvalidLevel.to_string()
        };
        let labels = Path::METADATA.child("labels");
        field::Error::invalid(labels.key(self.label), self.value.as_str(), &expected)
    }
}

impl Display for LabelError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.to_field_error().fmt(f)
    }
}

impl Policy {
    /// The policy in the labels of a namespace. A level that cannot be read enforces `restricted`, and audits and warns
    /// about nothing; a version that cannot be read is the latest.
    // Upstream: pod-security-admission/api/helpers.go, PolicyToEvaluate
    pub fn of_labels(labels: Option<&Object<'_>>, defaults: Policy) -> (Self, Vec<LabelError>) {
        let mut policy = defaults;
        let mut errors = Vec::new();
        let Some(labels) = labels.filter(|labels| has_any(labels)) else {
            return (policy, errors);
        };
        let enforced = read(labels, Mode::Enforce, &mut policy.enforce, &mut errors);
        read(labels, Mode::Audit, &mut policy.audit, &mut errors);
        let warned = read(labels, Mode::Warn, &mut policy.warn, &mut errors);
        // A namespace that enforces more than the default warns about workloads by the enforced level.
        let is_stricter = enforced.level == LabelPresence::Valid && policy.enforce.level > policy.warn.level;
        if warned.level == LabelPresence::No && is_stricter {
            policy.warn.level = policy.enforce.level;
            if warned.version == LabelPresence::No {
                policy.warn.version = policy.enforce.version;
            }
        }
        (policy, errors)
    }

    /// The level of a mode.
    pub fn of_mode(&self, mode: Mode) -> LevelVersion {
        match mode {
            Mode::Enforce => self.enforce,
            Mode::Audit => self.audit,
            Mode::Warn => self.warn,
        }
    }

    /// Whether no mode looks at anything.
    pub fn is_privileged(&self) -> bool {
        Mode::ALL.map(|mode| self.of_mode(mode).level) == [Level::Privileged; 3]
    }

    /// Whether both policies have the same effect.
    pub fn is_equivalent(&self, other: &Self) -> bool {
        let is_same = |mode: Mode| self.of_mode(mode).is_equivalent(other.of_mode(mode));
        Mode::ALL.into_iter().all(is_same)
    }
}

/// Whether a label is set.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LabelPresence {
    No,
    Valid,
    Invalid,
}

/// Which labels of a mode are set.
struct LabelsOfMode {
    level: LabelPresence,
    version: LabelPresence,
}

fn has_any(labels: &Object<'_>) -> bool {
    labels.iter().any(|(key, _)| key.starts_with(PREFIX))
}

/// Reads the labels of one mode.
fn read(
    labels: &Object<'_>,
    mode: Mode,
    policy: &mut LevelVersion,
    errors: &mut Vec<LabelError>,
) -> LabelsOfMode {
    let [level_label, version_label] = mode.labels();
    let text = |label: &str| Some(labels.get(label)?.as_str().unwrap_or_default());
    let mut labels = LabelsOfMode {
        level: LabelPresence::No,
        version: LabelPresence::No,
    };
    let mut invalid = |label, value: &str, is_version| {
        errors.push(LabelError {
            label,
            value: value.to_owned(),
            is_version,
        });
        LabelPresence::Invalid
    };
    if let Some(value) = text(level_label) {
        labels.level = match Level::parse(value) {
            Ok(level) => {
                policy.level = level;
                LabelPresence::Valid
            }
            Err(_) => {
                policy.level = match mode {
                    Mode::Enforce => Level::Restricted,
                    Mode::Audit | Mode::Warn => Level::Privileged,
                };
                invalid(level_label, value, false)
            }
        };
    }
    if let Some(value) = text(version_label) {
        let parsed = Version::parse(value);
        policy.version = parsed.unwrap_or(Version::Latest);
        labels.version = match parsed {
            Ok(_) => LabelPresence::Valid,
            Err(_) => invalid(version_label, value, true),
        };
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(labels: &str) -> (String, Vec<String>) {
        let labels = pratique_json::parse(labels.as_bytes()).unwrap();
        let (policy, errors) = Policy::of_labels(labels.as_object(), Policy::default());
        let Policy { enforce, audit, warn } = policy;
        (
            format!("{enforce} {audit} {warn}"),
            errors.iter().map(ToString::to_string).collect(),
        )
    }

    #[test]
    fn warnings_follow_enforcement() {
        let enforce = r#"{"pod-security.kubernetes.io/enforce": "baseline",
            "pod-security.kubernetes.io/enforce-version": "v1.20"}"#;
        assert_eq!(
            policy(enforce).0,
            "baseline:v1.20 privileged:latest baseline:v1.20"
        );
        let warn = r#"{"pod-security.kubernetes.io/enforce": "restricted",
            "pod-security.kubernetes.io/warn": "baseline"}"#;
        assert_eq!(
            policy(warn).0,
            "restricted:latest privileged:latest baseline:latest"
        );
        let version = r#"{"pod-security.kubernetes.io/enforce": "restricted",
            "pod-security.kubernetes.io/warn-version": "v1.9"}"#;
        assert_eq!(
            policy(version).0,
            "restricted:latest privileged:latest restricted:v1.9"
        );
    }

    #[test]
    fn errors_are_strict_for_enforcement_only() {
        let labels = r#"{"pod-security.kubernetes.io/enforce": "x", "pod-security.kubernetes.io/audit": "y",
            "pod-security.kubernetes.io/warn-version": "1"}"#;
        let (policy, errors) = policy(labels);
        assert_eq!(policy, "restricted:latest privileged:latest privileged:latest");
        assert_eq!(
            errors,
            [
                "metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: \"x\": must be one of privileged, \
                 baseline, restricted",
                "metadata.labels[pod-security.kubernetes.io/audit]: Invalid value: \"y\": must be one of privileged, \
                 baseline, restricted",
                "metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: \"1\": must be \"latest\" or \
                 \"v1.x\"",
            ]
        );
    }
}
