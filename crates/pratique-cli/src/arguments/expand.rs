//! The arguments about the Pods of workloads.

use clap::Args;
use pratique_expansion::PodTemplate;

/// Whether the Pods of workloads are reviewed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Workloads")]
pub(crate) struct ExpandArguments {
    /// Review the first Pod of each Deployment, StatefulSet, DaemonSet, ReplicaSet, Job, CronJob and ReplicationController
    /// as well, as its controller creates it.
    #[arg(long, env = "PRATIQUE_EXPAND")]
    pub(crate) expand: bool,
    /// Where a custom resource has a Pod template, for --expand: `Rollout.argoproj.io=spec.template`.
    #[arg(
        long,
        env = "PRATIQUE_POD_TEMPLATE",
        value_name = "KIND.GROUP=PATH",
        value_delimiter = ',',
        requires = "expand"
    )]
    pub(crate) pod_template: Vec<PodTemplate>,
}
