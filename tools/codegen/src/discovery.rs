//! Discovery documents: which resources there are in versions that a server serves only if asked to.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use pratique_harness::{Error, entries};
use pratique_json::Value;

use super::within;

const HEAD: &str = "\
# Resources that not every API server serves: alpha and beta versions, and those of later releases. Made by `cargo xtask codegen`; do not edit.
# apiVersion resource kind[@apiVersion of the kind] scope [singular [short names]]
";

/// Writes the resources of discovery documents in directories that the table `served` has not.
pub(super) fn run(directories: &[PathBuf], served: &Path, optional: &Path) -> Result<(), Error> {
    let table = std::fs::read_to_string(served).map_err(Error::file(served))?;
    let key = |line: &str| line.split(' ').take(2).map(str::to_owned).collect::<Vec<_>>();
    let served: BTreeSet<_> = table.lines().map(key).collect();
    let mut lines = BTreeMap::new();
    for directory in directories {
        for path in documents(directory)? {
            let text = std::fs::read(&path).map_err(Error::file(&path))?;
            let document = pratique_json::parse(&text).map_err(within(path.display()))?;
            for line in resources(&document) {
                lines.entry(key(&line)).or_insert(line);
            }
        }
    }
    let mut text = String::from(HEAD);
    for (_, line) in lines.iter().filter(|(key, _)| !served.contains(*key)) {
        let _ = writeln!(text, "{line}");
    }
    std::fs::write(optional, text).map_err(Error::file(optional))
}

/// The lists of the resources of a version: `api__v1.json`, `apis__apps__v1.json`.
fn documents(directory: &Path) -> Result<Vec<PathBuf>, Error> {
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
