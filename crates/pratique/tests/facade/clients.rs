//! Clients of webhooks over reloads: those of what stays are kept with their connections, the others are dropped.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pratique::live::InMemory;
use pratique::webhook::HttpCaller;
use pratique::{Admission, Configurations, Live};
use pratique_webhook_backend::{Backend, Listener, Script};

use crate::directories::put;
use crate::story::api;
use crate::webhooks::{MUTATING, VALIDATING, webhook};
use crate::world::configmap_in_shop;

/// A server with webhooks of a directory and of the API, and those webhooks.
struct World {
    backend: Backend,
    caller: Arc<HttpCaller>,
    source: InMemory,
    directory: tempfile::TempDir,
    live: Live,
}

impl World {
    async fn new() -> Self {
        let backend = Backend::start().await.unwrap();
        let yes = || Script::from_json(r#"{"respond": {"allowed": true}}"#).unwrap();
        let paths = ["a", "b", "c", "d"].map(|path| (format!("/{path}"), yes()));
        backend.begin(paths, false);
        let (directory, source) = (
            tempfile::tempdir().unwrap(),
            InMemory::new(Configurations::default()),
        );
        let caller = Arc::new(HttpCaller::default());
        for name in ["a", "b"] {
            put(
                directory.path(),
                &format!("{name}.yaml"),
                &hook(&backend, name, ""),
            );
        }
        let live = Admission::builder()
            .caller(caller.clone())
            .directory(directory.path().to_str().unwrap(), VALIDATING)
            .live()
            .source(source.clone())
            .start()
            .unwrap();
        World {
            backend,
            caller,
            source,
            directory,
            live,
        }
    }

    fn directory(&self) -> &Path {
        self.directory.path()
    }

    async fn admit(&self) {
        assert!(self.live.admit(&configmap_in_shop("")).await.unwrap().allowed());
    }

    /// Clients, open connections, and all connections that there have been.
    fn counts(&self) -> (usize, usize, usize) {
        (
            self.caller.clients(),
            self.backend.open_connections(),
            self.backend.accepted_connections(),
        )
    }

    #[track_caller]
    fn wait(&self, what: &str, expected: (usize, usize, usize)) -> impl Future<Output = ()> {
        let caller = std::panic::Location::caller();
        async move {
            let began = Instant::now();
            while self.counts() != expected {
                let late = began.elapsed() > Duration::from_secs(60);
                assert!(!late, "{what} at {caller}: {:?}, not {expected:?}", self.counts());
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    }

    /// Changes a file, and waits until that is in effect.
    async fn put(&self, name: &str, text: &str) {
        let before = self.live.manifests();
        put(self.directory(), name, text);
        self.changed(before).await;
    }

    async fn changed(&self, before: Vec<Arc<pratique::manifest::ManifestSet>>) {
        let began = Instant::now();
        while Arc::ptr_eq(&before[0], &self.live.manifests()[0]) {
            assert!(began.elapsed() < Duration::from_secs(60));
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        self.live.settle();
    }
}

/// A static webhook at a path of the backend.
fn hook(backend: &Backend, path: &str, more: &str) -> String {
    at(
        backend,
        webhook(VALIDATING, &format!("{path}.static.k8s.io"), path, more),
    )
}

fn at(backend: &Backend, text: String) -> String {
    let url = backend.url(Listener::Backend);
    let client = format!("caBundle: {}, url: '{url}", backend.fill("$CA"));
    text.replace("url: 'https://hooks.example.com", &client)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_of_what_stays_are_kept() {
    let world = World::new().await;
    world.admit().await;
    world.wait("start", (2, 2, 2)).await;
    const RELOADS: usize = 20;
    for round in 0..RELOADS {
        // What else is in a configuration has nothing to do with its client.
        let more = format!("  timeoutSeconds: {}\n", 1 + round % 10);
        world.put("a.yaml", &hook(&world.backend, "a", &more)).await;
        world.admit().await;
        assert_eq!(world.caller.clients(), 2, "after reload {round}");
    }
    // One that does not load changes nothing.
    put(world.directory(), "broken.yaml", "kind: Nothing");
    std::fs::remove_file(world.directory().join("broken.yaml")).unwrap();
    world.admit().await;
    assert_eq!(world.caller.clients(), 2, "after a failure");
    // A call that begins before the connection of the last one is idle again makes another one. That happens now and
    // then on a busy machine; a client that is dropped makes one at each reload.
    let connections = world.backend.accepted_connections();
    assert!(connections < RELOADS, "{connections} connections");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_of_removed_webhooks_are_dropped() {
    let world = World::new().await;
    world.admit().await;
    world.wait("start", (2, 2, 2)).await;
    let before = world.live.manifests();
    std::fs::remove_file(world.directory().join("b.yaml")).unwrap();
    world.changed(before).await;
    world.wait("removal", (1, 1, 2)).await;
    // Elsewhere now.
    let text = hook(&world.backend, "c", "");
    world.put("a.yaml", &text).await;
    world.admit().await;
    world.wait("another place", (1, 1, 3)).await;
    // Those of the API come and go in the same way.
    let webhook = at(&world.backend, webhook(MUTATING, "own", "d", ""));
    world.source.replace(api(&webhook));
    world.live.settle();
    world.admit().await;
    world.wait("the API's", (2, 2, 4)).await;
    world.source.replace(Configurations::default());
    world.live.settle();
    world.wait("without the API's", (1, 1, 4)).await;
    // Back again; a connection for it is made anew.
    world.put("b.yaml", &hook(&world.backend, "b", "")).await;
    world.admit().await;
    world.wait("return", (2, 2, 5)).await;
}
