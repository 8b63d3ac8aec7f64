//! The stored objects of a review, as a revision of a git repository has them.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use pratique_manifest::ManifestFile;
use pratique_review::{SourceFiles, may_have_object};

use crate::evaluation::state_reader::StateReader;
use crate::exit::CliError;
use crate::input::git::{ContentReader, FileKind, PathRevision, RevisionFile};
use crate::input::{self, FileSelection, InputError, InputObject, STDIN, has_hidden_part, named_inputs};
use crate::output;
use crate::review::review_error::ReviewError;
use crate::stream::read::{UserInput, UserInputs};

/// Reads the objects that the inputs had at a revision.
pub(crate) fn stored(
    revision: &str,
    inputs: &UserInputs,
    reader: &mut StateReader,
) -> Result<Vec<InputObject<'static>>, CliError> {
    let mut all = Vec::new();
    for input in inputs.as_slice() {
        if input.path == Path::new(STDIN) {
            return Err(CliError::Review(ReviewError::NoRevisionOfStdin));
        }
        let revision_of_path = PathRevision::resolve(revision, &input.path)?;
        let files = revision_of_path.files()?;
        if files.is_empty() && input.is_deleted {
            return Err(input.missing(revision));
        }
        let mut contents = revision_of_path.contents()?;
        let mut sources = SourceFiles::default();
        let current: HashSet<&PathBuf> = input.files.iter().collect();
        for file in &files {
            if !is_input(file, input, &current, &reader.files) {
                continue;
            }
            add(revision, file, &mut contents, &mut sources, reader, &mut all)?;
        }
    }
    Ok(all)
}

/// Whether a file of the revision was an input then: one that is there now and is none, is none by choice.
fn is_input(
    file: &RevisionFile,
    input: &UserInput,
    current: &HashSet<&PathBuf>,
    selection: &FileSelection,
) -> bool {
    if file.kind == FileKind::Repository {
        return true;
    }
    let may_be = || file.path == input.path || file.path.symlink_metadata().is_err();
    current.contains(&file.path) || (may_be() && selection.selects_object_file(&input.path, &file.path))
}

fn add(
    revision: &str,
    file: &RevisionFile,
    contents: &mut ContentReader,
    sources: &mut SourceFiles,
    reader: &mut StateReader,
    all: &mut Vec<InputObject<'static>>,
) -> Result<(), CliError> {
    let path = format!("{revision}:{}", input::format_path(&file.path));
    let mebibytes = reader.mebibytes;
    let limit = u64::from(mebibytes) << 20;
    let (hash, size) = match &file.kind {
        FileKind::Content { size, .. } if *size > limit => {
            return reader.report(InputError::TooLarge { path, mebibytes });
        }
        FileKind::Content { hash, size } => (hash, *size),
        FileKind::Link => {
            let why = "a link, which is not followed: what it leads to counts as created";
            output::eprint(&output::warning_at(&path, why));
            return Ok(());
        }
        FileKind::Repository => {
            let why = "another repository, which is not read: what is in it counts as created";
            output::eprint(&output::warning_at(&path, why));
            return Ok(());
        }
    };
    match named_inputs::plain_content(contents.read(hash, size)?, limit) {
        // A file that is gone may have been no object of the API, and none is deleted then.
        Ok(content) if sources.recognize_content(&file.path, &content).is_some() => Ok(()),
        Ok(content) if has_hidden_part(&file.path) && !may_have_object(&file.path, &content) => Ok(()),
        Ok(content) => reader.take(
            input::objects(ManifestFile { path, content }, reader.release),
            all,
        ),
        Err(error) => reader.report(InputError::Unread { path, error }),
    }
}
