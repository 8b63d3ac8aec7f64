//! Warnings about pods and their templates.
// Upstream: pkg/api/pod/warnings.go, warningsForPodSpecAndMeta

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::{self, Display, Formatter};

use pratique_gotext::quantity::Quantity;
use pratique_gotext::strconv::quote;
use pratique_json::{Object, Value, same};
use pratique_validation::profile_annotations::{APP_ARMOR_CONTAINER, SECCOMP_CONTAINER, SECCOMP_POD};

use super::MAX_PAIRS;
use super::addresses::{of_address, of_addresses};
use super::storage::of_claim_amounts;
use super::volume_paths;
use crate::object::{self, FieldPath};
use crate::strategies::app_armor_profile;

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
    let row = NODE_LABELS.iter().find(|(name, _)| *name == label);
    row.map(|(_, message)| *message)
}

/// The warnings about the labels that the expressions of a selector of nodes name.
// Upstream: pkg/api/node/util.go, GetWarningsForNodeSelectorTerm
pub(super) fn of_expressions(selector: &Value<'_>, path: impl Display) -> Vec<String> {
    let expressions = object::list(selector, &["matchExpressions"]).iter().enumerate();
    let warnings = expressions.filter_map(|(at, expression)| {
        let key = object::text(expression, &["key"]);
        let message = of_label(key)?;
        Some(format!("{path}.matchExpressions[{at}].key: {key} is {message}"))
    });
    warnings.collect()
}

fn has_old_source(volume: &Value<'_>) -> bool {
    let members = volume.as_object().into_iter().flat_map(Object::iter);
    let mut names = members.map(|(name, _)| name);
    names.any(|name| VOLUMES.iter().any(|(source, _)| same(source, name)))
}

/// How many values are compared with each other before they are hashed.
const FEW: usize = 16;

/// Whether a value may be there twice. Of few values it is known, without a table of them; of many it may be.
// Rows `validate-all` and `chain-*` of `benches/`: tables of ports and variables were a quarter of a Pod's warnings.
fn may_repeat<T: PartialEq + Copy + Default>(values: impl ExactSizeIterator<Item = T>) -> bool {
    let mut seen = [T::default(); FEW];
    if values.len() > FEW {
        return true;
    }
    for (at, value) in values.enumerate() {
        if seen.iter().take(at).any(|earlier| *earlier == value) {
            return true;
        }
        if let Some(place) = seen.get_mut(at) {
            *place = value;
        }
    }
    false
}

/// The warning about a source of volumes at a path.
pub(super) fn of_volume_source(path: impl Display, source: &str) -> Option<String> {
    let (_, message) = VOLUMES.iter().find(|(name, _)| *name == source)?;
    // Messages have the name that the server has for it.
    let printed_name = if source == "storageos" {
        "storageOS"
    } else {
        source
    };
    Some(format!("{path}.{printed_name}: {message}"))
}

/// The warnings of a pod, or of a template at `at`.
pub(super) struct PodWarnings<'v> {
    /// The path of the pod as messages show it, with a dot in the end; empty of a pod itself.
    at: String,
    annotations: Option<&'v Object<'v>>,
    spec: &'v Value<'v>,
    affinity: &'v Value<'v>,
    /// Whether there are annotations about profiles of containers.
    has_profiles: bool,
    warnings: Vec<String>,
}

/// The warnings of a pod, or of a template at a path.
pub(super) fn warn_of_pod(object: &Value<'_>, path: FieldPath<'_>) -> Vec<String> {
    let Some(pod) = object.at(path) else {
        return Vec::new();
    };
    let at = path.iter().map(|name| format!("{name}.")).collect();
    let spec = pod.get("spec").unwrap_or(&Value::Null);
    let annotations = pod.at(&["metadata", "annotations"]).and_then(Value::as_object);
    let mut warnings = PodWarnings {
        at,
        annotations,
        spec,
        affinity: spec.get("affinity").unwrap_or(&Value::Null),
        has_profiles: annotations
            .into_iter()
            .flat_map(Object::iter)
            .any(|(name, _)| name.starts_with(SECCOMP_CONTAINER) || name.starts_with(APP_ARMOR_CONTAINER)),
        warnings: Vec::new(),
    };
    warnings.node_labels();
    warnings.topology();
    warnings.annotations();
    let volumes = object::list(spec, &["volumes"]);
    warnings.volumes(volumes);
    warnings.warnings.extend(volume_paths::of_volumes(volumes));
    warnings.duplicates();
    warnings.amounts(spec.get("overhead"), "spec.overhead");
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
    /// Paths and messages become text only in a warning.
    fn add(&mut self, path: impl Display, message: impl Display) {
        self.warnings.push(format!("{}{path}: {message}", self.at));
    }

    fn node_labels(&mut self) {
        let selector = self.spec.get("nodeSelector").and_then(Value::as_object);
        for (name, _) in selector.into_iter().flat_map(Object::iter) {
            if let Some(message) = of_label(name) {
                self.add(format_args!("spec.nodeSelector[{name}]"), message);
            }
        }
        let affinity = "spec.affinity.nodeAffinity";
        let required = "requiredDuringSchedulingIgnoredDuringExecution";
        let path: FieldPath<'_> = &["nodeAffinity", required, "nodeSelectorTerms"];
        for (at, term) in object::list(self.affinity, path).iter().enumerate() {
            self.node_term(
                term,
                format_args!("{affinity}.{required}.nodeSelectorTerms[{at}]"),
            );
        }
        let preferred = "preferredDuringSchedulingIgnoredDuringExecution";
        let path: FieldPath<'_> = &["nodeAffinity", preferred];
        for (at, term) in object::list(self.affinity, path).iter().enumerate() {
            if let Some(term) = term.get("preference") {
                self.node_term(term, format_args!("{affinity}.{preferred}[{at}].preference"));
            }
        }
    }

    fn node_term(&mut self, term: &Value<'_>, path: impl Display) {
        self.warnings
            .extend(of_expressions(term, format_args!("{}{path}", self.at)));
    }

    fn topology(&mut self) {
        for (at, constraint) in object::list(self.spec, &["topologySpreadConstraints"])
            .iter()
            .enumerate()
        {
            let path = format_args!("spec.topologySpreadConstraints[{at}]");
            let key = object::text(constraint, &["topologyKey"]);
            if let Some(message) = of_label(key) {
                self.add(
                    format_args!("{path}.topologyKey"),
                    format_args!("{key} is {message}"),
                );
            }
            self.null_selector(constraint, path);
        }
    }

    fn null_selector(&mut self, of: &Value<'_>, path: impl Display) {
        if !object::has(of, &["labelSelector"]) {
            self.add(
                format_args!("{path}.labelSelector"),
                "a null labelSelector results in matching no pod",
            );
        }
    }

    fn annotation(&self, name: &str) -> Option<&str> {
        self.annotations?.get(name)?.as_str()
    }

    fn annotations(&mut self) {
        for (name, message) in ANNOTATIONS {
            if self.annotation(name).is_some() {
                self.add(format_args!("metadata.annotations[{name}]"), message);
            }
        }
    }

    fn volumes(&mut self, volumes: &[Value<'_>]) {
        for (at, volume) in volumes.iter().enumerate() {
            let path = format_args!("{}spec.volumes[{at}]", self.at);
            // A volume has few members, and seldom one of these.
            if has_old_source(volume) {
                let sources = VOLUMES.iter().map(|(source, _)| *source);
                let sources = sources.filter(|source| object::has(volume, &[source]));
                self.warnings
                    .extend(sources.filter_map(|source| of_volume_source(path, source)));
            }
            if let Some(claim) = volume.at(&["ephemeral", "volumeClaimTemplate"]) {
                let path = format_args!("{path}.ephemeral.volumeClaimTemplate.spec");
                self.warnings.extend(of_claim_amounts(claim, path));
            }
        }
    }

    fn duplicates(&mut self) {
        for (list, field) in [("hostAliases", "ip"), ("imagePullSecrets", "name")] {
            let mut names = HashSet::new();
            for (at, item) in object::list(self.spec, &[list]).iter().enumerate() {
                let name = object::text(item, &[field]);
                if !names.insert(name) {
                    let path = format_args!("spec.{list}[{at}].{field}");
                    self.add(path, format_args!("duplicate {field} {}", quote(name)));
                }
            }
        }
        for (at, item) in object::list(self.spec, &["imagePullSecrets"]).iter().enumerate() {
            if object::text(item, &["name"]).is_empty() {
                self.add(
                    format_args!("spec.imagePullSecrets[{at}].name"),
                    "invalid empty name \"\"",
                );
            }
        }
    }

    /// Amounts of bytes that are not whole.
    fn amounts(&mut self, amounts: Option<&Value<'_>>, printed_path: impl Display) {
        for resource in ["memory", "ephemeral-storage"] {
            let amount = amounts.and_then(|amounts| amounts.get(resource));
            let Some(text) = amount.and_then(Value::as_str) else {
                continue;
            };
            if is_fractional_text(text) {
                self.add(
                    format_args!("{printed_path}[{resource}]"),
                    format_args!(
                        "fractional byte value {} is invalid, must be an integer",
                        quote(text)
                    ),
                );
            }
        }
    }

    fn seccomp(&mut self) {
        let has = object::has(self.spec, &["securityContext", "seccompProfile"]);
        if !has && self.annotation(SECCOMP_POD).is_some() {
            self.add(format_args!("metadata.annotations[{SECCOMP_POD}]"), SECCOMP);
        }
    }

    fn container(&mut self, path: ContainerPath, container: &Value<'_>) {
        if self.has_profiles {
            self.profiles(container);
        }
        if let Some(resources) = container.get("resources") {
            for kind in ["limits", "requests"] {
                self.amounts(resources.get(kind), format_args!("{path}.resources.{kind}"));
            }
        }
        self.hidden_variables(path, object::list(container, &["env"]));
    }

    /// Annotations about profiles of a container.
    fn profiles(&mut self, container: &Value<'_>) {
        let name = object::text(container, &["name"]);
        let seccomp = format!("{SECCOMP_CONTAINER}{name}");
        if !object::has(container, &["securityContext", "seccompProfile"])
            && self.annotation(&seccomp).is_some()
        {
            self.add(format_args!("metadata.annotations[{seccomp}]"), SECCOMP);
        }
        let app_armor = format!("{APP_ARMOR_CONTAINER}{name}");
        if !self.at.is_empty() && !object::has(container, &["securityContext", "appArmorProfile"]) {
            let of_pod = self.spec.at(&["securityContext", "appArmorProfile"]);
            let is_deprecated = self.annotation(&app_armor).is_some_and(|annotation| {
                let named = app_armor_profile(annotation);
                of_pod.is_none() || named.as_ref() != of_pod
            });
            if is_deprecated {
                self.add(
                    format_args!("metadata.annotations[{app_armor}]"),
                    "deprecated since v1.30; use the \"appArmorProfile\" field instead",
                );
            }
        }
    }

    fn hidden_variables(&mut self, path: ContainerPath, variables: &[Value<'_>]) {
        if !may_repeat(variables.iter().map(|variable| object::text(variable, &["name"]))) {
            return;
        }
        let mut names = BTreeSet::new();
        for (at, variable) in variables.iter().enumerate() {
            let name = object::text(variable, &["name"]);
            if names.insert(name) {
                continue;
            }
            let reference = format!("$({name})");
            let value = object::text(variable, &["value"]);
            if object::has(variable, &["valueFrom"]) || value == reference || !value.contains(&reference) {
                let name = quote(name);
                self.add(
                    format_args!("{path}.env[{at}]"),
                    format_args!(
                        "hides previous definition of {name}, which may be dropped when using apply"
                    ),
                );
            }
        }
    }

    fn ports(&mut self) {
        let mut ports: Vec<PortBlock<'_>> = Vec::new();
        for (container, value) in containers(self.spec) {
            let list = object::list(value, &["ports"]).iter().enumerate();
            ports.extend(list.map(|(at, value)| PortBlock { container, at, value }));
        }
        let has_twins = may_repeat(ports.iter().map(PortBlock::number));
        // Those of a number and protocol.
        let mut by_number: HashMap<(i64, &str), Vec<PortBlock<'_>>> = HashMap::new();
        for port in &ports {
            if !port.host().is_empty() && port.host_number() == 0 {
                self.add(
                    port,
                    format_args!("hostIP set without hostPort: {}", go_port(port.value)),
                );
            }
            if !has_twins {
                continue;
            }
            let key = (port.number(), object::text(port.value, &["protocol"]));
            let others = by_number.entry(key).or_default();
            for other in others.iter() {
                if self.warnings.len() >= MAX_PAIRS {
                    break;
                }
                if let Some(relation) = port.relation(other) {
                    let pod = &self.at;
                    self.warnings.push(format!(
                        "{pod}{port}: {relation} port definition with {pod}{other}"
                    ));
                }
            }
            others.push(*port);
        }
        if !may_repeat(ports.iter().map(|port| object::text(port.value, &["name"]))) {
            return;
        }
        let mut named: HashMap<&str, PortBlock<'_>> = HashMap::new();
        for port in ports {
            let name = object::text(port.value, &["name"]);
            if name.is_empty() {
                continue;
            }
            let Some(other) = named.get(name) else {
                named.insert(name, port);
                continue;
            };
            let (name, other) = (quote(name), format!("{}{other}", self.at));
            self.add(
                port,
                format_args!(
                    "duplicate port name {name} with {other}, services and probes that select ports by name will use {other}"
                ),
            );
        }
    }

    fn affinity(&mut self) {
        for affinity in ["podAffinity", "podAntiAffinity"] {
            let required = "requiredDuringSchedulingIgnoredDuringExecution";
            for (at, term) in object::list(self.affinity, &[affinity, required])
                .iter()
                .enumerate()
            {
                self.null_selector(term, format_args!("spec.affinity.{affinity}.{required}[{at}]"));
            }
            let preferred = "preferredDuringSchedulingIgnoredDuringExecution";
            for (at, term) in object::list(self.affinity, &[affinity, preferred])
                .iter()
                .enumerate()
            {
                if let Some(term) = term.get("podAffinityTerm") {
                    self.null_selector(
                        term,
                        format_args!("spec.affinity.{affinity}.{preferred}[{at}].podAffinityTerm"),
                    );
                }
            }
        }
    }

    fn addresses(&mut self) {
        let path = format_args!("{}spec.dnsConfig.nameservers", self.at);
        self.warnings
            .extend(of_addresses(path, self.spec, &["dnsConfig", "nameservers"]));
        for (at, alias) in object::list(self.spec, &["hostAliases"]).iter().enumerate() {
            let path = format_args!("{}spec.hostAliases[{at}].ip", self.at);
            self.warnings
                .extend(of_address(path, object::text(alias, &["ip"])));
        }
    }
}

/// A port of a container. It is written as its path.
#[derive(Clone, Copy)]
struct PortBlock<'v> {
    container: ContainerPath,
    at: usize,
    value: &'v Value<'v>,
}

impl<'v> PortBlock<'v> {
    /// The port of the container.
    fn number(&self) -> i64 {
        object::number(self.value, &["containerPort"])
    }

    /// The address of the host.
    fn host(&self) -> &'v str {
        object::text(self.value, &["hostIP"])
    }

    /// The port of the host.
    fn host_number(&self) -> i64 {
        object::number(self.value, &["hostPort"])
    }

    /// What is wrong with another one of the same number and protocol.
    fn relation(&self, other: &PortBlock<'_>) -> Option<&'static str> {
        let (host, number) = (self.host(), self.host_number());
        let (other_host, other_number) = (other.host(), other.host_number());
        if host == other_host && number == other_number {
            Some("duplicate")
        } else if number == 0 || other_number == 0 {
            Some("overlapping")
        } else if number == other_number && host.is_empty() != other_host.is_empty() {
            Some("dangerously ambiguous")
        } else {
            None
        }
    }
}

impl Display for PortBlock<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}.ports[{}]", self.container, self.at)
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

/// Begins the annotations about the seccomp profile of a container.
const SECCOMP: &str = "non-functional in v1.27+; use the \"seccompProfile\" field instead";

/// Whether an amount of bytes is not whole.
pub(super) fn is_fractional_text(text: &str) -> bool {
    // Nearly all are whole, as the lack of these says: only they make a number finer than it is written.
    let may_be = text
        .bytes()
        .any(|byte| matches!(byte, b'.' | b'm' | b'u' | b'n' | b'e' | b'E'));
    may_be && Quantity::parse(text).is_ok_and(|amount| is_fractional(&amount))
}

/// Whether an amount has thousandths.
fn is_fractional(amount: &Quantity) -> bool {
    let Some(whole) = amount.as_integer() else {
        return amount.as_approximate_float().fract() != 0.0;
    };
    Quantity::from_integer(whole).partial_cmp(amount) != Some(Ordering::Equal)
}
