//! What `pratique serve` knows of a cluster.

use clap::Args;
#[cfg(feature = "kube")]
use clap::ValueEnum;

/// Where to know the cluster from.
#[derive(Debug, Args)]
#[command(next_help_heading = "Cluster")]
pub(crate) struct ClusterArguments {
    /// Take namespaces, CustomResourceDefinitions, params and answers to authorization checks from the cluster that
    /// KUBECONFIG or ~/.kube/config names, or, in a Pod, from its own. Without, every namespace is taken to exist, and
    /// what would depend on more is refused.
    #[cfg(feature = "kube")]
    #[arg(long, env = "PRATIQUE_CLUSTER")]
    pub(crate) cluster: bool,
    /// Take them from the cluster that this kubeconfig file names.
    #[cfg(feature = "kube")]
    #[arg(long, env = "PRATIQUE_KUBECONFIG", value_name = "FILE")]
    pub(crate) kubeconfig: Option<std::path::PathBuf>,
    /// The context of the kubeconfig file, instead of its current one.
    #[cfg(feature = "kube")]
    #[arg(long, env = "PRATIQUE_CONTEXT", value_name = "NAME", requires = "kubeconfig")]
    pub(crate) context: Option<String>,
    /// Have the cluster's own policies or webhooks judge as well, after those of files, and follow their changes: for API
    /// servers that do not do so themselves. It implies --cluster.
    #[cfg(feature = "kube")]
    #[arg(long, env = "PRATIQUE_FOLLOW", value_name = "WHAT", value_delimiter = ',')]
    pub(crate) follow: Vec<Followable>,
    /// Files of what the cluster has: namespaces, params, CustomResourceDefinitions; they say nothing of who may do what. With --cluster, they count where it
    /// has none of that name.
    #[arg(
        long,
        env = "PRATIQUE_CLUSTER_OBJECTS",
        value_name = "FILE",
        value_delimiter = ','
    )]
    pub(crate) cluster_objects: Vec<String>,
}

/// Configuration of admission that a cluster has.
#[cfg(feature = "kube")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Followable {
    /// Validating and mutating admission policies, with their bindings.
    Policies,
    /// Validating and mutating webhook configurations, but for what asks this server.
    Webhooks,
}

impl ClusterArguments {
    /// Whether a cluster's own configuration judges.
    #[cfg(feature = "kube")]
    pub(crate) fn follows(&self) -> bool {
        !self.follow.is_empty()
    }

    /// Without a client of clusters nothing can be followed.
    #[cfg(not(feature = "kube"))]
    pub(crate) fn follows(&self) -> bool {
        false
    }
}

#[cfg(all(test, feature = "kube"))]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::arguments::{Arguments, Command};

    #[test]
    fn what_is_followed_is_a_list() {
        let check = |arguments: &[&str], expected: Option<&[Followable]>| {
            let all = ["pratique", "serve"].iter().chain(arguments);
            let parsed = Arguments::try_parse_from(all).ok().map(|own| match own.command {
                Command::Serve(own) => own.cluster.follow,
                _ => panic!("not serve"),
            });
            assert_eq!(parsed.as_deref(), expected, "{arguments:?}");
        };
        check(&[], Some(&[]));
        check(
            &["--follow", "policies,webhooks"],
            Some(&[Followable::Policies, Followable::Webhooks]),
        );
        check(&["--cluster", "--cluster-objects", "a.yaml"], Some(&[]));
        check(&["--kubeconfig", "k", "--context", "c"], Some(&[]));
        check(&["--follow", "pods"], None);
        check(&["--context", "c"], None);
    }
}
