//! The version of the Kubernetes API, which the version features of `k8s-openapi` choose. Exactly one of them has to be
//! enabled in a build, so a library that enables one cannot be used beside another choice: binaries choose, and tests.

use super::{Dependency, Package};

const K8S_OPENAPI: &str = "k8s-openapi";

/// What docs.rs has to pass on, as it builds libraries without anything that would choose.
const CHOICE: &str = "env.K8S_OPENAPI_ENABLED_VERSION=";

/// Lists the packages that choose where they may not, or do not where they have to.
pub(super) fn faults(packages: &[Package]) -> Vec<String> {
    let users = packages.iter().filter(|package| uses(package, packages, false));
    let mut faults: Vec<String> = users.filter_map(fault).collect();
    // Within the repository, `.cargo/config.toml` chooses for what is built by itself.
    let tested = packages
        .iter()
        .filter(|package| package.is_published() && uses(package, packages, true));
    let unable = tested.filter(|package| !package.dependencies.iter().any(chooses));
    faults.extend(
        unable.map(|package| format!("the tests of {} choose no version of {K8S_OPENAPI}", package.name)),
    );
    faults
}

fn fault(package: &Package) -> Option<String> {
    let name = &package.name;
    let chosen = package
        .dependencies
        .iter()
        .any(|dependency| !dependency.is_dev() && chooses(dependency));
    if !package.is_published() {
        return None;
    }
    if !package.is_library() {
        return (!chosen).then(|| format!("{name} is a binary and chooses no version of {K8S_OPENAPI}"));
    }
    if chosen {
        return Some(format!(
            "{name} is a library and chooses a version of {K8S_OPENAPI}"
        ));
    }
    let arguments = package
        .docs_rs()
        .and_then(|docs| docs.get("cargo-args")?.as_array());
    let is_choice =
        |argument: &serde_json::Value| argument.as_str().is_some_and(|text| text.starts_with(CHOICE));
    let documented = arguments.is_some_and(|arguments| arguments.iter().any(is_choice));
    (!documented).then(|| format!("{name} cannot be documented: no version of {K8S_OPENAPI} is chosen"))
}

fn chooses(dependency: &Dependency) -> bool {
    let is_version = |name: &String| name.starts_with("v1_") || name == "latest" || name == "earliest";
    dependency.name == K8S_OPENAPI && dependency.features.iter().any(is_version)
}

/// Whether `k8s-openapi` is built with a package, or with its tests. No package of the workspace needs itself.
fn uses(package: &Package, packages: &[Package], with_tests: bool) -> bool {
    let mut needed = package
        .dependencies
        .iter()
        .filter(|dependency| with_tests || !dependency.is_dev());
    needed.any(|dependency| {
        let other = || packages.iter().find(|other| other.name == dependency.name);
        dependency.name == K8S_OPENAPI || other().is_some_and(|other| uses(other, packages, false))
    })
}

mod tests {
    use serde_json::{Value, json};

    use super::super::tests::package;
    use super::*;

    fn on(name: &str, kind: Option<&str>, features: &[&str]) -> Value {
        json!({"name": name, "req": "^0.1", "kind": kind, "features": features})
    }

    #[track_caller]
    fn check(changes: Value, expected: &str) {
        let docs = json!({"docs": {"rs": {"all-features": true, "cargo-args": ["--config", "env.K8S_OPENAPI_ENABLED_VERSION='1.37'"]}}});
        let base = json!({
            "metadata": docs, "dependencies": [on(K8S_OPENAPI, None, &[]), on(K8S_OPENAPI, Some("dev"), &["v1_37"])],
        });
        let mut changed = json!({"metadata": docs});
        for (field, value) in changes.as_object().unwrap() {
            changed[field] = value.clone();
        }
        let packages = [package("base", base), package("a", changed)];
        assert_eq!(faults(&packages).join("; "), expected);
    }

    #[test]
    fn libraries_leave_the_choice_to_their_users() {
        let tests = || on(K8S_OPENAPI, Some("dev"), &["v1_37"]);
        check(json!({}), "");
        check(json!({"dependencies": [on("base", None, &[]), tests()]}), "");
        check(
            json!({"dependencies": [on(K8S_OPENAPI, None, &["v1_37"])]}),
            "a is a library and chooses a version of k8s-openapi",
        );
        check(
            json!({"dependencies": [on("base", None, &[])]}),
            "the tests of a choose no version of k8s-openapi",
        );
        check(
            json!({"dependencies": [on("base", Some("dev"), &[])]}),
            "the tests of a choose no version of k8s-openapi",
        );
        check(
            json!({"metadata": null, "dependencies": [on("base", None, &[]), tests()]}),
            "a cannot be documented: no version of k8s-openapi is chosen",
        );
    }

    #[test]
    fn binaries_choose() {
        let binary =
            |dependencies: Value| json!({"targets": [{"kind": ["bin"]}], "dependencies": dependencies});
        check(
            binary(json!([on("base", None, &[]), on(K8S_OPENAPI, None, &["v1_37"])])),
            "",
        );
        check(
            binary(json!([on("base", None, &[])])),
            "a is a binary and chooses no version of k8s-openapi; the tests of a choose no version of k8s-openapi",
        );
    }
}
