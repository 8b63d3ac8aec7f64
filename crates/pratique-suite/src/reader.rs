//! Finds the suites among the documents of a file.

use std::path::Path;

use pratique_gotext::suggest::nearest;
use pratique_manifest::{ManifestFile, ObjectSource, Problem, ProblemList, Rule, SourceDocument};
use pratique_state::API_VERSION;

use crate::files;
use crate::format::{SuiteDocument, SuiteFormat};
use crate::read::{Fields, read_suite};
use crate::roots::{Roots, SuiteRoots};
use crate::schema::KIND;
use crate::suite::Suite;

/// Reads suites, and the tests of other programs whose [formats](SuiteFormat) it is given.
///
/// The default one reads our format only: tests of other programs are documents like any others that are no suites.
#[derive(Clone, Copy, Debug, Default)]
pub struct SuiteReader {
    formats: &'static [&'static dyn SuiteFormat],
}

/// Reads the suites of a file; documents of other kinds are skipped. Suites can name files below their [`Roots`] only.
///
/// # Errors
/// All problems, with locations.
pub fn read_suites(file: &ManifestFile) -> Result<Vec<Suite>, ProblemList> {
    SuiteReader::default().read(Path::new(&file.path), file, &Roots::default())
}

impl SuiteReader {
    /// A reader of suites, and of formats of other programs.
    pub const fn new(formats: &'static [&'static dyn SuiteFormat]) -> Self {
        SuiteReader { formats }
    }

    /// Whether a file may contain a suite: a cheap test before reading it.
    pub fn may_be_suite(self, content: &[u8]) -> bool {
        may_be_ours(content) || self.may_be_foreign(content)
    }

    /// Whether a file has a suite, or what is meant to be one, by the kinds of its documents. Of one that cannot be read, only a
    /// suite of ours is known by its words: many files have those of others, such as labels of a policy engine.
    pub fn has_suite(self, file: &ManifestFile) -> bool {
        if !self.may_be_suite(&file.content) {
            return false;
        }
        let Ok(documents) = files::documents(file) else {
            return may_be_ours(&file.content);
        };
        documents.iter().any(|document| {
            let (version, kind) = type_of(&document.source);
            let mut formats = self.formats.iter();
            let is_ours = is_of_suites(&version) && (kind == KIND || is_misnamed(&document.source, &kind));
            is_ours || formats.any(|format| format.has_kind(&version, &kind))
        })
    }

    /// Whether a file may contain tests of another program: a cheap test before reading it.
    pub fn may_be_foreign(self, content: &[u8]) -> bool {
        let text = String::from_utf8_lossy(content);
        self.formats.iter().any(|format| text.contains(format.marker()))
    }

    /// Reads the suites of a file at `path`, which can name files below their [`Roots`]; documents of other kinds are skipped.
    ///
    /// # Errors
    /// All problems, with locations.
    pub fn read(self, path: &Path, file: &ManifestFile, roots: &Roots) -> Result<Vec<Suite>, ProblemList> {
        let roots = roots.for_directory(path.parent().unwrap_or(Path::new("")));
        let mut suites = Vec::new();
        let mut problems = Vec::new();
        for document in files::documents(file)? {
            match self.read_document(document, path, &roots, &mut problems) {
                Ok(of_document) => suites.extend(of_document),
                Err(refused) => problems.extend(refused),
            }
        }
        if problems.is_empty() {
            Ok(suites)
        } else {
            problems.sort_by_key(|problem| problem.location.as_ref().map(|location| location.start));
            problems.dedup_by(|a, b| a.location == b.location && a.rule == b.rule);
            Err(problems.into())
        }
    }

    /// The suites of a document; those of our format may have problems besides.
    fn read_document(
        self,
        document: SourceDocument,
        path: &Path,
        roots: &SuiteRoots,
        problems: &mut Vec<Problem>,
    ) -> Result<Vec<Suite>, Vec<Problem>> {
        let (version, kind) = type_of(&document.source);
        let foreign = self
            .formats
            .iter()
            .find(|format| format.has_kind(&version, &kind));
        if let Some(format) = foreign {
            return format.read(&SuiteDocument::new(&document.source, path, roots));
        }
        if !is_of_suites(&version) {
            return Ok(Vec::new());
        }
        if kind != KIND {
            if !is_misnamed(&document.source, &kind) {
                return Ok(Vec::new());
            }
            // The tests of a suite whose kind is written wrongly would not run.
            let at = document.source.locate(&[]);
            let message = format!("there is no kind {kind:?} in {version}, only {KIND:?}");
            return Err(vec![Problem::new(Rule::InvalidField, message).at(at)]);
        }
        problems.extend(document.duplicates);
        read_suite(document.source, path, roots).map(|suite| vec![suite])
    }
}

/// Whether a file may contain a suite of our format.
fn may_be_ours(content: &[u8]) -> bool {
    let text = String::from_utf8_lossy(content);
    text.contains("pratique/") && (text.contains("Suit") || text.contains("tests:"))
}

/// The version and the kind of a document.
fn type_of(source: &ObjectSource) -> (String, String) {
    let fields = Fields {
        tree: source.tree(),
        id: source.root(),
    };
    let text = |name: &str| fields.read_text(name).unwrap_or_default();
    (text("apiVersion"), text("kind"))
}

/// Whether an object of the group of suites that is of another kind is meant to be a suite. There are other kinds, of project
/// files, snapshots and reports.
fn is_misnamed(source: &ObjectSource, kind: &str) -> bool {
    let root = Fields {
        tree: source.tree(),
        id: source.root(),
    };
    // A project file names its suites in `tests`, too.
    let has_tests = kind != PROJECT && root.node("tests").is_some();
    has_tests || nearest(kind, [KIND]).is_some()
}

/// The kind of project files.
const PROJECT: &str = "Configuration";

/// Whether a document is of the group of suites, in any version.
fn is_of_suites(version: &str) -> bool {
    let group = API_VERSION.split('/').next().unwrap_or_default();
    version.split('/').next() == Some(group)
}
