//! `pratique review` evaluates by what a cluster has, and by a snapshot of it.

use std::fs;

use pratique_harness::{StepTranscript, ToolError};

use crate::PartEnvironment;
use crate::kubectl::KubectlUser;

/// Objects, and the decisions on them: a param of the namespace, and what a developer may do.
const OBJECTS: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: few, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: many, namespace: shop}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: checked, namespace: shop, labels: {checked: 'yes'}}
";

/// Reviews by the cluster, then by a snapshot: the decisions are the same.
pub(super) fn run(environment: &PartEnvironment, kubectl: &KubectlUser, transcript: &mut StepTranscript) {
    transcript.step("review and snapshot read a cluster", both(environment, kubectl));
}

fn both(environment: &PartEnvironment, kubectl: &KubectlUser) -> Result<String, ToolError> {
    let folder = environment.state.join("reviews");
    fs::create_dir_all(&folder).map_err(ToolError::file(&folder))?;
    let kubeconfig = kubectl.kubeconfig(folder.join("kubeconfig"), "admin-token")?;
    let objects = folder.join("objects.yaml");
    fs::write(&objects, OBJECTS).map_err(ToolError::file(&objects))?;
    let pratique = |arguments: &[&str]| -> Result<(Option<i32>, String), ToolError> {
        let mut command = environment.programs.pratique();
        command.current_dir(&folder).args(arguments);
        let output = command.output().map_err(ToolError::program("pratique"))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(2) | None => Err(format!("{text}{errors}").into()),
            code => Ok((code, text)),
        }
    };
    let kubeconfig = kubeconfig.to_string_lossy();
    let user = ["--as", "dev", "--as-group", "developers", "objects.yaml"];
    // The server does without it, too: there is no controller that makes accounts.
    let plugins = "--disable-admission-plugins=ServiceAccount";
    let live = pratique(&[&["review", plugins, "--kubeconfig", &kubeconfig][..], &user].concat())?;
    let snapshot = pratique(&["snapshot", plugins, "--kubeconfig", &kubeconfig, "saved"])?;
    let stored = pratique(&[&["review", plugins, "--snapshot", "saved"][..], &user].concat())?;
    let expected = [
        // The Pod of the one that is allowed is reviewed, too.
        "2 allowed, 2 denied",
        "at most 3",
        "only who may create deployments",
    ];
    let is_expected = expected.iter().all(|text| live.1.contains(text));
    // What was evaluated is that of the cluster or of the snapshot.
    let decisions = |(code, text): &(Option<i32>, String)| {
        let text = text.split("evaluated: ").next().unwrap_or_default();
        (*code, text.to_owned())
    };
    if is_expected && snapshot.0 == Some(0) && decisions(&live) == decisions(&stored) {
        Ok(format!("{}{}", live.1, snapshot.1))
    } else {
        Err(format!("{}{}{}", live.1, snapshot.1, stored.1).into())
    }
}
