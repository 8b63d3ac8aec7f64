//! Files, a good many documents at a time: what each comes to by itself is found out by all who help, and taken in order.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use pratique_workers::{estimate, map};

use super::document_validator::{Examiner, Finding};
use super::known_files::{Known, KnownFile};
use super::options::Texts;
use super::set::ManifestSet;
use super::set_builder::StaticRules;
use crate::budget::DOCUMENT;
use crate::parse::file_document::{FileDocument, documents};
use crate::parse::split;
use crate::problem::Failure;
use crate::read::directory::ManifestFile;

/// Takes files one after the other.
pub(crate) struct Intake<'a> {
    examiner: Examiner<'a>,
    waiting: Vec<Item>,
    /// How many bytes the documents have that wait, and how many are to.
    bytes: usize,
    batch: usize,
    /// What the documents of the file took of the budget so far.
    cost: u64,
    rules: StaticRules,
    known: Vec<KnownFile>,
}

/// What files hold, in order.
enum Item {
    /// A document of a file with this text.
    Document(FileDocument, Arc<String>),
    /// The end of a file.
    End(FileEnd),
    /// A file that came to this before.
    Known(Box<str>, Known),
}

struct FileEnd {
    path: Box<str>,
    text: Arc<String>,
    remember: bool,
}

/// How many bytes of documents wait for each other, if others help with so many: what these come to is in memory at the
/// same time.
const BATCH: usize = 256 << 10;

/// About what so many bytes take to be parsed, validated and compiled.
fn cost(bytes: usize) -> Duration {
    const BYTE: Duration = Duration::from_nanos(100);
    estimate(BYTE, bytes)
}

impl<'a> Intake<'a> {
    pub(crate) fn new(examiner: Examiner<'a>) -> Self {
        Intake {
            rules: StaticRules::new(examiner.home, examiner.texts),
            examiner,
            waiting: Vec::new(),
            bytes: 0,
            cost: 0,
            batch: match cost(BATCH) >= examiner.options.workers().worthwhile() {
                true => BATCH,
                false => 0,
            },
            known: Vec::new(),
        }
    }

    /// Takes a file, and remembers what it came to if that is wanted. Its text is kept once, for those of its documents that
    /// hold objects.
    pub(crate) fn read(&mut self, file: Cow<'_, ManifestFile>, remember: bool) {
        if self.examiner.budget.spend(documents_cost(&file.content)).is_err() {
            return;
        }
        let found: Vec<FileDocument> = documents(&file).collect();
        let path = file.path.as_str().into();
        let text = match self.examiner.texts {
            // What is not UTF-8 is no part of any text, so nobody shares it.
            Texts::Kept => String::from_utf8(file.into_owned().content).unwrap_or_default(),
            Texts::LetGo => String::new(),
        };
        let text = Arc::new(text);
        for document in found {
            self.bytes += document.raw.bytes.len();
            self.waiting.push(Item::Document(document, Arc::clone(&text)));
            self.take_full();
        }
        let end = FileEnd { path, text, remember };
        self.waiting.push(Item::End(end));
    }

    /// A file cannot be read.
    pub(crate) fn miss_file(&mut self) {
        self.rules.miss_file();
    }

    /// Takes the documents of a file that was read in another way.
    pub(crate) fn documents(&mut self, documents: impl Iterator<Item = FileDocument>) {
        let text = Arc::default();
        for document in documents {
            self.bytes += document.raw.bytes.len();
            self.waiting.push(Item::Document(document, Arc::clone(&text)));
            self.take_full();
        }
        self.waiting.push(Item::End(FileEnd {
            path: Box::default(),
            text,
            remember: false,
        }));
    }

    /// Takes a file that came to this before.
    pub(crate) fn recall(&mut self, path: &str, known: Known) {
        if self.examiner.budget.spend(known.cost()).is_err() {
            return;
        }
        self.waiting.push(Item::Known(path.into(), known));
    }

    /// The set, all that is wrong, and what to remember of the files.
    pub(crate) fn finish(mut self) -> (ManifestSet, Vec<Failure>, Vec<KnownFile>) {
        self.take();
        let (set, failures) = self.rules.finish();
        (set, failures, self.known)
    }

    fn take_full(&mut self) {
        if self.bytes >= self.batch {
            self.take();
        }
    }

    /// Takes what waits.
    fn take(&mut self) {
        self.bytes = 0;
        let waiting = std::mem::take(&mut self.waiting);
        let examiner = self.examiner;
        let findings = map(examiner.options.workers(), &waiting, Item::cost, |item| {
            item.examine(examiner)
        });
        for (item, (findings, cost)) in waiting.into_iter().zip(findings) {
            match item {
                Item::Document(document, _) => {
                    self.cost = self.cost.saturating_add(cost);
                    self.rules.accept(findings, &document.file);
                }
                Item::End(end) => self.end(end),
                Item::Known(path, known) => self.accept_known(path, known),
            }
        }
    }

    fn end(&mut self, end: FileEnd) {
        let objects = self.rules.end_file(end.remember);
        let cost = std::mem::take(&mut self.cost);
        let known = objects.map(|objects| (end.path, Known::new(end.text, objects, cost)));
        self.known.extend(known);
    }

    fn accept_known(&mut self, path: Box<str>, known: Known) {
        if self.rules.accept_known(known.objects(), &path) {
            self.known.push((path, known));
            return;
        }
        // Another file has one of its names, so that it has to be said where this one has it.
        let file = known.file(&path);
        for document in documents(&file) {
            let path = Arc::clone(&document.file);
            let (findings, _) = self.examiner.examine(document, known.text());
            self.rules.accept(findings, &path);
        }
        self.rules.end_file(false);
    }
}

impl Item {
    fn cost(&self) -> Duration {
        match self {
            Item::Document(document, _) => cost(document.raw.bytes.len()),
            Item::End(_) | Item::Known(..) => Duration::ZERO,
        }
    }

    fn examine(&self, examiner: Examiner<'_>) -> (Vec<Finding>, u64) {
        match self {
            Item::Document(document, text) => examiner.examine(document.clone(), text),
            Item::End(_) | Item::Known(..) => Default::default(),
        }
    }
}

/// What the documents of a file take besides their values.
fn documents_cost(content: &[u8]) -> u64 {
    let count = u64::try_from(split::count(content)).unwrap_or(u64::MAX);
    count.saturating_mul(DOCUMENT)
}
