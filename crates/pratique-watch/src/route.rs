//! The way to a directory's content: every entry that is looked up on it, through symbolic links as the system follows
//! them. When one of these entries becomes another, the content may have become another.

use std::collections::{BTreeSet, HashMap};
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
    /// The entries that are looked up, and what they are.
    entries: HashMap<PathBuf, Found>,
}

/// What an entry is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Found {
    Link(PathBuf),
    /// With its number, where there is one, by which it is told from another in its place.
    Directory(Option<u64>),
    Other,
    Nothing,
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

    /// Whether an entry is the same on another way; an entry of one of them only is of no account.
    fn agrees_at(&self, other: &Self, entry: &Path) -> bool {
        match (self.entries.get(entry), other.entries.get(entry)) {
            (Some(own), Some(other)) => own == other,
            _ => true,
        }
    }

    /// Whether the two ways are the same as far as both go. If they are not, what is read between them is of two times.
    pub(crate) fn agrees(&self, other: &Self) -> bool {
        self.entries.keys().all(|entry| self.agrees_at(other, entry))
    }

    /// The directories of this way that are others on another.
    pub(crate) fn replaced<'r>(&'r self, other: &'r Self) -> impl Iterator<Item = &'r PathBuf> {
        self.directories
            .iter()
            .filter(|directory| !self.agrees_at(other, directory))
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
            self.entries.contains_key(path)
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
            match self.look_up(&at, &name) {
                Found::Nothing => return None,
                Found::Directory(_) | Found::Other => at.push(name),
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
            let Found::Link(target) = self.look_up(&directory, &name) else {
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
    fn look_up(&mut self, directory: &Path, name: &OsString) -> Found {
        let entry = directory.join(name);
        let found = match fs::symlink_metadata(&entry) {
            Ok(found) if found.is_symlink() => fs::read_link(&entry).map_or(Found::Nothing, Found::Link),
            Ok(found) if found.is_dir() => Found::Directory(number(&found)),
            Ok(_) => Found::Other,
            Err(_) => Found::Nothing,
        };
        if !self.route.directories.contains(directory) {
            self.route.directories.insert(directory.to_owned());
        }
        self.route.entries.insert(entry, found.clone());
        found
    }
}

#[cfg(unix)]
fn number(found: &fs::Metadata) -> Option<u64> {
    Some(std::os::unix::fs::MetadataExt::ino(found))
}

#[cfg(not(unix))]
fn number(_: &fs::Metadata) -> Option<u64> {
    None
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

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use notify::event::{DataChange, Flag, MetadataKind, RemoveKind, RenameMode};

    use super::*;

    const RENAMED: EventKind = EventKind::Modify(ModifyKind::Name(RenameMode::To));
    const WRITTEN: EventKind = EventKind::Modify(ModifyKind::Data(DataChange::Any));
    const CLOSED: EventKind = EventKind::Access(AccessKind::Close(AccessMode::Write));
    const READ: EventKind = EventKind::Access(AccessKind::Close(AccessMode::Read));
    const ALLOWED: EventKind = EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any));
    const REMOVED: EventKind = EventKind::Remove(RemoveKind::Folder);

    /// A directory `in/policies` with a link `a` to `../../files/a`, which is a link to `b` beside it.
    fn linked() -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().canonicalize().unwrap();
        fs::create_dir_all(path.join("in/policies")).unwrap();
        fs::create_dir(path.join("files")).unwrap();
        symlink("b", path.join("files/a")).unwrap();
        symlink("../../files/a", path.join("in/policies/a")).unwrap();
        (root, path)
    }

    #[test]
    fn events_on_the_way_count() {
        let (_root, path) = linked();
        let route = Route::find(&path.join("in/policies"));
        let check = |kind: EventKind, entry: &str, expected: Option<Change>| {
            let event = Event::new(kind).add_path(path.join(entry));
            assert_eq!(route.judge(&event), expected, "{event:?}");
        };
        for entry in ["in/policies/new", "files/a", "files/b"] {
            check(RENAMED, entry, Some(Change::Done));
            check(WRITTEN, entry, Some(Change::Writing));
            check(CLOSED, entry, Some(Change::Done));
            check(READ, entry, None);
            check(ALLOWED, entry, Some(Change::Done));
        }
        for entry in ["in", "in/policies", "files", ""] {
            check(RENAMED, entry, Some(Change::Lost));
            check(REMOVED, entry, Some(Change::Lost));
            check(ALLOWED, entry, Some(Change::Done));
        }
        for entry in ["in/other", "files/c", "other"] {
            check(RENAMED, entry, None);
            check(WRITTEN, entry, None);
        }
        let flood = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        assert_eq!(route.judge(&flood), Some(Change::Lost));
    }

    #[test]
    fn ways_differ_where_both_go() {
        let (_root, path) = linked();
        let find = || Route::find(&path.join("in/policies"));
        let before = find();
        symlink("nowhere", path.join("in/policies/new")).unwrap();
        fs::write(path.join("in/policies/plain"), "").unwrap();
        assert!(before != find() && before.agrees(&find()));
        fs::rename(path.join("files"), path.join("gone")).unwrap();
        fs::create_dir(path.join("files")).unwrap();
        let after = find();
        assert!(!before.agrees(&after));
        assert_eq!(before.replaced(&after).collect::<Vec<_>>(), [&path.join("files")]);
    }

    #[test]
    fn links_without_end_end() {
        let root = tempfile::tempdir().unwrap();
        symlink("b", root.path().join("a")).unwrap();
        symlink("a", root.path().join("b")).unwrap();
        symlink(".", root.path().join("self")).unwrap();
        for path in ["", "a", "a/c", "self/self/self"] {
            Route::find(&root.path().join(path));
        }
    }
}
