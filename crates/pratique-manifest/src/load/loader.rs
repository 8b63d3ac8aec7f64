//! Which manifests are loaded, and from where.

use std::borrow::Cow;

use super::content_hash::ContentHash;
use super::document_batcher::DocumentBatcher;
use super::document_validator::{DocumentValidator, ManifestScope};
use super::options::{LoadOptions, SourceTexts};
use super::reload::Reloader;
use super::selection::{NamedOrigin, ObjectSelection};
use super::set::ManifestSet;
use super::{FileInput, finish, outcome, read};
use crate::budget::{self, Budget};
use crate::decode::registry::ServedVersions;
use crate::parse::documents::SourceDocument;
use crate::parse::file_document::FileDocument;
use crate::plugin::ManifestPlugin;
use crate::problem::{Failure, LoadErrors};
use crate::read::directory::ManifestFile;

/// Loads manifests from a directory, from files that were read before, or from among documents of any kind.
///
/// ```
/// use pratique_manifest::{LoadOptions, Loader, ManifestFile, UncheckedExpressions};
///
/// let file = ManifestFile {
///     path: "binding.yaml".into(),
///     content: b"apiVersion: admissionregistration.k8s.io/v1
/// kind: ValidatingAdmissionPolicyBinding
/// metadata: {name: b}
/// spec: {policyName: p, validationActions: [Deny]}
/// ".to_vec(),
/// };
/// let set = Loader::for_api(&LoadOptions::new(&UncheckedExpressions)).load_files(&[file])?;
/// assert_eq!(set.validating_bindings.len(), 1);
/// # Ok::<(), pratique_manifest::LoadErrors>(())
/// ```
#[derive(Clone, Copy)]
pub struct Loader<'a> {
    options: LoadOptions<'a>,
    scope: ManifestScope,
    texts: SourceTexts,
    is_by_name: bool,
    served: ServedVersions,
    has_stored_expressions: bool,
}

impl<'a> Loader<'a> {
    /// Loads the static manifests of a plugin.
    #[must_use]
    pub fn for_plugin(plugin: ManifestPlugin, options: &LoadOptions<'a>) -> Self {
        Loader::new(ManifestScope::Plugin(plugin), options)
    }

    /// Loads objects of the API: of any kind, decoded, defaulted and validated in the same way, but free of the rules of
    /// static manifests.
    #[must_use]
    pub fn for_api(options: &LoadOptions<'a>) -> Self {
        Loader::new(ManifestScope::Api, options)
    }

    fn new(scope: ManifestScope, options: &LoadOptions<'a>) -> Self {
        Loader {
            options: *options,
            scope,
            texts: SourceTexts::Kept,
            is_by_name: false,
            served: ServedVersions::OfRelease,
            has_stored_expressions: false,
        }
    }

    /// Does not keep the texts of the documents, which are a good part of the memory. All places in an object's source are
    /// then the start of its document. Errors are the same, with the same places.
    #[must_use]
    pub fn without_texts(self) -> Self {
        Loader {
            texts: SourceTexts::Discarded,
            ..self
        }
    }

    /// Of the API, loads policies and bindings of older versions too, `v1beta1` and `v1alpha1`: as those of a cluster that serves
    /// them, because its release is an earlier one or it was told to. Without it, those are loaded that a server of the release
    /// can be told to serve, and [listed](ManifestSet::optional).
    #[must_use]
    pub fn with_older_versions(self) -> Self {
        Loader {
            served: ServedVersions::Older,
            ..self
        }
    }

    /// Compiles the expressions as a server does those of objects that it has stored: with all that its release declares, while new
    /// ones may use only what the release before has. An object with an expression that does not compile even so is loaded, as
    /// it is there, and [listed](ManifestSet::uncompiled): the expression fails whenever it is evaluated.
    #[must_use]
    pub fn with_stored_expressions(self) -> Self {
        Loader {
            has_stored_expressions: true,
            ..self
        }
    }

    /// Of documents of any kind, loads only those whose names are of this origin: with the suffix of static manifests for a
    /// plugin, without it for the API.
    #[must_use]
    pub fn by_name(self) -> Self {
        Loader {
            is_by_name: true,
            ..self
        }
    }

    /// Loads a directory as the server does. All files are read before any is parsed, so that they belong together as far as
    /// possible.
    ///
    /// # Errors
    /// All failures; the text of the first is what the server would stop with.
    pub fn load_directory(&self, path: &str) -> Result<ManifestSet, LoadErrors> {
        // A reloader keeps the texts.
        if let (Some(pause), ManifestScope::Plugin(plugin), SourceTexts::Kept) =
            (self.options.pause(), self.scope, self.texts)
        {
            return Reloader::new(plugin).load_first(path, &self.options, pause);
        }
        let budget = self.options.budget();
        let files = read(path, &budget, &|_| None)?.into_iter();
        let files = files.map(|file| file.map(|file| Cow::Owned(file.into_file())));
        hashed(files, self.validator(&budget))
    }

    /// Loads files that were read before, in the order given, which should be that of their names.
    ///
    /// # Errors
    /// As [`load_directory`](Self::load_directory).
    pub fn load_files(&self, files: &[ManifestFile]) -> Result<ManifestSet, LoadErrors> {
        let budget = self.options.budget();
        let files = files.iter().map(|file| {
            spend_file(file, &budget);
            Ok(Cow::Borrowed(file))
        });
        hashed(files, self.validator(&budget))
    }

    /// Loads the manifests among documents of any kind; other kinds are skipped. The set has no hash, as there is no
    /// directory that it could be loaded from.
    ///
    /// # Errors
    /// As [`load_directory`](Self::load_directory).
    pub fn load_documents(&self, documents: &[SourceDocument]) -> Result<ManifestSet, LoadErrors> {
        let budget = self.options.budget();
        let mut validator = self.validator(&budget);
        validator.selection = match (self.is_by_name, self.scope) {
            (false, _) => ObjectSelection::Kinds,
            (true, ManifestScope::Plugin(_)) => ObjectSelection::Named(NamedOrigin::Static),
            (true, ManifestScope::Api) => ObjectSelection::Named(NamedOrigin::Api),
        };
        let mut batcher = DocumentBatcher::new(validator);
        let documents = documents.iter().map(|document| document.source.document());
        batcher.add_documents(documents.map(FileDocument::from));
        let (set, failures, _) = batcher.finish();
        outcome(set, failures, &budget)
    }

    fn validator<'v>(&'v self, budget: &'v Budget) -> DocumentValidator<'v> {
        DocumentValidator {
            served: self.served,
            has_stored_expressions: self.has_stored_expressions,
            ..DocumentValidator::new(self.scope, &self.options, self.texts, budget)
        }
    }
}

/// [`finish`], with the files' hash.
fn hashed<'a>(
    files: impl IntoIterator<Item = Result<Cow<'a, ManifestFile>, Failure>>,
    validator: DocumentValidator<'_>,
) -> Result<ManifestSet, LoadErrors> {
    let mut hash = ContentHash::default();
    let files = files.into_iter().map(|file| {
        file.map(|file| {
            hash.add(&file.content);
            FileInput::Read(file, None)
        })
    });
    let mut set = finish(files, validator, None)?;
    set.hash = hash.finish();
    Ok(set)
}

/// Takes the cost of a file that is in memory already from the budget.
fn spend_file(file: &ManifestFile, budget: &Budget) {
    let length = u64::try_from(file.content.len()).unwrap_or(u64::MAX);
    // An exceeded budget is noticed before the file is split.
    let _ = budget.spend(length.saturating_mul(budget::FILE));
}
