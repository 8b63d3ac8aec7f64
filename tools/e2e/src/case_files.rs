//! Folders of cases, each of which is a file.

use std::fs;
use std::path::Path;

use pratique_harness::{ToolError, entries};

/// Reads the cases of a folder, sorted by the names of their files. `parse` gets the name and the text of each.
pub(super) fn read_all<T>(
    folder: &Path,
    kind: &str,
    parse: impl Fn(&str, &str) -> Option<T>,
) -> Result<Vec<T>, ToolError> {
    let read = |path: &Path| {
        let text = fs::read_to_string(path).map_err(ToolError::file(path))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        parse(&name, &text).ok_or_else(|| ToolError::from(format!("{}: not a {kind}", path.display())))
    };
    entries(folder)?.iter().map(|path| read(path)).collect()
}
