//! The whole chain of an API server over a request: defaults, its own admission plugins, policies and webhooks, step by step.
//!
//! [`start`] makes the plugins that are on, as the server starts them. A [`PluginState`](pratique_state::PluginState) is what they see of the cluster, as
//! one request after another leaves it, and [`admit`] evaluates one.

mod admit;
mod plugins;
mod steps;

pub use admit::{AdmittedRequest, admit};
pub use plugins::{
    ChainSettings, PathPermit, StartFailure, StartedPlugins, check_kube_config, failure, make_plugin, start,
};
pub use pratique::observer::{PREPARATION, VALIDATION};
pub use steps::{DEFAULTING, ReviewStep, StepEffect};
pub(crate) use steps::{RecordedChange, RecordingModel};
