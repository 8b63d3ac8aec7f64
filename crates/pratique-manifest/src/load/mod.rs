//! From files to a [`ManifestSet`]: the order of things, and everything that goes wrong on the way.

pub(crate) mod content_hash;
mod document_batcher;
mod document_validator;
mod known_files;
pub(crate) mod options;
pub(crate) mod reload;
pub(crate) mod set;
mod set_builder;
pub(crate) mod settling;

use std::borrow::Cow;

use crate::budget::{self, Budget};
use crate::parse::documents::Document;
use crate::parse::file_document::{FileDocument, bad_separators};
use crate::plugin::Plugin;
use crate::problem::{Failure, LoadErrors, Problem, Rule};
use crate::read::directory::{self, ManifestFile};
use content_hash::ContentHash;
use document_batcher::Intake;
use document_validator::{Examiner, Home};
use known_files::Memory;
use options::{Options, Texts};
use set::ManifestSet;

/// Loads a plugin's directory of static manifests.
///
/// # Errors
/// All that is wrong with them; the first failure's text is what the server would stop with.
pub fn load_directory(path: &str, plugin: Plugin, options: &Options<'_>) -> Result<ManifestSet, LoadErrors> {
    let budget = options.budget();
    let examiner = Examiner::new(Home::Plugin(plugin), options, Texts::Kept, &budget);
    hashed(read(path, &budget)?, examiner)
}

/// Loads a plugin's directory for somebody who only wants the objects: the texts of the documents are let go of on the way,
/// which is a good part of the memory. All places in an object's source are then the start of its document. Errors are the
/// same, with the same places.
///
/// # Errors
/// As [`load_directory`].
pub fn load_directory_objects(
    path: &str,
    plugin: Plugin,
    options: &Options<'_>,
) -> Result<ManifestSet, LoadErrors> {
    let budget = options.budget();
    let examiner = Examiner::new(Home::Plugin(plugin), options, Texts::LetGo, &budget);
    hashed(read(path, &budget)?, examiner)
}

/// Loads files that were read before. They are taken in the order given, which should be that of their names.
///
/// # Errors
/// As [`load_directory`].
pub fn load_files(
    files: &[ManifestFile],
    plugin: Plugin,
    options: &Options<'_>,
) -> Result<ManifestSet, LoadErrors> {
    load(files, Home::Plugin(plugin), options)
}

/// Loads files of objects that are to be created in the API: decoded, defaulted and validated in the same way, but
/// free of the rules of static manifests, and of any kind.
///
/// # Errors
/// As [`load_directory`].
pub fn load_api_files(files: &[ManifestFile], options: &Options<'_>) -> Result<ManifestSet, LoadErrors> {
    load(files, Home::Api, options)
}

/// Loads the manifests of a plugin among documents of any kind. What is of another kind is passed over; the set has no
/// hash, as there is no directory that it could be loaded from.
///
/// # Errors
/// As [`load_directory`].
pub fn load_among(
    documents: &[Document],
    plugin: Plugin,
    options: &Options<'_>,
) -> Result<ManifestSet, LoadErrors> {
    let budget = options.budget();
    let mut examiner = Examiner::new(Home::Plugin(plugin), options, Texts::Kept, &budget);
    examiner.passes_over = true;
    let mut intake = Intake::new(examiner);
    let documents = documents.iter().map(|document| document.source.document());
    intake.documents(documents.map(FileDocument::from));
    let (set, failures, _) = intake.finish();
    outcome(set, failures, &budget)
}

fn load(files: &[ManifestFile], home: Home, options: &Options<'_>) -> Result<ManifestSet, LoadErrors> {
    let budget = options.budget();
    let files = files.iter().map(|file| {
        spend_file(file, &budget);
        Ok(Cow::Borrowed(file))
    });
    hashed(files, Examiner::new(home, options, Texts::Kept, &budget))
}

/// The files of a directory. All are read before any is looked at: a change meanwhile is seen as late as can be.
pub(crate) fn read(path: &str, budget: &Budget) -> Result<Vec<Readable<'static>>, LoadErrors> {
    let files = directory::read(path, budget).map_err(|failure| LoadErrors::new(vec![failure]))?;
    let files = files
        .into_iter()
        .map(|file| file.map(|(file, _)| Cow::Owned(file)));
    Ok(files.collect())
}

/// A file, or why it cannot be read.
pub(crate) type Readable<'a> = Result<Cow<'a, ManifestFile>, Failure>;

/// [`finish`], with the files' hash.
fn hashed<'a>(
    files: impl IntoIterator<Item = Readable<'a>>,
    examiner: Examiner<'_>,
) -> Result<ManifestSet, LoadErrors> {
    let mut hash = ContentHash::default();
    let files = files.into_iter().inspect(|file| {
        if let Ok(file) = file {
            hash.add(file);
        }
    });
    let mut set = finish(files, examiner, None)?;
    set.hash = hash.finish();
    Ok(set)
}

/// Goes through the documents of files, but those of files that are known.
pub(crate) fn finish<'a>(
    files: impl IntoIterator<Item = Readable<'a>>,
    examiner: Examiner<'_>,
    memory: Option<&mut Memory>,
) -> Result<ManifestSet, LoadErrors> {
    let mut intake = Intake::new(examiner);
    // The server reads and splits all files before it looks at any document.
    let mut failures = Vec::new();
    for file in files {
        let file = match file {
            Ok(file) => file,
            Err(failure) => {
                intake.miss_file();
                failures.push(failure);
                continue;
            }
        };
        if examiner.budget.is_exceeded() {
            break;
        }
        match memory.as_ref().and_then(|memory| memory.recall(&file)) {
            Some(known) => intake.recall(&file.path, known),
            None => {
                let found = bad_separators(&file);
                intake.read(file, memory.is_some() && found.is_empty());
                failures.extend(found);
            }
        }
    }
    let (set, found, known) = intake.finish();
    if let Some(memory) = memory.filter(|_| !examiner.budget.is_exceeded()) {
        memory.replace(known);
    }
    failures.extend(found);
    outcome(set, failures, examiner.budget)
}

/// What a load came to. One that needs more memory than it may take is refused for that alone: what else is wrong was
/// not all looked for.
fn outcome(set: ManifestSet, failures: Vec<Failure>, budget: &Budget) -> Result<ManifestSet, LoadErrors> {
    if budget.is_exceeded() {
        return Err(LoadErrors::new(vec![too_much(&failures, budget)]));
    }
    match failures.is_empty() {
        true => Ok(set),
        false => Err(LoadErrors::new(failures)),
    }
}

/// The failure of a load that needs too much, with the place where that showed, if it is one.
fn too_much(failures: &[Failure], budget: &Budget) -> Failure {
    let message = budget.message();
    let mut found = failures.iter().flat_map(|failure| &failure.problems);
    let found = found.find(|problem| problem.message.ends_with(&message));
    let location = found.and_then(|problem| problem.location.clone());
    let text = match &location {
        Some(location) => format!("error loading {}: {message}", location.file),
        None => format!("error loading manifests: {message}"),
    };
    let mut problem = Problem::new(Rule::Unreadable, message);
    problem.location = location;
    Failure::single(text, problem)
}

/// Spends what a file takes that is in memory already.
fn spend_file(file: &ManifestFile, budget: &Budget) {
    let length = u64::try_from(file.content.len()).unwrap_or(u64::MAX);
    // That there is no more is seen before anything is made of the file.
    let _ = budget.spend(length.saturating_mul(budget::FILE));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::UncheckedExpressions;

    const POLICY: &str = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\n\
        metadata: {name: p}\nspec:\n  paramKind: {apiVersion: v1, kind: ConfigMap}\n  matchConstraints:\n    \
        resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]\n  \
        validations: [{expression: 'true'}]\n";

    fn load(text: &str) -> Result<ManifestSet, LoadErrors> {
        let file = ManifestFile {
            path: "p.yaml".to_owned(),
            content: text.as_bytes().to_vec(),
        };
        let options = Options::new(&UncheckedExpressions);
        load_api_files(&[file], &options)
    }

    #[test]
    fn objects_of_the_api_have_freedoms() {
        let set = load(POLICY).unwrap();
        assert_eq!(set.validating_policies.len(), 1);
        let policy = set.validating_policies.first().unwrap();
        let spec = policy.object.spec.as_ref().unwrap();
        assert_eq!(spec.failure_policy.as_deref(), Some("Fail"));
    }

    #[test]
    fn objects_of_the_api_are_validated() {
        let twice = load(&format!("{POLICY}---\n{POLICY}")).unwrap_err();
        assert!(twice.to_string().contains("duplicate name"), "{twice}");
        let unknown = load(&POLICY.replace("validations", "validatons")).unwrap_err();
        assert!(unknown.to_string().contains("unknown field"), "{unknown}");
    }
}
