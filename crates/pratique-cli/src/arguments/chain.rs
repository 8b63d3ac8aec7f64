//! The arguments about the admission plugins that are built into an API server.

use clap::Args;

use pratique_review::chain::ChainSettings;

use super::{AdmissionPluginArguments, on_or_off};

/// Which of the server's own admission plugins are run.
#[derive(Debug, Args)]
pub(crate) struct ChainArguments {
    /// Do all that an API server does to an object, in its order: set defaults, run its own admission plugins (LimitRanger,
    /// ServiceAccount, PodSecurity, ResourceQuota, …), policies and, with --webhooks, webhooks, and tell step by step what
    /// changed the object and what refused it. On by itself with --cluster, and with a --snapshot that has what plugins look
    /// up: that comes from there, from --objects, and from those inputs before it that were allowed. A plugin that lacks
    /// some of it is undecided. Quotas are charged by one object after another.
    #[arg(long, env = "PRATIQUE_CHAIN", num_args = 0..=1, require_equals = true, default_missing_value = "on",
          value_name = "on|off", value_parser = on_or_off())]
    pub(crate) chain: Option<bool>,
    #[command(flatten)]
    pub(crate) admission_plugins: AdmissionPluginArguments,
    /// How long Pods stay on a node that is not ready, if they do not say it, with --chain.
    #[arg(
        long,
        env = "PRATIQUE_DEFAULT_NOT_READY_TOLERATION_SECONDS",
        value_name = "SECONDS",
        default_value_t = 300
    )]
    pub(crate) default_not_ready_toleration_seconds: i64,
    /// How long Pods stay on a node that cannot be reached, if they do not say it, with --chain.
    #[arg(
        long,
        env = "PRATIQUE_DEFAULT_UNREACHABLE_TOLERATION_SECONDS",
        value_name = "SECONDS",
        default_value_t = 300
    )]
    pub(crate) default_unreachable_toleration_seconds: i64,
}

impl ChainArguments {
    /// The plugins that are run, and their flags.
    pub(crate) fn settings(&self) -> ChainSettings {
        ChainSettings {
            switches: self.admission_plugins.switches(),
            not_ready_toleration_seconds: self.default_not_ready_toleration_seconds,
            unreachable_toleration_seconds: self.default_unreachable_toleration_seconds,
        }
    }

    /// Whether the whole chain is run. `has_plugin_objects` is whether the state of a cluster has what plugins look up; `None`
    /// if there is no state.
    pub(crate) fn is_on(&self, has_plugin_objects: Option<bool>) -> bool {
        self.chain.unwrap_or(has_plugin_objects == Some(true))
    }
}
