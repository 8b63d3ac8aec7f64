//! Objects that are denied, where a reader may pass over them and `kubectl apply` or a cluster does not.

use std::path::Path;
use std::process::Command;

use super::{AttackScale, CommandOutcome, run, write};
use pratique_harness::ToolError;

/// A policy that denies what has a label.
const POLICIES: &str = include_str!("../policies.yaml");
const DENIED: &str = r#"{"apiVersion": "v1", "kind": "Pod",
    "metadata": {"name": "hidden", "namespace": "shop", "labels": {"denied": "yes"}}, "spec": {"containers": []}}"#;
const ALLOWED: &str =
    "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}, data: {a: b}}\n";

/// Reviews all objects of a folder, some of which are denied; an error if the answer is green.
fn review(program: &Path, folder: &Path, what: &str) -> Result<CommandOutcome, ToolError> {
    let result = run(
        program,
        folder,
        &["review", "rendered", "--manifests", "policies"],
    )?;
    if result.status.success() {
        Err(format!("{what}: allowed: {}{}", result.stdout, result.stderr).into())
    } else {
        Ok(result)
    }
}

/// kubectl creates what is in `items`, whatever the kind around it.
pub(super) fn items(program: &Path, folder: &Path, _: AttackScale) -> Result<String, ToolError> {
    write(folder, "policies/policies.yaml", POLICIES)?;
    for kind in ["ConfigMap", "Secret", "PodList", "Anything"] {
        let list = format!(
            r#"{{"apiVersion": "v1", "kind": "{kind}", "metadata": {{"name": "a", "namespace": "shop"}}, "items": [{DENIED}]}}"#
        );
        write(folder, "rendered/list.json", &list)?;
        let result = review(program, folder, kind)?;
        if result.status.code() != Some(1) {
            return Err(format!("{kind}: {}", result.summary()).into());
        }
    }
    Ok("the objects in `items` of 4 kinds were denied".to_owned())
}

/// Lists that call themselves something of Kustomize, whose files are passed over otherwise.
pub(super) fn kustomize_lists(program: &Path, folder: &Path, _: AttackScale) -> Result<String, ToolError> {
    write(folder, "policies/policies.yaml", POLICIES)?;
    let mut runs = 0;
    for version in [
        "kustomize.config.k8s.io/v1beta1",
        "kustomize.config.k8s.io/v1alpha1",
        "builtin",
    ] {
        for kind in ["Kustomization", "Component", "PatchTransformer", "PodList"] {
            for name in ["list.json", "kustomization.yaml"] {
                let list = format!(
                    r#"{{"apiVersion": "{version}", "kind": "{kind}", "metadata": {{"name": "a"}}, "items": [{DENIED}]}}"#
                );
                write(folder, &format!("rendered/{name}"), &list)?;
                review(program, folder, &format!("a {kind} of {version} in {name}"))?;
                std::fs::remove_file(folder.join("rendered").join(name))
                    .map_err(|error| error.to_string())?;
                runs += 1;
            }
        }
    }
    Ok(format!("{runs} lists of kinds of Kustomize were denied"))
}

/// Files that the repository has and a reader may pass over: read, or told of.
pub(super) fn files(program: &Path, folder: &Path, _: AttackScale) -> Result<String, ToolError> {
    write(folder, "policies/policies.yaml", POLICIES)?;
    write(folder, "rendered/allowed.yaml", ALLOWED)?;
    write(folder, "rendered/ignored.yaml", DENIED)?;
    write(folder, ".gitignore", "ignored.yaml\n")?;
    for arguments in [
        &["init", "--quiet"][..],
        &["add", "--force", "."],
        &[
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.com",
            "commit",
            "--quiet",
            "--message",
            "a",
        ],
    ] {
        git(folder, arguments)?;
    }
    review(program, folder, "a file that is ignored and tracked")?;
    std::fs::remove_file(folder.join("rendered/ignored.yaml")).map_err(|error| error.to_string())?;

    // What clients send is reviewed, whatever its name or what stands beside it.
    write(folder, "rendered/.hidden.yaml", DENIED)?;
    review(program, folder, "a file whose name begins with a dot")?;
    std::fs::remove_file(folder.join("rendered/.hidden.yaml")).map_err(|error| error.to_string())?;
    write(folder, "rendered/patch.yaml", DENIED)?;
    write(
        folder,
        "rendered/kustomization.yaml",
        "patches: [{path: patch.yaml}]\n",
    )?;
    review(program, folder, "an object that a kustomization names as a patch")?;
    for name in ["rendered/patch.yaml", "rendered/kustomization.yaml"] {
        std::fs::remove_file(folder.join(name)).map_err(|error| error.to_string())?;
    }

    // kubectl reads directories whose name begins with a dot.
    for name in ["rendered/.hidden/object.yaml", "rendered/a/.b/.c/.object.json"] {
        write(folder, name, DENIED)?;
        review(program, folder, name)?;
        std::fs::remove_file(folder.join(name)).map_err(|error| error.to_string())?;
    }

    // What nothing reads is counted.
    let name = "rendered/object.conf";
    write(folder, name, DENIED)?;
    git(folder, &["add", "--force", "."])?;
    let result = run(
        program,
        folder,
        &["review", "rendered", "--manifests", "policies"],
    )?;
    if !result.stdout.contains("passed over: 1 ") {
        return Err(format!("{name} is not counted: {}{}", result.stdout, result.stderr).into());
    }
    Ok(
        "files that are ignored, hidden, in hidden directories, or named as a patch were read; those of another extension were \
         counted"
            .to_owned(),
    )
}

/// Definitions among the inputs that claim kinds of the server.
pub(super) fn definitions(program: &Path, folder: &Path, _: AttackScale) -> Result<String, ToolError> {
    write(folder, "policies/policies.yaml", POLICIES)?;
    let schema = serde_json::json!({"openAPIV3Schema": {"type": "object", "properties": {"metadata": {"type": "object"}}}});
    let mut count = 0;
    for (plural, is_valid) in [("foos", true), ("pods", true), ("foos", false)] {
        let definition = serde_json::json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.")},
            "spec": {"group": "", "scope": "Namespaced", "names": {"kind": "Pod", "plural": plural},
                "versions": [{"name": "v1", "served": true, "storage": is_valid, "schema": schema}]}});
        write(folder, "rendered/0.json", &definition.to_string())?;
        write(folder, "rendered/1.json", DENIED)?;
        let result = review(program, folder, plural)?;
        if !result.stdout.contains("hidden") && !result.stderr.contains("hidden") {
            return Err(format!("the Pod is not mentioned: {}{}", result.stdout, result.stderr).into());
        }
        count += 1;
    }
    Ok(format!("a Pod was denied beside {count} definitions of its kind"))
}

/// Runs git in a folder, with nothing of the user's configuration.
pub(super) fn git(folder: &Path, arguments: &[&str]) -> Result<(), ToolError> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .map_err(|error| format!("git: {error}"))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(format!(
            "git {}: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stderr)
        )
        .into())
    }
}
