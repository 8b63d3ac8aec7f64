//! Detects files that are being rewritten in place, and so may be incomplete.
//!
//! A file that is replaced by a rename, or by a swap of links, is complete whenever it is read. A file that is opened and
//! written anew is empty at first, and may then end anywhere: at the end of a document, it loads without the documents that
//! follow. Such a file is recognised by its identity: the same file with other content. Its content has to stay the same for
//! a while before it is accepted, and for longer where objects would be missing.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::BuildHasher;
use std::time::{Duration, Instant};

use foldhash::quality::FixedState;

use super::set::ManifestSet;
use crate::kind::Kind;
use crate::read::directory::Identified;
use crate::read::file::Identity;

/// How long files that are rewritten in place have to stay the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RewriteDelays {
    /// The delay if no object is missing and the file is no shorter than before.
    pub rewritten: Duration,
    /// The delay otherwise.
    pub shrunk: Duration,
    /// The longest delay while files keep changing.
    pub max: Duration,
}

impl Default for RewriteDelays {
    fn default() -> Self {
        RewriteDelays {
            rewritten: Duration::from_millis(500),
            shrunk: Duration::from_secs(5),
            max: Duration::from_secs(30),
        }
    }
}

/// A file that may be incomplete: the previous objects should stay in use until the directory is loaded again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnstableFile {
    /// The file.
    pub file: String,
    /// How many of its objects are in no file of the directory any more.
    pub lost: usize,
    /// After which time to load again.
    pub retry_after: Duration,
}

impl fmt::Display for UnstableFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was rewritten in place a moment ago", self.file)?;
        match self.lost {
            0 => Ok(()),
            1 => f.write_str(" and 1 object of it is gone"),
            lost => write!(f, " and {lost} objects of it are gone"),
        }
    }
}

/// Compares files with those that were accepted before.
#[derive(Debug, Default)]
pub(crate) struct RewriteDetector {
    accepted: HashMap<String, AcceptedFile>,
    pending: Option<PendingContent>,
}

/// An accepted file and its objects.
#[derive(Debug)]
struct AcceptedFile {
    content: FileContent,
    objects: Vec<(Kind, Box<str>)>,
}

/// A file as it was read.
#[derive(Clone, Debug)]
pub(crate) struct FileContent {
    path: String,
    identity: Identity,
    /// A hash of the content.
    digest: u64,
    length: usize,
}

impl FileContent {
    pub(crate) fn new((file, identity): &Identified) -> Self {
        FileContent {
            path: file.path.clone(),
            identity: identity.clone(),
            digest: FixedState::default().hash_one(&file.content),
            length: file.content.len(),
        }
    }
}

/// Content that was not accepted yet.
#[derive(Debug)]
struct PendingContent {
    hash: String,
    /// When this content was read first.
    since: Instant,
    /// When content that was not accepted was read first.
    began: Instant,
}

impl RewriteDetector {
    /// Records that the content is the accepted one; other files may have it now.
    pub(crate) fn unchanged<'f>(&mut self, files: impl Iterator<Item = &'f Identified>) {
        self.pending = None;
        for (file, identity) in files {
            if let Some(accepted) = self.accepted.get_mut(&file.path) {
                accepted.content.identity.clone_from(identity);
            }
        }
    }

    /// The file to wait for before the set of these files is accepted, if there is one.
    pub(crate) fn unstable_file(
        &mut self,
        files: &[FileContent],
        (set, hash): (&ManifestSet, &str),
        delays: &RewriteDelays,
        now: Instant,
    ) -> Option<UnstableFile> {
        let Some((rewritten, delay)) = self.rewritten(files, set, delays) else {
            self.pending = None;
            return None;
        };
        let began = self.pending.as_ref().map_or(now, |pending| pending.began);
        let same = self.pending.take().filter(|pending| pending.hash == hash);
        let since = same.map_or(now, |pending| pending.since);
        let until = (since + delay).min(began + delays.max);
        let retry_after = until.saturating_duration_since(now);
        if retry_after.is_zero() {
            return None;
        }
        let hash = hash.to_owned();
        self.pending = Some(PendingContent { hash, since, began });
        Some(UnstableFile {
            retry_after,
            ..rewritten
        })
    }

    /// The file rewritten in place that has the longest delay, and the delay.
    fn rewritten(
        &self,
        files: &[FileContent],
        set: &ManifestSet,
        delays: &RewriteDelays,
    ) -> Option<(UnstableFile, Duration)> {
        let mut names = None;
        let rewritten = files.iter().filter_map(|file| {
            let accepted = self.accepted.get(&file.path)?;
            let before = &accepted.content;
            let is_rewritten = before.identity == file.identity && before.digest != file.digest;
            if !is_rewritten || accepted.objects.is_empty() {
                return None;
            }
            let names: &HashSet<_> =
                names.get_or_insert_with(|| set.objects().map(|object| (object.kind, object.name)).collect());
            let is_lost = |(kind, name): &&(Kind, Box<str>)| !names.contains(&(*kind, &**name));
            let lost = accepted.objects.iter().filter(is_lost).count();
            let is_shrunk = lost > 0 || file.length < before.length;
            let unstable = UnstableFile {
                file: file.path.clone(),
                lost,
                retry_after: Duration::ZERO,
            };
            let delay = if is_shrunk {
                delays.shrunk
            } else {
                delays.rewritten
            };
            Some((unstable, delay))
        });
        rewritten.max_by_key(|(unstable, delay)| (*delay, unstable.lost))
    }

    /// Records accepted files.
    pub(crate) fn accept(&mut self, files: Vec<FileContent>, set: &ManifestSet) {
        self.pending = None;
        let mut objects: HashMap<&str, Vec<(Kind, Box<str>)>> = HashMap::new();
        for object in set.objects() {
            let file = objects.entry(&**object.source.document().file()).or_default();
            file.push((object.kind, object.name.into()));
        }
        let accepted = files.into_iter().map(|content| {
            let objects = objects.remove(&*content.path).unwrap_or_default();
            (content.path.clone(), AcceptedFile { content, objects })
        });
        self.accepted = accepted.collect();
    }
}
