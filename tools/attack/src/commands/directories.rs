//! Directories and links that lead elsewhere, nowhere, or to very much.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::{AttackScale, refused, run, steers, write};
use pratique_harness::ToolError;

const POLICIES: &str = include_str!("../policies.yaml");

/// A suite that names files elsewhere gets nothing of them printed.
pub(super) fn paths(program: &Path, folder: &Path, _: AttackScale) -> Result<String, ToolError> {
    write(folder, "secret.txt", "swordfish: [\n")?;
    let mut results = Vec::new();
    for path in ["../secret.txt", "/etc/passwd", "link.yaml"] {
        let suite = format!(
            "apiVersion: pratique/v1alpha1\nkind: Suite\nmetadata: {{name: a}}\npolicies: [{path}]\ntests: []\n"
        );
        write(folder, "suites/suite.yaml", &suite)?;
        let link = folder.join("suites/link.yaml");
        if fs::symlink_metadata(&link).is_err() {
            std::os::unix::fs::symlink("../secret.txt", &link).map_err(|error| error.to_string())?;
        }
        let outcome = run(program, &folder.join("suites"), &["test", "suite.yaml"])?;
        let printed = [&*outcome.stdout, &outcome.stderr].concat();
        if printed.contains("swordfish") || printed.contains("root:") {
            return Err(format!("{path}: {printed}").into());
        }
        results.push(outcome.refused()?);
    }
    Ok(results.join("\n"))
}

/// A directory with hundreds of thousands of files that are no inputs.
pub(super) fn crowded(program: &Path, folder: &Path, scale: AttackScale) -> Result<String, ToolError> {
    let count = scale.size * 10;
    write(folder, "many/policies.yaml", POLICIES)?;
    let suite = serde_json::json!({"apiVersion": "pratique/v1alpha1", "kind": "Suite", "metadata": {"name": "a"}, "policies": ["many"],
        "tests": [{"name": "a", "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "shop"},
            "spec": {"containers": [{"name": "a", "image": "b"}]}}, "expect": "allowed"}]});
    write(folder, "suite.yaml", &suite.to_string())?;
    for index in 0..count {
        // Links are made faster than files; no file system has more than 65,000 to one file.
        if index % 30_000 == 0 {
            write(folder, &format!("file-{}", index / 30_000), "")?;
        }
        let from = folder.join(format!("file-{}", index / 30_000));
        let to = folder.join(format!("many/{index}.txt"));
        fs::hard_link(from, &to).map_err(ToolError::file(&to))?;
    }
    let mut results = Vec::new();
    for arguments in [["check", "many"], ["test", "."]] {
        let outcome = run(program, folder, &arguments)?;
        let summary = format!("{}: {}", arguments.join(" "), outcome.summary());
        if outcome.status.success() {
            results.push(summary)
        } else {
            return Err(format!("{summary}{}", outcome.stdout).into());
        }
    }
    Ok(format!("{count} files\n{}", results.join("\n")))
}

/// Links to themselves, to each other, and to the directory above.
pub(super) fn circles(program: &Path, folder: &Path, _: AttackScale) -> Result<String, ToolError> {
    let link = |from: &str, to: &str| {
        let path = folder.join(from);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| std::os::unix::fs::symlink(to, &path))
            .map_err(ToolError::file(&path))
    };
    link("files/a.yaml", "b.yaml")?;
    link("files/b.yaml", "a.yaml")?;
    link("self.yaml", "self.yaml")?;
    link("folders/inner/above", "..")?;
    link("folders/inner/here", ".")?;
    link("suites/above", "..")?;
    let suite = "apiVersion: pratique/v1alpha1\nkind: Suite\nmetadata: {name: a}\npolicies: [../files]\ntests:\n\
                 - {name: a, object: {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, image: b}]}}, expect: allowed}\n";
    write(folder, "suites/suite.yaml", suite)?;
    refused(
        program,
        folder,
        &[
            ["check", "files"],
            ["check", "self.yaml"],
            ["review", "files"],
            ["review", "self.yaml"],
            ["review", "folders"],
            ["test", "files"],
            ["test", "folders"],
            ["test", "suites"],
        ],
    )
}

/// Names of files that are no UTF-8.
pub(super) fn names_of_bytes(program: &Path, folder: &Path, _: AttackScale) -> Result<String, ToolError> {
    write(folder, "names/policies.yaml", POLICIES)?;
    write(
        folder,
        "objects/pod.yaml",
        "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}, spec: {containers: [{name: a, image: b}]}}\n",
    )?;
    for (directory, content) in [
        ("names", "apiVersion: v1\nkind: Wrong\n"),
        (
            "objects",
            "{apiVersion: v1, kind: Pod, metadata: {name: b, namespace: shop}, spec: {containers: [{name: a, image: b}]}}\n",
        ),
    ] {
        let path = folder
            .join(directory)
            .join(OsStr::from_bytes(b"x\xff\x1b[2J.yaml"));
        fs::write(&path, content).map_err(ToolError::file(&path))?;
    }
    let mut results = Vec::new();
    for arguments in [
        &["check", "names"][..],
        &["review", "objects", "--manifests", "names"],
        &["review", "objects"],
        &["test", "objects"],
    ] {
        let outcome = run(program, folder, arguments)?;
        for text in [&outcome.stdout, &outcome.stderr] {
            steers(text).map_err(|line| format!("`{}`: {line:?}", arguments.join(" ")))?;
        }
        results.push(format!("{}: {}", arguments.join(" "), outcome.summary()));
    }
    Ok(results.join("\n"))
}
