//! The way to a directory's content: every entry that is looked up on it, through symbolic links as the system follows
//! them. When one of these entries becomes another, the content may have become another.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use notify::event::{AccessKind, AccessMode, CreateKind, Event, EventKind, ModifyKind};

use crate::signal::Change;

/// A way as it is now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Route {
    /// The directory itself, free of links; none if there is none.
    directory: Option<PathBuf>,
    /// The directories in which entries are looked up, those above before those below.
    directories: BTreeSet<PathBuf>,
    /// The entries that are looked up.
    entries: HashSet<PathBuf>,
}

impl Route {
    /// Finds the way to a directory and to what its entries lead to.
    pub(crate) fn find(directory: &Path) -> Self {
        let mut finder = Finder::default();
        let directory = finder.walk(directory);
        if let Some(directory) = &directory {
            finder.route.directories.insert(directory.clone());
            for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
                if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                    finder.follow(directory.clone(), entry.file_name());
                }
            }
        }
        Route {
            directory,
            ..finder.route
        }
    }

    /// The directories to watch, those above before those below.
    pub(crate) fn directories(&self) -> &BTreeSet<PathBuf> {
        &self.directories
    }

    /// Whether this is the directory that it is all about.
    pub(crate) fn leads_to(&self, directory: &Path) -> bool {
        self.directory.as_deref() == Some(directory)
    }

    /// What an event means on this way, if anything.
    pub(crate) fn judge(&self, event: &Event) -> Option<Change> {
        if event.need_rescan() || event.paths.is_empty() {
            return Some(Change::Lost);
        }
        let change = match event.kind {
            EventKind::Access(AccessKind::Close(AccessMode::Write)) => Change::Done,
            EventKind::Access(_) => return None,
            EventKind::Create(CreateKind::File) | EventKind::Modify(ModifyKind::Data(_)) => Change::Writing,
            _ => Change::Done,
        };
        let is_metadata = matches!(event.kind, EventKind::Modify(ModifyKind::Metadata(_)));
        if !is_metadata && event.paths.iter().any(|path| self.directories.contains(path)) {
            return Some(Change::Lost);
        }
        let concerns = |path: &PathBuf| {
            self.entries.contains(path)
                || self.directories.contains(path)
                || path.parent().is_some_and(|parent| self.leads_to(parent))
        };
        event.paths.iter().any(concerns).then_some(change)
    }
}

/// As many links as Linux follows.
const MAX_LINKS: usize = 40;

#[derive(Default)]
struct Finder {
    route: Route,
    /// Where paths lead: the links of a directory often lead to the same place.
    known: HashMap<PathBuf, Option<PathBuf>>,
}

impl Finder {
    /// Follows a path through all its links.
    fn walk(&mut self, path: &Path) -> Option<PathBuf> {
        let mut at = PathBuf::new();
        let mut left = Vec::new();
        push_reversed(&mut left, path);
        let mut links = 0;
        while let Some(step) = left.pop() {
            let name = match step {
                Step::Root(root) => {
                    at.push(root);
                    continue;
                }
                Step::Up => {
                    at.pop();
                    continue;
                }
                Step::Down(name) => name,
            };
            match self.look_up(&at, &name)? {
                Found::Entry => at.push(name),
                Found::Link(_) if links == MAX_LINKS => return None,
                Found::Link(target) => {
                    links += 1;
                    push_reversed(&mut left, &target);
                }
            }
        }
        Some(at)
    }

    /// Follows the links that start with an entry of a directory.
    fn follow(&mut self, mut directory: PathBuf, mut name: OsString) {
        for _ in 0..MAX_LINKS {
            let Some(Found::Link(target)) = self.look_up(&directory, &name) else {
                return;
            };
            let target = directory.join(target);
            let (Some(parent), Some(last)) = (target.parent(), target.file_name()) else {
                self.walk_once(&target);
                return;
            };
            match self.walk_once(parent) {
                Some(parent) => (directory, name) = (parent, last.to_owned()),
                None => return,
            }
        }
    }

    fn walk_once(&mut self, path: &Path) -> Option<PathBuf> {
        if let Some(known) = self.known.get(path) {
            return known.clone();
        }
        let found = self.walk(path);
        self.known.insert(path.to_owned(), found.clone());
        found
    }

    /// Looks up an entry; one that is not there may be there later.
    fn look_up(&mut self, directory: &Path, name: &OsString) -> Option<Found> {
        let entry = directory.join(name);
        let found = match fs::symlink_metadata(&entry) {
            Ok(found) if found.is_symlink() => fs::read_link(&entry).ok().map(Found::Link),
            Ok(_) => Some(Found::Entry),
            Err(_) => None,
        };
        if !self.route.directories.contains(directory) {
            self.route.directories.insert(directory.to_owned());
        }
        self.route.entries.insert(entry);
        found
    }
}

/// What a name stands for.
enum Found {
    Entry,
    Link(PathBuf),
}

/// A step of a path.
enum Step {
    Root(OsString),
    Up,
    Down(OsString),
}

fn push_reversed(steps: &mut Vec<Step>, path: &Path) {
    let from = steps.len();
    steps.extend(path.components().filter_map(|component| match component {
        Component::Prefix(_) | Component::RootDir => Some(Step::Root(component.as_os_str().to_owned())),
        Component::CurDir => None,
        Component::ParentDir => Some(Step::Up),
        Component::Normal(name) => Some(Step::Down(name.to_owned())),
    }));
    if let Some(added) = steps.get_mut(from..) {
        added.reverse();
    }
}
