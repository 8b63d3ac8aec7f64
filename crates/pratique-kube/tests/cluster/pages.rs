//! Collections page by page: each object once, whatever happens in between.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use kube::client::Body;
use pratique::types::{GroupVersionKind, GroupVersionResource};
use pratique_kube::{
    ApiServer, Client, ListOf, ListPage, ListPages, ListPosition, PageOptions, RateLimit, ReadError,
};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tower_service::Service;

/// The runtime that clients are made in; lists are read outside of it.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

/// A server with one collection, whose lists are continued at the version at which they began, until it is compacted.
#[derive(Clone, Default)]
struct PagedServer(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    version: u64,
    /// By their key, the version and a text of each.
    objects: BTreeMap<String, (u64, String)>,
    /// What there was when a list began.
    past: BTreeMap<u64, BTreeMap<String, (u64, String)>>,
    asked: Vec<String>,
    /// What goes wrong with the next requests.
    failures: Vec<(u16, Value)>,
    /// Whether the server says where a list that has expired is continued.
    continues: bool,
    /// Whether objects come in the opposite order.
    is_reversed: bool,
}

impl PagedServer {
    fn with(names: impl IntoIterator<Item = &'static str>) -> Self {
        let server = PagedServer::default();
        server.lock().continues = true;
        names.into_iter().for_each(|name| server.put(name, ""));
        server
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    fn put(&self, key: &str, text: &str) {
        let mut state = self.lock();
        state.version += 1;
        let version = state.version;
        state.objects.insert(key.to_owned(), (version, text.to_owned()));
    }

    fn delete(&self, key: &str) {
        let mut state = self.lock();
        state.version += 1;
        state.objects.remove(key);
    }

    /// Forgets what there was.
    fn compact(&self) {
        self.lock().past.clear();
    }

    fn fail(&self, code: u16, message: &str) {
        let status =
            json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "code": code, "message": message});
        self.lock().failures.push((code, status));
    }

    fn pages(&self, from: ListPosition, options: PageOptions) -> ListPages {
        let _context = RUNTIME.enter();
        let api = ApiServer::of_client(Client::new(self.clone(), "default")).unwrap();
        let resource = GroupVersionResource::new("", "v1", "pods");
        let kind = GroupVersionKind::new("", "v1", "Pod");
        let of = ListOf {
            resource: &resource,
            kind: &kind,
            namespace: None,
        };
        api.reader().pages(of, from, options).unwrap()
    }

    fn answer(&self, query: &str) -> (u16, Value) {
        let mut state = self.lock();
        state.asked.push(query.to_owned());
        if !state.failures.is_empty() {
            return state.failures.remove(0);
        }
        let parameter = |name: &str| query.split('&').find_map(|part| part.strip_prefix(name));
        let limit: usize = parameter("limit=").unwrap().parse().unwrap();
        let (at, after) = match parameter("continue=") {
            None => (state.version, None),
            Some(token) => {
                let (at, after) = token.split_once("-after-").unwrap();
                let after = after.replace("%2F", "/");
                (at.parse().unwrap_or(state.version), Some(after))
            }
        };
        let is_first = after.is_none() || parameter("continue=").unwrap().starts_with("now");
        if is_first {
            let objects = state.objects.clone();
            state.past.insert(at, objects);
        }
        let Some(objects) = state.past.get(&at) else {
            let mut metadata = json!({});
            if state.continues {
                metadata["continue"] = json!(format!("now-after-{}", after.unwrap()));
            }
            return (
                410,
                json!({"kind": "Status", "apiVersion": "v1", "metadata": metadata, "code": 410, "message": "too old"}),
            );
        };
        let mut keys: Vec<&String> = objects.keys().collect();
        if state.is_reversed {
            keys.reverse();
        }
        let start = after.map_or(0, |after| {
            let is_before = |key: &&&String| {
                if state.is_reversed {
                    **key >= &after
                } else {
                    **key <= &after
                }
            };
            keys.iter().take_while(is_before).count()
        });
        let end = keys.len().min(start + limit);
        let items = keys[start..end].iter().map(|key| {
            let (version, text) = &objects[*key];
            let (namespace, name) = key.split_once('/').unwrap();
            json!({"metadata": {"namespace": namespace, "name": name, "resourceVersion": version.to_string()}, "spec": text})
        });
        let items: Vec<Value> = items.collect();
        let mut metadata = json!({"resourceVersion": at.to_string()});
        if end < keys.len() {
            metadata["continue"] = json!(format!("{at}-after-{}", keys[end - 1]));
            metadata["remainingItemCount"] = json!(keys.len() - end);
        }
        (
            200,
            json!({"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": items}),
        )
    }
}

impl Service<Request<Body>> for PagedServer {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        assert_eq!(request.uri().path(), "/api/v1/pods");
        let (code, answer) = self.answer(request.uri().query().unwrap());
        let body = Full::new(Bytes::from(answer.to_string()));
        ready(Ok(Response::builder().status(code).body(body).unwrap()))
    }
}

const FIVE: [&str; 5] = ["a-b/x", "a/x", "a/y", "b/x", "c/x"];

fn two() -> PageOptions {
    PageOptions {
        chunk_size: 2,
        patience: Duration::from_secs(20),
        ..PageOptions::default()
    }
}

/// The objects of a page: their keys, and `!` where they have changed.
fn of_page(page: &ListPage) -> Vec<String> {
    let objects = page.objects().unwrap().map(|listed| {
        let value: Value = serde_json::from_str(&listed.object.to_string()).unwrap();
        assert_eq!(
            (&value["kind"], &value["apiVersion"]),
            (&json!("Pod"), &json!("v1"))
        );
        let (namespace, name) = (&value["metadata"]["namespace"], &value["metadata"]["name"]);
        let changed = if listed.is_changed { "!" } else { "" };
        format!(
            "{}/{}{changed}",
            namespace.as_str().unwrap(),
            name.as_str().unwrap()
        )
    });
    objects.collect()
}

/// All objects that are left.
fn rest(pages: &mut ListPages) -> Vec<String> {
    let mut found = Vec::new();
    while let Some(page) = pages.next_page().unwrap() {
        found.extend(of_page(&page));
    }
    found
}

#[test]
fn lists_come_page_by_page() {
    let server = PagedServer::with(FIVE);
    let mut pages = server.pages(ListPosition::default(), two());
    let first = pages.next_page().unwrap().unwrap();
    assert_eq!(
        (of_page(&first), first.left()),
        (vec!["a-b/x".to_owned(), "a/x".to_owned()], Some(3))
    );
    // A list is of one moment.
    server.put("a/y", "changed");
    server.put("a/z", "new");
    server.delete("b/x");
    assert_eq!(rest(&mut pages), ["a/y", "b/x", "c/x"]);
    assert!(pages.next_page().unwrap().is_none());
    assert_eq!(server.lock().asked.len(), 3);
    assert_eq!(
        rest(&mut PagedServer::with([]).pages(ListPosition::default(), two())),
        [""; 0]
    );
}

#[test]
fn expired_lists_continue_and_mark_changes() {
    for continues in [true, false] {
        let server = PagedServer::with(FIVE);
        server.lock().continues = continues;
        let mut pages = server.pages(ListPosition::default(), two());
        assert_eq!(of_page(&pages.next_page().unwrap().unwrap()), ["a-b/x", "a/x"]);
        server.put("a-a/new", "before");
        server.put("a/x", "changed, and listed before");
        server.put("a/xx", "new");
        server.put("b/x", "changed");
        server.delete("a/y");
        server.compact();
        assert_eq!(rest(&mut pages), ["a/xx!", "b/x!", "c/x"], "{continues}");
    }
}

#[test]
fn lists_go_on_from_a_position() {
    let server = PagedServer::with(FIVE);
    let mut pages = server.pages(ListPosition::default(), two());
    pages.next_page().unwrap();
    let second = pages.next_page().unwrap().unwrap();
    let written = serde_json::to_string(second.position()).unwrap();
    let position: ListPosition = serde_json::from_str(&written).unwrap();
    assert_eq!(
        rest(&mut server.pages(position.clone(), two())),
        ["a/y", "b/x", "c/x"]
    );
    // Later, the version is gone.
    server.put("c/x", "changed");
    server.compact();
    assert_eq!(rest(&mut server.pages(position, two())), ["a/y", "b/x", "c/x!"]);
    let of_end = pages.position().clone();
    assert_eq!(rest(&mut pages), ["c/x!"]);
    assert_eq!(rest(&mut server.pages(of_end, two())), ["c/x!"]);
}

#[test]
fn without_an_order_an_expired_list_ends() {
    let server = PagedServer::with(FIVE);
    server.lock().is_reversed = true;
    assert_eq!(
        rest(&mut server.pages(ListPosition::default(), two())),
        ["c/x", "b/x", "a/y", "a/x", "a-b/x"]
    );
    server.lock().continues = false;
    let mut pages = server.pages(ListPosition::default(), two());
    pages.next_page().unwrap();
    pages.next_page().unwrap();
    server.compact();
    assert_eq!(pages.next_page().unwrap_err(), ReadError::Expired);
}

#[test]
fn large_pages_have_fewer_objects() {
    let names = ["n/a", "n/b", "n/c", "n/d", "n/e", "n/f", "n/g", "n/h"];
    let server = PagedServer::with(names);
    for name in &names[..3] {
        server.put(name, &"x".repeat(900));
    }
    let options = PageOptions {
        chunk_size: 4,
        bytes: 2000,
        ..two()
    };
    let mut pages = server.pages(ListPosition::default(), options.clone());
    assert_eq!(rest(&mut pages), names);
    let asked = server.lock().asked.clone();
    let limits: Vec<&str> = asked
        .iter()
        .map(|query| query.split('&').next().unwrap())
        .collect();
    assert_eq!(
        limits,
        [
            "limit=4", "limit=2", "limit=1", "limit=1", "limit=1", "limit=1", "limit=2", "limit=4"
        ]
    );
    server.put("n/a", &"x".repeat(9000));
    let mut pages = server.pages(ListPosition::default(), options);
    assert!(matches!(pages.next_page(), Err(ReadError::TooLarge { .. })));
}

#[test]
fn what_passes_is_waited_for() {
    let server = PagedServer::with(FIVE);
    let mut pages = server.pages(ListPosition::default(), two());
    server.fail(500, "etcdserver: leader changed");
    server.fail(500, "etcdserver: request timed out");
    assert_eq!(rest(&mut pages), FIVE);
    server.fail(403, "pods is forbidden");
    let mut pages = server.pages(ListPosition::default(), two());
    let refused = pages.next_page().unwrap_err();
    assert_eq!(
        refused,
        ReadError::Refused {
            code: 403,
            message: "pods is forbidden".to_owned()
        }
    );
    assert!(!refused.is_of_connection());
    // It was asked for again by the caller.
    assert_eq!(rest(&mut pages), FIVE);
    let impatient = PageOptions {
        patience: Duration::ZERO,
        ..two()
    };
    server.fail(500, "etcdserver: no leader");
    let failed = server.pages(ListPosition::default(), impatient).next_page();
    assert!(failed.unwrap_err().to_string().contains("no leader"));
}

#[test]
fn requests_keep_to_a_rate() {
    let server = PagedServer::with(FIVE);
    let rate = RateLimit::new(20, 1);
    let options = PageOptions {
        rate: Some(rate),
        ..two()
    };
    let start = std::time::Instant::now();
    assert_eq!(
        rest(&mut server.pages(ListPosition::default(), options.clone())),
        FIVE
    );
    assert_eq!(rest(&mut server.pages(ListPosition::default(), options)), FIVE);
    // Six requests, of which the first one waits for nothing.
    assert!(start.elapsed() >= Duration::from_millis(250));
}
