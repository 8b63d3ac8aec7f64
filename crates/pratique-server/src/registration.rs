//! Webhook configurations that register this server with an API server, for just the resources of its policies and plugins.

mod cells;
mod hooks;
mod rules;

use pratique::Configurations;
use pratique::Release;
use serde_json::{Value, json};

use crate::webhook_plugins::WebhookPlugin;
use cells::RuleCell;
use hooks::{WebhookTemplate, hooks};
use rules::PhaseRules;

/// The endpoint at which API servers reach this server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// A service.
    Service {
        /// The namespace of the service.
        namespace: String,
        /// The name of the service.
        name: String,
        /// The port of the service.
        port: u16,
    },
    /// A URL, to which the paths of this server are appended.
    Url(String),
}

/// The parameters of the webhook configurations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookRegistration {
    /// The name of both configurations.
    pub name: String,
    /// The endpoint of this server.
    pub endpoint: Endpoint,
    /// The CA bundle for the server's certificate, as base64 of PEM; empty if it is injected otherwise.
    pub ca_bundle: String,
    /// Annotations of the configurations, such as the one with which cert-manager injects the CA bundle.
    pub annotations: Vec<(String, String)>,
    /// Exempt namespaces, besides those of the system.
    pub exempt_namespaces: Vec<String>,
    /// Labels of exempt namespaces: keys with values. A key without values exempts all namespaces with the label.
    pub exempt_labels: Vec<(String, Vec<String>)>,
    /// The timeout, in seconds.
    pub timeout: u32,
    /// The release of the API server, which has resources with and without namespaces.
    pub release: &'static Release,
}

/// The namespaces of the system. A cluster has to start without its webhooks.
const SYSTEM: [&str; 3] = ["kube-node-lease", "kube-public", "kube-system"];

/// The match condition that exempts the control plane and nodes from rules for cluster-scoped resources.
const NOT_THE_SYSTEM: &str = "request.?namespace.orValue('') != '' || \
    !('system:nodes' in request.userInfo.?groups.orValue([]) || \
    request.userInfo.username in ['system:apiserver', 'system:kube-controller-manager', 'system:kube-scheduler'])";

impl WebhookRegistration {
    /// The webhook configurations for these policies and webhooks, and for plugins: up to two objects.
    ///
    /// A request is sent once: the failure policy `Fail` takes precedence for rules with both. Requests are also sent if
    /// only constraints that webhook rules do not have, such as names, exclude them.
    #[must_use]
    pub fn objects(&self, all: &[Configurations], plugins: &[&WebhookPlugin]) -> Vec<Value> {
        let mutating = self.object("Mutating", "/mutate", &rules::mutating(all, plugins));
        let validating = self.object("Validating", "/validate", &rules::validating(all, plugins));
        mutating.into_iter().chain(validating).collect()
    }

    fn object(&self, phase: &str, path: &str, rules: &PhaseRules) -> Option<Value> {
        let webhooks: Vec<Value> = hooks(rules)
            .iter()
            .map(|hook| self.webhook(phase, path, hook, rules.reinvoke))
            .collect();
        let mut metadata = json!({"name": self.name});
        if !self.annotations.is_empty() {
            let annotations = self
                .annotations
                .iter()
                .map(|(name, value)| (name.clone(), value.clone().into()));
            put(&mut metadata, "annotations", Value::Object(annotations.collect()));
        }
        (!webhooks.is_empty()).then(|| {
            json!({
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": format!("{phase}WebhookConfiguration"),
                "metadata": metadata,
                "webhooks": webhooks,
            })
        })
    }

    fn webhook(&self, phase: &str, path: &str, hook: &WebhookTemplate, reinvoke: bool) -> Value {
        let name = format!("{}.{}.{}", hook.name, phase.to_lowercase(), self.domain());
        let mut webhook = json!({
            "name": name,
            "admissionReviewVersions": ["v1"],
            "clientConfig": self.client(path),
            "failurePolicy": hook.failure_policy,
            "matchPolicy": hook.match_policy,
            "sideEffects": hook.side_effects,
            "timeoutSeconds": self.timeout,
            "namespaceSelector": {"matchExpressions": self.namespaces()},
            "rules": hook.cells.rules(),
        });
        let of_system = hook
            .cells
            .iter()
            .any(|cell| may_be_cluster_scoped(cell, self.release));
        let of_system = of_system.then(|| json!({"name": "not-the-system", "expression": NOT_THE_SYSTEM}));
        let conditions: Vec<Value> = of_system.into_iter().chain(hook.conditions.clone()).collect();
        if !conditions.is_empty() {
            put(&mut webhook, "matchConditions", Value::Array(conditions));
        }
        if phase == "Mutating" {
            let policy = if reinvoke { "IfNeeded" } else { "Never" };
            put(&mut webhook, "reinvocationPolicy", policy.into());
        }
        webhook
    }

    fn client(&self, path: &str) -> Value {
        let mut client = match &self.endpoint {
            Endpoint::Service {
                namespace,
                name,
                port,
            } => {
                json!({"service": {"namespace": namespace, "name": name, "path": path, "port": port}})
            }
            Endpoint::Url(url) => json!({"url": format!("{}{path}", url.trim_end_matches('/'))}),
        };
        if !self.ca_bundle.is_empty() {
            put(&mut client, "caBundle", self.ca_bundle.clone().into());
        }
        client
    }

    /// The domain of webhook names.
    fn domain(&self) -> String {
        match &self.endpoint {
            Endpoint::Service { namespace, name, .. } => format!("{name}.{namespace}.svc"),
            Endpoint::Url(_) => format!("{}.pratique.local", self.name),
        }
    }

    /// The requirements of the namespace selector.
    fn namespaces(&self) -> Vec<Value> {
        let by_name =
            json!({"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": self.exempt()});
        let by_label = self.exempt_labels.iter().map(|(key, values)| {
            if values.is_empty() {
                json!({"key": key, "operator": "DoesNotExist"})
            } else {
                json!({"key": key, "operator": "NotIn", "values": values})
            }
        });
        std::iter::once(by_name).chain(by_label).collect()
    }

    /// The sorted exempt namespaces, including that of the server, which must not depend on itself.
    fn exempt(&self) -> Vec<&str> {
        let server = match &self.endpoint {
            Endpoint::Service { namespace, .. } => Some(&**namespace),
            Endpoint::Url(_) => None,
        };
        let configured = self.exempt_namespaces.iter().map(|name| &**name);
        let mut all: Vec<&str> = SYSTEM.into_iter().chain(server).chain(configured).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

fn put(object: &mut Value, key: &str, value: Value) {
    if let Value::Object(members) = object {
        members.insert(key.to_owned(), value);
    }
}

/// Whether a cell may match cluster-scoped resources. Unknown resources may be cluster-scoped.
fn may_be_cluster_scoped(cell: &RuleCell, release: &'static Release) -> bool {
    let resource = cell.resource.split('/').next().unwrap_or_default();
    let of_group = || {
        release.resources().served().iter().filter(|served| {
            served.resource.resource == resource && (cell.group == "*" || served.resource.group == cell.group)
        })
    };
    cell.scope != "Namespaced" && (of_group().next().is_none() || of_group().any(|served| !served.namespaced))
}

#[cfg(test)]
mod tests {
    use pratique_manifest::{LoadOptions, Loader, ManifestFile, ManifestPlugin};

    use super::*;

    fn set(plugin: ManifestPlugin, text: &str) -> Configurations {
        let file = ManifestFile {
            path: "a.yaml".into(),
            content: text.into(),
        };
        Loader::for_plugin(
            plugin,
            &LoadOptions::new(pratique::Admission::builder().expressions()),
        )
        .load_files(&[file])
        .unwrap()
        .into()
    }

    fn registration() -> WebhookRegistration {
        let service = Endpoint::Service {
            namespace: "pratique".into(),
            name: "admission".into(),
            port: 443,
        };
        WebhookRegistration {
            name: "pratique".into(),
            endpoint: service,
            ca_bundle: "Q0E=".into(),
            annotations: vec![(
                "cert-manager.io/inject-ca-from".into(),
                "pratique/admission".into(),
            )],
            exempt_namespaces: vec!["ingress".into()],
            exempt_labels: Vec::new(),
            timeout: 5,
            release: Release::latest(),
        }
    }

    fn policy(name: &str, failure: &str, resources: &str, operations: &str, bound: bool) -> String {
        let binding = format!(
            "---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\n\
             metadata: {{name: {name}.static.k8s.io}}\n\
             spec: {{policyName: {name}.static.k8s.io, validationActions: [Deny]}}\n"
        );
        let policy = format!(
            "---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\n\
             metadata: {{name: {name}.static.k8s.io}}\n\
             spec:\n  failurePolicy: {failure}\n  matchConstraints:\n    resourceRules: [{{apiGroups: [\"\"], \
             apiVersions: [v1], operations: {operations}, resources: {resources}}}]\n  \
             validations: [{{expression: 'true'}}]\n"
        );
        if bound { policy + &binding } else { policy }
    }

    fn hooks(text: &str) -> Vec<Value> {
        let objects = registration().objects(&[set(ManifestPlugin::ValidatingAdmissionPolicy, text)], &[]);
        objects
            .first()
            .map(|object| object["webhooks"].as_array().unwrap().clone())
            .unwrap_or_default()
    }

    #[test]
    fn each_request_is_sent_once() {
        let text = policy("a", "Fail", "[pods]", "[CREATE]", true)
            + &policy("b", "Ignore", "[pods, services]", "[CREATE, UPDATE]", true)
            + &policy("c", "Fail", "[secrets]", "[CREATE]", false);
        let hooks = hooks(&text);
        let rules: Vec<&Value> = hooks.iter().map(|hook| &hook["rules"]).collect();
        let rule = |operations: Value, resources: Value| json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": operations, "resources": resources, "scope": "*"});
        let ignored = json!([
            rule(json!(["CREATE", "UPDATE"]), json!(["services"])),
            rule(json!(["UPDATE"]), json!(["pods"]))
        ]);
        assert_eq!(
            rules,
            [&json!([rule(json!(["CREATE"]), json!(["pods"]))]), &ignored]
        );
        assert_eq!(hooks[0]["name"], "fail.validating.admission.pratique.svc");
        assert_eq!(hooks[1]["failurePolicy"], "Ignore");
    }

    #[test]
    fn labels_exempt_namespaces() {
        let registration = WebhookRegistration {
            exempt_labels: vec![
                ("runlevel".into(), vec!["0".into(), "1".into()]),
                ("example.com/bootstrap".into(), Vec::new()),
            ],
            ..registration()
        };
        let text = policy("a", "Fail", "[pods]", "[CREATE]", true);
        let objects = registration.objects(&[set(ManifestPlugin::ValidatingAdmissionPolicy, &text)], &[]);
        let expressions = &objects[0]["webhooks"][0]["namespaceSelector"]["matchExpressions"];
        assert_eq!(
            expressions.as_array().unwrap()[1..],
            [
                json!({"key": "runlevel", "operator": "NotIn", "values": ["0", "1"]}),
                json!({"key": "example.com/bootstrap", "operator": "DoesNotExist"}),
            ]
        );
    }

    #[test]
    fn system_namespaces_are_exempt() {
        let found = hooks(&policy("a", "Fail", "[pods]", "[CREATE]", true));
        let expected = json!({
            "name": "fail.validating.admission.pratique.svc", "admissionReviewVersions": ["v1"],
            "clientConfig": {
                "service": {"namespace": "pratique", "name": "admission", "path": "/validate", "port": 443}, "caBundle": "Q0E="
            },
            "failurePolicy": "Fail", "matchPolicy": "Equivalent", "sideEffects": "None", "timeoutSeconds": 5,
            "namespaceSelector": {"matchExpressions": [{
                "key": "kubernetes.io/metadata.name", "operator": "NotIn",
                "values": ["ingress", "kube-node-lease", "kube-public", "kube-system", "pratique"]
            }]},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"], "scope": "*"}]
        });
        assert_eq!(found, [expected]);
        let conditions = |resources| {
            hooks(&policy("a", "Fail", resources, "[CREATE]", true))[0]
                .get("matchConditions")
                .is_some()
        };
        assert!(conditions("[nodes]") && conditions("['*']") && conditions("[nodes/status]"));
        assert!(!conditions("[pods, pods/status, services]"));
    }

    #[test]
    fn resources_are_those_of_the_release() {
        let text = policy("a", "Fail", "[podcertificaterequests]", "[CREATE]", true);
        let text = text.replace(r#"[""]"#, "[certificates.k8s.io]");
        let conditions = |version| {
            let release = Release::by_version(version).unwrap();
            let registration = WebhookRegistration {
                release,
                ..registration()
            };
            let objects = registration.objects(&[set(ManifestPlugin::ValidatingAdmissionPolicy, &text)], &[]);
            objects[0]["webhooks"][0].get("matchConditions").is_some()
        };
        // They are new in 1.37. What a server does not know may have no namespace.
        assert!(conditions("1.36") && !conditions("1.37"));
    }

    fn plugins(names: &[&str]) -> Vec<&'static WebhookPlugin> {
        names
            .iter()
            .map(|name| WebhookPlugin::named(name).unwrap())
            .collect()
    }

    #[test]
    fn plugins_are_asked_about_what_they_look_at() {
        let plugins = plugins(&["AlwaysPullImages", "DenyServiceExternalIPs", "EventRateLimit"]);
        let objects = registration().objects(&[], &plugins);
        let hook = |object: usize, hook: usize| &objects[object]["webhooks"][hook];
        assert_eq!(hook(0, 0)["name"], "fail.mutating.admission.pratique.svc");
        assert_eq!(hook(0, 0)["reinvocationPolicy"], "IfNeeded");
        assert_eq!(hook(0, 0)["rules"][0]["resources"], json!(["pods"]));
        assert_eq!(hook(1, 0)["rules"][0]["resources"], json!(["pods", "services"]));
        let events = hook(1, 1);
        assert_eq!(events["name"], "counted.validating.admission.pratique.svc");
        assert_eq!(events["matchPolicy"], "Exact");
        assert_eq!(events["sideEffects"], "NoneOnDryRun");
        assert_eq!(events["failurePolicy"], "Fail");
        assert_eq!(objects[1]["webhooks"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn events_are_counted_once() {
        let plugins = plugins(&["EventRateLimit"]);
        let hooks = |failure: &str| {
            let text = policy("a", failure, "[events]", "['*']", true);
            let objects =
                registration().objects(&[set(ManifestPlugin::ValidatingAdmissionPolicy, &text)], &plugins);
            let hooks = objects[0]["webhooks"].as_array().unwrap().iter();
            let of = |hook: &Value| {
                let operations = hook["rules"][0]["operations"].to_string();
                (
                    hook["name"]
                        .as_str()
                        .unwrap()
                        .split('.')
                        .next()
                        .unwrap()
                        .to_owned(),
                    operations,
                )
            };
            hooks.map(of).collect::<Vec<_>>()
        };
        let hook = |name: &str, operations: &str| (name.to_owned(), operations.to_owned());
        assert_eq!(hooks("Fail"), [hook("fail", r#"["*"]"#)]);
        assert_eq!(
            hooks("Ignore"),
            [
                hook("ignore", r#"["CONNECT","DELETE"]"#),
                hook("counted", r#"["CREATE","UPDATE"]"#)
            ]
        );
    }

    #[test]
    fn owners_are_asked_about_where_they_change() {
        let names = ["OwnerReferencesPermissionEnforcement", "PodNodeSelector"];
        let objects = registration().objects(&[], &plugins(&names));
        let hooks = objects[1]["webhooks"].as_array().unwrap();
        let owners = hooks.last().unwrap();
        assert_eq!(owners["name"], "owners.validating.admission.pratique.svc");
        let rule = json!({"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"],
            "resources": ["*/*"], "scope": "*"});
        assert_eq!(owners["rules"], json!([rule]));
        let conditions = owners["matchConditions"].as_array().unwrap();
        let names: Vec<_> = conditions
            .iter()
            .map(|condition| condition["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["not-the-system", "owners-change", "not-sent-already"]);
        assert!(
            conditions[2]["expression"]
                .as_str()
                .unwrap()
                .ends_with("in ['/pods//CREATE'])")
        );
        // What is sent in any case has them as well.
        let all = policy("a", "Fail", "['*/*']", "['*']", true);
        let all = all
            .replace("apiGroups: [\"\"]", "apiGroups: ['*']")
            .replace("apiVersions: [v1]", "apiVersions: ['*']");
        let objects = registration().objects(
            &[set(ManifestPlugin::ValidatingAdmissionPolicy, &all)],
            &plugins(&["OwnerReferencesPermissionEnforcement"]),
        );
        assert_eq!(objects[0]["webhooks"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn no_rules_are_no_configurations() {
        assert_eq!(registration().objects(&[], &[]), Vec::<Value>::new());
    }
}
