//! Configures and starts a [`Live`].

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use pratique_manifest::{ConfigurationErrors, LoadErrors};
use pratique_policy::ObjectModel;
use pratique_policy::authz::NoAuthorizer;

use super::core::{LiveCore, LiveSettings};
#[cfg(feature = "watch")]
use super::directories;
use super::observer::AdmissionObserver;
use super::readiness::LiveReadiness;
use super::retirement::RetiredValues;
use super::source::{Source, SourceNotifier};
use super::worker::{ChangeNotifier, ChangeWorker};
use super::{Live, LiveTasks};
use crate::authorization::CheckDecider;
use crate::builder::{AdmissionBuilder, BuildError, NotEvaluated};
use crate::cluster::{AssumedNamespaces, ClusterView, ParamSource};
use crate::configurations::Configurations;
use crate::image_reviews::ImageBackend;

/// The settings of a [`Live`] besides those of the [`AdmissionBuilder`].
pub struct LiveBuilder {
    builder: AdmissionBuilder,
    settings: LiveSettings,
    #[cfg(feature = "watch")]
    watching: pratique_watch::WatchOptions,
}

/// Why a [`Live`] cannot start. Of manifests it displays the first error, as a server stops with it; `{:#}` has all of them, with
/// their places.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// There is configuration that is not evaluated.
    #[error(transparent)]
    NotEvaluated(#[from] NotEvaluated),
    /// A kubeconfig for webhooks has credentials from a command, which is not supported.
    #[error(
        "the kubeconfig of {plugin} has a user {user:?} whose credentials a command gives (exec): for webhooks that is \
         not supported; give a token, a tokenFile or a client certificate"
    )]
    ExecCredentials {
        /// The plugin whose webhooks would get them.
        plugin: pratique_manifest::ManifestPlugin,
        /// The user.
        user: String,
    },
    /// Static manifests do not load.
    #[error(transparent)]
    Load(LoadErrors),
    /// An AdmissionConfiguration does not load, or a file that it names does not.
    #[error(transparent)]
    Configuration(ConfigurationErrors),
    /// No thread can be started.
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
            settings: LiveSettings {
                sources: Vec::new(),
                cluster: Arc::new(AssumedNamespaces::default()),
                decider: Arc::new(NoAuthorizer),
                params: None,
                deadline: None,
                object_models: None,
                image_backend: None,
                observers: Vec::new(),
            },
            #[cfg(feature = "watch")]
            watching: pratique_watch::WatchOptions::default(),
        }
    }

    /// Adds an observer of all events: metrics, an audit log, or another implementation.
    #[must_use]
    pub fn observer(mut self, observer: impl AdmissionObserver + 'static) -> Self {
        self.settings.observers.push(Arc::new(observer));
        self
    }

    /// Sets how directories are watched. Log messages are those of an API server whatever the options say.
    #[cfg(feature = "watch")]
    #[must_use]
    pub fn watching(self, options: pratique_watch::WatchOptions) -> Self {
        LiveBuilder {
            watching: options,
            ..self
        }
    }

    /// Adds a source of configuration stored in the API.
    #[must_use]
    pub fn source(mut self, source: impl Source + 'static) -> Self {
        self.settings.sources.push(Arc::new(source));
        self
    }

    /// Sets the view of the cluster: namespaces, params, served resources. Without it, [`AssumedNamespaces`] is used: all
    /// namespaces exist, and policies that depend on more than their names are undecided.
    #[must_use]
    pub fn cluster(mut self, cluster: impl ClusterView + 'static) -> Self {
        self.settings.cluster = Arc::new(cluster);
        self
    }

    /// Adds a source of params, called when a request needs them; params of kinds that it does not have are the
    /// cluster's.
    #[must_use]
    pub fn params(mut self, source: impl ParamSource + 'static) -> Self {
        self.settings.params = Some(Arc::new(source));
        self
    }

    /// Sets the decider of authorization checks. Without it, policies that depend on one are undecided;
    /// [`NoOpinion`](crate::authorization::NoOpinion) answers no to all.
    #[must_use]
    pub fn decider(mut self, decider: impl CheckDecider + 'static) -> Self {
        self.settings.decider = Arc::new(decider);
        self
    }

    /// Sets the time after which requests are rejected, as an API server does.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.settings.deadline = Some(deadline);
        self
    }

    /// Defaults objects after each mutation by this model. An API server defaulted them before it sent them.
    #[must_use]
    pub fn object_model(self, object_model: impl ObjectModel + Send + 'static) -> Self {
        let object_model: Arc<dyn ObjectModel + Send + Sync> = Arc::new(object_model);
        self.object_models(move || object_model.clone())
    }

    /// As [`object_model`](Self::object_model), with a model for each request: definitions of custom resources may
    /// change.
    #[must_use]
    pub fn object_models(
        mut self,
        now: impl Fn() -> Arc<dyn ObjectModel + Send + Sync> + Send + Sync + 'static,
    ) -> Self {
        self.settings.object_models = Some(Box::new(now));
        self
    }

    /// Sets the backend of ImagePolicyWebhook, if that is among the
    /// [plugins](AdmissionBuilder::plugins). Without it, that plugin is undecided.
    #[must_use]
    pub fn image_backend(mut self, backend: impl ImageBackend + 'static) -> Self {
        self.settings.image_backend = Some(Arc::new(backend));
        self
    }

    /// Loads the inputs that were not [loaded](AdmissionBuilder::load) yet, and starts. The configuration that is
    /// available by then is in effect when this returns. Files of directories that are being written are
    /// [waited for](AdmissionBuilder::load_complete).
    ///
    /// # Errors
    /// Manifests do not load, webhooks cannot be called, or no thread can be started.
    pub fn start(self) -> Result<Live, StartError> {
        let builder = self.builder.load_complete()?;
        #[cfg(feature = "webhooks")]
        if let Some((plugin, user)) = builder.exec_credentials() {
            return Err(StartError::ExecCredentials { plugin, user });
        }
        #[cfg(feature = "watch")]
        let (directories, expressions) = (builder.directories(), builder.expressions().clone());
        let mut config = builder.into_config();
        let unknown = self
            .settings
            .sources
            .iter()
            .map(|_| Arc::new(Configurations::default()));
        config.api.extend(unknown);
        let notifier = Arc::new(ChangeNotifier::default());
        let changed = {
            let notifier = notifier.clone();
            SourceNotifier::new(move || notifier.notify())
        };
        #[cfg(feature = "watch")]
        let directories = directories::watch(
            directories,
            &expressions,
            &config.settings.helpers,
            &self.watching,
            &changed,
            &self.settings.observers,
        )?;
        let core = Arc::new(LiveCore {
            current: ArcSwapOption::empty(),
            retired: RetiredValues::default(),
            readiness: LiveReadiness::default(),
            settings: self.settings,
            #[cfg(feature = "watch")]
            directories,
            config: Mutex::new(config),
        });
        core.settings
            .sources
            .iter()
            .for_each(|source| source.subscribe(changed.clone()));
        core.settings.cluster.subscribe(changed);
        core.refresh()?;
        let [refreshed, retiring] = [core.clone(), core.clone()];
        let work = move || {
            // A configuration that cannot be used leaves the current one in effect.
            let _ = refreshed.refresh();
        };
        let free = move || retiring.retired.free();
        let worker = ChangeWorker::start(notifier.clone(), work, free)?;
        let tasks = Arc::new(LiveTasks {
            notifier,
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
            .field("deadline", &self.settings.deadline)
            .finish_non_exhaustive()
    }
}
