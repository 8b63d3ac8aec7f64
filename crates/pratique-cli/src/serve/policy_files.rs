//! Keeps the policies of `--policies` current: watches their files, and loads them again once a change is whole.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use pratique::Configurations;
use pratique::expressions::Expressions;
use pratique::live::{AdmissionObserver, DirectoryReload, InMemory, ReloadResult};
use pratique_manifest::{
    LoadErrors, ManifestFile, ManifestPlugin, ManifestSet, OptionalVersion, ReplacedObject, RewriteDetector,
    content_hash,
};
use pratique_policy::Origin;
use pratique_watch::{
    Load, LoadAttempt, LoadObserver, LoadResult, LogMessages, Outcome, StartError, Version, WatchOptions,
    Watched,
};

use crate::arguments::PolicyPathArguments;
use crate::exit::CliError;
use crate::input::{FileSelection, format_paths};
use crate::policies::{LoadFailure, OriginSets, load, load_sorted, read_watched, report_read};
use crate::serve::serve_error::ServeError;
use pratique_review::sorted_objects::SortedPolicies;

/// The interval at which files are read where the file system tells of no changes.
const POLL_INTERVAL: Duration = Duration::from_secs(10);

/// The thread that reads the files; it ends when this is dropped, which waits for it.
pub(super) struct PolicyFiles {
    _watched: Watched<()>,
}

/// The policies of the paths when the server starts.
pub(super) struct InitialPolicies {
    pub(super) sets: OriginSets,
    /// Which files were read, and passed over.
    pub(super) selection: FileSelection,
    /// The files that they are from; `None` if these cannot be read again, such as standard input.
    files: Option<InitialFiles>,
}

/// The files of the policies when the server starts.
struct InitialFiles {
    rewrites: RewriteDetector,
    /// The files of directories that were no objects from the start, such as templates: a file that is none later is a fault.
    unread: Vec<String>,
    /// The hash of their content.
    hash: String,
}

/// Why policies cannot be loaded again.
#[derive(Debug, thiserror::Error)]
enum ReloadError {
    #[error(transparent)]
    Cli(CliError),
    #[error(transparent)]
    Invalid(LoadErrors),
}

impl From<LoadFailure> for ReloadError {
    fn from(failure: LoadFailure) -> Self {
        match failure {
            LoadFailure::Cli(error) => ReloadError::Cli(error),
            LoadFailure::Invalid { errors, .. } => ReloadError::Invalid(errors),
        }
    }
}

impl InitialPolicies {
    /// Loads the policies of paths, as [`policies::load`](load) does. Files that can be read again and were written to a moment ago
    /// are waited for.
    pub(super) fn load(
        arguments: &PolicyPathArguments,
        expressions: &Expressions,
    ) -> Result<Self, LoadFailure> {
        let paths = &arguments.policies;
        let is_lasting = |path: &PathBuf| path.is_dir() || path.is_file();
        if paths.is_empty() || !paths.iter().all(is_lasting) {
            let selection = FileSelection::new(&arguments.files.exclude)?;
            let sets = load(arguments, &selection, expressions)?;
            return Ok(InitialPolicies {
                sets,
                selection,
                files: None,
            });
        }
        let mut rewrites = RewriteDetector::default();
        loop {
            // Each has its counts.
            let selection = FileSelection::new(&arguments.files.exclude)?;
            let (sorted, contents) = read_watched(paths, arguments.origin.origin, &selection)?;
            let loaded = load_sorted(&sorted, expressions);
            let hash = content_hash(&sorted.files);
            let known = loaded.as_ref().map(sets).ok();
            if let Err(unstable) = rewrites.admit_first(contents, known.as_deref(), &hash) {
                tracing::info!(reason = %unstable, "waiting for policies that may be unfinished");
                thread::sleep(unstable.retry_after);
                continue;
            }
            report_read(arguments, &sorted, &selection)?;
            let files = InitialFiles {
                rewrites,
                unread: unread_paths(&sorted),
                hash,
            };
            return Ok(InitialPolicies {
                sets: loaded?,
                selection,
                files: Some(files),
            });
        }
    }
}

impl PolicyFiles {
    /// Starts the thread; `None` if the policies cannot be read again. The initial ones are in use.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(super) fn start(
        arguments: &PolicyPathArguments,
        expressions: &Expressions,
        initial: InitialPolicies,
        source: &InMemory,
        observers: Vec<Arc<dyn AdmissionObserver>>,
    ) -> Result<Option<Self>, CliError> {
        let in_use = LoadedPolicies::new(&initial.sets);
        in_use.replaced.iter().for_each(warn_of_replaced);
        in_use.optional.iter().for_each(warn_of_optional);
        let Some(files) = initial.files else {
            return Ok(None);
        };
        let latest = Arc::<LatestPolicies>::default();
        let loader = PolicyLoader {
            arguments: arguments.clone(),
            expressions: expressions.clone(),
            unread: files.unread,
            initial_hash: files.hash,
            rewrites: files.rewrites,
            latest: latest.clone(),
        };
        let observer = PolicyObserver {
            source: source.clone(),
            observers,
            shown: format_paths(&arguments.policies).join(", "),
            latest,
            in_use: Mutex::new(in_use),
        };
        let options = WatchOptions {
            poll_interval: POLL_INTERVAL,
            stack_size: Some(crate::STACK),
            log_messages: log_messages(),
            ..WatchOptions::default()
        };
        let watched = Watched::start_all(arguments.policies.clone(), options, loader, observer);
        let watched = watched.map_err(|error| match error {
            StartError::System(error) => CliError::Thread(error),
            error => CliError::Serve(ServeError::Serve(error.to_string())),
        })?;
        // The files may have changed since they were read and before they were watched.
        watched.reload();
        Ok(Some(PolicyFiles { _watched: watched }))
    }
}

/// The files of directories that are no objects.
fn unread_paths(sorted: &SortedPolicies) -> Vec<String> {
    let paths = sorted.unread().iter().map(|unread| unread.path.clone());
    paths.collect()
}

/// Tells an observer of the policies with which the server starts.
pub(super) fn observe_initial(sets: &OriginSets, place: &str, observer: &dyn AdmissionObserver) {
    let hash = hash(sets, Origin::Api);
    for plugin in plugins(sets) {
        let result = ReloadResult::Loaded { hash: &hash };
        observer.reloaded(&DirectoryReload::new(plugin, place, result, Duration::ZERO));
    }
}

fn log_messages() -> LogMessages {
    LogMessages {
        plugin: "policies".to_owned(),
        reloaded: "reloaded policies",
        failed: "reloading policies",
        recovered: "policies match the version in use again",
        unsettled: "policies may be unfinished, keeping the version in use",
        unwatched: "watching policies",
    }
}

/// What a load of the policies gave.
#[derive(Debug)]
struct LoadedPolicies {
    configurations: Configurations,
    /// The plugins of the objects of the API.
    plugins: Vec<ManifestPlugin>,
    /// The hash of the objects of the API.
    hash: String,
    /// The hash of the static manifests.
    static_hash: String,
    /// The objects that do not count, as a later one has their name.
    replaced: Vec<ReplacedObject>,
    /// The objects that an API server has only if it is told to.
    optional: Vec<OptionalVersion>,
}

impl LoadedPolicies {
    fn new(sets: &OriginSets) -> Self {
        LoadedPolicies {
            configurations: configurations(sets),
            plugins: plugins(sets),
            hash: hash(sets, Origin::Api),
            static_hash: hash(sets, Origin::Static),
            replaced: sets.iter().flat_map(|(_, set)| set.replaced.clone()).collect(),
            optional: sets.iter().flat_map(|(_, set)| set.optional.clone()).collect(),
        }
    }
}

/// Warns of an object that does not count: of two with a name the later one does, as if they were applied.
fn warn_of_replaced(replaced: &ReplacedObject) {
    let by = &replaced.by;
    tracing::warn!(
        kind = %replaced.name.kind,
        name = %replaced.name.name,
        file = %replaced.location.file,
        by = %by.file,
        line = by.start.line,
        "an object of --policies does not count: a later one has its name"
    );
}

/// Warns of an object that most API servers would not have.
fn warn_of_optional(optional: &OptionalVersion) {
    tracing::warn!(
        kind = %optional.name.kind,
        name = %optional.name.name,
        file = %optional.location.file,
        line = optional.location.start.line,
        "{optional}"
    );
}

/// What was loaded last, until it takes effect.
#[derive(Debug, Default)]
struct LatestPolicies(Mutex<Option<LoadedPolicies>>);

impl LatestPolicies {
    /// The value is whole even after a panic: it is replaced at once.
    fn lock(&self) -> MutexGuard<'_, Option<LoadedPolicies>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Loads the files.
struct PolicyLoader {
    arguments: PolicyPathArguments,
    expressions: Expressions,
    unread: Vec<String>,
    /// The hash of the content that was in use from the start.
    initial_hash: String,
    rewrites: RewriteDetector,
    latest: Arc<LatestPolicies>,
}

impl Load<()> for PolicyLoader {
    type Error = ReloadError;

    fn load(&mut self, _: &Path, current: Option<&Version<()>>) -> Result<LoadResult<()>, ReloadError> {
        let Some(current) = current else {
            let hash = self.initial_hash.clone();
            return Ok(LoadResult::New { value: (), hash });
        };
        let paths = &self.arguments.policies;
        // What was passed over was told at the start.
        let selection = FileSelection::new(&self.arguments.files.exclude).map_err(ReloadError::Cli)?;
        let (sorted, contents) =
            read_watched(paths, self.arguments.origin.origin, &selection).map_err(ReloadError::Cli)?;
        if let Some(path) = unread_paths(&sorted)
            .into_iter()
            .find(|path| !self.unread.contains(path))
        {
            return Err(ReloadError::Cli(CliError::Serve(ServeError::NoObjects { path })));
        }
        let hash = content_hash(&sorted.files);
        if hash == current.hash && !sorted.has_failures() {
            self.rewrites.keep(contents);
            return Ok(LoadResult::Unchanged);
        }
        let loaded = load_sorted(&sorted, &self.expressions)?;
        if let Err(unstable) = self.rewrites.admit(contents, &sets(&loaded), &hash) {
            return Ok(LoadResult::Unsettled {
                reason: unstable.to_string(),
                retry_after: unstable.retry_after,
            });
        }
        *self.latest.lock() = Some(LoadedPolicies::new(&loaded));
        Ok(LoadResult::New { value: (), hash })
    }
}

/// Puts into effect what was loaded, and tells others of it.
struct PolicyObserver {
    source: InMemory,
    observers: Vec<Arc<dyn AdmissionObserver>>,
    /// The paths, for messages.
    shown: String,
    latest: Arc<LatestPolicies>,
    in_use: Mutex<LoadedPolicies>,
}

impl LoadObserver for PolicyObserver {
    fn attempted(&self, attempt: &LoadAttempt<'_>) {
        match attempt.outcome {
            Outcome::Loaded { .. } => {
                // There are none of the first load: its policies are in use.
                let latest = self.latest.lock().take();
                if let Some(latest) = latest {
                    self.put_into_effect(latest, attempt.took);
                }
            }
            Outcome::Unchanged { .. } => {
                let plugins = self.in_use().plugins.clone();
                self.observe(&plugins, ReloadResult::Unchanged, attempt.took);
            }
            Outcome::Failed { reason } => {
                let plugins = self.in_use().plugins.clone();
                self.observe(&plugins, ReloadResult::Failed { reason }, attempt.took);
            }
            // Neither a success nor a failure yet; only logged.
            Outcome::Unsettled { .. } => {}
        }
    }
}

impl PolicyObserver {
    fn put_into_effect(&self, latest: LoadedPolicies, took: Duration) {
        let mut in_use = self.in_use();
        let paths = &self.shown;
        if latest.static_hash != in_use.static_hash {
            tracing::warn!(
                paths,
                "static manifests of --policies changed, which are read once: --manifests follows them"
            );
        }
        let is_changed = latest.hash != in_use.hash;
        if is_changed && latest.plugins.is_empty() && !in_use.plugins.is_empty() {
            tracing::warn!(paths, "the files have no policies any more");
        }
        let new = latest.replaced.iter();
        new.filter(|replaced| !in_use.replaced.contains(replaced))
            .for_each(warn_of_replaced);
        let new = latest.optional.iter();
        new.filter(|optional| !in_use.optional.contains(optional))
            .for_each(warn_of_optional);
        // Plugins without objects from now on are observed as well.
        let mut plugins = in_use.plugins.clone();
        plugins.extend(
            latest
                .plugins
                .iter()
                .filter(|plugin| !in_use.plugins.contains(plugin)),
        );
        if is_changed {
            self.source.replace(latest.configurations.clone());
        }
        *in_use = latest;
        let result = if is_changed {
            ReloadResult::Loaded { hash: &in_use.hash }
        } else {
            ReloadResult::Unchanged
        };
        self.observe(&plugins, result, took);
    }

    /// Notifies the observers, for each plugin that has objects.
    fn observe(&self, plugins: &[ManifestPlugin], result: ReloadResult<'_>, took: Duration) {
        let plugins = match plugins {
            [] => &[ManifestPlugin::ValidatingAdmissionPolicy],
            plugins => plugins,
        };
        for plugin in plugins {
            let reload = DirectoryReload::new(*plugin, &self.shown, result, took);
            self.observers
                .iter()
                .for_each(|observer| observer.reloaded(&reload));
        }
    }

    /// The value is whole even after a panic: it is replaced at once.
    fn in_use(&self) -> MutexGuard<'_, LoadedPolicies> {
        self.in_use.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn sets(sets: &OriginSets) -> Vec<&ManifestSet> {
    sets.iter().map(|(_, set)| set).collect()
}

/// The objects of the API.
pub(super) fn configurations(sets: &OriginSets) -> Configurations {
    of_origin(sets, Origin::Api)
}

fn of_origin(sets: &OriginSets, origin: Origin) -> Configurations {
    let mut all = Configurations::default();
    for (_, set) in sets.iter().filter(|(set_origin, _)| *set_origin == origin) {
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
fn plugins(sets: &OriginSets) -> Vec<ManifestPlugin> {
    let has = |plugin: &ManifestPlugin| {
        let of_api = sets.iter().filter(|(origin, _)| *origin == Origin::Api);
        let mut objects = of_api.flat_map(|(_, set)| set.objects());
        objects.any(|object| plugin.accepts(object.kind))
    };
    ManifestPlugin::START_ORDER.into_iter().filter(has).collect()
}
