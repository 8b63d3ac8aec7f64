//! Why policies cannot be loaded.

use pratique::BuildError;
use pratique_manifest::LoadErrors;

use crate::exit::CliError;
use crate::output::excerpt::FileTexts;
use crate::output::{self, failure_annotations, problems};
use crate::serve::serve_error::ServeError;
use crate::style::StreamStyle;

/// Why policies cannot be loaded.
pub(crate) enum LoadFailure {
    /// The policies are invalid.
    Invalid { errors: LoadErrors, texts: FileTexts },
    /// They cannot be read.
    Cli(CliError),
}

impl LoadFailure {
    /// Reports on standard error, and in annotations, that policies are invalid.
    ///
    /// # Errors
    /// They cannot be read.
    pub(crate) fn report(self) -> Result<(), CliError> {
        match self {
            LoadFailure::Cli(error) => Err(error),
            LoadFailure::Invalid { errors, mut texts } => {
                failure_annotations::annotate_problems(&errors);
                output::eprint(&problems::human(&errors, &mut texts, StreamStyle::of_stderr()));
                Ok(())
            }
        }
    }
}

impl From<CliError> for LoadFailure {
    fn from(error: CliError) -> Self {
        LoadFailure::Cli(error)
    }
}

impl From<LoadErrors> for LoadFailure {
    fn from(errors: LoadErrors) -> Self {
        LoadFailure::Invalid {
            errors,
            texts: FileTexts::default(),
        }
    }
}

/// Why policies that were loaded cannot be used.
pub(crate) fn unusable(error: BuildError) -> LoadFailure {
    match error {
        BuildError::Load(errors) => errors.into(),
        BuildError::Configuration(refused) => refused.errors.into(),
        BuildError::NotEvaluated(error) => CliError::from(error).into(),
        error => CliError::Serve(ServeError::Serve(error.to_string())).into(),
    }
}
