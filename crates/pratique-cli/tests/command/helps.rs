//! Common mistakes are reported with help, and without consequential errors.

use crate::story::{BINDING, CLEAN, CONFIGURATION, POLICY};
use crate::support::Directory;

/// A policy with these validations.
fn policy(validations: &str) -> String {
    let (head, _) = POLICY.split_once("  variables:").unwrap();
    format!("{head}{validations}")
}

#[track_caller]
fn check(validations: &str, expected: &[&str]) {
    let run = Directory::new()
        .with("policies/binding.yaml", BINDING)
        .with("policies/policy.yaml", policy(validations))
        .run(&["check", "policies"]);
    let helps = run
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("  = help: "));
    assert_eq!(helps.collect::<Vec<_>>(), expected, "{run}");
    run.exits(1);
}

#[test]
fn values_that_yaml_takes_for_something_else() {
    const TAG: &str = "YAML takes what starts with ! for a tag and not for a value: quote all of it";
    check("  validations:\n  - expression: !has(object.spec.x)\n", &[TAG]);
    check(
        "  validations:\n  - expression: !has(object.spec.x) || object.spec.x\n    message: no\n",
        &[TAG],
    );
    check(
        "  validations:\n  - expression: !has(object.spec.x) && true\n",
        &[TAG],
    );
    check("  validations:\n  - expression: !object.spec.x == 1\n", &[TAG]);
    check(
        "  validations:\n  - expression: 'true'\n    message: error: at most 5\n",
        &["a text with a colon and a blank in it needs quotes around all of it"],
    );
    check(
        "  validations:\n  - expression: null\n",
        &["null, ~ and nothing behind the colon are all the same to YAML: no value"],
    );
    check(
        "  validations:\n    expression: 'true'\n",
        &["this is a list: begin each of its items with \"- \""],
    );
    check(
        "  validations:\n  - expression: {{ template }}\n",
        &["a template has to be filled in before it is a manifest, as helm template does"],
    );
    check(
        "  validations:\n  - expression: {a: b}\n",
        &[
            "YAML takes a value that starts with { for a mapping: quote it, or begin it after >- on a line of its own",
        ],
    );
    check(
        "  validations:\n  - expression: \"object.metadata.name.matches('\\d')\"\n",
        &["in double quotes a backslash is written twice, in single quotes once"],
    );
    check(
        "  validations:\n  - expression: 'a' == object.metadata.name\n",
        &[
            "the text goes on behind its closing quote: put all of it into other quotes, or after >- on a line of its own",
        ],
    );
    check(
        "  validations:\n  - expression: [1, 2].exists(i, i == object.spec.x)\n",
        &[
            "YAML takes a value that starts with [ for a list: quote it, or begin it after >- on a line of its own",
        ],
    );
}

#[test]
fn expressions() {
    check(
        "  validations:\n  - expression: \"null\"\n",
        &["it is always null"],
    );
    check(
        "  validations:\n  - expression: 'true'\n    messageExpression: \"has(object.a) ? 'a' : null\"\n",
        &["null is of another type than the text beside it: make it dyn(null), or, where a text is due, ''"],
    );
    check(
        "  validations:\n  - expression: \"object.metadata.name.matches('^[a-z')\"\n",
        &["missing closing ]: `[a-z`"],
    );
    check(
        "  validations:\n  - expression: somename == 'x'\n",
        &[
            "known are object, oldObject, request, namespaceObject, authorizer; a text is written in quotes, as 'somename'",
        ],
    );
    check(
        "  validations:\n  - expression: params.limit == 1\n",
        &["params are known only where the policy has a paramKind"],
    );
    check(
        "  variables: [{name: a, expression: '1'}]\n  validations:\n  - expression: variables.other == 1\n",
        &["no variable \"other\" stands before this in spec.variables"],
    );
}

#[test]
fn what_hides_nothing() {
    let policy = policy("  validations:\n    expression: object.x\n  mesage: no\n").replace("Fail", "Fial");
    Directory::new()
        .with("policies/binding.yaml", BINDING.replace("[Deny]", "Deny"))
        .with("policies/policy.yaml", policy)
        .run(&["check", "policies"])
        .is("wrong-types.txt");
    // A document that is not YAML has no second problem about its binding.
    Directory::new()
        .with("policies/binding.yaml", BINDING)
        .with(
            "policies/policy.yaml",
            POLICY.replace("message: p", "message: error: p"),
        )
        .run(&["check", "policies"])
        .is("unread-policy.txt");
    // Nor does a name hide problems.
    let params = POLICY.replace(
        "  failurePolicy: Fail\n",
        "  paramKind: {apiVersion: v1, kind: ConfigMap}\n",
    );
    Directory::new()
        .with("policies/policy.yaml", params.replace(".static.k8s.io", ""))
        .run(&["check", "--origin", "static", "policies"])
        .is("name-and-params.txt");
}

#[test]
fn long_texts_are_reported_once() {
    let policy = POLICY.replace("variables.containers", "variables.contaners");
    let run = Directory::new()
        .with("policies/binding.yaml", BINDING)
        .with("policies/policy.yaml", policy)
        .run(&["check", "policies"]);
    assert_eq!(run.stdout.matches("compilation failed").count(), 1, "{run}");
    assert_eq!(run.stdout.matches("ERROR: <input>").count(), 1, "{run}");
}

#[test]
fn a_control_planes_files() {
    let manifests = "/etc/kubernetes/policies";
    let configuration = CONFIGURATION.replace("$DIR/policies", manifests);
    let apart = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n\
        - {name: ValidatingAdmissionPolicy, path: /etc/kubernetes/vap.yaml}\n\
        - {name: ValidatingAdmissionWebhook, path: webhook.yaml}\n";
    let (_, vap) = configuration.split_once("configuration:\n").unwrap();
    let vap: String = vap.lines().map(|line| line.trim().to_owned() + "\n").collect();
    let webhook = "apiVersion: apiserver.config.k8s.io/v1\nkind: WebhookAdmissionConfiguration\n\
        kubeConfigFile: /etc/kubernetes/webhooks.conf\n";
    let directory = Directory::new()
        .with("node/etc/kubernetes/admission.yaml", &configuration)
        .with("node/etc/kubernetes/apart.yaml", apart)
        .with("node/etc/kubernetes/vap.yaml", vap)
        .with("node/etc/kubernetes/webhook.yaml", webhook)
        .with(
            "node/etc/kubernetes/webhooks.conf",
            "apiVersion: v1\nkind: Config\n",
        )
        .with("node/etc/kubernetes/policies/binding.yaml", BINDING)
        .with("node/etc/kubernetes/policies/policy.yaml", POLICY);
    let run = |arguments: &[&str]| directory.run(&[&["check"], arguments].concat());
    run(&["--root", "node", "node/etc/kubernetes/admission.yaml"]).is("root.txt");
    let apart = run(&["--root", "node", "node/etc/kubernetes/apart.yaml"]);
    apart.exits(0).stdout_has("deny-privileged.static.k8s.io");
    // Without the flag, the paths are those of this machine.
    assert_eq!(run(&["node/etc/kubernetes/admission.yaml"]).code, Some(1));
    run(&["--root", "nowhere", "node/etc/kubernetes/admission.yaml"]).is("root-nowhere.txt");
}

#[test]
fn empty_lists() {
    let list = "apiVersion: v1\nkind: List\nitems: []\n";
    let directory = Directory::new()
        .with("list.yaml", list)
        .with("lists/list.yaml", list)
        .with(
            "pods.json",
            r#"{"apiVersion": "v1", "kind": "PodList", "items": []}"#,
        )
        .with("policies/list.yaml", list)
        .with("policies/policy.yaml", POLICY.to_owned() + "---\n" + BINDING)
        .with("good.yaml", CLEAN);
    // There is nothing to check in them, whichever way they come.
    directory.run(&["check", "list.yaml"]).is("empty-list.txt");
    for path in ["list.yaml", "lists", "-"] {
        let run = directory.run_with(&["check", path], list, &[]);
        run.exits(2)
            .stderr_has("there is no policy, binding or webhook configuration in it");
    }
    directory.run(&["check", "policies"]).exits(0);
    // A server that is told to read them starts.
    for path in ["list.yaml", "lists", "-"] {
        let line = ["check", "--plugin", "ValidatingAdmissionPolicy", path];
        let run = directory.run_with(&line, list, &[]);
        run.exits(0).stdout_has("valid");
    }
    directory
        .run(&["review", "pods.json"])
        .is("review-empty-list.txt");
    for path in ["list.yaml", "-"] {
        let run = directory.run_with(&["review", "-o", "github", path], list, &[]);
        run.exits(3)
            .stdout_has("an empty List: there is nothing to review");
    }
    let run = directory.run(&["review", "-o", "junit", "list.yaml"]);
    assert!(!run.stdout.contains("-0"), "{run}");
    let run = directory.run(&["review", "--quiet", "list.yaml", "good.yaml"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run}");
}

#[test]
fn help_on_nothing() {
    for arguments in [&["help", "foo"][..], &["help", "check", "foo"], &["help", "chek"]] {
        let run = Directory::new().run(arguments);
        run.exits(2);
        run.is(&format!("{}.txt", arguments.join("-")));
    }
}
