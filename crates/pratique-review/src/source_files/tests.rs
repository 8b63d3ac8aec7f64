//! What files are, by their names and contents.

use std::fs;

use super::*;

/// Files in a directory, and what they are.
#[track_caller]
fn check(files: &[(&str, &str, Option<SourceKind>)]) {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join(".git")).unwrap();
    for (name, text, _) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let mut sources = SourceFiles::default();
    for (name, _, expected) in files {
        let source = sources.recognize(&directory.path().join(name));
        assert_eq!(source.map(|source| source.kind), *expected, "{name}");
    }
}

#[test]
fn parts_are_named_from_where_the_directory_is() {
    let check = |text: &str, expected: &[&str]| {
        let file = ManifestFile {
            path: "kustomization.yaml".to_owned(),
            content: text.as_bytes().to_vec(),
        };
        let parts = named_parts(Path::new("overlays/shop"), &file);
        let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
        assert_eq!(parts, expected, "{text}");
    };
    let text = "resources: [../../base, ./web.yaml]\nbases: [../other]\ncomponents: [../../parts/tls]\npatches: [{path: p.yaml}]\n";
    check(
        text,
        &["base", "overlays/shop/web.yaml", "overlays/other", "parts/tls"],
    );
    check("resources: {a: b}\nbases: 3\n", &[]);
    // A hostile one names any number.
    let many = format!("resources: [{}]\n", "a, ".repeat(10_001));
    let file = ManifestFile {
        path: "kustomization.yaml".to_owned(),
        content: many.into_bytes(),
    };
    assert_eq!(named_parts(Path::new(""), &file).len(), 10_000);
}

const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n";

#[test]
fn kustomizations_name_their_patches() {
    let kustomization = "resources: [deploy.yaml, both.yaml]\n\
        patches: [{path: patch.yaml}, {path: both.yaml}, {patch: \"- op: remove\"}]\n\
        patchesStrategicMerge: [old/patch.yaml, \"kind: A\\nmetadata: {}\"]\n\
        patchesJson6902: [{path: ./json.yaml, target: {kind: A}}]\n\
        configurations: [config.yaml]\nreplacements: [{path: replace.yaml}, {source: {kind: A}}]\n\
        transformers: [labels.yaml]\nhelmCharts: [{name: a, valuesFile: chart.yaml, additionalValuesFiles: [more.yaml]}]\n\
        openapi: {path: schema.json}\n#- path: patches/later.yaml\n# - webhook_patch.yaml\n#- network.yaml\n";
    let configuration = Some(SourceKind::KustomizeConfiguration);
    let transformer = "apiVersion: builtin\nkind: LabelTransformer\nmetadata: {name: a}\n";
    check(&[
        (
            "over/kustomization.yaml",
            kustomization,
            Some(SourceKind::Kustomization),
        ),
        ("over/deploy.yaml", DEPLOYMENT, None),
        ("over/both.yaml", DEPLOYMENT, None),
        ("over/other.yaml", DEPLOYMENT, None),
        ("over/patch.yaml", DEPLOYMENT, Some(SourceKind::Patch)),
        ("over/old/patch.yaml", DEPLOYMENT, Some(SourceKind::Patch)),
        (
            "over/json.yaml",
            "- {op: remove, path: /a}\n",
            Some(SourceKind::Patch),
        ),
        ("over/config.yaml", "nameReference: []\n", configuration),
        ("over/replace.yaml", "source: {kind: A}\n", configuration),
        ("over/labels.yaml", transformer, configuration),
        ("over/chart.yaml", "a: 1\n", Some(SourceKind::Values)),
        ("over/more.yaml", "a: 1\n", Some(SourceKind::Values)),
        ("over/schema.json", "{}", configuration),
        ("over/patches/later.yaml", DEPLOYMENT, Some(SourceKind::Patch)),
        ("over/webhook_patch.yaml", DEPLOYMENT, Some(SourceKind::Patch)),
        ("over/network.yaml", DEPLOYMENT, None),
        ("patch.yaml", DEPLOYMENT, None),
    ]);
}

/// An object is none the less for a kustomization that names it as something else.
#[test]
fn kustomizations_hide_no_objects() {
    let patch = Some(SourceKind::Patch);
    let kustomization = Some(SourceKind::Kustomization);
    let hidden = "patches: [{path: evil.yaml}, {path: patch.json}]\ntransformers: [other.yaml]\n";
    let component =
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches: [{path: patch.yaml}]\n";
    let list = "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Pod, metadata: {name: a}}]\n";
    check(&[
        // There is nothing to patch.
        ("bare/kustomization.yaml", hidden, kustomization),
        ("bare/evil.yaml", DEPLOYMENT, None),
        ("bare/other.yaml", DEPLOYMENT, None),
        (
            "bare/patch.json",
            "[{\"op\": \"remove\", \"path\": \"/a\"}]",
            patch,
        ),
        ("list/kustomization.yaml", hidden, kustomization),
        ("list/evil.yaml", list, None),
        // A kustomization names what is in or below its directory.
        (
            "up/down/kustomization.yaml",
            "resources: [a.yaml]\npatches: [{path: ../../evil.yaml}, {path: ../evil.yaml}]\n",
            kustomization,
        ),
        ("up/evil.yaml", DEPLOYMENT, None),
        ("evil.yaml", DEPLOYMENT, None),
        // A file of that name which is none.
        (
            "none/kustomization.yaml",
            &format!("{DEPLOYMENT}resources: [a.yaml]\npatches: [{{path: evil.yaml}}]\n"),
            None,
        ),
        ("none/evil.yaml", DEPLOYMENT, None),
        // Those that use a component have the resources.
        ("component/kustomization.yaml", component, kustomization),
        ("component/patch.yaml", DEPLOYMENT, patch),
    ]);
}

/// What looks like an object is told apart from what no client would send.
#[test]
fn sources_with_objects_are_known() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
    fs::create_dir(directory.path().join(".git")).unwrap();
    write(
        "kustomization.yaml",
        "resources: [a.yaml]\npatches: [{path: object.yaml}, {path: part.yaml}]\ntransformers: [labels.yaml]\n",
    );
    write("object.yaml", DEPLOYMENT);
    write("part.yaml", "- {op: remove, path: /a}\n");
    write(
        "labels.yaml",
        "apiVersion: builtin\nkind: LabelTransformer\nmetadata: {name: a}\n",
    );
    let mut sources = SourceFiles::default();
    let mut has_object = |name: &str| {
        let source = sources.recognize(&directory.path().join(name));
        source.unwrap().has_object
    };
    let found = ["kustomization.yaml", "object.yaml", "part.yaml", "labels.yaml"].map(&mut has_object);
    assert_eq!(found, [false, true, false, false]);
}

#[test]
fn kustomizations_name_what_their_generators_read() {
    let kustomization = "resources: [dashboards.yaml]\n\
        configMapGenerator: [{name: a, files: [manager.yaml, config.yaml=dev/config.yaml, dashboards.yaml]}]\n\
        secretGenerator: [{name: b, files: [../secret.yaml], literals: [a=literal.yaml]}]\n";
    let configuration = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n";
    let generator = Some(SourceKind::GeneratorFile);
    check(&[
        (
            "a/b/kustomization.yaml",
            kustomization,
            Some(SourceKind::Kustomization),
        ),
        ("a/b/manager.yaml", configuration, generator),
        ("a/b/dev/config.yaml", configuration, generator),
        // A resource as well.
        ("a/b/dashboards.yaml", DEPLOYMENT, None),
        ("a/secret.yaml", configuration, None),
        ("a/b/literal.yaml", DEPLOYMENT, None),
        ("a/b/config.yaml", configuration, None),
    ]);
}

#[test]
fn kustomizations_are_recognised() {
    let kustomize = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n";
    let component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n";
    let flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\n";
    let kubebuilder =
        "nameReference:\n- kind: Service\n  fieldSpecs: [{kind: A, path: a}]\nnamespace: [{path: a}]\n";
    let kustomization = Some(SourceKind::Kustomization);
    check(&[
        ("a/kustomization.yml", "resources: []\n", kustomization),
        ("b/Kustomization", "", kustomization),
        ("c/base.yaml", kustomize, kustomization),
        ("c/component.yaml", component, kustomization),
        // The objects of Flux are ones, whatever their files are called.
        ("d/kustomization.yaml", flux, None),
        ("e/kustomization.yaml", DEPLOYMENT, None),
        ("e/both.yaml", &format!("{kustomize}---\n{DEPLOYMENT}"), None),
        (
            "f/kustomizeconfig.yaml",
            kubebuilder,
            Some(SourceKind::KustomizeConfiguration),
        ),
        ("f/other.yaml", "namespace: default\n", None),
        (
            "f/removal.yaml",
            "- op: remove\n  path: /spec/a\n",
            Some(SourceKind::Patch),
        ),
        ("f/list.yaml", "- path: /spec/a\n", None),
        ("f/mixed.yaml", "nameReference: []\nkind: Pod\n", None),
    ]);
}

#[test]
fn charts_have_templates_and_values() {
    let values = Some(SourceKind::Values);
    let template = Some(SourceKind::Template);
    check(&[
        (
            "chart/Chart.yaml",
            "apiVersion: v2\nname: shop\n",
            Some(SourceKind::Chart),
        ),
        ("chart/values.yaml", "replicas: 3\n", values),
        ("chart/values.schema.json", "{}", values),
        ("chart/ci/test.yaml", "replicas: 3\n", values),
        (
            "chart/templates/a.yaml",
            "kind: A\nname: \"{{ .Values.a }}\"\n",
            template,
        ),
        ("chart/templates/b.yaml", DEPLOYMENT, None),
        (
            "chart/templates/large.yaml",
            &format!("{{{{- if .a }}}}\n{}", "# large\n".repeat(50_000)),
            template,
        ),
        (
            "chart/tests/a_test.yaml",
            "suite: a\n",
            Some(SourceKind::ChartFile),
        ),
        ("chart/crds/c.yaml", DEPLOYMENT, None),
        ("other/values-production.yaml", "replicas: 3\n", values),
        ("other/values.yaml", DEPLOYMENT, None),
        ("other/prices.yaml", "replicas: 3\n", None),
    ]);
}

/// A build writes the description of some charts.
#[test]
fn charts_are_recognised_before_they_are_built() {
    const TEMPLATE: &str = "kind: A\nname: \"{{ .Values.a }}\"\n";
    check(&[
        (
            "chart/Chart.template.yaml",
            "name: shop\nversion: v0.1.0\n",
            Some(SourceKind::Chart),
        ),
        ("chart/templates/a.yaml", TEMPLATE, Some(SourceKind::Template)),
        ("chart/templates/b.yaml", DEPLOYMENT, None),
        ("tool/Chart.yaml.tmpl", "name: {{ .name }}\n", None),
        ("tool/templates/a.yaml", TEMPLATE, Some(SourceKind::Template)),
        // There are no templates beside it.
        ("bare/Chart.template.yaml", "name: shop\n", None),
        ("none/templates/a.yaml", TEMPLATE, None),
    ]);
}

#[test]
fn templates_are_recognised_by_what_they_begin_with() {
    let template = Some(SourceKind::Template);
    let alert = "kind: ConfigMap\ndata:\n  a: |\n    {{ $labels.pod }}\n  b: \"{{ .x }}\"\n";
    check(&[
        ("a.yaml", "{{- if .Values.a }}\nkind: A\n{{- end }}\n", template),
        ("b.yaml", "# comment\n---\n\n  {{ include \"a\" . }}\n", template),
        ("c.yaml", "{{/* comment */}}\nkind: A\n", template),
        ("d.yaml", "kind: A\nname: {{ .Values.name }}\n", template),
        ("e.yaml", "kind: A\nspec:\n{{ toYaml . | indent 2 }}\n", template),
        ("f.yaml", alert, None),
        // What is wrong with it has nothing to do with the action.
        ("g.yaml", &format!("{alert}---\nkind: [\na: b\n\n\n"), None),
        ("h.yaml", "kind: A\n\tb: c\n", None),
    ]);
}

#[test]
fn only_files_are_read() {
    let mut sources = SourceFiles::default();
    for path in ["none.yaml", "/dev/zero", "/", ""] {
        assert_eq!(sources.recognize(Path::new(path)), None);
    }
    let large = "kind: A\nname: {{ a }}\n".repeat(50_000);
    assert_eq!(
        sources.recognize_content(Path::new("a.yaml"), large.as_bytes()),
        None
    );
}

/// Configurations of programs have no names; what has one may be an object of a definition.
#[test]
fn configurations_of_programs_are_no_objects() {
    let configuration = Some(SourceKind::ProgramConfiguration);
    check(&[
        (
            "kind.yaml",
            "apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\nnodes: [{role: control-plane}]\n",
            configuration,
        ),
        (
            "kubeadm.yaml",
            "apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\n---\napiVersion: kubelet.config.k8s.io/v1beta1\nkind: \
             KubeletConfiguration\n",
            configuration,
        ),
        (
            "config.yaml",
            "apiVersion: v1\nkind: Config\nclusters: []\n",
            configuration,
        ),
        (
            "audit.yaml",
            "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: []\n",
            configuration,
        ),
        ("event.yaml", "apiVersion: audit.k8s.io/v1\nkind: Event\n", None),
        (
            "named.yaml",
            "apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\nmetadata: {name: a}\n",
            None,
        ),
        (
            "both.yaml",
            "apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\n---\napiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n",
            None,
        ),
        (
            "pratique.yaml",
            "apiVersion: pratique/v1alpha1\nkind: Configuration\n",
            configuration,
        ),
        (
            "accepted.yaml",
            "apiVersion: pratique/v1alpha1\nkind: Exceptions\nexceptions: []\n",
            configuration,
        ),
        (
            "known.json",
            r#"{"apiVersion": "pratique/v1alpha1", "kind": "Baseline", "command": "scan", "findings": []}"#,
            configuration,
        ),
        (
            "snapshot.yaml",
            "apiVersion: pratique/v1alpha1\nkind: Other\n",
            None,
        ),
        ("map.yaml", "apiVersion: v1\nkind: ConfigMap\n", None),
    ]);
}

/// What a server is started with has no names either, and only it can be checked.
#[test]
fn configurations_of_servers_are_no_objects() {
    let files = [
        "apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins: []\n",
        "apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n",
        "apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\n",
        "pod-security.admission.config.k8s.io/v1\nkind: PodSecurityConfiguration\n",
        "eventratelimit.admission.k8s.io/v1alpha1\nkind: Configuration\n",
    ];
    for file in files {
        let text = format!("apiVersion: {file}");
        check(&[
            ("server.yaml", &text, Some(SourceKind::ServerConfiguration)),
            ("named.yaml", &format!("{text}metadata: {{name: a}}\n"), None),
        ]);
    }
    check(&[(
        "review.json",
        "{\"apiVersion\": \"admission.k8s.io/v1\", \"kind\": \"AdmissionReview\"}",
        None,
    )]);
    assert!(SourceKind::ServerConfiguration.is_checked());
    assert!(!SourceKind::TestSuite.is_checked());
}

/// No cluster has tests, whatever their names are; other kinds of their groups may be those of definitions.
#[test]
fn suites_of_tests_are_no_objects() {
    let suite = Some(SourceKind::TestSuite);
    let named = |head: &str| format!("apiVersion: {head}\nmetadata: {{name: a}}\n");
    check(&[
        (
            "own.yaml",
            "apiVersion: pratique/v1alpha1\nkind: Suite\ntests: []\n",
            suite,
        ),
        (
            "gator.yaml",
            &named("test.gatekeeper.sh/v1alpha1\nkind: Suite"),
            suite,
        ),
        (
            "kyverno-test.yaml",
            &named("cli.kyverno.io/v1alpha1\nkind: Test"),
            suite,
        ),
        (
            "values.yaml",
            &named("cli.kyverno.io/v1alpha1\nkind: Values"),
            suite,
        ),
        (
            "other.yaml",
            &named("cli.kyverno.io/v1alpha1\nkind: Policy"),
            None,
        ),
        ("elsewhere.yaml", &named("example.com/v1\nkind: Suite"), None),
        (
            "both.yaml",
            &format!(
                "{}---\n{DEPLOYMENT}",
                named("cli.kyverno.io/v1alpha1\nkind: Test")
            ),
            None,
        ),
        (
            "list.yaml",
            "apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\nitems: [{apiVersion: v1, kind: Pod, metadata: {name: a}}]\n",
            None,
        ),
    ]);
    let test = named("cli.kyverno.io/v1alpha1\nkind: Test");
    assert!(!may_have_object(Path::new("test.yaml"), test.as_bytes()));
}

/// Kustomize has transformers that no server has, whatever names they.
#[test]
fn transformers_of_kustomize_are_no_objects() {
    let builtin = "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: a}\n";
    check(&[
        ("a.yaml", builtin, Some(SourceKind::KustomizeConfiguration)),
        ("both.yaml", &format!("{builtin}---\n{DEPLOYMENT}"), None),
        ("list.yaml", &format!("{builtin}items: [{{kind: Pod}}]\n"), None),
    ]);
}

/// What has items is a list, whatever it calls itself: its items are evaluated.
#[test]
fn lists_of_kinds_of_kustomize_are_lists() {
    let items = "items: [{apiVersion: v1, kind: Pod, metadata: {name: a}}]\n";
    let head = |kind: &str| format!("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: {kind}\n{items}");
    let [kustomization, component] = [head("Kustomization"), head("Component")];
    check(&[
        ("a/list.yaml", &kustomization, None),
        ("b/list.yaml", &component, None),
        ("c/kustomization.yaml", &kustomization, None),
    ]);
    assert!(may_have_object(
        Path::new("patch.yaml"),
        head("PodList").as_bytes()
    ));
}
