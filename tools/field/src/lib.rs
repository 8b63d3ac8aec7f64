//! Looks at the policies of public repositories: whether what is said of them is so.
//!
//! Below a directory there is a checkout of each repository. Their manifests are [found](manifests), loaded as objects of
//! the API, and asked: [whether warnings reproduce](reproduce) over objects that are made for them, what the [commands]
//! `check` and `review` say of them, and whether the tests of a repository come to what they [expect](expectations). The
//! [reference](mod@reference) is asked for its decisions on the same requests. What else can be asked of manifests is another [`ManifestQuestion`].

pub mod commands;
pub mod expectations;
pub mod manifests;
pub mod reference;
pub mod report;
pub mod reproduce;
mod subject;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use pratique::expressions::{Cache, Expressions};
use pratique_harness::ToolError;
use pratique_lint::{LintOptions, Warning, lint_with};
use pratique_manifest::ManifestSet;

use commands::ProgramCommands;
use manifests::RepositoryCheckout;
use report::{OtherWarning, WarningReport, WarningRow};

/// Looks at the policies of public repositories: whether what is warned of is so, and whether their tests come to what they
/// expect.
#[derive(clap::Parser, Clone, Debug)]
#[command(bin_name = "cargo xtask field")]
pub struct FieldArguments {
    /// A directory with a checkout of each repository.
    directory: PathBuf,
    /// How many of a hundred warnings have to reproduce.
    #[arg(long, default_value_t = 95)]
    percent: usize,
    /// Look at repositories only whose directory has this in its name.
    #[arg(long, default_value = "")]
    only: String,
    /// Compare the results of the repositories' own tests only.
    #[arg(long)]
    tests: bool,
    /// Run `check` and `review` of this program on the manifests as they are.
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// Ask the reference for its decisions. Needs Go.
    #[arg(long)]
    reference: bool,
    /// Tell of manifests that are not loaded, and how warnings reproduce.
    #[arg(long, short)]
    verbose: bool,
}

/// Something that is asked of every set of manifests.
pub trait ManifestQuestion {
    /// Asks it about the manifests of one document.
    fn ask(&mut self, set: &ManifestSet, repository: &str, report: &mut WarningReport);
}

/// The lints whose warnings are about what an expression or a mutation does with an object.
pub const SHOWN: [&str; 11] = [
    "cost-limit",
    "failing-mutation",
    "invalid-result",
    "lost-items",
    "null-object",
    "plugin-field",
    "quantity-as-text",
    "repeated-mutation",
    "type-check",
    "unchecked-text",
    "unguarded-field",
];

/// Checks all repositories; fails if too few warnings reproduce.
pub fn run(arguments: &FieldArguments) -> ExitCode {
    match looked(arguments) {
        Ok(report) => {
            print!("{}", report.to_text(arguments.verbose));
            ExitCode::from(u8::from(!report.is_good(arguments.percent)))
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// The report about the repositories below a directory.
fn looked(arguments: &FieldArguments) -> Result<WarningReport, ToolError> {
    let mut questions: Vec<Box<dyn ManifestQuestion>> = vec![Box::new(WarningsQuestion::new())];
    let mut report = WarningReport::default();
    for repository in manifests::repositories(&arguments.directory)? {
        if !repository.name.contains(&arguments.only) {
            continue;
        }
        if !arguments.tests {
            look_at(&repository, &mut questions, &mut report)?;
        }
        let mut expectations = expectations::expectations(&repository)?;
        let of_tests = std::mem::take(&mut expectations.questions);
        let counts = report.repository(&repository.name);
        counts.expectations = expectations;
        if let Some(program) = &arguments.program {
            counts.commands = ProgramCommands::run(program, &repository, &repository.manifests()?)?;
        }
        if arguments.reference {
            counts.of_tests = reference::compare(of_tests)?;
            counts.of_reviews = reference::compare(std::mem::take(&mut counts.commands.questions))?;
        }
    }
    Ok(report)
}

/// Checks the repositories below a directory, as the command does.
pub fn look(directory: &std::path::Path) -> Result<WarningReport, ToolError> {
    looked(&FieldArguments {
        directory: directory.to_owned(),
        percent: 95,
        tests: false,
        program: None,
        reference: false,
        only: String::new(),
        verbose: false,
    })
}

fn look_at(
    repository: &RepositoryCheckout,
    questions: &mut [Box<dyn ManifestQuestion>],
    report: &mut WarningReport,
) -> Result<(), ToolError> {
    let expressions = Expressions::new(Arc::new(Cache::new()));
    let repository_manifests = repository.manifests()?;
    let counts = report.repository(&repository.name);
    counts.files = repository_manifests.files;
    for manifest in &repository_manifests.manifests {
        match manifest.load(&expressions) {
            Ok(set) => {
                report.repository(&repository.name).loaded += 1;
                for question in questions.iter_mut() {
                    question.ask(&set, &repository.name, report);
                }
            }
            Err(_) if manifest.is_template() => report.repository(&repository.name).templates += 1,
            Err(error) => {
                let counts = report.repository(&repository.name);
                counts.refused.push(format!("{}: {error}", manifest.place()));
            }
        }
    }
    Ok(())
}

/// Do warnings reproduce?
struct WarningsQuestion {
    options: LintOptions,
}

impl WarningsQuestion {
    fn new() -> Self {
        let requested = pratique_lint::list_lints().filter(|lint| SHOWN.contains(&lint.name));
        WarningsQuestion {
            options: requested.fold(LintOptions::default(), |options, lint| {
                options.with_requested(lint)
            }),
        }
    }
}

impl ManifestQuestion for WarningsQuestion {
    fn ask(&mut self, set: &ManifestSet, repository: &str, report: &mut WarningReport) {
        let is_shown = |warning: &Warning| SHOWN.contains(&warning.lint.name);
        let (known, others): (Vec<Warning>, Vec<Warning>) =
            lint_with(&[set], &self.options).into_iter().partition(is_shown);
        for warning in others {
            report.others.push(OtherWarning {
                lint: warning.lint.name,
                place: format!("{}:{}", warning.location.file, warning.location.start.line),
                message: warning.message,
            });
        }
        for warning in known {
            report.rows.push(WarningRow {
                repository: repository.to_owned(),
                lint: warning.lint.name,
                place: format!("{}:{}", warning.location.file, warning.location.start.line),
                field: warning.field.clone(),
                expression: reproduce::expression(set, &warning).unwrap_or_default(),
                message: warning.message.clone(),
                outcome: reproduce::reproduce(set, &warning),
            });
        }
    }
}
