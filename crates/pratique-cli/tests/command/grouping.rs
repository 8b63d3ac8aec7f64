//! What `review` prints of many objects: what is the same for them is told once, and objects whole on request.

use crate::support::Directory;

fn config_maps(count: usize) -> String {
    let one = |number: usize| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m-{number}, namespace: shop}}\n---\n")
    };
    (1..=count).map(one).collect()
}

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop}\n\
                   spec: {containers: [{name: a, image: nginx:1}]}\n---\n";

#[test]
fn a_reason_is_told_once_with_the_flag_that_answers_it() {
    let directory = Directory::new().with("maps.yaml", config_maps(30));
    let run = directory.run(&["review", "--chain", "maps.yaml"]);
    run.exits(3).shows(&[
        "maps.yaml:1:1: CREATE configmaps shop/m-1: undecided\n",
        "maps.yaml:41:1: CREATE configmaps shop/m-11: undecided\n",
        "19 objects are not listed (19 more undecided): --all lists them\n",
        "undecided:\n  30 objects: ResourceQuota: ResourceQuota objects in namespace \"shop\" are not known\n",
        "or say with --none resourcequotas that there are no others\n",
        "0 allowed, 0 denied, 30 undecided\n",
    ]);
    assert_eq!(run.stdout.matches("CREATE ").count(), 11, "{run}");
    let all = directory.run(&["review", "--chain", "--all", "maps.yaml"]);
    assert_eq!(all.stdout.matches("CREATE ").count(), 30, "{all}");
    let summary = directory.run(&["review", "--chain", "maps.yaml", "-o", "json", "--summary"]);
    let last = summary.stdout.lines().last().unwrap();
    assert!(
        last.contains("\"undecidedReasons\":[{\"source\":\"ResourceQuota\",\"missing\":\"objects\""),
        "{last}"
    );
    assert!(last.contains("\"objects\":30"), "{last}");
}

/// Objects that are in no stream are named beside it, each one, and what is the same for them is told once.
#[test]
fn reasons_are_told_once_beside_a_stream() {
    let directory = Directory::new().with("maps.yaml", config_maps(30));
    for more in [&["--output", "yaml"][..], &["--output", "diff"]] {
        let run = directory.run(&[&["review", "--chain", "maps.yaml"], more].concat());
        run.exits(3);
        assert_eq!(run.stderr.matches("CREATE configmaps").count(), 30, "{run}");
        assert_eq!(
            run.stderr.matches("  ResourceQuota is undecided").count(),
            1,
            "{run}"
        );
    }
}

/// A runner shows few annotations of a step: what is denied comes first, and a reason once.
#[test]
fn annotations_of_a_reason_come_once_and_last() {
    const POLICIES: &str = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: limited}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules:
    - {apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}
  validations:
  - {expression: has(params.data)}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: limited}
spec: {policyName: limited, paramRef: {name: limits, namespace: other, parameterNotFoundAction: Deny}, validationActions: [Deny]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: closed}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [secrets]}
  validations:
  - {expression: 'false', message: no secrets}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: closed}
spec: {policyName: closed, validationActions: [Deny]}
";
    let secret = "{apiVersion: v1, kind: Secret, metadata: {name: late, namespace: shop}}\n";
    let directory = Directory::new()
        .with("maps.yaml", config_maps(30) + secret)
        .with("policies.yaml", POLICIES);
    for command in ["review", "scan"] {
        let run = directory.run(&[
            command,
            "maps.yaml",
            "--policies",
            "policies.yaml",
            "-o",
            "github",
        ]);
        run.exits(1);
        let annotations: Vec<&str> = run
            .stdout
            .lines()
            .filter(|line| line.starts_with("::error "))
            .collect();
        let [denied, undecided] = annotations.as_slice() else {
            panic!("{run}");
        };
        assert!(
            denied.contains("title=closed::CREATE secrets shop/late: "),
            "{denied}"
        );
        assert!(
            undecided.starts_with("::error file=maps.yaml,line=1,endLine=")
                && undecided.contains("title=limited::CREATE configmaps shop/m-1: undecided: ")
                && undecided.ends_with(" (and 29 more objects)"),
            "{undecided}"
        );
        run.stdout_has("30 undecided");
    }
}

#[test]
fn somebody_says_that_there_are_none() {
    let directory = Directory::new().with("maps.yaml", config_maps(30));
    let none = ["review", "--chain", "maps.yaml", "--none", "resourcequotas"];
    let run = directory.run(&none);
    run.exits(0).shows(&[
        "note: --none says that there are no other objects of these kinds: resourcequotas\n",
        "20 objects are not listed (20 more allowed): --all lists them\n",
        "30 allowed, 0 denied\n",
    ]);
    assert_eq!(run.stdout.matches(": allowed\n").count(), 10, "{run}");
    for format in ["json", "sarif", "junit", "github"] {
        let run = directory.run(&[&none[..], &["--output", format]].concat());
        run.exits(0)
            .stdout_has("--none says that there are no other objects of these kinds: resourcequotas");
    }
    directory
        .run(&["review", "--chain", "maps.yaml", "--none", "widgets"])
        .exits(2)
        .shows(&["no resource of Kubernetes is called so"]);
    let project = "apiVersion: pratique/v1alpha1\nkind: Configuration\nreview: {none: [quota]}\n";
    std::fs::write(directory.path().join("pratique.yaml"), project).unwrap();
    directory
        .run(&["review", "--chain", "maps.yaml"])
        .exits(0)
        .shows(&["`review.none` is quota, by which what is refused otherwise may pass"]);
}

#[test]
fn changes_are_told_by_field_and_objects_on_request() {
    let directory = Directory::new().with("input.yaml", format!("{POD}{}", config_maps(1)));
    let known = "--none=quota,limits,priorityclasses.scheduling.k8s.io";
    let account = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n---\napiVersion: v1\nkind: ServiceAccount\n\
                   metadata: {name: default, namespace: shop}\n";
    let directory = directory.with("state.yaml", account);
    let line = [
        "review",
        "--chain",
        "input.yaml",
        "--objects",
        "state.yaml",
        known,
    ];
    let run = directory.run(&line);
    run.exits(0).shows(&[
        "input.yaml:1:1: CREATE pods shop/web: allowed, changed\n",
        "  step ServiceAccount: changed spec.containers[0].volumeMounts",
        "input.yaml:6:1: CREATE configmaps shop/m-1: allowed\n",
    ]);
    // Neither the object, nor what a server sets in every one.
    for text in ["image: nginx", "step defaulting", "step preparation"] {
        assert!(!run.stdout.contains(text), "{text}: {run}");
    }
    let objects = directory.run(&[&line[..], &["--output", "yaml"]].concat());
    objects.exits(0).stderr_has("2 allowed, 0 denied\n");
    let documents: Vec<&str> = objects
        .stdout
        .split("---\n")
        .filter(|text| !text.is_empty())
        .collect();
    assert_eq!(documents.len(), 2, "{objects}");
    assert!(
        documents[0].contains("serviceAccountName: default\n"),
        "{objects}"
    );
    let files = directory.run(&[&line[..], &["--output-dir", "out/objects"]].concat());
    files.exits(0);
    for (name, document) in [
        ("shop_pod_web", documents[0]),
        ("shop_configmap_m-1", documents[1]),
    ] {
        let path = directory.path().join(format!("out/objects/{name}.yaml"));
        assert_eq!(std::fs::read_to_string(path).unwrap(), document);
    }
    directory
        .run(&[&line[..], &["--output-dir", "out/objects"]].concat())
        .exits(2)
        .shows(&["it is not empty"]);
}

#[test]
fn denied_objects_are_in_no_stream() {
    let invalid = POD.replace("image: nginx:1", "image: nginx:1, name: A_");
    let directory = Directory::new().with("input.yaml", format!("{invalid}{POD}"));
    let run = directory.run(&["review", "input.yaml", "--output", "yaml"]);
    run.exits(1)
        .stderr_has("denied (422 Invalid)")
        .stderr_has("1 allowed, 1 denied");
    assert_eq!(run.stdout.matches("kind: Pod").count(), 1, "{run}");
    assert!(run.stdout.starts_with("---\napiVersion: v1\n"), "{run}");
}

#[test]
fn the_server_tells_the_first_failed_validation() {
    let policy = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: three}\n\
                  spec:\n  matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: ['*'], \
                  resources: [pods]}]}\n  validations:\n  - {expression: 'false', message: one}\n  \
                  - {expression: 'false', message: two}\n  - {expression: 'false', message: three}\n---\n\
                  apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\n\
                  metadata: {name: three}\nspec: {policyName: three, validationActions: [Deny]}\n";
    let directory = Directory::new().with("policy.yaml", policy).with("pod.yaml", POD);
    let line = ["review", "pod.yaml", "--policies", "policy.yaml"];
    let run = directory.run(&line);
    run.exits(1)
        .shows(&["denied request: one\n", "  and 2 more: --all shows them\n"]);
    directory.run(&[&line[..], &["--all"]].concat()).exits(1).shows(&[
        "  also by three with binding three: two\n",
        "  also by three with binding three: three\n",
    ]);
    // Tables count objects.
    let summary = directory.run(&[&line[..], &["--summary"]].concat());
    summary.shows(&["three   shop            1       0        0          0\n"]);
    let scan = directory.run(&["scan", "pod.yaml", "--policies", "policy.yaml"]);
    scan.exits(1)
        .shows(&["three   three         1       0        0        0          0\n"]);
}
