//! The command line of `pratique impact`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[cfg(feature = "kube")]
use super::ListArguments;
use super::{
    AcceptanceArguments, CheckpointArguments, ComparisonArguments, ExcludeArguments, ExpandArguments,
    OriginArguments, OutputArguments, RememberArguments, SenderArguments, StateArguments, StdinArguments,
    ValidationArguments, VerboseArguments,
};

/// Compare two sets of policies: which decisions change.
///
/// Both are evaluated for the same requests: those of audit logs, as `replay` reads them, and the creation of each object of
/// other files, as `review` reads them, or of a cluster, as `scan` lists them: of the kinds that policies of either set match.
/// What refuses the Pods of a workload in such files counts as a refusal of the workload.
/// Decisions that change are counted by policy, namespace, user and owner, with examples.
///
/// Exit codes: 0 no more requests are newly refused than --max-new-refusals; 1 there are more; 2 wrong usage, or an input or a
/// policy cannot be read; 3 none are too many, but some decision depends on something that is not known. --fail-on says what
/// counts.
#[derive(Debug, Args)]
pub(crate) struct ImpactArguments {
    /// Audit logs of kube-apiserver, or files with objects, as YAML or JSON, plain or compressed with gzip, an export of etcd, a
    /// snapshot or other directories, which are walked for such files and logs; `-` is standard input. By default the objects
    /// of the cluster (--cluster, --kubeconfig, --context), or of --snapshot.
    #[arg(value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) stdin: StdinArguments,
    #[command(flatten)]
    pub(crate) sets: PolicySetArguments,
    #[command(flatten)]
    pub(crate) origin: OriginArguments,
    #[command(flatten)]
    pub(crate) sender: SenderArguments,
    #[command(flatten)]
    pub(crate) workloads: ExpandArguments,
    #[command(flatten)]
    pub(crate) memory: RememberArguments,
    #[command(flatten)]
    pub(crate) validation: ValidationArguments,
    #[command(flatten)]
    pub(crate) state: StateArguments,
    #[cfg(feature = "kube")]
    #[command(flatten)]
    pub(crate) list: ListArguments,
    #[command(flatten)]
    pub(crate) checkpoints: CheckpointArguments,
    #[command(flatten)]
    pub(crate) answers: ImpactAnswerArguments,
    #[command(flatten)]
    pub(crate) acceptance: AcceptanceArguments,
    #[command(flatten)]
    pub(crate) excluded: ExcludeArguments,
    #[command(flatten)]
    pub(crate) files: VerboseArguments,
}

/// The policies that are compared.
#[derive(Debug, Args)]
pub(crate) struct PolicySetArguments {
    /// The policies of now: files, or directories with all YAML and JSON files below them.
    #[arg(
        long,
        env = "PRATIQUE_OLD",
        value_name = "PATH",
        value_delimiter = ',',
        required_unless_present = "old_rev",
        conflicts_with_all = ["old_rev", "new_rev"]
    )]
    pub(crate) old: Vec<PathBuf>,
    /// The policies that are to take their place; by default those of --policies.
    #[arg(
        long,
        env = "PRATIQUE_NEW",
        value_name = "PATH",
        value_delimiter = ',',
        requires = "old",
        conflicts_with_all = ["old_rev", "new_rev", "policies"]
    )]
    pub(crate) new: Vec<PathBuf>,
    /// Compare revisions of --policies in its git repository: that of the policies of now, such as `refs/remotes/origin/main`.
    #[arg(long, env = "PRATIQUE_OLD_REV", value_name = "REVISION")]
    pub(crate) old_rev: Option<String>,
    /// The revision of the policies that are to take their place; by default the files as they are.
    #[arg(long, env = "PRATIQUE_NEW_REV", value_name = "REVISION", requires = "old_rev")]
    pub(crate) new_rev: Option<String>,
    /// The files or directories of the policies whose revisions are compared, or that are to take the place of those of --old.
    #[arg(long, env = "PRATIQUE_POLICIES", value_name = "PATH", value_delimiter = ',')]
    pub(crate) policies: Vec<PathBuf>,
}

impl PolicySetArguments {
    /// The paths of the policies that are to take the place of those of now.
    pub(crate) fn new_paths(&self) -> &[PathBuf] {
        if self.new.is_empty() {
            &self.policies
        } else {
            &self.new
        }
    }
}

/// What is printed of a comparison, and what it fails for.
#[derive(Debug, Args)]
pub(crate) struct ImpactAnswerArguments {
    #[command(flatten)]
    pub(crate) outputs: OutputArguments<ImpactFormat>,
    #[command(flatten)]
    pub(crate) comparison: ComparisonArguments,
    /// Explain the first newly refused request of each policy: its expressions with their values.
    #[arg(long, env = "PRATIQUE_EXPLAIN")]
    pub(crate) explain: bool,
    /// How many requests may be newly refused before the command fails.
    #[arg(
        long,
        env = "PRATIQUE_MAX_NEW_REFUSALS",
        value_name = "N",
        default_value_t = 0
    )]
    pub(crate) max_new_refusals: u64,
}

/// The output format of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImpactFormat {
    /// Tables of what changes, with examples.
    Human,
    /// The counts as one JSON document, with examples.
    Json,
    /// One line of JSON for each request whose decision changes or is undecided; the last line has the counts.
    Ndjson,
}
