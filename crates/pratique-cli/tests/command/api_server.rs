//! An API server that answers what a test scripts, over plain HTTP.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::Directory;

/// An API server; it ends with the process.
pub(crate) struct ApiServer {
    address: String,
    asked: Arc<Mutex<Vec<(Instant, String)>>>,
    happened: Arc<Happened>,
    bodies: Arc<Mutex<Vec<Value>>>,
}

/// What an API server answers.
#[derive(Clone, Default)]
pub(crate) struct Script {
    /// Objects by the path of their collection.
    lists: BTreeMap<String, Vec<Value>>,
    /// Paths that are refused, with code and message.
    refused: BTreeMap<String, (u16, String)>,
    resources: Vec<(String, String, String, bool)>,
    /// What it says of its version.
    version: String,
    /// Verbs that SubjectAccessReviews allow.
    allowed: Vec<String>,
    page: usize,
    /// What a list has once it has expired, by the path of the collection, and whether the server says where it goes on.
    expires: BTreeMap<String, (Vec<Value>, bool)>,
    /// Groups whose server is down.
    down: Vec<String>,
    /// How long each page of a collection takes.
    slow: BTreeMap<String, Duration>,
    happened: Arc<Happened>,
}

/// What has happened to lists.
#[derive(Default)]
struct Happened {
    /// Those that have expired.
    expired: Mutex<BTreeSet<String>>,
    /// How many pages are given of a collection until the next one waits.
    left: Mutex<BTreeMap<String, usize>>,
    released: Condvar,
}

pub(crate) const CONFIG_MAPS: &str = "/api/v1/configmaps";
pub(crate) const NAMESPACES: &str = "/api/v1/namespaces";
pub(crate) const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const ADMISSION: &str = "/apis/admissionregistration.k8s.io/v1";
const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";

impl Script {
    /// A server with the usual resources and a namespace `shop`.
    pub(crate) fn new() -> Self {
        let mut script = Script {
            page: 2,
            version: "v1.37.2".to_owned(),
            ..Script::default()
        };
        for plural in ["validatingadmissionpolicies", "mutatingadmissionpolicies"] {
            script = script.list(&format!("{ADMISSION}/{plural}"), vec![]);
        }
        for plural in [
            "validatingadmissionpolicybindings",
            "mutatingadmissionpolicybindings",
        ] {
            script = script.list(&format!("{ADMISSION}/{plural}"), vec![]);
        }
        for plural in ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"] {
            script = script.list(&format!("{ADMISSION}/{plural}"), vec![]);
        }
        for plural in ["roles", "clusterroles", "rolebindings", "clusterrolebindings"] {
            script = script.list(&format!("{RBAC}/{plural}"), vec![]);
        }
        for path in [
            "/api/v1/limitranges",
            "/api/v1/resourcequotas",
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            "/apis/networking.k8s.io/v1/ingressclasses",
            "/apis/node.k8s.io/v1/runtimeclasses",
            "/apis/resource.k8s.io/v1/deviceclasses",
            "/apis/resource.k8s.io/v1/resourceclaims",
            "/apis/scheduling.k8s.io/v1/priorityclasses",
            "/apis/storage.k8s.io/v1/storageclasses",
        ] {
            script = script.list(path, vec![]);
        }
        script
            .list(
                NAMESPACES,
                vec![json!({"metadata": {"name": "shop"}, "status": {"phase": "Active"}})],
            )
            .list(
                "/api/v1/serviceaccounts",
                vec![json!({"metadata": {"name": "default", "namespace": "shop"}})],
            )
            .list(CONFIG_MAPS, vec![])
            .list("/api/v1/secrets", vec![])
    }

    /// The version that it says it is of.
    pub(crate) fn version(self, version: &str) -> Self {
        Script {
            version: version.to_owned(),
            ..self
        }
    }

    /// What a collection has.
    pub(crate) fn list(mut self, path: &str, objects: Vec<Value>) -> Self {
        self.lists.insert(path.to_owned(), objects);
        self
    }

    /// Policies of a kind, from YAML.
    pub(crate) fn admission(self, plural: &str, yaml: &str) -> Self {
        self.list(&format!("{ADMISSION}/{plural}"), objects(yaml))
    }

    /// Roles or bindings, from YAML.
    pub(crate) fn rbac(self, plural: &str, yaml: &str) -> Self {
        self.list(&format!("{RBAC}/{plural}"), objects(yaml))
    }

    /// Refuses a path.
    pub(crate) fn refuse(mut self, path: &str, code: u16, message: &str) -> Self {
        self.refused.insert(path.to_owned(), (code, message.to_owned()));
        self
    }

    /// Serves a custom resource: group, plural, kind.
    pub(crate) fn serve(mut self, group: &str, plural: &str, kind: &str, namespaced: bool) -> Self {
        self.resources
            .push((group.to_owned(), plural.to_owned(), kind.to_owned(), namespaced));
        self
    }

    /// Lets a list expire after its first page, from when on there are other objects.
    pub(crate) fn expire(mut self, path: &str, objects: Vec<Value>, continues: bool) -> Self {
        self.expires.insert(path.to_owned(), (objects, continues));
        self
    }

    /// Takes a time for each page of a collection.
    pub(crate) fn slow(mut self, path: &str, time: Duration) -> Self {
        self.slow.insert(path.to_owned(), time);
        self
    }

    /// Has a group whose server is down.
    pub(crate) fn down(mut self, group: &str) -> Self {
        self.down.push(group.to_owned());
        self
    }

    /// Gives so many pages of a collection, and lets the next one wait until it is [released](ApiServer::release).
    pub(crate) fn hold(self, path: &str, pages: usize) -> Self {
        self.happened.left.lock().unwrap().insert(path.to_owned(), pages);
        self
    }

    /// Allows a verb to everybody.
    pub(crate) fn allow(mut self, verb: &str) -> Self {
        self.allowed.push(verb.to_owned());
        self
    }

    /// Starts the server.
    pub(crate) fn start(self) -> ApiServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (asked, bodies) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
        let (seen, kept) = (asked.clone(), bodies.clone());
        let happened = self.happened.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (script, seen, kept) = (self.clone(), seen.clone(), kept.clone());
                thread::spawn(move || script.answer(&stream, &seen, &kept));
            }
        });
        ApiServer {
            address,
            asked,
            happened,
            bodies,
        }
    }

    /// Answers the requests of a connection.
    fn answer(&self, stream: &TcpStream, seen: &Mutex<Vec<(Instant, String)>>, kept: &Mutex<Vec<Value>>) {
        let mut reader = BufReader::new(stream);
        while let Some((line, body)) = request(&mut reader) {
            let mut parts = line.split(' ');
            let (method, target) = (parts.next().unwrap(), parts.next().unwrap());
            let line = (Instant::now(), format!("{method} {target}"));
            seen.lock().unwrap().push(line);
            if method == "PATCH" {
                kept.lock().unwrap().push(serde_json::from_slice(&body).unwrap());
            }
            let (path, query) = target.split_once('?').unwrap_or((target, ""));
            let (code, answer) = self.result(method, path, query, &body);
            let text = answer.to_string();
            let head = format!(
                "HTTP/1.1 {code} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                text.len()
            );
            let mut out = stream;
            if out.write_all((head + &text).as_bytes()).is_err() {
                return;
            }
        }
    }

    fn result(&self, method: &str, path: &str, query: &str, body: &[u8]) -> (u16, Value) {
        if let Some((code, message)) = self.refused.get(path) {
            return (*code, status(*code, message));
        }
        // An object that was applied, or removed.
        match method {
            "PATCH" => return (200, serde_json::from_slice(body).unwrap()),
            "DELETE" => {
                return (
                    200,
                    json!({"kind": "Status", "apiVersion": "v1", "status": "Success"}),
                );
            }
            _ => {}
        }
        if method == "POST" {
            let mut review: Value = serde_json::from_slice(body).unwrap();
            let verb = review["spec"]["resourceAttributes"]["verb"]
                .as_str()
                .unwrap_or_default();
            let allowed = self.allowed.iter().any(|allowed| allowed == verb);
            review["status"] = json!({"allowed": allowed, "reason": ""});
            return (201, review);
        }
        match path {
            "/version" => return (200, json!({"gitVersion": self.version})),
            "/api" => return (200, discovery(&[])),
            "/apis" => return (200, self.groups()),
            _ => {}
        }
        if let Some(objects) = self.lists.get(path) {
            self.slow.get(path).copied().into_iter().for_each(thread::sleep);
            self.wait(path);
            return self.listed(path, objects, query);
        }
        let (collection, name) = path.rsplit_once('/').unwrap();
        let collection = match path.split('/').collect::<Vec<_>>().as_slice() {
            ["", "api", "v1", "namespaces", _, plural, _] => format!("/api/v1/{plural}"),
            _ => collection.to_owned(),
        };
        let mut objects = self.lists.get(&collection).into_iter().flatten();
        match objects.find(|object| object["metadata"]["name"] == name) {
            Some(object) => (200, object.clone()),
            None => (
                404,
                status(404, "the server could not find the requested resource"),
            ),
        }
    }

    /// Waits while a collection is held.
    fn wait(&self, path: &str) {
        let mut left = self.happened.left.lock().unwrap();
        while left.get(path) == Some(&0) {
            left = self.happened.released.wait(left).unwrap();
        }
        if let Some(left) = left.get_mut(path) {
            *left -= 1;
        }
    }

    /// A page of a list, or that it has expired.
    fn listed(&self, path: &str, objects: &[Value], query: &str) -> (u16, Value) {
        let Some((later, continues)) = self.expires.get(path) else {
            return (200, self.page(objects, query));
        };
        let token = query.split('&').find_map(|part| part.strip_prefix("continue="));
        let mut expired = self.happened.expired.lock().unwrap();
        match (token, expired.contains(path)) {
            (_, true) => (200, self.page(later, query)),
            (None, false) => (200, self.page(objects, query)),
            (Some(token), false) => {
                expired.insert(path.to_owned());
                let mut gone = status(410, "The provided continue parameter is too old");
                if *continues {
                    gone["metadata"]["continue"] = json!(token);
                }
                (410, gone)
            }
        }
    }

    /// A page of a list: as a server, no more than is asked for, and here even less.
    fn page(&self, objects: &[Value], query: &str) -> Value {
        let mut parts = query.split('&');
        let at = parts.find_map(|part| part.strip_prefix("continue="));
        let at: usize = at.map_or(0, |at| at.parse().unwrap());
        let items = &objects[at..objects.len().min(at + self.page)];
        let mut metadata = json!({"resourceVersion": "7"});
        if at + self.page < objects.len() {
            metadata["continue"] = json!((at + self.page).to_string());
        }
        json!({"kind": "List", "apiVersion": "v1", "metadata": metadata, "items": items})
    }

    fn groups(&self) -> Value {
        let mut all = vec![(
            "apiextensions.k8s.io",
            "customresourcedefinitions",
            "CustomResourceDefinition",
            false,
        )];
        let named = |path: &String| {
            let plural = path.strip_prefix(ADMISSION)?.strip_prefix('/')?.to_owned();
            Some(plural)
        };
        let admission: Vec<String> = self.lists.keys().filter_map(named).collect();
        all.extend(
            admission
                .iter()
                .map(|plural| ("admissionregistration.k8s.io", plural.as_str(), "X", false)),
        );
        all.extend(self.resources.iter().map(|(group, plural, kind, namespaced)| {
            (group.as_str(), plural.as_str(), kind.as_str(), *namespaced)
        }));
        let mut groups = discovery(&all);
        let down = self.down.iter().map(|group| {
            json!({"metadata": {"name": group}, "versions": [{"version": "v1", "freshness": "Stale"}]})
        });
        groups["items"].as_array_mut().unwrap().extend(down);
        groups
    }
}

impl ApiServer {
    /// The requests so far.
    pub(crate) fn asked(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().map(|(_, line)| line.clone()).collect()
    }

    /// When pages of a collection were asked for.
    pub(crate) fn times(&self, path: &str) -> Vec<Instant> {
        let prefix = format!("GET {path}?");
        let asked = self.asked.lock().unwrap();
        let of_path = asked.iter().filter(|(_, line)| line.starts_with(&prefix));
        of_path.map(|(time, _)| *time).collect()
    }

    /// Gives all pages from now on.
    pub(crate) fn release(&self) {
        self.happened.left.lock().unwrap().clear();
        self.happened.released.notify_all();
    }

    /// The objects that were applied.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        self.bodies.lock().unwrap().clone()
    }

    /// A directory with a kubeconfig for the server.
    pub(crate) fn directory(&self) -> Directory {
        let kubeconfig = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: here\ncontexts: [{{name: here, context: {{cluster: here, user: me}}}}]\n\
             clusters: [{{name: here, cluster: {{server: 'http://{}'}}}}]\nusers: [{{name: me, user: {{token: secret}}}}]\n",
            self.address
        );
        Directory::new().with("kubeconfig", kubeconfig)
    }

    /// A text without the server's address.
    pub(crate) fn without_address(&self, text: &str) -> String {
        text.replace(&self.address, "$SERVER")
    }
}

/// The first line and the body of a request.
fn request(reader: &mut BufReader<&TcpStream>) -> Option<(String, Vec<u8>)> {
    let mut first = String::new();
    reader.read_line(&mut first).ok().filter(|count| *count > 0)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim().to_lowercase();
        if let Some(number) = line.strip_prefix("content-length:") {
            length = number.trim().parse().ok()?;
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((first, body))
}

/// The objects of YAML documents, as a server gives them in lists: without their kinds.
fn objects(yaml: &str) -> Vec<Value> {
    let documents = yaml.split("---\n").filter(|text| !text.trim().is_empty());
    let object = |text: &str| -> Value {
        let json = pratique_manifest::yaml_as_json(text.as_bytes()).unwrap();
        let mut object: Value = serde_json::from_str(&json).unwrap();
        object.as_object_mut().unwrap().remove("kind");
        object.as_object_mut().unwrap().remove("apiVersion");
        object
    };
    documents.map(object).collect()
}

fn status(code: u16, message: &str) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": code,
        "message": message, "reason": "Failure"})
}

fn discovery(resources: &[(&str, &str, &str, bool)]) -> Value {
    let item = |(group, plural, kind, namespaced): &(&str, &str, &str, bool)| {
        let scope = if *namespaced { "Namespaced" } else { "Cluster" };
        let kind = json!({"group": group, "version": "v1", "kind": kind});
        let resource =
            json!({"resource": plural, "responseKind": kind, "scope": scope, "verbs": ["create", "list"]});
        json!({"metadata": {"name": group}, "versions": [{"version": "v1", "resources": [resource]}]})
    };
    let items: Vec<_> = resources.iter().map(item).collect();
    json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items})
}
