//! Which warnings are reported, and which of them fail a check.

use std::time::SystemTime;

use pratique_lint::{LintMeta, LintOptions, Warning};

use crate::arguments::{WARNINGS, WarningArguments};
use crate::output::finding::FindingSeverity;

/// The levels of warnings that the user set.
#[derive(Debug)]
pub(crate) struct WarningLevels<'a> {
    allowed: &'a [String],
    warned: &'a [String],
    denied: &'a [String],
}

/// The level of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WarningLevel {
    /// Nothing.
    Allow,
    /// It is reported.
    Warn,
    /// It is reported, and the check fails.
    Deny,
}

impl<'a> WarningLevels<'a> {
    pub(crate) fn new(arguments: &'a WarningArguments) -> Self {
        WarningLevels {
            allowed: &arguments.allow,
            warned: &arguments.warn,
            denied: &arguments.deny,
        }
    }

    /// The level of a lint: a name takes precedence over `warnings`, deny over warn, and warn over allow.
    pub(crate) fn find_level(&self, lint: &LintMeta) -> WarningLevel {
        for name in [lint.name, WARNINGS] {
            if has(self.denied, name) {
                return WarningLevel::Deny;
            }
            if has(self.warned, name) {
                return WarningLevel::Warn;
            }
            if has(self.allowed, name) {
                return WarningLevel::Allow;
            }
        }
        WarningLevel::Warn
    }

    /// Whether warnings fail whose name has no level, as all warnings are denied.
    pub(crate) fn denies_warnings(&self) -> bool {
        has(self.denied, WARNINGS)
    }

    /// The severity of a warning.
    pub(crate) fn severity(&self, warning: &Warning) -> FindingSeverity {
        match self.find_level(warning.lint) {
            WarningLevel::Deny => FindingSeverity::Denied,
            WarningLevel::Allow | WarningLevel::Warn => FindingSeverity::Warning,
        }
    }

    /// The options of the lints at a time, with findings on request for lints that are named, and without those that are
    /// allowed.
    pub(crate) fn options(&self, now: SystemTime) -> LintOptions {
        let is_named = |lint: &LintMeta| has(self.denied, lint.name) || has(self.warned, lint.name);
        let named = pratique_lint::list_lints().filter(|lint| is_named(lint));
        let options = named.fold(LintOptions::default().at(now), |options, lint| {
            options.with_requested(lint)
        });
        let allowed = pratique_lint::list_lints().filter(|lint| self.find_level(lint) == WarningLevel::Allow);
        allowed.fold(options, LintOptions::without)
    }

    /// Removes the warnings that are allowed.
    pub(crate) fn without_allowed(&self, mut warnings: Vec<Warning>) -> Vec<Warning> {
        warnings.retain(|warning| self.find_level(warning.lint) != WarningLevel::Allow);
        warnings
    }
}

fn has(names: &[String], name: &str) -> bool {
    names.iter().any(|known| known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The level of `null-object`, and whether its findings on request are enabled.
    #[track_caller]
    fn check(allowed: &[&str], warned: &[&str], denied: &[&str], expected: (WarningLevel, bool)) {
        let owned = |names: &[&str]| -> Vec<String> { names.iter().map(|name| (*name).to_owned()).collect() };
        let arguments = WarningArguments {
            allow: owned(allowed),
            warn: owned(warned),
            deny: owned(denied),
        };
        let levels = WarningLevels::new(&arguments);
        let lint = pratique_lint::find_lint("null-object").unwrap();
        assert_eq!(
            (
                levels.find_level(lint),
                levels.options(SystemTime::UNIX_EPOCH).is_requested(lint)
            ),
            expected,
            "{arguments:?}"
        );
    }

    #[test]
    fn what_is_allowed_is_not_run() {
        let arguments = WarningArguments {
            allow: vec!["null-object".to_owned()],
            warn: Vec::new(),
            deny: Vec::new(),
        };
        let options = WarningLevels::new(&arguments).options(SystemTime::UNIX_EPOCH);
        let is_enabled = |name| options.is_enabled(pratique_lint::find_lint(name).unwrap());
        assert!(!is_enabled("null-object") && is_enabled("type-check"));
    }

    #[test]
    fn names_and_all() {
        check(&[], &[], &[], (WarningLevel::Warn, false));
        check(&["type-check"], &[], &["cost-limit"], (WarningLevel::Warn, false));
        check(&["null-object"], &[], &["warnings"], (WarningLevel::Allow, false));
        check(&["warnings"], &[], &["null-object"], (WarningLevel::Deny, true));
        check(&["warnings"], &[], &["warnings"], (WarningLevel::Deny, false));
        check(
            &["null-object"],
            &[],
            &["null-object"],
            (WarningLevel::Deny, true),
        );
        check(&[], &["null-object"], &[], (WarningLevel::Warn, true));
        check(&["warnings"], &["null-object"], &[], (WarningLevel::Warn, true));
        check(&[], &["null-object"], &["warnings"], (WarningLevel::Warn, true));
        check(
            &[],
            &["null-object"],
            &["null-object"],
            (WarningLevel::Deny, true),
        );
    }
}
