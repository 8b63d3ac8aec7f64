//! Namespaces among the inputs, which say something else than the cluster does.

use std::path::Path;

use super::{AttackScale, run, write};
use pratique_harness::ToolError;

/// A policy that denies Pods in namespaces of production.
const POLICY: &str = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: a}\n\
     spec:\n  matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]}\n  \
     validations: [{expression: \"namespaceObject.metadata.labels.?env.orValue('') != 'prod'\", message: no Pods in prod}]\n---\n\
     apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: a}\n\
     spec: {policyName: a, validationActions: [Deny]}\n";

/// A Pod that is neither allowed in production nor by the level `restricted`.
const POD: &str = "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}, spec: {containers: \
     [{name: a, image: b, securityContext: {privileged: true}}]}}";

fn namespace(labels: &str) -> String {
    format!("{{apiVersion: v1, kind: Namespace, metadata: {{name: shop, labels: {{{labels}}}}}}}")
}

/// A label of the namespace in the cluster, what a change makes of it, and the flags by which it decides.
const LABELS: [(&str, &str, &[&str]); 2] = [
    ("env: prod", "env: dev", &["--policies", "policies"]),
    (
        "pod-security.kubernetes.io/enforce: restricted",
        "pod-security.kubernetes.io/enforce: privileged",
        &["--chain"],
    ),
];

/// A namespace of the cluster that an input weakens after the Pod: what the cluster says of it counts for the Pod before.
pub(super) fn later(program: &Path, folder: &Path, _: AttackScale) -> Result<String, ToolError> {
    write(folder, "policies/policy.yaml", POLICY)?;
    let mut runs = 0;
    for (label, weak, flags) in LABELS {
        write(folder, "state.yaml", &namespace(label))?;
        let weak = namespace(weak);
        write(folder, "stream.yaml", &format!("{POD}\n---\n{weak}\n"))?;
        write(
            folder,
            "list.yaml",
            &format!("{{apiVersion: v1, kind: List, items: [{POD}, {weak}]}}\n"),
        )?;
        write(folder, "files/a.yaml", POD)?;
        write(folder, "files/b.yaml", &weak)?;
        for command in ["review", "scan"] {
            for input in ["stream.yaml", "list.yaml", "files"] {
                let arguments = [
                    &[command, input, "--objects", "state.yaml", "--objects-complete"],
                    flags,
                ]
                .concat();
                let result = run(program, folder, &arguments)?;
                let command_line = arguments.join(" ");
                if result.status.code() != Some(1) {
                    return Err(format!("`{command_line}` allowed it: {}", result.summary()).into());
                }
                if !result
                    .stderr
                    .contains("it changes the labels of the namespace shop")
                {
                    return Err(format!("`{command_line}` does not tell it: {}", result.summary()).into());
                }
                runs += 1;
            }
        }
    }
    Ok(format!("{runs} runs decided by the namespace of the cluster"))
}
