//! The files that a kustomization names.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use pratique_json::Value;
use pratique_manifest::{ManifestFile, read_contents, without_dots};

use super::SourceKind;
use pratique_manifest::convert::convert;
use pratique_manifest::is_manifest;

/// How many files are read of a kustomization.
const MAX_NAMED: usize = 10_000;

/// Where a kustomization names files that are no resources: the field, the field of its items (none where the items are paths), and
/// what the files are.
// Upstream: kustomize, api/types/kustomization.go, Kustomization
const FIELDS: [(&str, &str, SourceKind); 12] = [
    ("patches", "path", SourceKind::Patch),
    ("patchesStrategicMerge", "", SourceKind::Patch),
    ("patchesJson6902", "path", SourceKind::Patch),
    ("replacements", "path", SourceKind::KustomizeConfiguration),
    ("configurations", "", SourceKind::KustomizeConfiguration),
    ("transformers", "", SourceKind::KustomizeConfiguration),
    ("generators", "", SourceKind::KustomizeConfiguration),
    ("validators", "", SourceKind::KustomizeConfiguration),
    ("configMapGenerator", "files", SourceKind::GeneratorFile),
    ("secretGenerator", "files", SourceKind::GeneratorFile),
    ("helmCharts", "valuesFile", SourceKind::Values),
    ("helmCharts", "additionalValuesFiles", SourceKind::Values),
];

/// The fields with resources.
const RESOURCES: [&str; 2] = ["resources", "bases"];

/// The other fields that make resources.
const MAKERS: [&str; 5] = [
    "components",
    "configMapGenerator",
    "generators",
    "helmCharts",
    "secretGenerator",
];

/// What a kustomization says of files.
pub(super) struct NamedFiles {
    /// Those that are no resources, by their paths.
    pub(super) files: HashMap<PathBuf, SourceKind>,
    /// Whether there is a resource at all, which patches may be for.
    pub(super) has_resources: bool,
}

impl NamedFiles {
    /// Reads a kustomization in a directory.
    pub(super) fn read(directory: &Path, file: &ManifestFile) -> Self {
        NamedFiles {
            files: named_files(directory, file),
            has_resources: has_resources(file),
        }
    }
}

/// The files and directories with resources and components that a kustomization in a directory names of others, from where the
/// directory is.
pub fn named_parts(directory: &Path, file: &ManifestFile) -> Vec<PathBuf> {
    let mut named = Vec::new();
    for document in read_contents(file).documents {
        let root = convert(document.source.tree(), document.source.root());
        let parts = RESOURCES.iter().chain(&["components"]);
        let parts = parts.flat_map(|field| paths(&root, field, ""));
        named.extend(
            parts
                .take(MAX_NAMED)
                .map(|path| without_dots(&directory.join(path))),
        );
    }
    named
}

fn has_resources(file: &ManifestFile) -> bool {
    let documents = read_contents(file).documents;
    let mut roots = documents
        .iter()
        .map(|document| convert(document.source.tree(), document.source.root()));
    let has = |root: &Value<'_>, field: &str| {
        let items = root.get(field).and_then(Value::as_array);
        items.is_some_and(|items| !items.is_empty())
    };
    // The resources of a component are those of the kustomizations that name it.
    let is_component = |root: &Value<'_>| root.get("kind").and_then(Value::as_str) == Some("Component");
    roots.any(|root| is_component(&root) || RESOURCES.iter().chain(&MAKERS).any(|field| has(&root, field)))
}

/// The files that a kustomization in a directory names and that are no resources, by their paths.
fn named_files(directory: &Path, file: &ManifestFile) -> HashMap<PathBuf, SourceKind> {
    let mut named = HashMap::new();
    let mut resources = HashSet::new();
    for document in read_contents(file).documents {
        let root = convert(document.source.tree(), document.source.root());
        for (field, of_item, kind) in FIELDS {
            for path in paths(&root, field, of_item).take(MAX_NAMED) {
                // Files of generators may have the key before them: `config.yaml=dev/config.yaml`.
                // Upstream: kustomize, kv/kv.go, parseFileSource
                let path = match (kind, path.split_once('=')) {
                    (SourceKind::GeneratorFile, Some((_, path))) => path,
                    _ => path,
                };
                named.entry(without_dots(&directory.join(path))).or_insert(kind);
            }
        }
        let open_api = root.at(&["openapi", "path"]).and_then(Value::as_str);
        if let Some(path) = open_api {
            let place = without_dots(&directory.join(path));
            named.insert(place, SourceKind::KustomizeConfiguration);
        }
        let of_resources = RESOURCES.iter().flat_map(|field| paths(&root, field, ""));
        resources.extend(
            of_resources
                .take(MAX_NAMED)
                .map(|path| without_dots(&directory.join(path))),
        );
    }
    let text = String::from_utf8_lossy(&file.content);
    for path in commented_patches(&text).take(MAX_NAMED) {
        let place = without_dots(&directory.join(path));
        named.entry(place).or_insert(SourceKind::Patch);
    }
    named.retain(|place, _| !resources.contains(place));
    named
}

/// The patches that stand in comments: scaffolds have those of webhooks and certificates, to be used later.
fn commented_patches(text: &str) -> impl Iterator<Item = &str> {
    let comments = text
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix('#'));
    let entries = comments.map(|comment| comment.trim_start_matches(['#', ' ', '-']));
    let paths = entries.map(|entry| entry.strip_prefix("path:").unwrap_or(entry).trim());
    paths
        .map(|path| path.trim_matches(['"', '\'']))
        .filter(|path| path.contains("patch") && !path.contains(' ') && is_manifest(Path::new(path)))
}

/// The paths in a list. Patches and transformers may be written in their place as well.
fn paths<'v>(root: &'v Value<'_>, field: &str, of_item: &'v str) -> impl Iterator<Item = &'v str> {
    let items = root.get(field).and_then(Value::as_array).unwrap_or_default();
    let of_item = move |item: &'v Value<'_>| match of_item {
        "" => Some(item),
        name => item.get(name),
    };
    let values = items.iter().filter_map(of_item);
    let texts = values.flat_map(|value| match value {
        Value::Array(values) => values.iter().collect(),
        value => vec![value],
    });
    texts
        .filter_map(Value::as_str)
        .filter(|text| !text.contains('\n') && !text.is_empty())
}
