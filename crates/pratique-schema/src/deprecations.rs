//! Versions of kinds that are deprecated.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use pratique_types::GroupVersionKind;

use crate::release::parse_version;

/// The deprecation of a version of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindDeprecation {
    /// The first release in which it is deprecated: `1.35`.
    pub deprecated: &'static str,
    /// The first release that does not serve it, if that is known.
    pub removed: Option<&'static str>,
    /// The version and kind in its place, `apps/v1 Deployment`; empty where Kubernetes names none.
    pub replacement: &'static str,
}

impl KindDeprecation {
    /// Whether it is deprecated in a release.
    pub fn is_in(&self, version: (u32, u32)) -> bool {
        parse_version(self.deprecated).is_none_or(|deprecated| deprecated <= version)
    }
}

/// The versions of kinds that a release knows to be deprecated, also in later releases.
#[derive(Debug, Default)]
pub struct DeprecationTable(HashMap<GroupVersionKind, KindDeprecation, RandomState>);

impl DeprecationTable {
    /// Reads a table as `cargo xtask codegen` writes it.
    pub(crate) fn read(table: &'static str) -> Self {
        DeprecationTable(table.lines().filter_map(read_line).collect())
    }

    /// The deprecation of a version of a kind.
    pub fn find(&self, kind: &GroupVersionKind) -> Option<&KindDeprecation> {
        self.0.get(kind)
    }
}

/// `resource.k8s.io/v1beta1 ResourceClaim 1.35 1.38`, perhaps with the kind that replaces it.
fn read_line(line: &'static str) -> Option<(GroupVersionKind, KindDeprecation)> {
    let mut columns = line.splitn(5, ' ').filter(|_| !line.starts_with('#'));
    let (api_version, kind) = (columns.next()?, columns.next()?);
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let deprecation = KindDeprecation {
        deprecated: columns.next()?,
        removed: columns.next().filter(|version| *version != "-"),
        replacement: columns.next().unwrap_or_default(),
    };
    Some((GroupVersionKind::new(group, version, kind), deprecation))
}
