//! Versions of kinds that a release stopped to serve, by the lifecycle that Kubernetes generates beside its types. Those that were
//! deleted before there were lifecycles are the packages that the next version of their module has not.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use pratique_harness::{ToolError, entries};

/// The file of a package in which the lifecycle of its types is.
const LIFECYCLE: &str = "zz_generated.prerelease-lifecycle.go";

/// The file of a package that names its group and registers its types.
const REGISTER: &str = "register.go";

const HEAD: &str = "\
# Versions of kinds that are no longer served: VERSION KIND REMOVED-IN [VERSION KIND instead]. Made by `cargo xtask codegen lifecycle`; do not edit.
";

/// The lifecycle of a type, as far as it matters here.
#[derive(Default)]
struct TypeLifecycle {
    removed: Option<String>,
    /// `apps/v1 Deployment`
    replacement: Option<String>,
}

/// Writes the table of the types of Go modules; of several modules, later ones add types that are not in the ones before.
pub(super) fn run(modules: &[PathBuf], table: &Path) -> Result<(), ToolError> {
    let mut lines = BTreeMap::new();
    for module in modules {
        let mut packages = Vec::new();
        collect_packages(module, LIFECYCLE, &mut packages)?;
        for package in packages {
            for (kind, line) in removed_kinds(&package)? {
                lines.entry(kind).or_insert(line);
            }
        }
        if let Some((next, minor)) = next_version(module, modules) {
            for kind in deleted_kinds(module, next)? {
                lines.entry(kind).or_insert_with(|| format!("1.{minor}"));
            }
        }
    }
    let mut text = String::from(HEAD);
    for (kind, line) in lines {
        let _ = writeln!(text, "{kind} {line}");
    }
    std::fs::write(table, text).map_err(ToolError::file(table))
}

/// The next minor version of a module among others, with its number: `k8s.io/api@v0.20.15` of `k8s.io/api@v0.19.16`.
fn next_version<'m>(module: &Path, modules: &'m [PathBuf]) -> Option<(&'m PathBuf, u32)> {
    let (name, minor) = parse_module(module)?;
    let next = minor.checked_add(1)?;
    let mut others = modules.iter();
    let next_module = others.find(|other| parse_module(other) == Some((name, next)))?;
    Some((next_module, next))
}

/// The name of a module and its minor version, which is that of the release.
fn parse_module(module: &Path) -> Option<(&str, u32)> {
    let (name, version) = module.file_name()?.to_str()?.split_once("@v0.")?;
    Some((name, version.split('.').next()?.parse().ok()?))
}

/// The kinds of the packages of a module that its next version has not, and that have no lifecycle.
fn deleted_kinds(module: &Path, next: &Path) -> Result<Vec<String>, ToolError> {
    let mut packages = Vec::new();
    collect_packages(module, REGISTER, &mut packages)?;
    let mut kinds = Vec::new();
    for package in packages {
        let below = package.strip_prefix(module).unwrap_or(&package);
        if next.join(below).is_dir() || package.join(LIFECYCLE).is_file() {
            continue;
        }
        let register = read(&package.join(REGISTER))?;
        let api_version = api_version(&package, &register);
        let registered = registered_kinds(&register);
        kinds.extend(registered.map(|kind| format!("{api_version} {kind}")));
    }
    Ok(kinds)
}

/// The kinds that a package adds to a scheme, without lists and the types of other packages.
fn registered_kinds(register: &str) -> impl Iterator<Item = &str> {
    let types = register.lines().filter_map(|line| line.trim().strip_prefix('&'));
    let kinds = types.filter_map(|line| line.strip_suffix("{},"));
    kinds.filter(|kind| !kind.ends_with("List") && !kind.contains('.'))
}

/// The directories below one that have a file. Recursion is safe: modules are some directories deep.
fn collect_packages(directory: &Path, file: &str, packages: &mut Vec<PathBuf>) -> Result<(), ToolError> {
    for path in entries(directory)? {
        if path.is_dir() {
            collect_packages(&path, file, packages)?;
        } else if path.ends_with(file) {
            packages.push(directory.to_owned());
        }
    }
    Ok(())
}

/// The kinds of a package that are removed in some release, with what the table says of them.
fn removed_kinds(package: &Path) -> Result<Vec<(String, String)>, ToolError> {
    let api_version = api_version(package, &read(&package.join(REGISTER))?);
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

/// The group and version of a package.
fn api_version(package: &Path, register: &str) -> String {
    let group = register.lines().find_map(|line| {
        let (_, name) = line.split_once("GroupName = \"")?;
        name.strip_suffix('"')
    });
    let version = package.file_name().and_then(|name| name.to_str());
    join_version(group.unwrap_or_default(), version.unwrap_or_default())
}

/// The lifecycles of the types in a generated file, whose functions are all of one form.
// Upstream: code-generator/cmd/prerelease-lifecycle-gen
fn read_lifecycles(text: &str) -> BTreeMap<String, TypeLifecycle> {
    let mut lifecycles: BTreeMap<String, TypeLifecycle> = BTreeMap::new();
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

fn read(path: &Path) -> Result<String, ToolError> {
    std::fs::read_to_string(path).map_err(ToolError::file(path))
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

    #[test]
    fn packages_without_a_lifecycle_register_their_kinds() {
        let register = "\
const GroupName = \"settings.k8s.io\"
\tscheme.AddKnownTypes(SchemeGroupVersion,
\t\t&PodPreset{},
\t\t&PodPresetList{},
\t\t&metav1.Status{},
\t)
\tlocalSchemeBuilder = &SchemeBuilder
";
        let kinds: Vec<&str> = registered_kinds(register).collect();
        assert_eq!(kinds, ["PodPreset"]);
        let version = api_version(Path::new("settings/v1alpha1"), register);
        assert_eq!(version, "settings.k8s.io/v1alpha1");
    }

    #[test]
    fn only_the_next_version_of_a_module_says_what_is_deleted() {
        let modules = [
            "api@v0.37.2",
            "api@v0.20.15",
            "kube-aggregator@v0.21.14",
            "api@v0.19.16",
        ];
        let modules = modules.map(|name| PathBuf::from("k8s.io").join(name));
        let next = |name: &str| {
            let next = next_version(&PathBuf::from("k8s.io").join(name), &modules);
            next.map(|(_, minor)| minor)
        };
        assert_eq!(
            ["api@v0.19.16", "api@v0.20.15", "other"].map(next),
            [Some(20), None, None]
        );
    }
}
