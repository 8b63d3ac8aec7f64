//! Paths as Helm names files of charts: by the chart's name.

use std::path::{Component, Path, PathBuf};

/// A path of a source that goes down from where it is named; `None` for one that leads elsewhere.
pub(super) fn downward(path: &str) -> Option<&Path> {
    let path = Path::new(path.trim());
    let mut parts = path.components();
    let goes_down = parts.all(|part| matches!(part, Component::Normal(_)));
    (goes_down && path.file_name().is_some()).then_some(path)
}

/// The file of a chart in a directory that Helm names by the chart: `shop/templates/web.yaml`.
pub(super) fn below_chart(root: &Path, named: &Path) -> Option<PathBuf> {
    let mut parts = named.components();
    parts.next()?;
    let rest = parts.as_path();
    (!rest.as_os_str().is_empty()).then(|| root.join(rest))
}
