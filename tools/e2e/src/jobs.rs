//! Scans as `deploy/` has them, under the real controllers: the Indexed Jobs of Kustomize and Helm, the latter with a store, and
//! the CronJob, whose account may do what its role says.

mod cron;
mod volume;

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use pratique_deploy::{RenderTools, items, part};
use pratique_harness::{RunningProcess, StepTranscript, ToolError, eventually, workspace};
use serde_json::Value;

use super::apiserver::{ApiServer, ServerStart};
use super::etcd::EtcdServer;
use super::kubectl::KubectlUser;
use super::kubelet::FakeKubelet;
use super::programs::ProgramPaths;
use super::{PartEnvironment, controllers};

const VALUES: &str = include_str!("jobs/values.yaml");
/// A schedule of the thirty-first of February.
const NEVER: &str = "0 0 31 2 *";

/// A cluster with controllers and a node.
struct JobCluster {
    programs: ProgramPaths,
    tools: RenderTools,
    state: PathBuf,
    kubelet: FakeKubelet,
    api: ApiServer,
    _controllers: RunningProcess,
    _etcd: EtcdServer,
}

/// Runs all steps on one cluster.
pub(super) fn run(environment: &PartEnvironment, transcript: &mut StepTranscript) -> Result<(), ToolError> {
    transcript.part("scans as Jobs");
    if fs::metadata("/proc/self").map_or(true, |process| process.uid() != 0) {
        transcript.skip(
            "Jobs",
            "containers have mounts and users of their own, which needs root on Linux",
        );
        return Ok(());
    }
    let tools =
        RenderTools::find(None, None).map_err(|absent| format!("nothing was rendered: {}", absent.0))?;
    let (programs, state) = (environment.programs.clone(), environment.state.clone());
    programs.add_controllers()?;
    programs.add_store()?;
    let etcd = EtcdServer::start(&programs, &state)?;
    let start = ServerStart {
        with: &["ServiceAccount"],
        ..ServerStart::new(&programs, &etcd, &state)
    };
    let api = start.ready()?;
    let pratique = PathBuf::from(programs.pratique().get_program());
    let node = state.join("node");
    fs::create_dir_all(&node).map_err(ToolError::file(&node))?;
    let mut jobs = JobCluster {
        _controllers: controllers::start(&programs, &state, api.kubectl())?,
        kubelet: FakeKubelet::new(api.kubectl(), &pratique, node),
        programs,
        tools,
        state,
        api,
        _etcd: etcd,
    };
    transcript.step(
        "kustomize/scan: what cannot be read fails each index once",
        jobs.unread(),
    );
    transcript.step(
        "kustomize/scan: an evicted shard goes on, and the reports give the whole",
        jobs.evicted(),
    );
    transcript.step("helm: shards write to a store", jobs.stored());
    transcript.step(
        "helm: the CronJob applies reports, by the rights of its role",
        jobs.scheduled(),
    );
    transcript.step("helm: stale reports are removed", jobs.stale());
    transcript.step("helm: what the role does not allow is told", jobs.forbidden());
    Ok(())
}

impl JobCluster {
    fn kubectl(&self) -> &KubectlUser {
        self.api.kubectl()
    }

    /// Applies objects, which have to be known.
    fn apply(&self, objects: &str) -> Result<(), ToolError> {
        self.kubectl()
            .must(&["apply", "--validate=strict"], objects)
            .map(drop)
    }

    /// Runs the node until a Job has a condition.
    fn until(&mut self, [namespace, name]: [&str; 2], condition: &str) -> Result<Value, ToolError> {
        let mut job = Value::Null;
        eventually(&format!("{name} {condition}"), || {
            self.kubelet.turn()?;
            let get = ["get", "job", name, "--namespace", namespace];
            job = self.api.kubectl().json(&get)?;
            Ok(items(part(&job, "/status/conditions"))
                .iter()
                .any(|job_condition| job_condition["type"] == condition && job_condition["status"] == "True"))
        })?;
        Ok(job)
    }

    /// The Pods of a Job, by when they were made.
    fn pods(&self, [namespace, job]: [&str; 2]) -> Result<Vec<Value>, ToolError> {
        let selector = format!("batch.kubernetes.io/job-name={job}");
        let by = "--sort-by=.metadata.creationTimestamp";
        let list = self.kubectl().json(&[
            "get",
            "pods",
            "--namespace",
            namespace,
            "--selector",
            &selector,
            by,
        ])?;
        Ok(items(part(&list, "/items")).to_vec())
    }

    /// Removes a Job, and waits until its Pods are removed, too.
    fn remove(&self, [namespace, job]: [&str; 2]) -> Result<(), ToolError> {
        let cascade = "--cascade=foreground";
        self.kubectl()
            .must(&["delete", "job", job, "--namespace", namespace, cascade], "")
            .map(drop)
    }

    /// The chart with values, after some of them were changed.
    fn released(&self, changes: &[(&str, &str)]) -> Result<String, ToolError> {
        let mut values = VALUES.to_owned();
        for (from, to) in changes {
            values = values.replace(from, to);
        }
        let path = self.state.join("values.yaml");
        fs::write(&path, values).map_err(ToolError::file(&path))?;
        self.tools
            .helm(&workspace::root().join("deploy/helm/pratique"), &path)
    }

    /// Waits until Pods may be made in a namespace.
    fn is_used(&self, namespace: &str) -> Result<(), ToolError> {
        let account = ["get", "serviceaccount", "default", "--namespace", namespace];
        eventually("it has an account", || Ok(self.kubectl().run(&account)?.ok)).map(drop)
    }
}
