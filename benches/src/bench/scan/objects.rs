//! The objects of a cluster, made from a seed: Pods of 3 kB, Deployments, ConfigMaps and RBAC, in real shapes.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use pratique_harness::{RandomDice, ToolError};
use serde_json::{Value, json};

/// The namespaces that objects are in.
const NAMESPACES: usize = 40;

/// A fault of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ObjectFlaw {
    Privileged,
    Latest,
    NoTeam,
    HostNetwork,
}

const FLAWS: [ObjectFlaw; 4] = [
    ObjectFlaw::Privileged,
    ObjectFlaw::Latest,
    ObjectFlaw::NoTeam,
    ObjectFlaw::HostNetwork,
];

/// Writes a number of objects as JSON lines.
pub(super) fn write(path: &Path, seed: u64, count: usize) -> Result<(), ToolError> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path).map_err(failed)?);
    let mut maker = ObjectMaker::new(seed);
    for number in 0..count {
        serde_json::to_writer(&mut out, &maker.object(number)).map_err(|error| failed(error.into()))?;
        out.write_all(b"\n").map_err(failed)?;
    }
    out.flush().map_err(failed)?;
    Ok(())
}

/// The namespaces, as JSON lines.
pub(super) fn namespaces() -> String {
    let namespace = |index: usize| {
        let name = namespace(index);
        let env = if index.is_multiple_of(3) { "prod" } else { "dev" };
        let labels = json!({"kubernetes.io/metadata.name": name, "env": env});
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
    };
    (0..NAMESPACES)
        .map(|index| format!("{}\n", namespace(index)))
        .collect()
}

fn namespace(index: usize) -> String {
    format!("team-{index:02}")
}

/// Makes objects.
struct ObjectMaker {
    dice: RandomDice,
    /// A Pod as a ReplicaSet made it.
    pod: Value,
}

impl ObjectMaker {
    fn new(seed: u64) -> Self {
        ObjectMaker {
            dice: RandomDice::new(seed),
            // The text is a constant of ours, which is JSON.
            pod: serde_json::from_str(pratique_benches::POD).unwrap_or_default(),
        }
    }

    /// An object; of a hundred, 50 are Pods, 20 Deployments, 15 ConfigMaps, and 15 of RBAC.
    fn object(&mut self, number: usize) -> Value {
        match self.dice.below(100) {
            0..50 => self.pod(number),
            50..70 => self.deployment(number),
            70..85 => self.config_map(number),
            85..95 => self.role(number),
            _ => self.role_binding(number),
        }
    }

    /// The fault of every eighth object.
    fn flaw(&mut self) -> Option<ObjectFlaw> {
        match self.dice.below(8) {
            0 => self.dice.pick(&FLAWS).copied(),
            _ => None,
        }
    }

    fn metadata(&mut self, name: String) -> Value {
        let index = self.dice.below(NAMESPACES);
        json!({
            "name": name,
            "namespace": namespace(index),
            "uid": self.uid(),
            "resourceVersion": self.dice.below(1 << 30).to_string(),
            "creationTimestamp": "2026-05-04T08:12:30Z",
            "labels": {"app": format!("app-{}", self.dice.below(500)), "team": format!("team-{index}"), "tier": "backend"},
        })
    }

    fn uid(&mut self) -> String {
        let (high, low) = (self.dice.bits(), self.dice.bits());
        format!(
            "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            (low >> 48) & 0xfff,
            low & 0xffff_ffff_ffff
        )
    }

    /// The Pod of a ReplicaSet, and what is wrong with it.
    fn pod(&mut self, number: usize) -> Value {
        let mut pod = self.pod.clone();
        let app = format!("app-{}", self.dice.below(500));
        let index = self.dice.below(NAMESPACES);
        let replaced = [
            ("/metadata/name", format!("{app}-6f7c9d5b8-{number:07}")),
            ("/metadata/generateName", format!("{app}-6f7c9d5b8-")),
            ("/metadata/namespace", namespace(index)),
            ("/metadata/uid", self.uid()),
            ("/metadata/labels/app", app.clone()),
            ("/metadata/labels/team", format!("team-{index}")),
            ("/metadata/ownerReferences/0/name", format!("{app}-6f7c9d5b8")),
            ("/metadata/ownerReferences/0/uid", self.uid()),
            (
                "/spec/containers/0/image",
                format!("registry.shop.example/{app}:4.{}.2", self.dice.below(30)),
            ),
        ];
        for (pointer, text) in replaced {
            set(&mut pod, pointer, text.into());
        }
        if let Some(flaw) = self.flaw() {
            spoil(&mut pod, "", flaw);
        }
        pod
    }

    fn deployment(&mut self, number: usize) -> Value {
        let name = format!("deployment-{number:07}");
        let labels = json!({"app": name, "team": "storefront", "tier": "frontend"});
        let mut deployment = json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": self.metadata(name.clone()),
            "spec": {
                "replicas": 1 + self.dice.below(9),
                "revisionHistoryLimit": 10,
                "progressDeadlineSeconds": 600,
                "selector": {"matchLabels": {"app": name}},
                "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": self.pod.get("spec").cloned().unwrap_or_default(),
                },
            },
        });
        let image = format!("registry.shop.example/shop:2.{}.0", self.dice.below(30));
        set(
            &mut deployment,
            "/spec/template/spec/containers/0/image",
            image.into(),
        );
        if let Some(flaw) = self.flaw() {
            spoil(&mut deployment, "/spec/template", flaw);
        }
        deployment
    }

    fn config_map(&mut self, number: usize) -> Value {
        let lines = 5 + self.dice.below(40);
        let text: String = (0..lines)
            .map(|line| format!("setting.{line}.value = {}\n", self.dice.below(100_000)))
            .collect();
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": self.metadata(format!("config-{number:07}")),
            "data": {"application.properties": text, "log-level": "info", "region": "eu-central-1"},
        })
    }

    fn role(&mut self, number: usize) -> Value {
        let verbs: &[&str] = if self.dice.chance(10) {
            &["*"]
        } else {
            &["get", "list", "watch"]
        };
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "Role",
            "metadata": self.metadata(format!("role-{number:07}")),
            "rules": [
                {"apiGroups": [""], "resources": ["configmaps", "pods"], "verbs": verbs},
                {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "patch"]},
            ],
        })
    }

    fn role_binding(&mut self, number: usize) -> Value {
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": self.metadata(format!("binding-{number:07}")),
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": format!("role-{number:07}")},
            "subjects": [{"kind": "ServiceAccount", "name": "app", "namespace": namespace(self.dice.below(NAMESPACES))}],
        })
    }
}

/// Spoils an object, whose Pod is at a place of it.
fn spoil(object: &mut Value, pod: &str, flaw: ObjectFlaw) {
    let container = format!("{pod}/spec/containers/0");
    match flaw {
        ObjectFlaw::Privileged => add(
            object,
            &format!("{container}/securityContext"),
            "privileged",
            true.into(),
        ),
        ObjectFlaw::Latest => set(
            object,
            &format!("{container}/image"),
            "docker.io/library/shop:latest".into(),
        ),
        ObjectFlaw::NoTeam => {
            let labels = object.pointer_mut("/metadata/labels");
            if let Some(labels) = labels.and_then(Value::as_object_mut) {
                labels.remove("team");
            }
        }
        ObjectFlaw::HostNetwork => add(object, &format!("{pod}/spec"), "hostNetwork", true.into()),
    }
}

fn set(object: &mut Value, pointer: &str, value: Value) {
    if let Some(place) = object.pointer_mut(pointer) {
        *place = value;
    }
}

fn add(object: &mut Value, pointer: &str, name: &str, value: Value) {
    if let Some(members) = object.pointer_mut(pointer).and_then(Value::as_object_mut) {
        members.insert(name.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn objects_are_of_real_shapes() {
        let mut maker = ObjectMaker::new(1);
        let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for number in 0..2000 {
            let object = maker.object(number);
            let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default();
            let (count, bytes) = counts.entry(kind.to_owned()).or_default();
            *count += 1;
            *bytes += object.to_string().len();
        }
        let (pods, bytes) = counts.get("Pod").copied().unwrap_or_default();
        assert!((900..1100).contains(&pods), "{counts:?}");
        assert!((2900..3400).contains(&(bytes / pods)), "{counts:?}");
        let kinds: Vec<&str> = counts.keys().map(String::as_str).collect();
        assert_eq!(kinds, ["ConfigMap", "Deployment", "Pod", "Role", "RoleBinding"]);
    }

    #[test]
    fn a_seed_gives_the_same_objects() {
        let objects = |seed: u64| {
            let mut maker = ObjectMaker::new(seed);
            (0..50)
                .map(|number| maker.object(number).to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(objects(1), objects(1));
        assert_ne!(objects(1), objects(2));
    }
}
