//! A program with as much memory and as many open files as a small container has.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The memory that a program may take, in bytes: 1 GiB.
pub(super) const MEMORY: u64 = 1 << 30;

/// The default limit of open files.
pub(super) const FILES: u64 = 1024;

/// The directories of control groups for memory: version 1 has a separate hierarchy.
const HIERARCHIES: [(&str, &str); 2] = [
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
    ("/sys/fs/cgroup", "memory.max"),
];

/// A control group with a limit of memory, removed in the end. Without the right to make one there is none, and
/// the most memory that a program had is what is looked at.
pub(super) struct ControlGroup(Option<PathBuf>);

impl ControlGroup {
    /// A new group, if this machine lets us have one.
    pub(super) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("pratique-attack-{}-{count}", std::process::id());
        let made = HIERARCHIES.iter().find_map(|(root, limit)| {
            let path = Path::new(root).join(&name);
            if !Path::new(root).join("cgroup.procs").exists() || fs::create_dir(&path).is_err() {
                return None;
            }
            if fs::write(path.join(limit), MEMORY.to_string()).is_err() {
                // Nothing is in it: it can go.
                let _ = fs::remove_dir(&path);
                return None;
            }
            Some(path)
        });
        ControlGroup(made)
    }

    /// Whether the system enforces the limit.
    pub(super) fn is_enforced(&self) -> bool {
        self.0.is_some()
    }

    /// A command that runs a program in the group, with a limit of open files.
    pub(super) fn command(&self, program: &Path, files: u64) -> Command {
        let enter = match &self.0 {
            Some(path) => format!("echo $$ > '{}/cgroup.procs' && ", path.display()),
            None => String::new(),
        };
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg(format!("{enter}ulimit -n {files} && exec \"$0\" \"$@\""))
            .arg(program);
        command
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // It stays as long as something runs in it.
            let _ = fs::remove_dir(path);
        }
    }
}
