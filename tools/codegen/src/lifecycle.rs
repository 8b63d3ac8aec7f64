//! Versions of kinds that a release stopped to serve, by the lifecycle that Kubernetes generates beside its types.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use pratique_harness::{Error, entries};

/// The file of a package in which the lifecycle of its types is.
const LIFECYCLE: &str = "zz_generated.prerelease-lifecycle.go";

const HEAD: &str = "\
# Versions of kinds that are no longer served: VERSION KIND REMOVED-IN [VERSION KIND instead]. Made by `cargo xtask codegen lifecycle`; do not edit.
";

/// The lifecycle of a type, as far as it matters here.
#[derive(Default)]
struct Lifecycle {
    removed: Option<String>,
    /// `apps/v1 Deployment`
    replacement: Option<String>,
}

/// Writes the table of the types of Go modules; of several modules, later ones add types that are not in the ones before.
pub(super) fn run(modules: &[PathBuf], table: &Path) -> Result<(), Error> {
    let mut lines = BTreeMap::new();
    for module in modules {
        let mut packages = Vec::new();
        collect_packages(module, &mut packages)?;
        for package in packages {
            for (kind, line) in removed_kinds(&package)? {
                lines.entry(kind).or_insert(line);
            }
        }
    }
    let mut text = String::from(HEAD);
    for (kind, line) in lines {
        let _ = writeln!(text, "{kind} {line}");
    }
    std::fs::write(table, text).map_err(Error::file(table))
}

/// The directories below one that have a lifecycle. Recursion is safe: modules are some directories deep.
fn collect_packages(directory: &Path, packages: &mut Vec<PathBuf>) -> Result<(), Error> {
    for path in entries(directory)? {
        if path.is_dir() {
            collect_packages(&path, packages)?;
        } else if path.ends_with(LIFECYCLE) {
            packages.push(directory.to_owned());
        }
    }
    Ok(())
}

/// The kinds of a package that are removed in some release, with what the table says of them.
fn removed_kinds(package: &Path) -> Result<Vec<(String, String)>, Error> {
    let register = read(&package.join("register.go"))?;
    let group = register.lines().find_map(|line| {
        let (_, name) = line.split_once("GroupName = \"")?;
        name.strip_suffix('"')
    });
    let version = package.file_name().and_then(|name| name.to_str());
    let api_version = join_version(group.unwrap_or_default(), version.unwrap_or_default());
    let lifecycles = read_lifecycles(&read(&package.join(LIFECYCLE))?);
    let kinds = lifecycles.into_iter().filter_map(|(kind, lifecycle)| {
        let removed = lifecycle.removed?;
        let is_list = kind.ends_with("List");
        let instead = lifecycle.replacement.map(|replacement| {
            // Upstream: IngressClass of networking.k8s.io/v1beta1 is said to be replaced by the list.
            let singular = replacement.strip_suffix("List").unwrap_or(&replacement);
            format!(" {singular}")
        });
        let line = format!("{removed}{}", instead.unwrap_or_default());
        (!is_list).then(|| (format!("{api_version} {kind}"), line))
    });
    Ok(kinds.collect())
}

/// The lifecycles of the types in a generated file, whose functions are all of one form.
// Upstream: code-generator/cmd/prerelease-lifecycle-gen
fn read_lifecycles(text: &str) -> BTreeMap<String, Lifecycle> {
    let mut lifecycles: BTreeMap<String, Lifecycle> = BTreeMap::new();
    let mut function = None;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("func (in *") {
            function = rest
                .split_once(") ")
                .map(|(kind, rest)| (kind.to_owned(), rest.split('(').next().unwrap_or_default()));
        } else if let (Some((kind, name)), Some(value)) = (&function, line.trim().strip_prefix("return ")) {
            let lifecycle = lifecycles.entry(kind.clone()).or_default();
            match *name {
                "APILifecycleRemoved" => lifecycle.removed = Some(value.replace(", ", ".")),
                "APILifecycleReplacement" => lifecycle.replacement = Some(replacement(value)),
                _ => {}
            }
        }
    }
    lifecycles
}

/// `schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}`
fn replacement(literal: &str) -> String {
    let field = |name: &str| {
        let rest = literal.split_once(&format!("{name}: \""));
        rest.and_then(|(_, rest)| rest.split('"').next())
            .unwrap_or_default()
    };
    format!(
        "{} {}",
        join_version(field("Group"), field("Version")),
        field("Kind")
    )
}

fn join_version(group: &str, version: &str) -> String {
    let separator = if group.is_empty() { "" } else { "/" };
    format!("{group}{separator}{version}")
}

fn read(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(Error::file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_functions_are_read() {
        let text = "\
func (in *Deployment) APILifecycleIntroduced() (major, minor int) {
\treturn 1, 6
}
func (in *Deployment) APILifecycleReplacement() schema.GroupVersionKind {
\treturn schema.GroupVersionKind{Group: \"apps\", Version: \"v1\", Kind: \"Deployment\"}
}
func (in *Deployment) APILifecycleRemoved() (major, minor int) {
\treturn 1, 16
}
func (in *Scale) APILifecycleIntroduced() (major, minor int) {
\treturn 1, 6
}
";
        let lifecycles = read_lifecycles(text);
        let deployment = &lifecycles["Deployment"];
        assert_eq!(deployment.removed.as_deref(), Some("1.16"));
        assert_eq!(deployment.replacement.as_deref(), Some("apps/v1 Deployment"));
        assert!(lifecycles["Scale"].removed.is_none());
    }
}
