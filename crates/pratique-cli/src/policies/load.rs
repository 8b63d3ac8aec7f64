//! Loads the policies that `--policies` names.

use pratique::expressions::Expressions;
use pratique_manifest::{LoadErrors, ManifestSet, path_text};
use pratique_policy::Origin;

use super::files::read;
use super::skipped::report_skipped;
use crate::arguments::PolicyPathArguments;
use crate::exit::CliError;
use crate::output::excerpt::Texts;

/// Objects that configure admission, by origin.
pub(crate) type OriginSets = Vec<(Origin, ManifestSet)>;

/// Why policies cannot be loaded.
pub(crate) enum LoadFailure {
    /// They are invalid.
    Invalid { errors: LoadErrors, texts: Texts },
    /// They cannot be read.
    Cli(CliError),
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
            texts: Texts::default(),
        }
    }
}

/// Loads policies of any origin, and reports what else is among them.
pub(crate) fn load(
    arguments: &PolicyPathArguments,
    expressions: &Expressions,
) -> Result<OriginSets, LoadFailure> {
    if arguments.policies.is_empty() {
        return Ok(Vec::new());
    }
    let sorted = read(&arguments.policies, arguments.origin.origin)?;
    let paths = arguments.policies.iter().map(|path| path_text(path));
    let shown = paths.collect::<Vec<_>>().join(", ");
    report_skipped(&shown, &sorted);
    if sorted.groups().is_empty() && !sorted.has_failures() {
        let count = sorted.others().values().sum();
        return Err(CliError::NoManifests { path: shown, count }.into());
    }
    let loaded = sorted.load(expressions).map_err(|refused| {
        let mut texts = Texts::default();
        let files = sorted.files.iter();
        files.for_each(|file| texts.insert(&file.path, &file.content));
        LoadFailure::Invalid {
            errors: refused.errors,
            texts,
        }
    })?;
    let origins = loaded.into_iter().map(|(group, set)| (group.origin(), set));
    Ok(origins.collect())
}
