//! Events in the life of a `pratique serve`: changes of manifests and certificates, crashes, cold starts.

use std::fs;

use pratique_harness::{StepTranscript, ToolError, eventually};

use super::PartEnvironment;
use super::served_webhook::ServedApi;

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop, labels: {LABEL: a}}\nspec:\n  \
    containers: [{name: web, image: 'registry.example.com/web:latest'}]\n";

/// Runs all steps on one cluster.
pub(super) fn run(environment: &PartEnvironment, transcript: &mut StepTranscript) -> Result<(), ToolError> {
    transcript.part("the life of pratique serve");
    let mut served = ServedApi::start(environment)?;
    transcript.step("denies", denies(&served));
    transcript.step("mutates", mutates(&served));
    transcript.step("warns, and annotates the audit log", warns(&served));
    transcript.step("sees a change of its manifests", reloads(&served));
    transcript.step("keeps the last good manifests", keeps(&served));
    transcript.step("takes a new certificate", rotates(&mut served));
    transcript.step("crashes: failurePolicy Fail refuses", crashes(&mut served));
    transcript.step(
        "is down: failurePolicy Ignore lets in",
        ignored(environment, &served),
    );
    transcript.step(
        "is down: the cluster can start",
        bootstraps(environment, &mut served),
    );
    transcript.step("comes back", comes_back(environment, &mut served));
    Ok(())
}

fn create(served: &ServedApi, pod: &str) -> Result<(bool, String), ToolError> {
    let result = served
        .kubectl()
        .feed(&["create", "--dry-run=server", "-o", "name"], pod)?;
    let text = format!("{}{}", result.stdout, result.stderr);
    Ok((result.ok, text.trim().to_owned()))
}

fn expect(wanted: bool, message: &str, observed: (bool, String)) -> Result<String, ToolError> {
    if observed.0 == wanted && observed.1.contains(message) {
        Ok(observed.1)
    } else {
        Err(format!("expected {message:?}, but: {}", observed.1).into())
    }
}

fn owned() -> String {
    POD.replace("LABEL", "owner")
}

fn unowned() -> String {
    POD.replace("LABEL", "other")
}

fn denies(served: &ServedApi) -> Result<String, ToolError> {
    expect(false, "every pod has a label owner", create(served, &unowned())?)
}

fn mutates(served: &ServedApi) -> Result<String, ToolError> {
    let labels = ["create", "--dry-run=server", "-o", "jsonpath={.metadata.labels}"];
    let result = served.kubectl().feed(&labels, &owned())?;
    expect(true, "\"stamped\":\"yes\"", (result.ok, result.stdout))
}

fn warns(served: &ServedApi) -> Result<String, ToolError> {
    let result = expect(true, "images have a version", create(served, &owned())?)?;
    let mut line = String::new();
    eventually("in the audit log", || {
        let log = served.audit_log()?;
        let event_line = log
            .lines()
            .rev()
            .find(|line| line.contains("no-latest.static.k8s.io.images"));
        line = event_line.and_then(annotations).unwrap_or_default();
        Ok(event_line.is_some())
    })?;
    Ok(format!("{result}\n{line}"))
}

/// The annotations of an event of the audit log.
fn annotations(event: &str) -> Option<String> {
    let event: serde_json::Value = serde_json::from_str(event).ok()?;
    Some(event.get("annotations")?.to_string())
}

fn reloads(served: &ServedApi) -> Result<String, ToolError> {
    let path = served.manifests().join("validating.yaml");
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let text = fs::read_to_string(&path).map_err(failed)?;
    let changed = text.replace("every pod has a label owner", "every pod tells whose it is");
    let beside = path.with_extension("new");
    fs::write(&beside, changed).map_err(failed)?;
    fs::rename(&beside, &path).map_err(failed)?;
    let after = eventually("decided by the new manifests", || {
        Ok(create(served, &unowned())?
            .1
            .contains("every pod tells whose it is"))
    })?;
    Ok(format!("after {after:.0?}, of which most is kubectl's"))
}

fn keeps(served: &ServedApi) -> Result<String, ToolError> {
    let path = served.manifests().join("broken.yaml");
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    fs::write(&path, "kind: [unclosed\n").map_err(failed)?;
    eventually("told of at /configz", || {
        Ok(served.get("/configz")?.contains("did not find expected"))
    })?;
    let observed = expect(false, "every pod tells whose it is", create(served, &unowned())?);
    fs::remove_file(&path).map_err(failed)?;
    observed
}

fn rotates(served: &mut ServedApi) -> Result<String, ToolError> {
    let previous_serial = served.serial()?;
    served.certificates.issue()?;
    eventually("served with the new certificate", || {
        Ok(served.serial()? != previous_serial)
    })?;
    expect(false, "every pod tells whose it is", create(served, &unowned())?)
}

fn crashes(served: &mut ServedApi) -> Result<String, ToolError> {
    served.pratique()?.kill()?;
    expect(false, "failed calling webhook", create(served, &owned())?)
}

fn ignored(environment: &PartEnvironment, served: &ServedApi) -> Result<String, ToolError> {
    let registration = served.registration(environment)?;
    let ignoring = registration.replace("failurePolicy: Fail", "failurePolicy: Ignore");
    if ignoring == registration {
        return Err("no failurePolicy: Fail in the printed configuration".into());
    }
    served.kubectl().must(&["apply"], &ignoring)?;
    let mut observed = (false, String::new());
    eventually("let in", || {
        observed = create(served, &unowned())?;
        Ok(observed.0)
    })?;
    served.kubectl().must(&["apply"], &registration)?;
    eventually("refused again", || Ok(!create(served, &unowned())?.0))?;
    Ok(observed.1)
}

/// As after a power cut: the API server finds the webhooks in etcd, and no server behind them. Pods of the system namespace,
/// and so those of `serve` itself where it runs there, need no webhook to be let in.
fn bootstraps(environment: &PartEnvironment, served: &mut ServedApi) -> Result<String, ToolError> {
    served.restart_api(environment)?;
    expect(false, "failed calling webhook", create(served, &owned())?)?;
    expect(
        true,
        "pod/web",
        create(
            served,
            &unowned().replace("namespace: shop", "namespace: kube-system"),
        )?,
    )
}

fn comes_back(environment: &PartEnvironment, served: &mut ServedApi) -> Result<String, ToolError> {
    served.serve(environment)?;
    expect(false, "every pod tells whose it is", create(served, &unowned())?)
}
