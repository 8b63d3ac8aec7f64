//! The command line.

mod acceptance;
mod admission_plugins;
mod answers;
mod chain;
mod check;
mod checkpoints;
mod cluster;
mod comparison;
mod completions;
mod duration;
mod expand;
mod files;
mod foreign_words;
mod gates;
mod headings;
mod impact;
mod init;
#[cfg(feature = "kube")]
mod list;
mod listen;
mod lsp;
mod man;
mod objects;
mod other_meanings;
mod output_tip;
mod outputs;
pub(crate) mod outputs_error;
mod playground;
mod policies;
mod render;
mod replay;
mod report;
mod results;
mod review;
mod scan;
mod scan_chain;
mod sender;
mod serve;
mod short_help;
#[cfg(feature = "kube")]
mod snapshot;
mod state;
mod switch;
mod test;
mod upgrade;
mod warnings;

use std::ffi::OsString;
use std::path::Path;
use std::sync::LazyLock;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use pratique_manifest::{ManifestPlugin, path_text};

use crate::kubectl;
use crate::output;
use crate::output::text::{PrintableText, text};
use crate::project::arguments::completed;
use crate::project::{FILE, LoadedProject, ProjectError, names_no_command};

pub(crate) use acceptance::AcceptanceArguments;
pub(crate) use admission_plugins::AdmissionPluginArguments;
pub(crate) use answers::{AnswerArguments, FailOn, FailureArguments, ReviewFormat};
pub(crate) use chain::ChainArguments;
pub(crate) use check::{CheckArguments, CheckFormat};
pub(crate) use checkpoints::CheckpointArguments;
#[cfg(feature = "kube")]
pub(crate) use cluster::FollowableKind;
pub(crate) use cluster::{ClientArguments, ClusterArguments};
pub(crate) use comparison::{ComparisonArguments, ComparisonFailOn};
pub(crate) use completions::CompletionsArguments;
use duration::duration;
pub(crate) use expand::{ExpandArguments, ExpandMode};
pub(crate) use files::{ExcludeArguments, VerboseArguments};
pub(crate) use gates::{GateArguments, are_mutations_on, report_release, report_server, tell_unprinted};
pub(crate) use impact::{ImpactAnswerArguments, ImpactArguments, ImpactFormat};
pub(crate) use init::InitArguments;
#[cfg(feature = "kube")]
pub(crate) use list::ListArguments;
pub(crate) use listen::ListenAddress;
pub(crate) use lsp::LspArguments;
pub(crate) use man::ManArguments;
pub(crate) use objects::{FieldValidation, ObjectArguments, ValidationArguments};
pub(crate) use outputs::{OUTPUT_VALUE, OutputArguments, OutputChoice};
pub(crate) use playground::PlaygroundArguments;
pub(crate) use policies::{OriginArguments, PolicyPathArguments};
pub(crate) use render::{RenderArguments, StdinArguments};
pub(crate) use replay::{RememberArguments, ReplayAnswerArguments, ReplayArguments, ReplayFormat};
pub(crate) use report::{MergeArguments, ReportArguments, ReportCommand, ReportFormat};
pub(crate) use results::ResultArguments;
pub(crate) use review::{PolicyArguments, RequestArguments, ReviewArguments};
pub(crate) use scan::{ReportFileArguments, ScanAnswerArguments, ScanArguments, ScanFormat};
pub(crate) use scan_chain::ScanChainArguments;
pub(crate) use sender::SenderArguments;
pub(crate) use serve::{
    AuditLevel, CertificateArguments, LimitArguments, LogFormat, LogLevel, RecordArguments,
    RegistrationArguments, ServeArguments,
};
#[cfg(feature = "kube")]
pub(crate) use snapshot::SnapshotArguments;
pub(crate) use state::StateArguments;
use switch::on_or_off;
pub(crate) use test::{TestArguments, TestFormat};
pub(crate) use upgrade::{UpgradeAnswerArguments, UpgradeArguments, UpgradeFailOn, UpgradeFormat};
pub(crate) use warnings::{WARNINGS, WarningArguments};

/// Kubernetes admission control without a cluster.
///
/// Exit codes: 0 everything is valid, allowed, as expected; 1 something is not; 2 wrong usage, or something cannot be read;
/// 3 nothing is denied, but something is undecided or was not evaluated, because an input is missing.
///
/// A file pratique.yaml at the root of the repository says what the commands are given where the command line does not.
/// Without arguments, what it names is checked, reviewed and tested, with one exit code.
#[derive(Debug, Parser)]
#[command(name = "pratique", version, long_version = LONG_VERSION.as_str(), propagate_version = true)]
pub(crate) struct ProgramArguments {
    #[command(subcommand)]
    pub(crate) command: ProgramCommand,
    /// Do not read the project file, pratique.yaml.
    #[arg(long, global = true, env = "PRATIQUE_NO_PROJECT_FILE")]
    pub(crate) no_project_file: bool,
    /// Let the project file do what the command line can: connect to clusters and webhooks, and write files. Without it, what
    /// reaches out is refused in the file. Whoever can propose a change can then do so on the machine that checks it:
    /// docs/configuration.md says which fields these are. Commands in kubeconfigs that the file names are never run.
    #[arg(long, global = true, env = "PRATIQUE_TRUST_PROJECT_FILE")]
    pub(crate) trust_project_file: bool,
    /// Read the project file from a revision of its repository, such as the target of a pull request, and not from the working
    /// tree, so that a change is not checked by rules that it brings along.
    #[arg(
        long,
        global = true,
        env = "PRATIQUE_PROJECT_FILE_FROM",
        value_name = "REVISION"
    )]
    pub(crate) project_file_from: Option<String>,
}

/// The version, and the releases of Kubernetes that it knows.
static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    let releases = gates::release_names().join(", ");
    format!("{}\nKubernetes {releases}", env!("CARGO_PKG_VERSION"))
});

/// Environment variables that were renamed together with their flags: the argument, and the former variable. The former
/// one counts where the new one is not set; former flags are hidden aliases.
const RENAMED_VARIABLES: [(&str, &str); 9] = [
    ("admission_control_config_file", "PRATIQUE_CONFIG"),
    ("audit_log_path", "PRATIQUE_AUDIT_LOG"),
    ("client_ca_file", "PRATIQUE_CLIENT_CA"),
    ("logging_format", "PRATIQUE_LOG_FORMAT"),
    ("max_memory", "PRATIQUE_MAX_BODIES"),
    ("max_requests_inflight", "PRATIQUE_MAX_REQUESTS"),
    ("shutdown_delay_duration", "PRATIQUE_DRAIN_DELAY"),
    ("tls_cert_file", "PRATIQUE_TLS_CERT"),
    ("tls_private_key_file", "PRATIQUE_TLS_KEY"),
];

/// Why the command line is not run.
pub(crate) enum ParseError {
    /// It is wrong, or asks for help.
    Line(clap::Error),
    /// The project file cannot be used.
    Project(ProjectError),
    /// It names no command, and no project file names anything: there is nothing to do.
    Nothing(PrintableText),
}

/// Parses the command line, the environment and the project file: the runs that they ask for, in order.
///
/// # Errors
/// They are wrong, or ask for help.
pub(crate) fn parse() -> Result<Vec<ProgramArguments>, ParseError> {
    let command = command();
    let typed: Vec<OsString> = std::env::args_os().collect();
    if let Some(meant) = other_meanings::other_meaning(&typed) {
        let error = command.clone().error(ErrorKind::InvalidValue, meant);
        return Err(ParseError::Line(error));
    }
    let line = foreign_words::translated(typed, &command);
    let asks = |kind| matches!(kind, ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    match command.clone().try_get_matches_from(&line) {
        // What is wrong in the file does not matter here.
        Err(error) if asks(error.kind()) => {
            return parse_line(line).map(|run| vec![run]).map_err(ParseError::Line);
        }
        Ok(matches)
            if matches!(
                matches.subcommand_name(),
                Some("init" | "playground" | "completions" | "man")
            ) =>
        {
            return parse_line(line).map(|run| vec![run]).map_err(ParseError::Line);
        }
        _ => {}
    }
    let project = LoadedProject::current(&line).map_err(ParseError::Project)?;
    let is_bare = names_no_command(line.get(1..).unwrap_or_default());
    let Some(project) = project else {
        if is_bare {
            return Err(ParseError::Nothing(text!(
                "there is nothing to do: no command is named, and there is no {} here or above; `pratique init` writes one, and \
                 `pratique --help` lists the commands\n",
                FILE
            )));
        }
        return parse_line(line).map(|run| vec![run]).map_err(ParseError::Line);
    };
    let lines = match line.get(1..) {
        Some(_) if is_bare => ["check", "review", "test"]
            .into_iter()
            .filter(|name| project.runs(name))
            .map(|name| line.iter().cloned().chain([name.into()]).collect())
            .collect(),
        _ => vec![line.clone()],
    };
    if lines.is_empty() {
        return Err(ParseError::Nothing(text!(
            "{}: it names no `policies`, `inputs` or `suites`: there is nothing to check, review or test\n",
            path_text(&project.path)
        )));
    }
    let mut used = Vec::new();
    let lines: Vec<Vec<OsString>> = lines
        .into_iter()
        .map(|line| match completed(&command, &line, &project) {
            Some(completed) => {
                used.extend(completed.used);
                completed.line
            }
            None => line,
        })
        .collect();
    if !used.is_empty() {
        output::eprint(&text!("project file: {}\n", path_text(&project.path)));
        project.apply(&used).map_err(ParseError::Project)?;
    }
    let runs = lines.into_iter().map(parse_line).collect::<Result<_, _>>();
    runs.map_err(ParseError::Line)
}

/// The command line as it was typed.
pub(crate) fn command() -> clap::Command {
    let command = with_renamed_variables(ProgramArguments::command());
    kubectl::as_typed(headings::with_headings(short_help::with_short_help(command)))
}

/// Parses a command line and the environment.
fn parse_line(line: Vec<OsString>) -> Result<ProgramArguments, clap::Error> {
    let mut command = command();
    let name = foreign_words::command_position(&line).and_then(|at| line.get(at)?.to_str());
    let tip = name.and_then(|name| {
        let mut words = line.iter().filter_map(|word| word.to_str());
        words.find_map(|word| foreign_words::flag_tip(name, word))
    });
    let matches = command.try_get_matches_from_mut(line);
    let parsed = matches.and_then(|mut matches| {
        let name = matches.subcommand_name().map(str::to_owned);
        let parsed = ProgramArguments::from_arg_matches_mut(&mut matches);
        parsed.map_err(
            |error| match name.and_then(|name| command.find_subcommand_mut(name)) {
                // What is found wrong only now is wrong in the subcommand's arguments, and the usage is the subcommand's.
                Some(subcommand) => error.format(subcommand),
                None => error,
            },
        )
    });
    parsed
        .map_err(|error| error.format(&mut command))
        .map_err(|error| with_tip(error, tip))
}

/// An error with ours for a word of another tool; `flag_tip` is that for the first flag of one. What is not parsed of a flag with
/// one dash is its first letter.
fn with_tip(mut error: clap::Error, flag_tip: Option<&'static str>) -> clap::Error {
    let typed = |kind| match error.get(kind) {
        Some(ContextValue::String(typed)) => typed.clone(),
        _ => String::new(),
    };
    let tip = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = typed(ContextKind::InvalidSubcommand);
            let known = foreign_words::command_tip(&word).map(str::to_owned);
            let tip = known.or_else(|| path_tip(&word));
            if tip.is_some() {
                error.remove(ContextKind::SuggestedSubcommand);
            }
            Some(tip.unwrap_or_else(commands_tip))
        }
        // Clap names the one that is lacking, and not what may stand in its place.
        ErrorKind::MissingRequiredArgument => match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::Strings(lacking)) if lacking.iter().any(|flag| flag == OLD_POLICIES) => Some(
                "`--old-rev REVISION` takes the policies of now from git, such as \
                 `refs/remotes/origin/main`"
                    .to_owned(),
            ),
            _ => None,
        },
        ErrorKind::UnknownArgument | ErrorKind::TooManyValues => flag_tip.map(str::to_owned),
        _ => None,
    };
    if let Some(tip) = tip {
        suggest(&mut error, ContextKind::SuggestedArg, tip);
    }
    error
}

/// The flag of the policies of now, as an error names it.
const OLD_POLICIES: &str = "--old <PATH>";

/// Suggests ours in place of the suggestion of the parser: a word that looks like what was typed is not what is meant.
fn suggest(error: &mut clap::Error, replaced: ContextKind, tip: String) {
    error.remove(replaced);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
}

/// What is meant by a path in place of a command.
fn path_tip(typed: &str) -> Option<String> {
    let is_path = Path::new(typed).exists();
    is_path.then(|| format!("{typed} is a path: did you mean `pratique review {typed}`?"))
}

/// The names of the commands.
fn commands_tip() -> String {
    let command = ProgramArguments::command();
    let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    format!("the commands are {}", names.join(", "))
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum ProgramCommand {
    Check(Box<CheckArguments>),
    Review(Box<ReviewArguments>),
    Replay(Box<ReplayArguments>),
    Impact(Box<ImpactArguments>),
    Upgrade(Box<UpgradeArguments>),
    Scan(Box<ScanArguments>),
    Report(Box<ReportArguments>),
    Serve(Box<ServeArguments>),
    #[cfg(feature = "kube")]
    Snapshot(Box<SnapshotArguments>),
    Test(Box<TestArguments>),
    Init(InitArguments),
    Lsp(Box<LspArguments>),
    Playground(PlaygroundArguments),
    Completions(CompletionsArguments),
    Man(ManArguments),
}

impl ProgramCommand {
    /// Whether annotations of GitHub Actions are printed.
    pub(crate) fn prints_annotations(&self) -> bool {
        match self {
            ProgramCommand::Check(arguments) => arguments.outputs.is_printed(CheckFormat::Github),
            ProgramCommand::Review(arguments) => arguments.answers.outputs.is_printed(ReviewFormat::Github),
            ProgramCommand::Scan(arguments) => arguments.answers.outputs.is_printed(ScanFormat::Github),
            ProgramCommand::Test(arguments) => arguments.outputs.is_printed(TestFormat::Github),
            ProgramCommand::Upgrade(arguments) => arguments.answers.outputs.is_printed(UpgradeFormat::Github),
            _ => false,
        }
    }
}

/// Makes arguments read their former variable where only that is set.
fn with_renamed_variables(command: clap::Command) -> clap::Command {
    command.mut_subcommands(|command| command.mut_args(with_renamed_variable))
}

fn with_renamed_variable(argument: Arg) -> Arg {
    let renamed = RENAMED_VARIABLES.iter().find(|(id, _)| argument.get_id() == id);
    let is_set = |name: &std::ffi::OsStr| std::env::var_os(name).is_some();
    match renamed {
        Some((_, former)) if is_set(former.as_ref()) && !argument.get_env().is_some_and(is_set) => {
            argument.env(*former)
        }
        _ => argument,
    }
}

fn plugin() -> impl clap::builder::TypedValueParser<Value = ManifestPlugin> {
    use clap::builder::TypedValueParser as _;
    // The names above are the only ones that get this far.
    clap::builder::PossibleValuesParser::new(ManifestPlugin::START_ORDER.map(ManifestPlugin::name))
        .map(|name| ManifestPlugin::from_name(&name).unwrap_or(ManifestPlugin::ValidatingAdmissionPolicy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        ProgramArguments::command().debug_assert();
    }

    #[test]
    fn renamed_variables_belong_to_arguments() {
        let command = ProgramArguments::command();
        let ids: Vec<&str> = command
            .get_subcommands()
            .flat_map(clap::Command::get_arguments)
            .map(|argument| argument.get_id().as_str())
            .collect();
        for (id, former) in RENAMED_VARIABLES {
            assert!(ids.contains(&id), "{id} of {former}");
        }
    }

    #[test]
    fn former_flags_are_aliases() {
        let parsed = |command: &str, arguments: &[&str]| {
            let all = [&["pratique", command], arguments].concat();
            format!("{:?}", ProgramArguments::try_parse_from(all).unwrap())
        };
        for (former, current, value) in [
            ("--audit-log", "--audit-log-path", "-"),
            ("--config", "--admission-control-config-file", "admission.yaml"),
            ("--drain-delay", "--shutdown-delay-duration", "7"),
            ("--log-format", "--logging-format", "json"),
            ("--max-bodies", "--max-memory", "64"),
            ("--max-requests", "--max-requests-inflight", "7"),
        ] {
            assert_eq!(
                parsed("serve", &[former, value]),
                parsed("serve", &[current, value]),
                "{former}"
            );
        }
        let former = ["--tls-cert", "c", "--tls-key", "k", "--client-ca", "a"];
        let current = [
            "--tls-cert-file",
            "c",
            "--tls-private-key-file",
            "k",
            "--client-ca-file",
            "a",
        ];
        assert_eq!(parsed("serve", &former), parsed("serve", &current));
        let text = ["--logging-format", "text"];
        assert_eq!(
            parsed("serve", &["--log-format", "human"]),
            parsed("serve", &text)
        );
        let current = ["--admission-control-config-file", "a", "-"];
        assert_eq!(
            parsed("review", &["--config", "a", "-"]),
            parsed("review", &current)
        );
    }
}
