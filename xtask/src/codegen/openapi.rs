//! OpenAPI documents in a directory: which group and version each describes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The texts of the documents by `GROUP/VERSION`.
pub(super) fn texts(directory: &Path) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let documents = documents(directory)?.into_iter();
    let read = documents.map(|path| {
        let text = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok((group_version(&path), text))
    });
    read.collect()
}

/// The served `GROUP/VERSION`s, from the names of the documents.
pub(super) fn served(directory: &Path) -> Result<BTreeSet<String>, String> {
    Ok(documents(directory)?
        .iter()
        .map(|path| group_version(path))
        .collect())
}

/// `api__v1.json` → `/v1`, `apis__apps__v1.json` → `apps/v1`
fn group_version(path: &Path) -> String {
    let stem = path
        .file_stem()
        .and_then(|stem| stem.to_str())
        .unwrap_or_default();
    match *stem.split("__").collect::<Vec<_>>() {
        ["api", version] => format!("/{version}"),
        [_, group, version] => format!("{group}/{version}"),
        _ => stem.to_owned(),
    }
}

fn documents(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let entries =
        std::fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with("api") && name.ends_with(".json"))
        })
        .collect();
    paths.sort();
    Ok(paths)
}
