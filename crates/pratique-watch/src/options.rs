//! Watch options: intervals, delays and log messages.

use std::time::Duration;

/// Options of [`Watched::start`](crate::Watched::start).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchOptions {
    /// The interval of reloads without events, for changes that cause none, as on network file systems.
    pub poll_interval: Duration,
    /// How long no event may occur before changes count as settled.
    pub quiet_period: Duration,
    /// The quiet period while a file is being written, on systems with events for closed files.
    pub write_quiet_period: Duration,
    /// The maximum delay of a reload while changes continue.
    pub max_delay: Duration,
    /// The maximum delay while files are only written, on systems with events for closed files.
    pub max_write_delay: Duration,
    /// The stack size of the background thread, in bytes; that of the system by default.
    pub stack_size: Option<usize>,
    /// The messages of log lines.
    pub log_messages: LogMessages,
}

impl Default for WatchOptions {
    fn default() -> Self {
        WatchOptions {
            poll_interval: Duration::from_secs(60),
            quiet_period: Duration::from_millis(1),
            write_quiet_period: Duration::from_millis(20),
            max_delay: Duration::from_millis(50),
            max_write_delay: Duration::from_secs(2),
            stack_size: None,
            log_messages: LogMessages::default(),
        }
    }
}

/// The messages of log lines about a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogMessages {
    /// The user of the directory: the field `plugin` of each line.
    pub plugin: String,
    /// A new version is current.
    pub reloaded: &'static str,
    /// The directory cannot be loaded.
    pub failed: &'static str,
    /// After a load error, the content is again that of the current version. An API server logs nothing then.
    pub recovered: &'static str,
    /// The content may be unfinished.
    pub unsettled: &'static str,
    /// The directory cannot be watched.
    pub unwatched: &'static str,
}

impl LogMessages {
    /// The messages of an API server for a plugin of policies.
    // Upstream: pkg/admission/plugin/policy/manifest/source/source.go
    pub fn policies(plugin: impl Into<String>) -> Self {
        LogMessages {
            plugin: plugin.into(),
            reloaded: "reloaded manifest config",
            failed: "reloading manifest config",
            recovered: "manifest config matches the version in use again",
            unsettled: "manifest config may be unfinished, keeping the version in use",
            unwatched: "watching manifest directory",
        }
    }

    /// The messages of an API server for a plugin of webhooks.
    // Upstream: pkg/admission/plugin/webhook/manifest/source/source.go
    pub fn webhooks(plugin: impl Into<String>) -> Self {
        LogMessages {
            reloaded: "reloaded admission manifest config",
            failed: "reloading admission manifest config",
            recovered: "admission manifest config matches the version in use again",
            unsettled: "admission manifest config may be unfinished, keeping the version in use",
            ..Self::policies(plugin)
        }
    }
}

impl Default for LogMessages {
    fn default() -> Self {
        LogMessages {
            plugin: String::new(),
            reloaded: "reloaded directory",
            failed: "reloading directory",
            recovered: "directory matches the version in use again",
            unsettled: "directory may be unfinished, keeping the version in use",
            unwatched: "watching directory",
        }
    }
}
