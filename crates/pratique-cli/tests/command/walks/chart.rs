//! From a Helm chart and a directory of policies to a green check: a red pull request with annotations at the lines of templates, a
//! baseline, an exception. What comes of it is `docs/walks/chart.md`, which `BLESS=1` writes.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::{POLICY, beside_lines, step};
use crate::support::{Directory, Run};

const VALUES: &str = "image: registry.example.com/web:latest\nreplicas: 2\n";

const TEMPLATE: &str = r#"{{- define "shop.labels" }}
app: {{ .name }}
helm.sh/chart: {{ .chart }}
{{- end }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-web
  labels:
    {{- include "shop.labels" (dict "name" "web" "chart" .Chart.Name) | nindent 4 }}
spec:
  replicas: {{ .Values.replicas }}
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - name: web
        image: {{ .Values.image }}
"#;

/// A second template, which a change adds.
const WORKER: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-worker
spec:
  selector: {matchLabels: {app: worker}}
  template:
    metadata: {labels: {app: worker}}
    spec:
      containers:
      - name: worker
        image: registry.example.com/worker:latest
";

/// What `helm template` makes of the first template.
fn rendered_web(image: &str) -> String {
    format!(
        "---
# Source: shop/templates/web.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: release-name-web
  labels:
    app: web
    helm.sh/chart: shop
spec:
  replicas: 2
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - name: web
        image: {image}
"
    )
}

fn rendered_worker() -> String {
    let made = WORKER.replace("{{ .Release.Name }}", "release-name");
    format!("---\n# Source: shop/templates/worker.yaml\n{made}")
}

const EXCEPTIONS: &str = "apiVersion: pratique/v1alpha1
kind: Exceptions
exceptions:
- policy: no-latest
  kinds: [Deployment]
  names: ['*-worker']
  reason: the worker is built by each commit
  until: 2099-12-31
";

/// A repository with the chart, and a `helm` that prints what Helm makes of it.
fn repository() -> Directory {
    let directory = Directory::new()
        .with(".git/HEAD", "ref: refs/heads/main\n")
        .with("policies/no-latest.yaml", POLICY)
        .with(
            "charts/shop/Chart.yaml",
            "apiVersion: v2\nname: shop\nversion: 0.1.0\n",
        )
        .with("charts/shop/values.yaml", VALUES)
        .with("charts/shop/templates/web.yaml", TEMPLATE)
        .with("bin/helm", "#!/bin/sh\ncat bin/rendered/*.yaml\n")
        .with(
            "bin/rendered/1.yaml",
            rendered_web("registry.example.com/web:latest"),
        );
    let program = directory.path().join("bin/helm");
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
    directory
}

fn run(directory: &Directory, more: &[&str]) -> Run {
    let line = [
        &["review", "--render", "charts/shop", "--policies", "policies"],
        more,
    ]
    .concat();
    let path = format!("{}/bin:/usr/bin:/bin", directory.path().display());
    directory.run_with(&line, "", &[("PATH", &path)])
}

/// A step that runs the command, and shows what it prints.
fn command(walk: &mut String, title: &str, run: &Run, code: i32) {
    run.exits(code);
    let text = format!("$ {}\n{}{}# exit code {code}\n", run.line, run.stderr, run.stdout);
    step(walk, title, "console", &text);
}

#[test]
fn a_chart_becomes_green() {
    let mut walk = String::from(
        "# From a Helm chart to a green pull request\n\nA test of the command walks this way, and writes this page. Its `helm` prints what Helm makes \
         of the chart.\n",
    );
    let directory = repository();
    step(&mut walk, "`charts/shop/templates/web.yaml`", "yaml", TEMPLATE);
    step(&mut walk, "`charts/shop/values.yaml`", "yaml", VALUES);
    step(&mut walk, "`policies/no-latest.yaml`", "yaml", POLICY);
    command(&mut walk, "The chart as it is", &run(&directory, &[]), 1);
    let annotations = |directory: &Directory, more: &[&str]| {
        let run = run(directory, &[more, &["--output", "github"]].concat());
        beside_lines(directory, &run.stdout)
    };
    let beside = annotations(&directory, &[]);
    assert!(
        beside.contains("   5 | apiVersion: apps/v1\n     > error: no-latest"),
        "{beside}"
    );
    step(&mut walk, "Beside the lines of the pull request", "text", &beside);
    command(
        &mut walk,
        "What is there is known",
        &run(
            &directory,
            &["--write-baseline", "baseline.json", "--fail-on", "error"],
        ),
        0,
    );
    command(
        &mut walk,
        "With the baseline",
        &run(&directory, &["--baseline", "baseline.json"]),
        0,
    );
    let directory = directory
        .with("charts/shop/templates/worker.yaml", WORKER)
        .with("bin/rendered/2.yaml", rendered_worker());
    step(
        &mut walk,
        "A change adds `charts/shop/templates/worker.yaml`",
        "yaml",
        WORKER,
    );
    command(
        &mut walk,
        "What is new fails",
        &run(&directory, &["--baseline", "baseline.json"]),
        1,
    );
    let beside = annotations(&directory, &["--baseline", "baseline.json"]);
    assert!(
        beside.contains(
            "charts/shop/templates/worker.yaml\n   1 | apiVersion: apps/v1\n     > error: no-latest"
        ),
        "{beside}"
    );
    step(&mut walk, "Beside the lines of the change", "text", &beside);
    let directory = directory.with("exceptions.yaml", EXCEPTIONS);
    step(&mut walk, "`exceptions.yaml`", "yaml", EXCEPTIONS);
    let accepts = ["--baseline", "baseline.json", "--exceptions", "exceptions.yaml"];
    command(&mut walk, "With the exception", &run(&directory, &accepts), 0);
    let directory = directory.with(
        "bin/rendered/1.yaml",
        rendered_web("registry.example.com/web:1.4"),
    );
    let directory = directory.with("charts/shop/values.yaml", VALUES.replace("latest", "1.4"));
    step(
        &mut walk,
        "`charts/shop/values.yaml` is mended",
        "yaml",
        &VALUES.replace("latest", "1.4"),
    );
    let green = run(&directory, &accepts);
    green.stderr_has("is gone");
    command(&mut walk, "What the baseline knows is gone", &green, 0);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/walks/chart.md");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &walk).unwrap();
    }
    let recorded = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        walk == recorded,
        "the walk differs, BLESS=1 writes it: expected\n{recorded}\nfound\n{walk}"
    );
}
