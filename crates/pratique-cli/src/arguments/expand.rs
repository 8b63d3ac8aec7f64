//! The arguments about the Pods of workloads.

use clap::{Args, ValueEnum};
use pratique_expansion::PodTemplate;

/// Whether the Pods of workloads are reviewed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Workloads")]
pub(crate) struct ExpandArguments {
    /// Review the first Pod of each Deployment, StatefulSet, DaemonSet, ReplicaSet, Job, CronJob and ReplicationController
    /// as well, as its controller creates it. `auto` does so where a policy, a webhook that is called or a plugin of the chain
    /// is about Pods.
    #[arg(
        long,
        env = "PRATIQUE_EXPAND",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "on",
        default_value = "auto",
        value_name = "auto|on|off",
        hide_possible_values = true
    )]
    pub(crate) expand: ExpandMode,
    /// Where a custom resource has a Pod template, for --expand: `Rollout.argoproj.io=spec.template`.
    #[arg(
        long,
        env = "PRATIQUE_POD_TEMPLATE",
        value_name = "KIND.GROUP=PATH",
        value_delimiter = ','
    )]
    pub(crate) pod_template: Vec<PodTemplate>,
}

/// When the Pods of workloads are reviewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExpandMode {
    /// Where something that is evaluated is about Pods.
    Auto,
    /// Always.
    #[value(alias = "true")]
    On,
    /// Never.
    #[value(alias = "false")]
    Off,
}
