//! The policies that are compared: of paths, or of revisions of a git repository.

use std::path::{Path, PathBuf};

use pratique_manifest::ManifestFile;
use pratique_review::{add_sets, bind};

use crate::arguments::{ImpactArguments, PolicyPathArguments, StateArguments};
use crate::exit::CliError;
use crate::impact::impact_error::ImpactError;
use crate::input::git::{FileKind, PathRevision};
use crate::input::{FileSelection, named_inputs};
use crate::memory;
use crate::output;
use crate::policies::{self, LoadFailure, OriginSets};
use crate::replay::engine::{ReadyPolicies, reported};

/// The old and the new policies; `None` if some are invalid, which is reported.
pub(super) fn load(
    arguments: &ImpactArguments,
    state: &StateArguments,
    selection: &FileSelection,
) -> Result<Option<(ReadyPolicies, ReadyPolicies)>, CliError> {
    let sets = &arguments.sets;
    let of_paths = |paths: &[PathBuf]| {
        let named = PolicyPathArguments {
            policies: paths.to_vec(),
            origin: arguments.origin.clone(),
            files: arguments.excluded.clone(),
        };
        build(state, selection, |expressions| {
            policies::load(&named, selection, expressions)
        })
    };
    let of_revision = |revision: &str, paths: &[PathBuf]| {
        let mut files = Vec::new();
        let mut left = memory::manifests();
        for path in paths {
            files.extend(revision_files(revision, path, selection, &mut left)?);
        }
        let origin = arguments.origin.origin;
        build(state, selection, |expressions| {
            policies::load_files(files, origin, expressions)
        })
    };
    let loaded = match &sets.old_rev {
        _ if sets.new_paths().is_empty() => return Err(ImpactError::NoComparedPolicies.into()),
        Some(old) => {
            let new = match &sets.new_rev {
                Some(new) => of_revision(new, &sets.policies)?,
                None => of_paths(&sets.policies)?,
            };
            (of_revision(old, &sets.policies)?, new)
        }
        None => (of_paths(&sets.old)?, of_paths(sets.new_paths())?),
    };
    Ok(match loaded {
        (Some(old), Some(new)) => Some((old, new)),
        _ => None,
    })
}

fn build(
    state: &StateArguments,
    selection: &FileSelection,
    load: impl FnOnce(&pratique::expressions::Expressions) -> Result<OriginSets, LoadFailure>,
) -> Result<Option<ReadyPolicies>, CliError> {
    let builder = policies::builder(state.gates.feature_gates);
    let loaded = load(builder.expressions()).and_then(|mut sets| {
        policies::tell_loaded(&sets, selection);
        if state.bind {
            bind(&mut sets);
        }
        let admission = add_sets(builder, sets.iter().cloned())
            .build()
            .map_err(policies::unusable)?;
        Ok(ReadyPolicies::new(admission, sets, state.gates.feature_gates))
    });
    reported(loaded)
}

/// The manifests that a path had at a revision. `left` is how many bytes they may have.
fn revision_files(
    revision: &str,
    path: &Path,
    selection: &FileSelection,
    left: &mut u64,
) -> Result<Vec<ManifestFile>, CliError> {
    let revision_of_path = PathRevision::resolve(revision, path)?;
    let mut contents = revision_of_path.contents()?;
    let mut files = Vec::new();
    for file in revision_of_path.files()? {
        if !selection.selects_policy_file(path, &file.path) {
            continue;
        }
        let revision_path = format!("{revision}:{}", crate::input::format_path(&file.path));
        let (hash, size) = match &file.kind {
            FileKind::Content { hash, size } => (hash, *size),
            FileKind::Link => {
                output::eprint(&output::warning_at(
                    &revision_path,
                    "a link, which is not followed",
                ));
                continue;
            }
            FileKind::Repository => {
                output::eprint(&output::warning_at(
                    &revision_path,
                    "another repository, which is not read",
                ));
                continue;
            }
        };
        *left = left.checked_sub(size).ok_or_else(|| CliError::TooLarge {
            path: revision_path.clone(),
            mebibytes: memory::mebibytes(memory::manifests()),
        })?;
        let content = named_inputs::plain_content(contents.read(hash, size)?, memory::manifests());
        let content = content.map_err(|error| CliError::unread(&revision_path, error))?;
        files.push(ManifestFile {
            path: revision_path,
            content,
        });
    }
    if files.is_empty() {
        let revision_path = format!("{revision}:{}", crate::input::format_path(path));
        output::eprint(&output::warning_at(&revision_path, "there is no policy in it"));
    }
    Ok(files)
}
