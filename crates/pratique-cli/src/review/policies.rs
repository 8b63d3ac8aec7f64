//! By what requests are judged.

use std::fs;

use pratique::{Admission, Builder};
use pratique_manifest::{LoadErrors, Plugin};

use crate::arguments::{Gates, PolicyArguments};
use crate::baseline::{self, Level};
use crate::check::plugin_of;
use crate::exit::Trouble;
use crate::output::excerpt::Texts;

/// Why there is nothing to judge by.
pub(super) enum Unusable {
    /// The policies do not load.
    Invalid { errors: LoadErrors, texts: Texts },
    /// They are not to be had.
    Trouble(Trouble),
}

impl From<Trouble> for Unusable {
    fn from(trouble: Trouble) -> Self {
        Unusable::Trouble(trouble)
    }
}

impl From<LoadErrors> for Unusable {
    fn from(errors: LoadErrors) -> Self {
        Unusable::Invalid {
            errors,
            texts: Texts::default(),
        }
    }
}

/// Loads what the arguments name; the embedded standards if they name nothing.
pub(super) fn load(arguments: &PolicyArguments, gates: Gates) -> Result<Admission, Unusable> {
    let builder = Admission::builder().manifest_gate(gates.manifests);
    let builder = match (&arguments.config, &arguments.manifests) {
        (Some(path), _) => configuration(builder, path)?,
        (None, Some(path)) => directory(builder, path, arguments.plugin)?,
        (None, None) => embedded(builder, arguments.level)?,
    };
    Ok(builder.build().map_err(Trouble::from)?)
}

fn configuration(builder: Builder, path: &str) -> Result<Builder, Unusable> {
    openable(path)?;
    Ok(builder.configuration(path).map_err(|refused| refused.errors)?)
}

fn directory(builder: Builder, path: &str, plugin: Option<Plugin>) -> Result<Builder, Unusable> {
    openable(path)?;
    let plugin = plugin.map_or_else(|| plugin_of(path), Ok)?;
    Ok(builder.directory(path, plugin)?)
}

fn embedded(builder: Builder, level: Level) -> Result<Builder, Unusable> {
    let files = baseline::files(level);
    builder
        .files(&files, Plugin::ValidatingAdmissionPolicy)
        .map_err(|errors| {
            let mut texts = Texts::default();
            files
                .iter()
                .for_each(|file| texts.insert(&file.path, &file.content));
            Unusable::Invalid { errors, texts }
        })
}

/// What the user names has to be there: that it is not is no fault of the policies.
fn openable(path: &str) -> Result<(), Trouble> {
    let unreadable = |error| Trouble::Read {
        path: path.to_owned(),
        error,
    };
    fs::metadata(path).map(|_| ()).map_err(unreadable)
}
