//! The arguments about the Pods of workloads: of `review`, `scan` and `impact`.

use clap::{Args, ValueEnum};
use pratique_expansion::{Expander, PodTemplate};
#[cfg(feature = "kube")]
use pratique_types::GroupVersionKind;

/// Whether the Pods of workloads are evaluated.
#[derive(Debug, Args)]
pub(crate) struct ExpandArguments {
    /// Evaluate the first Pod of each Deployment, StatefulSet, DaemonSet, ReplicaSet, Job, CronJob and ReplicationController
    /// as well, as its controller creates it. `auto` does so where a policy, a webhook that is called or a plugin of the chain
    /// is about Pods, and not for objects of a cluster or an export of etcd, among which the Pods are.
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

impl ExpandArguments {
    /// What finds the Pods of workloads.
    pub(crate) fn expander(&self) -> Expander {
        Expander {
            templates: self.pod_template.clone(),
        }
    }

    /// Whether the Pods of a kind's objects are evaluated wherever these are: then it is listed, whatever policies match.
    #[cfg(feature = "kube")]
    pub(crate) fn always_expands(&self, kind: &GroupVersionKind) -> bool {
        self.expand == ExpandMode::On && self.expander().is_workload(&kind.group, &kind.kind)
    }
}

/// When the Pods of workloads are evaluated.
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

impl From<ExpandMode> for pratique_review::ExpandMode {
    fn from(mode: ExpandMode) -> Self {
        match mode {
            ExpandMode::Auto => pratique_review::ExpandMode::Auto,
            ExpandMode::On => pratique_review::ExpandMode::On,
            ExpandMode::Off => pratique_review::ExpandMode::Off,
        }
    }
}
