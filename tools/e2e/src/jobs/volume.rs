//! The Indexed Jobs: that of Kustomize with a volume, and that of the chart with a store.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use pratique_deploy::{part, text_at};
use pratique_harness::{TestCertificates, ToolError, eventually, workspace};
use serde_json::{Value, json};

use super::{JobCluster, NEVER};
use crate::deployment;
use crate::programs::succeeds;
use crate::versitygw::S3Gateway;

const POLICIES: &str = include_str!("../store.yaml");
const OBJECTS: usize = 40_000;
/// The namespace and the name of the Job of Kustomize, and of the chart's.
const KUSTOMIZED: [&str; 2] = ["pratique-system", "pratique-scan"];
const RELEASED: [&str; 2] = [pratique_deploy::RELEASED_INTO, "gate-scan-1"];

impl JobCluster {
    /// The Job that scans a volume, with a checkpoint after each part of it.
    fn kustomized(&self) -> Result<String, ToolError> {
        let rendered = self
            .tools
            .kustomize(&workspace::root().join("deploy/kustomize/scan"))?;
        let interval = "- env: [{name: PRATIQUE_CHECKPOINT_INTERVAL, value: '0'}]\n        args:";
        let changed = rendered.replacen("- args:", interval, 1);
        if changed == rendered {
            Err("the container does not begin with its arguments".into())
        } else {
            Ok(changed)
        }
    }

    /// Without objects, there is nothing that another attempt would find.
    pub(super) fn unread(&mut self) -> Result<String, ToolError> {
        let namespace = workspace::root().join("deploy/kustomize/base/namespace.yaml");
        self.kubectl()
            .must(&["apply", "-f", &namespace.to_string_lossy()], "")?;
        self.is_used(KUSTOMIZED[0])?;
        let policies = self.kubelet.claim("pratique-scan").join("policies");
        fs::create_dir_all(&policies).map_err(ToolError::file(&policies))?;
        let policies = policies.join("policies.yaml");
        fs::write(&policies, POLICIES).map_err(ToolError::file(&policies))?;
        self.apply(&self.kustomized()?)?;
        let job = self.until(KUSTOMIZED, "Failed")?;
        let pods = self.pods(KUSTOMIZED)?;
        let mut reported = String::new();
        for pod in &pods {
            let code = pod.pointer("/status/containerStatuses/0/state/terminated/exitCode");
            let log = self.kubelet.log(text_at(pod, "/metadata/name"))?;
            if code != Some(&json!(2)) || !log.contains("/scan/objects.ndjson") {
                return Err(format!("exit code {code:?}: {log}").into());
            }
            reported = log;
        }
        self.remove(KUSTOMIZED)?;
        if pods.len() == 4 && *part(&job, "/status/failedIndexes") == "0-3" {
            Ok(reported)
        } else {
            Err(format!("{} Pods\n{}", pods.len(), part(&job, "/status")).into())
        }
    }

    pub(super) fn evicted(&mut self) -> Result<String, ToolError> {
        let claim = self.kubelet.claim("pratique-scan");
        let objects = claim.join("objects.ndjson");
        fs::write(&objects, config_maps()).map_err(ToolError::file(&objects))?;
        self.apply(&self.kustomized()?)?;
        let checkpoint = claim.join("checkpoint-1.json");
        eventually("a shard has a checkpoint", || {
            self.kubelet.turn()?;
            Ok(checkpoint.exists())
        })?;
        let index = |pod: &Value| {
            text_at(pod, "/metadata/labels/batch.kubernetes.io~1job-completion-index").to_owned()
        };
        let is_second = |pod: &&Value| index(pod) == "1";
        let pods = self.pods(KUSTOMIZED)?;
        let victim = pods.iter().find(is_second).ok_or("no Pod has the index 1")?;
        self.kubelet.evict(text_at(victim, "/metadata/name"))?;
        let job = self.until(KUSTOMIZED, "Complete")?;
        let pods = self.pods(KUSTOMIZED)?;
        let after = pods
            .iter()
            .rfind(is_second)
            .map(|pod| text_at(pod, "/metadata/name"));
        let log = self.kubelet.log(after.unwrap_or_default())?;
        if pods.len() != 5 || !log.contains("continued from the checkpoint") || checkpoint.exists() {
            return Err(format!("{} Pods\n{log}{}", pods.len(), part(&job, "/status")).into());
        }
        let mut merge = self.programs.pratique();
        merge.current_dir(&claim).args(["report", "merge", "-o", "json"]);
        merge.args((0..4).map(|index| format!("report-{index}.json")));
        let mut whole = self.programs.pratique();
        whole.current_dir("/").args(["scan", "-o", "json", "--policies"]);
        whole.arg(claim.join("policies")).arg(&objects);
        // Shards and the whole name the input by different paths.
        let path = objects.display().to_string();
        let whole = succeeds(&mut whole)?.replace(&path, "/scan/objects.ndjson");
        if succeeds(&mut merge)? == whole {
            Ok(log.lines().next().unwrap_or_default().to_owned())
        } else {
            Err("the reports of the shards do not give that of one scan".into())
        }
    }

    /// Three shards and one write the same to a store.
    pub(super) fn stored(&mut self) -> Result<String, ToolError> {
        let certificates = self.state.join("of-store");
        fs::create_dir_all(&certificates).map_err(ToolError::file(&certificates))?;
        let certificates = TestCertificates::new(&certificates)?;
        let store = S3Gateway::start(&self.programs, &self.state, &certificates)?;
        store.bucket("scans")?;
        self.apply(&deployment::namespace())?;
        self.is_used(RELEASED[0])?;
        let metadata = json!({"name": "store", "namespace": RELEASED[0]});
        let authority = certificates.authority();
        let authority = fs::read_to_string(&authority).map_err(ToolError::file(&authority))?;
        // The Pod has the authority at a place of its own.
        let variables = store
            .environment()
            .into_iter()
            .filter(|(name, _)| *name != "AWS_CA_BUNDLE");
        let variables: BTreeMap<&str, String> = variables.collect();
        for (kind, field, data) in [
            ("ConfigMap", "data", json!({"ca.crt": authority})),
            ("Secret", "stringData", json!(variables)),
        ] {
            self.apply(
                &json!({"apiVersion": "v1", "kind": kind, "metadata": metadata, field: data}).to_string(),
            )?;
        }
        let claim = self.kubelet.claim("objects");
        fs::create_dir_all(&claim).map_err(ToolError::file(&claim))?;
        let objects = claim.join("objects.ndjson");
        fs::write(&objects, config_maps()).map_err(ToolError::file(&objects))?;
        for (shards, at_once) in [("3", "2"), ("1", "1")] {
            let rendered = self.released(&[
                ("shards: 3", &format!("shards: {shards}")),
                ("parallelism: 2", &format!("parallelism: {at_once}")),
                ("SHARDS", shards),
                ("* * * * *", NEVER),
            ])?;
            self.apply(&rendered)?;
            self.until(RELEASED, "Complete")?;
            self.remove(RELEASED)?;
        }
        let mut merge = self.programs.pratique();
        merge
            .args(["report", "merge", "-o", "json", "--fail-on", "error"])
            .envs(store.environment());
        merge.args((0..3).map(|index| format!("s3://scans/3/report-{index}.json")));
        let json = |text: &str| serde_json::from_str::<Value>(text).map_err(|error| error.to_string());
        let merged = json(&succeeds(&mut merge)?)?;
        let whole = store.object("scans/1/report-0.json");
        let whole = json(&fs::read_to_string(&whole).map_err(ToolError::file(&whole))?)?;
        let written = fs::read_dir(store.object("scans/3"))?.count();
        let total = part(&whole, "/tally/total");
        if merged == whole && written == 6 && *total == json!({"denied": OBJECTS}) {
            Ok(format!("3 shards and 1: {total}"))
        } else {
            Err(format!("{written} objects, whose reports do not add up to {total}").into())
        }
    }
}

/// Objects, as lines.
fn config_maps() -> String {
    let mut objects = String::new();
    for number in 0..OBJECTS {
        let metadata = json!({"name": format!("object-{number}"), "namespace": "shop"});
        let data = json!({"text": format!("text {number}")});
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data});
        // Writing to a String cannot fail.
        let _ = writeln!(objects, "{object}");
    }
    objects
}
