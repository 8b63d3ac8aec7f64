//! `review --chain` of what a large program is installed from: some sixty objects, of which a few definitions are most of the text. What
//! is printed fits on a screen, and each line is of use.

use std::fmt::Write as _;

use crate::support::{Directory, Run};

const PARTS: [&str; 7] = ["api", "build", "cache", "login", "notify", "sync", "web"];

/// How many lines a screen of text has.
const MAX_LINES: usize = 60;

/// A definition with many described fields.
fn definition(kind: &str, fields: usize) -> String {
    let plural = format!("{}s", kind.to_lowercase());
    let mut text = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {plural}.harbour.example.com}}\nspec:\n\
         \x20 group: harbour.example.com\n  scope: Namespaced\n  names: {{kind: {kind}, plural: {plural}}}\n  versions:\n\
         \x20 - name: v1alpha1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n\
         \x20       properties:\n          spec:\n            type: object\n            properties:\n"
    );
    for number in 0..fields {
        let _ = write!(
            text,
            "              part{number}:\n                description: |-\n                  What part {number} of a {kind} is,\n\
             \x20                 and what becomes of it.\n                type: object\n                properties:\n\
             \x20                 name:\n                    type: string\n                  count:\n                    type: integer\n"
        );
    }
    text
}

fn template(part: &str) -> String {
    format!(
        "{{metadata: {{labels: {{app: {part}}}}}, spec: {{serviceAccountName: {part}, containers: [{{name: {part}, image: \
         'registry.example.com/{part}:v3', ports: [{{containerPort: 8080}}]}}]}}}}"
    )
}

/// The objects, and how many there are.
fn installation() -> (String, usize) {
    let mut objects = vec![
        definition("Berth", 900),
        definition("Cargo", 1200),
        definition("Pilot", 400),
    ];
    for part in PARTS {
        let select = format!("selector: {{matchLabels: {{app: {part}}}}}");
        let metadata = format!("metadata: {{name: {part}}}");
        let role = "{apiGroup: rbac.authorization.k8s.io, kind: Role";
        objects.extend([
            format!("apiVersion: v1\nkind: ServiceAccount\n{metadata}\n"),
            format!(
                "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\n{metadata}\n\
                 rules: [{{apiGroups: [''], resources: [configmaps], verbs: [get, list]}}]\n"
            ),
            format!(
                "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\n{metadata}\nroleRef: {role}, name: {part}}}\n\
                 subjects: [{{kind: ServiceAccount, name: {part}}}]\n"
            ),
            format!("apiVersion: v1\nkind: ConfigMap\n{metadata}\n"),
            format!(
                "apiVersion: v1\nkind: Service\n{metadata}\nspec: {{selector: {{app: {part}}}, ports: [{{port: 80, targetPort: 8080}}]}}\n"
            ),
            format!(
                "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\n{metadata}\n\
                 spec: {{podSelector: {{matchLabels: {{app: {part}}}}}, policyTypes: [Ingress]}}\n"
            ),
            match part {
                "sync" => format!(
                    "apiVersion: apps/v1\nkind: StatefulSet\n{metadata}\nspec: {{serviceName: sync, {select}, template: {}}}\n",
                    template(part)
                ),
                _ => format!(
                    "apiVersion: apps/v1\nkind: Deployment\n{metadata}\nspec: {{{select}, template: {}}}\n",
                    template(part)
                ),
            },
        ]);
    }
    for name in ["admin", "passwords", "tokens"] {
        objects.push(format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: {name}}}\nstringData: {{a: b}}\n"
        ));
        objects.push(format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{a: b}}\n"
        ));
    }
    objects.push(
        "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web}\n\
         spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}\n"
            .to_owned(),
    );
    (objects.join("---\n"), objects.len())
}

#[track_caller]
fn check_screen(run: &Run) {
    let lines = run.stdout.lines().chain(run.stderr.lines()).count();
    assert!(lines <= MAX_LINES, "{lines} lines\n{run}");
}

#[test]
fn what_is_printed_of_an_installation_fits_on_a_screen() {
    let (objects, count) = installation();
    assert_eq!(count, 59);
    assert!(objects.lines().count() > 20_000, "{}", objects.lines().count());
    let directory = Directory::new().with("install.yaml", &objects).with(
        "namespace.yaml",
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: harbour, labels: {pod-security.kubernetes.io/enforce: baseline}}\n",
    );
    let review = |more: &[&str]| {
        let line = ["review", "--chain", "--namespace", "harbour", "install.yaml"];
        directory.run(&[&line, more].concat())
    };
    // Nothing of the cluster is known: what is missing is said once.
    let unknown = review(&[]);
    check_screen(&unknown);
    unknown.exits(3).shows(&[
        "  55 objects: ResourceQuota: ResourceQuota objects in namespace \"harbour\" are not known\n",
        "--none resourcequotas",
        "3 allowed, 0 denied, 63 undecided",
    ]);
    // What its help says answers it, and the rest is less.
    let none = [
        "--none",
        "resourcequotas,limitranges,priorityclasses,ingressclasses",
        "--objects",
        "namespace.yaml",
    ];
    let known = review(&none);
    check_screen(&known);
    known.exits(0).shows(&[
        "install.yaml:1:1: CREATE customresourcedefinitions.apiextensions.k8s.io berths.harbour.example.com: allowed\n",
        "of StatefulSet sync: allowed, changed\n",
        "  step ServiceAccount: changed spec.containers[0].volumeMounts, spec.volumes\n",
        "66 allowed, 0 denied\n",
    ]);
    // One that is refused is told whole among them.
    let hostile = objects.replace(
        "spec: {serviceAccountName: web,",
        "spec: {hostNetwork: true, serviceAccountName: web,",
    );
    assert_ne!(hostile, objects);
    std::fs::write(directory.path().join("install.yaml"), hostile).unwrap();
    let refused = review(&none);
    check_screen(&refused);
    refused.exits(1).shows(&[
        "of Deployment web: denied by PodSecurity (403 Forbidden)\n",
        "violates PodSecurity \"baseline:latest\": host namespaces (hostNetwork=true)",
        "65 allowed, 1 denied",
    ]);
}
