//! Whether scans can run as they are deployed: shards, what they may read and write.

use serde_json::{Value, json};

use super::objects::{Object, items, of_kind, part, text};
use super::server;
use super::workload::{mounted, permits, restricted};

/// The flag that says which part of the inputs is scanned.
const SHARD: &str = "--shard=";
/// What the index of a shard is taken from.
const INDEX: &str = "$(JOB_COMPLETION_INDEX)";
/// The flag that has reports applied to the cluster.
const APPLY: &str = "--apply";
/// Flags whose values are files, of which a shard has its own.
const OF_A_SHARD: [&str; 3] = ["--report", "--results", "--checkpoint"];

/// What is wrong with Jobs and CronJobs.
pub(super) fn faults(objects: &[Object]) -> Vec<String> {
    let mut faults = Vec::new();
    for (kind, job) in [("Job", "/spec"), ("CronJob", "/spec/jobTemplate/spec")] {
        for object in of_kind(objects, kind) {
            let said = job_faults(object.part(job), objects);
            faults.extend(said.into_iter().map(|fault| format!("{object}: {fault}")));
        }
    }
    faults
}

fn job_faults(job: &Value, objects: &[Object]) -> Vec<String> {
    let pod = part(job, "/template/spec");
    let mut faults = restricted(pod);
    if pod["restartPolicy"] != "Never" {
        faults.push("a Pod that ends is not a new one".to_owned());
    }
    let containers = items(&pod["containers"]);
    if containers.is_empty() {
        faults.push("it has no container".to_owned());
    }
    for container in containers {
        let arguments: Vec<&str> = items(&container["args"])
            .iter()
            .filter_map(Value::as_str)
            .collect();
        if arguments.first() != Some(&"scan") {
            faults.push("it does not scan".to_owned());
        }
        faults.extend(shards(job, &arguments));
        faults.extend(files(pod, container, &arguments));
        faults.extend(permissions(pod, &arguments, objects));
    }
    faults
}

/// Each shard is scanned once, and none waits for a name that another has.
fn shards(job: &Value, arguments: &[&str]) -> Vec<String> {
    let shard = arguments.iter().find_map(|argument| argument.strip_prefix(SHARD));
    let Some(shard) = shard else {
        return match job["completionMode"] == "Indexed" {
            true => vec!["its Pods scan the same".to_owned()],
            false => Vec::new(),
        };
    };
    let mut faults = Vec::new();
    let expected = format!("{INDEX}/{}", job["completions"]);
    if job["completionMode"] != "Indexed" || shard != expected {
        faults.push(format!("shards {shard} are not {expected} of an Indexed Job"));
    }
    if job["parallelism"].as_u64() > job["completions"].as_u64() {
        faults.push("more Pods than shards".to_owned());
    }
    for flag in OF_A_SHARD {
        let mut named = arguments
            .iter()
            .filter_map(|argument| argument.strip_prefix(flag)?.strip_prefix('='));
        faults.extend(
            named
                .find(|path| !path.contains(INDEX))
                .map(|path| format!("{flag}: all shards write to {path}")),
        );
    }
    faults
}

/// What flags name is mounted, and in a place that can be written to where it is written.
fn files(pod: &Value, container: &Value, arguments: &[&str]) -> Vec<String> {
    let mut faults = Vec::new();
    for argument in arguments {
        let Some((flag, path)) = argument.split_once('=').filter(|(_, path)| path.starts_with('/')) else {
            continue;
        };
        let Some((volume, _)) = mounted(pod, container, path) else {
            faults.push(format!("{flag}: {path} is not mounted"));
            continue;
        };
        let mut mounts = items(&container["volumeMounts"]).iter();
        let is_read_only = mounts.any(|mount| mount["name"] == volume["name"] && mount["readOnly"] == true);
        if OF_A_SHARD.contains(&flag) && is_read_only {
            faults.push(format!("{flag}: {path} cannot be written"));
        }
    }
    faults
}

/// Whether a Pod that asks the cluster can say who it is, and may do what it is to do.
fn permissions(pod: &Value, arguments: &[&str], objects: &[Object]) -> Vec<String> {
    let asks = arguments.contains(&server::CLUSTER) || arguments.contains(&APPLY);
    if asks != (pod["automountServiceAccountToken"] == json!(true)) {
        return vec!["whether it has a token is not whether it asks the cluster".to_owned()];
    }
    if !asks {
        return Vec::new();
    }
    let account = text(pod, "/serviceAccountName");
    let is_bound = |binding: &&Object| {
        items(binding.part("/subjects"))
            .iter()
            .any(|subject| subject["name"] == account)
    };
    let roles: Vec<&str> = of_kind(objects, "ClusterRoleBinding")
        .filter(is_bound)
        .map(|binding| binding.text("/roleRef/name"))
        .collect();
    let may = |resource: &str, verb: &str| {
        of_kind(objects, "ClusterRole")
            .any(|role| roles.contains(&role.name()) && permits(role, resource, verb))
    };
    let mut needed = vec![
        ("namespaces", "list"),
        ("customresourcedefinitions", "list"),
        ("subjectaccessreviews", "create"),
    ];
    if arguments.contains(&APPLY) {
        let resources = match arguments.contains(&"--output=openreports") {
            true => ["reports", "clusterreports"],
            false => ["policyreports", "clusterpolicyreports"],
        };
        let verbs = ["list", "create", "patch", "delete"];
        needed.extend(
            resources
                .iter()
                .flat_map(|resource| verbs.map(|verb| (*resource, verb))),
        );
    }
    needed
        .into_iter()
        .filter(|(resource, verb)| !may(resource, verb))
        .map(|(resource, verb)| format!("it may not {verb} {resource}"))
        .collect()
}
