//! Policies that follow a directory, and a request that is judged by them.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use pratique::manifest::{Options as LoadOptions, Plugin, Reloader};
use pratique::types::AdmissionRequest;
use pratique::{
    Answer, Authorizer, Cache, Check, Decision, Expressions, Objects, Observer, Surroundings, json,
};
use pratique_policy::{Origin, Policies, Verdict, validate};
use pratique_watch::{self as watch, Attempt, Load, Loaded, Options, Outcome, Version, Watched};

/// Policies that follow a directory.
pub(crate) struct Live {
    watched: Watched<Policies>,
    request: AdmissionRequest<'static>,
    cluster: Objects,
    authorizer: Arc<dyn Authorizer>,
}

/// A Deployment that every policy refuses, in a namespace that the first policy's binding selects.
const REQUEST: &str = r#"{"uid":"u","kind":{"group":"apps","version":"v1","kind":"Deployment"},"resource":{"group":"apps","version":"v1","resource":"deployments"},"name":"web","namespace":"shop","operation":"CREATE","userInfo":{"username":"ann","groups":["system:authenticated"]},"object":{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop"},"spec":{"replicas":1000000000,"template":{"spec":{"containers":[{"name":"web","image":"registry.example.com/web:1","resources":{"limits":{"memory":"64Gi"}}},{"name":"proxy","image":"registry.example.com/proxy:2"}]}}}}}"#;
const NAMESPACE: &[u8] =
    br#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop","labels":{"team":"0"}}}"#;

impl Live {
    /// Loads a directory and follows it.
    pub(crate) fn start(directory: &Path) -> Result<(Self, Receiver<Heard>), String> {
        let (tell, heard) = channel();
        let loader = Loader {
            reloader: Reloader::new(Plugin::ValidatingAdmissionPolicy),
            expressions: Expressions::new(Arc::new(Cache::new())),
        };
        let watched = Watched::start(directory, Options::default(), loader, Teller(Mutex::new(tell)));
        let mut cluster = Objects::new();
        let namespace = json::parse(NAMESPACE).map_err(|error| error.to_string())?;
        // It has a kind and a name, so it is kept.
        let _ = cluster.insert(namespace.into_owned());
        let live = Live {
            watched: watched.map_err(|error| error.to_string())?,
            request: serde_json::from_str(REQUEST).map_err(|error| error.to_string())?,
            cluster,
            authorizer: Arc::new(NoOpinion),
        };
        // That of the first load.
        let _ = heard.recv();
        Ok((live, heard))
    }

    /// What the user is told.
    pub(crate) fn judge(&self) -> Result<Option<String>, String> {
        Ok(self.verdict()?.status.map(|status| status.message))
    }

    /// The whole verdict.
    pub(crate) fn verdict(&self) -> Result<Verdict, String> {
        let current = self.watched.current();
        let surroundings = Surroundings::new(&self.cluster, Arc::clone(&self.authorizer));
        let verdict = validate(&[&current.value], &self.request, surroundings, &mut Silent);
        verdict.map_err(|_| "a check has no answer".to_owned())
    }
}

struct Loader {
    reloader: Reloader,
    expressions: Expressions,
}

impl Load<Policies> for Loader {
    type Error = String;

    fn load(
        &mut self,
        directory: &Path,
        current: Option<&Version<Policies>>,
    ) -> Result<Loaded<Policies>, String> {
        let path = directory.to_str().ok_or("the path is no text")?;
        let options = LoadOptions {
            expressions: &self.expressions,
        };
        let in_use = current.map(|current| current.hash.as_str());
        let loaded = self.reloader.load(path, in_use, &options);
        let Some(set) = loaded.map_err(|errors| errors.to_string())? else {
            return Ok(Loaded::Unchanged);
        };
        let cache = self.expressions.cache();
        let none = Policies::compile([], [], Origin::Static, cache);
        let before = current.map_or(&none, |current| &current.value);
        let policies = set.validating_policies.iter().map(|own| &own.object);
        let bindings = set.validating_bindings.iter().map(|own| &own.object);
        Ok(Loaded::New {
            value: before.renew(policies, bindings, cache),
            hash: set.hash,
        })
    }
}

/// What came of an attempt to load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Loaded,
    Unchanged,
    Failed,
}

/// Tells of attempts, if anybody listens.
struct Teller(Mutex<Sender<Heard>>);

impl watch::Observer for Teller {
    fn attempted(&self, attempt: &Attempt<'_>) {
        let heard = match attempt.outcome {
            Outcome::Loaded { .. } => Heard::Loaded,
            Outcome::Unchanged { .. } => Heard::Unchanged,
            Outcome::Failed { .. } => Heard::Failed,
        };
        if let Ok(tell) = self.0.lock() {
            let _ = tell.send(heard);
        }
    }
}

struct Silent;

impl Observer for Silent {}

#[derive(Debug)]
struct NoOpinion;

impl Authorizer for NoOpinion {
    fn authorize(&self, _: &Check<'_>) -> Answer {
        Answer::Decided(Decision::default())
    }
}
