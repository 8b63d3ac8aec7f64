//! An [`AdmissionHandler`] over a [`Live`].

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use arc_swap::ArcSwapOption;
use pratique::live::{AdmissionObserver, DirectoryReload, ReloadResult};
use pratique::policy::StepResult;
use pratique::{Admission, Limits, Live};
use pratique_manifest::{ManifestPlugin, ManifestSet};
use pratique_types::AdmissionRequest;

use crate::configz::{ReloadAttempt, Source};
use crate::followed_source::FollowedSource;
use crate::handler::{AdmissionHandler, HandlerUnavailable, ReviewFuture, ReviewResult};
use crate::unknown_state::{KnownState, UnknownState, first_unknown};
use pratique::observer::AdmissionPhases;

/// An [`AdmissionHandler`] that evaluates requests with a [`Live`], and reports its sources.
pub struct LiveHandler {
    live: Live,
    reloads: LastReloads,
    started: SystemTime,
    /// The known parts of the cluster.
    known: KnownState,
    /// The last check of [`unknown`](Self::unknown_state), for one admission.
    checked: ArcSwapOption<CheckedNeeds>,
    followed: Vec<FollowedSource>,
    kubernetes_version: Option<String>,
    problems: Box<dyn Fn() -> Vec<String> + Send + Sync>,
}

/// The last reloads of each directory; to be added as an observer of the [`Live`]. Clones share their state.
#[derive(Clone, Debug, Default)]
pub struct LastReloads(Arc<Mutex<BTreeMap<(&'static str, String), LastReload>>>);

#[derive(Clone, Debug)]
struct LastReload {
    hash: String,
    loaded: SystemTime,
    attempt: ReloadAttempt,
}

#[derive(Debug)]
struct CheckedNeeds {
    admission: Arc<Admission>,
    unknown: Option<UnknownState>,
}

impl LiveHandler {
    /// Creates a handler that evaluates with `live`, of which `reloads` is an observer.
    ///
    /// While there are policies or webhooks whose decisions depend on unknown state of the cluster, no request is
    /// evaluated, as the decisions could be wrong.
    #[must_use]
    pub fn new(live: Live, reloads: LastReloads, known: KnownState) -> Self {
        LiveHandler {
            live,
            reloads,
            started: SystemTime::now(),
            known,
            checked: ArcSwapOption::empty(),
            followed: Vec::new(),
            kubernetes_version: None,
            problems: Box::new(Vec::new),
        }
    }

    /// Adds a followed source of the [`Live`], to report it as well.
    #[must_use]
    pub fn following(mut self, followed: FollowedSource) -> Self {
        self.followed.push(followed);
        self
    }

    /// Says which release of Kubernetes it decides as, such as `1.37`, to report it as well.
    #[must_use]
    pub fn with_kubernetes_version(self, version: &str) -> Self {
        LiveHandler {
            kubernetes_version: Some(version.to_owned()),
            ..self
        }
    }

    /// Adds a function that returns the problems while the [`Live`] is not ready.
    #[must_use]
    pub fn with_problems(self, problems: impl Fn() -> Vec<String> + Send + Sync + 'static) -> Self {
        LiveHandler {
            problems: Box::new(problems),
            ..self
        }
    }

    /// A policy or webhook that depends on unknown state of the cluster.
    #[must_use]
    pub fn unknown_state(&self) -> Option<UnknownState> {
        let admission = self.live.current()?;
        let checked = self.checked.load();
        if let Some(checked) = checked.as_ref()
            && Arc::ptr_eq(&checked.admission, &admission)
        {
            return checked.unknown.clone();
        }
        let unknown = first_unknown(&admission, self.known);
        if let Some(unknown) = &unknown {
            tracing::error!(err = %unknown, "Requests are not evaluated");
        }
        self.checked.store(Some(Arc::new(CheckedNeeds {
            admission,
            unknown: unknown.clone(),
        })));
        unknown
    }
}

impl AdmissionHandler for LiveHandler {
    fn handle<'a>(
        &'a self,
        phases: AdmissionPhases,
        request: &'a AdmissionRequest<'a>,
        limits: &'a Limits,
    ) -> ReviewFuture<'a> {
        Box::pin(async move {
            // The server has validated it.
            let outcome = self.live.admit_as_given(request, phases, limits.clone()).await;
            let outcome = outcome.map_err(|error| HandlerUnavailable(error.to_string()))?;
            let mutations = outcome.mutations.iter();
            let mutations = mutations.filter(|step| step.result != StepResult::Unchanged);
            let mutated_by = mutations.map(|step| step.policy.clone());
            Ok(ReviewResult {
                mutated_by: mutated_by.collect(),
                response: outcome.into_response(request),
            })
        })
    }

    fn ready(&self) -> Result<(), HandlerUnavailable> {
        if !self.live.is_ready() {
            let mut reason = "not ready: not every source was loaded yet".to_owned();
            for problem in (self.problems)() {
                reason.push_str("; ");
                reason.push_str(&problem);
            }
            return Err(HandlerUnavailable(reason));
        }
        match self.unknown_state() {
            Some(unknown) => Err(HandlerUnavailable(unknown.to_string())),
            None => Ok(()),
        }
    }

    fn ended_tasks(&self) -> Vec<&'static str> {
        self.live.ended_tasks()
    }

    fn kubernetes_version(&self) -> Option<&str> {
        self.kubernetes_version.as_deref()
    }

    fn sources(&self) -> Vec<Source> {
        let mut reloads = self.reloads.lock().clone();
        let mut sources: Vec<Source> = self
            .live
            .manifests()
            .iter()
            .map(|set| self.source(set, &mut reloads))
            .collect();
        let followed = self.followed.iter().flat_map(FollowedSource::sources);
        // Those that are files were perhaps tried to be loaded again.
        sources.extend(followed.map(|source| {
            let mut attempts = reloads.iter();
            let of_source = attempts
                .find(|((plugin, location), _)| *plugin == source.plugin && *location == source.location);
            match of_source {
                Some((_, last)) => Source {
                    // What is followed has no files of its own to tell its hash of.
                    hash: last.hash.clone(),
                    last_reload: last.attempt.clone(),
                    ..source
                },
                None => source,
            }
        }));
        let admission = self.live.current();
        let plugins = admission.iter().flat_map(|admission| admission.plugin_names());
        sources.extend(plugins.map(|name| self.built_in(name.to_owned(), String::new(), Vec::new())));
        sources.sort_by(|left, right| (&left.plugin, &left.location).cmp(&(&right.plugin, &right.location)));
        sources
    }
}

impl LiveHandler {
    fn source(
        &self,
        set: &ManifestSet,
        reloads: &mut BTreeMap<(&'static str, String), LastReload>,
    ) -> Source {
        let matches = |((plugin, _), last): &(&(&'static str, String), &LastReload)| {
            last.hash == set.hash
                && (set.hash.is_empty() || Some(*plugin) == plugin_of(set).map(ManifestPlugin::name))
        };
        let key = reloads.iter().find(matches).map(|(key, _)| key.clone());
        let last_reload = key.and_then(|key| reloads.remove_entry(&key));
        let names = names(set);
        match last_reload {
            Some(((plugin, location), last)) => Source {
                plugin: plugin.into(),
                location,
                hash: last.hash,
                names,
                loaded: last.loaded,
                last_reload: last.attempt,
            },
            None => {
                let plugin = plugin_of(set).map_or("", ManifestPlugin::name);
                self.built_in(plugin.to_owned(), set.hash.clone(), names)
            }
        }
    }

    /// The source of policies that are built into the program.
    fn built_in(&self, plugin: String, hash: String, names: Vec<String>) -> Source {
        Source {
            plugin,
            location: "built in".into(),
            hash,
            names,
            loaded: self.started,
            last_reload: ReloadAttempt {
                at: self.started,
                error: None,
            },
        }
    }
}

impl fmt::Debug for LiveHandler {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("LiveHandler")
            .field("live", &self.live)
            .field("followed", &self.followed)
            .finish_non_exhaustive()
    }
}

impl LastReloads {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<(&'static str, String), LastReload>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AdmissionObserver for LastReloads {
    fn reloaded(&self, reload: &DirectoryReload<'_>) {
        let mut all = self.lock();
        let key = (reload.plugin.name(), reload.directory.to_owned());
        let attempt = ReloadAttempt {
            at: reload.at,
            error: None,
        };
        match reload.result {
            ReloadResult::Loaded { hash } => {
                all.insert(
                    key,
                    LastReload {
                        hash: hash.into(),
                        loaded: reload.at,
                        attempt,
                    },
                );
            }
            ReloadResult::Unchanged => {
                // After a failure, the content is again that in use.
                if let Some(last) = all.get_mut(&key).filter(|last| last.attempt.error.is_some()) {
                    last.attempt = attempt;
                }
            }
            ReloadResult::Failed { reason } => {
                if let Some(last) = all.get_mut(&key) {
                    last.attempt = ReloadAttempt {
                        error: Some(reason.into()),
                        ..attempt
                    };
                }
            }
        }
    }
}

fn plugin_of(set: &ManifestSet) -> Option<ManifestPlugin> {
    set.objects().map(|object| object.kind.plugin()).min()
}

/// The names of policies and webhook configurations.
fn names(set: &ManifestSet) -> Vec<String> {
    let objects = set.objects().filter(|object| !object.kind.is_binding());
    let mut names: Vec<String> = objects.map(|object| object.name.to_owned()).collect();
    names.sort();
    names
}
