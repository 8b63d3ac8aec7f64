//! The hashes of loaded manifests, as servers report them.

use serde::Serialize;

use super::checked_path::CheckedPath;
use super::loaded_plugin::LoadedPlugin;
use crate::arguments::CheckFormat;
use crate::check::check_error::CheckError;
use crate::exit::{CliError, ExitStatus};
use crate::output::excerpt::FileTexts;
use crate::output::text::{PrintableText, text};
use crate::output::{self, problems};
use crate::project::{self, ProjectReport};
use crate::style::StreamStyle;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ManifestHash<'a> {
    hash: &'a str,
    plugin: String,
    directory: &'a str,
    /// What is told of the project file, as by a check that prints more.
    #[serde(skip_serializing_if = "Option::is_none")]
    project_file: Option<ProjectReport>,
}

/// Prints the hashes; errors go to standard error.
pub(super) fn print(checked: &[CheckedPath], format: CheckFormat) -> Result<ExitStatus, CliError> {
    let mut texts = FileTexts::default();
    for refusal in checked.iter().filter_map(|checked| checked.loaded.as_ref().err()) {
        output::eprint(&problems::human(
            &refusal.errors,
            &mut texts,
            StreamStyle::of_stderr(),
        ));
    }
    let hashes: Vec<ManifestHash<'_>> = checked.iter().flat_map(hashes_of).collect();
    let has_none = |plugin: &LoadedPlugin| plugin.manifests.hash.is_empty() && !plugin.objects.is_empty();
    let without = |checked: &&CheckedPath| checked.loaded.iter().flatten().any(has_none);
    if let Some(checked) = checked.iter().find(without) {
        let path = checked.path.clone();
        return Err(CliError::Check(CheckError::NoHash { path }));
    }
    match (format, hashes.as_slice()) {
        (CheckFormat::Json, hashes) => output::print_json(&hashes)?,
        (_, [only]) if checked.len() == 1 => output::print(&text!("{}\n", only.hash))?,
        (_, several) => {
            let line =
                |hash: &ManifestHash<'_>| text!("{}  {}  {}\n", hash.hash, hash.plugin, hash.directory);
            output::print(&several.iter().map(line).collect::<PrintableText>())?;
        }
    }
    Ok(ExitStatus::from_holds(
        checked.iter().all(|checked| checked.loaded.is_ok()),
    ))
}

fn hashes_of(checked: &CheckedPath) -> impl Iterator<Item = ManifestHash<'_>> {
    let plugins = checked.loaded.as_deref().unwrap_or_default();
    plugins.iter().map(|plugin| ManifestHash {
        hash: &plugin.manifests.hash,
        plugin: plugin.group.to_string(),
        directory: plugin.directory.as_deref().unwrap_or(&checked.path),
        project_file: project::report_of("check"),
    })
}
