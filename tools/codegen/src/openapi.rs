//! OpenAPI documents in a directory: which group and version each describes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pratique_harness::{ToolError, entries};

/// The texts of the documents by `GROUP/VERSION`.
pub(super) fn texts(directory: &Path) -> Result<BTreeMap<String, Vec<u8>>, ToolError> {
    let mut texts = BTreeMap::new();
    for path in documents(directory)? {
        if let Some(version) = group_version(&path) {
            let text = std::fs::read(&path).map_err(ToolError::file(&path))?;
            texts.insert(version, text);
        }
    }
    Ok(texts)
}

/// `api__v1.json` → `/v1`, `apis__apps__v1_openapi.json` → `apps/v1`; `None` for a document that is of no version.
fn group_version(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_str()?;
    let stem = stem.strip_suffix("_openapi").unwrap_or(stem);
    match *stem.split("__").collect::<Vec<_>>() {
        ["api", version] => Some(format!("/{version}")),
        ["apis", group, version] => Some(format!("{group}/{version}")),
        _ => None,
    }
}

fn documents(directory: &Path) -> Result<Vec<PathBuf>, ToolError> {
    let mut paths = entries(directory)?;
    paths.retain(|path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("api") && name.ends_with(".json"))
    });
    Ok(paths)
}
