//! The root of the container image: what is in it, and that the program runs in it alone, without a shell and not as root.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::serve::{POLICY, Serving};
use crate::support::Directory;

const BINARY: &str = env!("CARGO_BIN_EXE_pratique");
const INSIDE: &str = "/usr/local/bin/pratique";

/// Assembles the root, and puts what a test needs besides: libraries of a program that is not static, as that of a release is.
fn assembled() -> (Directory, BTreeMap<String, u32>) {
    let directory = Directory::new()
        .with("authorities.pem", "certificates\n")
        .with("policy.yaml", POLICY);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/rootfs");
    let run = Command::new(script)
        .args([BINARY, "authorities.pem", "root"])
        .current_dir(directory.path())
        .output()
        .unwrap();
    assert!(run.status.success(), "{run:?}");
    let root = directory.path().join("root");
    let mut files = BTreeMap::new();
    list(&root, &root, &mut files);
    for library in libraries() {
        let inside = root.join(library.strip_prefix("/").unwrap());
        fs::create_dir_all(inside.parent().unwrap()).unwrap();
        fs::copy(&library, inside).unwrap();
    }
    // What is mounted into a container.
    fs::create_dir(root.join("policies")).unwrap();
    fs::copy(
        directory.path().join("policy.yaml"),
        root.join("policies/policy.yaml"),
    )
    .unwrap();
    (directory, files)
}

/// All files with their modes.
fn list(root: &Path, directory: &Path, files: &mut BTreeMap<String, u32>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            list(root, &path, files);
            continue;
        }
        let mode = fs::symlink_metadata(&path).unwrap().permissions().mode();
        let name = path.strip_prefix(root).unwrap().display().to_string();
        files.insert(name, mode);
    }
}

/// The libraries of the program, with the one that loads them; a static one has none.
fn libraries() -> Vec<PathBuf> {
    let output = Command::new("ldd").arg(BINARY).output();
    let text = output.map_or_else(
        |_| String::new(),
        |output| String::from_utf8(output.stdout).unwrap(),
    );
    let words = text.split_whitespace().filter(|word| word.starts_with('/'));
    words.map(PathBuf::from).collect()
}

/// How a command is started within a root as another user, by a process that then is that command: root may change both, and
/// others may where they may make namespaces of their own.
fn entering(root: &str) -> Option<Vec<String>> {
    let ways = [
        format!("chroot --userspec=65532:65532 {root}"),
        format!("unshare --user --map-user=65532 --map-group=65532 --root={root} --wd=/"),
    ];
    let words = |way: &str| way.split(' ').map(str::to_owned).collect::<Vec<_>>();
    ways.iter().map(|way| words(way)).find(|way| {
        // Whether it may be done is asked of the root that there is.
        let here: Vec<_> = way.iter().map(|word| word.replace(root, "/")).collect();
        let run = Command::new(&here[0]).args(&here[1..]).arg("true").output();
        run.is_ok_and(|run| run.status.success())
    })
}

#[test]
fn there_are_the_program_certificates_and_a_user() {
    let (directory, files) = assembled();
    let expected = [
        ("etc/group", 0o100644),
        ("etc/passwd", 0o100644),
        ("etc/ssl/certs/ca-certificates.crt", 0o100644),
        ("usr/local/bin/pratique", 0o100755),
    ];
    let found: Vec<_> = files.iter().map(|(name, mode)| (name.as_str(), *mode)).collect();
    assert_eq!(found, expected);
    let tmp = fs::metadata(directory.path().join("root/tmp")).unwrap();
    assert_eq!(tmp.permissions().mode(), 0o41777);
    let user = fs::read_to_string(directory.path().join("root/etc/passwd")).unwrap();
    let containerfile = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/Containerfile");
    let containerfile = fs::read_to_string(containerfile).unwrap();
    // The command runs as the user of the image, by its numbers in the root.
    let user: Vec<&str> = user.split(':').collect();
    assert!(
        containerfile.contains(&format!("\nUSER {}:{}\n", user[2], user[3])),
        "{containerfile}"
    );
    assert!(containerfile.contains(&format!("\nENTRYPOINT [\"{INSIDE}\"]\n")));
}

#[test]
fn the_program_runs_alone_and_not_as_root() {
    let (directory, _) = assembled();
    let root = directory.path().join("root").display().to_string();
    let Some(enter) = entering(&root) else {
        eprintln!(
            "NOT TESTED: this user may neither change the root directory nor make a namespace of users"
        );
        return;
    };
    let run = |program: &str, arguments: &[&str]| -> Output {
        let mut command = Command::new(&enter[0]);
        command.args(&enter[1..]).arg(program).args(arguments);
        command.output().unwrap()
    };
    let version = run(INSIDE, &["--version"]);
    assert!(version.status.success(), "{version:?}");
    for shell in ["/bin/sh", "/bin/bash", "/bin/busybox", "/usr/bin/env"] {
        let shell = run(shell, &[]);
        assert_eq!(shell.status.code(), Some(127), "{shell:?}");
    }
    let checked = run(
        INSIDE,
        &["check", "--plugin", "ValidatingAdmissionPolicy", "/policies"],
    );
    assert_eq!(checked.status.code(), Some(0), "{checked:?}");
    // What the image runs by default. The name of the program outside is dropped.
    let inside = format!("shift; exec {} {INSIDE} \"$@\"", enter.join(" "));
    let serving = Serving::start_in(
        &["sh", "-c", &inside, "sh"],
        "127.0.0.1:0",
        directory.path(),
        &["--plain-http", "--manifests", "/policies"],
    );
    let status = fs::read_to_string(format!("/proc/{}/status", serving.id())).unwrap();
    let user = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap();
    assert!(!user.split_whitespace().any(|id| id == "0"), "{status}");
    assert_eq!(serving.client().get("/readyz"), "ok\n");
}
