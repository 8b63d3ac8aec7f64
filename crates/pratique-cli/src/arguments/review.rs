//! The command line of `pratique review`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use pratique_manifest::Plugin;
use pratique_types::{FeatureGates, Operation};

use super::plugin;
use crate::baseline::Level;

/// Judge objects, or whole AdmissionReviews, as kube-apiserver would.
///
/// Without --config and --manifests the Pod Security Standards judge. Objects are not defaulted: what policies say of
/// fields that an object leaves to the server's defaults is for the object as it is given.
///
/// Exit codes: 0 all are allowed; 1 something is denied or invalid; 2 wrong usage or a file that does not open; 3 nothing
/// is denied, but something is undecided: it depends on what was not given.
#[derive(Debug, Args)]
pub(crate) struct ReviewArguments {
    /// Files of objects or AdmissionReviews, as YAML or JSON, or directories of them; `-` is standard input. A file may
    /// have several documents: YAML and JSON separated by lines of `---`, JSON also one after the other.
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) policies: PolicyArguments,
    #[command(flatten)]
    pub(crate) request: RequestArguments,
    /// A file of namespaces as the cluster has them; also those among the inputs count. Of others only the names are
    /// known, and what depends on more is undecided.
    #[arg(long, env = "PRATIQUE_NAMESPACE_OBJECT", value_name = "FILE")]
    pub(crate) namespace_object: Vec<String>,
    /// Files, or directories of them, of what the cluster has: namespaces, params, CustomResourceDefinitions.
    #[arg(long, env = "PRATIQUE_OBJECTS", value_name = "PATH", value_delimiter = ',')]
    pub(crate) objects: Vec<String>,
    /// A file that says what users may do, as `cluster.authorizer` of a suite does: `authorizer: [{users: [ann], verbs:
    /// [use], …}]`. What no rule fits is not allowed. Without, what depends on an authorization check is undecided.
    #[arg(long, env = "PRATIQUE_AUTHORIZER", value_name = "FILE")]
    pub(crate) authorizer: Option<String>,
    /// The largest input file to read, in MiB.
    #[arg(long, env = "PRATIQUE_MAX_INPUT", value_name = "MIB", default_value_t = 32)]
    pub(crate) max_input: u32,
    /// How to print the answer.
    #[arg(long, short, env = "PRATIQUE_OUTPUT", default_value = "human")]
    pub(crate) output: ReviewFormat,
    /// Tell how each verdict came about: what matched and what not, each expression with its values and its cost.
    #[arg(long, env = "PRATIQUE_EXPLAIN")]
    pub(crate) explain: bool,
    /// Call the configured webhooks over HTTPS, and show what they are asked and answer. They do what they do for any
    /// request: with --dry-run they are told not to.
    #[arg(long, env = "PRATIQUE_WEBHOOKS", conflicts_with = "explain")]
    pub(crate) webhooks: bool,
    /// Evaluate policies that no binding names as if one without constraints did; that of a validating policy denies.
    #[arg(long, env = "PRATIQUE_BIND")]
    pub(crate) bind: bool,
    /// Feature gates of kube-apiserver, as NAME=true|false.
    #[arg(
        long,
        env = "PRATIQUE_FEATURE_GATES",
        value_name = "NAME=BOOL,…",
        default_value = ""
    )]
    pub(crate) feature_gates: FeatureGates,
}

/// How the answer of a review is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReviewFormat {
    /// For people.
    Human,
    /// An AdmissionReview on each line, with the changed object beside the response.
    Json,
    /// What policies change, as a unified diff of YAML.
    Diff,
}

/// By what to judge.
#[derive(Debug, Args)]
pub(crate) struct PolicyArguments {
    /// An AdmissionConfiguration file, whose manifests judge.
    #[arg(long, env = "PRATIQUE_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<String>,
    /// A directory of static manifests that judge.
    #[arg(
        long,
        env = "PRATIQUE_MANIFESTS",
        value_name = "DIR",
        conflicts_with = "config"
    )]
    pub(crate) manifests: Option<String>,
    /// The admission plugin that the manifests are for; told by their kinds if it is not given.
    #[arg(long, env = "PRATIQUE_PLUGIN", value_name = "NAME", value_parser = plugin())]
    pub(crate) plugin: Option<Plugin>,
    /// Which of the Pod Security Standards judges where there is neither --config nor --manifests.
    #[arg(long, env = "PRATIQUE_LEVEL", default_value = "baseline")]
    pub(crate) level: Level,
}

/// What request to make of an object. An AdmissionReview is a request already, and taken as it is.
#[derive(Debug, Args)]
#[command(next_help_heading = "Requests")]
pub(crate) struct RequestArguments {
    /// CREATE, UPDATE, DELETE or CONNECT.
    #[arg(long, env = "PRATIQUE_OPERATION", value_name = "OPERATION", default_value = "CREATE",
          ignore_case = true, value_parser = operation())]
    pub(crate) operation: Operation,
    /// A file of the objects as they are stored, for updates.
    #[arg(long, env = "PRATIQUE_OLD", value_name = "FILE")]
    pub(crate) old: Vec<String>,
    /// The namespace of objects that name none.
    #[arg(long, short, env = "PRATIQUE_NAMESPACE", default_value = "default")]
    pub(crate) namespace: String,
    /// The name in the request, where it is not the object's.
    #[arg(long, env = "PRATIQUE_NAME")]
    pub(crate) name: Option<String>,
    /// The resource of objects whose kind is not known, as `widgets.example.com`, or that of a `Scale`. An object of a
    /// known kind that has another resource is an error.
    #[arg(long, env = "PRATIQUE_RESOURCE", value_name = "NAME")]
    pub(crate) resource: Option<String>,
    /// The part of the resource, as `status` or `exec`.
    #[arg(long, env = "PRATIQUE_SUBRESOURCE", value_name = "NAME", default_value = "")]
    pub(crate) subresource: String,
    /// Who makes the request.
    #[arg(
        long = "as",
        env = "PRATIQUE_AS",
        value_name = "USER",
        default_value = "kubernetes-admin"
    )]
    pub(crate) user: String,
    /// A group that the user is in, besides system:authenticated.
    #[arg(
        long = "as-group",
        env = "PRATIQUE_AS_GROUP",
        value_name = "GROUP",
        value_delimiter = ','
    )]
    pub(crate) groups: Vec<String>,
    /// Make the request a dry run.
    #[arg(long, env = "PRATIQUE_DRY_RUN")]
    pub(crate) dry_run: bool,
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
    use crate::arguments::{Arguments, Command};

    #[test]
    fn operations_in_any_case() {
        let arguments =
            Arguments::try_parse_from(["pratique", "review", "--operation", "update", "-"]).unwrap();
        let Command::Review(arguments) = arguments.command else {
            panic!("no review")
        };
        assert_eq!(arguments.request.operation, Operation::Update);
    }
}
