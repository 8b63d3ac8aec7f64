//! The command line of `pratique review`.

use std::path::PathBuf;

use clap::Args;
use pratique_manifest::ManifestPlugin;
use pratique_types::Operation;

use super::{
    AcceptanceArguments, AnswerArguments, ChainArguments, ExpandArguments, ObjectArguments,
    PolicyPathArguments, RenderArguments, SenderArguments, StateArguments, VerboseArguments, plugin,
};
use crate::baseline::BaselineLevel;

/// Review objects or whole AdmissionReviews as kube-apiserver would.
///
/// Without --policies, --manifests, --admission-control-config-file and --input-policies, the policies of the cluster or
/// snapshot are evaluated, and without these the Pod Security Standards. Policies see objects as an API server has them, with
/// its defaults, and its own validation is part of the decision. With --chain, everything is done that an API server does.
///
/// Exit codes: 0 everything is allowed; 1 something is denied; 2 wrong usage, or an input or a policy cannot be read; 3
/// nothing is denied, but something is undecided, because an input is missing, or no policy is evaluated. --fail-on says what
/// counts.
#[derive(Debug, Args)]
pub(crate) struct ReviewArguments {
    /// Files with objects or AdmissionReviews, as YAML or JSON, plain or compressed with gzip, or directories that are
    /// walked for such files, without what a `.gitignore` names and git does not track; `-` is standard input. A file can hold several documents:
    /// YAML and JSON separated by lines of `---`, JSON also concatenated or on lines of its own, and lists.
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) rendering: RenderArguments,
    #[command(flatten)]
    pub(crate) policies: PolicyArguments,
    /// Evaluate the policies, bindings and webhook configurations among the inputs as well, for all inputs; without the flag
    /// they are objects to review like others. Standard input and pipes are copied first, up to 4096 MiB of each, and reviewed
    /// when they end.
    #[arg(long, env = "PRATIQUE_INPUT_POLICIES")]
    pub(crate) input_policies: bool,
    #[command(flatten)]
    pub(crate) request: RequestArguments,
    #[command(flatten)]
    pub(crate) completion: ObjectArguments,
    #[command(flatten)]
    pub(crate) workloads: ExpandArguments,
    #[command(flatten)]
    pub(crate) answers: AnswerArguments,
    #[command(flatten)]
    pub(crate) acceptance: AcceptanceArguments,
    #[command(flatten)]
    pub(crate) files: VerboseArguments,
    /// File with the cluster's namespaces; namespaces among the inputs count as well. Of other namespaces only the names
    /// are known, and what depends on more is undecided.
    #[arg(long, env = "PRATIQUE_NAMESPACE_OBJECT", value_name = "FILE")]
    pub(crate) namespace_object: Vec<String>,
    #[command(flatten)]
    pub(crate) state: StateArguments,
    #[command(flatten)]
    pub(crate) chain: ChainArguments,
    /// Explain each decision: which policies and bindings match, and each expression with its values and its cost. With
    /// --chain, all steps instead, also those that do nothing.
    #[arg(long, env = "PRATIQUE_EXPLAIN")]
    pub(crate) explain: bool,
    /// Call the configured webhooks over HTTPS, and show their requests and responses. Webhooks may have side effects
    /// unless --dry-run is set.
    #[arg(long, env = "PRATIQUE_WEBHOOKS", conflicts_with = "explain")]
    pub(crate) webhooks: bool,
}

/// The policies and webhooks to evaluate.
#[derive(Debug, Args)]
pub(crate) struct PolicyArguments {
    /// AdmissionConfiguration file, whose static manifests are evaluated.
    #[arg(
        long,
        alias = "config",
        env = "PRATIQUE_ADMISSION_CONTROL_CONFIG_FILE",
        value_name = "FILE"
    )]
    pub(crate) admission_control_config_file: Option<String>,
    /// Directory of static manifests to evaluate.
    #[arg(
        long,
        env = "PRATIQUE_MANIFESTS",
        value_name = "DIR",
        conflicts_with = "admission_control_config_file"
    )]
    pub(crate) manifests: Option<String>,
    #[command(flatten)]
    pub(crate) paths: PolicyPathArguments,
    /// Admission plugin of the manifests; by default it is derived from their kinds.
    #[arg(long, env = "PRATIQUE_PLUGIN", value_name = "NAME", value_parser = plugin())]
    pub(crate) plugin: Option<ManifestPlugin>,
    /// Level of the Pod Security Standards that is evaluated if no policies are named.
    #[arg(long, env = "PRATIQUE_LEVEL", default_value = "baseline")]
    pub(crate) level: BaselineLevel,
}

/// The request that is built from an object. An AdmissionReview is a request already, and taken as it is.
#[derive(Debug, Args)]
pub(crate) struct RequestArguments {
    /// Operation: CREATE, UPDATE, DELETE or CONNECT. By default CREATE; with --old or --since, what leads from the stored
    /// objects to the given ones; with --subresource, what clients do with it.
    #[arg(long, env = "PRATIQUE_OPERATION", value_name = "OPERATION",
          ignore_case = true, value_parser = operation())]
    pub(crate) operation: Option<Operation>,
    /// Files with the stored objects, or directories of them. Objects are paired by kind, namespace and name: one that is
    /// stored is updated, one that is not is created, and a stored one that is not among the inputs is deleted. With
    /// --operation UPDATE, each object has to be stored, and none is deleted.
    #[arg(long, env = "PRATIQUE_OLD", value_name = "PATH")]
    pub(crate) old: Vec<String>,
    /// Take the stored objects from a revision of the inputs' git repository, such as `HEAD` or `refs/remotes/origin/main`.
    #[arg(
        long,
        env = "PRATIQUE_SINCE",
        value_name = "REVISION",
        conflicts_with_all = ["old", "operation", "subresource"]
    )]
    pub(crate) since: Option<String>,
    /// Name in the request, if it differs from that of the object.
    #[arg(long, env = "PRATIQUE_NAME")]
    pub(crate) name: Option<String>,
    /// Resource of objects whose kind is not known, such as `widgets.example.com`, or of a `Scale`. It is an error if an
    /// object is of a known kind with another resource.
    #[arg(long, env = "PRATIQUE_RESOURCE", value_name = "NAME")]
    pub(crate) resource: Option<String>,
    /// Subresource, such as `status` or `exec`. Of a workload, its `Scale` is sent to `scale`; of a Pod, an `Eviction` to
    /// `eviction`. Others take the object itself, or an object of their own kind, such as `PodExecOptions`.
    #[arg(long, env = "PRATIQUE_SUBRESOURCE", value_name = "NAME", default_value = "")]
    pub(crate) subresource: String,
    #[command(flatten)]
    pub(crate) sender: SenderArguments,
    /// Mark the request as a dry run.
    #[arg(long, env = "PRATIQUE_DRY_RUN")]
    pub(crate) dry_run: bool,
}

impl RequestArguments {
    /// Those of creations.
    pub(crate) fn creations(sender: &SenderArguments) -> Self {
        RequestArguments {
            operation: Some(Operation::Create),
            old: Vec::new(),
            since: None,
            name: None,
            resource: None,
            subresource: String::new(),
            sender: sender.clone(),
            dry_run: false,
        }
    }
}

fn operation() -> impl clap::builder::TypedValueParser<Value = Operation> {
    use clap::builder::TypedValueParser as _;
    clap::builder::PossibleValuesParser::new(Operation::ALL.map(Operation::as_str)).map(|name| {
        let named = |operation: &Operation| operation.as_str().eq_ignore_ascii_case(&name);
        Operation::ALL.into_iter().find(named).unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::arguments::{ProgramArguments, ProgramCommand};

    #[test]
    fn operations_in_any_case() {
        let arguments =
            ProgramArguments::try_parse_from(["pratique", "review", "--operation", "update", "-"]).unwrap();
        let ProgramCommand::Review(arguments) = arguments.command else {
            panic!("no review")
        };
        assert_eq!(arguments.request.operation, Some(Operation::Update));
    }
}
