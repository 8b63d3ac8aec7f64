//! `pratique.yaml` at the root of a repository: what the commands are given where the command line does not say it.
//!
//! Each flag has a field of its own, by the names of the command line ([`shape`]). What the file says is put into the command
//! line as if it were typed there, unless the user or the environment says it ([`arguments`]).
//!
//! The file is not trusted as the command line is: it may come with a change of somebody else. [`trust`] says of each field
//! what it can do, and [`permit`] keeps the files that it names below its directory.

pub(crate) mod applied_settings;
pub(crate) mod arguments;
mod boundary;
mod directory_contents;
mod find;
pub(crate) mod init;
mod options;
mod read;
mod report;
mod revision;
mod setting;
pub(crate) mod shape;
mod trust;
mod weakened_settings;

use std::io;
use std::path::{Path, PathBuf};

use pratique_manifest::PathBoundary;
use pratique_manifest::{ManifestFile, Problem, Rule, path_text};

use crate::exit::CliError;
use crate::output;
use crate::output::excerpt::FileTexts;
use crate::output::problems;
use crate::output::text::text;
use applied_settings::AppliedProject;
use boundary::{OutsideError, ProjectBoundary};
use options::ProjectOptions;
use trust::{FileTrust, TrustClass, class_of};
use weakened_settings::WeakenedSetting;

#[cfg(feature = "kube")]
pub(crate) use applied_settings::names_kubeconfig;
pub(crate) use applied_settings::{
    ProjectReport, applied_file, is_untrusted_input, permit, permit_referenced, report_of,
};
pub(crate) use options::names_no_command;
pub(crate) use report::{notices, print_line, print_with_report};
pub(crate) use setting::CommandSetting;

/// The name of the file.
pub(crate) const FILE: &str = "pratique.yaml";

/// The `kind` of the file; its version is that of suites.
pub(crate) const KIND: &str = "Configuration";

/// The flag with which the file is not read.
pub(crate) const IGNORED: &str = "--no-project-file";

/// The largest file, in bytes.
const LARGEST: u64 = 1 << 20;

/// A file that was read.
#[derive(Debug)]
pub(crate) struct LoadedProject {
    /// The path as it is shown: relative to the working directory, and after the revision that it was read from.
    pub(crate) path: PathBuf,
    pub(crate) settings: Vec<CommandSetting>,
    file: ManifestFile,
    boundary: PathBoundary,
    trust: FileTrust,
}

/// Why there is no use of a file.
pub(crate) enum ProjectError {
    Cli(CliError),
    /// The file is invalid.
    Invalid {
        problems: Vec<Problem>,
        texts: FileTexts,
    },
}

/// The problems of a project file; `None` if it is another program's.
pub(crate) fn problems(file: &ManifestFile) -> Option<Vec<Problem>> {
    let directory = Path::new(&file.path).parent().unwrap_or(Path::new(""));
    // What an editor shows does not depend on who trusts it later.
    match read::settings(file, directory, FileTrust::Trusted) {
        Ok(Some(_)) => Some(Vec::new()),
        Ok(None) => None,
        Err(problems) => Some(problems),
    }
}

impl LoadedProject {
    /// The file that counts in the working directory; `None` where there is none, or it is to be ignored.
    pub(crate) fn current(arguments: &[std::ffi::OsString]) -> Result<Option<Self>, ProjectError> {
        let options = ProjectOptions::read(arguments);
        if options.is_ignored {
            return Ok(None);
        }
        match &options.revision {
            Some(revision) => match revision::read(revision).map_err(ProjectError::Cli)? {
                Some((directory, file)) => Self::new(&directory, file, options.trust),
                None => {
                    output::eprint(&text!(
                        "project file: none, there is no {} in {}\n",
                        FILE,
                        revision.as_str()
                    ));
                    Ok(None)
                }
            },
            None => match find::find() {
                Some(directory) => Self::at(&directory, options.trust),
                None => Ok(None),
            },
        }
    }

    /// The file in a directory.
    fn at(directory: &Path, trust: FileTrust) -> Result<Option<Self>, ProjectError> {
        let path = directory.join(FILE);
        let unread = |error| ProjectError::Cli(CliError::unread(&path, error));
        let boundary = PathBoundary::new(directory).map_err(unread)?;
        if !boundary.holds(&path) {
            return Err(unread(io::Error::other(OutsideError::new(&boundary))));
        }
        let content = pratique_manifest::read_regular(&path, LARGEST).map_err(unread)?;
        let file = ManifestFile {
            path: path_text(&path),
            content,
        };
        Self::new(directory, file, trust)
    }

    fn new(directory: &Path, file: ManifestFile, trust: FileTrust) -> Result<Option<Self>, ProjectError> {
        let unread = |error| ProjectError::Cli(CliError::unread(&file.path, error));
        let boundary = PathBoundary::new(directory).map_err(unread)?;
        let settings = read::settings(&file, directory, trust)
            .map_err(|problems| ProjectError::invalid(problems, &file))?;
        Ok(settings.map(|settings| LoadedProject {
            path: PathBuf::from(&file.path),
            settings,
            file,
            boundary,
            trust,
        }))
    }

    /// Notes what is to be known of settings that are used: the paths that they name, and what they weaken.
    ///
    /// # Errors
    /// Some reach out, and the file is not trusted.
    pub(crate) fn apply(&self, used: &[&CommandSetting]) -> Result<(), ProjectError> {
        let mut refused = Vec::new();
        let mut weakened = Vec::new();
        let command = <crate::arguments::ProgramArguments as clap::CommandFactory>::command();
        for setting in used {
            let section = command.find_subcommand(setting.command);
            let mut arguments = section.into_iter().flat_map(clap::Command::get_arguments);
            let argument = arguments.find(|argument| *argument.get_id() == setting.argument.as_str());
            let Some(argument) = argument else { continue };
            match class_of(setting.command, &shape::field_name(argument)) {
                Some(TrustClass::Harmless) => {}
                Some(TrustClass::Decides(weakening)) => {
                    weakened.extend(WeakenedSetting::find(setting, argument, weakening));
                }
                Some(TrustClass::ReachesOutIfNamed) if !setting.values().any(|value| value.contains('=')) => {
                }
                Some(TrustClass::ReachesOut | TrustClass::ReachesOutIfNamed) | None => {
                    if self.trust == FileTrust::Untrusted {
                        refused.push(untrusted(setting));
                    }
                }
            }
        }
        if !refused.is_empty() {
            refused.dedup();
            return Err(ProjectError::invalid(refused, &self.file));
        }
        for setting in &weakened {
            let place = problems::place(&setting.location);
            output::eprint(&output::warning_at(&place, &setting.message));
        }
        let paths = |is_wanted: fn(&CommandSetting) -> bool| {
            let settings = used
                .iter()
                .filter(move |setting| setting.is_path && is_wanted(setting));
            settings.flat_map(|setting| setting.values()).map(PathBuf::from)
        };
        // What a server is given by a file that is trusted may be anywhere.
        let is_trusted = self.trust == FileTrust::Trusted;
        let bounded: fn(&CommandSetting) -> bool = if is_trusted {
            |setting| setting.command != "serve"
        } else {
            |_| true
        };
        AppliedProject {
            path: path_text(&self.path),
            boundary: ProjectBoundary::new(self.boundary.clone(), paths(bounded)),
            kubeconfigs: paths(|setting| setting.argument == "kubeconfig").collect(),
            untrusted_inputs: if is_trusted {
                Vec::new()
            } else {
                paths(|setting| setting.argument == "inputs").collect()
            },
            weakened,
            file: self.file.clone(),
        }
        .publish();
        Ok(())
    }

    /// The settings of a command.
    pub(crate) fn of_command(&self, command: &str) -> impl Iterator<Item = &CommandSetting> {
        self.settings
            .iter()
            .filter(move |setting| setting.command == command)
    }

    /// Whether the file has positional arguments for a command.
    pub(crate) fn runs(&self, command: &str) -> bool {
        self.of_command(command).any(|setting| setting.is_positional)
    }
}

/// The problem of a setting that reaches out of a file that is not trusted.
fn untrusted(setting: &CommandSetting) -> Problem {
    let message = format!(
        "`{}` reaches out of the repository: it connects, runs, or writes. A project file that may come with an unreviewed \
         change cannot set it; {} or the command line can",
        setting.field,
        options::TRUSTED
    );
    Problem::new(Rule::InvalidField, message).at(setting.location.clone())
}

impl ProjectError {
    fn invalid(problems: Vec<Problem>, file: &ManifestFile) -> Self {
        let mut texts = FileTexts::default();
        texts.insert(&file.path, &file.content);
        ProjectError::Invalid { problems, texts }
    }

    /// Reports it on standard error.
    pub(crate) fn report(self) -> std::process::ExitCode {
        match self {
            ProjectError::Cli(error) => error.report(),
            ProjectError::Invalid { problems, mut texts } => {
                problems::report(&problems, &mut texts);
                output::eprint(&text!(
                    "error: the project file is invalid; {} ignores it\n",
                    IGNORED
                ));
                std::process::ExitCode::from(crate::exit::ERROR)
            }
        }
    }
}
