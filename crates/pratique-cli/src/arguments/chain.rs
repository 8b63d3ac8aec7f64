//! The arguments about the admission plugins that are built into an API server.

use clap::Args;

use super::AdmissionPluginArguments;

/// Which of the server's own admission plugins are run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Admission plugins")]
pub(crate) struct ChainArguments {
    /// Do all that an API server does to an object, in its order: set defaults, run its own admission plugins (LimitRanger,
    /// ServiceAccount, PodSecurity, ResourceQuota, …), policies and, with --webhooks, webhooks, and tell step by step what
    /// changed the object and what refused it. What plugins look up are the objects of --objects, those that the command
    /// was given before and that were allowed, and no others: a plugin that lacks some is undecided. Quotas are charged by
    /// one object after another.
    #[arg(long, env = "PRATIQUE_CHAIN", num_args = 0..=1, require_equals = true, default_missing_value = "true",
          value_name = "BOOL")]
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
    /// Whether the whole chain is run; `has_state` is whether the state of a cluster is given.
    pub(crate) fn is_on(&self, has_state: bool) -> bool {
        self.chain.unwrap_or(has_state)
    }
}
