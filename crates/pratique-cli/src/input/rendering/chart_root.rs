//! Finds the directory of a chart that Helm names by the chart's name alone.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use pratique_review::CHART;

use super::chart_path::below_chart;
use super::first_document_texts;
use crate::input::{read_directory, read_regular};

/// The largest description of a chart, in bytes.
const MAX_CHART: u64 = 256 << 10;

/// How deep below the working directory charts are looked for, and in how many entries of directories.
const MAX_DEPTH: usize = 6;
const MAX_ENTRIES: usize = 50_000;

/// The charts below the working directory, by the names that they give themselves, once they are looked for.
#[derive(Debug, Default)]
pub(super) struct ChartRoots(Option<HashMap<String, Vec<PathBuf>>>);

impl ChartRoots {
    /// The file of a chart that is named as Helm does, `shop/templates/web.yaml`: in that chart, or else in the chart that it depends
    /// on. `None` if there is no such file, or several charts have one.
    pub(super) fn find(&mut self, named: &Path) -> Option<PathBuf> {
        self.find_whole(named).or_else(|| self.find_part(named))
    }

    /// The file in the chart that a chart depends on, `shop/charts/db/templates/web.yaml`, where that chart stands by itself.
    pub(super) fn find_part(&mut self, named: &Path) -> Option<PathBuf> {
        let mut parts = named.components();
        let mut file = None;
        while let Some(part) = parts.next() {
            if part.as_os_str() == "charts" {
                file = self.find_whole(parts.as_path()).or(file);
            }
        }
        file
    }

    fn find_whole(&mut self, named: &Path) -> Option<PathBuf> {
        let name = named.components().next()?.as_os_str().to_str()?;
        let all = self.0.get_or_insert_with(|| {
            let mut charts = ChartSearch::default();
            charts.search(Path::new(""), 0);
            charts.found
        });
        let has_file = |root: &&PathBuf| below_chart(root, named).is_some_and(|file| file.is_file());
        let mut roots = all.get(name)?.iter().filter(has_file);
        let root = roots.next()?;
        let is_only = roots.next().is_none();
        below_chart(root, named).filter(|_| is_only)
    }
}

#[derive(Default)]
struct ChartSearch {
    found: HashMap<String, Vec<PathBuf>>,
    entries: usize,
}

impl ChartSearch {
    /// Looks for charts in a directory and below it, but in no chart, whose charts are parts of it, nor in what is hidden.
    fn search(&mut self, directory: &Path, depth: usize) {
        if let Some(name) = chart_name(&directory.join(CHART)) {
            self.found.entry(name).or_default().push(directory.to_owned());
            return;
        }
        let listed = if directory.as_os_str().is_empty() {
            Path::new(".")
        } else {
            directory
        };
        let Ok(entries) = read_directory(listed) else {
            return;
        };
        let mut below = Vec::new();
        for entry in entries.flatten() {
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return;
            }
            let name = entry.file_name();
            let is_hidden = name.as_encoded_bytes().starts_with(b".") || name == "node_modules";
            // Links to directories are not followed.
            if !is_hidden && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                below.push(directory.join(name));
            }
        }
        below.sort();
        if depth < MAX_DEPTH {
            below.iter().for_each(|below| self.search(below, depth + 1));
        }
    }
}

/// The name that a chart gives itself.
fn chart_name(path: &Path) -> Option<String> {
    let content = read_regular(path, MAX_CHART).ok()?;
    let [name] = first_document_texts(content, ["name"])?;
    name
}
