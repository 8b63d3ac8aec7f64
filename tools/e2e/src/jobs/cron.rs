//! The CronJob of the chart: its account may do what its role says, and what it applies is what there is.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pratique_deploy::{RELEASED_INTO, items, part, text_at};
use pratique_harness::{ToolError, eventually, go};
use serde_json::{Value, json};

use super::JobCluster;

const CRON: [&str; 2] = [RELEASED_INTO, "gate-scan"];
/// Whom the API server sees when its Pods ask it.
const ACCOUNT: &str = "system:serviceaccount:admission:gate-scan";
/// The definitions of reports that Kyverno publishes.
const DEFINITIONS: &str = "github.com/kyverno/kyverno";
/// Without the Job of the volume.
const ALONE: (&str, &str) = (
    "enabled: true\n    existingClaim",
    "enabled: false\n    existingClaim",
);
/// A report of a scan when there were objects of no namespace.
const OF_BEFORE: &str = "apiVersion: wgpolicyk8s.io/v1alpha2\nkind: ClusterPolicyReport\nmetadata:\n  name: pratique-scan\n  \
    labels: {app.kubernetes.io/managed-by: pratique}\n";

impl JobCluster {
    /// The next minute, there are reports.
    pub(super) fn scheduled(&mut self) -> Result<String, ToolError> {
        let downloaded = go::command("reports")
            .args(["mod", "download", DEFINITIONS])
            .status()?;
        if !downloaded.success() {
            return Err("the definitions of reports are not to be had".into());
        }
        let definitions = go::dependency("reports", DEFINITIONS)?.join("config/crds/policyreport");
        self.kubectl()
            .must(&["apply", "-f", &definitions.to_string_lossy()], "")?;
        let mut objects = String::new();
        for (namespace, name, labels) in [
            ("shop", "unowned", "{}"),
            ("shop", "owned", "{owner: a}"),
            ("infra", "other", "{}"),
        ] {
            let _ = writeln!(
                objects,
                "apiVersion: v1\nkind: Namespace\nmetadata: {{name: {namespace}}}\n---\napiVersion: v1\nkind: ConfigMap\n\
                 metadata: {{name: {name}, namespace: {namespace}, labels: {labels}}}\n---"
            );
        }
        self.apply(&objects)?;
        self.apply(&self.released(&[ALONE])?)?;
        let mut first = String::new();
        eventually("the CronJob has a Job", || {
            let jobs = self
                .api
                .kubectl()
                .json(&["get", "jobs", "--namespace", CRON[0]])?;
            first = text_at(&jobs, "/items/0/metadata/name").to_owned();
            Ok(!first.is_empty())
        })?;
        // The others are started by hand.
        let suspended = json!({"spec": {"suspend": true}}).to_string();
        let patch = [
            "patch",
            "cronjob",
            CRON[1],
            "--namespace",
            CRON[0],
            "--patch",
            &suspended,
        ];
        self.kubectl().must(&patch, "")?;
        self.until([CRON[0], &first], "Complete")?;
        let reported_names = self.findings()?;
        let account_requests = self.account_requests()?;
        if reported_names == "infra/other\nshop/unowned" && !account_requests.contains("403") {
            Ok(account_requests)
        } else {
            Err(format!("{reported_names}\n{account_requests}\n{}", self.last_log(&first)?).into())
        }
    }

    /// Fixed objects have no findings any more, and reports without objects are removed.
    pub(super) fn stale(&mut self) -> Result<String, ToolError> {
        self.kubectl().must(
            &["label", "configmap", "unowned", "--namespace", "shop", "owner=b"],
            "",
        )?;
        self.apply(OF_BEFORE)?;
        self.scan_now("mended", "Complete")?;
        let (reported_names, log) = (self.findings()?, self.last_log("mended")?);
        let left = self
            .kubectl()
            .must(&["get", "clusterpolicyreports", "-o", "name"], "")?;
        if reported_names == "infra/other" && left.is_empty() && log.contains("1 stale removed") {
            Ok(log)
        } else {
            Err(format!("{reported_names}\n{left}{log}").into())
        }
    }

    /// Without the right to list a kind, the rest is reported, and the Job fails.
    pub(super) fn forbidden(&mut self) -> Result<String, ToolError> {
        let less = (
            "      resources: [services, configmaps]\n",
            "      resources: [services]\n",
        );
        self.apply(&self.released(&[ALONE, less])?)?;
        self.scan_now("forbidden", "Failed")?;
        let log = self.last_log("forbidden")?;
        if log.contains("configmaps is forbidden") && self.findings()? == "infra/other" {
            Ok(log)
        } else {
            Err(format!("{log}\n{}", self.findings()?).into())
        }
    }

    /// A Job of the CronJob's, now.
    fn scan_now(&mut self, name: &str, condition: &str) -> Result<(), ToolError> {
        let from = format!("--from=cronjob/{}", CRON[1]);
        self.kubectl()
            .must(&["create", "job", name, &from, "--namespace", CRON[0]], "")?;
        self.until([CRON[0], name], condition).map(drop)
    }

    /// The ConfigMaps that reports find fault with.
    fn findings(&self) -> Result<String, ToolError> {
        let reports = self
            .kubectl()
            .json(&["get", "policyreports", "--all-namespaces"])?;
        let mut names = Vec::new();
        for result in items(part(&reports, "/items"))
            .iter()
            .flat_map(|report| items(&report["results"]))
        {
            let at = |name: &str| text_at(result, &format!("/resources/0/{name}"));
            if result["result"] == "fail"
                && at("kind") == "ConfigMap"
                && ["shop", "infra"].contains(&at("namespace"))
            {
                names.push(format!("{}/{}", at("namespace"), at("name")));
            }
        }
        names.sort();
        Ok(names.join("\n"))
    }

    /// The requests of the CronJob's account, with the codes of the responses.
    fn account_requests(&self) -> Result<String, ToolError> {
        let mut account_requests = BTreeMap::<String, usize>::new();
        for line in self.api.audit_log()?.lines() {
            let event: Value = serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
            if *part(&event, "/user/username") == ACCOUNT && *part(&event, "/stage") == "ResponseComplete" {
                let what = text_at(&event, "/objectRef/resource");
                let code = part(&event, "/responseStatus/code");
                *account_requests
                    .entry(format!("{} {what} {code}", text_at(&event, "/verb")))
                    .or_default() += 1;
            }
        }
        let lines = account_requests
            .iter()
            .map(|(what, count)| format!("{what}: {count}"));
        Ok(lines.collect::<Vec<_>>().join("\n"))
    }

    /// The output of the last Pod of a Job.
    fn last_log(&self, job: &str) -> Result<String, ToolError> {
        let pods = self.pods([CRON[0], job])?;
        let pod = pods.last().ok_or("it has no Pod")?;
        self.kubelet.log(text_at(pod, "/metadata/name"))
    }
}
