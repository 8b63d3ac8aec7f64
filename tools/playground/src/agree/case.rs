//! A recorded case of policies as a request to the module, and its outcome in the answer.

use serde_json::{Map, Value, json};

use super::snapshot;

/// The request. Cases are of the library alone, which leaves objects as they are.
pub(super) fn request(case: &Value) -> Value {
    let policies = manifests(case).into_iter();
    let policies = policies.map(|(path, text)| json!({"path": path, "text": text}));
    let cluster = objects(case).into_iter().enumerate();
    let cluster = cluster
        .map(|(index, object)| json!({"path": format!("objects/{index}"), "text": object.to_string()}));
    let index = json!({"path": "objects/snapshot.yaml", "text": snapshot::index(case).to_string()});
    json!({"evaluate": {
        "policies": policies.collect::<Vec<_>>(),
        "stored": case.get("apiObjects").cloned().unwrap_or_else(|| json!([])),
        "cluster": cluster.chain([index]).collect::<Vec<_>>(),
        "request": case.get("request"),
        "authorizer": json!({"authorizer": rules(case)}).to_string(),
        "asGiven": true,
        "withoutLints": true,
    }})
}

/// The directory of the objects of the cluster.
const CLUSTER: &str = "cluster";

/// A case as a user has it: files, an AdmissionReview among them.
pub(super) struct PastedCase {
    policies: Vec<(String, String)>,
    /// The objects of the cluster, and the index of a snapshot, which says what the server serves that is not one of today.
    cluster: Vec<(String, String)>,
    authorizer: String,
    review: String,
    /// Whether the objects are to be told to be all that there is, as the page takes them without a snapshot, but that it knows
    /// each namespace by its name.
    is_complete: bool,
}

/// The inputs of a case as a user would paste them. Policies of the API are manifests, which are validated.
pub(super) fn pasted(case: &Value) -> PastedCase {
    let list_of = |items: &[Value]| {
        (!items.is_empty()).then(|| json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string())
    };
    let api_objects: Vec<Value> = array(case, "apiObjects").cloned().collect();
    let mut policies = manifests(case);
    policies.extend(list_of(&api_objects).map(|text| ("policies/api.json".to_owned(), text)));
    let index = snapshot::is_of_other_server(case).then(|| snapshot::index(case).to_string());
    let is_snapshot = index.is_some();
    let named = |name: &str, text: Option<String>| text.map(|text| (format!("{CLUSTER}/{name}"), text));
    let cluster = [
        named("objects.yaml", list_of(&objects(case))),
        named("snapshot.yaml", index),
    ];
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": case.get("request")});
    PastedCase {
        policies,
        cluster: cluster.into_iter().flatten().collect(),
        authorizer: json!({"authorizer": rules(case)}).to_string(),
        review: review.to_string(),
        is_complete: has_namespace(case) && !is_snapshot,
    }
}

/// The objects of the cluster. Recorded definitions may lack a version that is stored, which a server would refuse of a user.
fn objects(case: &Value) -> Vec<Value> {
    let mut objects: Vec<Value> = array(case, "objects").cloned().collect();
    for object in &mut objects {
        let Some(versions) = object.pointer_mut("/spec/versions").and_then(Value::as_array_mut) else {
            continue;
        };
        let is_stored = versions.iter().any(|version| version["storage"] == true);
        if let (false, Some(first)) = (is_stored, versions.first_mut()) {
            first["storage"] = json!(true);
        }
    }
    objects
}

/// Whether the namespace of the request is among the objects, if it has one.
fn has_namespace(case: &Value) -> bool {
    let namespace = case.pointer("/request/namespace").and_then(Value::as_str);
    let is_it = |object: &Value| {
        object.get("kind") == Some(&json!("Namespace"))
            && object.pointer("/metadata/name").and_then(Value::as_str) == namespace
    };
    namespace.is_none_or(str::is_empty) || array(case, "objects").any(is_it)
}

impl PastedCase {
    /// The request to the module.
    pub(super) fn request(&self) -> Value {
        let file = |(path, text): &(String, String)| json!({"path": path, "text": text});
        json!({"evaluate": {
            "policies": self.policies.iter().map(file).collect::<Vec<_>>(),
            "cluster": self.cluster.iter().map(file).collect::<Vec<_>>(),
            "object": self.review,
            "authorizer": self.authorizer,
            "asGiven": true,
        }})
    }

    /// The files of the command.
    pub(super) fn files(&self) -> Vec<(String, String)> {
        let mut files = self.policies.clone();
        files.push(("authorizer.json".to_owned(), self.authorizer.clone()));
        files.push(("review.json".to_owned(), self.review.clone()));
        files.extend(self.cluster.iter().cloned());
        files
    }

    /// The arguments of the command.
    pub(super) fn arguments(&self) -> Vec<&'static str> {
        let mut arguments = vec!["review", "--authorizer", "authorizer.json"];
        // A directory without policies is no argument, as it would be a mistake.
        if !self.policies.is_empty() {
            arguments.extend(["--policies", "policies"]);
        }
        if !self.cluster.is_empty() {
            arguments.extend(["--objects", CLUSTER]);
            arguments.extend(self.is_complete.then_some("--objects-complete"));
        }
        arguments.extend(["--defaults", "off", "review.json"]);
        arguments
    }
}

/// The manifests of a case, by path.
fn manifests(case: &Value) -> Vec<(String, String)> {
    let folders = ["mutating", "validating"].into_iter();
    let files = folders.flat_map(|folder| {
        let files = case.pointer(&format!("/manifests/{folder}"));
        let files = files.and_then(Value::as_object).into_iter().flatten();
        files.map(move |(name, text)| {
            (
                format!("policies/{folder}/{name}"),
                text.as_str().unwrap_or_default().to_owned(),
            )
        })
    });
    files.collect()
}

/// The rules of a case's authorizer.
fn rules(case: &Value) -> Vec<Value> {
    let allowed = case.pointer("/authorizer/allow").and_then(Value::as_array);
    allowed.into_iter().flatten().filter_map(rule).collect()
}

/// A rule of a case's authorizer in the form of suites; `None` for one that no check meets.
fn rule(case_rule: &Value) -> Option<Value> {
    let text = |name: &str| {
        case_rule
            .get(name)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    };
    if text("version").is_some_and(|version| version != "*") {
        return None;
    }
    let resource = text("resource").map(|resource| match text("subresource") {
        Some(part) => format!("{resource}/{part}"),
        None => resource.to_owned(),
    });
    let mut rule = Map::new();
    let lists = [
        ("users", text("user")),
        ("verbs", text("verb")),
        ("apiGroups", text("group")),
        ("resources", resource.as_deref()),
        ("resourceNames", text("name")),
        ("namespaces", text("namespace")),
        ("nonResourceURLs", text("path")),
    ];
    for (name, value) in lists {
        if let Some(value) = value {
            rule.insert(name.to_owned(), json!([value]));
        }
    }
    for name in ["reason", "error"] {
        if let Some(value) = text(name) {
            rule.insert(name.to_owned(), value.into());
        }
    }
    rule.insert("allow".to_owned(), text("error").is_none().into());
    Some(Value::Object(rule))
}

/// The outcome in an answer, in the form of a case's expectation; an error where there is none.
pub(super) fn outcome(answer: &Value) -> Result<Value, String> {
    let Some(decision) = answer.get("decision").and_then(Value::as_str) else {
        return Err(answer.to_string());
    };
    let mut outcome = json!({
        "allowed": decision == "allowed",
        "warnings": answer.get("warnings"),
        "auditAnnotations": answer.get("auditAnnotations"),
    });
    if let Some(members) = outcome.as_object_mut() {
        for name in ["status", "object"] {
            members.extend(answer.get(name).map(|value| (name.to_owned(), value.clone())));
        }
        if let Some(Value::Object(status)) = members.get_mut("status") {
            status.remove("status");
            status.remove("metadata");
        }
    }
    Ok(outcome)
}

pub(super) fn array<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}
