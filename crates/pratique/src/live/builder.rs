//! Collects what a [`Live`] needs, and starts it.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arc_swap::ArcSwapOption;

use super::core::Core;
use super::readiness::Readiness;
use super::source::{Changed, Source};
use super::view::{ClusterView, SharedObjects};
use super::worker::{Bell, Worker};
use super::{Live, Tasks};
use crate::authorization::{Decider, Decisions, Question};
use crate::builder::NotEvaluated;
use crate::configurations::Configurations;
use crate::ingredients::Ingredients;

/// Collects what a [`Live`] needs besides what the [`Builder`](crate::Builder) was given.
pub struct LiveBuilder {
    ingredients: Ingredients,
    sources: Vec<Arc<dyn Source>>,
    cluster: Arc<dyn ClusterView>,
    decider: Arc<dyn Decider>,
    deadline: Option<Duration>,
}

/// Why there is no [`Live`].
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is configuration that is not evaluated.
    #[error(transparent)]
    NotEvaluated(#[from] NotEvaluated),
    /// The system gives no thread.
    #[error("cannot start: {0}")]
    System(#[from] io::Error),
}

impl LiveBuilder {
    pub(crate) fn new(ingredients: Ingredients) -> Self {
        LiveBuilder {
            ingredients,
            sources: Vec::new(),
            cluster: Arc::new(SharedObjects::default()),
            decider: Arc::new(NoOpinion),
            deadline: None,
        }
    }

    /// Adds a source of the API's configuration.
    #[must_use]
    pub fn source(mut self, source: impl Source + 'static) -> Self {
        self.sources.push(Arc::new(source));
        self
    }

    /// Takes namespaces, params and what is served from this cluster; without, from an empty one.
    #[must_use]
    pub fn cluster(self, cluster: impl ClusterView + 'static) -> Self {
        LiveBuilder {
            cluster: Arc::new(cluster),
            ..self
        }
    }

    /// Has authorization checks answered by `decider`; without, there is no opinion on any.
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
        let mut ingredients = self.ingredients;
        let unknown = self.sources.iter().map(|_| Arc::new(Configurations::default()));
        ingredients.api.extend(unknown);
        let core = Arc::new(Core {
            current: ArcSwapOption::empty(),
            readiness: Readiness::default(),
            sources: self.sources,
            cluster: self.cluster,
            decider: self.decider,
            deadline: self.deadline,
            ingredients: Mutex::new(ingredients),
        });
        let bell = Arc::new(Bell::default());
        let changed = {
            let bell = bell.clone();
            Changed::new(move || bell.ring())
        };
        core.sources
            .iter()
            .for_each(|source| source.subscribe(changed.clone()));
        core.cluster.subscribe(changed);
        core.refresh()?;
        let own = core.clone();
        let worker = Worker::start(bell.clone(), move || {
            // What cannot be used changes nothing.
            let _ = own.refresh();
        })?;
        let tasks = Arc::new(Tasks {
            bell,
            worker,
            core: core.clone(),
        });
        Ok(Live { core, tasks })
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

/// Nobody who could be asked.
struct NoOpinion;

impl Decider for NoOpinion {
    fn decide(&self, _: Vec<Question>) -> Decisions<'_> {
        Box::pin(async { Vec::new() })
    }
}
