//! Whether the packages of the workspace can be published: what a registry asks of them, what they depend on, and that no
//! library chooses the version of the Kubernetes API for its users. `.ci/packages` compiles them from what is packaged.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that fails may stop"
)]

mod engine;
mod kubernetes;
mod library;
mod map;
mod order;
mod promise;
mod sections;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde_json::Value;

/// The packages of a workspace, as `cargo metadata` describes them.
#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    description: Option<String>,
    license: Option<String>,
    repository: Option<String>,
    readme: Option<PathBuf>,
    keywords: Vec<String>,
    categories: Vec<String>,
    /// The registries that it may be published to; `None` for any.
    publish: Option<Vec<String>>,
    manifest_path: PathBuf,
    targets: Vec<Target>,
    dependencies: Vec<Dependency>,
    #[serde(default)]
    features: BTreeMap<String, Vec<String>>,
    metadata: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct Target {
    kind: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    /// The versions that will do; `*` for a dependency that is named by its path alone.
    req: String,
    /// `dev` or `build`; `None` for others.
    kind: Option<String>,
    features: Vec<String>,
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn packages_can_be_published() {
    let packages = metadata();
    let license = fs::read_to_string(workspace().join("LICENSE")).unwrap();
    let mut faults = faults(&packages);
    let published: Vec<&Package> = packages.iter().filter(|package| package.is_published()).collect();
    faults.extend(published.iter().flat_map(|package| files(package, &license)));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(published.len() > 20, "{} packages", published.len());
}

/// Faults of the descriptions of packages.
fn faults(packages: &[Package]) -> Vec<String> {
    let mut faults = Vec::new();
    for package in packages.iter().filter(|package| package.is_published()) {
        faults.extend(descriptions(package));
        faults.extend(dependencies(package, packages));
    }
    faults.extend(kubernetes::faults(packages));
    faults
}

/// Fields that a registry requires, and that its readers expect.
fn descriptions(package: &Package) -> Vec<String> {
    let name = &package.name;
    let mut faults = Vec::new();
    let texts = [
        ("description", &package.description),
        ("license", &package.license),
        ("repository", &package.repository),
    ];
    for (field, _) in texts.iter().filter(|(_, text)| text.is_none()) {
        faults.push(format!("{name} has no {field}"));
    }
    for (field, list) in [
        ("keywords", &package.keywords),
        ("categories", &package.categories),
    ] {
        if list.is_empty() || list.len() > 5 {
            faults.push(format!("{name} has {} {field}: 1 to 5 are allowed", list.len()));
        }
    }
    let is_keyword = |word: &&String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+');
        word.len() <= 20 && word.starts_with(|c: char| c.is_ascii_alphanumeric()) && word.chars().all(plain)
    };
    if let Some(word) = package.keywords.iter().find(|word| !is_keyword(word)) {
        faults.push(format!("{name} has a keyword that no registry accepts: {word:?}"));
    }
    let all_features = package
        .docs_rs()
        .and_then(|docs| docs.get("all-features")?.as_bool());
    if package.is_library() && all_features != Some(true) {
        faults.push(format!("{name} is not documented with all features"));
    }
    faults
}

/// Other packages of the workspace that a published one depends on are published as well; those that are not are named by
/// their path alone and for tests alone, so that they are left out of what is published.
fn dependencies(package: &Package, packages: &[Package]) -> Vec<String> {
    let name = &package.name;
    let fault = |dependency: &Dependency| {
        let other = packages.iter().find(|other| other.name == dependency.name)?;
        let needed = &other.name;
        let has_version = dependency.req != "*";
        match (other.is_published(), dependency.is_dev()) {
            (true, _) if has_version => None,
            (true, _) => Some(format!("{name} does not say which version of {needed} it needs")),
            (false, true) if !has_version => None,
            (false, true) => Some(format!(
                "{name} names a version of {needed}, which is not published"
            )),
            (false, false) => Some(format!("{name} needs {needed}, which is not published")),
        }
    };
    package.dependencies.iter().filter_map(fault).collect()
}

/// The files that go with a package.
fn files(package: &Package, license: &str) -> Vec<String> {
    let name = &package.name;
    let directory = package.manifest_path.parent().unwrap_or(Path::new(""));
    let mut faults = Vec::new();
    let readme = package
        .readme
        .as_deref()
        .map(|file| fs::read_to_string(directory.join(file)));
    match readme {
        None => faults.push(format!("{name} has no README.md")),
        Some(Err(error)) => faults.push(format!("{name}, README.md: {error}")),
        Some(Ok(text)) if text.lines().next() != Some(&format!("# {name}")) => {
            faults.push(format!("the README.md of {name} does not begin with its name"));
        }
        Some(Ok(_)) => {}
    }
    if fs::read_to_string(directory.join("LICENSE")).ok().as_deref() != Some(license) {
        faults.push(format!("{name} does not have the LICENSE of the workspace"));
    }
    faults
}

impl Package {
    fn is_published(&self) -> bool {
        self.publish
            .as_ref()
            .is_none_or(|registries| !registries.is_empty())
    }

    fn is_library(&self) -> bool {
        self.targets
            .iter()
            .any(|target| target.kind.iter().any(|kind| kind == "lib"))
    }

    fn docs_rs(&self) -> Option<&Value> {
        self.metadata.as_ref()?.get("docs")?.get("rs")
    }
}

impl Dependency {
    fn is_dev(&self) -> bool {
        self.kind.as_deref() == Some("dev")
    }
}

fn metadata() -> Vec<Package> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(workspace())
        .args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
            "--locked",
        ])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Metadata = serde_json::from_slice(&output.stdout).unwrap();
    metadata.packages
}

mod tests {
    use serde_json::json;

    use super::*;

    /// A package that can be published, with changes.
    pub(super) fn package(name: &str, changes: Value) -> Package {
        let mut package = json!({
            "name": name, "description": "about it", "license": "Apache-2.0", "repository": "https://example.com",
            "readme": "README.md", "keywords": ["kubernetes"], "categories": ["config"], "publish": null,
            "manifest_path": "/nowhere/Cargo.toml", "targets": [{"kind": ["lib"]}], "dependencies": [],
            "metadata": {"docs": {"rs": {"all-features": true}}},
        });
        for (field, value) in changes.as_object().unwrap() {
            package[field] = value.clone();
        }
        serde_json::from_value(package).unwrap()
    }

    #[track_caller]
    fn check(changes: Value, expected: &str) {
        let hidden = package("hidden", json!({"publish": [], "keywords": []}));
        let packages = [package("a", changes), package("b", json!({})), hidden];
        assert_eq!(faults(&packages).join("; "), expected);
    }

    #[test]
    fn packages_are_described() {
        check(json!({}), "");
        check(json!({"description": null}), "a has no description");
        check(json!({"repository": null}), "a has no repository");
        check(
            json!({"categories": []}),
            "a has 0 categories: 1 to 5 are allowed",
        );
        check(
            json!({"keywords": ["a word"]}),
            "a has a keyword that no registry accepts: \"a word\"",
        );
        check(json!({"metadata": null}), "a is not documented with all features");
        check(json!({"metadata": null, "targets": [{"kind": ["bin"]}]}), "");
    }

    #[test]
    fn dependencies_are_published() {
        let on = |name: &str, req: &str, kind: Option<&str>| json!({"dependencies": [{"name": name, "req": req, "kind": kind, "features": []}]});
        check(on("b", "^0.1", None), "");
        check(on("b", "*", None), "a does not say which version of b it needs");
        check(on("hidden", "*", Some("dev")), "");
        check(
            on("hidden", "^0.1", Some("dev")),
            "a names a version of hidden, which is not published",
        );
        check(on("hidden", "*", None), "a needs hidden, which is not published");
    }

    #[test]
    fn packages_have_their_files() {
        assert_eq!(
            files(&package("a", json!({"readme": null})), "a licence"),
            [
                "a has no README.md",
                "a does not have the LICENSE of the workspace"
            ]
        );
    }
}
