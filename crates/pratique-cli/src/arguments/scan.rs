//! The command line of `pratique scan`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use pratique_report::{InputShard, ReportApi};

#[cfg(feature = "kube")]
use super::ListArguments;
use super::review::PolicyArguments;
use super::{
    AcceptanceArguments, CheckpointArguments, ExpandArguments, FailureArguments, ObjectArguments,
    OutputArguments, ResultArguments, ScanChainArguments, SenderArguments, StateArguments, StdinArguments,
    VerboseArguments,
};
use crate::evaluation::result_writer::ColumnFormat;

/// Evaluate policies for every object that is there, and report what they would refuse.
///
/// Objects come from a cluster, files, directories, a snapshot, an export of etcd or standard input. Each is evaluated as if it
/// did not exist yet and were created, or with --as-update as an update to itself. Memory does not grow with the number of
/// objects: they are counted by policy, namespace, kind and owner, with examples. Of a cluster, the kinds are listed that
/// policies match. What refuses the Pods of a workload counts as a refusal of the workload. Webhooks are not run, and built-in plugins with --chain. A scan can be divided into shards, whose reports
/// `pratique report merge` adds.
///
/// Without --policies, --manifests and --admission-control-config-file, the policies of the cluster or snapshot are evaluated,
/// and without these the Pod Security Standards.
///
/// Exit codes: 0 everything is allowed; 1 something is denied; 2 wrong usage, or an input or a policy cannot be read; 3
/// nothing is denied, but something is undecided, because an input is missing, or no policy is evaluated. --fail-on says what
/// counts.
#[derive(Debug, Args)]
pub(crate) struct ScanArguments {
    /// Files with objects, as YAML or JSON, plain or compressed with gzip, directories that are walked for such files, or
    /// what `etcdctl get --prefix / -w json` prints; `-` is standard input. By default the objects of the cluster (--cluster,
    /// --kubeconfig, --context), or of --snapshot.
    #[arg(value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) stdin: StdinArguments,
    #[command(flatten)]
    pub(crate) policies: PolicyArguments,
    #[command(flatten)]
    pub(crate) chain: ScanChainArguments,
    /// Evaluate each object as an update to itself: what only compares new with old does not refuse it, and policies of
    /// creations do not match.
    #[arg(long, env = "PRATIQUE_AS_UPDATE")]
    pub(crate) as_update: bool,
    #[command(flatten)]
    pub(crate) sender: SenderArguments,
    #[command(flatten)]
    pub(crate) workloads: ExpandArguments,
    #[command(flatten)]
    pub(crate) completion: ObjectArguments,
    #[command(flatten)]
    pub(crate) state: StateArguments,
    /// Scan a part of the inputs only: the part I of N, from 0, as in `0/4`. Files of JSON lines are divided by their bytes,
    /// other files by their documents. `pratique report merge` adds the reports of the parts.
    #[arg(long, env = "PRATIQUE_SHARD", value_name = "I/N", value_parser = shard)]
    pub(crate) shard: Option<InputShard>,
    #[cfg(feature = "kube")]
    #[command(flatten)]
    pub(crate) list: ListArguments,
    #[command(flatten)]
    pub(crate) checkpoints: CheckpointArguments,
    #[command(flatten)]
    pub(crate) answers: ScanAnswerArguments,
    #[command(flatten)]
    pub(crate) acceptance: AcceptanceArguments,
    #[command(flatten)]
    pub(crate) files: VerboseArguments,
}

/// What is printed of a scan, and what it fails for.
#[derive(Debug, Args)]
pub(crate) struct ScanAnswerArguments {
    #[command(flatten)]
    pub(crate) outputs: OutputArguments<ScanFormat>,
    #[command(flatten)]
    pub(crate) reports: ReportFileArguments,
    #[command(flatten)]
    pub(crate) results: ResultArguments,
    /// Apply the reports of `policyreport` or `openreports` to the cluster (--cluster, --kubeconfig, --context; by default that
    /// of KUBECONFIG or ~/.kube/config, or, in a Pod, the Pod's) instead of printing them, and remove those of scans before
    /// that are stale.
    #[cfg(feature = "kube")]
    #[arg(long, env = "PRATIQUE_APPLY", conflicts_with = "shard")]
    pub(crate) apply: bool,
    #[command(flatten)]
    pub(crate) failure: FailureArguments,
}

/// Files of the report, besides what is printed.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReportFileArguments {
    /// Write the report to a file: as a page that loads nothing if its name ends in `.html`, and otherwise as JSON, which
    /// `pratique report merge` reads. Several files can be named; `s3://BUCKET/KEY` is an object of an S3-compatible store.
    #[arg(
        long = "report",
        env = "PRATIQUE_REPORT",
        value_name = "FILE",
        value_delimiter = ','
    )]
    pub(crate) files: Vec<PathBuf>,
    /// Write the counts to a file as metrics in the text format of Prometheus, for a collector of text files such as that of
    /// node_exporter.
    #[arg(long, env = "PRATIQUE_METRICS_FILE", value_name = "FILE")]
    pub(crate) metrics_file: Option<PathBuf>,
}

/// The output format of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScanFormat {
    /// Tables of the counts, with examples.
    Human,
    /// The report as JSON: the counts with examples, which `pratique report merge` reads.
    Json,
    /// One line of JSON for each object in which something is found, and for each error; the last line has the counts.
    Ndjson,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// JUnit XML, with a case for each object in which something is found.
    Junit,
    /// Workflow commands of GitHub Actions: a message for each finding, and the counts.
    Github,
    /// PolicyReports of wgpolicyk8s.io/v1alpha2 for `kubectl apply`: one for each namespace, and one for the cluster.
    #[value(name = "policyreport")]
    PolicyReport,
    /// Reports of openreports.io/v1alpha1, in the same way.
    #[value(name = "openreports")]
    OpenReports,
    /// A row for each object, as Parquet.
    Parquet,
    /// A row for each object, as a stream of Arrow IPC.
    Arrow,
}

impl ScanFormat {
    /// Whether the output lists objects and is written as a whole, so that it cannot be continued.
    pub(crate) fn lists_objects(self) -> bool {
        match self {
            ScanFormat::Human | ScanFormat::Json | ScanFormat::Ndjson => false,
            ScanFormat::Sarif
            | ScanFormat::Junit
            | ScanFormat::Github
            | ScanFormat::PolicyReport
            | ScanFormat::OpenReports
            | ScanFormat::Parquet
            | ScanFormat::Arrow => true,
        }
    }

    /// Whether the output has each object with findings, and is printed at the end.
    pub(crate) fn lists_records(self) -> bool {
        matches!(self, ScanFormat::Sarif | ScanFormat::Junit | ScanFormat::Github)
    }

    /// Whether the output has what was not evaluated or not known, so that it is not told beside it.
    pub(crate) fn has_limitations(self) -> bool {
        match self {
            ScanFormat::Human
            | ScanFormat::Json
            | ScanFormat::Ndjson
            | ScanFormat::Sarif
            | ScanFormat::Junit
            | ScanFormat::Github => true,
            ScanFormat::PolicyReport | ScanFormat::OpenReports | ScanFormat::Parquet | ScanFormat::Arrow => {
                false
            }
        }
    }

    /// The kind of the reports for dashboards that the output consists of. They tell objects that no policy matched from those that
    /// pass.
    pub(crate) fn report_api(self) -> Option<ReportApi> {
        match self {
            ScanFormat::PolicyReport => Some(ReportApi::PolicyReport),
            ScanFormat::OpenReports => Some(ReportApi::OpenReports),
            ScanFormat::Human
            | ScanFormat::Json
            | ScanFormat::Ndjson
            | ScanFormat::Sarif
            | ScanFormat::Junit
            | ScanFormat::Github
            | ScanFormat::Parquet
            | ScanFormat::Arrow => None,
        }
    }

    /// The format of columns that this is.
    pub(crate) fn columns(self) -> Option<ColumnFormat> {
        match self {
            ScanFormat::Parquet => Some(ColumnFormat::Parquet),
            ScanFormat::Arrow => Some(ColumnFormat::ArrowStream),
            _ => None,
        }
    }
}

/// Parses `I/N`.
fn shard(text: &str) -> Result<InputShard, String> {
    let numbers = text
        .split_once('/')
        .and_then(|(index, of)| Some((u32::from_str(index).ok()?, u32::from_str(of).ok()?)));
    match numbers {
        Some((index, of)) if index < of && of <= InputShard::MAX => Ok(InputShard { index, of }),
        Some((_, of)) if of == 0 || of > InputShard::MAX => {
            Err(format!("there can be 1 to {} parts", InputShard::MAX))
        }
        Some((_, of)) => Err(format!("the parts of {of} are 0 to {}", of.saturating_sub(1))),
        None => Err("expected I/N, as in 0/4".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_numbered_from_0() {
        assert_eq!(shard("3/4"), Ok(InputShard { index: 3, of: 4 }));
        for (text, expected) in [
            ("4/4", "the parts of 4 are 0 to 3"),
            ("0/0", "there can be 1 to 100000 parts"),
            ("1", "expected I/N, as in 0/4"),
            ("-1/2", "expected I/N, as in 0/4"),
        ] {
            assert_eq!(shard(text), Err(expected.to_owned()), "{text}");
        }
    }
}
