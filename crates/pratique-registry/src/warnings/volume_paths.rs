//! Paths in a volume that are in each other's way.
// Upstream: pkg/api/pod/warnings.go, warningsForOverlappingVirtualPaths

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::Bound;

use pratique_gotext::strconv::quote;
use pratique_json::Value;

use super::MAX_PAIRS;
use crate::object;

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
        let name = || quote(object::text(volume, &["name"]));
        for (field, kind, name_field) in [
            ("configMap", "ConfigMap", "name"),
            ("secret", "Secret", "secretName"),
            ("downwardAPI", "DownwardAPI", ""),
        ] {
            let Some(source) = volume.get(field) else {
                continue;
            };
            let mut tree = PathTree::default();
            for overlap in item_paths(source, "").into_iter().flat_map(|path| tree.add(path)) {
                warnings.push(format!(
                    "volume {} ({}): overlapping paths: {overlap}",
                    name(),
                    describe_source(kind, source.get(name_field))
                ));
            }
        }
        let mut tree = PathTree::default();
        for source in object::list(volume, &["projected", "sources"]) {
            if source.is_empty() {
                warnings.push(format!("volume {} (Projected) has no sources provided", name()));
            }
            for overlap in projected_paths(source)
                .into_iter()
                .flat_map(|path| tree.add(path))
            {
                warnings.push(format!(
                    "volume {} (Projected): overlapping paths: {overlap}",
                    name()
                ));
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

/// The paths of a volume so far. There may be very many, and one may have very many parts: there is an entry for each path, and
/// none for its parts.
#[derive(Default)]
struct PathTree<'v> {
    paths: Vec<VolumePath<'v>>,
    /// The indexes of the paths, by path: those below another stand together.
    indexes: BTreeMap<&'v str, Vec<usize>>,
    /// The hashes of the paths, made part by part. They say which of the many places above a path are worth a look: to look each
    /// up would take a time of the square of its length.
    hashes: HashSet<u64>,
    hash_keys: RandomState,
    overlap_count: usize,
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
        let mut hasher = self.hash_keys.build_hasher();
        let (mut end, mut hash) = (0, 0);
        for part in path.split('/') {
            hasher.write(part.as_bytes());
            hash = hasher.finish();
            hasher.write_u8(b'/');
            end += part.len();
            if self.hashes.contains(&hash)
                && let Some(indexes) = path.get(..end).and_then(|above| self.indexes.get(above))
            {
                overlapping.extend_from_slice(indexes);
            }
            end += 1;
        }
        let start = format!("{path}/");
        let from_start = (Bound::Included(start.as_str()), Bound::Unbounded);
        let below = self.indexes.range::<str, _>(from_start);
        let below = below.take_while(|(other, _)| other.starts_with(&start));
        overlapping.extend(below.flat_map(|(_, indexes)| indexes));
        self.hashes.insert(hash);
        self.indexes.entry(path).or_default().push(self.paths.len());
        overlapping
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_many_parts_is_one_entry() {
        let deep = "a/".repeat(100_000);
        let mut tree = PathTree::default();
        let overlap_counts = [deep.as_str(), "a/b", "a", "b", deep.as_str()].map(|path| {
            let path = VolumePath {
                path: trimmed(path),
                source: String::new(),
            };
            tree.add(path).len()
        });
        assert_eq!(overlap_counts, [0, 0, 2, 0, 2]);
        assert_eq!((tree.indexes.len(), tree.hashes.len()), (4, 4));
    }
}
