//! The webhook configurations that have an API server ask this one: about what it judges, and nothing else.

mod cells;

use pratique::Configurations;
use pratique_types::admissionregistration::{MatchResources, RuleWithOperations};
use pratique_types::builtin;
use serde_json::{Value, json};

use cells::{Cell, Cells};

/// How an API server reaches this server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reached {
    /// By a service.
    Service {
        /// The service's namespace.
        namespace: String,
        /// The service's name.
        name: String,
        /// The service's port.
        port: u16,
    },
    /// By a URL, to which the paths of this server are added.
    Url(String),
}

/// What webhook configurations are made of, besides what is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// The name of both configurations.
    pub name: String,
    /// How an API server reaches this server.
    pub reached: Reached,
    /// What the server's certificate leads to, as base64 of PEM; empty if something else fills it in.
    pub ca_bundle: String,
    /// Annotations of the configurations, such as the one that has cert-manager fill in the bundle.
    pub annotations: Vec<(String, String)>,
    /// Namespaces that are never asked about, besides those that a cluster needs to start.
    pub exempt: Vec<String>,
    /// Labels that exempt a namespace, as the keys with the values that do; a key without values exempts all namespaces
    /// that have it.
    pub exempt_labels: Vec<(String, Vec<String>)>,
    /// How many seconds an API server waits.
    pub timeout: u32,
}

/// Namespaces of what a cluster needs to start, which may not wait for webhooks that may not have started.
const SYSTEM: [&str; 3] = ["kube-node-lease", "kube-public", "kube-system"];

/// What the control plane and nodes do outside of namespaces may not wait either.
const NOT_THE_SYSTEM: &str = "request.?namespace.orValue('') != '' || \
    !('system:nodes' in request.userInfo.?groups.orValue([]) || \
    request.userInfo.username in ['system:apiserver', 'system:kube-controller-manager', 'system:kube-scheduler'])";

/// What one phase judges.
#[derive(Debug, Default)]
struct Judged {
    /// What must not go on when nobody judges it.
    fail: Cells,
    /// What may.
    ignore: Cells,
    /// Whether any of it is to be asked about again when others changed an object.
    again: bool,
}

impl Registration {
    /// The configurations for what these judge: none, one or two objects.
    ///
    /// A request is asked about once: where a policy that fails and one that ignores want to see it, the first decides
    /// what happens if nobody can be asked. What webhooks cannot tell apart, such as names, is asked about as well.
    #[must_use]
    pub fn objects(&self, all: &[Configurations]) -> Vec<Value> {
        let mutating = self.object("Mutating", "/mutate", mutating(all));
        let validating = self.object("Validating", "/validate", validating(all));
        mutating.into_iter().chain(validating).collect()
    }

    fn object(&self, phase: &str, path: &str, judged: Judged) -> Option<Value> {
        let ignore = judged.ignore.without(&judged.fail);
        let hooks: Vec<Value> = [("Fail", &judged.fail), ("Ignore", &ignore)]
            .into_iter()
            .filter(|(_, cells)| !cells.is_empty())
            .map(|(policy, cells)| self.hook(phase, path, (policy, cells), judged.again))
            .collect();
        let mut metadata = json!({"name": self.name});
        if !self.annotations.is_empty() {
            let annotations = self
                .annotations
                .iter()
                .map(|(name, value)| (name.clone(), value.clone().into()));
            put(&mut metadata, "annotations", Value::Object(annotations.collect()));
        }
        (!hooks.is_empty()).then(|| {
            json!({
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": format!("{phase}WebhookConfiguration"),
                "metadata": metadata,
                "webhooks": hooks,
            })
        })
    }

    fn hook(&self, phase: &str, path: &str, (policy, cells): (&str, &Cells), again: bool) -> Value {
        let name = format!(
            "{}.{}.{}",
            policy.to_lowercase(),
            phase.to_lowercase(),
            self.domain()
        );
        let mut hook = json!({
            "name": name,
            "admissionReviewVersions": ["v1"],
            "clientConfig": self.client(path),
            "failurePolicy": policy,
            "matchPolicy": "Equivalent",
            "sideEffects": "None",
            "timeoutSeconds": self.timeout,
            "namespaceSelector": {"matchExpressions": self.namespaces()},
            "rules": cells.rules(),
        });
        if cells.iter().any(may_be_of_the_cluster) {
            let condition = json!({"name": "not-the-system", "expression": NOT_THE_SYSTEM});
            put(&mut hook, "matchConditions", json!([condition]));
        }
        if phase == "Mutating" {
            put(
                &mut hook,
                "reinvocationPolicy",
                if again { "IfNeeded" } else { "Never" }.into(),
            );
        }
        hook
    }

    fn client(&self, path: &str) -> Value {
        let mut client = match &self.reached {
            Reached::Service {
                namespace,
                name,
                port,
            } => {
                json!({"service": {"namespace": namespace, "name": name, "path": path, "port": port}})
            }
            Reached::Url(url) => json!({"url": format!("{}{path}", url.trim_end_matches('/'))}),
        };
        if !self.ca_bundle.is_empty() {
            put(&mut client, "caBundle", self.ca_bundle.clone().into());
        }
        client
    }

    /// Names of webhooks are names in a domain.
    fn domain(&self) -> String {
        match &self.reached {
            Reached::Service { namespace, name, .. } => format!("{name}.{namespace}.svc"),
            Reached::Url(_) => format!("{}.pratique.local", self.name),
        }
    }

    /// What selects the namespaces that are asked about.
    fn namespaces(&self) -> Vec<Value> {
        let by_name =
            json!({"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": self.exempt()});
        let by_label = self
            .exempt_labels
            .iter()
            .map(|(key, values)| match values.is_empty() {
                true => json!({"key": key, "operator": "DoesNotExist"}),
                false => json!({"key": key, "operator": "NotIn", "values": values}),
            });
        std::iter::once(by_name).chain(by_label).collect()
    }

    /// Namespaces that are never asked about: the server's own among them, which may not wait for itself.
    fn exempt(&self) -> Vec<&str> {
        let own = match &self.reached {
            Reached::Service { namespace, .. } => Some(&**namespace),
            Reached::Url(_) => None,
        };
        let given = self.exempt.iter().map(|name| &**name);
        let mut all: Vec<&str> = SYSTEM.into_iter().chain(own).chain(given).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

impl Judged {
    fn add(&mut self, failure_policy: Option<&String>, cells: impl Iterator<Item = Cell>) {
        match failure_policy.map(String::as_str) {
            Some("Ignore") => self.ignore.extend(cells),
            _ => self.fail.extend(cells),
        }
    }
}

fn put(object: &mut Value, key: &str, value: Value) {
    if let Value::Object(members) = object {
        members.insert(key.to_owned(), value);
    }
}

/// What mutating policies that are bound, and mutating webhooks, see.
fn mutating(all: &[Configurations]) -> Judged {
    let mut judged = Judged::default();
    for set in all {
        let bindings = set.mutating_bindings.iter().filter_map(|own| own.spec.as_ref());
        let bound: Vec<_> = bindings.filter_map(|spec| spec.policy_name.as_deref()).collect();
        for policy in set.mutating_policies.iter().map(|own| &**own) {
            let name = policy.metadata.name.as_deref().unwrap_or_default();
            let Some(spec) = policy.spec.as_ref().filter(|_| bound.contains(&name)) else {
                continue;
            };
            judged.add(
                spec.failure_policy.as_ref(),
                of_policy(spec.match_constraints.as_ref()),
            );
            judged.again |= spec.reinvocation_policy.as_deref() == Some("IfNeeded");
        }
        for hook in set
            .mutating_webhooks
            .iter()
            .flat_map(|own| own.webhooks.iter().flatten())
        {
            judged.add(hook.failure_policy.as_ref(), of_webhook(hook.rules.as_deref()));
            judged.again |= hook.reinvocation_policy.as_deref() == Some("IfNeeded");
        }
    }
    judged
}

/// What validating policies that are bound, and validating webhooks, see.
fn validating(all: &[Configurations]) -> Judged {
    let mut judged = Judged::default();
    for set in all {
        let bindings = set.validating_bindings.iter().map(|own| &own.spec);
        let bound: Vec<_> = bindings.map(|spec| &*spec.policy_name).collect();
        for policy in set.validating_policies.iter().map(|own| &**own) {
            let name = policy.metadata.name.as_deref().unwrap_or_default();
            let Some(spec) = policy.spec.as_ref().filter(|_| bound.contains(&name)) else {
                continue;
            };
            judged.add(
                spec.failure_policy.as_ref(),
                of_policy(spec.match_constraints.as_ref()),
            );
        }
        for hook in set
            .validating_webhooks
            .iter()
            .flat_map(|own| own.webhooks.iter().flatten())
        {
            judged.add(hook.failure_policy.as_ref(), of_webhook(hook.rules.as_deref()));
        }
    }
    judged
}

fn of_policy(constraints: Option<&MatchResources>) -> impl Iterator<Item = Cell> {
    let rules = constraints
        .and_then(|own| own.resource_rules.as_ref())
        .into_iter()
        .flatten();
    rules.flat_map(|rule| {
        let parts = [
            &rule.api_groups,
            &rule.api_versions,
            &rule.operations,
            &rule.resources,
        ];
        cells::of_rule(parts.map(Option::as_deref), rule.scope.as_deref())
    })
}

fn of_webhook(rules: Option<&[RuleWithOperations]>) -> impl Iterator<Item = Cell> {
    rules.unwrap_or_default().iter().flat_map(|rule| {
        let parts = [
            &rule.api_groups,
            &rule.api_versions,
            &rule.operations,
            &rule.resources,
        ];
        cells::of_rule(parts.map(Option::as_deref), rule.scope.as_deref())
    })
}

/// Whether requests that it is about may be outside of namespaces, as far as one can tell.
fn may_be_of_the_cluster(cell: &Cell) -> bool {
    let resource = cell.resource.split('/').next().unwrap_or_default();
    let known = || {
        builtin::resources()
            .iter()
            .filter(|own| own.resource.resource == resource)
    };
    let of_group = || known().filter(|own| cell.group == "*" || own.resource.group == cell.group);
    cell.scope != "Namespaced" && (of_group().next().is_none() || of_group().any(|own| !own.namespaced))
}

#[cfg(test)]
mod tests {
    use pratique_manifest::{ManifestFile, Options, Plugin, load_files};

    use super::*;

    fn set(plugin: Plugin, text: &str) -> Configurations {
        let file = ManifestFile {
            path: "a.yaml".into(),
            content: text.into(),
        };
        load_files(
            &[file],
            plugin,
            &Options::new(pratique::Admission::builder().expressions()),
        )
        .unwrap()
        .into()
    }

    fn registration() -> Registration {
        let service = Reached::Service {
            namespace: "pratique".into(),
            name: "admission".into(),
            port: 443,
        };
        Registration {
            name: "pratique".into(),
            reached: service,
            ca_bundle: "Q0E=".into(),
            annotations: vec![(
                "cert-manager.io/inject-ca-from".into(),
                "pratique/admission".into(),
            )],
            exempt: vec!["ingress".into()],
            exempt_labels: Vec::new(),
            timeout: 5,
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
        let objects = registration().objects(&[set(Plugin::ValidatingAdmissionPolicy, text)]);
        objects
            .first()
            .map(|own| own["webhooks"].as_array().unwrap().clone())
            .unwrap_or_default()
    }

    #[test]
    fn what_is_judged_is_asked_about_once() {
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
        let registration = Registration {
            exempt_labels: vec![
                ("runlevel".into(), vec!["0".into(), "1".into()]),
                ("example.com/bootstrap".into(), Vec::new()),
            ],
            ..registration()
        };
        let text = policy("a", "Fail", "[pods]", "[CREATE]", true);
        let objects = registration.objects(&[set(Plugin::ValidatingAdmissionPolicy, &text)]);
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
    fn a_cluster_can_start() {
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
    fn nothing_is_asked_about_nothing() {
        assert_eq!(registration().objects(&[]), Vec::<Value>::new());
    }
}
