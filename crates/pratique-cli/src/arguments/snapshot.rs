//! The command line of `pratique snapshot`.

use std::path::PathBuf;

use clap::Args;

use super::{AdmissionPluginArguments, ClientArguments, GateArguments, PolicyPathArguments, on_or_off};

/// Write what policies need of a cluster to a directory, for `pratique review --snapshot` without the cluster.
///
/// Writes namespaces, the params of the policies, what admission plugins look up, the definitions of custom resources, and the
/// policies of the cluster unless others are named with --policies: one YAML file a kind and namespace, in a stable order.
/// `snapshot.yaml` tells when it was taken, from which version, and what could not be read: that stays unknown. Needs `list`
/// and `get` only.
///
/// Exit codes: 0 all that is needed was read; 2 wrong usage, or the cluster cannot be read; 3 some kinds could not be read.
#[derive(Debug, Args)]
pub(crate) struct SnapshotArguments {
    /// Directory to write: a new or an empty one, or one of a snapshot, which is replaced as a whole.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    #[command(flatten)]
    pub(crate) client: ClientArguments,
    #[command(flatten)]
    pub(crate) paths: PolicyPathArguments,
    /// User whose permissions are to be known, by the roles and bindings of the user and of its groups. Without users and
    /// groups, all roles and bindings are written if a policy or an admission plugin asks the authorizer.
    #[arg(long = "as", env = "PRATIQUE_AS", value_name = "USER", value_delimiter = ',')]
    pub(crate) users: Vec<String>,
    /// Group whose permissions are to be known.
    #[arg(
        long = "as-group",
        env = "PRATIQUE_AS_GROUP",
        value_name = "GROUP",
        value_delimiter = ','
    )]
    pub(crate) groups: Vec<String>,
    /// Secret to write as well. Others are left out, also where policies have Secrets as params.
    #[arg(long, env = "PRATIQUE_SECRETS", value_name = "NAMESPACE/NAME", value_delimiter = ',', value_parser = secret)]
    pub(crate) secrets: Vec<(String, String)>,
    /// Whether to write what the admission plugins of the server look up (LimitRanges, ResourceQuotas, ServiceAccounts,
    /// PriorityClasses, RuntimeClasses, StorageClasses, IngressClasses, …), and all definitions of custom resources, roles and
    /// bindings: with them, `review --snapshot` runs the whole admission chain. Never Secrets; Nodes and Pods with a flag of their own.
    #[arg(long, env = "PRATIQUE_PLUGIN_OBJECTS", value_name = "on|off", default_value = "on", num_args = 0..=1,
          require_equals = true, default_missing_value = "on", action = clap::ArgAction::Set, value_parser = on_or_off())]
    pub(crate) plugin_objects: bool,
    /// Write Nodes, without their status.
    #[arg(long, env = "PRATIQUE_NODES")]
    pub(crate) nodes: bool,
    /// Write Pods: PodSecurity warns of those that a namespace's new level would not allow.
    #[arg(long, env = "PRATIQUE_PODS")]
    pub(crate) pods: bool,
    #[command(flatten)]
    pub(crate) admission_plugins: AdmissionPluginArguments,
    /// Replace a directory that has other files.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) gates: GateArguments,
}

/// A namespace and a name.
fn secret(text: &str) -> Result<(String, String), String> {
    let (namespace, name) = text.split_once('/').ok_or("expected NAMESPACE/NAME")?;
    if namespace.is_empty() || name.is_empty() || name.contains('/') {
        Err("expected NAMESPACE/NAME".to_owned())
    } else {
        Ok((namespace.to_owned(), name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_have_a_namespace() {
        assert_eq!(secret("shop/key"), Ok(("shop".to_owned(), "key".to_owned())));
        for text in ["key", "/key", "shop/", "a/b/c"] {
            assert!(secret(text).is_err(), "{text}");
        }
    }
}
