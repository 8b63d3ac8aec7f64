//! Whether the server can run as it is deployed: what is mounted, what it is asked, what it may do.

use serde_json::{Value, json};

use super::objects::{Object, items, named, of_kind, part, selects, text};
use super::references::has_port;
use super::server;

/// What is wrong with deployments.
pub(super) fn faults(objects: &[Object]) -> Vec<String> {
    let mut faults = Vec::new();
    for deployment in of_kind(objects, "Deployment") {
        let labels = deployment.part("/spec/template/metadata/labels");
        let pod = deployment.part("/spec/template/spec");
        let mut said = Vec::new();
        if !selects(deployment.part("/spec/selector/matchLabels"), labels) {
            said.push("its selector does not select its Pods".to_owned());
        }
        for spread in items(&pod["topologySpreadConstraints"]) {
            if !selects(part(spread, "/labelSelector/matchLabels"), labels) {
                said.push("Pods are spread by what they do not have".to_owned());
            }
        }
        said.extend(restricted(pod));
        said.extend(credentials(pod));
        said.extend(volumes(deployment, pod, objects));
        for container in items(&pod["containers"]) {
            said.extend(mounts(pod, container));
            said.extend(files(deployment, pod, container, objects));
            said.extend(probes(deployment, container));
            said.extend(plugins(container, objects));
        }
        faults.extend(said.into_iter().map(|fault| format!("{deployment}: {fault}")));
    }
    faults
}

/// Whether only workloads that ask the cluster have a token.
fn credentials(pod: &Value) -> Option<String> {
    let asks = items(&pod["containers"])
        .iter()
        .flat_map(|container| items(&container["args"]))
        .any(|argument| argument == server::CLUSTER);
    let has = pod["automountServiceAccountToken"] == json!(true);
    match (asks, has) {
        (true, false) => Some(format!("it has {}, but no token", server::CLUSTER)),
        (false, true) => Some(format!("it has a token, but not {}", server::CLUSTER)),
        _ => None,
    }
}

/// Whether plugins can look up what they need.
fn plugins(container: &Value, objects: &[Object]) -> Vec<String> {
    let arguments = items(&container["args"]).iter().filter_map(Value::as_str);
    let named = arguments
        .clone()
        .find_map(|argument| argument.strip_prefix(server::PLUGINS));
    let named: Vec<&str> = named.unwrap_or_default().split(',').collect();
    let mut faults = Vec::new();
    let asks = arguments.clone().any(|argument| argument == server::CLUSTER);
    for plugin in server::LOOKING_UP {
        if named.contains(&plugin) && !asks {
            faults.push(format!(
                "{plugin} looks something up, without {}",
                server::CLUSTER
            ));
        }
    }
    let mut roles = of_kind(objects, "ClusterRole");
    if named.contains(&"PodSecurity") && !roles.any(|role| permits(role, "pods", "list")) {
        faults.push("PodSecurity may not list pods".to_owned());
    }
    faults
}

/// Whether a role has a rule with a resource and a verb.
pub(super) fn permits(role: &Object, resource: &str, verb: &str) -> bool {
    let has = |rule: &Value, list: &str, wanted: &str| items(&rule[list]).iter().any(|item| item == wanted);
    items(role.part("/rules"))
        .iter()
        .any(|rule| has(rule, "resources", resource) && has(rule, "verbs", verb))
}

/// What the strictest of the Pod Security Standards asks for, and a root that cannot be written to.
pub(super) fn restricted(pod: &Value) -> Vec<String> {
    let mut wanted = vec![
        (pod, "/securityContext/runAsNonRoot", json!(true)),
        (
            pod,
            "/securityContext/seccompProfile/type",
            json!("RuntimeDefault"),
        ),
    ];
    for container in items(&pod["containers"]) {
        wanted.push((
            container,
            "/securityContext/allowPrivilegeEscalation",
            json!(false),
        ));
        wanted.push((container, "/securityContext/readOnlyRootFilesystem", json!(true)));
        wanted.push((container, "/securityContext/capabilities/drop", json!(["ALL"])));
    }
    wanted
        .into_iter()
        .filter(|(of, pointer, value)| of.pointer(pointer) != Some(value))
        .map(|(_, pointer, value)| format!("{pointer} is not {value}"))
        .collect()
}

/// ConfigMaps and Secrets with the deployment's name prefix are part of the manifests; others exist already.
fn volumes(deployment: &Object, pod: &Value, objects: &[Object]) -> Vec<String> {
    let is_managed = |name: &str| name.starts_with(deployment.name());
    let mut faults = Vec::new();
    for volume in items(&pod["volumes"]) {
        let map = text(volume, "/configMap/name");
        if is_managed(map) && named(objects, "ConfigMap", deployment.namespace(), map).is_none() {
            faults.push(format!("there is no ConfigMap {map}"));
        }
        let mut mounts = items(&pod["containers"])
            .iter()
            .flat_map(|of| items(&of["volumeMounts"]));
        if !mounts.any(|mount| mount["name"] == volume["name"]) {
            faults.push(format!("no container mounts {}", volume["name"]));
        }
    }
    faults
}

fn mounts(pod: &Value, container: &Value) -> Vec<String> {
    let has = |name: &Value| {
        items(&pod["volumes"])
            .iter()
            .any(|volume| volume["name"] == *name)
    };
    items(&container["volumeMounts"])
        .iter()
        .filter(|mount| !has(&mount["name"]) || mount["readOnly"] != true)
        .map(|mount| format!("{} is no volume to read", mount["name"]))
        .collect()
}

/// Files that flags name are mounted, and are in what is mounted.
fn files(deployment: &Object, pod: &Value, container: &Value, objects: &[Object]) -> Vec<String> {
    let mut faults = Vec::new();
    for argument in items(&container["args"]).iter().filter_map(Value::as_str) {
        let Some((flag, path)) = argument
            .split_once('=')
            .filter(|(flag, _)| server::FILES.contains(flag))
        else {
            continue;
        };
        let Some((volume, file)) = mounted(pod, container, path) else {
            faults.push(format!("{flag}: {path} is not mounted"));
            continue;
        };
        let map = named(
            objects,
            "ConfigMap",
            deployment.namespace(),
            text(volume, "/configMap/name"),
        );
        if map.is_some_and(|map| map.part("/data").get(file).is_none()) {
            faults.push(format!("{flag}: there is no {file} in what is mounted"));
        }
        if volume.get("secret").is_some() && !["tls.crt", "tls.key"].contains(&file) {
            faults.push(format!("{flag}: certificates have no {file}"));
        }
    }
    let directories = of_kind(objects, "ConfigMap").flat_map(super::policies::directories);
    faults.extend(
        directories
            .filter(|path| {
                !items(&container["volumeMounts"])
                    .iter()
                    .any(|mount| mount["mountPath"] == **path)
            })
            .map(|path| format!("manifests of {path} are not mounted")),
    );
    faults
}

/// The volume that a path is in, and the rest of the path.
pub(super) fn mounted<'a>(pod: &'a Value, container: &Value, path: &'a str) -> Option<(&'a Value, &'a str)> {
    items(&container["volumeMounts"]).iter().find_map(|mount| {
        let file = path.strip_prefix(text(mount, "/mountPath"))?.strip_prefix('/')?;
        let volume = items(&pod["volumes"])
            .iter()
            .find(|volume| volume["name"] == mount["name"])?;
        Some((volume, file))
    })
}

fn probes(deployment: &Object, container: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for (probe, path) in [
        ("livenessProbe", server::HEALTH[0]),
        ("readinessProbe", server::HEALTH[1]),
    ] {
        let get = part(container, &format!("/{probe}/httpGet"));
        if get["path"] != path || get["scheme"] != "HTTPS" || !has_port(deployment, &get["port"]) {
            faults.push(format!("{probe} does not ask for https and {path}"));
        }
    }
    faults
}
