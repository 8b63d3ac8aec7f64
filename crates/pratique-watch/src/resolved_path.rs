//! Path resolution that records every entry it looks up, through symbolic links as the system follows them. If one of
//! these entries changes, the content of the directory may have changed.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use notify::event::{AccessKind, AccessMode, CreateKind, Event, EventKind, ModifyKind};

use crate::debouncer::ChangeKind;
use crate::watch_paths::WatchPaths;

/// The resolution of a path at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResolvedPath {
    /// The resolved directories whose entries count, without links.
    targets: BTreeSet<PathBuf>,
    /// The directories in which entries are looked up, parents before children.
    directories: BTreeSet<PathBuf>,
    /// The looked-up entries.
    entries: HashMap<PathBuf, DirectoryEntry>,
}

/// A directory entry.
#[derive(Clone, Debug, PartialEq, Eq)]
enum DirectoryEntry {
    Link(PathBuf),
    /// With its inode number, which distinguishes it from a replacement of the same name.
    Directory(Option<u64>),
    Other,
    Missing,
}

impl ResolvedPath {
    /// Resolves paths of files and directories, and the links in the directories.
    pub(crate) fn resolve(paths: &WatchPaths) -> Self {
        let mut resolver = PathResolver::default();
        for path in &paths.paths {
            if let Some(target) = resolver.resolve(path) {
                resolver.enter(&target, paths.depth);
            }
        }
        resolver.path
    }

    /// The directories to watch, parents before children.
    pub(crate) fn directories(&self) -> &BTreeSet<PathBuf> {
        &self.directories
    }

    /// Whether this is a resolved directory whose entries count.
    pub(crate) fn is_target(&self, directory: &Path) -> bool {
        self.targets.contains(directory)
    }

    /// Whether an entry is the same in both resolutions, or missing in one of them.
    fn agrees_at(&self, other: &Self, path: &Path) -> bool {
        match (self.entries.get(path), other.entries.get(path)) {
            (Some(entry), Some(other)) => entry == other,
            _ => true,
        }
    }

    /// Whether all common entries are the same. Otherwise, files read in between may be from different versions.
    pub(crate) fn agrees(&self, other: &Self) -> bool {
        self.entries.keys().all(|path| self.agrees_at(other, path))
    }

    /// The directories that were replaced in the other resolution.
    pub(crate) fn replaced<'r>(&'r self, other: &'r Self) -> impl Iterator<Item = &'r PathBuf> {
        self.directories
            .iter()
            .filter(|directory| !self.agrees_at(other, directory))
    }

    /// Classifies an event; `None` if it does not affect this path.
    pub(crate) fn classify(&self, event: &Event) -> Option<ChangeKind> {
        if event.need_rescan() || event.paths.is_empty() {
            return Some(ChangeKind::Lost);
        }
        let change = match event.kind {
            EventKind::Access(AccessKind::Close(AccessMode::Write)) => ChangeKind::Done,
            EventKind::Access(_) => return None,
            EventKind::Create(CreateKind::File) | EventKind::Modify(ModifyKind::Data(_)) => {
                ChangeKind::Writing
            }
            _ => ChangeKind::Done,
        };
        let is_metadata = matches!(event.kind, EventKind::Modify(ModifyKind::Metadata(_)));
        if !is_metadata && event.paths.iter().any(|path| self.directories.contains(path)) {
            return Some(ChangeKind::Lost);
        }
        let affects = |path: &PathBuf| {
            self.entries.contains_key(path)
                || self.directories.contains(path)
                || path.parent().is_some_and(|parent| self.is_target(parent))
        };
        event.paths.iter().any(affects).then_some(change)
    }
}

/// The maximum number of links, as on Linux.
const MAX_LINKS: usize = 40;

#[derive(Default)]
struct PathResolver {
    path: ResolvedPath,
    /// Resolved paths: the links of a directory often have the same parent.
    resolved: HashMap<PathBuf, Option<PathBuf>>,
}

impl PathResolver {
    /// Resolves a path through all its links.
    fn resolve(&mut self, path: &Path) -> Option<PathBuf> {
        let mut current = PathBuf::new();
        let mut remaining = Vec::new();
        push_reversed(&mut remaining, path);
        let mut links = 0;
        while let Some(step) = remaining.pop() {
            let name = match step {
                PathStep::Root(root) => {
                    current.push(root);
                    continue;
                }
                PathStep::Up => {
                    current.pop();
                    continue;
                }
                PathStep::Down(name) => name,
            };
            match self.look_up(&current, &name) {
                DirectoryEntry::Missing => return None,
                DirectoryEntry::Directory(_) | DirectoryEntry::Other => current.push(name),
                DirectoryEntry::Link(_) if links == MAX_LINKS => return None,
                DirectoryEntry::Link(target) => {
                    links += 1;
                    push_reversed(&mut remaining, &target);
                }
            }
        }
        Some(current)
    }

    /// Records a directory whose entries count, and those below it down to a depth. Hidden ones are left out: they hold what
    /// programs keep for themselves. Recursion is bounded by the depth.
    fn enter(&mut self, directory: &Path, depth: usize) {
        let Ok(entries) = fs::read_dir(directory) else {
            // A file is recorded as an entry of its directory. A directory that cannot be read now may be later.
            if fs::metadata(directory).is_ok_and(|metadata| metadata.is_dir()) {
                self.insert_target(directory);
            }
            return;
        };
        self.insert_target(directory);
        for entry in entries.flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() => self.follow(directory.to_owned(), entry.file_name()),
                Ok(kind) if kind.is_dir() && depth > 0 && !is_hidden(&entry.file_name()) => {
                    self.look_up(directory, &entry.file_name());
                    self.enter(&entry.path(), depth - 1);
                }
                _ => {}
            }
        }
    }

    fn insert_target(&mut self, directory: &Path) {
        self.path.directories.insert(directory.to_owned());
        self.path.targets.insert(directory.to_owned());
    }

    /// Follows the links that start with an entry of a directory.
    fn follow(&mut self, mut directory: PathBuf, mut name: OsString) {
        for _ in 0..MAX_LINKS {
            let DirectoryEntry::Link(target) = self.look_up(&directory, &name) else {
                return;
            };
            let target = directory.join(target);
            let (Some(parent), Some(last)) = (target.parent(), target.file_name()) else {
                self.resolve_cached(&target);
                return;
            };
            match self.resolve_cached(parent) {
                Some(parent) => (directory, name) = (parent, last.to_owned()),
                None => return,
            }
        }
    }

    fn resolve_cached(&mut self, path: &Path) -> Option<PathBuf> {
        if let Some(resolved) = self.resolved.get(path) {
            return resolved.clone();
        }
        let resolved = self.resolve(path);
        self.resolved.insert(path.to_owned(), resolved.clone());
        resolved
    }

    /// Looks up and records an entry. Missing entries are recorded as well: they may be created later.
    fn look_up(&mut self, directory: &Path, name: &OsString) -> DirectoryEntry {
        let path = directory.join(name);
        let entry = match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_symlink() => {
                fs::read_link(&path).map_or(DirectoryEntry::Missing, DirectoryEntry::Link)
            }
            Ok(metadata) if metadata.is_dir() => DirectoryEntry::Directory(inode(&metadata)),
            Ok(_) => DirectoryEntry::Other,
            Err(_) => DirectoryEntry::Missing,
        };
        if !self.path.directories.contains(directory) {
            self.path.directories.insert(directory.to_owned());
        }
        self.path.entries.insert(path, entry.clone());
        entry
    }
}

fn is_hidden(name: &OsString) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

#[cfg(unix)]
fn inode(metadata: &fs::Metadata) -> Option<u64> {
    Some(std::os::unix::fs::MetadataExt::ino(metadata))
}

#[cfg(not(unix))]
fn inode(_: &fs::Metadata) -> Option<u64> {
    None
}

/// A component of a path, as an action on the current directory.
enum PathStep {
    Root(OsString),
    Up,
    Down(OsString),
}

fn push_reversed(steps: &mut Vec<PathStep>, path: &Path) {
    let from = steps.len();
    steps.extend(path.components().filter_map(|component| match component {
        Component::Prefix(_) | Component::RootDir => Some(PathStep::Root(component.as_os_str().to_owned())),
        Component::CurDir => None,
        Component::ParentDir => Some(PathStep::Up),
        Component::Normal(name) => Some(PathStep::Down(name.to_owned())),
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
    fn events_on_the_path_are_classified() {
        let (_root, path) = linked();
        let resolved = ResolvedPath::resolve(&WatchPaths::directory(path.join("in/policies")));
        let check = |kind: EventKind, entry: &str, expected: Option<ChangeKind>| {
            let event = Event::new(kind).add_path(path.join(entry));
            assert_eq!(resolved.classify(&event), expected, "{event:?}");
        };
        for entry in ["in/policies/new", "files/a", "files/b"] {
            check(RENAMED, entry, Some(ChangeKind::Done));
            check(WRITTEN, entry, Some(ChangeKind::Writing));
            check(CLOSED, entry, Some(ChangeKind::Done));
            check(READ, entry, None);
            check(ALLOWED, entry, Some(ChangeKind::Done));
        }
        for entry in ["in", "in/policies", "files", ""] {
            check(RENAMED, entry, Some(ChangeKind::Lost));
            check(REMOVED, entry, Some(ChangeKind::Lost));
            check(ALLOWED, entry, Some(ChangeKind::Done));
        }
        for entry in ["in/other", "files/c", "other"] {
            check(RENAMED, entry, None);
            check(WRITTEN, entry, None);
        }
        let flood = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        assert_eq!(resolved.classify(&flood), Some(ChangeKind::Lost));
    }

    #[test]
    fn resolutions_differ_in_common_entries() {
        let (_root, path) = linked();
        let resolve = || ResolvedPath::resolve(&WatchPaths::directory(path.join("in/policies")));
        let before = resolve();
        symlink("nowhere", path.join("in/policies/new")).unwrap();
        fs::write(path.join("in/policies/plain"), "").unwrap();
        assert!(before != resolve() && before.agrees(&resolve()));
        fs::rename(path.join("files"), path.join("gone")).unwrap();
        fs::create_dir(path.join("files")).unwrap();
        let after = resolve();
        assert!(!before.agrees(&after));
        assert_eq!(before.replaced(&after).collect::<Vec<_>>(), [&path.join("files")]);
    }

    #[test]
    fn cyclic_links_end() {
        let root = tempfile::tempdir().unwrap();
        symlink("b", root.path().join("a")).unwrap();
        symlink("a", root.path().join("b")).unwrap();
        symlink(".", root.path().join("self")).unwrap();
        for path in ["", "a", "a/c", "self/self/self"] {
            ResolvedPath::resolve(&WatchPaths::directory(root.path().join(path)));
        }
    }

    #[test]
    fn all_below_several_paths_is_classified() {
        let (_root, path) = linked();
        fs::create_dir_all(path.join("in/policies/deep/er")).unwrap();
        fs::create_dir_all(path.join("in/policies/.git/objects")).unwrap();
        fs::write(path.join("files/single"), "").unwrap();
        let paths = ["in/policies", "files/single"].map(|entry| path.join(entry));
        let resolved = ResolvedPath::resolve(&WatchPaths::trees(paths.to_vec()));
        let check = |entry: &str, expected: Option<ChangeKind>| {
            let event = Event::new(WRITTEN).add_path(path.join(entry));
            assert_eq!(resolved.classify(&event), expected, "{event:?}");
        };
        for entry in [
            "in/policies/new",
            "in/policies/deep/er/new",
            "files/single",
            "files/b",
        ] {
            check(entry, Some(ChangeKind::Writing));
        }
        for entry in ["in/policies/.git/objects/new", "files/other", "in/new"] {
            check(entry, None);
        }
    }
}
