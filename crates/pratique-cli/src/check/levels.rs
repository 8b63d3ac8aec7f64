//! Which warnings are given, and which of them fail a check.

use pratique_lint::{Lint, Warning};

use crate::arguments::WARNINGS;
use crate::output::finding::Severity;

/// What the user wants to hear of.
#[derive(Debug)]
pub(crate) struct Levels<'a> {
    allowed: &'a [String],
    denied: &'a [String],
}

/// What becomes of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// Nothing.
    Allow,
    /// It is given.
    Warn,
    /// It is given, and the check fails.
    Deny,
}

impl<'a> Levels<'a> {
    pub(crate) fn new(allowed: &'a [String], denied: &'a [String]) -> Self {
        Levels { allowed, denied }
    }

    /// The level of a lint: a name counts more than all, a denial more than an allowance.
    pub(crate) fn of(&self, lint: &Lint) -> Level {
        let has = |names: &[String], name: &str| names.iter().any(|own| own == name);
        for name in [lint.name, WARNINGS] {
            if has(self.denied, name) {
                return Level::Deny;
            }
            if has(self.allowed, name) {
                return Level::Allow;
            }
        }
        Level::Warn
    }

    /// How bad a warning is.
    pub(crate) fn severity(&self, warning: &Warning) -> Severity {
        match self.of(warning.lint) {
            Level::Deny => Severity::Denied,
            Level::Allow | Level::Warn => Severity::Warning,
        }
    }

    /// Leaves out the warnings that are not wanted.
    pub(crate) fn wanted(&self, mut warnings: Vec<Warning>) -> Vec<Warning> {
        warnings.retain(|warning| self.of(warning.lint) != Level::Allow);
        warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(allowed: &[&str], denied: &[&str], expected: Level) {
        let owned = |names: &[&str]| -> Vec<String> { names.iter().map(|name| (*name).to_owned()).collect() };
        let (allowed, denied) = (owned(allowed), owned(denied));
        let lint = pratique_lint::find("null-object").unwrap();
        assert_eq!(
            Levels::new(&allowed, &denied).of(lint),
            expected,
            "{allowed:?} {denied:?}"
        );
    }

    #[test]
    fn names_and_all() {
        check(&[], &[], Level::Warn);
        check(&["type-check"], &["cost-limit"], Level::Warn);
        check(&["null-object"], &["warnings"], Level::Allow);
        check(&["warnings"], &["null-object"], Level::Deny);
        check(&["warnings"], &["warnings"], Level::Deny);
        check(&["null-object"], &["null-object"], Level::Deny);
    }
}
