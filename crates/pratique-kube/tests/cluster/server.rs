//! A server that lists and watches objects, knows what it serves, and answers SubjectAccessReviews.

use std::collections::{BTreeMap, HashSet};
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use kube::client::Body;
use pratique_kube::{ApiServer, Client};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tower_service::Service;

pub(crate) const POLICIES: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
pub(crate) const BINDINGS: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
pub(crate) const MUTATING: &str = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies";
pub(crate) const NAMESPACES: &str = "/api/v1/namespaces";
pub(crate) const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// A copy is the same server.
#[derive(Clone, Default)]
pub(crate) struct FakeServer(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// By the path of the collection.
    objects: BTreeMap<String, BTreeMap<String, Value>>,
    version: u64,
    /// What happened: where, at which version, and how watchers are told.
    log: Vec<(String, u64, Bytes)>,
    watchers: Vec<(String, UnboundedSender<io::Result<Frame<Bytes>>>)>,
    missing: HashSet<String>,
    /// What asks for these panics.
    panics: HashSet<String>,
    reviews: Vec<Value>,
    lists: BTreeMap<String, usize>,
}

type Answer = Response<UnsyncBoxBody<Bytes, io::Error>>;

impl FakeServer {
    pub(crate) fn api(&self) -> ApiServer {
        ApiServer::of_client(Client::new(self.clone(), "default")).unwrap()
    }

    /// Creates or changes an object, and tells watchers.
    pub(crate) fn put(&self, collection: &str, mut object: Value) {
        let mut state = self.lock();
        state.version += 1;
        object["metadata"]["resourceVersion"] = json!(state.version.to_string());
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        let of_kind = state.objects.entry(collection.to_owned()).or_default();
        let event = match of_kind.insert(name, object.clone()) {
            Some(_) => "MODIFIED",
            None => "ADDED",
        };
        state.tell(collection, event, &object);
    }

    /// Creates an object that watchers hear of only when they list again.
    pub(crate) fn put_quietly(&self, collection: &str, object: Value) {
        let watchers = std::mem::take(&mut self.lock().watchers);
        self.put(collection, object);
        let mut state = self.lock();
        state.log.pop();
        state.watchers = watchers;
    }

    pub(crate) fn delete(&self, collection: &str, name: &str) {
        let mut state = self.lock();
        state.version += 1;
        let mut object = state.objects.get_mut(collection).unwrap().remove(name).unwrap();
        object["metadata"]["resourceVersion"] = json!(state.version.to_string());
        state.tell(collection, "DELETED", &object);
    }

    /// Says of a collection that there is none.
    pub(crate) fn lack(&self, collection: &str) {
        self.lock().missing.insert(collection.to_owned());
    }

    /// Has whoever asks for a collection from now on panic.
    pub(crate) fn panic_at(&self, collection: &str) {
        self.lock().panics.insert(collection.to_owned());
    }

    /// Breaks all connections of watchers, and forgets what they had seen.
    pub(crate) fn disconnect(&self) {
        for (_, watcher) in std::mem::take(&mut self.lock().watchers) {
            let gone = json!({"type": "ERROR", "object": {"kind": "Status", "apiVersion": "v1", "status": "Failure",
                "code": 410, "reason": "Expired", "message": "too old resource version"}});
            let _ = watcher.send(Ok(Frame::data(Bytes::from(format!("{gone}\n")))));
        }
    }

    pub(crate) fn reviews(&self) -> Vec<Value> {
        self.lock().reviews.clone()
    }

    pub(crate) fn lists(&self, collection: &str) -> usize {
        self.lock().lists.get(collection).copied().unwrap_or_default()
    }

    pub(crate) fn watched(&self, collection: &str) -> bool {
        let state = self.lock();
        state
            .watchers
            .iter()
            .any(|(watched, sender)| watched == collection && !sender.is_closed())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    fn get(&self, path: &str, query: &str) -> Answer {
        let mut state = self.lock();
        match path {
            "/api" => {
                return whole(
                    200,
                    &discovery(&[
                        ("", "v1", "namespaces", "Namespace", false),
                        ("", "v1", "configmaps", "ConfigMap", true),
                    ]),
                );
            }
            "/apis" => return whole(200, &discovery(&[])),
            _ => {}
        }
        if state.missing.contains(path) {
            return failure(404, "the server could not find the requested resource");
        }
        if query.contains("watch=true") {
            return state.watch(path, query);
        }
        if let Some((collection, name)) = path.rsplit_once('/')
            && let Some(object) = state
                .objects
                .get(collection)
                .and_then(|objects| objects.get(name))
        {
            return whole(200, object);
        }
        *state.lists.entry(path.to_owned()).or_default() += 1;
        let selected = |object: &&Value| match query
            .split('&')
            .find_map(|part| part.strip_prefix("labelSelector="))
        {
            Some(selector) => {
                let (name, value) = selector.split_once("%3D").unwrap();
                object["metadata"]["labels"][name] == value
            }
            None => true,
        };
        let items: Vec<_> = state
            .objects
            .get(path)
            .into_iter()
            .flat_map(|objects| objects.values())
            .filter(selected)
            .collect();
        let version = state.version.to_string();
        whole(
            200,
            &json!({"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": version}, "items": items}),
        )
    }

    /// Server-side apply of an object, whose collection has to be there.
    fn apply(&self, parts: &http::request::Parts, body: &[u8]) -> Answer {
        let kind = parts.headers.get("content-type");
        assert_eq!(kind.unwrap(), "application/apply-patch+yaml");
        let query = parts.uri.query().unwrap_or_default();
        assert!(
            query.contains("force=true") && query.contains("fieldManager=tests"),
            "{query}"
        );
        let (collection, name) = parts.uri.path().rsplit_once('/').unwrap();
        if self.lock().missing.contains(collection) {
            return failure(404, "the server could not find the requested resource");
        }
        let object: Value = serde_json::from_slice(body).unwrap();
        assert_eq!(object["metadata"]["name"], name);
        self.put(collection, object.clone());
        whole(200, &object)
    }

    fn remove(&self, path: &str) -> Answer {
        let (collection, name) = path.rsplit_once('/').unwrap();
        let mut state = self.lock();
        let removed = state
            .objects
            .get_mut(collection)
            .and_then(|objects| objects.remove(name));
        match removed {
            Some(object) => whole(200, &object),
            None => failure(404, "not found"),
        }
    }

    /// The names of a collection.
    pub(crate) fn names(&self, collection: &str) -> Vec<String> {
        let state = self.lock();
        let objects = state.objects.get(collection).into_iter();
        objects.flat_map(|objects| objects.keys().cloned()).collect()
    }

    /// `may` is allowed, `fail` fails, what else there is is not allowed.
    fn review(&self, body: &[u8]) -> Answer {
        let mut review: Value = serde_json::from_slice(body).unwrap();
        self.lock().reviews.push(review["spec"].clone());
        let verb = review["spec"]["resourceAttributes"]["verb"]
            .as_str()
            .unwrap_or_default();
        review["status"] = match verb {
            "may" => json!({"allowed": true, "reason": "because"}),
            "fail" => return failure(403, "subjectaccessreviews.authorization.k8s.io is forbidden"),
            "puzzle" => json!({"allowed": false, "evaluationError": "role not found"}),
            _ => json!({"allowed": false}),
        };
        whole(201, &review)
    }
}

impl State {
    fn tell(&mut self, collection: &str, event: &str, object: &Value) {
        let line = Bytes::from(format!("{}\n", json!({"type": event, "object": object})));
        self.log.push((collection.to_owned(), self.version, line.clone()));
        for (watched, watcher) in &self.watchers {
            if watched == collection {
                let _ = watcher.send(Ok(Frame::data(line.clone())));
            }
        }
    }

    /// Tells what happened since the version that the watcher knows, and what happens.
    fn watch(&mut self, collection: &str, query: &str) -> Answer {
        let mut parts = query.split('&');
        let known = parts.find_map(|part| part.strip_prefix("resourceVersion="));
        let known: u64 = known.unwrap_or_default().parse().unwrap_or_default();
        let (sender, receiver) = unbounded_channel();
        for (changed, version, line) in &self.log {
            if changed == collection && *version > known {
                let _ = sender.send(Ok(Frame::data(line.clone())));
            }
        }
        self.watchers.push((collection.to_owned(), sender));
        let frames = futures_util::stream::unfold(receiver, |mut receiver| async move {
            Some((receiver.recv().await?, receiver))
        });
        Response::new(BodyExt::boxed_unsync(StreamBody::new(frames)))
    }
}

impl Service<Request<Body>> for FakeServer {
    type Response = Answer;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Answer, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let server = self.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let panics = server.lock().panics.contains(parts.uri.path());
            assert!(!panics, "told to");
            let body = body.collect().await.unwrap().to_bytes();
            let answer = match parts.method {
                Method::POST => server.review(&body),
                Method::PATCH => server.apply(&parts, &body),
                Method::DELETE => server.remove(parts.uri.path()),
                _ => server.get(parts.uri.path(), parts.uri.query().unwrap_or_default()),
            };
            Ok(answer)
        })
    }
}

fn whole(code: u16, value: &Value) -> Answer {
    let body = Full::new(Bytes::from(value.to_string()));
    let body = body.map_err(|never| match never {});
    Response::builder()
        .status(code)
        .body(BodyExt::boxed_unsync(body))
        .unwrap()
}

fn failure(code: u16, message: &str) -> Answer {
    whole(
        code,
        &json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": code,
        "message": message, "reason": "Failure"}),
    )
}

fn discovery(resources: &[(&str, &str, &str, &str, bool)]) -> Value {
    let items: Vec<_> = resources
        .iter()
        .map(|(group, version, plural, kind, namespaced)| {
            let scope = if *namespaced { "Namespaced" } else { "Cluster" };
            let kind = json!({"group": group, "version": version, "kind": kind});
            let resource =
                json!({"resource": plural, "responseKind": kind, "scope": scope, "verbs": ["list"]});
            json!({"metadata": {"name": group}, "versions": [{"version": version, "resources": [resource]}]})
        })
        .collect();
    json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items})
}
