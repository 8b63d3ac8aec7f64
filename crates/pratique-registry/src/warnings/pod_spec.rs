//! Warnings about pods and their templates.
// Upstream: pkg/api/pod/warnings.go, warningsForPodSpecAndMeta

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::{self, Display, Formatter};

use pratique_gotext::quantity::Quantity;
use pratique_gotext::strconv::quote;
use pratique_json::{Object, Value};

use super::MAX_PAIRS;
use super::addresses::{of_address, of_addresses};
use super::storage::of_claim_amounts;
use super::volume_paths;
use crate::object::{self, Path};

/// Labels of nodes that have others in their place.
// Upstream: pkg/api/node/util.go, deprecatedNodeLabels
const NODE_LABELS: &[(&str, &str)] = &[
    (
        "beta.kubernetes.io/arch",
        "deprecated since v1.14; use \"kubernetes.io/arch\" instead",
    ),
    (
        "beta.kubernetes.io/os",
        "deprecated since v1.14; use \"kubernetes.io/os\" instead",
    ),
    (
        "failure-domain.beta.kubernetes.io/region",
        "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead",
    ),
    (
        "failure-domain.beta.kubernetes.io/zone",
        "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead",
    ),
    (
        "beta.kubernetes.io/instance-type",
        "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead",
    ),
    ("app.kubernetes.io/created-by", "deprecated since v1.9"),
    (
        "scheduler.alpha.kubernetes.io/preferAvoidPods",
        "deprecated since v1.22; use Taints and Tolerations instead",
    ),
    (
        "node-role.kubernetes.io/master",
        "use \"node-role.kubernetes.io/control-plane\" instead",
    ),
];

const ANNOTATIONS: &[(&str, &str)] = &[
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        "non-functional in v1.16+; use the \"priorityClassName\" field instead",
    ),
    (
        "security.alpha.kubernetes.io/sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
    (
        "security.alpha.kubernetes.io/unsafe-sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
];

const VOLUMES: &[(&str, &str)] = &[
    (
        "photonPersistentDisk",
        "deprecated in v1.11, non-functional in v1.16+",
    ),
    (
        "gitRepo",
        "deprecated in v1.11, and disabled by default in v1.33+",
    ),
    ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
];

pub(super) fn of_label(label: &str) -> Option<&'static str> {
    let found = NODE_LABELS.iter().find(|(name, _)| *name == label);
    found.map(|(_, message)| *message)
}

/// The warnings about the labels that the expressions of a selector of nodes name.
// Upstream: pkg/api/node/util.go, GetWarningsForNodeSelectorTerm
pub(super) fn of_expressions(selector: &Value<'_>, path: &str) -> Vec<String> {
    let expressions = object::list(selector, &["matchExpressions"]).iter().enumerate();
    let warnings = expressions.filter_map(|(at, expression)| {
        let key = object::text(expression, &["key"]);
        let message = of_label(key)?;
        Some(format!("{path}.matchExpressions[{at}].key: {key} is {message}"))
    });
    warnings.collect()
}

/// The warning about a source of volumes at a path.
pub(super) fn of_volume_source(path: &str, source: &str) -> Option<String> {
    let (_, message) = VOLUMES.iter().find(|(name, _)| *name == source)?;
    // Messages have the name that the server has for it.
    let shown = if source == "storageos" {
        "storageOS"
    } else {
        source
    };
    Some(format!("{path}.{shown}: {message}"))
}

/// The warnings of a pod, or of a template at `at`.
pub(super) struct PodWarnings<'v> {
    /// The path of the pod as messages show it, with a dot in the end; empty of a pod itself.
    at: String,
    pod: &'v Value<'v>,
    spec: &'v Value<'v>,
    warnings: Vec<String>,
}

/// The warnings of a pod, or of a template at a path.
pub(super) fn warn_of_pod(object: &Value<'_>, path: Path<'_>) -> Vec<String> {
    let Some(pod) = object.at(path) else {
        return Vec::new();
    };
    let at = path.iter().map(|name| format!("{name}.")).collect();
    let spec = pod.get("spec").unwrap_or(&Value::Null);
    let mut warnings = PodWarnings {
        at,
        pod,
        spec,
        warnings: Vec::new(),
    };
    warnings.node_labels();
    warnings.topology();
    warnings.annotations();
    warnings.volumes();
    let volumes = object::list(spec, &["volumes"]);
    warnings.warnings.extend(volume_paths::of_volumes(volumes));
    warnings.duplicates();
    warnings.amounts(&["overhead"], &"spec.overhead", spec);
    warnings.seccomp();
    for (path, container) in containers(spec) {
        warnings.container(path, container);
    }
    warnings.ports();
    if object::number(spec, &["terminationGracePeriodSeconds"]) < 0 {
        warnings.add(
            "spec.terminationGracePeriodSeconds",
            "must be >= 0; negative values are invalid and will be treated as 1",
        );
    }
    warnings.affinity();
    warnings.addresses();
    warnings.warnings
}

/// The path of a container: `spec.containers[0]`. It becomes text only in a warning.
#[derive(Clone, Copy)]
struct ContainerPath {
    list: &'static str,
    at: usize,
}

impl Display for ContainerPath {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "spec.{}[{}]", self.list, self.at)
    }
}

/// Containers in the order in which they are visited, with their paths.
fn containers<'v>(spec: &'v Value<'v>) -> impl Iterator<Item = (ContainerPath, &'v Value<'v>)> {
    let lists = ["initContainers", "containers", "ephemeralContainers"];
    lists.into_iter().flat_map(move |list| {
        let all = object::list(spec, &[list]).iter().enumerate();
        all.map(move |(at, container)| (ContainerPath { list, at }, container))
    })
}

impl PodWarnings<'_> {
    fn add(&mut self, path: &str, message: &str) {
        self.warnings.push(format!("{}{path}: {message}", self.at));
    }

    fn node_labels(&mut self) {
        let selector = self.spec.get("nodeSelector").and_then(Value::as_object);
        for (name, _) in selector.into_iter().flat_map(Object::iter) {
            if let Some(message) = of_label(name) {
                self.add(&format!("spec.nodeSelector[{name}]"), message);
            }
        }
        let affinity = "spec.affinity.nodeAffinity";
        let required = "requiredDuringSchedulingIgnoredDuringExecution";
        let path: Path<'_> = &["affinity", "nodeAffinity", required, "nodeSelectorTerms"];
        for (at, term) in object::list(self.spec, path).iter().enumerate() {
            self.node_term(term, &format!("{affinity}.{required}.nodeSelectorTerms[{at}]"));
        }
        let preferred = "preferredDuringSchedulingIgnoredDuringExecution";
        let path: Path<'_> = &["affinity", "nodeAffinity", preferred];
        for (at, term) in object::list(self.spec, path).iter().enumerate() {
            if let Some(term) = term.get("preference") {
                self.node_term(term, &format!("{affinity}.{preferred}[{at}].preference"));
            }
        }
    }

    fn node_term(&mut self, term: &Value<'_>, path: &str) {
        let path = format!("{}{path}", self.at);
        self.warnings.extend(of_expressions(term, &path));
    }

    fn topology(&mut self) {
        for (at, constraint) in object::list(self.spec, &["topologySpreadConstraints"])
            .iter()
            .enumerate()
        {
            let path = format!("spec.topologySpreadConstraints[{at}]");
            let key = object::text(constraint, &["topologyKey"]);
            if let Some(message) = of_label(key) {
                self.add(&format!("{path}.topologyKey"), &format!("{key} is {message}"));
            }
            self.null_selector(constraint, &path);
        }
    }

    fn null_selector(&mut self, of: &Value<'_>, path: &str) {
        if !object::has(of, &["labelSelector"]) {
            self.add(
                &format!("{path}.labelSelector"),
                "a null labelSelector results in matching no pod",
            );
        }
    }

    fn annotation(&self, name: &str) -> Option<&str> {
        self.pod.at(&["metadata", "annotations", name])?.as_str()
    }

    fn annotations(&mut self) {
        for (name, message) in ANNOTATIONS {
            if self.annotation(name).is_some() {
                self.add(&format!("metadata.annotations[{name}]"), message);
            }
        }
    }

    fn volumes(&mut self) {
        for (at, volume) in object::list(self.spec, &["volumes"]).iter().enumerate() {
            let path = format!("{}spec.volumes[{at}]", self.at);
            let sources = VOLUMES.iter().map(|(source, _)| *source);
            let sources = sources.filter(|source| object::has(volume, &[source]));
            self.warnings
                .extend(sources.filter_map(|source| of_volume_source(&path, source)));
            if let Some(claim) = volume.at(&["ephemeral", "volumeClaimTemplate"]) {
                let shown = format!("{path}.ephemeral.volumeClaimTemplate.spec");
                self.warnings.extend(of_claim_amounts(claim, &shown));
            }
        }
    }

    fn duplicates(&mut self) {
        for (list, field) in [("hostAliases", "ip"), ("imagePullSecrets", "name")] {
            let mut names = HashSet::new();
            for (at, item) in object::list(self.spec, &[list]).iter().enumerate() {
                let name = object::text(item, &[field]);
                if !names.insert(name) {
                    let path = format!("spec.{list}[{at}].{field}");
                    self.add(&path, &format!("duplicate {field} {}", quote(name)));
                }
            }
        }
        for (at, item) in object::list(self.spec, &["imagePullSecrets"]).iter().enumerate() {
            if object::text(item, &["name"]).is_empty() {
                self.add(
                    &format!("spec.imagePullSecrets[{at}].name"),
                    "invalid empty name \"\"",
                );
            }
        }
    }

    /// Amounts of bytes that are not whole.
    fn amounts(&mut self, path: Path<'_>, shown: &dyn Display, of: &Value<'_>) {
        for resource in ["memory", "ephemeral-storage"] {
            let Some(text) = of
                .at(path)
                .and_then(|amounts| amounts.get(resource))
                .and_then(Value::as_str)
            else {
                continue;
            };
            if is_fractional_text(text) {
                let message = format!(
                    "fractional byte value {} is invalid, must be an integer",
                    quote(text)
                );
                self.add(&format!("{shown}[{resource}]"), &message);
            }
        }
    }

    fn seccomp(&mut self) {
        const ANNOTATION: &str = "seccomp.security.alpha.kubernetes.io/pod";
        let has = object::has(self.spec, &["securityContext", "seccompProfile"]);
        if !has && self.annotation(ANNOTATION).is_some() {
            self.add(&format!("metadata.annotations[{ANNOTATION}]"), SECCOMP);
        }
    }

    fn container(&mut self, path: ContainerPath, container: &Value<'_>) {
        if object::has(self.pod, &["metadata", "annotations"]) {
            self.profiles(container);
        }
        for kind in ["limits", "requests"] {
            self.amounts(
                &["resources", kind],
                &format_args!("{path}.resources.{kind}"),
                container,
            );
        }
        self.hidden_variables(path, container);
    }

    /// Annotations about profiles of a container.
    fn profiles(&mut self, container: &Value<'_>) {
        let name = object::text(container, &["name"]);
        let seccomp = format!("container.seccomp.security.alpha.kubernetes.io/{name}");
        if !object::has(container, &["securityContext", "seccompProfile"])
            && self.annotation(&seccomp).is_some()
        {
            self.add(&format!("metadata.annotations[{seccomp}]"), SECCOMP);
        }
        let app_armor = format!("{}{name}", crate::strategies::APP_ARMOR);
        if !self.at.is_empty() && !object::has(container, &["securityContext", "appArmorProfile"]) {
            let of_pod = self.spec.at(&["securityContext", "appArmorProfile"]);
            let is_deprecated = self.annotation(&app_armor).is_some_and(|annotation| {
                let named = crate::strategies::app_armor_profile(annotation);
                of_pod.is_none() || named.as_ref() != of_pod
            });
            if is_deprecated {
                self.add(
                    &format!("metadata.annotations[{app_armor}]"),
                    "deprecated since v1.30; use the \"appArmorProfile\" field instead",
                );
            }
        }
    }

    fn hidden_variables(&mut self, path: ContainerPath, container: &Value<'_>) {
        let mut names = BTreeSet::new();
        for (at, variable) in object::list(container, &["env"]).iter().enumerate() {
            let name = object::text(variable, &["name"]);
            if names.insert(name) {
                continue;
            }
            let reference = format!("$({name})");
            let value = object::text(variable, &["value"]);
            if object::has(variable, &["valueFrom"]) || value == reference || !value.contains(&reference) {
                let message = format!(
                    "hides previous definition of {}, which may be dropped when using apply",
                    quote(name)
                );
                self.add(&format!("{path}.env[{at}]"), &message);
            }
        }
    }

    fn ports(&mut self) {
        // By port and protocol: the path, the address and the port of the host.
        type PortBlocks = Vec<(String, String, i64)>;
        let mut by_number: HashMap<(i64, String), PortBlocks> = HashMap::new();
        let mut named: HashMap<String, String> = HashMap::new();
        let mut names = Vec::new();
        for (path, container) in containers(self.spec) {
            for (at, port) in object::list(container, &["ports"]).iter().enumerate() {
                let shown = format!("{path}.ports[{at}]");
                let text = |name: &str| object::text(port, &[name]).to_owned();
                let (host, number) = (text("hostIP"), object::number(port, &["hostPort"]));
                if !host.is_empty() && number == 0 {
                    let message = format!("hostIP set without hostPort: {}", go_port(port));
                    self.add(&shown, &message);
                }
                let key = (object::number(port, &["containerPort"]), text("protocol"));
                let others = by_number.entry(key).or_default();
                for (other, other_host, other_number) in others.iter() {
                    if self.warnings.len() >= MAX_PAIRS {
                        break;
                    }
                    let relation = if host == *other_host && number == *other_number {
                        "duplicate"
                    } else if number == 0 || *other_number == 0 {
                        "overlapping"
                    } else if number == *other_number && host.is_empty() != other_host.is_empty() {
                        "dangerously ambiguous"
                    } else {
                        continue;
                    };
                    let warning = format!(
                        "{}{shown}: {relation} port definition with {}{other}",
                        self.at, self.at
                    );
                    self.warnings.push(warning);
                }
                others.push((shown.clone(), host, number));
                names.push((text("name"), shown));
            }
        }
        for (name, shown) in names.into_iter().filter(|(name, _)| !name.is_empty()) {
            let Some(other) = named.get(&name) else {
                named.insert(name, shown);
                continue;
            };
            let other = format!("{}{other}", self.at);
            let message = format!(
                "duplicate port name {} with {other}, services and probes that select ports by name will use {other}",
                quote(&name)
            );
            self.add(&shown, &message);
        }
    }

    fn affinity(&mut self) {
        for affinity in ["podAffinity", "podAntiAffinity"] {
            let required = "requiredDuringSchedulingIgnoredDuringExecution";
            for (at, term) in object::list(self.spec, &["affinity", affinity, required])
                .iter()
                .enumerate()
            {
                self.null_selector(term, &format!("spec.affinity.{affinity}.{required}[{at}]"));
            }
            let preferred = "preferredDuringSchedulingIgnoredDuringExecution";
            for (at, term) in object::list(self.spec, &["affinity", affinity, preferred])
                .iter()
                .enumerate()
            {
                if let Some(term) = term.get("podAffinityTerm") {
                    self.null_selector(
                        term,
                        &format!("spec.affinity.{affinity}.{preferred}[{at}].podAffinityTerm"),
                    );
                }
            }
        }
    }

    fn addresses(&mut self) {
        let path = format!("{}spec.dnsConfig.nameservers", self.at);
        self.warnings
            .extend(of_addresses(&path, self.spec, &["dnsConfig", "nameservers"]));
        for (at, alias) in object::list(self.spec, &["hostAliases"]).iter().enumerate() {
            let path = format!("{}spec.hostAliases[{at}].ip", self.at);
            self.warnings
                .extend(of_address(&path, object::text(alias, &["ip"])));
        }
    }
}

/// A port as Go writes the structure.
fn go_port(port: &Value<'_>) -> String {
    format!(
        "{{Name:{} HostPort:{} ContainerPort:{} Protocol:{} HostIP:{}}}",
        object::text(port, &["name"]),
        object::number(port, &["hostPort"]),
        object::number(port, &["containerPort"]),
        object::text(port, &["protocol"]),
        object::text(port, &["hostIP"]),
    )
}

const SECCOMP: &str = "non-functional in v1.27+; use the \"seccompProfile\" field instead";

/// Whether an amount of bytes is not whole.
pub(super) fn is_fractional_text(text: &str) -> bool {
    Quantity::parse(text).is_ok_and(|amount| is_fractional(&amount))
}

/// Whether an amount has thousandths.
fn is_fractional(amount: &Quantity) -> bool {
    let Some(whole) = amount.as_integer() else {
        return amount.as_approximate_float().fract() != 0.0;
    };
    Quantity::from_integer(whole).partial_cmp(amount) != Some(Ordering::Equal)
}
