//! Manifests among objects of other kinds, sorted by origin and plugin: `helm template … | pratique check -`.

use std::path::Path;

use pratique::expressions::Expressions;
use pratique_manifest::{Failure, LoadErrors, ManifestFile, ManifestPlugin, content_hash};
use pratique_review::sorted_objects::{ObjectGroup, SortedPolicies};

use super::loaded_plugin::{LoadedPlugin, LoadedPlugins, StartRefusal};
use crate::check::check_error::CheckError;
use crate::exit::CliError;
use crate::input::sources::report_sources;
use crate::input::{self, FileSelection, InputError, STDIN, STDIN_NAME};
use crate::output;
use crate::output::text::text;
use crate::policies::report_skipped_beside_definitions;

/// The maximum size of the input, in MiB, as for objects that are reviewed: of small objects, a byte takes up to 16 of memory.
pub(super) const MEBIBYTES: u32 = 32;

/// Reads standard input.
pub(super) fn read_file() -> Result<ManifestFile, CliError> {
    input::read_file(Path::new(STDIN), MEBIBYTES).map_err(|unread| match unread {
        InputError::Cli(error) => error,
        _ => CliError::TooLarge {
            path: STDIN_NAME.to_owned(),
            mebibytes: MEBIBYTES,
        },
    })
}

/// Fails where there is nothing to check.
pub(super) fn require_manifests(display_path: &str, sorted: &SortedPolicies) -> Result<(), CliError> {
    if display_path == STDIN_NAME && sorted.others().contains_key("AdmissionConfiguration") {
        return Err(CliError::Check(CheckError::ConfigurationOnStdin));
    }
    if sorted.groups().is_empty() && sorted.definitions().is_empty() && !sorted.has_failures() {
        report_sources(sorted.sources());
        let path = display_path.to_owned();
        let count: usize = sorted.others().values().sum();
        return Err(if count == 0 {
            CliError::NoManifests { path, count }
        } else {
            CliError::Check(CheckError::OnlyObjects { path, count })
        });
    }
    Ok(())
}

/// Reports as which origin and plugin manifests are checked, and which objects are skipped.
pub(super) fn report(display_path: &str, sorted: &SortedPolicies, files: &FileSelection) {
    let groups = sorted.groups();
    let plugins: Vec<&str> = groups
        .iter()
        .filter_map(|group| group.plugin().map(ManifestPlugin::name))
        .collect();
    if !plugins.is_empty() {
        output::eprint(&text!(
            "{}: checked as static manifests of {}\n",
            display_path,
            plugins.join(", ")
        ));
    }
    if groups.contains(&ObjectGroup::Api) {
        report_api(display_path);
    }
    report_skipped_beside_definitions(display_path, sorted, files);
}

/// Reports that objects of the API are checked.
pub(super) fn report_api(display_path: &str) {
    output::eprint(&text!("{}: checked as objects of the API\n", display_path));
}

/// Loads each group as a server does. What a cluster has and does not compile is there, and an error all the same.
pub(super) fn load(
    sorted: &SortedPolicies,
    expressions: &Expressions,
) -> Result<LoadedPlugins, StartRefusal> {
    let sets = sorted.load(expressions).map_err(|refused| StartRefusal {
        errors: refused.errors,
        exit_code: 1,
        stops_server: refused.stops_server,
    })?;
    let uncompiled: Vec<Failure> = sets.iter().flat_map(|(_, set)| set.uncompiled.clone()).collect();
    if !uncompiled.is_empty() {
        return Err(StartRefusal {
            errors: LoadErrors::new(uncompiled),
            exit_code: 1,
            stops_server: false,
        });
    }
    let is_alone = sets.len() == 1 && sorted.others().is_empty();
    let loaded = sets.into_iter().map(|(group, mut set)| {
        if is_alone && group != ObjectGroup::Api {
            // A directory with this as its only file would have the same.
            set.hash = content_hash(&sorted.files);
        }
        LoadedPlugin::new(group, None, set)
    });
    Ok(LoadedPlugins {
        mixed: sorted.mixed().to_vec(),
        definitions: sorted.definitions().to_vec(),
        ..LoadedPlugins::new(loaded.collect())
    })
}
