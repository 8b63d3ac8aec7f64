//! Keeps the policies of `--policies` current: reads them again when their files change.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use pratique::Configurations;
use pratique::expressions::Expressions;
use pratique::live::{AdmissionObserver, InMemory, Reload, ReloadResult};
use pratique_manifest::{ManifestFile, Plugin, content_hash};
use pratique_policy::Origin;

use crate::arguments::PolicyPathArguments;
use crate::exit::CliError;
use crate::input::all_shown;
use crate::policies::{LoadFailure, OriginSets, read, reload};

/// The interval at which files are looked at.
const INTERVAL: Duration = Duration::from_secs(1);
/// How long files must be as they are before they are read.
const QUIET: Duration = Duration::from_millis(100);
/// How deep directories may nest.
const MAX_DEPTH: usize = 64;

/// The thread that reads the files; it ends when this is dropped.
pub(super) struct PolicyFiles {
    _stop: SyncSender<()>,
}

/// The stamps of files, which show whether one has changed.
type Stamps = BTreeMap<PathBuf, Option<Stamp>>;

/// The metadata of a file that changes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
    /// On Unix: the file itself, and the last change to it.
    identity: (u64, i64, i64),
}

/// Reads the files.
struct Reader {
    arguments: PolicyPathArguments,
    expressions: Expressions,
    source: InMemory,
    observers: Vec<Arc<dyn AdmissionObserver>>,
    /// The paths, for messages.
    shown: String,
    /// The files of directories that were no objects from the start, such as templates: a file that is none later is a fault.
    unread: Vec<String>,
    /// The plugins of the objects in use.
    plugins: Vec<Plugin>,
    /// The hash of the static manifests that were read last.
    of_static: String,
    /// The hash of the objects of the API in use.
    hash: String,
    failure: Option<String>,
}

impl PolicyFiles {
    /// Starts the thread; `None` if the policies cannot be read again. `sets` are those in use.
    ///
    /// # Errors
    /// The system gives no thread, or the files cannot be read any more.
    pub(super) fn start(
        arguments: &PolicyPathArguments,
        expressions: &Expressions,
        sets: &OriginSets,
        source: &InMemory,
        observers: Vec<Arc<dyn AdmissionObserver>>,
    ) -> Result<Option<Self>, CliError> {
        let paths = &arguments.policies;
        let is_lasting = |path: &PathBuf| path.is_dir() || path.is_file();
        if paths.is_empty() || !paths.iter().all(is_lasting) {
            return Ok(None);
        }
        let (stop, stopped) = mpsc::sync_channel(0);
        let reader = Reader {
            arguments: arguments.clone(),
            expressions: expressions.clone(),
            source: source.clone(),
            observers,
            shown: all_shown(paths).join(", "),
            unread: read(paths, arguments.origin.origin)?.unread().to_vec(),
            plugins: plugins(sets),
            of_static: hash(sets, Origin::Static),
            hash: hash(sets, Origin::Api),
            failure: None,
        };
        let initial = stamps(paths);
        thread::Builder::new()
            .name("pratique-policies".to_owned())
            .stack_size(crate::STACK)
            .spawn(move || reader.run(initial, &stopped))
            .map_err(CliError::Thread)?;
        Ok(Some(PolicyFiles { _stop: stop }))
    }
}

impl Reader {
    /// Reads the files after each change, until it is stopped.
    fn run(mut self, mut last: Stamps, stopped: &Receiver<()>) {
        while is_running(stopped, INTERVAL) {
            let mut now = stamps(&self.arguments.policies);
            if now == last {
                continue;
            }
            // A file that is being written to may be incomplete.
            loop {
                if !is_running(stopped, QUIET) {
                    return;
                }
                let next = stamps(&self.arguments.policies);
                if std::mem::replace(&mut now, next) == now {
                    break;
                }
            }
            self.read();
            // What changes while it is read is read again.
            last = now;
        }
    }

    fn read(&mut self) {
        let start = Instant::now();
        match reload(&self.arguments, &self.unread, &self.expressions) {
            Ok(sets) => self.use_sets(sets, start),
            Err(error) => {
                let reason = match error {
                    LoadFailure::Invalid { errors, .. } => errors.to_string(),
                    LoadFailure::Cli(error) => error.to_string(),
                };
                self.fail(&reason, start);
            }
        }
    }

    /// Puts other policies into effect.
    fn use_sets(&mut self, sets: OriginSets, start: Instant) {
        let paths = &self.shown;
        let of_static = hash(&sets, Origin::Static);
        if of_static != self.of_static {
            self.of_static = of_static;
            tracing::warn!(
                paths,
                "static manifests of --policies changed, which are read once: --manifests follows them"
            );
        }
        let hash = hash(&sets, Origin::Api);
        let has_failed = self.failure.take().is_some();
        if hash == self.hash {
            if has_failed {
                tracing::info!(paths, "policies match the version in use again");
            }
            return self.observe(ReloadResult::Unchanged, start);
        }
        let plugins = plugins(&sets);
        if plugins.is_empty() && !self.plugins.is_empty() {
            tracing::warn!(paths, "the files have no policies any more");
        }
        self.source.replace(configurations(&sets));
        tracing::info!(paths, "reloaded policies");
        // Plugins without objects from now on are observed as well.
        let added = plugins.iter().filter(|plugin| !self.plugins.contains(plugin));
        let added: Vec<Plugin> = added.copied().collect();
        self.plugins.extend(added);
        self.observe(ReloadResult::Loaded { hash: &hash }, start);
        self.plugins = plugins;
        self.hash = hash;
    }

    /// Keeps what is in use.
    fn fail(&mut self, reason: &str, start: Instant) {
        let paths = &self.shown;
        if self.failure.as_deref() != Some(reason) {
            tracing::error!(err = reason, paths, "reloading policies");
            self.failure = Some(reason.to_owned());
        }
        self.observe(ReloadResult::Failed { reason }, start);
    }

    /// Notifies the observers, for each plugin that has objects.
    fn observe(&self, result: ReloadResult<'_>, start: Instant) {
        let default = [Plugin::ValidatingAdmissionPolicy];
        let plugins = match self.plugins.as_slice() {
            [] => &default,
            plugins => plugins,
        };
        for plugin in plugins {
            let reload = Reload::new(*plugin, &self.shown, result, start.elapsed());
            self.observers
                .iter()
                .for_each(|observer| observer.reloaded(&reload));
        }
    }
}

/// Waits; false once it is stopped.
fn is_running(stopped: &Receiver<()>, time: Duration) -> bool {
    matches!(stopped.recv_timeout(time), Err(RecvTimeoutError::Timeout))
}

/// The objects of the API.
pub(super) fn configurations(sets: &OriginSets) -> Configurations {
    of_origin(sets, Origin::Api)
}

fn of_origin(sets: &OriginSets, origin: Origin) -> Configurations {
    let mut all = Configurations::default();
    for (_, set) in sets.iter().filter(|(found, _)| *found == origin) {
        let more = Configurations::from(set.clone());
        all.mutating_policies.extend(more.mutating_policies);
        all.mutating_bindings.extend(more.mutating_bindings);
        all.mutating_webhooks.extend(more.mutating_webhooks);
        all.validating_policies.extend(more.validating_policies);
        all.validating_bindings.extend(more.validating_bindings);
        all.validating_webhooks.extend(more.validating_webhooks);
    }
    all
}

/// The hash of the objects of an origin, without their comments and order of fields.
fn hash(sets: &OriginSets, origin: Origin) -> String {
    fn lines<T: serde::Serialize>(objects: &[Arc<T>]) -> String {
        let lines = objects.iter().map(|object| serde_json::to_string(&**object));
        lines.map(|line| line.unwrap_or_default() + "\n").collect()
    }
    let all = of_origin(sets, origin);
    let texts = [
        lines(&all.mutating_policies),
        lines(&all.mutating_bindings),
        lines(&all.mutating_webhooks),
        lines(&all.validating_policies),
        lines(&all.validating_bindings),
        lines(&all.validating_webhooks),
    ];
    let files = texts.into_iter().zip(["mp", "mb", "mw", "vp", "vb", "vw"]);
    let files = files.map(|(text, path)| ManifestFile {
        path: path.to_owned(),
        content: text.into_bytes(),
    });
    content_hash(&files.collect::<Vec<_>>())
}

/// The plugins of the objects of the API.
fn plugins(sets: &OriginSets) -> Vec<Plugin> {
    let has = |plugin: &Plugin| {
        let of_api = sets.iter().filter(|(origin, _)| *origin == Origin::Api);
        let mut objects = of_api.flat_map(|(_, set)| set.objects());
        objects.any(|object| plugin.accepts(object.kind))
    };
    Plugin::START_ORDER.into_iter().filter(has).collect()
}

/// The state of all files that paths name.
fn stamps(paths: &[PathBuf]) -> Stamps {
    let mut stamps = Stamps::new();
    paths.iter().for_each(|path| add(path, 0, &mut stamps));
    stamps
}

/// Recursion is bounded by the depth.
fn add(path: &Path, depth: usize, stamps: &mut Stamps) {
    let found = fs::metadata(path).ok();
    let entries = match &found {
        Some(found) if found.is_dir() && depth < MAX_DEPTH => fs::read_dir(path).ok(),
        _ => None,
    };
    stamps.insert(path.to_owned(), found.as_ref().map(Stamp::of));
    for entry in entries.into_iter().flatten().map_while(Result::ok) {
        // Links to directories are not followed, but one may be put in the place of another.
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => add(&entry.path(), depth + 1, stamps),
            _ => {
                let found = fs::metadata(entry.path()).ok();
                stamps.insert(entry.path(), found.as_ref().map(Stamp::of));
            }
        }
    }
}

impl Stamp {
    fn of(found: &Metadata) -> Self {
        Stamp {
            length: found.len(),
            modified: found.modified().ok(),
            identity: identity(found),
        }
    }
}

#[cfg(unix)]
fn identity(found: &Metadata) -> (u64, i64, i64) {
    use std::os::unix::fs::MetadataExt as _;

    (found.ino(), found.ctime(), found.ctime_nsec())
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> (u64, i64, i64) {
    (0, 0, 0)
}
