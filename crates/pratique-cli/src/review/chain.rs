//! The whole chain of an API server: defaults, its own admission plugins, policies and webhooks, step by step.

mod announce;
mod plugins;
pub(crate) mod shown;

pub(super) use announce::announce;
pub(super) use plugins::start;
pub(super) use shown::{JsonStep, diffs, human, json};
