//! What the help texts say is tried: each flag by some test, and sentences that have no test of their own here.

use std::fs;
use std::path::Path;

use crate::story::{BINDING, POLICY, files};
use crate::support::Directory;

/// Commands, and flags of theirs that are tried by tests of other crates only: the server's own, mostly.
const COMMANDS: &[(&str, &[&str])] = &[
    ("check", &[]),
    ("review", &[]),
    ("replay", &[]),
    ("impact", &[]),
    ("scan", &[]),
    ("report merge", &[]),
    ("test", &[]),
    ("init", &[]),
    #[cfg(feature = "kube")]
    ("snapshot", &[]),
    ("lsp", &[]),
    ("playground", &[]),
    ("completions", &[]),
    ("man", &[]),
    (
        "serve",
        &[
            "--audit-level",
            "--audit-secrets",
            "--call-budget",
            "--calls-at-once",
            "--exempt-namespace",
            "--follow-plain-http-redirects",
            "--identity",
            "--max-body",
            "--max-load-memory",
            "--no-status-page",
            "--protect-metrics",
            "--record-max-size",
            "--record-sample",
            "--status-page-hosts",
            "--webhook-ca",
            "--webhook-name",
            "--webhook-timeout",
        ],
    ),
];

/// The texts of all tests of the command but this one.
fn tests() -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/command");
    let files = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let is_test = |path: &Path| path.extension().is_some_and(|extension| extension == "rs");
    let texts = files.filter(|path| is_test(path) && !path.ends_with("help_texts.rs"));
    let texts: String = texts.map(|path| fs::read_to_string(path).unwrap()).collect();
    // Those that are tried below.
    let (_, tried) = include_str!("help_texts.rs")
        .split_once("const EXAMPLES")
        .unwrap();
    texts + tried
}

/// The flags of a help text.
fn flags(help: &str) -> Vec<String> {
    let lines = help.lines().map(str::trim_start);
    let named = lines.filter(|line| line.starts_with('-') && line.contains("--"));
    named
        .filter_map(|line| {
            let (_, name) = line.split_once("--")?;
            let end = |character: char| !character.is_ascii_alphanumeric() && character != '-';
            let name = name.split(end).next()?;
            Some(format!("--{name}")).filter(|flag| flag.len() > 2)
        })
        .collect()
}

#[test]
fn each_flag_is_tried_by_a_test() {
    let tests = tests();
    let is_tried = |flag: &str| {
        let goes_on = |next: char| next.is_ascii_alphanumeric() || next == '-';
        tests.split(flag).skip(1).any(|rest| !rest.starts_with(goes_on))
    };
    let directory = Directory::new();
    for (command, elsewhere) in COMMANDS {
        let help: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let help = directory.run(&help);
        let flags = flags(&help.stdout);
        assert!(flags.iter().any(|flag| flag == "--help"), "{help}");
        let missing: Vec<&String> = flags
            .iter()
            .filter(|flag| !is_tried(flag) && !elsewhere.contains(&flag.as_str()))
            .collect();
        assert!(missing.is_empty(), "no test of `{command}` names {missing:?}");
        // The list of those that are tried elsewhere does not outlive its reason.
        let needless: Vec<_> = elsewhere
            .iter()
            .filter(|flag| is_tried(flag) || !flags.iter().any(|found| found == *flag))
            .collect();
        assert!(needless.is_empty(), "{command}: {needless:?} need no exception");
    }
}

/// A command, its exit code, and a text that it prints.
type HelpExample = (&'static [&'static str], i32, &'static str);

const EXAMPLES: &[HelpExample] = &[
    // check: paths, formats, origins.
    (&["check"], 2, "PATH"),
    (
        &["check", "policies", "good.yaml"],
        2,
        "there is no policy, binding or webhook configuration",
    ),
    (
        &["check", "policies", "--hash-only", "--connect"],
        2,
        "cannot be used with",
    ),
    (
        &["check", "policies", "--plugin", "PodSecurity"],
        2,
        "invalid value",
    ),
    (
        &["check", "policies", "--origin", "api"],
        0,
        "checked as objects of the API",
    ),
    (&["check", "policies", "--deny", "nothing"], 2, "invalid value"),
    (
        &["check", "policies", "--feature-gates", "Nothing=true"],
        2,
        "Nothing",
    ),
    (
        &["check", "nothing"],
        2,
        "nothing: there is no policy, binding or webhook configuration in it",
    ),
    (
        &["check", "api.yaml", "--hash-only"],
        2,
        "api.yaml: a hash is that of one plugin's static manifests alone",
    ),
    // review: which policies, which requests.
    (
        &["review", "--policies", "nameless.yaml", "good.yaml"],
        2,
        "webhook configuration among its 1 object\n",
    ),
    (
        &["review", "--policies", "mixed", "bad.yaml"],
        1,
        "mixed: skipped 1 file that is no object, such as mixed/broken.yaml:",
    ),
    // Empty inputs are errors.
    (&["review", "-"], 2, "<stdin>: there is no object to review"),
    (&["scan", "-"], 2, "<stdin>: there is no object to scan"),
    (&["replay", "-"], 2, "<stdin>: there is no audit event in it"),
    (&["review", "nothing"], 2, "nothing: there is no object to review"),
    (
        &["review", "list.yaml"],
        3,
        "list.yaml: an empty List: there is nothing to review",
    ),
    (&["review"], 2, "INPUT"),
    (&["review", "bad.yaml"], 1, "1 denied"),
    (&["review", "good.yaml"], 0, "1 allowed"),
    (&["review", "good.yaml", "--level", "restricted"], 1, "1 denied"),
    (
        &["review", "bad.yaml", "--level", "privileged"],
        2,
        "invalid value",
    ),
    (
        &[
            "review",
            "bad.yaml",
            "--manifests",
            "policies",
            "--admission-control-config-file",
            "admission.yaml",
        ],
        2,
        "cannot be used with",
    ),
    (
        &[
            "review",
            "bad.yaml",
            "--operation",
            "delete",
            "--policies",
            "seen.yaml",
            "--bind",
        ],
        1,
        "DELETE pods shop/bad",
    ),
    (
        &["review", "bad.yaml", "--operation", "UPDATE"],
        2,
        "an update needs the stored object",
    ),
    (
        &["review", "bad.yaml", "--operation", "PATCH"],
        2,
        "invalid value",
    ),
    (
        &["review", "good.yaml", "--since", "HEAD", "--old", "bad.yaml"],
        2,
        "cannot be used with",
    ),
    (
        &["review", "good.yaml", "--since", "HEAD", "--operation", "CREATE"],
        2,
        "cannot be used with",
    ),
    (&["review", "good.yaml", "--objects-complete"], 2, "--objects"),
    (&["review", "good.yaml", "--expand=never"], 2, "invalid value"),
    (
        &["review", "good.yaml", "--webhooks", "--explain"],
        2,
        "cannot be used with",
    ),
    (
        &["review", "good.yaml", "--resource", "deployments.apps"],
        2,
        "the resource of kind Pod of v1 is pods",
    ),
    (
        &["review", "good.yaml", "--as-user-extra", "team"],
        2,
        "expected KEY=VALUE",
    ),
    (
        &["review", "big.yaml", "--max-input", "1"],
        2,
        "larger than 1 MiB",
    ),
    (&["review", "big.yaml"], 0, "1 allowed"),
    // The user and the rest of the request, as policies see them.
    (
        &["review", "good.yaml", "--policies", "seen.yaml", "--bind"],
        1,
        "CREATE good kubernetes-admin  [system:authenticated] false {}",
    ),
    (
        &[
            "review",
            "good.yaml",
            "--policies",
            "seen.yaml",
            "--bind",
            "--as",
            "ann",
            "--as-uid",
            "7",
            "--as-group",
            "dev,ops",
            "--as-user-extra",
            "Team=web",
            "--as-user-extra",
            "team=shop",
            "--dry-run",
            "--name",
            "other",
        ],
        1,
        r#"CREATE other ann 7 [dev, ops, system:authenticated] true {team: [web, shop]}"#,
    ),
    // Namespaces of objects without one.
    (&["review", "nameless.yaml"], 0, "CREATE pods default/free"),
    (
        &["review", "nameless.yaml", "--namespace", "shop"],
        0,
        "CREATE pods shop/free",
    ),
    // Fields.
    (
        &["review", "misspelt.yaml"],
        0,
        "unknown field \"spec.containrs\"",
    ),
    (
        &["review", "misspelt.yaml", "--field-validation", "strict"],
        1,
        "unknown field \"spec.containrs\"",
    ),
    (
        &[
            "review",
            "seen-defaults.yaml",
            "--policies",
            "defaults.yaml",
            "--bind",
        ],
        0,
        "1 allowed",
    ),
    (
        &[
            "review",
            "seen-defaults.yaml",
            "--policies",
            "defaults.yaml",
            "--bind",
            "--defaults",
            "off",
        ],
        1,
        "no policy",
    ),
    // Policies without a binding are not evaluated.
    (
        &["review", "good.yaml", "--policies", "seen.yaml"],
        3,
        "no binding",
    ),
    (
        &["review", "good.yaml", "--policies", "orphan.yaml"],
        3,
        "orphan.yaml:1:1: ValidatingAdmissionPolicyBinding other is not evaluated: there is no policy elsewhere",
    ),
    // What the command fails for.
    (&["review", "bad.yaml", "--fail-on", "undecided"], 0, "1 denied"),
    (&["review", "bad.yaml", "broken.yaml"], 1, "broken.yaml"),
    (&["review", "good.yaml", "broken.yaml"], 2, "broken.yaml"),
    (
        &["review", "good.yaml", "broken.yaml", "--fail-on", "deny"],
        0,
        "broken.yaml",
    ),
    (
        &["review", "bad.yaml", "--fail-on", "nothing"],
        2,
        "invalid value",
    ),
    // Formats, by what they begin with.
    (
        &["review", "bad.yaml", "--output", "json"],
        1,
        "{\"apiVersion\":\"admission.k8s.io/v1\"",
    ),
    (
        &["review", "bad.yaml", "--output", "ndjson"],
        1,
        "{\"file\":\"bad.yaml\"",
    ),
    (
        &["review", "bad.yaml", "--output", "sarif"],
        1,
        "\"version\": \"2.1.0\"",
    ),
    (&["review", "bad.yaml", "--output", "junit"], 1, "<testsuite"),
    (
        &["review", "bad.yaml", "--output", "github"],
        1,
        "::error file=bad.yaml",
    ),
    (&["review", "good.yaml", "--quiet"], 0, "1 allowed"),
    // The chain's own settings.
    (
        &[
            "review",
            "good.yaml",
            "--chain",
            "--objects",
            "cluster.yaml",
            "--objects-complete",
            "--output",
            "diff",
            "--default-not-ready-toleration-seconds",
            "17",
            "--default-unreachable-toleration-seconds",
            "19",
        ],
        0,
        "tolerationSeconds: 17",
    ),
    // test: paths, formats, coverage.
    (&["test"], 1, "a pod"),
    (&["test", "suite.yaml", "--filter", "NOTHING"], 2, "NOTHING"),
    (&["test", "suite.yaml", "--filter", "A POD"], 0, "1 passed"),
    (
        &["test", "suite.yaml", "--coverage-threshold", "101"],
        2,
        "not a number from 0 to 100",
    ),
    (
        &["test", "suite.yaml", "--coverage-threshold", "100%"],
        1,
        "1 passed",
    ),
    (
        &["test", "suite.yaml", "--update", "--watch"],
        2,
        "cannot be used with",
    ),
    (
        &["test", "suite.yaml", "--init", "--update"],
        2,
        "cannot be used with",
    ),
    (
        &["test", "--init", "suite.yaml"],
        2,
        "for a directory of policies",
    ),
    (&["test", "suite.yaml", "--output", "json"], 0, "{"),
    (&["test", "suite.yaml", "--output", "junit"], 0, "<testsuites"),
    (
        &["test", "--init", "nothing"],
        2,
        "nothing: there is no policy, binding or webhook configuration in it",
    ),
    // Paths are shown as they lead there.
    (
        &["test", "dot.yaml"],
        1,
        "policy deny-privileged.static.k8s.io policies/policy.yaml:1:1",
    ),
    // What tests nothing does not pass.
    (
        &["test", "idle.yaml"],
        2,
        "idle.yaml: there is no test in the suites",
    ),
    (&["test", "without.yaml"], 1, "the suite names no policies"),
    (&["test", "of-nothing.yaml"], 1, "nothing has no policy"),
    // init: what is there stays.
    (&["init", "mixed"], 0, "with 1 path of policies, 0 of suites"),
    (&["init", "mixed"], 2, "pratique.yaml"),
    (&["init", "new"], 3, "nothing is written"),
    (&["review", "good.yaml", "--no-project-file"], 0, "1 allowed"),
];

/// A policy that says what it sees of the request.
const SEEN: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: seen}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: ['*'], resources: [pods]}]
  variables:
  - name: extra
    expression: >-
      has(request.userInfo.extra) && 'team' in request.userInfo.extra
      ? '{team: [' + request.userInfo.extra.team.join(', ') + ']}' : '{}'
  validations:
  - expression: 'false'
    messageExpression: >-
      request.operation + ' ' + request.name + ' ' + request.userInfo.username + ' '
      + request.userInfo.?uid.orValue('') + ' [' + request.userInfo.groups.join(', ') + '] '
      + string(request.dryRun) + ' ' + variables.extra
";

const DEFAULTS: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: defaults}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: ['*'], resources: [pods]}]
  validations: [{expression: 'has(object.spec.restartPolicy)', message: no policy}]
";

const NAMELESS: &str =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: free}\nspec: {containers: [{name: a, image: a}]}\n";

const CLUSTER: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n---\n\
    apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: default, namespace: shop}\n";

#[test]
fn help_texts_say_what_is_so() {
    let suite = "apiVersion: pratique/v1alpha1\nkind: Suite\nmetadata: {name: s}\npolicies: [policies]\ntests:\n\
                 - {name: a pod, object: good.yaml, expect: allowed}\n";
    let padding = format!("{NAMELESS}# {}\n", "a".repeat(1 << 20));
    let directory = files(POLICY, BINDING)
        .with("seen.yaml", SEEN)
        .with(
            "orphan.yaml",
            BINDING
                .replace("deny-privileged-binding.static.k8s.io", "other")
                .replace("deny-privileged.static.k8s.io", "elsewhere"),
        )
        .with("defaults.yaml", DEFAULTS)
        .with("seen-defaults.yaml", NAMELESS)
        .with("nameless.yaml", NAMELESS)
        .with(
            "misspelt.yaml",
            NAMELESS.replace("{containers", "{containrs: 1, containers"),
        )
        .with("big.yaml", padding)
        .with("broken.yaml", "a: [\n")
        .with("suite.yaml", suite)
        .with("cluster.yaml", CLUSTER)
        .with("list.yaml", "apiVersion: v1\nkind: List\nitems:\n")
        .with("mixed/broken.yaml", "a: [\n")
        .with("mixed/policies/policy.yaml", POLICY)
        .with("api.yaml", POLICY.replace(".static.k8s.io", ""))
        .with("mixed/policies/binding.yaml", BINDING)
        .with(
            "idle.yaml",
            suite.split_once("tests:").unwrap().0.to_owned() + "tests: []\n",
        )
        .with(
            "dot.yaml",
            suite
                .replace("[policies]", "[policies/.]")
                .replace("good.yaml", "bad.yaml"),
        )
        .with("without.yaml", suite.replace("policies: [policies]\n", ""))
        .with("of-nothing.yaml", suite.replace("[policies]", "[nothing]"))
        .with("nothing/.gitignore", "")
        .with("new/.gitignore", "");
    let wrong: Vec<String> = EXAMPLES
        .iter()
        .filter_map(|(arguments, code, text)| {
            let run = directory.run(arguments);
            let is_so = run.code == Some(*code) && run.to_string().contains(text);
            (!is_so).then(|| format!("expected {code} and {text:?} of\n{run}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
