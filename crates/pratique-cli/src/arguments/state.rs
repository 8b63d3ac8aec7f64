//! Arguments about the state of the cluster that policies see.

use std::path::PathBuf;

use clap::Args;

use super::{ClientArguments, GateArguments};
use crate::evaluation::complete_kind::CompleteKind;
use crate::exit::CliError;
use crate::snapshot::StateSource;

/// The state of the cluster whose requests are evaluated, and how policies are.
#[derive(Clone, Debug, Args)]
pub(crate) struct StateArguments {
    /// Files, or directories of them, with objects of the cluster: namespaces, params, CustomResourceDefinitions, and the
    /// roles and bindings by which authorization checks are answered. Namespaced objects without a namespace are in `default`,
    /// or that of --namespace.
    #[arg(long, env = "PRATIQUE_OBJECTS", value_name = "PATH", value_delimiter = ',')]
    pub(crate) objects: Vec<String>,
    /// The objects of --objects are all that the cluster has: a param that is not among them does not exist, nor does a
    /// namespace if there are any, and what no role and binding among them allows is not allowed. Without the flag, what
    /// depends on other objects is undecided.
    #[arg(long, env = "PRATIQUE_OBJECTS_COMPLETE", requires = "objects")]
    pub(crate) objects_complete: bool,
    /// There are no objects of some kinds besides those that are given: `resourcequotas,limitranges`. Kinds are named by their
    /// resources, as with kubectl, or as Kind.version.group. It is told in every output.
    #[arg(long, env = "PRATIQUE_NONE", value_name = "RESOURCE,…", value_delimiter = ',')]
    pub(crate) none: Vec<CompleteKind>,
    /// Directory that `pratique snapshot` wrote: the state of a cluster, and its policies if none are named. What the snapshot
    /// does not have stays unknown; objects of --objects count instead of those of the same name.
    #[arg(long, env = "PRATIQUE_SNAPSHOT", value_name = "DIR")]
    #[cfg_attr(feature = "kube", arg(conflicts_with_all = ["cluster", "kubeconfig", "context"]))]
    pub(crate) snapshot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) client: ClientArguments,
    /// File with authorization rules, as in `cluster.authorizer` of a suite: `authorizer: [{users: [ann], verbs: [use],
    /// …}]`. What no rule matches is not allowed. Without the flag, roles and bindings among --objects and in the snapshot
    /// answer authorization checks, or the cluster does; what depends on a check without an answer is undecided.
    #[arg(long, env = "PRATIQUE_AUTHORIZER", value_name = "FILE")]
    pub(crate) authorizer: Option<String>,
    /// Largest document, event, item of a long list, or other file, in MiB. Of a batch or a list, no more than an item is held.
    #[arg(long, env = "PRATIQUE_MAX_INPUT", value_name = "MIB", default_value_t = 32)]
    pub(crate) max_input: u32,
    /// Evaluate policies without a binding as if a binding without constraints named them; validations that fail then
    /// deny.
    #[arg(long, env = "PRATIQUE_BIND")]
    pub(crate) bind: bool,
    #[command(flatten)]
    pub(crate) gates: GateArguments,
}

impl StateArguments {
    /// The same with the release of the server, where one says it and none is named.
    ///
    /// # Errors
    /// The feature gates are not those of the release.
    pub(crate) fn of_server(&self, source: &StateSource) -> Result<Self, CliError> {
        Ok(StateArguments {
            gates: self.gates.with_server(source.server_version())?,
            ..self.clone()
        })
    }
}
