//! Operations of `pratique review`: what leads from stored objects to given ones, subresources, generated names, and who asks.

use crate::story::{CLEAN, PRIVILEGED};
use crate::support::{Directory, Run, git};

/// Denies what is said in each message, so that the tests see which operation and which objects policies see.
fn policy(resources: &str, expression: &str, message: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {{name: p}}\nspec:\n  \
         failurePolicy: Fail\n  matchConstraints:\n    resourceRules:\n    - {{apiGroups: ['*'], apiVersions: ['*'], \
         operations: ['*'], resources: [{resources}]}}\n  validations:\n  - expression: \"{expression}\"\n    \
         messageExpression: \"{message}\"\n---\napiVersion: admissionregistration.k8s.io/v1\nkind: \
         ValidatingAdmissionPolicyBinding\nmetadata: {{name: b}}\nspec: {{policyName: p, validationActions: [Deny]}}\n"
    )
}

fn mirror() -> String {
    policy(
        "'*/*'",
        "false",
        "request.operation + ' ' + request.kind.kind + ' ' + request.name + ' was ' + \
         (oldObject == null ? 'nothing' : dyn(oldObject).metadata.name) + ' is ' + \
         (object == null ? 'nothing' : string(dyn(object).kind))",
    )
}

/// What policies saw, without what a denial begins with.
fn seen(run: &Run) -> Vec<&str> {
    let lines = run.stdout.lines();
    let messages = lines.filter_map(|line| line.split_once("denied request: "));
    messages.map(|(_, message)| message).collect()
}

const NAMED: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME, namespace: shop}\n";

fn named(name: &str) -> String {
    NAMED.replace("NAME", name)
}

#[test]
fn directories_are_compared() {
    let directory = Directory::new()
        .with("policy.yaml", mirror())
        .with("old/a.yaml", named("kept"))
        .with("old/sub/b.yaml", format!("{}---\n{CLEAN}", named("gone")))
        .with(
            "new/all.yaml",
            format!("{}---\n{}", named("kept"), named("added")),
        );
    let review = |arguments: &[&str]| {
        directory.run(
            &[
                &["review", "--policies", "policy.yaml", "--old", "old"],
                arguments,
            ]
            .concat(),
        )
    };
    let run = review(&["new"]);
    assert_eq!(
        seen(&run),
        [
            "UPDATE ConfigMap kept was kept is ConfigMap",
            "CREATE ConfigMap added was nothing is ConfigMap",
            "DELETE ConfigMap gone was gone is nothing",
            "DELETE Pod good was good is nothing",
        ],
        "{run}"
    );
    run.stdout_has("old/sub/b.yaml:1:1: DELETE configmaps shop/gone: denied");
    assert_eq!(
        run.stderr,
        "compared with the stored objects: 1 updated, 1 created, 2 deleted\n"
    );
    // Nothing is known to be gone where something cannot be read.
    let directory = directory.with("new/broken.yaml", "a: [\n");
    let run = directory.run(&["review", "--policies", "policy.yaml", "--old", "old", "new"]);
    assert_eq!(seen(&run).len(), 2, "{run}");
    run.stderr_has("1 created, deletions are not reviewed, as something cannot be read\n");
    // An update is one.
    let run = review_updates(&directory);
    run.stderr_has("an update needs the stored object: it is not among those of --old");
}

fn review_updates(directory: &Directory) -> Run {
    directory.run(&[
        "review",
        "--policies",
        "policy.yaml",
        "--operation",
        "UPDATE",
        "--old",
        "old",
        "new/all.yaml",
    ])
}

#[test]
fn everything_may_be_deleted() {
    let directory = Directory::new()
        .with("policy.yaml", mirror())
        .with("old/a.yaml", named("gone"))
        .with("new/readme.txt", "");
    let run = directory.run(&["review", "--policies", "policy.yaml", "--old", "old", "new"]);
    assert_eq!(seen(&run), ["DELETE ConfigMap gone was gone is nothing"], "{run}");
}

#[test]
fn revisions_have_the_stored_objects() {
    let directory = Directory::new()
        .with("policy.yaml", mirror())
        .with("deploy/.gitignore", "*.local.yaml\n")
        .with("deploy/a.yaml", named("kept"))
        .with("deploy/-x \u{1b}[31m.yaml", named("gone"))
        .with("deploy/notes.txt", "not YAML")
        .with("deploy/sub/b.yaml", named("moved"))
        .with("elsewhere/c.yaml", named("elsewhere"));
    git(directory.path(), &["init", "--quiet"]);
    git(directory.path(), &["add", "."]);
    git(directory.path(), &["commit", "--quiet", "--message", "one"]);
    std::fs::remove_file(directory.path().join("deploy/-x \u{1b}[31m.yaml")).unwrap();
    std::fs::remove_dir_all(directory.path().join("deploy/sub")).unwrap();
    let directory = directory
        .with("deploy/moved.yaml", named("moved"))
        .with("deploy/mine.local.yaml", named("ignored"))
        .with("deploy/new.yaml", named("added"));
    let review =
        |arguments: &[&str]| directory.run(&[&["review", "--policies", "policy.yaml"], arguments].concat());
    let run = review(&["--since", "HEAD", "deploy"]);
    assert_eq!(
        seen(&run),
        [
            "UPDATE ConfigMap kept was kept is ConfigMap",
            "UPDATE ConfigMap moved was moved is ConfigMap",
            "CREATE ConfigMap added was nothing is ConfigMap",
            "DELETE ConfigMap gone was gone is nothing",
        ],
        "{run}"
    );
    run.stdout_has("HEAD:deploy/-x \\u{1b}[31m.yaml:1:1: DELETE configmaps shop/gone");
    // A path that is gone, and one file among others.
    let run = review(&["--since", "main", "deploy/sub", "deploy/a.yaml"]);
    assert_eq!(
        seen(&run),
        [
            "UPDATE ConfigMap kept was kept is ConfigMap",
            "DELETE ConfigMap moved was moved is nothing",
        ],
        "{run}"
    );
    for (arguments, why) in [
        (
            &["--since", "nowhere", "deploy"][..],
            "git: there is no revision nowhere",
        ),
        (
            &["--since=--output=/tmp/x", "deploy"],
            "git: there is no revision --output=/tmp/x",
        ),
        (
            &["--since", "HEAD", "deploy/never.yaml"],
            "deploy/never.yaml: it is neither here nor in HEAD",
        ),
        (&["--since", "HEAD", "-"], "<stdin>: it has no revision"),
        (&["--since", "HEAD", "/dev/null"], "git: "),
    ] {
        let run = review(arguments);
        run.exits(2).stderr_has(why);
    }
}

#[test]
fn subresources_have_their_objects() {
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {replicas: 3, selector: {matchLabels: {app: web}}}\n";
    let directory = Directory::new()
        .with("policy.yaml", mirror())
        .with("web.yaml", deployment)
        .with("pod.yaml", CLEAN)
        .with(
            "exec.yaml",
            "apiVersion: v1\nkind: PodExecOptions\ncommand: [sh]\nstdin: true\n",
        );
    let review = |arguments: &[&str]| {
        let run = directory.run(&[&["review", "--policies", "policy.yaml"], arguments].concat());
        seen(&run)
            .first()
            .map_or_else(|| run.to_string(), |seen| (*seen).to_owned())
    };
    let scale = |arguments: &[&str]| review(&[&["--subresource", "scale"], arguments].concat());
    assert_eq!(
        scale(&["--old", "web.yaml", "web.yaml"]),
        "UPDATE Scale web was web is Scale"
    );
    assert!(scale(&["web.yaml"]).contains("an update needs the stored object"));
    assert!(scale(&["--old", "pod.yaml", "pod.yaml"]).contains("pods have no subresource scale"));
    assert_eq!(
        review(&["--subresource", "eviction", "pod.yaml"]),
        "CREATE Eviction good was nothing is Eviction"
    );
    for subresource in ["status", "resize", "ephemeralcontainers"] {
        assert_eq!(
            review(&["--subresource", subresource, "--old", "pod.yaml", "pod.yaml"]),
            "UPDATE Pod good was good is Pod"
        );
    }
    assert_eq!(
        review(&["--subresource", "exec", "--name", "web-0", "exec.yaml"]),
        "CONNECT PodExecOptions web-0 was nothing is PodExecOptions"
    );
    for (subresource, options) in [
        ("attach", "PodAttachOptions"),
        ("portforward", "PodPortForwardOptions"),
        ("proxy", "PodProxyOptions"),
    ] {
        let connected = directory.run_with(
            &[
                "review",
                "--policies",
                "policy.yaml",
                "--subresource",
                subresource,
                "--name",
                "web-0",
                "-",
            ],
            &format!("apiVersion: v1\nkind: {options}\n"),
            &[],
        );
        let expected = format!("CONNECT {options} web-0 was nothing is {options}");
        assert_eq!(seen(&connected), [expected], "{connected}");
    }
    // What is sent may be an object of its own as well, or of several resources.
    let sent = |arguments: &[&str], text: &str| {
        let run = directory.run_with(
            &[&["review", "--policies", "policy.yaml"], arguments, &["-"]].concat(),
            text,
            &[],
        );
        seen(&run)
            .first()
            .map_or_else(|| run.to_string(), |seen| (*seen).to_owned())
    };
    let binding = "apiVersion: v1\nkind: Binding\nmetadata: {name: good}\ntarget: {name: node}\n";
    assert_eq!(
        sent(&["--subresource", "binding"], binding),
        "CREATE Binding good was nothing is Binding"
    );
    let token = "apiVersion: authentication.k8s.io/v1\nkind: TokenRequest\nspec: {audiences: [a]}\n";
    assert_eq!(
        sent(&["--subresource", "token", "--name", "builder"], token),
        "CREATE TokenRequest builder was nothing is TokenRequest"
    );
    let eviction = "apiVersion: policy/v1\nkind: Eviction\nmetadata: {name: good}\n";
    assert_eq!(
        sent(&["--subresource", "eviction"], eviction),
        "CREATE Eviction good was nothing is Eviction"
    );
    let scaled = "apiVersion: autoscaling/v1\nkind: Scale\nmetadata: {name: web, namespace: shop}\nspec: {replicas: 3}\n";
    let directory_of_scale = Directory::new()
        .with("policy.yaml", mirror())
        .with("scale.yaml", scaled);
    let scaled = |arguments: &[&str]| {
        let given = [
            "review",
            "--policies",
            "policy.yaml",
            "--subresource",
            "scale",
            "--old",
            "scale.yaml",
        ];
        directory_of_scale.run(&[&given, arguments, &["scale.yaml"]].concat())
    };
    let run = scaled(&["--resource", "deployments"]);
    assert_eq!(seen(&run), ["UPDATE Scale web was web is Scale"], "{run}");
    let run = scaled(&[]);
    run.exits(2);
    let message = "objects of kind Scale of autoscaling/v1 are sent to several resources: name the resource with --resource";
    run.stderr_has(message);
    for (kind, subresource) in [
        ("Namespace", "finalize"),
        ("CertificateSigningRequest", "approval"),
    ] {
        let version = if kind == "Namespace" {
            "v1"
        } else {
            "certificates.k8s.io/v1"
        };
        let directory = Directory::new().with("policy.yaml", mirror()).with(
            "it.yaml",
            format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: it}}\n"),
        );
        let run = directory.run(&[
            "review",
            "--policies",
            "policy.yaml",
            "--subresource",
            subresource,
            "--validation",
            "off",
            "--old",
            "it.yaml",
            "it.yaml",
        ]);
        assert_eq!(
            seen(&run),
            [format!("UPDATE {kind} it was it is {kind}")],
            "{run}"
        );
    }
    assert!(review(&["--subresource", "nothing", "pod.yaml"]).contains("pods have no subresource nothing"));
    assert!(review(&["--subresource", "exec", "exec.yaml"]).contains("give its name with --name"));
    let run = review(&["--subresource", "exec", "pod.yaml"]);
    assert!(run.contains("pods/exec takes a PodExecOptions of v1"), "{run}");
    assert_eq!(
        review(&["--operation", "delete", "pod.yaml"]),
        "DELETE Pod good was good is nothing"
    );
}

/// The scale that policies see is that of the workload.
#[test]
fn scales_have_replicas() {
    let deployment = |replicas: usize| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: shop}}\nspec: {{replicas: {replicas}, selector: {{matchLabels: {{app: web}}}}}}\n"
        )
    };
    let policy = policy(
        "deployments/scale",
        "object.spec.replicas <= oldObject.spec.replicas",
        "string(oldObject.spec.replicas) + ' to ' + string(object.spec.replicas) + ' of ' + object.status.selector",
    );
    let directory = Directory::new()
        .with("policy.yaml", policy)
        .with("old.yaml", deployment(2))
        .with("new.yaml", deployment(3));
    let run = directory.run(&[
        "review",
        "--policies",
        "policy.yaml",
        "--subresource",
        "scale",
        "--old",
        "old.yaml",
        "new.yaml",
    ]);
    assert_eq!(seen(&run), ["2 to 3 of app=web"], "{run}");
}

#[test]
fn generated_names_dry_runs_and_users() {
    let policy = policy(
        "pods",
        "false",
        "(has(request.name) ? request.name : 'no name') + ' ' + string(request.dryRun) + ' ' + request.userInfo.username + \
         ' ' + request.userInfo.groups.join('+') + ' ' + request.userInfo.uid + ' ' + request.userInfo.extra['scopes'].join('+')",
    );
    let directory = Directory::new()
        .with("policy.yaml", policy)
        .with("pod.yaml", PRIVILEGED.replace("name: bad", "generateName: web-"));
    let run = directory.run(&[
        "review",
        "--policies",
        "policy.yaml",
        "--dry-run",
        "--as",
        "ann",
        "--as-group",
        "a,b",
        "--as-uid",
        "7",
        "--as-user-extra",
        "Scopes=x,scopes=y",
        "pod.yaml",
    ]);
    assert_eq!(
        seen(&run),
        ["web-xxxxx true ann a+b+system:authenticated 7 x+y"],
        "{run}"
    );
    assert!(
        run.stdout
            .starts_with("pod.yaml:1:1: CREATE pods shop/web-: denied"),
        "{run}"
    );
}
