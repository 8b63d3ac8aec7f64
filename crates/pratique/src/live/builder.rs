//! Collects what a [`Live`] needs, and starts it.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use pratique_manifest::LoadErrors;
use pratique_policy::authz::NoAuthorizer;

use super::core::Core;
#[cfg(feature = "watch")]
use super::directories::{self, Directory};
use super::readiness::Readiness;
use super::retired::Retired;
use super::source::{Changed, Source};
use super::witness::Witness;
use super::worker::{Bell, Worker};
use super::{Live, Tasks};
use crate::authorization::Decider;
use crate::builder::NotEvaluated;
use crate::cluster::{AssumedNamespaces, ClusterView, DynParamSource, ParamSource};
use crate::configurations::Configurations;
#[cfg(feature = "watch")]
use crate::expressions::Expressions;
use crate::ingredients::Ingredients;

/// Collects what a [`Live`] needs besides what the [`Builder`](crate::Builder) was given.
pub struct LiveBuilder {
    ingredients: Ingredients,
    sources: Vec<Arc<dyn Source>>,
    cluster: Arc<dyn ClusterView>,
    decider: Arc<dyn Decider>,
    params: Option<Arc<dyn DynParamSource>>,
    deadline: Option<Duration>,
    witnesses: Vec<Arc<dyn Witness>>,
    #[cfg(feature = "webhooks")]
    refused: Option<StartError>,
    #[cfg(feature = "watch")]
    directories: Vec<Directory>,
    #[cfg(feature = "watch")]
    watching: pratique_watch::Options,
    #[cfg(feature = "watch")]
    expressions: Expressions,
}

/// Why there is no [`Live`].
#[derive(Debug, thiserror::Error)]
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
    /// The system gives no thread.
    #[error("cannot start: {0}")]
    System(#[from] io::Error),
}

impl LiveBuilder {
    pub(crate) fn new(
        ingredients: Ingredients,
        #[cfg(feature = "watch")] directories: Vec<Directory>,
        #[cfg(feature = "watch")] expressions: Expressions,
    ) -> Self {
        LiveBuilder {
            ingredients,
            sources: Vec::new(),
            cluster: Arc::new(AssumedNamespaces::default()),
            decider: Arc::new(NoAuthorizer),
            params: None,
            deadline: None,
            witnesses: Vec::new(),
            #[cfg(feature = "webhooks")]
            refused: None,
            #[cfg(feature = "watch")]
            directories,
            #[cfg(feature = "watch")]
            watching: pratique_watch::Options::default(),
            #[cfg(feature = "watch")]
            expressions,
        }
    }

    /// Refuses to start.
    #[cfg(feature = "webhooks")]
    pub(crate) fn refused(self, refused: Option<StartError>) -> Self {
        LiveBuilder { refused, ..self }
    }

    /// Tells `witness` of everything that happens: metrics, an audit log, or somebody else.
    #[must_use]
    pub fn witness(mut self, witness: impl Witness + 'static) -> Self {
        self.witnesses.push(Arc::new(witness));
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

    /// Starts. What is known already is in effect when this returns.
    ///
    /// # Errors
    /// What there is cannot be used.
    pub fn start(self) -> Result<Live, StartError> {
        #[cfg(feature = "webhooks")]
        if let Some(refused) = self.refused {
            return Err(refused);
        }
        let mut ingredients = self.ingredients;
        let unknown = self.sources.iter().map(|_| Arc::new(Configurations::default()));
        ingredients.api.extend(unknown);
        let bell = Arc::new(Bell::default());
        let changed = {
            let bell = bell.clone();
            Changed::new(move || bell.ring())
        };
        #[cfg(feature = "watch")]
        let directories = directories::watch(
            self.directories,
            &self.expressions,
            &ingredients.helpers,
            &self.watching,
            &changed,
            &self.witnesses,
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
            witnesses: self.witnesses,
            #[cfg(feature = "watch")]
            directories,
            ingredients: Mutex::new(ingredients),
        });
        core.sources
            .iter()
            .for_each(|source| source.subscribe(changed.clone()));
        core.cluster.subscribe(changed);
        core.refresh()?;
        let [own, replaced] = [core.clone(), core.clone()];
        let work = move || {
            // What cannot be used changes nothing.
            let _ = own.refresh();
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
            .field("ingredients", &self.ingredients)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}
