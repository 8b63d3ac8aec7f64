//! Inputs that are large, endless or outside of a root: bounded in memory and time, or rejected.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::support::{Directory, Run, within};

/// Debug builds on busy machines are slow; unbounded work takes hours.
const LIMIT: Duration = Duration::from_secs(180);

const POD: &str =
    "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, image: i}]}}";

const POLICY: &str = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\n\
    metadata: {name: a.static.k8s.io}\nspec:\n  matchConstraints:\n    resourceRules:\n    \
    - {apiGroups: [\"\"], apiVersions: [v1], operations: [CREATE], resources: [pods]}\n  \
    validations: [{expression: object.metadata.name != 'bad'}]\n---\n\
    apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\n\
    metadata: {name: a.static.k8s.io}\nspec: {policyName: a.static.k8s.io, validationActions: [Deny]}\n";

fn suite(policies: &str, object: &str) -> String {
    format!(
        "apiVersion: pratique/v1alpha1\nkind: Suite\nmetadata: {{name: s}}\npolicies: [{policies}]\ntests:\n\
         - {{name: t, object: {object}, expect: allowed}}\n"
    )
}

#[track_caller]
fn ends(run: &Run, code: i32, mentions: &[&str]) {
    let head: String = run.to_string().chars().take(3000).collect();
    assert_eq!(run.code, Some(code), "{head}");
    let text = run.stdout.clone() + &run.stderr;
    for mentions in mentions {
        assert!(text.contains(mentions), "{mentions} is not in {head}");
    }
}

/// A repository beside a file that its suites must not read.
#[cfg(unix)]
fn repository() -> Directory {
    let directory = Directory::new()
        .with("elsewhere/secret.yaml", "TOPSECRET: [\n")
        .with(
            "elsewhere/policies/p.yaml",
            format!("{POLICY}---\nTOPSECRET: [\n"),
        )
        .with("repo/.git/HEAD", "ref: refs/heads/main\n")
        .with("repo/policies/p.yaml", POLICY)
        .with("repo/pod.yaml", POD);
    let link = |to: &str, at: &str| {
        let at = directory.path().join(at);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(to, at).unwrap();
    };
    link("../elsewhere/secret.yaml", "repo/link.yaml");
    link("../elsewhere", "repo/linked");
    link("../../elsewhere/secret.yaml", "repo/mixed/p.yaml");
    directory
}

#[test]
#[cfg(unix)]
fn suites_stay_below_their_root() {
    let root = repository();
    let test = |policies: &str, object: &str, more: &[&str]| {
        fs::create_dir_all(root.path().join("repo/tests")).unwrap();
        fs::write(root.path().join("repo/tests/s.yaml"), suite(policies, object)).unwrap();
        let run = root.run(&[&["test", "repo/tests/s.yaml", "--allow", "warnings"][..], more].concat());
        (run.code, run.stdout + &run.stderr)
    };
    // Files of the repository are allowed, from any working directory.
    let (code, text) = test("../policies", "../pod.yaml", &[]);
    assert_eq!(code, Some(0), "{text}");
    let absolute = root.path().join("repo/pod.yaml");
    let (code, text) = test("../policies", &absolute.to_string_lossy(), &[]);
    assert_eq!(code, Some(0), "{text}");

    let secret = root.path().join("elsewhere/secret.yaml");
    let secret = secret.to_string_lossy();
    let refused = [
        ("../policies", "../../elsewhere/secret.yaml"),
        ("../policies", "../policies/../../elsewhere/secret.yaml"),
        ("../policies", "../link.yaml"),
        ("../policies", "../linked/secret.yaml"),
        ("../policies", &secret),
        ("../policies", "/etc/passwd"),
        // A missing file gives the same error.
        ("../policies", "../../elsewhere/nothing.yaml"),
        ("../policies", "../linked/nothing.yaml"),
        ("../policies", "/nowhere/at/all.yaml"),
        ("../../elsewhere/policies", "../pod.yaml"),
        ("../linked/policies", "../pod.yaml"),
        ("../mixed", "../pod.yaml"),
        ("/etc", "../pod.yaml"),
    ];
    for (policies, object) in refused {
        let (code, text) = test(policies, object, &[]);
        assert_eq!(code, Some(1), "{policies} {object}: {text}");
        assert!(!text.contains("TOPSECRET") && !text.contains("root:"), "{text}");
        assert!(text.contains("it is not below "), "{policies} {object}: {text}");
        assert!(text.contains("--allow-path DIR"), "{text}");
    }
    let (code, text) = test("../policies", "nothing.yaml", &[]);
    assert!(
        code == Some(1) && text.contains("No such file or directory"),
        "{text}"
    );
    let (_, text) = test("../policies", "../link.yaml", &["--allow-path", "elsewhere"]);
    // It is read, and no line of it is shown: the link leads out of the repository.
    assert!(
        text.contains("link.yaml:1:13") && !text.contains("TOPSECRET"),
        "{text}"
    );
    let run = root.run(&["test", "repo", "--allow-path", "nowhere"]);
    ends(&run, 2, &["error: nowhere: No such file or directory"]);
}

/// Outside of a repository, the root is the working directory or that of the suite.
#[test]
#[cfg(unix)]
fn roots_without_a_repository() {
    let root = Directory::new()
        .with("policies/p.yaml", POLICY)
        .with("pod.yaml", POD)
        .with("tests/s.yaml", suite("../policies", "../pod.yaml"))
        .with("other/x", "");
    ends(&root.run(&["test", "tests"]), 0, &["1 passed"]);
    let from = |directory: &str, arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_pratique"))
            .args(arguments)
            .current_dir(root.path().join(directory))
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, text) = from("other", &["test", "../tests"]);
    assert!(code == Some(1) && text.contains("it is not below "), "{text}");
    let (code, text) = from("other", &["test", "../tests", "--allow-path", ".."]);
    assert_eq!(code, Some(0), "{text}");
}

#[test]
#[cfg(unix)]
fn configurations_of_suites_stay_below_the_root() {
    let root = repository();
    let elsewhere = root.path().join("elsewhere");
    let mixed = root.path().join("repo/mixed");
    let plugin = |settings: &str| {
        let configuration = format!(
            "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n\
             - name: ValidatingAdmissionPolicy\n  {settings}\n"
        );
        fs::write(root.path().join("repo/configuration.yaml"), configuration).unwrap();
        let suite = suite("policies", "pod.yaml")
            .replace("policies: [policies]", "configuration: configuration.yaml");
        fs::write(root.path().join("repo/s.yaml"), suite).unwrap();
        let run = root.run(&["test", "repo/s.yaml", "--allow", "warnings"]);
        (run.code, run.stdout + &run.stderr)
    };
    let embedded = |directory: &std::path::Path| {
        format!(
            "configuration: {{apiVersion: apiserver.config.k8s.io/v1, kind: ValidatingAdmissionPolicyConfiguration, \
             staticManifestsDir: {}}}",
            directory.display()
        )
    };
    let (code, text) = plugin(&embedded(&root.path().join("repo/policies")));
    assert_eq!(code, Some(0), "{text}");
    for settings in [
        embedded(&elsewhere),
        embedded(&mixed),
        "path: ../elsewhere/secret.yaml".to_owned(),
        "path: link.yaml".to_owned(),
        "path: /etc/passwd".to_owned(),
    ] {
        let (code, text) = plugin(&settings);
        assert_eq!(code, Some(1), "{settings}: {text}");
        assert!(!text.contains("TOPSECRET") && !text.contains("root:"), "{text}");
        assert!(text.contains("it is not below "), "{settings}: {text}");
    }
}

#[test]
#[cfg(unix)]
fn devices_end_and_pipes_are_read() {
    let directory = Directory::new()
        .with("policies/p.yaml", POLICY)
        .with("pod.yaml", POD)
        .with("s.yaml", suite("policies", "/dev/zero"));
    let device = "/dev/zero: a device, of which no more than 16 MiB are read";
    for arguments in [
        &["check", "/dev/zero"][..],
        &["check", "--plugin", "ValidatingAdmissionPolicy", "/dev/zero"],
        &["review", "/dev/zero"],
        &["review", "pod.yaml", "--objects", "/dev/zero"],
        &["test", "/dev/zero"],
    ] {
        ends(&within(LIMIT, || directory.run(arguments)), 2, &[device]);
    }
    let run = within(LIMIT, || {
        directory.run(&["test", "s.yaml", "--allow-path", "/dev"])
    });
    ends(&run, 1, &["not a regular file"]);

    ends(
        &directory.run_with(&["review", "/dev/stdin"], POD, &[]),
        0,
        &["1 allowed"],
    );
    ends(
        &directory.run_with(&["check", "/dev/stdin"], POLICY, &[]),
        0,
        &["valid"],
    );
    ends(
        &directory.run(&["review", "/dev/null"]),
        2,
        &["there is no object to review"],
    );
    // A pipe without a writer, among manifests whose plugin is derived from their kinds.
    let made = Command::new("mkfifo")
        .arg(directory.path().join("policies/q.yaml"))
        .status();
    assert!(made.unwrap().success());
    let run = within(LIMIT, || directory.run(&["check", "policies"]));
    ends(&run, 1, &["not a regular file"]);
    let shell = |line: &str| {
        let output = Command::new("bash")
            .args(["-c", &line.replace("pratique", env!("CARGO_BIN_EXE_pratique"))])
            .current_dir(directory.path())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
    };
    let text = shell("pratique review <(cat pod.yaml) --manifests <(echo) ; pratique review <(cat pod.yaml)");
    assert!(text.contains("1 allowed"), "{text}");
    let text = shell("pratique check - < /dev/zero");
    assert!(text.contains("<stdin>: a device"), "{text}");
    for command in ["yes | pratique review -", "yes | pratique check -"] {
        let text = shell(command);
        assert!(text.contains("<stdin>: larger than 32 MiB"), "{command}: {text}");
    }
}

#[test]
#[cfg(unix)]
fn links_that_cannot_be_followed_are_reported() {
    for target in ["nowhere.yaml", "q.yaml"] {
        let directory = Directory::new()
            .with("policies/p.yaml", POLICY)
            .with("objects/pod.yaml", POD)
            .with("s.yaml", suite("policies", "objects/pod.yaml"));
        for folder in ["policies", "objects"] {
            std::os::unix::fs::symlink(target, directory.path().join(folder).join("q.yaml")).unwrap();
        }
        ends(&directory.run(&["test", "s.yaml"]), 1, &["policies/q.yaml"]);
        ends(&directory.run(&["check", "policies"]), 1, &["policies/q.yaml"]);
        // Without a policy that may be there, no answer is right.
        let blind = ["review", "objects/pod.yaml", "--policies", "policies"];
        ends(&directory.run(&blind), 1, &["policies/q.yaml"]);
        // What else there is, is answered, whatever reads the directory.
        for arguments in [
            &["review", "objects"][..],
            &["review", "--input-policies", "objects"],
            &["review", "--chain", "objects"],
            &["review", "--objects", "objects", "objects/pod.yaml"],
            &["review", "--old", "objects", "objects/pod.yaml"],
            &["scan", "objects"],
            &["scan", "--objects", "objects", "objects/pod.yaml"],
            &["scan", "--checkpoint", "done.json", "objects"],
        ] {
            let run = directory.run(arguments);
            assert!(matches!(run.code, Some(2 | 3)), "{run}");
            assert!(
                run.stderr.contains("error: objects/q.yaml: ") || run.code == Some(3),
                "{run}"
            );
            assert!(run.stdout.contains("evaluated: "), "{run}");
        }
        // One shard has the error, as it has any other.
        let shards = ["0/2", "1/2"].map(|shard| directory.run(&["scan", "--shard", shard, "objects"]));
        let mut codes = shards.each_ref().map(|run| run.code);
        codes.sort_unstable();
        assert_eq!(codes, [Some(0), Some(2)], "{} {}", shards[0], shards[1]);
    }
}

/// A link that leads out of its repository is an error of its file, and nothing else is left out.
#[test]
#[cfg(unix)]
fn links_that_lead_out_do_not_end_a_run() {
    let root = repository()
        .with("repo/objects/pod.yaml", POD)
        .with("repo/tests/s.yaml", suite("../policies", "../pod.yaml"));
    for folder in ["objects", "tests"] {
        let link = root.path().join("repo").join(folder).join("q.yaml");
        std::os::unix::fs::symlink("../../elsewhere/secret.yaml", link).unwrap();
    }
    const WHY: &str = "q.yaml: a link that leads out of its repository";
    for (arguments, answer) in [
        (&["review", "repo/objects"][..], "1 allowed, 0 denied, 1 error"),
        (
            &["review", "--objects", "repo/objects", "repo/pod.yaml"],
            "1 allowed, 0 denied, 1 error",
        ),
        (
            &["scan", "repo/objects"],
            "2 objects: 1 allowed, 0 denied, 1 not evaluated",
        ),
    ] {
        ends(&root.run(arguments), 2, &[WHY, answer]);
    }
    ends(
        &root.run(&["test", "repo/tests", "--allow", "warnings"]),
        1,
        &[
            "a link that leads out of its repository",
            "1 passed, 0 failed, 1 not run",
        ],
    );
}

#[test]
fn errors_on_one_line_take_linear_time() {
    let faults: Vec<String> = (0..20_000)
        .map(|index| format!("{{expression: object.é{index}}}"))
        .collect();
    let manifest = format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\n\
         metadata: {{name: a.static.k8s.io}}\nspec: {{validations: [{}]}}\n",
        faults.join(", ")
    );
    let directory = Directory::new().with("p/p.yaml", manifest);
    let run = within(LIMIT, || directory.run(&["check", "p"]));
    let more = "and 18000 more, which --output json has\n\n20000 problems";
    assert!(run.stdout.contains(more), "{}", run.stdout.len());
    assert!(
        run.code == Some(1) && run.stdout.len() < 2 << 20,
        "{} bytes",
        run.stdout.len()
    );
    let run = within(LIMIT, || directory.run(&["check", "p", "--output", "github"]));
    assert_eq!(run.stdout.lines().count(), 20_000);
    run.stderr_has("GitHub shows 10 annotations of each level");
    assert!(
        run.stdout.contains("and 10001 more errors of this object"),
        "{}",
        run.stdout.len()
    );
}

/// Runs the command; gives the end of its output and its peak memory in KiB. A process that ended before it was looked at
/// is run again.
#[cfg(target_os = "linux")]
fn memory(directory: &Directory, arguments: &[&str]) -> (String, u64) {
    std::iter::repeat_with(|| memory_once(directory, arguments))
        .find(|(_, most)| *most > 0)
        .unwrap()
}

/// Likewise, once; the memory is 0 if the process was not seen.
#[cfg(target_os = "linux")]
fn memory_once(directory: &Directory, arguments: &[&str]) -> (String, u64) {
    let output = directory.path().join("output");
    let mut child = Command::new(env!("CARGO_BIN_EXE_pratique"))
        .args(arguments)
        .current_dir(directory.path())
        .stdin(Stdio::null())
        .stdout(fs::File::create(&output).unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let now = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        most = most.max(now.unwrap_or(0));
        thread::sleep(Duration::from_millis(5));
    }
    let text = fs::read_to_string(output).unwrap();
    let lines: Vec<&str> = text.lines().rev().take(4).collect();
    (lines.join("\n"), most)
}

/// Objects that grow to 64 KiB each: a result is dropped before the next.
#[test]
#[cfg(target_os = "linux")]
fn answers_are_not_kept() {
    let doubled = (1..=6).map(|index| {
        let before = index - 1;
        format!("  - {{name: v{index}, expression: variables.v{before} + variables.v{before}}}\n")
    });
    let policy = format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingAdmissionPolicy\nmetadata: {{name: grow.static.k8s.io}}\n\
         spec:\n  failurePolicy: Fail\n  reinvocationPolicy: Never\n  matchConstraints:\n    resourceRules:\n    \
         - {{apiGroups: [\"\"], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}}\n  variables:\n  \
         - {{name: v0, expression: \"'{x}'\"}}\n{doubled}  mutations:\n  - patchType: ApplyConfiguration\n    \
         applyConfiguration: {{expression: \"Object{{data: {{'v': variables.v6}}}}\"}}\n---\n\
         apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingAdmissionPolicyBinding\n\
         metadata: {{name: grow.static.k8s.io}}\nspec: {{policyName: grow.static.k8s.io}}\n",
        x = "x".repeat(1024),
        doubled = doubled.collect::<String>(),
    );
    let object = |index| format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{index}}}\n");
    let directory = Directory::new()
        .with("p/p.yaml", policy)
        .with("in.yaml", (0..1000).map(object).collect::<String>());
    for more in [&[][..], &["--explain", "--output", "json"]] {
        let arguments = [&["review", "in.yaml", "--manifests", "p"][..], more].concat();
        let (end, most) = memory(&directory, &arguments);
        assert!(end.contains("1000 allowed") || end.contains("c999"), "{end}");
        assert!(most > 0 && most < 120 << 10, "{most} KiB for {more:?}");
    }
}

/// A suite of one test with this many rows, for an object of 2,000 labels in another file.
#[cfg(target_os = "linux")]
fn rows(count: usize, expected: &str) -> Directory {
    let rows: String = (0..count)
        .map(|index| format!("  - {{name: r{index}}}\n"))
        .collect();
    let suite = format!(
        "apiVersion: pratique/v1alpha1\nkind: Suite\nmetadata: {{name: s}}\npolicies: [policy.yaml]\ntests:\n- name: t\n  object: pod.yaml\n  \
         expect: {expected}\n  each:\n{rows}"
    );
    let labels: String = (0..2_000).map(|index| format!("    l{index}: x\n")).collect();
    let pod = format!(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n  labels:\n{labels}spec: {{containers: [{{name: c, image: i}}]}}\n"
    );
    Directory::new()
        .with("s.yaml", suite)
        .with("policy.yaml", POLICY)
        .with("pod.yaml", pod)
}

/// Objects are dropped after their test.
#[test]
#[cfg(target_os = "linux")]
fn objects_of_tests_are_not_kept() {
    let (end, most) = memory(&rows(400, "denied"), &["test", "s.yaml"]);
    assert!(end.contains("0 passed, 400 failed"), "{end}");
    assert!(most > 0 && most < 140 << 10, "{most} KiB");
}

/// Each row has a copy of the object.
#[test]
#[cfg(target_os = "linux")]
fn rows_of_large_objects_are_bounded() {
    let (end, most) = memory(&rows(50_000, "allowed"), &["test", "s.yaml"]);
    assert!(end.contains("0 passed, 0 failed, 1 not run"), "{end}");
    assert!(most > 0 && most < 1 << 20, "{most} KiB");
}
