//! The whole chain of an API server: defaults, its own admission plugins, policies and webhooks, step by step.

mod announce;
mod plugins;
pub(crate) mod steps_output;

pub(crate) use announce::announce;
pub(crate) use plugins::start;
pub(crate) use steps_output::{JsonStep, StepSelection, diffs, human, is_change, json, paths};
