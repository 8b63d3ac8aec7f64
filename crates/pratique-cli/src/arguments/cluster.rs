//! The arguments that name a cluster.

use clap::Args;
#[cfg(feature = "kube")]
use clap::ValueEnum;

/// The cluster whose state policies see.
#[derive(Debug, Args)]
pub(crate) struct ClusterArguments {
    /// Take namespaces, CustomResourceDefinitions, params and authorization decisions from the cluster of KUBECONFIG or
    /// ~/.kube/config, or, in a Pod, from the Pod's cluster. Without a cluster every namespace is assumed to exist, and
    /// policies that depend on more are rejected.
    #[cfg(feature = "kube")]
    #[arg(long, env = "PRATIQUE_CLUSTER")]
    pub(crate) cluster: bool,
    /// Take them from the cluster of this kubeconfig file.
    #[cfg(feature = "kube")]
    #[arg(long, env = "PRATIQUE_KUBECONFIG", value_name = "FILE")]
    pub(crate) kubeconfig: Option<std::path::PathBuf>,
    /// Context of the kubeconfig file, instead of its current context.
    #[cfg(feature = "kube")]
    #[arg(long, env = "PRATIQUE_CONTEXT", value_name = "NAME", requires = "kubeconfig")]
    pub(crate) context: Option<String>,
    /// Evaluate the policies or webhooks of the cluster as well, after those of files, and follow their changes: for API
    /// servers that do not evaluate them. Implies --cluster.
    #[cfg(feature = "kube")]
    #[arg(long, env = "PRATIQUE_FOLLOW", value_name = "WHAT", value_delimiter = ',')]
    pub(crate) follow: Vec<FollowableKind>,
    /// Files with objects of the cluster: namespaces, params, CustomResourceDefinitions; not authorization rules. With
    /// --cluster, they count where the cluster has no object of that name.
    #[arg(
        long,
        env = "PRATIQUE_CLUSTER_OBJECTS",
        value_name = "FILE",
        value_delimiter = ','
    )]
    pub(crate) cluster_objects: Vec<String>,
}

/// A cluster that is read once.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ClientArguments {
    /// Read what is not given from the cluster of KUBECONFIG or ~/.kube/config, or, in a Pod, from the Pod's cluster:
    /// policies, if none are named, and the state that they need. Nothing in it is changed.
    #[cfg(feature = "kube")]
    #[arg(long, env = "PRATIQUE_CLUSTER")]
    pub(crate) cluster: bool,
    /// Read it from the cluster of this kubeconfig file.
    #[cfg(feature = "kube")]
    #[arg(long, env = "PRATIQUE_KUBECONFIG", value_name = "FILE")]
    pub(crate) kubeconfig: Option<std::path::PathBuf>,
    /// Read it from the cluster of this context, instead of the current one.
    #[cfg(feature = "kube")]
    #[arg(long, env = "PRATIQUE_CONTEXT", value_name = "NAME")]
    pub(crate) context: Option<String>,
}

#[cfg(feature = "kube")]
impl ClientArguments {
    /// Whether the arguments name a cluster.
    pub(crate) fn names_cluster(&self) -> bool {
        self.cluster || self.kubeconfig.is_some() || self.context.is_some()
    }
}

/// Admission configuration of a cluster.
#[cfg(feature = "kube")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FollowableKind {
    /// Validating and mutating admission policies, with their bindings.
    Policies,
    /// Validating and mutating webhook configurations, except for webhooks of this server.
    Webhooks,
}

impl ClusterArguments {
    /// Whether the configuration of the cluster is evaluated.
    #[cfg(feature = "kube")]
    pub(crate) fn follows(&self) -> bool {
        !self.follow.is_empty()
    }

    /// Whether the configuration of the cluster is evaluated: not without a client.
    #[cfg(not(feature = "kube"))]
    pub(crate) fn follows(&self) -> bool {
        false
    }
}

#[cfg(all(test, feature = "kube"))]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::arguments::{ProgramArguments, ProgramCommand};

    #[test]
    fn what_is_followed_is_a_list() {
        let check = |arguments: &[&str], expected: Option<&[FollowableKind]>| {
            let all = ["pratique", "serve"].iter().chain(arguments);
            let parsed =
                ProgramArguments::try_parse_from(all)
                    .ok()
                    .map(|arguments| match arguments.command {
                        ProgramCommand::Serve(serve) => serve.cluster.follow,
                        _ => panic!("not serve"),
                    });
            assert_eq!(parsed.as_deref(), expected, "{arguments:?}");
        };
        check(&[], Some(&[]));
        check(
            &["--follow", "policies,webhooks"],
            Some(&[FollowableKind::Policies, FollowableKind::Webhooks]),
        );
        check(&["--cluster", "--cluster-objects", "a.yaml"], Some(&[]));
        check(&["--kubeconfig", "k", "--context", "c"], Some(&[]));
        check(&["--follow", "pods"], None);
        check(&["--context", "c"], None);
    }
}
