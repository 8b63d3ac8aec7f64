//! Discovery documents: which resources every server serves, and which it serves if it is asked to.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use pratique_harness::{ToolError, entries};
use pratique_json::Value;

use super::within;

const SERVED_HEAD: &str = "\
# Resources that every API server serves. Made by `cargo xtask codegen`; do not edit.
# apiVersion resource kind[@apiVersion of the kind] scope [singular [short names]]
";

const OPTIONAL_HEAD: &str = "\
# Resources that not every API server serves: those of alpha and beta versions. Made by `cargo xtask codegen`; do not edit.
# apiVersion resource kind[@apiVersion of the kind] scope [singular [short names]]
";

/// Writes the tables `resources.txt` and `optional.txt` into a directory, from the discovery documents of another, which are those of
/// a server that serves all that it can.
// Upstream: pkg/controlplane/instance.go, DefaultAPIResourceConfigSource: alpha and beta versions are off
pub(super) fn run(documents: &Path, data: &Path) -> Result<(), ToolError> {
    let mut lines = BTreeMap::new();
    for path in lists(documents)? {
        let text = std::fs::read(&path).map_err(ToolError::file(&path))?;
        let document = pratique_json::parse(&text).map_err(within(path.display()))?;
        for line in resources(&document) {
            lines.insert(key(&line), line);
        }
    }
    let (optional, served): (Vec<_>, Vec<_>) =
        lines.iter().partition(|((_, version, _), _)| !is_stable(version));
    for (name, head, lines) in [
        ("resources.txt", SERVED_HEAD, served),
        ("optional.txt", OPTIONAL_HEAD, optional),
    ] {
        let mut text = String::from(head);
        for (_, line) in lines {
            let _ = writeln!(text, "{line}");
        }
        let table = data.join(name);
        std::fs::write(&table, text).map_err(ToolError::file(&table))?;
    }
    Ok(())
}

/// The group, version and resource of a line, by which lines are in order.
fn key(line: &str) -> (String, String, String) {
    let (api_version, rest) = line.split_once(' ').unwrap_or((line, ""));
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
    let resource = rest.split(' ').next().unwrap_or_default();
    (group.to_owned(), version.to_owned(), resource.to_owned())
}

/// `v1`, not `v1beta1`
fn is_stable(version: &str) -> bool {
    version.bytes().skip(1).all(|letter| letter.is_ascii_digit())
}

/// The lists of the resources of a version: `api__v1.json`, `apis__apps__v1.json`.
fn lists(directory: &Path) -> Result<Vec<PathBuf>, ToolError> {
    let of_version = |path: &PathBuf| {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        name.starts_with("api__") || name.split("__").count() == 3
    };
    let mut paths = entries(directory)?;
    paths.retain(of_version);
    Ok(paths)
}

/// The resources of a list as lines of the table.
fn resources(document: &Value<'_>) -> impl Iterator<Item = String> {
    let text = |of: &Value<'_>, field| {
        let text = of.get(field).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let version = text(document, "groupVersion");
    let resources = document
        .get("resources")
        .and_then(Value::as_array)
        .unwrap_or_default();
    resources.iter().map(move |resource| {
        let mut kind = text(resource, "kind");
        let kind_version = text(resource, "version");
        if !kind_version.is_empty() {
            let group = text(resource, "group");
            let separator = if group.is_empty() { "" } else { "/" };
            let _ = write!(kind, "@{group}{separator}{kind_version}");
        }
        let namespaced = resource.get("namespaced").and_then(Value::as_bool) == Some(true);
        let scope = if namespaced { "namespaced" } else { "cluster" };
        let short = resource
            .get("shortNames")
            .and_then(Value::as_array)
            .unwrap_or_default();
        let short: Vec<&str> = short.iter().filter_map(Value::as_str).collect();
        let line = format!(
            "{version} {} {kind} {scope} {} {}",
            text(resource, "name"),
            text(resource, "singularName"),
            short.join(",")
        );
        line.trim_end().to_owned()
    })
}
