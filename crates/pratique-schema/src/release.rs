//! A release of Kubernetes as tables: its kinds and types, how these are laid out, merged, constrained, defaulted and
//! converted, and which versions of them are deprecated.
//!
//! All of it is generated, in a directory of `data` for each release. Those that are known are listed in
//! `release/list.rs`.

use std::fmt::{self, Debug, Display, Formatter};
use std::sync::OnceLock;

use pratique_types::GroupVersionKind;
use pratique_types::builtin::BuiltinResources;

use crate::changes::apply_changes;
use crate::constraints::{self, Constraints};
use crate::deprecations::DeprecationTable;
use crate::gates::GateTable;
use crate::given_fields::{self, GivenFields};
use crate::layout::Layouts;
use crate::merge::MergeSchema;
use crate::patch_strategies::PatchStrategies;
use crate::{Schema, merge};

/// The tables in a directory of `data`: whole ones are called `.txt`, changes `.diff`. Of resources, the whole tables are those
/// that `pratique-types` has.
macro_rules! tables {
    (whole $directory:literal) => {
        tables!(
            $directory,
            ".txt",
            pratique_types::builtin::SERVED_TABLE,
            pratique_types::builtin::OPTIONAL_TABLE
        )
    };
    (changes $directory:literal) => {
        tables!(
            $directory,
            ".diff",
            include_str!(concat!("../../data/", $directory, "/resources.diff")),
            include_str!(concat!("../../data/", $directory, "/optional.diff"))
        )
    };
    ($directory:literal, $extension:literal, $resources:expr, $optional:expr) => {
        ReleaseTables {
            types: include_str!(concat!("../../data/", $directory, "/types", $extension)),
            layout: include_str!(concat!("../../data/", $directory, "/layout", $extension)),
            merge: include_str!(concat!("../../data/", $directory, "/merge", $extension)),
            constraints: include_str!(concat!("../../data/", $directory, "/constraints", $extension)),
            given: include_str!(concat!("../../data/", $directory, "/given", $extension)),
            kinds: include_str!(concat!("../../data/", $directory, "/kinds", $extension)),
            defaults: include_str!(concat!("../../data/", $directory, "/defaults", $extension)),
            conversions: include_str!(concat!("../../data/", $directory, "/conversions", $extension)),
            deprecations: include_str!(concat!("../../data/", $directory, "/deprecations", $extension)),
            patch_strategies: include_str!(concat!(
                "../../data/",
                $directory,
                "/patch_strategies",
                $extension
            )),
            gates: include_str!(concat!("../../data/", $directory, "/gates", $extension)),
            resources: $resources,
            optional: $optional,
        }
    };
}

// As it is generated.
#[rustfmt::skip]
mod list;

/// A release of Kubernetes.
///
/// ```
/// use pratique_schema::Release;
///
/// let release = Release::latest();
/// assert!(release.at_least(1, 37));
/// assert!(release.schema().named("core/v1.PodSpec").is_some());
/// ```
pub struct Release {
    /// The version that the tables were made of: `1.37.2`.
    patch_version: &'static str,
    version: (u32, u32),
    source: TableSource,
    resources: OnceLock<BuiltinResources>,
    tables: OnceLock<ReleaseTables>,
    schema: OnceLock<Schema>,
    layouts: OnceLock<Layouts>,
    merge: OnceLock<MergeSchema>,
    constraints: OnceLock<Constraints>,
    given: OnceLock<GivenFields>,
    gates: OnceLock<GateTable>,
    deprecations: OnceLock<DeprecationTable>,
    patch_strategies: OnceLock<PatchStrategies>,
}

/// Where the tables of a release come from.
enum TableSource {
    /// The latest release has them whole.
    Whole(ReleaseTables),
    /// Those of another release are changed.
    Changed(&'static Release, ReleaseTables),
}

/// The texts of the tables of a release, each of which says at its beginning what its lines are.
#[derive(Debug)]
pub struct ReleaseTables {
    /// Kinds, and the fields of types.
    pub types: &'static str,
    /// The order of fields in Go.
    pub layout: &'static str,
    /// How types are merged.
    pub merge: &'static str,
    /// Required fields, enumerations, keys of lists.
    pub constraints: &'static str,
    /// Fields that are there when admission sees an object.
    pub given: &'static str,
    /// Schemes and internal types.
    pub kinds: &'static str,
    /// What is defaulted where.
    pub defaults: &'static str,
    /// What changes by the conversion to the internal version and back.
    pub conversions: &'static str,
    /// Versions of kinds that are deprecated.
    pub deprecations: &'static str,
    /// How strategic merge patches merge fields.
    pub patch_strategies: &'static str,
    /// The feature gates of kube-apiserver.
    pub gates: &'static str,
    /// The resources that every server serves.
    pub resources: &'static str,
    /// The resources that a server serves if it is asked to.
    pub optional: &'static str,
}

impl ReleaseTables {
    /// The tables with changes of each. There are as many as there are releases, so they live as long as the process.
    fn with(&self, changes: &ReleaseTables) -> ReleaseTables {
        let apply = |table, changes| -> &'static str { apply_changes(table, changes).leak() };
        ReleaseTables {
            types: apply(self.types, changes.types),
            layout: apply(self.layout, changes.layout),
            merge: apply(self.merge, changes.merge),
            constraints: apply(self.constraints, changes.constraints),
            given: apply(self.given, changes.given),
            kinds: apply(self.kinds, changes.kinds),
            defaults: apply(self.defaults, changes.defaults),
            conversions: apply(self.conversions, changes.conversions),
            deprecations: apply(self.deprecations, changes.deprecations),
            patch_strategies: apply(self.patch_strategies, changes.patch_strategies),
            gates: apply(self.gates, changes.gates),
            resources: apply(self.resources, changes.resources),
            optional: apply(self.optional, changes.optional),
        }
    }
}

impl Release {
    const fn new(version: (u32, u32), patch_version: &'static str, source: TableSource) -> Self {
        Release {
            patch_version,
            version,
            source,
            resources: OnceLock::new(),
            tables: OnceLock::new(),
            schema: OnceLock::new(),
            layouts: OnceLock::new(),
            merge: OnceLock::new(),
            constraints: OnceLock::new(),
            given: OnceLock::new(),
            gates: OnceLock::new(),
            deprecations: OnceLock::new(),
            patch_strategies: OnceLock::new(),
        }
    }

    /// The newest release that is out: what is known of later ones are [previews](Self::is_preview).
    pub fn latest() -> &'static Release {
        list::LATEST
    }

    /// All releases that are known, the newest first.
    pub fn list() -> &'static [&'static Release] {
        list::ALL
    }

    /// The version that its tables were made of: `1.37.2`.
    pub fn patch_version(&self) -> &'static str {
        self.patch_version
    }

    /// Whether its tables are those of an alpha, a beta or a candidate: the release itself may differ.
    pub fn is_preview(&self) -> bool {
        self.patch_version.contains('-')
    }

    /// A release by its version, `1.37`; the version of a patch release, `v1.37.2`, names the same.
    ///
    /// ```
    /// use pratique_schema::Release;
    ///
    /// assert_eq!(Release::by_version("v1.37.2")?, Release::latest());
    /// let unknown = Release::by_version("1.2").map(drop).unwrap_err();
    /// assert_eq!(unknown.to_string(), "Kubernetes 1.2 is not known; known are 1.38, 1.37, 1.36, 1.35, 1.34");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// It is no version, or that of a release that is not known.
    pub fn by_version(text: &str) -> Result<&'static Release, ReleaseError> {
        let version = parse_version(text).ok_or_else(|| ReleaseError::Malformed(text.to_owned()))?;
        let mut all = Release::list().iter().copied();
        let known = all.find(|release| release.version == version);
        known.ok_or(ReleaseError::Unknown(version.0, version.1))
    }

    /// This release, then all others, the newest first.
    pub fn before_others(&'static self) -> impl Iterator<Item = &'static Release> {
        let others = Release::list().iter().copied();
        std::iter::once(self).chain(others.filter(move |other| *other != self))
    }

    /// The major and minor version in a text: `1.37`, `v1.37.2`.
    pub fn parse_version(text: &str) -> Option<(u32, u32)> {
        parse_version(text)
    }

    /// Its major and minor version.
    pub fn version(&self) -> (u32, u32) {
        self.version
    }

    /// Whether it is a version or a later one.
    pub fn at_least(&self, major: u32, minor: u32) -> bool {
        self.version >= (major, minor)
    }

    /// The name in messages of the registries of types that are made in code that the server's binary takes from another module:
    /// the line that names them.
    pub fn registry_name(&self) -> &'static str {
        // Upstream: apimachinery/pkg/runtime/scheme.go, NewScheme: below an import that was new in 1.35, and is gone since 1.38.
        if self.at_least(1, 35) && !self.at_least(1, 38) {
            "pkg/runtime/scheme.go:111"
        } else {
            "pkg/runtime/scheme.go:110"
        }
    }

    /// Whether its server is built with Go 1.27, whose `encoding/json` names what is in a list by its place, and quotes escapes.
    pub fn is_of_go_1_27(&self) -> bool {
        // Upstream: build/dependencies.yaml of 1.38.0-beta.0; encoding/json/v2_decode.go, UnmarshalTypeError
        self.at_least(1, 38)
    }

    /// The texts of its tables.
    pub fn tables(&self) -> &ReleaseTables {
        match &self.source {
            TableSource::Whole(tables) => tables,
            TableSource::Changed(other, changes) => self.tables.get_or_init(|| other.tables().with(changes)),
        }
    }

    /// The resources of its servers.
    pub fn resources(&self) -> &BuiltinResources {
        self.resources
            .get_or_init(|| BuiltinResources::read(self.tables().resources, self.tables().optional))
    }

    /// Its types.
    pub fn schema(&'static self) -> &'static Schema {
        self.schema.get_or_init(|| Schema {
            // Upstream: sigs.k8s.io/json, decodeState.object, which puts them on the path since 1.35.
            hides_embedded: !self.at_least(1, 35),
            ..Schema::read(self.tables().types)
        })
    }

    /// Whether it has a type of a kind that has objects: the kind is built in.
    pub fn has_type(&'static self, kind: &GroupVersionKind) -> bool {
        self.schema().kind(kind).is_some()
    }

    /// How Go lays out its types.
    pub fn layouts(&self) -> &Layouts {
        self.layouts.get_or_init(|| Layouts::read(self.tables().layout))
    }

    /// How its types are merged.
    pub fn merge_schema(&self) -> &MergeSchema {
        self.merge.get_or_init(|| merge::read::read(self.tables().merge))
    }

    /// The constraints of OpenAPI on values of its types.
    pub fn constraints(&self) -> &Constraints {
        self.constraints
            .get_or_init(|| constraints::read(self.tables().constraints))
    }

    /// The fields that are there when admission sees an object.
    pub fn given(&self) -> &GivenFields {
        self.given.get_or_init(|| given_fields::read(self.tables().given))
    }

    /// The versions of kinds that are deprecated.
    pub fn deprecations(&self) -> &DeprecationTable {
        self.deprecations
            .get_or_init(|| DeprecationTable::read(self.tables().deprecations))
    }

    /// How strategic merge patches merge fields.
    pub fn patch_strategies(&self) -> &PatchStrategies {
        self.patch_strategies
            .get_or_init(|| PatchStrategies::read(self.tables().patch_strategies))
    }

    /// The feature gates of kube-apiserver.
    pub fn gates(&self) -> &GateTable {
        self.gates.get_or_init(|| GateTable::read(self.tables().gates))
    }
}

impl PartialEq for Release {
    fn eq(&self, other: &Self) -> bool {
        self.version == other.version
    }
}

impl Eq for Release {}

/// Without its tables.
impl Debug for Release {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "Release({self})")
    }
}

/// `1.37`
impl Display for Release {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.version.0, self.version.1)
    }
}

/// Why there is no release of a version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReleaseError {
    /// The text is no version.
    #[error("{0:?} is no version of Kubernetes, such as 1.37")]
    Malformed(String),
    /// There are no tables of the release.
    #[error("Kubernetes {0}.{1} is not known; known are {known}", known = known_versions())]
    Unknown(u32, u32),
}

fn known_versions() -> String {
    let versions = Release::list().iter().map(ToString::to_string);
    versions.collect::<Vec<_>>().join(", ")
}

/// `1.37`, `v1.37`, `1.37.2` or, as some providers write, `v1.37.2-gke.100` or `1.37+`.
pub(crate) fn parse_version(text: &str) -> Option<(u32, u32)> {
    let (major, rest) = text.strip_prefix('v').unwrap_or(text).split_once('.')?;
    let end = rest.find(|letter: char| !letter.is_ascii_digit());
    let (minor, rest) = rest.split_at(end.unwrap_or(rest.len()));
    let is_version = rest.is_empty() || rest.starts_with(['.', '+', '-']);
    let number = |text: &str| text.parse::<u32>().ok().filter(|_| !text.starts_with('+'));
    is_version.then_some((number(major)?, number(minor)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_found_by_version() {
        for text in ["1.37", "v1.37", "1.37.2", "v1.37.2-gke.100", "1.37+"] {
            assert_eq!(Release::by_version(text), Ok(Release::latest()), "{text}");
        }
        for text in [
            "",
            "1",
            "1.",
            "v",
            "latest",
            "1.37beta",
            "1.-37",
            "+1.37",
            "vv1.37",
            "1.99999999999",
        ] {
            let error = ReleaseError::Malformed(text.to_owned());
            assert_eq!(Release::by_version(text), Err(error), "{text}");
        }
        assert_eq!(Release::by_version("1.7"), Err(ReleaseError::Unknown(1, 7)));
    }

    #[test]
    fn releases_are_in_order() {
        let versions: Vec<_> = Release::list().iter().map(|release| release.version()).collect();
        assert!(
            versions.is_sorted_by(|newer, older| newer > older),
            "{versions:?}"
        );
        let mut out = Release::list().iter().filter(|release| !release.is_preview());
        assert_eq!(out.next(), Some(&Release::latest()));
    }
}
