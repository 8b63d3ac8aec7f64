//! From files to a [`ManifestSet`]: the order of things, and everything that goes wrong on the way.

use std::borrow::Cow;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::budget::{self, Budget, DEFAULT_LOAD_BYTES};
use crate::directory::{self, ManifestFile};
use crate::document::{self, RawDocument};
use crate::examine::{Examiner, Home};
use crate::expression::ExpressionCompiler;
use crate::intake::Intake;
use crate::plugin::Plugin;
use crate::position;
use crate::position::{DocumentStart, FileLines, file_lines};
use crate::problem::{Failure, LoadErrors, Problem, Rule};
use crate::reading::Document;
use crate::reload::Memory;
use crate::set::ManifestSet;
use pratique_gotext::strconv::quote;
use pratique_workers::{Alone, Workers};

/// How to load.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    expressions: &'a dyn ExpressionCompiler,
    workers: &'a dyn Workers,
    max_bytes: u64,
}

impl<'a> Options<'a> {
    /// Has the CEL expressions of policies and webhooks compiled by `expressions`, and does all on the thread that asks.
    #[must_use]
    pub fn new(expressions: &'a dyn ExpressionCompiler) -> Self {
        Self {
            expressions,
            workers: &Alone,
            max_bytes: DEFAULT_LOAD_BYTES,
        }
    }

    /// Takes others' help with whatever takes long. The outcome is the same.
    #[must_use]
    pub fn with_workers(self, workers: &'a dyn Workers) -> Self {
        Self { workers, ..self }
    }

    /// Bounds the memory that a load takes, in bytes, [`DEFAULT_LOAD_BYTES`] otherwise: of files, of the values in them
    /// with YAML aliases expanded, and of what is wrong with these. It is an estimate from lengths and numbers. A load
    /// that needs more is refused as a whole.
    #[must_use]
    pub fn with_max_bytes(self, max_bytes: u64) -> Self {
        Self { max_bytes, ..self }
    }

    pub(crate) fn budget(&self) -> Budget {
        Budget::new(self.max_bytes)
    }

    pub(crate) fn expressions(&self) -> &'a dyn ExpressionCompiler {
        self.expressions
    }

    pub(crate) fn workers(&self) -> &'a dyn Workers {
        self.workers
    }
}

/// Whether the texts of documents are kept when their objects have loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Texts {
    /// For those who ask where a field stands.
    Kept,
    /// Nobody will ask.
    LetGo,
}

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

/// The hash of manifest files' content, by which a server tells that it changed: `sha256:` over the bytes of each
/// file that is not empty and a NUL, in order; empty when there is no such file.
#[must_use]
pub fn content_hash(files: &[ManifestFile]) -> String {
    let mut hash = ContentHash::default();
    files.iter().for_each(|file| hash.add(file));
    hash.finish()
}

/// A content hash in the making.
#[derive(Default)]
pub(crate) struct ContentHash(Option<Sha256>);

impl ContentHash {
    pub(crate) fn add(&mut self, file: &ManifestFile) {
        if !file.content.is_empty() {
            let hasher = self.0.get_or_insert_default();
            hasher.update(&file.content);
            hasher.update([0]);
        }
    }

    pub(crate) fn finish(self) -> String {
        let Some(hasher) = self.0 else {
            return String::new();
        };
        let digest = hasher.finalize();
        digest
            .iter()
            .fold(String::from("sha256:"), |hash, byte| format!("{hash}{byte:02x}"))
    }
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

/// A document before it is parsed, with what positions in its file need.
#[derive(Clone)]
pub(crate) struct FileDocument {
    pub(crate) file: Arc<str>,
    pub(crate) index: usize,
    pub(crate) raw: RawDocument,
    pub(crate) file_lines: FileLines,
}

impl FileDocument {
    /// A document of the same file, with nothing in it.
    pub(crate) fn without_text(&self) -> Self {
        FileDocument {
            file: Arc::clone(&self.file),
            index: self.index,
            raw: RawDocument {
                bytes: Vec::new(),
                start: self.raw.start,
            },
            file_lines: self.file_lines.clone(),
        }
    }

    /// Its text with its place in the file, whatever the text is.
    pub(crate) fn into_source(self) -> position::DocumentSource {
        let text = String::from_utf8_lossy(&self.raw.bytes).into_owned();
        position::DocumentSource::new(self.file, self.index, text, self.raw.start, self.file_lines)
    }
}

impl From<&position::DocumentSource> for FileDocument {
    fn from(source: &position::DocumentSource) -> Self {
        FileDocument {
            file: Arc::clone(source.file()),
            index: source.index(),
            raw: RawDocument {
                bytes: source.text().as_bytes().to_vec(),
                start: source.start(),
            },
            file_lines: source.file_lines().cloned(),
        }
    }
}

/// The separators that split no file.
pub(crate) fn bad_separators(file: &ManifestFile) -> Vec<Failure> {
    let faults = document::bad_separators(&file.content);
    if faults.is_empty() {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(&file.content).into_owned();
    let file_lines = file_lines(&file.content);
    let path = file.path.as_str().into();
    let source = position::DocumentSource::new(path, 0, text, DocumentStart::FILE, file_lines);
    faults.iter().map(|fault| bad_separator(&source, fault)).collect()
}

/// The documents of a file.
pub(crate) fn documents(file: &ManifestFile) -> impl Iterator<Item = FileDocument> + use<> {
    let path: Arc<str> = file.path.as_str().into();
    let file_lines = file_lines(&file.content);
    let split = document::split(&file.content).into_iter().enumerate();
    split.map(move |(index, raw)| FileDocument {
        file: Arc::clone(&path),
        index,
        raw,
        file_lines: file_lines.clone(),
    })
}

/// The failure of a separator in a whole file's text.
fn bad_separator(source: &position::DocumentSource, fault: &document::BadSeparator) -> Failure {
    let message = format!("invalid Yaml document separator: {}", fault.rest);
    let location = source.location(source.line_span(fault.line));
    let problem = Problem::new(Rule::DocumentSeparator, message.clone()).at(location);
    Failure::single(
        format!(
            "failed to split YAML documents in file {}: {message}",
            quote(source.file())
        ),
        problem,
    )
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
