//! Whether files that are rewritten in place are whole.
//!
//! A file that is replaced by a rename, or by a swap of links, is whole whenever it is read. One that is opened and
//! written anew is empty at first, and then ends anywhere: at the end of a document, it loads, and what comes after is not
//! there. Such a file is told by its identity: it is still the same file, with other content. Its content has to stay the
//! same for a while before it is taken, and for longer where something would be gone.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use super::set::ManifestSet;
use crate::kind::Kind;
use crate::read::directory::Identified;
use crate::read::file::Identity;

/// For how long files that are rewritten in place have to stay the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settling {
    /// If no object is gone and the file is no shorter than before.
    pub rewritten: Duration,
    /// Otherwise.
    pub shrunk: Duration,
    /// How long to wait at most while files go on changing.
    pub at_most: Duration,
}

impl Default for Settling {
    fn default() -> Self {
        Settling {
            rewritten: Duration::from_millis(500),
            shrunk: Duration::from_secs(5),
            at_most: Duration::from_secs(30),
        }
    }
}

/// A file that may be about to be written: what was loaded before is to stay in use until it is looked at again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsettled {
    /// The file.
    pub file: String,
    /// How many objects that were in it are nowhere in the directory.
    pub lost: usize,
    /// When to load again.
    pub again_in: Duration,
}

impl fmt::Display for Unsettled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was rewritten in place a moment ago", self.file)?;
        match self.lost {
            0 => Ok(()),
            1 => f.write_str(" and 1 object of it is gone"),
            lost => write!(f, " and {lost} objects of it are gone"),
        }
    }
}

/// What files were like when they were taken, and what they are like since.
#[derive(Debug, Default)]
pub(crate) struct Settler {
    taken: HashMap<String, Taken>,
    doubt: Option<Doubt>,
}

/// A file that was taken, and its objects.
#[derive(Debug)]
struct Taken {
    seen: Seen,
    objects: Vec<(Kind, Box<str>)>,
}

/// A file as it was read.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    path: String,
    identity: Identity,
    /// What tells its contents apart.
    digest: u64,
    length: usize,
}

impl Seen {
    pub(crate) fn new((file, identity): &Identified) -> Self {
        let mut hasher = DefaultHasher::new();
        file.content.hash(&mut hasher);
        Seen {
            path: file.path.clone(),
            identity: identity.clone(),
            digest: hasher.finish(),
            length: file.content.len(),
        }
    }
}

/// Content that was not taken.
#[derive(Debug)]
struct Doubt {
    hash: String,
    /// When it was seen first.
    since: Instant,
    /// When the first content was seen that was not taken.
    began: Instant,
}

impl Settler {
    /// The content is that which was taken; files may be others that have it.
    pub(crate) fn unchanged<'f>(&mut self, files: impl Iterator<Item = &'f Identified>) {
        self.doubt = None;
        for (file, identity) in files {
            if let Some(taken) = self.taken.get_mut(&file.path) {
                taken.seen.identity.clone_from(identity);
            }
        }
    }

    /// Whether to wait before a set is taken that these files came to.
    pub(crate) fn doubts(
        &mut self,
        files: &[Seen],
        (set, hash): (&ManifestSet, &str),
        settling: &Settling,
        now: Instant,
    ) -> Option<Unsettled> {
        let Some((rewritten, patience)) = self.rewritten(files, set, settling) else {
            self.doubt = None;
            return None;
        };
        let began = self.doubt.as_ref().map_or(now, |doubt| doubt.began);
        let same = self.doubt.take().filter(|doubt| doubt.hash == hash);
        let since = same.map_or(now, |doubt| doubt.since);
        let until = (since + patience).min(began + settling.at_most);
        let again_in = until.saturating_duration_since(now);
        if again_in.is_zero() {
            return None;
        }
        let hash = hash.to_owned();
        self.doubt = Some(Doubt { hash, since, began });
        Some(Unsettled {
            again_in,
            ..rewritten
        })
    }

    /// The file that was rewritten in place for which to wait longest, and how long.
    fn rewritten(
        &self,
        files: &[Seen],
        set: &ManifestSet,
        settling: &Settling,
    ) -> Option<(Unsettled, Duration)> {
        let mut names = None;
        let rewritten = files.iter().filter_map(|file| {
            let taken = self.taken.get(&file.path)?;
            let before = &taken.seen;
            let is_rewritten = before.identity == file.identity && before.digest != file.digest;
            if !is_rewritten || taken.objects.is_empty() {
                return None;
            }
            let names: &HashSet<_> =
                names.get_or_insert_with(|| set.objects().map(|object| (object.kind, object.name)).collect());
            let is_lost = |(kind, name): &&(Kind, Box<str>)| !names.contains(&(*kind, &**name));
            let lost = taken.objects.iter().filter(is_lost).count();
            let is_shrunk = lost > 0 || file.length < before.length;
            let unsettled = Unsettled {
                file: file.path.clone(),
                lost,
                again_in: Duration::ZERO,
            };
            let patience = if is_shrunk {
                settling.shrunk
            } else {
                settling.rewritten
            };
            Some((unsettled, patience))
        });
        rewritten.max_by_key(|(unsettled, patience)| (*patience, unsettled.lost))
    }

    /// Remembers what is taken.
    pub(crate) fn take(&mut self, files: Vec<Seen>, set: &ManifestSet) {
        self.doubt = None;
        let mut objects: HashMap<&str, Vec<(Kind, Box<str>)>> = HashMap::new();
        for object in set.objects() {
            let file = objects.entry(&**object.source.document().file()).or_default();
            file.push((object.kind, object.name.into()));
        }
        let taken = files.into_iter().map(|seen| {
            let objects = objects.remove(&*seen.path).unwrap_or_default();
            (seen.path.clone(), Taken { seen, objects })
        });
        self.taken = taken.collect();
    }
}
