//! Collects what a [`Live`] needs, and starts it.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use pratique_manifest::{ConfigurationErrors, LoadErrors};
use pratique_policy::authz::NoAuthorizer;

use super::core::Core;
#[cfg(feature = "watch")]
use super::directories;
use super::observer::AdmissionObserver;
use super::readiness::Readiness;
use super::retired::Retired;
use super::source::{Changed, Source};
use super::worker::{Bell, Worker};
use super::{Live, Tasks};
use crate::authorization::Decider;
use crate::builder::{AdmissionBuilder, BuildError, NotEvaluated};
use crate::cluster::{AssumedNamespaces, ClusterView, DynParamSource, ParamSource};
use crate::configurations::Configurations;

/// Collects what a [`Live`] needs besides what the [`AdmissionBuilder`] was given.
pub struct LiveBuilder {
    builder: AdmissionBuilder,
    sources: Vec<Arc<dyn Source>>,
    cluster: Arc<dyn ClusterView>,
    decider: Arc<dyn Decider>,
    params: Option<Arc<dyn DynParamSource>>,
    deadline: Option<Duration>,
    observers: Vec<Arc<dyn AdmissionObserver>>,
    #[cfg(feature = "watch")]
    watching: pratique_watch::Options,
}

/// Why there is no [`Live`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// There is configuration that is not evaluated.
    #[error(transparent)]
    NotEvaluated(#[from] NotEvaluated),
    /// A kubeconfig for webhooks has credentials that a command gives, which is not run.
    #[error(
        "the kubeconfig of {plugin} has a user {user:?} whose credentials a command gives (exec): for webhooks that is \
         not supported; give a token, a tokenFile or a client certificate"
    )]
    ExecCredentials {
        /// The plugin whose webhooks would be shown them.
        plugin: pratique_manifest::Plugin,
        /// The user.
        user: String,
    },
    /// Static manifests do not load.
    #[error(transparent)]
    Load(LoadErrors),
    /// An AdmissionConfiguration does not load, or what it names does not.
    #[error(transparent)]
    Configuration(ConfigurationErrors),
    /// The system gives no thread.
    #[error("cannot start: {0}")]
    System(#[from] io::Error),
}

impl AdmissionBuilder {
    /// Continues with the settings of a [`Live`]. Webhooks are called over HTTPS unless another caller is set.
    pub fn live(self) -> LiveBuilder {
        #[cfg(feature = "webhooks")]
        return LiveBuilder::new(self.https());
        #[cfg(not(feature = "webhooks"))]
        LiveBuilder::new(self)
    }
}

impl LiveBuilder {
    fn new(builder: AdmissionBuilder) -> Self {
        LiveBuilder {
            builder,
            sources: Vec::new(),
            cluster: Arc::new(AssumedNamespaces::default()),
            decider: Arc::new(NoAuthorizer),
            params: None,
            deadline: None,
            observers: Vec::new(),
            #[cfg(feature = "watch")]
            watching: pratique_watch::Options::default(),
        }
    }

    /// Tells `observer` of everything that happens: metrics, an audit log, or one of the program's own.
    #[must_use]
    pub fn observer(mut self, observer: impl AdmissionObserver + 'static) -> Self {
        self.observers.push(Arc::new(observer));
        self
    }

    /// Watches directories in this way; the words for logs are those of an API server.
    #[cfg(feature = "watch")]
    #[must_use]
    pub fn watching(self, options: pratique_watch::Options) -> Self {
        LiveBuilder {
            watching: options,
            ..self
        }
    }

    /// Adds a source of the API's configuration.
    #[must_use]
    pub fn source(mut self, source: impl Source + 'static) -> Self {
        self.sources.push(Arc::new(source));
        self
    }

    /// Takes namespaces, params and what is served from this cluster. Without, it is [`AssumedNamespaces`]: namespaces
    /// exist, and what depends on more than their names is undecided.
    #[must_use]
    pub fn cluster(self, cluster: impl ClusterView + 'static) -> Self {
        LiveBuilder {
            cluster: Arc::new(cluster),
            ..self
        }
    }

    /// Takes params of the kinds that this source has from it, when a request needs them; others are the cluster's.
    #[must_use]
    pub fn params(self, source: impl ParamSource + 'static) -> Self {
        LiveBuilder {
            params: Some(Arc::new(source)),
            ..self
        }
    }

    /// Has authorization checks answered by `decider`. Without, what depends on one is undecided;
    /// [`NoOpinion`](crate::authorization::NoOpinion) answers no to all.
    #[must_use]
    pub fn decider(self, decider: impl Decider + 'static) -> Self {
        LiveBuilder {
            decider: Arc::new(decider),
            ..self
        }
    }

    /// Refuses requests that take longer, as an API server does.
    #[must_use]
    pub fn deadline(self, deadline: Duration) -> Self {
        LiveBuilder {
            deadline: Some(deadline),
            ..self
        }
    }

    /// Loads what was not [loaded](AdmissionBuilder::load) yet, and starts. What is known already is in effect when this
    /// returns.
    ///
    /// # Errors
    /// Manifests do not load, webhooks cannot be called, or the system gives no thread.
    pub fn start(self) -> Result<Live, StartError> {
        let builder = self.builder.load()?;
        #[cfg(feature = "webhooks")]
        if let Some((plugin, user)) = builder.exec_credentials() {
            return Err(StartError::ExecCredentials { plugin, user });
        }
        #[cfg(feature = "watch")]
        let (directories, expressions) = (builder.directories(), builder.expressions().clone());
        let mut config = builder.into_config();
        let unknown = self.sources.iter().map(|_| Arc::new(Configurations::default()));
        config.api.extend(unknown);
        let bell = Arc::new(Bell::default());
        let changed = {
            let bell = bell.clone();
            Changed::new(move || bell.ring())
        };
        #[cfg(feature = "watch")]
        let directories = directories::watch(
            directories,
            &expressions,
            &config.helpers,
            &self.watching,
            &changed,
            &self.observers,
        )?;
        let core = Arc::new(Core {
            current: ArcSwapOption::empty(),
            retired: Retired::default(),
            readiness: Readiness::default(),
            sources: self.sources,
            cluster: self.cluster,
            decider: self.decider,
            params: self.params,
            deadline: self.deadline,
            observers: self.observers,
            #[cfg(feature = "watch")]
            directories,
            config: Mutex::new(config),
        });
        core.sources
            .iter()
            .for_each(|source| source.subscribe(changed.clone()));
        core.cluster.subscribe(changed);
        core.refresh()?;
        let [refreshed, replaced] = [core.clone(), core.clone()];
        let work = move || {
            // What cannot be used changes nothing.
            let _ = refreshed.refresh();
        };
        let tidy = move || replaced.retired.free();
        let worker = Worker::start(bell.clone(), work, tidy)?;
        let tasks = Arc::new(Tasks {
            bell,
            worker,
            core: core.clone(),
        });
        Ok(Live { core, tasks })
    }
}

impl From<BuildError> for StartError {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Load(errors) => StartError::Load(errors),
            BuildError::Configuration(errors) => StartError::Configuration(errors),
            BuildError::NotEvaluated(error) => StartError::NotEvaluated(error),
        }
    }
}

#[cfg(feature = "watch")]
impl From<pratique_watch::StartError<LoadErrors>> for StartError {
    fn from(error: pratique_watch::StartError<LoadErrors>) -> Self {
        match error {
            pratique_watch::StartError::Load(errors) => StartError::Load(errors),
            pratique_watch::StartError::Nothing => StartError::System(io::Error::other("nothing was loaded")),
            pratique_watch::StartError::System(error) => StartError::System(error),
        }
    }
}

impl fmt::Debug for LiveBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("LiveBuilder")
            .field("builder", &self.builder)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}
