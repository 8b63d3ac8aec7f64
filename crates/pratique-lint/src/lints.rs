//! The lints, one module each: what a lint finds, and its exceptions.

mod absent_name;
mod atomic_field;
mod cel_in_message;
mod constant_condition;
mod cost_limit;
mod empty_binding;
mod empty_ca_bundle;
mod excluded_resource;
mod expired_ca_bundle;
mod failing_mutation;
mod idle_mutation;
mod idle_removal;
mod ignored_denial;
mod invalid_result;
mod lost_items;
mod malformed_ca_bundle;
mod match_nothing;
mod missed_subresource;
mod mixed_origins;
mod moved_field;
mod null_object;
mod older_version;
pub(crate) mod optional_version;
mod plugin_field;
mod quantity_as_text;
mod repeated_mutation;
pub(crate) mod replaced_object;
mod swallowed_text;
mod type_check;
mod unbound_policy;
mod unchecked_text;
mod unconvertible_version;
mod unguarded_field;
mod unknown_plugin;
mod unknown_resource;
mod unread_text;
mod unused_message;
mod webhook_timeout;

#[cfg(test)]
pub(crate) mod testing;

use crate::lint::AnyLint;
use crate::lint_meta::LintMeta;

/// All lints, by name. Each is run for each subject.
pub(crate) const LINTS: &[&dyn AnyLint] = &[
    &absent_name::AbsentName,
    &atomic_field::AtomicField,
    &cel_in_message::CelInMessage,
    &constant_condition::ConstantCondition,
    &cost_limit::CostLimit,
    &empty_binding::EmptyBinding,
    &empty_ca_bundle::EmptyCaBundle,
    &excluded_resource::ExcludedResource,
    &expired_ca_bundle::ExpiredCaBundle,
    &failing_mutation::FailingMutation,
    &idle_mutation::IdleMutation,
    &idle_removal::IdleRemoval,
    &ignored_denial::IgnoredDenial,
    &invalid_result::InvalidResult,
    &lost_items::LostItems,
    &malformed_ca_bundle::MalformedCaBundle,
    &match_nothing::MatchNothing,
    &missed_subresource::MissedSubresource,
    &mixed_origins::MixedOrigins,
    &moved_field::MovedField,
    &null_object::NullObject,
    &older_version::OlderVersion,
    &optional_version::OptionalVersion,
    &plugin_field::PluginField,
    &quantity_as_text::QuantityAsText,
    &repeated_mutation::RepeatedMutation,
    &replaced_object::ReplacedObject,
    &swallowed_text::SwallowedTextLint,
    &type_check::TypeCheck,
    &unbound_policy::UnboundPolicy,
    &unchecked_text::UncheckedText,
    &unconvertible_version::UnconvertibleVersion,
    &unguarded_field::UnguardedField,
    &unknown_plugin::UnknownPlugin,
    &unknown_resource::UnknownResource,
    &unread_text::UnreadText,
    &unused_message::UnusedMessage,
    &webhook_timeout::WebhookTimeout,
];

/// All lints, by name.
pub fn list_lints() -> impl Iterator<Item = &'static LintMeta> {
    LINTS.iter().map(|lint| lint.meta())
}

/// The lint of a name.
pub fn find_lint(name: &str) -> Option<&'static LintMeta> {
    list_lints().find(|lint| lint.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_plain() {
        assert!(LINTS.is_sorted_by(|a, b| a.meta().name < b.meta().name));
        for lint in list_lints() {
            let plain = |c: char| c.is_ascii_lowercase() || c == '-';
            assert!(lint.name.chars().all(plain), "{}", lint.name);
            assert_eq!(find_lint(lint.name), Some(lint));
        }
        assert_eq!(find_lint("warnings"), None);
    }
}
