//! Collects the documents of files in batches, has each batch validated by several threads, and adds the results in
//! order.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use pratique_workers::{estimate, map};

use super::document_validator::{DocumentFinding, DocumentValidator};
use super::file_cache::{CacheEntry, CachedFile};
use super::options::SourceTexts;
use super::set::ManifestSet;
use super::set_builder::SetBuilder;
use crate::budget::DOCUMENT;
use crate::parse::file_document::{FileDocument, documents};
use crate::parse::split;
use crate::problem::Failure;
use crate::read::directory::ManifestFile;
use crate::read::stamp::FileStamp;

/// Builds a set from files, which are added one after the other.
pub(crate) struct DocumentBatcher<'a> {
    validator: DocumentValidator<'a>,
    pending: Vec<BatchItem>,
    /// How many bytes the pending documents have, and how many make a batch.
    bytes: usize,
    batch: usize,
    /// The cost of the documents of the current file so far.
    cost: u64,
    set: SetBuilder,
    cache: Vec<CacheEntry>,
}

/// A part of the files, in order.
enum BatchItem {
    /// A document of a file with this text.
    Document(FileDocument, Arc<String>),
    /// The end of a file.
    End(FileEnd),
    /// An unchanged file with its objects.
    Cached(CacheEntry),
}

struct FileEnd {
    path: Box<str>,
    text: Arc<String>,
    stamp: Option<FileStamp>,
    /// Whether to add the file to the cache.
    is_cached: bool,
}

/// How many bytes of documents make a batch, if there are workers for it: the results of a batch are in memory at the same
/// time.
const BATCH: usize = 256 << 10;

/// About how long so many bytes take to be parsed, validated and compiled.
fn cost(bytes: usize) -> Duration {
    const BYTE: Duration = Duration::from_nanos(100);
    estimate(BYTE, bytes)
}

impl<'a> DocumentBatcher<'a> {
    pub(crate) fn new(validator: DocumentValidator<'a>) -> Self {
        DocumentBatcher {
            set: SetBuilder::new(validator.scope, validator.texts),
            validator,
            pending: Vec::new(),
            bytes: 0,
            cost: 0,
            batch: if cost(BATCH) >= validator.options.workers().min_parallel_cost() {
                BATCH
            } else {
                0
            },
            cache: Vec::new(),
        }
    }

    /// Adds a file. Its text is kept once, for those of its documents that hold objects.
    pub(crate) fn add_file(
        &mut self,
        file: Cow<'_, ManifestFile>,
        stamp: Option<FileStamp>,
        is_cached: bool,
    ) {
        if self
            .validator
            .budget
            .spend(documents_cost(&file.content))
            .is_err()
        {
            return;
        }
        let file_documents: Vec<FileDocument> = documents(&file).collect();
        let path = file.path.as_str().into();
        let text = match self.validator.texts {
            // Text that is not UTF-8 is not shared: documents have it with replacement characters.
            SourceTexts::Kept => String::from_utf8(file.into_owned().content).unwrap_or_default(),
            SourceTexts::Discarded => String::new(),
        };
        let text = Arc::new(text);
        self.add(
            file_documents.into_iter(),
            FileEnd {
                path,
                text,
                stamp,
                is_cached,
            },
        );
    }

    /// Records that a file cannot be read.
    pub(crate) fn add_unreadable_file(&mut self) {
        self.set.mark_incomplete();
    }

    /// Adds documents of a file that was read in another way.
    pub(crate) fn add_documents(&mut self, documents: impl Iterator<Item = FileDocument>) {
        let end = FileEnd {
            path: Box::default(),
            text: Arc::default(),
            stamp: None,
            is_cached: false,
        };
        self.add(documents, end);
    }

    /// Adds an unchanged file.
    pub(crate) fn add_cached(&mut self, entry: CacheEntry) {
        if self.validator.budget.spend(entry.1.cost()).is_err() {
            return;
        }
        self.pending.push(BatchItem::Cached(entry));
    }

    /// The set, the failures, and the files to cache.
    pub(crate) fn finish(mut self) -> (ManifestSet, Vec<Failure>, Vec<CacheEntry>) {
        self.run_batch();
        let (set, failures) = self.set.finish();
        (set, failures, self.cache)
    }

    fn add(&mut self, documents: impl Iterator<Item = FileDocument>, end: FileEnd) {
        for document in documents {
            self.bytes += document.raw.bytes.len();
            self.pending
                .push(BatchItem::Document(document, Arc::clone(&end.text)));
            if self.bytes >= self.batch {
                self.run_batch();
            }
        }
        self.pending.push(BatchItem::End(end));
    }

    /// Validates the pending documents and adds them to the set.
    fn run_batch(&mut self) {
        self.bytes = 0;
        let pending = std::mem::take(&mut self.pending);
        let validator = self.validator;
        let results = map(validator.options.workers(), &pending, BatchItem::cost, |item| {
            item.validate(validator)
        });
        for (item, (findings, cost)) in pending.into_iter().zip(results) {
            match item {
                BatchItem::Document(document, _) => {
                    self.cost = self.cost.saturating_add(cost);
                    self.set.add_findings(findings, &document.file);
                }
                BatchItem::End(end) => self.end_file(end),
                BatchItem::Cached((path, file)) => self.add_cached_objects(path, file),
            }
        }
    }

    fn end_file(&mut self, end: FileEnd) {
        let objects = self.set.end_file().filter(|_| end.is_cached);
        let cost = std::mem::take(&mut self.cost);
        let entry = objects.map(|objects| (end.path, CachedFile::new(end.text, end.stamp, objects, cost)));
        self.cache.extend(entry);
    }

    fn add_cached_objects(&mut self, path: Box<str>, cached: CachedFile) {
        if self.set.add_objects(cached.objects(), &path) {
            self.cache.push((path, cached));
            return;
        }
        // Another file has one of its names: the error needs the place where this file has it.
        let file = cached.to_file(&path);
        for document in documents(&file) {
            let path = Arc::clone(&document.file);
            let (findings, _) = self.validator.validate(document, cached.share_text());
            self.set.add_findings(findings, &path);
        }
        self.set.end_file();
    }
}

impl BatchItem {
    fn cost(&self) -> Duration {
        match self {
            BatchItem::Document(document, _) => cost(document.raw.bytes.len()),
            BatchItem::End(_) | BatchItem::Cached(..) => Duration::ZERO,
        }
    }

    fn validate(&self, validator: DocumentValidator<'_>) -> (Vec<DocumentFinding>, u64) {
        match self {
            BatchItem::Document(document, text) => validator.validate(document.clone(), text),
            BatchItem::End(_) | BatchItem::Cached(..) => Default::default(),
        }
    }
}

/// The cost of the documents of a file, without their values.
fn documents_cost(content: &[u8]) -> u64 {
    let count = u64::try_from(split::count(content)).unwrap_or(u64::MAX);
    count.saturating_mul(DOCUMENT)
}
