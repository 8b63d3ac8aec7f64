//! How to watch: how often to look without being called, how long to wait for quiet, and what to call it all in logs.

use std::time::Duration;

/// How to watch a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How long to go without looking when the file system tells of nothing, as network file systems do.
    pub poll: Duration,
    /// How long nothing may have happened for changes to count as done.
    pub quiet: Duration,
    /// The same while a file is being written, on systems that tell when it is closed.
    pub writing: Duration,
    /// How long changes may go on without being looked at.
    pub patience: Duration,
    /// The same while nothing else happens than that files are being written, on systems that tell when they are closed.
    pub writing_patience: Duration,
    /// The words for logs.
    pub wording: Wording,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            poll: Duration::from_secs(60),
            quiet: Duration::from_millis(1),
            writing: Duration::from_millis(20),
            patience: Duration::from_millis(50),
            writing_patience: Duration::from_secs(2),
            wording: Wording::default(),
        }
    }
}

/// What logs call a directory and what happens to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wording {
    /// Who uses the directory: the field `plugin` of each line.
    pub plugin: String,
    /// A new version is in use.
    pub reloaded: &'static str,
    /// The content cannot be used.
    pub failed: &'static str,
    /// After content that could not be used, it is again that of the version in use. An API server says nothing then.
    pub recovered: &'static str,
    /// The content may be unfinished.
    pub unsettled: &'static str,
    /// The file system cannot tell of changes.
    pub unwatched: &'static str,
}

impl Wording {
    /// An API server's words for a plugin of policies.
    pub fn policies(plugin: impl Into<String>) -> Self {
        Wording {
            plugin: plugin.into(),
            reloaded: "reloaded manifest config",
            failed: "reloading manifest config",
            recovered: "manifest config is again what is in use",
            unsettled: "manifest config may be unfinished, keeping what is in use",
            unwatched: "watching manifest directory",
        }
    }

    /// An API server's words for a plugin of webhooks.
    pub fn webhooks(plugin: impl Into<String>) -> Self {
        Wording {
            reloaded: "reloaded admission manifest config",
            failed: "reloading admission manifest config",
            recovered: "admission manifest config is again what is in use",
            unsettled: "admission manifest config may be unfinished, keeping what is in use",
            ..Self::policies(plugin)
        }
    }
}

impl Default for Wording {
    fn default() -> Self {
        Wording {
            plugin: String::new(),
            reloaded: "reloaded directory",
            failed: "reloading directory",
            recovered: "directory is again what is in use",
            unsettled: "directory may be unfinished, keeping what is in use",
            unwatched: "watching directory",
        }
    }
}
