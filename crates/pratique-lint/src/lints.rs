//! The lints, one module each: what a lint finds, and its exceptions.

pub(crate) mod atomic_field;
pub(crate) mod ca_bundle;
pub(crate) mod cel_in_message;
pub(crate) mod constant_condition;
pub(crate) mod cost_limit;
pub(crate) mod empty_binding;
pub(crate) mod excluded_resource;
pub(crate) mod ignored_denial;
pub(crate) mod match_nothing;
pub(crate) mod mixed_origins;
pub(crate) mod null_object;
pub(crate) mod older_version;
pub(crate) mod replaced_object;
pub(crate) mod type_check;
pub(crate) mod unbound_policy;
pub(crate) mod unguarded_field;
pub(crate) mod unknown_plugin;
pub(crate) mod unknown_resource;
pub(crate) mod unread_text;
pub(crate) mod webhook_timeout;

#[cfg(test)]
pub(crate) mod testing;
