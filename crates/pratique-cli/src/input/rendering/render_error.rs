//! Why no objects are made of a directory.

use std::io;

use crate::exit::plain;
use crate::output::place::InputPlace;

/// Why no objects are made of a directory.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RenderError {
    /// The program is not installed.
    #[error("{path}: --render runs {program}, and there is no such program on the path")]
    NoProgram {
        path: String,
        place: InputPlace,
        program: &'static str,
    },
    /// The program cannot be run, or not read.
    #[error("{path}: {program}: {}", plain(.error))]
    Run {
        path: String,
        place: InputPlace,
        program: &'static str,
        error: io::Error,
    },
    /// The program fails.
    #[error("{path}: {program}: {status}{}", following(.message))]
    Failed {
        path: String,
        place: InputPlace,
        program: &'static str,
        status: String,
        message: String,
    },
    /// A file that is not trusted names the directory.
    #[error(
        "{path}: --render runs no program on what a project file names that may come with an unreviewed change: name it on the \
         command line, or trust the file with --trust-project-file"
    )]
    Untrusted { path: String },
    /// Nothing is rendered.
    #[error("--render: there is no chart and no kustomization among the inputs: name the directory of one")]
    NothingToRender,
}

impl RenderError {
    /// The file that it is about.
    pub(crate) fn place(&self) -> InputPlace {
        match self {
            RenderError::NoProgram { place, .. }
            | RenderError::Run { place, .. }
            | RenderError::Failed { place, .. } => place.clone(),
            RenderError::Untrusted { path } => InputPlace::parse(path),
            RenderError::NothingToRender => InputPlace::default(),
        }
    }
}

fn following(message: &str) -> String {
    match message {
        "" => String::new(),
        message => format!(": {message}"),
    }
}
