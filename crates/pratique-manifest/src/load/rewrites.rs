//! Detects files that are being changed, and so may be incomplete.
//!
//! A file that is replaced by a rename, or by a swap of links, is complete whenever it is read. A file that is opened and
//! written anew is empty at first, and may then end anywhere: at the end of a document, it loads without the documents that
//! follow. Such a file is recognised by its identity (the same file with other content), or, if it was removed and created
//! again, by its times: nothing happened to it since it was written to. A policy and its binding may also be in different
//! files, of which one is replaced before the other. What was read has to stay the same for a while before it is accepted,
//! and for longer where objects would be missing.

mod first;
mod pairing;

use std::cell::LazyCell;
use std::fmt;
use std::hash::BuildHasher;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use foldhash::quality::FixedState;
use foldhash::{HashMap, HashSet};

use super::set::ManifestSet;
use crate::kind::Kind;
use crate::problem::ObjectName;
use crate::read::directory::ManifestFile;
use crate::read::file::{FileIdentity, FileState};
use pairing::PolicyPairing;

/// How long files that were changed have to stay the same.
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

/// A file that may be incomplete: the previous objects should stay in use until the files are loaded again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnstableFile {
    /// The file.
    pub file: String,
    /// Why it may be incomplete.
    pub reason: UnstableReason,
    /// How many of its objects are in no file any more.
    pub lost: usize,
    /// After which time to load again.
    pub retry_after: Duration,
}

/// Why files may be incomplete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnstableReason {
    /// The file is the same, with other content.
    Rewritten,
    /// The file is new under its name, and was written to a moment ago.
    Created,
    /// The file is gone, which may be the first half of replacing it.
    Removed,
    /// A policy that was in effect no longer is, and this object has lost its counterpart: a binding without a policy, or a
    /// policy without a binding.
    Unpaired(ObjectName),
    /// At the start: the file was written to a moment ago.
    Written,
    /// At the start: nothing is in the file yet.
    Empty,
    /// At the start: the file was written to a moment ago, and this object lacks its counterpart.
    Partial(ObjectName),
}

impl fmt::Display for UnstableFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = &self.file;
        match &self.reason {
            UnstableReason::Rewritten => write!(f, "{file} was rewritten in place a moment ago")?,
            UnstableReason::Created => write!(f, "{file} was created a moment ago")?,
            UnstableReason::Removed => write!(f, "{file} was removed a moment ago")?,
            UnstableReason::Unpaired(object) => {
                let (ObjectName { kind, name }, missing) = (object, counterpart(object));
                write!(
                    f,
                    "{file} has the {kind} {name:?} without a {missing}, while a policy is not in effect any more"
                )?;
            }
            UnstableReason::Written => write!(f, "{file} was written to a moment ago")?,
            UnstableReason::Empty => write!(f, "{file} is empty, and was written to a moment ago")?,
            UnstableReason::Partial(object) => {
                let (ObjectName { kind, name }, missing) = (object, counterpart(object));
                write!(
                    f,
                    "{file} was written to a moment ago, and the {kind} {name:?} has no {missing}"
                )?;
            }
        }
        match self.lost {
            0 => Ok(()),
            1 => f.write_str(" and 1 object of it is gone"),
            lost => write!(f, " and {lost} objects of it are gone"),
        }
    }
}

/// What an object is of no use without.
fn counterpart(object: &ObjectName) -> &'static str {
    if object.kind.is_binding() {
        "policy"
    } else {
        "binding"
    }
}

/// Compares files with those that were accepted before, and says whether they may be put into effect.
#[derive(Debug, Default)]
pub struct RewriteDetector {
    delays: RewriteDelays,
    accepted: HashMap<String, AcceptedFile>,
    pairing: PolicyPairing,
    pending: Option<PendingContent>,
}

/// An accepted file and its objects.
#[derive(Debug)]
struct AcceptedFile {
    content: FileContent,
    objects: Vec<(Kind, Box<str>)>,
}

/// A file as it was read: its state, and a digest of its content.
#[derive(Clone, Debug)]
pub struct FileContent {
    path: String,
    identity: FileIdentity,
    place: Option<PathBuf>,
    last_write: Option<SystemTime>,
    digest: u64,
    length: usize,
    is_essential: bool,
}

impl FileContent {
    /// The content of a file that has this state.
    #[must_use]
    pub fn new(file: &ManifestFile, state: &FileState) -> Self {
        Self::from_bytes(&file.path, &file.content, state)
    }

    pub(super) fn from_bytes(path: &str, content: &[u8], state: &FileState) -> Self {
        FileContent {
            path: path.to_owned(),
            identity: state.identity.clone(),
            place: state.place.clone(),
            last_write: state.last_write,
            digest: FixedState::default().hash_one(content),
            length: content.len(),
            is_essential: false,
        }
    }

    /// The same of a file that counts whatever objects it has, such as a certificate.
    #[must_use]
    pub fn essential(self) -> Self {
        FileContent {
            is_essential: true,
            ..self
        }
    }

    /// Whether the file was written to under its own name a moment ago. A time in the future, of a clock that was wrong, is
    /// such a moment.
    fn is_fresh(&self, moment: Duration) -> bool {
        self.age().is_some_and(|age| age < moment)
    }

    /// How long ago the file was written to under its own name, if nothing else was done to it since.
    fn age(&self) -> Option<Duration> {
        Some(self.last_write?.elapsed().unwrap_or_default())
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

/// The kinds and names of objects.
type ObjectNames<'s> = HashSet<(Kind, &'s str)>;

/// Names that are only needed where a file may be incomplete.
type LazyNames<'s> = LazyCell<ObjectNames<'s>, Box<dyn FnOnce() -> ObjectNames<'s> + 's>>;

impl RewriteDetector {
    /// A detector with these delays.
    #[must_use]
    pub fn new(delays: RewriteDelays) -> Self {
        RewriteDetector {
            delays,
            ..Self::default()
        }
    }

    /// Records that the content is the accepted one; other files may have it now.
    pub fn keep(&mut self, files: impl IntoIterator<Item = FileContent>) {
        self.pending = None;
        for content in files {
            if let Some(accepted) = self.accepted.get_mut(&content.path) {
                accepted.content = content;
            }
        }
    }

    /// Accepts these files with the objects that were loaded from them, unless one may be incomplete. The hash is that of
    /// all content.
    ///
    /// # Errors
    /// The file to wait for. What was accepted before should stay in use, and the files be read again after the delay.
    pub fn admit(
        &mut self,
        files: Vec<FileContent>,
        sets: &[&ManifestSet],
        hash: &str,
    ) -> Result<(), UnstableFile> {
        let pairing = PolicyPairing::new(sets);
        match self.unstable_file(&files, sets, &pairing, hash, Instant::now()) {
            Some(file) => Err(file),
            None => {
                self.accept_paired(files, sets, pairing);
                Ok(())
            }
        }
    }

    /// Accepts these files whatever they were before.
    pub fn accept(&mut self, files: Vec<FileContent>, sets: &[&ManifestSet]) {
        self.accept_paired(files, sets, PolicyPairing::new(sets));
    }

    fn accept_paired(&mut self, files: Vec<FileContent>, sets: &[&ManifestSet], pairing: PolicyPairing) {
        self.pending = None;
        self.pairing = pairing;
        let mut objects: HashMap<&str, Vec<(Kind, Box<str>)>> = HashMap::default();
        for object in sets.iter().flat_map(|set| set.objects()) {
            let file = objects.entry(&**object.source.document().file()).or_default();
            file.push((object.kind, object.name.into()));
        }
        let accepted = files.into_iter().map(|content| {
            let objects = objects.remove(&*content.path).unwrap_or_default();
            (content.path.clone(), AcceptedFile { content, objects })
        });
        self.accepted = accepted.collect();
    }

    fn unstable_file(
        &mut self,
        files: &[FileContent],
        sets: &[&ManifestSet],
        pairing: &PolicyPairing,
        hash: &str,
        now: Instant,
    ) -> Option<UnstableFile> {
        let changed = self.changed_file(files, sets, pairing);
        self.wait_for(changed, Duration::ZERO, hash, now)
    }

    /// The file, until its content has been the same for its delay; it has been for this time already.
    fn wait_for(
        &mut self,
        changed: Option<(UnstableFile, Duration)>,
        age: Duration,
        hash: &str,
        now: Instant,
    ) -> Option<UnstableFile> {
        let Some((unstable, delay)) = changed else {
            self.pending = None;
            return None;
        };
        let began = self.pending.as_ref().map_or(now, |pending| pending.began);
        let same = self.pending.take().filter(|pending| pending.hash == hash);
        let since = same.map_or(now, |pending| pending.since);
        let until = (since + delay)
            .min(now + delay.saturating_sub(age))
            .min(began + self.delays.max);
        let retry_after = until.saturating_duration_since(now);
        if retry_after.is_zero() {
            return None;
        }
        let hash = hash.to_owned();
        self.pending = Some(PendingContent { hash, since, began });
        Some(UnstableFile {
            retry_after,
            ..unstable
        })
    }

    /// The file with the longest delay, and the delay.
    fn changed_file(
        &self,
        files: &[FileContent],
        sets: &[&ManifestSet],
        pairing: &PolicyPairing,
    ) -> Option<(UnstableFile, Duration)> {
        let names = LazyNames::new(Box::new(|| {
            let objects = sets.iter().flat_map(|set| set.objects());
            objects.map(|object| (object.kind, object.name)).collect()
        }));
        let written = files.iter().filter_map(|file| self.written_file(file, &names));
        let changed = written
            .chain(self.removed_files(files, &names))
            .chain(self.unpaired_object(pairing));
        changed.max_by_key(|(unstable, delay)| (*delay, unstable.lost))
    }

    /// A file that may be being written to, and its delay.
    fn written_file(&self, file: &FileContent, names: &LazyNames<'_>) -> Option<(UnstableFile, Duration)> {
        let accepted = self.accepted.get(&file.path);
        let accepted_content = accepted.map(|accepted| &accepted.content);
        if accepted_content.is_some_and(|content| content.digest == file.digest) {
            return None;
        }
        let (reason, lost) = match accepted {
            Some(accepted) if accepted.content.identity == file.identity => {
                if accepted.objects.is_empty() && !file.is_essential {
                    return None;
                }
                (UnstableReason::Rewritten, accepted.count_lost(names))
            }
            // A link leads to another place now, where all was written before.
            Some(accepted) if accepted.content.place != file.place => return None,
            _ if file.is_fresh(self.delays.shrunk) => {
                // Objects of other files may be moved to this one.
                let lost = self.accepted.values().map(|accepted| accepted.count_lost(names));
                (UnstableReason::Created, lost.sum())
            }
            _ => return None,
        };
        let is_shrunk = lost > 0 || accepted_content.is_some_and(|content| file.length < content.length);
        let delay = if is_shrunk {
            self.delays.shrunk
        } else {
            self.delays.rewritten
        };
        let unstable = UnstableFile {
            file: file.path.clone(),
            reason,
            lost,
            retry_after: Duration::ZERO,
        };
        Some((unstable, delay))
    }

    /// Files that are gone with objects that are in no other file. Programs that do not rename remove a file before they
    /// create it again.
    fn removed_files(
        &self,
        files: &[FileContent],
        names: &LazyNames<'_>,
    ) -> impl Iterator<Item = (UnstableFile, Duration)> {
        let paths: HashSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
        let removed = self.accepted.iter().filter_map(move |(path, accepted)| {
            if paths.contains(path.as_str()) {
                return None;
            }
            let lost = accepted.count_lost(names);
            let unstable = UnstableFile {
                file: path.clone(),
                reason: UnstableReason::Removed,
                lost,
                retry_after: Duration::ZERO,
            };
            (lost > 0).then_some((unstable, self.delays.shrunk))
        });
        removed.collect::<Vec<_>>().into_iter()
    }

    /// An object that lost its counterpart, if a policy lost its effect.
    fn unpaired_object(&self, next: &PolicyPairing) -> Option<(UnstableFile, Duration)> {
        let (object, file) = self.pairing.broken_by(next)?;
        let unstable = UnstableFile {
            file,
            reason: UnstableReason::Unpaired(object),
            lost: 0,
            retry_after: Duration::ZERO,
        };
        Some((unstable, self.delays.shrunk))
    }
}

impl AcceptedFile {
    /// How many of its objects are not among these.
    fn count_lost(&self, names: &ObjectNames<'_>) -> usize {
        let is_lost = |(kind, name): &&(Kind, Box<str>)| !names.contains(&(*kind, &**name));
        self.objects.iter().filter(is_lost).count()
    }
}
