//! Paths in a volume that are in each other's way.
// Upstream: pkg/api/pod/warnings.go, warningsForOverlappingVirtualPaths

use std::collections::HashMap;

use pratique_gotext::strconv::quote;
use pratique_json::Value;

use crate::object;

/// How many warnings a volume may have: a server tells of each pair, and shows some kilobytes.
const MAX_PAIRS: usize = 10_000;

/// A path in a volume.
struct VolumePath<'v> {
    /// Without the slashes at its end.
    path: &'v str,
    /// What it is of, where a volume has several sources.
    source: String,
}

impl VolumePath<'_> {
    fn describe(&self) -> String {
        match self.source.as_str() {
            "" => quote(self.path),
            source => format!("{} ({source})", quote(self.path)),
        }
    }
}

/// The warnings about the paths in each volume.
pub(super) fn of_volumes(volumes: &[Value<'_>]) -> Vec<String> {
    let mut warnings = Vec::new();
    for volume in volumes {
        let name = quote(object::text(volume, &["name"]));
        for (field, kind, name_field) in [
            ("configMap", "ConfigMap", "name"),
            ("secret", "Secret", "secretName"),
            ("downwardAPI", "DownwardAPI", ""),
        ] {
            let Some(source) = volume.get(field) else {
                continue;
            };
            let description = describe_source(kind, source.get(name_field));
            let mut tree = PathTree::default();
            for overlap in item_paths(source, "").into_iter().flat_map(|path| tree.add(path)) {
                warnings.push(format!(
                    "volume {name} ({description}): overlapping paths: {overlap}"
                ));
            }
        }
        let mut tree = PathTree::default();
        for source in object::list(volume, &["projected", "sources"]) {
            if source.is_empty() {
                warnings.push(format!("volume {name} (Projected) has no sources provided"));
            }
            for overlap in projected_paths(source)
                .into_iter()
                .flat_map(|path| tree.add(path))
            {
                warnings.push(format!("volume {name} (Projected): overlapping paths: {overlap}"));
            }
        }
    }
    warnings
}

/// A source with its name, if sources of its kind have one.
fn describe_source(kind: &str, name: Option<&Value<'_>>) -> String {
    if kind == "DownwardAPI" {
        return kind.to_owned();
    }
    let name = name.and_then(Value::as_str).unwrap_or_default();
    format!("{kind} {}", quote(name))
}

/// The paths that a source gives to its items.
fn item_paths<'v>(source: &'v Value<'v>, description: &str) -> Vec<VolumePath<'v>> {
    let items = object::list(source, &["items"]).iter();
    let paths = items.map(|item| VolumePath {
        path: trimmed(object::text(item, &["path"])),
        source: description.to_owned(),
    });
    paths.collect()
}

fn trimmed(path: &str) -> &str {
    path.trim_end_matches('/')
}

/// The paths of one source of a projected volume.
fn projected_paths<'v>(projection: &'v Value<'v>) -> Vec<VolumePath<'v>> {
    for (field, kind) in [
        ("configMap", "ConfigMap"),
        ("secret", "Secret"),
        ("downwardAPI", "DownwardAPI"),
    ] {
        if let Some(source) = projection
            .get(field)
            .filter(|source| source.get("items").is_some())
        {
            return item_paths(source, &describe_source(kind, source.get("name")));
        }
    }
    let path = |source: &'v Value<'v>, field: &str, description: String| VolumePath {
        path: trimmed(object::text(source, &[field])),
        source: description,
    };
    if let Some(token) = projection.get("serviceAccountToken") {
        return vec![path(token, "path", "ServiceAccountToken".to_owned())];
    }
    if let Some(bundle) = projection.get("clusterTrustBundle") {
        let name = bundle.get("name").or_else(|| bundle.get("signerName"));
        return vec![path(bundle, "path", describe_source("ClusterTrustBundle", name))];
    }
    let Some(certificate) = projection.get("podCertificate") else {
        return Vec::new();
    };
    let files = [
        ("certificateChainPath", "chain"),
        ("keyPath", "key"),
        ("credentialBundlePath", "credential bundle"),
    ];
    let named = files
        .into_iter()
        .filter(|(field, _)| !object::text(certificate, &[field]).is_empty());
    named
        .map(|(field, what)| path(certificate, field, format!("PodCertificate {what}")))
        .collect()
}

/// The paths of a volume so far, by their parts: a volume may have very many.
struct PathTree<'v> {
    paths: Vec<VolumePath<'v>>,
    nodes: Vec<PathNode<'v>>,
    overlap_count: usize,
}

/// What is at a place in a volume: the paths that end there, by their indexes, and the places below.
#[derive(Default)]
struct PathNode<'v> {
    paths: Vec<usize>,
    children: HashMap<&'v str, usize>,
}

impl Default for PathTree<'_> {
    fn default() -> Self {
        PathTree {
            paths: Vec::new(),
            nodes: vec![PathNode::default()],
            overlap_count: 0,
        }
    }
}

impl<'v> PathTree<'v> {
    /// Adds a path; tells each that was added before and is the same, or above or below it.
    // Upstream: pkg/api/pod/warnings.go, checkForOverlap
    fn add(&mut self, path: VolumePath<'v>) -> Vec<String> {
        if path.path.is_empty() || self.overlap_count >= MAX_PAIRS {
            return Vec::new();
        }
        let mut others = self.insert(path.path);
        others.sort_unstable();
        self.overlap_count += others.len();
        let others = others.iter().filter_map(|other| self.paths.get(*other));
        let overlaps = others.map(|other| format!("{} with {}", path.describe(), other.describe()));
        let overlaps = overlaps.collect();
        self.paths.push(path);
        overlaps
    }

    /// The indexes of the paths that overlap with a new one.
    fn insert(&mut self, path: &'v str) -> Vec<usize> {
        let mut overlapping = Vec::new();
        let mut at = 0;
        for part in path.split('/') {
            let next = self.nodes.len();
            let Some(node) = self.nodes.get_mut(at) else { break };
            overlapping.extend_from_slice(&node.paths);
            at = *node.children.entry(part).or_insert(next);
            if at == next {
                self.nodes.push(PathNode::default());
            }
        }
        let mut below = vec![at];
        while let Some(place) = below.pop() {
            if let Some(node) = self.nodes.get(place) {
                overlapping.extend_from_slice(&node.paths);
                below.extend(node.children.values());
            }
        }
        if let Some(node) = self.nodes.get_mut(at) {
            node.paths.push(self.paths.len());
        }
        overlapping
    }
}
