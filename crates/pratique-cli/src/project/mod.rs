//! `pratique.yaml` at the root of a repository: what the commands are given where the command line does not say it.
//!
//! Each flag has a field of its own, by the names of the command line ([`shape`]). What the file says is put into the command
//! line as if it were typed there, unless the user or the environment says it ([`arguments`]).

pub(crate) mod arguments;
mod find;
pub(crate) mod init;
mod read;
mod setting;
pub(crate) mod shape;

use std::path::{Path, PathBuf};

use pratique_manifest::{ManifestFile, Problem, path_text};

use crate::exit::CliError;
use crate::output;
use crate::output::excerpt::Texts;
use crate::output::problems;
use crate::output::text::text;
pub(crate) use setting::Setting;

/// The name of the file.
pub(crate) const FILE: &str = "pratique.yaml";

/// The `kind` of the file; its version is that of suites.
pub(crate) const KIND: &str = "Configuration";

/// The flag with which the file is not read.
pub(crate) const IGNORED: &str = "--no-project-file";

/// The environment variable for the same.
const IGNORED_VARIABLE: &str = "PRATIQUE_NO_PROJECT_FILE";

/// The largest file, in bytes.
const LARGEST: u64 = 1 << 20;

/// A file that was read.
#[derive(Debug)]
pub(crate) struct Project {
    /// The path as it is shown: relative to the working directory.
    pub(crate) path: PathBuf,
    pub(crate) settings: Vec<Setting>,
}

/// Why there is no use of a file.
pub(crate) enum ProjectError {
    Cli(CliError),
    /// The file is invalid.
    Invalid {
        problems: Vec<Problem>,
        texts: Texts,
    },
}

/// The problems of a project file; `None` if it is another program's.
pub(crate) fn problems(file: &ManifestFile) -> Option<Vec<Problem>> {
    match read::settings(file) {
        Ok(Some(_)) => Some(Vec::new()),
        Ok(None) => None,
        Err(problems) => Some(problems),
    }
}

impl Project {
    /// The file that counts in the working directory; `None` where there is none, or it is to be ignored.
    pub(crate) fn current(arguments: &[std::ffi::OsString]) -> Result<Option<Self>, ProjectError> {
        let flags = arguments.iter().take_while(|argument| *argument != "--");
        let is_set =
            std::env::var(IGNORED_VARIABLE).is_ok_and(|value| !["", "false"].contains(&value.as_str()));
        if is_set || flags.into_iter().any(|argument| argument == IGNORED) {
            return Ok(None);
        }
        let Some(path) = find::find() else {
            return Ok(None);
        };
        Self::at(&path)
    }

    fn at(path: &Path) -> Result<Option<Self>, ProjectError> {
        let read = pratique_manifest::read_regular(path, LARGEST);
        let content = read.map_err(|error| ProjectError::Cli(CliError::unread(path, error)))?;
        let file = ManifestFile {
            path: path_text(path),
            content,
        };
        let settings = read::settings(&file).map_err(|problems| {
            let mut texts = Texts::default();
            texts.insert(&file.path, &file.content);
            ProjectError::Invalid { problems, texts }
        })?;
        Ok(settings.map(|settings| Project {
            path: path.to_owned(),
            settings,
        }))
    }

    /// The settings of a command.
    pub(crate) fn of_command(&self, command: &str) -> impl Iterator<Item = &Setting> {
        self.settings
            .iter()
            .filter(move |setting| setting.command == command)
    }

    /// Whether the file has positional arguments for a command.
    pub(crate) fn runs(&self, command: &str) -> bool {
        self.of_command(command).any(|setting| setting.is_positional)
    }
}

impl ProjectError {
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
