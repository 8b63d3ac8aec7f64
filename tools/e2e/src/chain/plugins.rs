//! `pratique serve --plugins` as the webhook of an API server that runs only its default plugins without PodSecurity: what
//! its answers and stored objects are compared with the recorded ones of a server that runs these plugins itself.

mod images;

use std::path::{Path, PathBuf};
use std::process::Command;

use pratique_harness::{RunningProcess, StepTranscript, TestCertificates, ToolError, eventually, free_port};
use serde_json::{Value, json};

use super::cases::{ChainCase, PluginSet};
use super::{CaseClients, configure, known_differences, start};
use crate::PartEnvironment;
use crate::answers::{is_same, summary};
use crate::kubectl::KubectlUser;
use crate::programs::ProgramPaths;
use crate::roles;
use images::ImageBackendServer;

/// All plugins that can run as a webhook.
const OFFERED: &str = "AlwaysPullImages,DenyServiceExternalIPs,EventRateLimit,ExtendedResourceToleration,\
    ImagePolicyWebhook,LimitPodHardAntiAffinityTopology,OwnerReferencesPermissionEnforcement,PodNodeSelector,\
    PodSecurity,PodTolerationRestriction";

/// A Pod that AlwaysPullImages changes.
const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: pulls, namespace: lab}\n\
    spec: {containers: [{name: c, image: 'c:1'}]}\n";

/// A `serve` with plugins.
struct PluginServer<'a> {
    programs: &'a ProgramPaths,
    directory: &'a Path,
    kubeconfig: PathBuf,
    /// An AdmissionConfiguration.
    configuration: PathBuf,
    certificates: TestCertificates,
    url: String,
}

/// Registers the webhook, sends all cases, and compares.
pub(super) fn run(
    environment: &PartEnvironment,
    cases: &[ChainCase],
    transcript: &mut StepTranscript,
) -> Result<(), ToolError> {
    transcript.part("serve --plugins as the webhook of an API server");
    let directory = environment.state.join("plugins");
    let (_etcd, mut server) = start(environment, &directory, PluginSet::Default, &["PodSecurity"])?;
    let kubectl = server.kubectl();
    let clients = CaseClients::prepare(kubectl)?;
    let images = ImageBackendServer::start()?;
    let plugins = PluginServer::new(&environment.programs, &directory, kubectl, &images)?;
    let _process = plugins.serve(kubectl)?;
    kubectl.must(&["apply"], &plugins.registration()?)?;
    transcript.step("its webhook is called", is_called(kubectl));
    for (case, answer) in cases.iter().zip(clients.ask(cases)?) {
        let compared = compare(case, &answer);
        transcript.step(&format!("{}, serve --plugins", case.name), compared);
    }
    transcript.step(
        "it asks the backend of ImagePolicyWebhook",
        images.refuse(kubectl),
    );
    transcript.step("it follows a namespace's labels", follows(kubectl));
    server.stop()
}

impl<'a> PluginServer<'a> {
    fn new(
        programs: &'a ProgramPaths,
        directory: &'a Path,
        kubectl: &KubectlUser,
        images: &ImageBackendServer,
    ) -> Result<Self, ToolError> {
        let kubeconfig = kubectl.kubeconfig(directory.join("serve.kubeconfig"), "serve-token")?;
        let of_images = ("ImagePolicyWebhook", images.configuration(directory)?);
        Ok(PluginServer {
            programs,
            directory,
            kubeconfig,
            configuration: configure(directory, "serve-admission.yaml", &[of_images])?,
            certificates: TestCertificates::new(&directory.join("tls"))?,
            url: format!("127.0.0.1:{}", free_port()?),
        })
    }

    /// Starts it with the rights that are deployed, and waits until it is ready.
    fn serve(&self, kubectl: &KubectlUser) -> Result<RunningProcess, ToolError> {
        for component in ["cluster", "plugins"] {
            kubectl.must(&["apply"], &roles::of_component(component)?)?;
        }
        let mut command = self.command();
        command.args(["--listen", &self.url]);
        command.arg("--tls-cert").arg(self.certificates.certificate());
        command.arg("--tls-key").arg(self.certificates.key());
        let mut process = RunningProcess::start(command, &self.directory.join("serve.log"))?;
        process.wait_until("ready", |_| {
            let ready = Command::new("curl")
                .args(["--silent", "--fail", "--cacert"])
                .arg(self.certificates.authority())
                .arg(format!("https://{}/readyz", self.url))
                .output()
                .map_err(ToolError::program("curl"))?;
            Ok(ready.status.success())
        })?;
        Ok(process)
    }

    /// The webhook configurations that it prints.
    fn registration(&self) -> Result<String, ToolError> {
        let mut command = self.command();
        command.arg("--print-webhook-configuration").arg("--webhook-ca");
        command.arg(self.certificates.authority());
        let output = command.output().map_err(ToolError::program("pratique"))?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned().into())
        }
    }

    fn command(&self) -> Command {
        let mut command = self.programs.pratique();
        command
            .args(["serve", "--plugins", OFFERED])
            // The server shows no certificate here, and its reviews use up rates of events.
            .arg("--count-anonymous-reviews")
            .args(["--webhook-url", &format!("https://{}", self.url)])
            .arg("--kubeconfig")
            .arg(&self.kubeconfig)
            .arg("--admission-control-config-file")
            .arg(&self.configuration);
        command
    }
}

/// A server takes a moment to call a new webhook.
fn is_called(kubectl: &KubectlUser) -> Result<String, ToolError> {
    let create = [
        "create",
        "--dry-run=server",
        "-o",
        "jsonpath={.spec.containers[0].imagePullPolicy}",
    ];
    let mut observed = String::new();
    let ended = eventually("images are always pulled", || {
        let result = kubectl.feed(&create, POD)?;
        observed = format!("{}{}", result.stdout, result.stderr);
        Ok(result.stdout == "Always")
    });
    match ended {
        Ok(after) => Ok(format!("{observed} after {after:.0?}")),
        Err(error) => Err(format!("{error}, but: {observed}").into()),
    }
}

/// A Pod that PodSecurity refuses where the level is `baseline`.
const PRIVILEGED: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: privileged, namespace: lab}\n\
    spec: {containers: [{name: c, image: 'c:1', securityContext: {privileged: true}}]}\n";

/// A namespace's level is in force soon after its label was set.
fn follows(kubectl: &KubectlUser) -> Result<String, ToolError> {
    let label = "pod-security.kubernetes.io/enforce=baseline";
    kubectl.must(&["label", "namespace", "lab", label], "")?;
    let mut observed = String::new();
    let ended = eventually("the level is in force", || {
        let result = kubectl.feed(&["create", "--dry-run=server"], PRIVILEGED)?;
        observed = format!("{}{}", result.stdout, result.stderr);
        Ok(observed.contains("violates PodSecurity \"baseline:latest\": privileged"))
    });
    match ended {
        Ok(after) => Ok(format!("{observed} after {after:.0?}")),
        Err(error) => Err(format!("{error}, but: {observed}").into()),
    }
}

/// Compares an answer with the recorded one of a server that has the plugins itself.
fn compare(case: &ChainCase, answer: &Value) -> Result<String, ToolError> {
    let (expected, answer) = (essence(case.answer(PluginSet::All)), essence(answer));
    match (
        is_same(&expected, &answer),
        known_differences::reason_of_webhook(&case.name),
    ) {
        (true, None) => Ok(summary(&answer)),
        (false, Some(reason)) => Ok(format!("differs: {reason}")),
        (true, Some(reason)) => Err(format!("there is no difference any more: {reason}").into()),
        (false, None) => {
            Err(format!("the server with the plugins: {expected}\nwith the webhook: {answer}").into())
        }
    }
}

/// The code, with the object, or the reason and the message without what a server says before that of a webhook.
fn essence(answer: &Value) -> Value {
    let status = |name: &str| answer.pointer(&format!("/status/{name}")).cloned();
    let message = status("message").map(|message| {
        let text = message.as_str().unwrap_or_default();
        let of_webhook = text
            .starts_with("admission webhook ")
            .then(|| text.split_once(" denied the request: "))
            .flatten();
        of_webhook.map_or(text, |(_, rest)| rest).to_owned()
    });
    json!({
        "code": answer.get("code"),
        "object": answer.get("object"),
        "status": {"reason": status("reason"), "message": message},
        "warnings": answer.get("warnings"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_those_of_plugins() {
        let webhook = json!({"code": 403, "status": {
            "reason": "Forbidden", "message": "admission webhook \"a.b.c\" denied the request: pods \"p\" is forbidden: no",
        }});
        let plugin = json!({"code": 403, "status": {
            "reason": "Forbidden", "message": "pods \"p\" is forbidden: no", "details": {"kind": "pods"},
        }});
        assert_eq!(essence(&webhook), essence(&plugin));
        assert_ne!(essence(&webhook), essence(&json!({"code": 201, "object": {}})));
    }
}
