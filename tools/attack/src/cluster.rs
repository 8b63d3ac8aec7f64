//! An API server as far as `--follow` needs one, whose network can fail: it has two policies and their bindings, and tells
//! of changes.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use pratique_harness::ToolError;
use serde_json::{Value, json};

/// How often a watch polls for events.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The state of the connection to the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkState {
    /// Requests are answered.
    Up,
    /// Connections are closed as soon as they come.
    Closed,
    /// Requests get no answer.
    Silent,
    /// Answers break off in their midst.
    BrokenOff,
}

/// The server. Its threads end with this program.
pub(super) struct ClusterServer {
    address: SocketAddr,
    state: Arc<Mutex<ClusterState>>,
}

struct ClusterState {
    link: LinkState,
    version: u64,
    /// By the path of the collection, and by name.
    objects: BTreeMap<String, BTreeMap<String, Value>>,
    /// Events by collection and version.
    events: Vec<(String, u64, Value)>,
    /// Those that are open, by their numbers.
    connections: BTreeMap<usize, TcpStream>,
}

const POLICIES: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const BINDINGS: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";

impl ClusterServer {
    /// Starts it, with the namespace `shop`.
    pub(super) fn start() -> Result<Self, ToolError> {
        let failed = |error: std::io::Error| format!("a cluster: {error}");
        let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let state = Arc::new(Mutex::new(ClusterState {
            link: LinkState::Up,
            version: 0,
            objects: BTreeMap::new(),
            events: Vec::new(),
            connections: BTreeMap::new(),
        }));
        let cluster = ClusterServer {
            address,
            state: state.clone(),
        };
        cluster.put(
            "/api/v1/namespaces",
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}),
        );
        thread::spawn(move || {
            for (number, stream) in listener.incoming().flatten().enumerate() {
                let state = state.clone();
                thread::spawn(move || {
                    if let Ok(connection) = stream.try_clone() {
                        lock(&state).connections.insert(number, connection);
                    }
                    // A client that goes is no fault.
                    let _ = serve(stream, &state);
                    // Each that is kept is a file descriptor.
                    lock(&state).connections.remove(&number);
                });
            }
        });
        Ok(cluster)
    }

    /// Writes a kubeconfig that leads here.
    pub(super) fn kubeconfig(&self, folder: &Path) -> Result<PathBuf, ToolError> {
        let path = folder.join("kubeconfig.json");
        let config = json!({"apiVersion": "v1", "kind": "Config", "current-context": "a",
            "clusters": [{"name": "a", "cluster": {"server": format!("http://{}", self.address)}}],
            "users": [{"name": "a", "user": {}}], "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}]});
        std::fs::write(&path, config.to_string()).map_err(ToolError::file(&path))?;
        Ok(path)
    }

    /// Creates a policy that denies Pods with a label.
    pub(super) fn deny(&self, name: &str, label: &str) {
        let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["*"], "scope": "*"});
        self.put(
            POLICIES,
            json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name, "uid": name},
                "spec": {"failurePolicy": "Fail", "matchConstraints": {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}, "resourceRules": [rule]},
                    "validations": [{"expression": format!("!has(object.metadata.labels) || !('{label}' in object.metadata.labels)")}]}}),
        );
        self.put(
            BINDINGS,
            json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": name, "uid": name},
                "spec": {"policyName": name, "validationActions": ["Deny"]}}),
        );
    }

    /// Changes the state of the connection, and ends all existing connections.
    pub(super) fn set(&self, link: LinkState) {
        let mut state = lock(&self.state);
        state.link = link;
        for connection in std::mem::take(&mut state.connections).into_values() {
            // The connection may be closed already.
            let _ = connection.shutdown(Shutdown::Both);
        }
    }

    fn put(&self, collection: &str, mut object: Value) {
        let mut state = lock(&self.state);
        state.version += 1;
        let version = state.version;
        if let Some(metadata) = object.pointer_mut("/metadata").and_then(Value::as_object_mut) {
            metadata.insert("resourceVersion".into(), version.to_string().into());
        }
        let name = object
            .pointer("/metadata/name")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let objects = state.objects.entry(collection.to_owned()).or_default();
        let kind = match objects.insert(name, object.clone()) {
            Some(_) => "MODIFIED",
            None => "ADDED",
        };
        let event = json!({"type": kind, "object": object});
        state.events.push((collection.to_owned(), version, event));
    }
}

fn lock(state: &Mutex<ClusterState>) -> MutexGuard<'_, ClusterState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers the requests of a connection.
fn serve(stream: TcpStream, state: &Mutex<ClusterState>) -> std::io::Result<()> {
    let mut writer = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    loop {
        let (mut first, mut length) = (String::new(), 0);
        if reader.read_line(&mut first)? == 0 {
            return Ok(());
        }
        let mut line = String::new();
        while reader.read_line(&mut line)? > 0 && line != "\r\n" {
            let lower = line.to_ascii_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or_default();
            }
            line.clear();
        }
        reader.by_ref().take(length).read_to_end(&mut Vec::new())?;
        let link = lock(state).link;
        match link {
            LinkState::Closed => return Ok(()),
            LinkState::Silent => {
                // The connection ends when the link changes.
                reader.read_to_end(&mut Vec::new())?;
                return Ok(());
            }
            LinkState::Up | LinkState::BrokenOff => {}
        }
        let target = first.split(' ').nth(1).unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        if query.contains("watch=true") || query.contains("watch=1") {
            return match link {
                LinkState::BrokenOff => break_off(&mut writer),
                _ => watch(&mut writer, state, path, query),
            };
        }
        let (code, body) = answer(&lock(state), path);
        let text = body.to_string();
        let head = format!(
            "HTTP/1.1 {code} x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            text.len()
        );
        writer.write_all(head.as_bytes())?;
        if link == LinkState::BrokenOff {
            let (half, _) = text.as_bytes().split_at(text.len() / 2);
            writer.write_all(half)?;
            return writer.shutdown(Shutdown::Both);
        }
        writer.write_all(text.as_bytes())?;
    }
}

fn answer(state: &ClusterState, path: &str) -> (u16, Value) {
    match path {
        "/api" => {
            return (
                200,
                discovery(&[
                    ("", "v1", "namespaces", "Namespace", "Cluster"),
                    ("", "v1", "pods", "Pod", "Namespaced"),
                ]),
            );
        }
        "/apis" => return (200, discovery(&[])),
        _ => {}
    }
    let named = path
        .rsplit_once('/')
        .and_then(|(collection, name)| state.objects.get(collection)?.get(name));
    if let Some(object) = named {
        return (200, object.clone());
    }
    let items: Vec<&Value> = state
        .objects
        .get(path)
        .into_iter()
        .flat_map(BTreeMap::values)
        .collect();
    let version = state.version.to_string();
    (
        200,
        json!({"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": version}, "items": items}),
    )
}

fn discovery(resources: &[(&str, &str, &str, &str, &str)]) -> Value {
    let items = resources.iter().map(|(group, version, plural, kind, scope)| {
        json!({"metadata": {"name": group}, "versions": [{"version": version, "resources": [{"resource": plural,
            "responseKind": {"group": group, "version": version, "kind": kind}, "scope": scope, "verbs": ["list"]}]}]})
    });
    json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items.collect::<Vec<_>>()})
}

const WATCHED: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";

/// Begins an event of a watch.
fn break_off(writer: &mut TcpStream) -> std::io::Result<()> {
    writer.write_all(WATCHED.as_bytes())?;
    writer.write_all(b"400\r\n{\"type\": \"DELETED\", \"object\": {\"metadata\": {")?;
    writer.shutdown(Shutdown::Both)
}

/// Tells what happens to a collection, until the connection ends.
fn watch(
    writer: &mut TcpStream,
    state: &Mutex<ClusterState>,
    path: &str,
    query: &str,
) -> std::io::Result<()> {
    let known = query
        .split('&')
        .find_map(|part| part.strip_prefix("resourceVersion="));
    let mut known: u64 = known.and_then(|known| known.parse().ok()).unwrap_or_default();
    writer.write_all(WATCHED.as_bytes())?;
    loop {
        let fresh: Vec<String> = {
            let state = lock(state);
            let of_collection = state
                .events
                .iter()
                .filter(|(collection, version, _)| collection == path && *version > known);
            let fresh = of_collection.map(|(_, _, event)| format!("{event}\n")).collect();
            known = known.max(state.version);
            fresh
        };
        for event in fresh {
            writer.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes())?;
        }
        // One that the client closed, or that the link closed, cannot be written to any more.
        if writer.take_error()?.is_some() || is_closed(writer) {
            return Ok(());
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// Whether the input has ended.
fn is_closed(stream: &TcpStream) -> bool {
    let peeked = stream.set_nonblocking(true).and_then(|()| stream.peek(&mut [0]));
    let restored = stream.set_nonblocking(false);
    matches!(peeked, Ok(0)) || restored.is_err()
}
