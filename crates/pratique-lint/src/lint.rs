//! The list of all lints.

use crate::lints;

/// A lint: a kind of warning.
#[derive(Debug, PartialEq, Eq)]
pub struct Lint {
    /// Its stable name, as in `null-object`.
    pub name: &'static str,
    /// What it finds, in a sentence.
    pub summary: &'static str,
}

/// All lints, by name.
pub fn all() -> &'static [&'static Lint] {
    &[
        &lints::atomic_field::LINT,
        &lints::cel_in_message::LINT,
        &lints::constant_condition::LINT,
        &lints::cost_limit::LINT,
        &lints::empty_binding::LINT,
        &lints::ca_bundle::EMPTY,
        &lints::excluded_resource::LINT,
        &lints::ca_bundle::EXPIRED,
        &lints::ignored_denial::LINT,
        &lints::ca_bundle::MALFORMED,
        &lints::match_nothing::LINT,
        &lints::mixed_origins::LINT,
        &lints::null_object::LINT,
        &lints::older_version::LINT,
        &lints::replaced_object::LINT,
        &lints::type_check::LINT,
        &lints::unbound_policy::LINT,
        &lints::unguarded_field::LINT,
        &lints::unknown_plugin::LINT,
        &lints::unknown_resource::LINT,
        &lints::unread_text::LINT,
        &lints::webhook_timeout::LINT,
    ]
}

/// The lint of a name.
pub fn find(name: &str) -> Option<&'static Lint> {
    all().iter().find(|lint| lint.name == name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_plain() {
        assert!(all().is_sorted_by(|a, b| a.name < b.name));
        for lint in all() {
            let plain = |c: char| c.is_ascii_lowercase() || c == '-';
            assert!(lint.name.chars().all(plain), "{}", lint.name);
            assert_eq!(find(lint.name), Some(*lint));
        }
        assert_eq!(find("warnings"), None);
    }
}
