//! Objects that Helm and Kustomize make: findings stand at their sources.

use serde_json::Value;

use crate::project::POLICY;
use crate::support::{Directory, Run};

/// A template, in which the line of the replicas is the 10th.
const TEMPLATE: &str = r#"{{- /* A deployment. */}}
{{- if .Values.enabled }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-web
  labels:
    {{- include "shop.labels" . | nindent 4 }}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      {{- range .Values.containers }}
      - name: {{ .name }}
        image: "{{ .image }}"
      {{- end }}
{{- end }}
"#;

/// What Helm makes of it, and of another one.
const RENDERED: &str = r#"---
# Source: shop/templates/service.yaml
apiVersion: v1
kind: Service
metadata:
  name: a-web
spec:
  ports: [{port: 80}]
---
# Source: shop/templates/deployment.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: a-web
  labels:
    app: shop
spec:
  replicas: REPLICAS
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: b
        image: "c:1"
"#;

fn rendered(replicas: &str) -> String {
    RENDERED.replace("REPLICAS", replicas)
}

fn repository() -> Directory {
    Directory::new()
        .with(".git/HEAD", "ref: refs/heads/main\n")
        .with("policies/few.yaml", POLICY)
        .with("charts/shop-chart/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 0.1.0\n")
        .with("charts/shop-chart/templates/deployment.yaml", TEMPLATE)
        .with(
            "charts/shop-chart/templates/service.yaml",
            "apiVersion: v1\nkind: Service\nmetadata:\n  name: {{ .Release.Name }}-web\nspec:\n  ports: [{port: 80}]\n",
        )
        .with("charts/other/Chart.yaml", "apiVersion: v2\nname: other\nversion: 0.1.0\n")
}

const LINE: &[&str] = &["review", "-", "--policies", "policies"];

fn review(directory: &Directory, more: &[&str], input: &str) -> Run {
    directory.run_with(&[LINE, more].concat(), input, &[])
}

#[test]
fn every_output_points_to_the_template() {
    let directory = repository();
    let template = "charts/shop-chart/templates/deployment.yaml";
    let run = |format: &str| review(&directory, &["-o", format], &rendered("9"));
    run("human").exits(1).stdout_has(&format!(
        "{template}:3:1: CREATE deployments.apps default/a-web: denied"
    ));
    run("github")
        .exits(1)
        .stdout_has(&format!("::error file={template},line=3,endLine=3,col=1"));
    run("junit")
        .exits(1)
        .stdout_has(&format!("file=\"{template}\" line=\"3\""));
    let sarif = run("sarif").json();
    let place = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], template);
    assert_eq!(place["region"]["startLine"], 3);
    let lines = run("ndjson").stdout;
    let denied: Value =
        serde_json::from_str(lines.lines().find(|line| line.contains("denied")).unwrap()).unwrap();
    assert_eq!(
        (&denied["file"], &denied["line"], &denied["rendered"]),
        (&template.into(), &3.into(), &"<stdin>:11:1".into())
    );
}

#[test]
fn scans_point_to_the_template() {
    let directory = repository();
    let template = "charts/shop-chart/templates/deployment.yaml";
    let scan = |more: &[&str], input: &str| {
        let line = ["scan", "-", "--policies", "policies"];
        directory.run_with(&[&line[..], more].concat(), input, &[])
    };
    scan(&[], &rendered("9"))
        .exits(1)
        .stdout_has(&format!("Deployment default/a-web ({template}:3:1)"));
    let place = |run: &Run| run.json()["runs"][0]["results"][0]["locations"][0]["physicalLocation"].clone();
    let sarif = place(&scan(&["-o", "sarif"], &rendered("9")));
    assert_eq!(sarif["artifactLocation"]["uri"], template);
    assert_eq!(sarif["region"]["startLine"], 3);
    // The field that a server refuses is on its own line.
    let sarif = place(&scan(&["-o", "sarif"], &rendered("-1")));
    assert_eq!(
        (&sarif["artifactLocation"]["uri"], &sarif["region"]["startLine"]),
        (&template.into(), &10.into())
    );
    let plain = RENDERED.replace("REPLICAS", "9").replace("# Source", "# From");
    let sarif = place(&scan(&["-o", "sarif", "--stdin-filename", "made.yaml"], &plain));
    assert_eq!(sarif["artifactLocation"]["uri"], "made.yaml");
    let annotated = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: prod-web, annotations: {config.kubernetes.io/origin: \"path: base/web.yaml\\n\"}}, spec: {replicas: 9, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: a, image: a}]}}}}\n";
    let sarif = place(&scan(&["-o", "sarif"], annotated));
    assert_eq!(sarif["artifactLocation"]["uri"], "base/web.yaml");
}

#[test]
fn comparisons_point_to_the_template() {
    let directory = repository().with("old/few.yaml", POLICY.replace('3', "20"));
    let place = "charts/shop-chart/templates/deployment.yaml:3:1";
    let impact = ["impact", "-", "--old", "old", "--new", "policies"];
    directory
        .run_with(&impact, &rendered("9"), &[])
        .exits(1)
        .stdout_has(place);
    let upgrade = [
        "upgrade",
        "-",
        "--from",
        "1.36",
        "--to",
        "1.37",
        "--policies",
        "policies",
    ];
    let removed = "# Source: shop/templates/deployment.yaml\napiVersion: networking.k8s.io/v1beta1\nkind: ServiceCIDR\nmetadata:\n  name: a\n\
                   spec:\n  cidrs: [10.8.0.0/16]\n";
    directory
        .run_with(&upgrade, removed, &[])
        .exits(1)
        .stdout_has("charts/shop-chart/templates/deployment.yaml");
}

#[test]
fn fields_point_to_their_lines() {
    let template = "charts/shop-chart/templates/deployment.yaml";
    let run = review(&repository(), &[], &rendered("-1"));
    run.exits(1)
        .stdout_has(&format!("{template}:10:1: spec.replicas: Invalid value: -1"))
        .stdout_has("18 |   replicas: -1")
        .stdout_has("= rendered: <stdin>:18:");
    review(&repository(), &["-o", "github"], &rendered("-1"))
        .stdout_has(&format!("::error file={template},line=10,"));
}

#[test]
fn dropped_fields_point_to_their_lines() {
    let volumes = "      volumes:\n      - name: data\n        emptyDir: {mode: 448}\n";
    let end = "{{- end }}\n";
    let of_deployment = TEMPLATE.strip_suffix(end).unwrap();
    let template = "charts/shop-chart/templates/deployment.yaml";
    let directory = repository().with(template, format!("{of_deployment}{volumes}{end}"));
    let input = format!("{}{volumes}", rendered("2"));
    let place = format!("{template}:22:1: spec.template.spec.volumes[0].emptyDir.mode is dropped");
    review(&directory, &[], &input)
        .exits(0)
        .stdout_has(&place)
        .stdout_has("28 |         emptyDir: {mode: 448}")
        .stdout_has("= rendered: <stdin>:28:");
    review(&directory, &["-o", "github"], &input).stdout_has(&format!("::warning file={template},line=22,"));
}

/// What a strict server refuses, and others warn of, is at its line as well.
#[test]
fn unknown_fields_point_to_their_lines() {
    let end = "{{- end }}\n";
    let of_deployment = TEMPLATE.strip_suffix(end).unwrap();
    let template = "charts/shop-chart/templates/deployment.yaml";
    let directory = repository().with(
        template,
        format!("{of_deployment}      restartPolici: Never\n{end}"),
    );
    let input = format!("{}      restartPolici: Never\n", rendered("2"));
    let place = format!("{template}:20:1");
    let field = "unknown field \"spec.template.spec.restartPolici\"";
    review(&directory, &[], &input)
        .exits(0)
        .stdout_has(&format!("warning: {place}: {field}"));
    review(&directory, &["-o", "github"], &input).stdout_has(&format!("::warning file={template},line=20,"));
    review(&directory, &["--field-validation=strict"], &input)
        .exits(1)
        .stdout_has(&format!("= source: {place}"));
    review(&directory, &["--field-validation=strict", "-o", "github"], &input)
        .exits(1)
        .stdout_has(&format!("::error file={template},line=20,"));
    let line = ["scan", "-", "--policies", "policies", "-o", "sarif"];
    let scan = directory.run_with(&line, &input, &[]).json();
    let place = &scan["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"];
    assert_eq!(place, 20, "{scan}");
}

#[test]
fn objects_of_a_list_are_of_the_template_above_it() {
    let items: String = RENDERED
        .lines()
        .skip(10)
        .enumerate()
        .map(|(index, line)| format!("{} {line}\n", if index == 0 { "-" } else { " " }))
        .collect();
    let items = items.replace("REPLICAS", "9");
    let comment = "# Source: shop/templates/deployment.yaml\n";
    let list = "apiVersion: v1\nkind: List\nitems:\n";
    review(&repository(), &[], &format!("{comment}{list}{items}"))
        .exits(1)
        .stdout_has("charts/shop-chart/templates/deployment.yaml:");
    review(&repository(), &[], &format!("{list}{comment}{items}"))
        .exits(1)
        .stdout_has("<stdin>:5:");
}

/// A chart that another depends on may stand by itself, and not in it.
#[test]
fn charts_that_others_depend_on_are_found() {
    let directory = repository()
        .with(
            "charts/db/Chart.yaml",
            "apiVersion: v2\nname: db\nversion: 0.1.0\n",
        )
        .with("charts/db/templates/deployment.yaml", TEMPLATE);
    let input = rendered("-1").replace("shop/templates/deployment", "shop/charts/db/templates/deployment");
    review(&directory, &[], &input)
        .exits(1)
        .stdout_has("charts/db/templates/deployment.yaml:10:1: spec.replicas: Invalid value: -1");
}

/// The templates of a chart that is packed are in no file: the chart that has it names it.
#[test]
fn charts_that_are_packed_are_those_of_their_chart() {
    let description = "apiVersion: v2\nname: shop\nversion: 0.1.0\ndependencies:\n- name: cache\n  version: 1.0.0\n- name: postgres\n  \
                       alias: db\n  version: 1.0.0\n";
    let directory = repository().with("charts/shop-chart/Chart.yaml", description);
    for (packed, place) in [
        ("cache", "Chart.yaml:5:3"),
        ("db", "Chart.yaml:7:3"),
        ("db/charts/common", "Chart.yaml:7:3"),
        // Nothing but the archive says that it is there.
        ("postgres", "Chart.yaml"),
    ] {
        let source = format!("shop/charts/{packed}/templates/web.yaml");
        let input = rendered("9").replace("shop/templates/deployment.yaml", &source);
        for more in [&[][..], &["--stdin-filename", "charts/shop-chart"]] {
            review(&directory, more, &input).exits(1).stdout_has(&format!(
                "charts/shop-chart/{place}: CREATE deployments.apps default/a-web: denied"
            ));
        }
    }
}

#[test]
fn sources_that_are_not_there_are_told() {
    let directory = Directory::new().with("policies/few.yaml", POLICY);
    const TOLD: &str = "--stdin-filename PATH, which review, scan, impact and upgrade take, names the chart or the kustomization";
    let helm = "2 objects are of a source that is not below the working directory, such as shop/templates/deployment.yaml: ";
    for format in ["human", "json", "github"] {
        let run = review(&directory, &["-o", format], &rendered("2"));
        run.exits(0).stderr_has(helm).stderr_has(TOLD);
        assert!(format == "human" || run.stdout.contains(TOLD), "{run}");
    }
    let kustomize = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations:\n    config.kubernetes.io/origin: |\n      \
                     path: base/map.yaml\n";
    let run = review(&directory, &[], kustomize);
    run.exits(0)
        .stderr_has("1 object is of a source")
        .stderr_has("such as base/map.yaml")
        .stderr_has(TOLD);
    directory
        .run_with(&["scan", "-", "--policies", "policies"], &rendered("2"), &[])
        .exits(0)
        .stderr_has(TOLD);
    let run = review(&repository(), &[], &rendered("2"));
    assert!(!run.stderr.contains(TOLD), "{run}");
}

#[test]
fn names_lead_nowhere_else() {
    let directory = repository().with("outside.yaml", "kind: Deployment\n");
    for source in ["../outside.yaml", "/etc/passwd", "shop/../../outside.yaml"] {
        let input = rendered("9").replace("shop/templates/deployment.yaml", source);
        review(&directory, &[], &input)
            .exits(1)
            .stdout_has("<stdin>:11:1: CREATE");
    }
    // A chart that is not here is named all the same, as no line of it is known.
    let input = rendered("9").replace("shop/templates", "absent/templates");
    review(&directory, &[], &input)
        .exits(1)
        .stdout_has("absent/templates/deployment.yaml: CREATE deployments.apps");
    // Of two charts with the same file, none is meant.
    let twice = repository()
        .with("copy/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 0.1.0\n")
        .with("copy/templates/deployment.yaml", TEMPLATE);
    review(&twice, &[], &rendered("9"))
        .exits(1)
        .stdout_has("shop/templates/deployment.yaml: CREATE");
    review(&twice, &["--stdin-filename", "copy"], &rendered("9"))
        .exits(1)
        .stdout_has("copy/templates/deployment.yaml:3:1: CREATE");
}

#[test]
fn standard_input_can_have_a_name() {
    let object = rendered("9").replace("# Source: ", "# ");
    review(
        &repository(),
        &["--stdin-filename", "deploy/all.yaml", "-o", "github"],
        &object,
    )
    .exits(1)
    .stdout_has("::error file=deploy/all.yaml,line=11,");
    review(&repository(), &["--stdin-filename", "deploy/all.yaml"], "a: [\n")
        .exits(2)
        .stderr_has("deploy/all.yaml:");
    // A file that is read has its own place.
    let saved = repository().with("saved.yaml", rendered("9"));
    saved
        .run(&["review", "saved.yaml", "--policies", "policies"])
        .exits(1)
        .stdout_has("saved.yaml:11:1: CREATE");
}

#[test]
fn other_commands_point_to_what_is_piped() {
    for command in ["scan", "upgrade"] {
        let run = repository().run(&[command, "--render", "charts/shop-chart"]);
        run.exits(2)
            .stderr_has("`helm template DIR` and `kustomize build DIR` print what `-` reads");
    }
}

/// The lines of what was made are none of the chart or the kustomization that it was made of.
#[test]
fn what_has_no_source_is_of_the_directory_that_was_built() {
    let directory = repository().with("overlays/prod/kustomization.yaml", "resources: [../../base]\n");
    let object = rendered("-1").replace("# Source: ", "# ");
    for (built, file) in [
        ("overlays/prod", "overlays/prod/kustomization.yaml"),
        ("charts/shop-chart", "charts/shop-chart/Chart.yaml"),
    ] {
        let line = ["--stdin-filename", built];
        review(&directory, &line, &object)
            .exits(1)
            .stdout_has(&format!("{file}: CREATE deployments.apps default/a-web: denied"))
            .stdout_has(&format!("= rendered: {file}:18:"));
        review(&directory, &[&line[..], &["-o", "github"]].concat(), &object)
            .exits(1)
            .stdout_has(&format!("::error file={file},title=invalid::"));
    }
}

/// An object as Kustomize writes it, with its origin.
fn annotated(origin: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  annotations:\n    config.kubernetes.io/origin: |\n      {origin}\n  name: prod-web\n\
         spec:\n  replicas: -1\n  selector: {{matchLabels: {{app: web}}}}\n  template: {{metadata: {{labels: {{app: web}}}}, spec: {{containers: [{{name: a, \
         image: a}}]}}}}\n"
    )
}

const BASE: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  \
    replicas: -1\n";

#[test]
fn annotations_of_kustomize_name_files() {
    let directory = repository()
        .with("base/all.yaml", BASE)
        .with("base/kustomization.yaml", "resources: [all.yaml]\n")
        .with("overlays/prod/kustomization.yaml", "resources: [../../base]\n");
    review(&directory, &[], &annotated("path: base/all.yaml"))
        .exits(1)
        .stdout_has("base/all.yaml:5:1: CREATE deployments.apps default/prod-web")
        .stdout_has("base/all.yaml:10:13: spec.replicas: Invalid value: -1");
    let line = ["--stdin-filename", "overlays/prod"];
    review(&directory, &line, &annotated("path: ../../base/all.yaml"))
        .exits(1)
        .stdout_has("base/all.yaml:5:1: CREATE");
    // A patch sets what the file does not have: no line of it is the one.
    let patched = annotated("path: base/all.yaml")
        .replace("{name: a, ", "{name: a, securityContext: {runAsUser: -5}, ");
    review(&directory, &[], &patched)
        .exits(1)
        .stdout_has("base/all.yaml:10:13: spec.replicas: Invalid value: -1")
        .stdout_has(
            "base/all.yaml: spec.template.spec.containers[0].securityContext.runAsUser: Invalid value: -5",
        );
    for outside in ["../../../etc/passwd", "/etc/x.yaml"] {
        review(&directory, &[], &annotated(&format!("path: {outside}")))
            .exits(1)
            .stdout_has("<stdin>:1:1: CREATE");
    }
}

/// What a patch sets is at its line, in whichever form it is written; what something else has set since is at the line of the base.
#[test]
fn values_of_patches_are_at_their_lines() {
    let own = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  ";
    let user = "/spec/template/spec/containers/0/securityContext";
    let directory = repository()
        .with("base/all.yaml", BASE)
        .with("base/kustomization.yaml", "resources: [all.yaml]\n")
        .with("base/other.yaml", format!("{own}replicas: -1\n"))
        .with(
            "overlays/prod/kustomization.yaml",
            format!(
                "resources: [../../base]\ncomponents: [../part]\nnamePrefix: prod-\npatches:\n- path: merged.yaml\n- target: {{kind: Deploy.*, \
                 name: web}}\n  patch: |-\n    - op: add\n      path: {user}\n      value:\n        runAsUser: -5\n- patch: |\n    # Two lines.\n    \
                 {}\n- target: {{kind: Service}}\n  patch: |-\n    - {{op: add, path: /spec/progressDeadlineSeconds, value: -3}}\n",
                format!("{own}revisionHistoryLimit: -8").replace('\n', "\n    ")
            ),
        )
        .with("overlays/prod/merged.yaml", format!("{own}minReadySeconds: -7\n  replicas: -4\n"))
        .with(
            "overlays/part/kustomization.yaml",
            "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatchesJson6902:\n- target: {group: apps, version: v1, kind: \
             Deployment, name: web}\n  path: user.json\n",
        )
        .with(
            "overlays/part/user.json",
            "[\n  {\"op\": \"add\", \"path\": \"/spec/template/spec/containers/0/ports\", \"value\": [\n    {\"containerPort\": -9}]}\n]\n",
        );
    let made = annotated("path: ../../base/all.yaml")
        .replace(
            "spec:\n",
            "spec:\n  progressDeadlineSeconds: -3\n  minReadySeconds: -7\n  revisionHistoryLimit: -8\n",
        )
        .replace(
            "{name: a, ",
            "{name: a, securityContext: {runAsUser: -5}, ports: [{containerPort: -9}], ",
        );
    let line = ["--stdin-filename", "overlays/prod"];
    review(&directory, &line, &made)
        .exits(1)
        .stdout_has("base/all.yaml:5:1: CREATE")
        .stdout_has("overlays/prod/merged.yaml:5:20: spec.minReadySeconds: Invalid value: -7")
        .stdout_has("overlays/prod/kustomization.yaml:11:20: spec.template.spec.containers[0].securityContext.runAsUser")
        .stdout_has("overlays/prod/kustomization.yaml:18:29: spec.revisionHistoryLimit: Invalid value: -8")
        .stdout_has("overlays/part/user.json:3:23: spec.template.spec.containers[0].ports[0].containerPort")
        // It is -4 in a patch, which something else changed.
        .stdout_has("base/all.yaml:10:13: spec.replicas: Invalid value: -1")
        // The patch that has it is for a Service.
        .stdout_has("base/all.yaml: spec.progressDeadlineSeconds: Invalid value: -3");
    // Whose kustomization it is nobody said.
    review(
        &directory,
        &[],
        &annotated("path: base/all.yaml").replace("spec:\n", "spec:\n  minReadySeconds: -7\n"),
    )
    .exits(1)
    .stdout_has("base/all.yaml: spec.minReadySeconds: Invalid value: -7");
}

#[cfg(unix)]
mod programs {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// A repository whose `bin` has a program that notes its arguments, and prints a file or fails.
    fn with_program(repository: Directory, name: &str, script: &str) -> Directory {
        let repository = repository
            .with(
                &format!("bin/{name}"),
                format!("#!/bin/sh\necho \"$0 $*\" >> ran\n{script}"),
            )
            .with("rendered.yaml", rendered("9"));
        let path = repository.path().join(format!("bin/{name}"));
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        repository
    }

    fn run(directory: &Directory, line: &[&str]) -> Run {
        let path = format!("{}/bin:/usr/bin:/bin", directory.path().display());
        directory.run_with(line, "", &[("PATH", &path)])
    }

    fn ran(directory: &Directory) -> String {
        fs::read_to_string(directory.path().join("ran")).unwrap_or_default()
    }

    const RENDER: [&str; 5] = [
        "review",
        "--render",
        "--policies",
        "policies",
        "charts/shop-chart",
    ];

    #[test]
    fn charts_are_rendered() {
        let directory = with_program(repository(), "helm", "cat rendered.yaml");
        run(&directory, &RENDER)
            .exits(1)
            .stdout_has("charts/shop-chart/templates/deployment.yaml:3:1: CREATE deployments.apps default/a-web: denied")
            .stdout_has("1 allowed, 1 denied");
        let more = [
            "--helm-values",
            "v.yaml",
            "-n",
            "shop",
            "--kubernetes-version",
            "1.36",
        ];
        run(&directory, &[&RENDER[..], &more].concat()).exits(1);
        let ran = ran(&directory);
        let second = ran.lines().nth(1).unwrap();
        assert!(
            second.ends_with(
                "helm template --include-crds --kube-version 1.36 --namespace shop --values v.yaml -- charts/shop-chart"
            ),
            "{ran}"
        );
    }

    #[test]
    fn kustomizations_are_rendered() {
        let repository = repository()
            .with("base/all.yaml", BASE)
            .with("overlays/prod/kustomization.yaml", "resources: [../../base]\n");
        let origin = annotated("path: ORIGIN");
        let plain: String = origin
            .lines()
            .filter(|line| {
                !line.contains("config.k") && !line.contains("ORIGIN") && !line.contains("annotations")
            })
            .map(|line| format!("{line}\n"))
            .collect();
        let script = "for last; do :; done\ncase $last in\noverlays/prod) cat plain.yaml;;\n*) top=$(cd \"$last\" && pwd -P); up=$(echo \"$top\" | sed 's|/[^/]*|../|g'); sed \"s|ORIGIN|$up$(pwd -P | sed 's|^/||')/base/all.yaml|\" origin.yaml;;\nesac\n";
        let directory = with_program(
            repository.with("plain.yaml", plain).with("origin.yaml", origin),
            "kustomize",
            script,
        );
        run(&directory, &["review", "--render", "overlays/prod"])
            .exits(1)
            .stdout_has("base/all.yaml:5:1: CREATE deployments.apps default/prod-web");
        assert!(
            ran(&directory).contains("kustomize build -- overlays/prod"),
            "{}",
            ran(&directory)
        );
    }

    /// A revision has the sources, and not what is made of them: nothing would be known as stored.
    #[test]
    fn what_is_rendered_is_compared_with_no_revision() {
        let directory = with_program(repository(), "helm", "cat rendered.yaml");
        run(&directory, &[&RENDER[..], &["--since", "main"]].concat())
            .exits(2)
            .stderr_has("'--render' cannot be used with '--since <REVISION>'");
        run(&directory, &[&RENDER[..], &["--old", "rendered.yaml"]].concat())
            .exits(0)
            .stdout_has("UPDATE deployments.apps default/a-web: allowed");
    }

    #[test]
    fn what_fails_is_told() {
        let directory = with_program(repository(), "helm", "echo 'no such value' >&2; exit 3");
        run(&directory, &RENDER)
            .exits(2)
            .stderr_has("charts/shop-chart: helm template: exit status: 3: no such value");
        directory
            .run_with(&RENDER, "", &[("PATH", "/nowhere")])
            .exits(2)
            .stderr_has("--render runs helm template, and there is no such program on the path");
        run(&directory, &["review", "--render", "policies"])
            .exits(2)
            .stderr_has("there is no chart and no kustomization among the inputs");
    }

    #[test]
    fn what_fails_is_annotated() {
        for (message, place) in [
            ("no such value", "Chart.yaml"),
            (
                "template: shop/templates/deployment.yaml:10:14: executing",
                "templates/deployment.yaml,line=10,col=14",
            ),
        ] {
            let directory = with_program(repository(), "helm", &format!("echo '{message}' >&2; exit 3"));
            run(&directory, &[&RENDER[..], &["-o", "github"]].concat())
                .exits(2)
                .stdout_has(&format!(
                    "::error file=charts/shop-chart/{place},title=pratique%3A not evaluated::"
                ))
                .stdout_has(&format!("exit status: 3: {message}"));
            // Other outputs are for programs that read nothing else.
            assert_eq!(
                run(&directory, &[&RENDER[..], &["-o", "json"]].concat()).stdout,
                ""
            );
        }
    }

    #[test]
    fn what_a_program_says_is_passed_on() {
        let warning = "walk.go:75: found symbolic link";
        let script = format!("echo '{warning}' >&2; cat rendered.yaml");
        let directory = with_program(repository(), "helm", &script);
        run(&directory, &RENDER)
            .exits(1)
            .stderr_has(&format!("note: charts/shop-chart: helm template: {warning}"));
    }

    #[test]
    fn no_program_runs_on_what_a_project_file_names() {
        let project = "apiVersion: pratique/v1alpha1\nkind: Configuration\npolicies: [policies]\ninputs: [charts/shop-chart]\n";
        let directory =
            with_program(repository(), "helm", "cat rendered.yaml").with("pratique.yaml", project);
        run(&directory, &["review", "--render"])
            .exits(2)
            .stderr_has("charts/shop-chart: --render runs no program on what a project file names");
        assert_eq!(ran(&directory), "");
        run(&directory, &["review", "--render", "--trust-project-file"]).exits(1);
        let with_flag = directory.with("pratique.yaml", format!("{project}review: {{render: true}}\n"));
        run(&with_flag, &["review"])
            .exits(2)
            .stderr_has("`review.render` reaches out of the repository");
        assert_eq!(ran(&with_flag).lines().count(), 1);
        run(&with_flag, &[&RENDER[..], &["--no-project-file"]].concat()).exits(1);
    }
}
