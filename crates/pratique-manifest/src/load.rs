//! From files to a [`ManifestSet`]: the order of things, and everything that goes wrong on the way.

use std::borrow::Cow;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::directory::{self, ManifestFile};
use crate::document::{self, RawDocument};
use crate::expression::ExpressionCompiler;
use crate::plugin::Plugin;
use crate::position;
use crate::position::{DocumentStart, FileLines, file_lines};
use crate::problem::{Failure, LoadErrors, Problem, Rule};
use crate::reload::{Known, Memory};
use crate::rules::{Home, StaticRules};
use crate::set::ManifestSet;
use pratique_cel::quote::quoted;

/// How to load.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Compiles the CEL expressions of policies and webhooks.
    pub expressions: &'a dyn ExpressionCompiler,
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
    from_directory(path, plugin, options, Texts::Kept)
}

/// Loads a plugin's directory for somebody who only wants the objects, such as a server: the texts of the documents are
/// let go of on the way, which is a good part of the memory. All places in an object's source are then the start of its
/// document. Errors are the same, with the same places.
///
/// # Errors
/// As [`load_directory`].
pub fn load_directory_objects(
    path: &str,
    plugin: Plugin,
    options: &Options<'_>,
) -> Result<ManifestSet, LoadErrors> {
    from_directory(path, plugin, options, Texts::LetGo)
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
    load(files, Vec::new(), Home::Plugin(plugin), options)
}

/// Loads files of objects that are to be created in the API: decoded, defaulted and validated in the same way, but
/// free of the rules of static manifests, and of any kind.
///
/// # Errors
/// As [`load_directory`].
pub fn load_api_files(files: &[ManifestFile], options: &Options<'_>) -> Result<ManifestSet, LoadErrors> {
    load(files, Vec::new(), Home::Api, options)
}

/// The hash of manifest files' content, by which a server tells that it changed: `sha256:` over the bytes of each
/// file that is not empty and a NUL, in order; empty when there is no such file.
#[must_use]
pub fn content_hash(files: &[ManifestFile]) -> String {
    let mut hasher = Sha256::new();
    let mut files = files.iter().filter(|file| !file.content.is_empty()).peekable();
    if files.peek().is_none() {
        return String::new();
    }
    for file in files {
        hasher.update(&file.content);
        hasher.update([0]);
    }
    let digest = hasher.finalize();
    digest
        .iter()
        .fold(String::from("sha256:"), |hash, byte| format!("{hash}{byte:02x}"))
}

fn from_directory(
    path: &str,
    plugin: Plugin,
    options: &Options<'_>,
    texts: Texts,
) -> Result<ManifestSet, LoadErrors> {
    let content = directory::read(path).map_err(|failure| LoadErrors::new(vec![failure]))?;
    let failures = unsplit(&content.files, content.unreadable, None);
    let hash = content_hash(&content.files);
    let files = content.files.into_iter().map(Cow::Owned);
    let rules = StaticRules::new(Home::Plugin(plugin), options, texts);
    finish(files, failures, hash, rules, None)
}

fn load(
    files: &[ManifestFile],
    unreadable: Vec<(usize, Failure)>,
    home: Home,
    options: &Options<'_>,
) -> Result<ManifestSet, LoadErrors> {
    let failures = unsplit(files, unreadable, None);
    let hash = content_hash(files);
    let rules = StaticRules::new(home, options, Texts::Kept);
    finish(files.iter().map(Cow::Borrowed), failures, hash, rules, None)
}

/// Goes through the documents of files, but those of files that are known. The text of each file is kept once, for
/// those of its documents that hold objects.
pub(crate) fn finish<'a>(
    files: impl Iterator<Item = Cow<'a, ManifestFile>>,
    mut failures: Vec<Failure>,
    hash: String,
    mut rules: StaticRules<'_>,
    mut memory: Option<&mut Memory>,
) -> Result<ManifestSet, LoadErrors> {
    let mut known = Vec::new();
    for file in files {
        let path: Box<str> = file.path.as_str().into();
        let recalled = memory.as_ref().and_then(|memory| memory.recall(&file));
        let found = recalled.filter(|known| rules.accept_known(known.objects(), &path));
        let found = found.or_else(|| accept_file(&mut rules, file, memory.is_some()));
        known.extend(found.map(|found| (path, found)));
    }
    if let Some(memory) = &mut memory {
        memory.replace(known);
    }
    let (mut set, found) = rules.finish();
    failures.extend(found);
    if failures.is_empty() {
        set.hash = hash;
        Ok(set)
    } else {
        Err(LoadErrors::new(failures))
    }
}

/// Goes through the documents of a file, and gives what to remember of it, if that is wanted and nothing is wrong.
fn accept_file(rules: &mut StaticRules<'_>, file: Cow<'_, ManifestFile>, remember: bool) -> Option<Known> {
    let found: Vec<FileDocument> = documents(&file).collect();
    let remember = remember && document::bad_separators(&file.content).is_empty();
    // What is not UTF-8 is no part of any text, so nobody shares it.
    let text = Arc::new(String::from_utf8(file.into_owned().content).unwrap_or_default());
    for document in found {
        rules.accept(document, &text);
    }
    let objects = rules.end_file(remember)?;
    Some(Known::new(text, objects))
}

/// A document before it is parsed, with what positions in its file need.
#[derive(Clone)]
pub(crate) struct FileDocument {
    pub(crate) file: Arc<str>,
    pub(crate) index: usize,
    pub(crate) raw: RawDocument,
    pub(crate) file_lines: FileLines,
}

/// The separators that split no file. The server looks at all files for these before it looks at any document. Files
/// that are known have none.
pub(crate) fn unsplit(
    files: &[ManifestFile],
    unreadable: Vec<(usize, Failure)>,
    memory: Option<&Memory>,
) -> Vec<Failure> {
    let mut failures = Vec::new();
    let mut unreadable = unreadable.into_iter().peekable();
    for (number, file) in files.iter().enumerate() {
        while let Some((_, failure)) = unreadable.next_if(|(before, _)| *before <= number) {
            failures.push(failure);
        }
        if memory.is_none_or(|memory| memory.recall(file).is_none()) {
            failures.extend(bad_separators(file));
        }
    }
    failures.extend(unreadable.map(|(_, failure)| failure));
    failures
}

pub(crate) fn bad_separators(file: &ManifestFile) -> Vec<Failure> {
    let faults = document::bad_separators(&file.content);
    if faults.is_empty() {
        return Vec::new();
    }
    let path: Arc<str> = file.path.as_str().into();
    let file_lines = file_lines(&file.content);
    let failure = |fault| bad_separator(&path, &file.content, &file_lines, fault);
    faults.iter().map(failure).collect()
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

fn bad_separator(
    path: &Arc<str>,
    content: &[u8],
    file_lines: &FileLines,
    fault: &document::BadSeparator,
) -> Failure {
    let message = format!("invalid Yaml document separator: {}", fault.rest);
    let text = String::from_utf8_lossy(content).into_owned();
    let start = DocumentStart::FILE;
    let source = position::DocumentSource::new(Arc::clone(path), 0, text, start, file_lines.clone());
    let location = source.location(source.line_span(fault.line));
    let problem = Problem::new(Rule::DocumentSeparator, message.clone()).at(location);
    Failure::single(
        format!(
            "failed to split YAML documents in file {}: {message}",
            quoted(path)
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
        let options = Options {
            expressions: &UncheckedExpressions,
        };
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
