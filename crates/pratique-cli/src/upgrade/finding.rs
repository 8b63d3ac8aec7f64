//! What an upgrade breaks, and what it changes.

use serde::Serialize;

use crate::output::finding::AnnotationLevel;

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum UpgradeRule {
    RemovedVersion,
    NewlyRefused,
    UnknownField,
    InvalidPolicy,
    ExcludedWebhook,
    UnmatchedRule,
    RefusedFlag,
    IgnoredPlugin,
    NewlyAllowed,
    RefusedOtherwise,
    KnownField,
    ChangedObject,
    PolicyDecision,
    PolicyCost,
    DeprecatedVersion,
    Undecided,
}

/// What follows from a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum UpgradeEffect {
    /// Something that works does not any more.
    Breaks,
    /// Something works otherwise.
    Changes,
    /// Something works, and will not in a later release.
    Deprecated,
    /// It is not known whether something changes.
    Undecided,
}

/// Something that an upgrade breaks or changes.
#[derive(Clone, Debug, Serialize)]
pub(super) struct UpgradeFinding {
    pub(super) rule: UpgradeRule,
    pub(super) effect: UpgradeEffect,
    /// What it is about, together with others: a version and kind, a policy, a flag.
    pub(super) about: String,
    /// `file:line:column`, or else where it is; empty where that is not known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) place: String,
    /// The object or the request; empty where it is about none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) subject: String,
    pub(super) message: String,
}

impl UpgradeRule {
    pub(super) const ALL: [UpgradeRule; 16] = [
        UpgradeRule::RemovedVersion,
        UpgradeRule::NewlyRefused,
        UpgradeRule::UnknownField,
        UpgradeRule::InvalidPolicy,
        UpgradeRule::ExcludedWebhook,
        UpgradeRule::UnmatchedRule,
        UpgradeRule::RefusedFlag,
        UpgradeRule::IgnoredPlugin,
        UpgradeRule::NewlyAllowed,
        UpgradeRule::RefusedOtherwise,
        UpgradeRule::KnownField,
        UpgradeRule::ChangedObject,
        UpgradeRule::PolicyDecision,
        UpgradeRule::PolicyCost,
        UpgradeRule::DeprecatedVersion,
        UpgradeRule::Undecided,
    ];

    /// Its name, as it is written.
    pub(super) fn name(self) -> &'static str {
        match self {
            UpgradeRule::RemovedVersion => "removed-version",
            UpgradeRule::NewlyRefused => "newly-refused",
            UpgradeRule::UnknownField => "unknown-field",
            UpgradeRule::InvalidPolicy => "invalid-policy",
            UpgradeRule::ExcludedWebhook => "excluded-webhook",
            UpgradeRule::UnmatchedRule => "unmatched-rule",
            UpgradeRule::RefusedFlag => "refused-flag",
            UpgradeRule::IgnoredPlugin => "ignored-plugin",
            UpgradeRule::NewlyAllowed => "newly-allowed",
            UpgradeRule::RefusedOtherwise => "refused-otherwise",
            UpgradeRule::KnownField => "known-field",
            UpgradeRule::ChangedObject => "changed-object",
            UpgradeRule::PolicyDecision => "policy-decision",
            UpgradeRule::PolicyCost => "policy-cost",
            UpgradeRule::DeprecatedVersion => "deprecated-version",
            UpgradeRule::Undecided => "undecided",
        }
    }

    /// What it says of what it is about.
    pub(super) fn description(self) -> &'static str {
        match self {
            UpgradeRule::RemovedVersion => "The new server does not serve the version of the kind",
            UpgradeRule::NewlyRefused => "The new server refuses the request",
            UpgradeRule::UnknownField => {
                "The new server does not know a field: it drops it, or refuses the object"
            }
            UpgradeRule::InvalidPolicy => "The new server does not load the policy or configuration",
            UpgradeRule::ExcludedWebhook => "The webhook does not see requests any more that it sees now",
            UpgradeRule::UnmatchedRule => {
                "The rules of a webhook or policy name versions that the new server does not serve, and match nothing"
            }
            UpgradeRule::RefusedFlag => "The new server does not start with the value of the flag",
            UpgradeRule::IgnoredPlugin => "The new server has no such plugin, and ignores its configuration",
            UpgradeRule::NewlyAllowed => "The new server allows the request, which is refused now",
            UpgradeRule::RefusedOtherwise => "The new server refuses the request for another reason",
            UpgradeRule::KnownField => "The new server knows a field that is dropped now",
            UpgradeRule::ChangedObject => "The new server makes another object of it",
            UpgradeRule::PolicyDecision => "A policy decides otherwise",
            UpgradeRule::PolicyCost => "The expressions of a policy cost more or less",
            UpgradeRule::DeprecatedVersion => "The version of the kind is deprecated",
            UpgradeRule::Undecided => "It is not known what a server does",
        }
    }

    /// What follows from it.
    pub(super) fn effect(self) -> UpgradeEffect {
        match self {
            UpgradeRule::RemovedVersion
            | UpgradeRule::NewlyRefused
            | UpgradeRule::UnknownField
            | UpgradeRule::InvalidPolicy
            | UpgradeRule::ExcludedWebhook
            | UpgradeRule::UnmatchedRule
            | UpgradeRule::RefusedFlag => UpgradeEffect::Breaks,
            UpgradeRule::IgnoredPlugin
            | UpgradeRule::NewlyAllowed
            | UpgradeRule::RefusedOtherwise
            | UpgradeRule::KnownField
            | UpgradeRule::ChangedObject
            | UpgradeRule::PolicyDecision
            | UpgradeRule::PolicyCost => UpgradeEffect::Changes,
            UpgradeRule::DeprecatedVersion => UpgradeEffect::Deprecated,
            UpgradeRule::Undecided => UpgradeEffect::Undecided,
        }
    }

    /// A finding of the rule; the place is added to it.
    pub(super) fn about(self, about: impl Into<String>, message: impl Into<String>) -> UpgradeFinding {
        UpgradeFinding {
            rule: self,
            effect: self.effect(),
            about: about.into(),
            place: String::new(),
            subject: String::new(),
            message: message.into(),
        }
    }
}

impl UpgradeEffect {
    pub(super) const ALL: [UpgradeEffect; 4] = [
        UpgradeEffect::Breaks,
        UpgradeEffect::Changes,
        UpgradeEffect::Deprecated,
        UpgradeEffect::Undecided,
    ];

    /// How grave it is, in outputs of CI servers.
    pub(super) fn level(self) -> AnnotationLevel {
        match self {
            UpgradeEffect::Breaks | UpgradeEffect::Undecided => AnnotationLevel::Error,
            UpgradeEffect::Changes => AnnotationLevel::Warning,
            UpgradeEffect::Deprecated => AnnotationLevel::Note,
        }
    }

    /// The heading of what it is said of.
    pub(super) fn heading(self) -> &'static str {
        match self {
            UpgradeEffect::Breaks => "breaks",
            UpgradeEffect::Changes => "changes",
            UpgradeEffect::Deprecated => "deprecated",
            UpgradeEffect::Undecided => "undecided",
        }
    }
}

impl UpgradeFinding {
    pub(super) fn at(self, place: &str) -> Self {
        UpgradeFinding {
            place: place.to_owned(),
            ..self
        }
    }

    pub(super) fn about(self, subject: &str) -> Self {
        UpgradeFinding {
            subject: subject.to_owned(),
            ..self
        }
    }

    /// The subject, if there is one, and the message.
    pub(super) fn describe(&self) -> String {
        match self.subject.as_str() {
            "" => self.message.clone(),
            subject => format!("{subject}: {}", self.message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_they_are_written() {
        for rule in UpgradeRule::ALL {
            assert_eq!(serde_json::json!(rule), rule.name());
        }
    }
}
