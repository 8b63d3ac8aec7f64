//! A sample request to try the server with, which the loaded policies match.

use std::sync::Arc;

use pratique::Configurations;
use pratique::api_objects::ApiObjects;
use pratique_manifest::ManifestSet;
use pratique_schema::{FeatureGates, Release};
use pratique_server::{Endpoint, WebhookPlugin, WebhookRegistration};
use pratique_types::builtin::ServedResource;
use pratique_types::{GroupVersionKind, GroupVersionResource};
use serde_json::{Value, json};

/// The path and body of a sample request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SampleRequest {
    pub(super) path: &'static str,
    pub(super) review: String,
}

/// A resource and an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ResourceOperation {
    group: String,
    version: String,
    resource: String,
    subresource: String,
    operation: String,
}

/// The operations, in order of preference.
const OPERATIONS: [&str; 4] = ["CREATE", "UPDATE", "DELETE", "CONNECT"];

impl SampleRequest {
    /// A Pod that the Pod Security Standards deny.
    pub(super) fn of_standards() -> Self {
        SampleRequest {
            path: "/validate",
            review: r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"CREATE","kind":{"group":"","version":"v1","kind":"Pod"},"resource":{"group":"","version":"v1","resource":"pods"},"namespace":"default","name":"demo","userInfo":{"username":"me"},"object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"demo","namespace":"default"},"spec":{"hostNetwork":true,"containers":[{"name":"demo","image":"demo"}]}}}}"#.to_owned(),
        }
    }

    /// The request with its objects as a server has them when it calls a webhook: with defaults, which policies may read. Objects of
    /// kinds that are not known stay as they are.
    pub(super) fn defaulted(self, gates: FeatureGates) -> Self {
        let Ok(mut review) = serde_json::from_str::<Value>(&self.review) else {
            return self;
        };
        let objects = ApiObjects::default().with_gates(gates);
        let part = |name: &str| text_at(&review, &format!("/request/kind/{name}")).to_owned();
        let kind = GroupVersionKind {
            group: part("group"),
            version: part("version"),
            kind: part("kind"),
        };
        for place in ["/request/object", "/request/oldObject"] {
            if let Some(object) = review.pointer_mut(place) {
                let text = object.to_string();
                let completed = pratique_json::parse(text.as_bytes()).ok().and_then(|mut object| {
                    objects.complete(&kind, &mut object).ok()?;
                    serde_json::from_str(&object.to_string()).ok()
                });
                if let Some(completed) = completed {
                    *object = completed;
                }
            }
        }
        SampleRequest {
            review: review.to_string(),
            ..self
        }
    }

    /// The request in a namespace, if it is in one.
    pub(super) fn in_namespace(self, namespace: &str) -> Self {
        let Ok(mut review) = serde_json::from_str::<Value>(&self.review) else {
            return self;
        };
        let places = [
            "/request/namespace",
            "/request/object/metadata/namespace",
            "/request/oldObject/metadata/namespace",
        ];
        for place in places {
            if let Some(named) = review.pointer_mut(place) {
                *named = namespace.into();
            }
        }
        SampleRequest {
            review: review.to_string(),
            ..self
        }
    }

    /// A request that the policies of these manifests, of the API or plugins match, preferably validating ones.
    pub(super) fn new(
        release: &'static Release,
        sets: &[Arc<ManifestSet>],
        api: &[Configurations],
        plugins: &[&WebhookPlugin],
    ) -> Self {
        let sets = sets.iter().map(|set| ManifestSet::clone(set).into());
        let all: Vec<Configurations> = sets.chain(api.iter().cloned()).collect();
        // Only the rules are of interest.
        let registration = WebhookRegistration {
            name: String::new(),
            endpoint: Endpoint::Url(String::new()),
            ca_bundle: String::new(),
            annotations: Vec::new(),
            exempt_namespaces: Vec::new(),
            exempt_labels: Vec::new(),
            timeout: 1,
            release,
        };
        let objects = registration.objects(&all, plugins);
        let phases = [
            ("ValidatingWebhookConfiguration", "/validate"),
            ("MutatingWebhookConfiguration", "/mutate"),
        ];
        for (kind, path) in phases {
            let rules = objects.iter().filter(|object| text_at(object, "/kind") == kind);
            let rules = rules.flat_map(|object| list(object, "/webhooks"));
            let rules = rules.flat_map(|webhook| list(webhook, "/rules"));
            if let Some(about) = rules
                .filter_map(|rule| ResourceOperation::of_rule(release, rule))
                .min_by_key(ResourceOperation::rank)
            {
                return SampleRequest {
                    path,
                    review: about.review(release),
                };
            }
        }
        SampleRequest::of_standards()
    }
}

impl ResourceOperation {
    /// The most suitable resource and operation of a rule.
    fn of_rule(release: &'static Release, rule: &Value) -> Option<Self> {
        let values = |place: &'static str| list(rule, place).filter_map(Value::as_str);
        let operation = OPERATIONS
            .into_iter()
            .find(|wanted| values("/operations").any(|operation| operation == *wanted || operation == "*"))?;
        let groups: Vec<&str> = values("/apiGroups").collect();
        let versions: Vec<&str> = values("/apiVersions").collect();
        let all = values("/resources").flat_map(|resource| {
            let groups = groups.iter();
            groups.map(move |group| (*group, resource))
        });
        let version = |served: Option<&ServedResource>| {
            let is_served =
                |version: &&&str| served.is_some_and(|served| served.resource.version == ***version);
            let given = versions.iter().find(|version| **version != "*");
            let named = versions.iter().find(is_served).or(given).copied();
            named
                .or(served.map(|served| &*served.resource.version))
                .unwrap_or("v1")
                .to_owned()
        };
        let all = all.map(|(group, resource)| {
            let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
            let wild = |name: &str| name == "*";
            let of_group = |served: &&ServedResource| wild(group) || served.resource.group == group;
            let resource = match (wild(resource), wild(group) || group.is_empty()) {
                (false, _) => resource.to_owned(),
                (true, true) => "pods".to_owned(),
                (true, false) => release
                    .resources()
                    .served()
                    .iter()
                    .filter(|served| served.subresource.is_empty())
                    .find(of_group)
                    .map_or_else(|| "demos".to_owned(), |served| served.resource.resource.clone()),
            };
            let served = release
                .resources()
                .served()
                .iter()
                .filter(|served| served.resource.resource == resource && served.subresource.is_empty())
                .find(of_group);
            let group = match served {
                Some(served) if wild(group) => &served.resource.group,
                _ if wild(group) => "",
                _ => group,
            };
            ResourceOperation {
                group: group.to_owned(),
                version: version(served),
                resource,
                subresource: if wild(subresource) { "" } else { subresource }.to_owned(),
                operation: operation.to_owned(),
            }
        });
        all.min_by_key(ResourceOperation::rank)
    }

    /// Well-known resources come first.
    fn rank(&self) -> (bool, usize, bool) {
        let operation = OPERATIONS
            .iter()
            .position(|operation| *operation == self.operation);
        (
            !self.subresource.is_empty(),
            operation.unwrap_or(OPERATIONS.len()),
            self.resource != "pods",
        )
    }

    fn review(&self, release: &Release) -> String {
        let resource = GroupVersionResource {
            group: self.group.clone(),
            version: self.version.clone(),
            resource: self.resource.clone(),
        };
        let served = release.resources().find(&resource, &self.subresource);
        let kind = served.map_or_else(|| kind(&self.resource), |served| served.kind.kind.clone());
        let (group, version) = served.map_or((&self.group, &self.version), |served| {
            (&served.kind.group, &served.kind.version)
        });
        let object = self.object(
            group,
            version,
            &kind,
            served.is_none_or(|served| served.namespaced),
        );
        let mut request = json!({
            "uid": "1", "operation": self.operation,
            "kind": {"group": group, "version": version, "kind": kind},
            "resource": {"group": self.group, "version": self.version, "resource": self.resource},
            "name": "demo", "userInfo": {"username": "me"},
        });
        let mut put = |key: &str, value: Value| {
            if let Value::Object(members) = &mut request {
                members.insert(key.to_owned(), value);
            }
        };
        if !self.subresource.is_empty() {
            put("subResource", json!(self.subresource));
        }
        if served.is_none_or(|served| served.namespaced) {
            put("namespace", json!("default"));
        }
        if self.operation != "DELETE" {
            put("object", object.clone());
        }
        if ["UPDATE", "DELETE"].contains(&&*self.operation) {
            put("oldObject", object);
        }
        json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request})
            .to_string()
    }

    /// A minimal object of a kind.
    fn object(&self, group: &str, version: &str, kind: &str, namespaced: bool) -> Value {
        let api_version = match group {
            "" => version.to_owned(),
            group => format!("{group}/{version}"),
        };
        let mut metadata = json!({"name": "demo"});
        if namespaced {
            metadata = json!({"name": "demo", "namespace": "default"});
        }
        let pod = json!({"containers": [{"name": "demo", "image": "demo"}]});
        let labels = json!({"app": "demo"});
        let template = json!({"metadata": {"labels": labels}, "spec": pod});
        let spec = match kind {
            "Pod" => pod,
            "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" => {
                json!({"selector": {"matchLabels": labels}, "template": template})
            }
            "Job" => json!({"template": template}),
            _ => return json!({"apiVersion": api_version, "kind": kind, "metadata": metadata}),
        };
        json!({"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec})
    }
}

/// The probable kind of a custom resource.
fn kind(resource: &str) -> String {
    let singular = resource.strip_suffix('s').unwrap_or(resource);
    let mut characters = singular.chars();
    let first = characters.next().map(|character| character.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}

fn text_at<'v>(value: &'v Value, place: &str) -> &'v str {
    value.pointer(place).and_then(Value::as_str).unwrap_or_default()
}

fn list<'v>(value: &'v Value, place: &str) -> std::slice::Iter<'v, Value> {
    let list = value.pointer(place).and_then(Value::as_array);
    list.map(Vec::as_slice).unwrap_or_default().iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_have_what_a_server_gives_them() {
        let about = ResourceOperation {
            group: "apps".to_owned(),
            version: "v1".to_owned(),
            resource: "deployments".to_owned(),
            subresource: String::new(),
            operation: "UPDATE".to_owned(),
        };
        let release = FeatureGates::default().release();
        let sample = SampleRequest {
            path: "/validate",
            review: about.review(release),
        };
        let sample = sample.defaulted(FeatureGates::default());
        let review: Value = serde_json::from_str(&sample.review).unwrap();
        for object in ["object", "oldObject"] {
            let spec = &review["request"][object]["spec"];
            assert_eq!(spec["replicas"], 1, "{review}");
            assert_eq!(spec["template"]["spec"]["restartPolicy"], "Always", "{review}");
        }
        let unknown = SampleRequest {
            path: "/validate",
            review:
                r#"{"request":{"kind":{"group":"example.com","version":"v1","kind":"A"},"object":{"a":1}}}"#
                    .to_owned(),
        };
        let defaulted = unknown.clone().defaulted(FeatureGates::default());
        let parse = |sample: &SampleRequest| serde_json::from_str::<Value>(&sample.review).unwrap();
        assert_eq!(parse(&defaulted), parse(&unknown));
    }

    #[track_caller]
    fn check(rule: Value, expected: Value) {
        let about = ResourceOperation::of_rule(Release::latest(), &rule).unwrap();
        let review: Value = serde_json::from_str(&about.review(Release::latest())).unwrap();
        let request = &review["request"];
        let resource = &request["resource"];
        let found = json!([
            request["operation"],
            resource["group"],
            resource["version"],
            resource["resource"],
            request["kind"]["kind"],
            request["namespace"]
        ]);
        assert_eq!(found, expected, "{rule}");
    }

    fn rule(groups: Value, versions: Value, resources: Value, operations: Value) -> Value {
        json!({"apiGroups": groups, "apiVersions": versions, "resources": resources, "operations": operations})
    }

    #[test]
    fn requests_are_about_what_rules_are_about() {
        check(
            rule(
                json!(["apps"]),
                json!(["v1"]),
                json!(["deployments"]),
                json!(["UPDATE", "CREATE"]),
            ),
            json!(["CREATE", "apps", "v1", "deployments", "Deployment", "default"]),
        );
        check(
            rule(
                json!([""]),
                json!(["v1"]),
                json!(["namespaces"]),
                json!(["DELETE"]),
            ),
            json!(["DELETE", "", "v1", "namespaces", "Namespace", null]),
        );
        check(
            rule(json!(["*"]), json!(["*"]), json!(["*"]), json!(["*"])),
            json!(["CREATE", "", "v1", "pods", "Pod", "default"]),
        );
        check(
            rule(
                json!(["*"]),
                json!(["*"]),
                json!(["ingresses"]),
                json!(["CREATE"]),
            ),
            json!([
                "CREATE",
                "networking.k8s.io",
                "v1",
                "ingresses",
                "Ingress",
                "default"
            ]),
        );
        check(
            rule(
                json!(["example.com"]),
                json!(["v2"]),
                json!(["widgets"]),
                json!(["CREATE"]),
            ),
            json!(["CREATE", "example.com", "v2", "widgets", "Widget", "default"]),
        );
        check(
            rule(
                json!([""]),
                json!(["v1"]),
                json!(["pods/exec", "services"]),
                json!(["CREATE"]),
            ),
            json!(["CREATE", "", "v1", "services", "Service", "default"]),
        );
    }

    #[test]
    fn nothing_is_tried_with_the_standards() {
        assert_eq!(
            SampleRequest::new(Release::latest(), &[], &[], &[]),
            SampleRequest::of_standards()
        );
    }

    #[test]
    fn requests_are_in_a_namespace_that_exists() {
        let SampleRequest { review, .. } = SampleRequest::of_standards().in_namespace("shop");
        assert!(!review.contains("default") && review.matches(r#""namespace":"shop""#).count() == 2);
    }
}
