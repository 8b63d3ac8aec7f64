//! What is created, changed and deleted in a cluster takes effect in a `pratique serve` that follows it. The API server
//! leaves policies to it, so that whatever is denied or changed was by `serve`.

mod reviews;
mod webhooks;

use pratique_harness::{StepTranscript, ToolError, eventually};
use serde_json::Value;

use super::PartEnvironment;
use super::kubectl::{KubectlOutput, KubectlUser};
use super::roles;
use super::served_webhook::ServedApi;

/// Permissions that `serve` needs for params, in addition to the deployed role.
const PARAMS_ROLE: &str = include_str!("follows/params-role.yaml");
/// Policies and their params, each kind of policy in a file of its own.
const LIMITED: &str = include_str!("follows/limited.yaml");
const LABELLED: &str = include_str!("follows/labelled.yaml");
const ALLOWED: &str = include_str!("follows/allowed.yaml");
const STAMPED: &str = include_str!("follows/stamped.yaml");

/// Runs all steps on one cluster.
pub(super) fn run(environment: &PartEnvironment, transcript: &mut StepTranscript) -> Result<(), ToolError> {
    transcript.part("pratique serve follows a cluster");
    let served = ServedApi::following(environment)?;
    transcript.step("is not ready while it may not look", waits(&served));
    transcript.step("is ready with the rights that are deployed", begins(&served));
    prepare(environment, &served)?;
    let kubectl = served.kubectl();
    transcript.step("does not ask itself", answers(kubectl));
    reviews::run(environment, kubectl, transcript);
    transcript.step("denies by a param of the namespace", limits(kubectl));
    transcript.step("sees a changed param", another_limit(kubectl));
    transcript.step("denies where a param is missing", no_limit(kubectl));
    transcript.step("sees a changed policy", another_text(kubectl));
    transcript.step("selects namespaces by labels, which change", labels(kubectl));
    transcript.step("asks who may do what", asks(kubectl));
    transcript.step("mutates, and does not any more", stamps(kubectl));
    transcript.step("evaluates by static manifests first", order(kubectl));
    transcript.step("tells what it follows", lists_sources(&served));
    transcript.step("sees that a binding is gone", unbound(kubectl));
    webhooks::run(&served, transcript)?;
    Ok(())
}

fn waits(served: &ServedApi) -> Result<String, ToolError> {
    let mut observed = String::new();
    eventually("told why", || {
        observed = served
            .get("/readyz")
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        Ok(observed.contains("namespaces is forbidden"))
    })?;
    let reasons = observed.split("; ").take(2).collect::<Vec<_>>();
    Ok(reasons.join("\n"))
}

/// The role that is deployed, bound to the user that `serve` is here.
fn begins(served: &ServedApi) -> Result<String, ToolError> {
    served
        .kubectl()
        .must(&["apply"], &roles::of_component("cluster")?)?;
    let after = eventually("ready", || Ok(served.get("/readyz").is_ok()))?;
    Ok(format!("after {after:.0?}"))
}

/// Creates the policies, and registers webhooks for the requests that they match.
fn prepare(environment: &PartEnvironment, served: &ServedApi) -> Result<(), ToolError> {
    let kubectl = served.kubectl();
    kubectl.must(&["apply"], PARAMS_ROLE)?;
    for policies in [LIMITED, LABELLED, ALLOWED, STAMPED] {
        kubectl.must(&["apply"], policies)?;
    }
    served.register(environment)
}

fn answers(kubectl: &KubectlUser) -> Result<String, ToolError> {
    let mut observed = String::new();
    eventually("let in", || {
        let result = deploy(kubectl, "shop", 1)?;
        observed = output_text(&result);
        Ok(result.ok)
    })?;
    Ok(observed)
}

fn deploy(kubectl: &KubectlUser, namespace: &str, replicas: usize) -> Result<KubectlOutput, ToolError> {
    let deployment = format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: {namespace}}}\nspec:\n  \
         replicas: {replicas}\n  selector: {{matchLabels: {{app: web}}}}\n  template:\n    \
         metadata: {{labels: {{app: web}}}}\n    spec: {{containers: [{{name: web, image: web}}]}}\n"
    );
    kubectl.feed(&["create", "--dry-run=server", "-o", "name"], &deployment)
}

fn output_text(result: &KubectlOutput) -> String {
    format!("{}{}", result.stdout, result.stderr).trim().to_owned()
}

/// Retries until the answer is as expected: changes take a moment.
fn becomes(
    wanted: bool,
    message: &str,
    mut attempt: impl FnMut() -> Result<KubectlOutput, ToolError>,
) -> Result<String, ToolError> {
    let mut observed = String::new();
    let ended = eventually(message, || {
        let result = attempt()?;
        observed = output_text(&result);
        Ok(result.ok == wanted && observed.contains(message))
    });
    match ended {
        Ok(after) => Ok(format!("{observed}\nafter {after:.0?}")),
        Err(error) => Err(format!("{error}, but: {observed}").into()),
    }
}

fn limits(kubectl: &KubectlUser) -> Result<String, ToolError> {
    let few = becomes(false, "at most 1", || deploy(kubectl, "default", 2))?;
    becomes(true, "deployment.apps/web", || deploy(kubectl, "shop", 2))?;
    let many = becomes(false, "at most 3", || deploy(kubectl, "shop", 4))?;
    Ok(format!("{few}\n{many}"))
}

fn another_limit(kubectl: &KubectlUser) -> Result<String, ToolError> {
    let patch = r#"{"data":{"replicas":"2"}}"#;
    let arguments = [
        "patch",
        "configmap",
        "limits",
        "-n",
        "shop",
        "--type",
        "merge",
        "-p",
        patch,
    ];
    kubectl.must(&arguments, "")?;
    becomes(false, "at most 2", || deploy(kubectl, "shop", 3))
}

fn no_limit(kubectl: &KubectlUser) -> Result<String, ToolError> {
    kubectl.must(&["delete", "configmap", "limits", "-n", "default"], "")?;
    becomes(false, "no params found", || deploy(kubectl, "default", 1))
}

fn another_text(kubectl: &KubectlUser) -> Result<String, ToolError> {
    kubectl.must(&["apply"], &LIMITED.replace("at most ", "no more than "))?;
    becomes(false, "no more than 3", || deploy(kubectl, "shop", 4))
}

fn labels(kubectl: &KubectlUser) -> Result<String, ToolError> {
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: default}\n\
        spec: {type: NodePort, ports: [{port: 80}]}\n";
    let create = || kubectl.feed(&["create", "--dry-run=server", "-o", "name"], service);
    becomes(true, "service/web", create)?;
    kubectl.must(&["label", "namespace", "default", "ports=closed"], "")?;
    let denied = becomes(false, "no node ports", create)?;
    kubectl.must(&["label", "namespace", "default", "ports-"], "")?;
    becomes(true, "service/web", create)?;
    Ok(denied)
}

fn asks(kubectl: &KubectlUser) -> Result<String, ToolError> {
    let map =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop, labels: {checked: 'yes'}}\n";
    let create = |kubectl: &KubectlUser| kubectl.feed(&["create", "--dry-run=server", "-o", "name"], map);
    becomes(true, "configmap/a", || create(kubectl))?;
    becomes(false, "only who may create deployments", || {
        create(&kubectl.developer())
    })
}

fn stamps(kubectl: &KubectlUser) -> Result<String, ToolError> {
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: shop}\n";
    let create = || kubectl.feed(&["create", "--dry-run=server", "-o", "jsonpath={.metadata}"], map);
    let stamped = becomes(true, r#""stamped":"by-the-cluster""#, create)?;
    let policy = ["delete", "mutatingadmissionpolicy", "stamped"];
    kubectl.must(&policy, "")?;
    eventually("not stamped", || Ok(!output_text(&create()?).contains("stamped")))?;
    Ok(stamped)
}

/// Both policies deny: the message is that of the first one.
fn order(kubectl: &KubectlUser) -> Result<String, ToolError> {
    becomes(
        false,
        "'few-replicas.static.k8s.io' with binding 'few-replicas.static.k8s.io' denied request: at most 5",
        || deploy(kubectl, "shop", 6),
    )
}

fn lists_sources(served: &ServedApi) -> Result<String, ToolError> {
    let reported = served.get("/configz")?;
    let reported: Value = serde_json::from_str(&reported).map_err(|error| error.to_string())?;
    let sources = reported.get("sources").and_then(Value::as_array);
    let lines = sources.into_iter().flatten().filter_map(|source| {
        let location = source.get("location")?.as_str()?;
        location.starts_with("cluster https://").then_some(())?;
        Some(format!("{} {}", source.get("plugin")?, source.get("names")?))
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    if text == r#""ValidatingAdmissionPolicy" ["allowed","labelled","limited"]"# {
        Ok(text)
    } else {
        Err(reported.to_string().into())
    }
}

fn unbound(kubectl: &KubectlUser) -> Result<String, ToolError> {
    let binding = ["delete", "validatingadmissionpolicybinding", "limited"];
    kubectl.must(&binding, "")?;
    becomes(true, "deployment.apps/web", || deploy(kubectl, "default", 4))
}
