//! A release of Kubernetes as tables: its kinds and types, how these are laid out, merged, constrained, defaulted and
//! converted, and which versions of them are deprecated.
//!
//! All of it is generated, in a directory of `data` for each release.

use std::sync::OnceLock;

use crate::constraints::{self, Constraints};
use crate::given::{self, GivenFields};
use crate::layout::Layouts;
use crate::merge::MergeSchema;
use crate::{Schema, merge};

/// A release of Kubernetes.
///
/// ```
/// use pratique_schema::Release;
///
/// let release = Release::latest();
/// assert!(release.at_least(1, 37));
/// assert!(release.schema().named("core/v1.PodSpec").is_some());
/// ```
#[derive(Debug)]
pub struct Release {
    version: (u32, u32),
    tables: ReleaseTables,
    schema: OnceLock<Schema>,
    layouts: OnceLock<Layouts>,
    merge: OnceLock<MergeSchema>,
    constraints: OnceLock<Constraints>,
    given: OnceLock<GivenFields>,
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
    /// Schemes, feature gates and internal types.
    pub kinds: &'static str,
    /// What is defaulted where.
    pub defaults: &'static str,
    /// What changes by the conversion to the internal version and back.
    pub conversions: &'static str,
    /// Versions of kinds that are deprecated.
    pub deprecations: &'static str,
    /// How strategic merge patches merge fields.
    pub patch_strategies: &'static str,
}

/// The tables in a directory of `data`.
macro_rules! tables {
    ($directory:literal) => {
        ReleaseTables {
            types: include_str!(concat!("../data/", $directory, "/types.txt")),
            layout: include_str!(concat!("../data/", $directory, "/layout.txt")),
            merge: include_str!(concat!("../data/", $directory, "/merge.txt")),
            constraints: include_str!(concat!("../data/", $directory, "/constraints.txt")),
            given: include_str!(concat!("../data/", $directory, "/given.txt")),
            kinds: include_str!(concat!("../data/", $directory, "/kinds.txt")),
            defaults: include_str!(concat!("../data/", $directory, "/defaults.txt")),
            conversions: include_str!(concat!("../data/", $directory, "/conversions.txt")),
            deprecations: include_str!(concat!("../data/", $directory, "/deprecations.txt")),
            patch_strategies: include_str!(concat!("../data/", $directory, "/patch_strategies.txt")),
        }
    };
}

/// Names of fields are recognised by their address in the text, of which there must be one: a constant could lie in
/// several places.
static LATEST: Release = Release::new((1, 37), tables!("1.37"));

impl Release {
    const fn new(version: (u32, u32), tables: ReleaseTables) -> Self {
        Release {
            version,
            tables,
            schema: OnceLock::new(),
            layouts: OnceLock::new(),
            merge: OnceLock::new(),
            constraints: OnceLock::new(),
            given: OnceLock::new(),
        }
    }

    /// The newest release that is known.
    pub fn latest() -> &'static Release {
        &LATEST
    }

    /// Its major and minor version.
    pub fn version(&self) -> (u32, u32) {
        self.version
    }

    /// Whether it is a version or a later one.
    pub fn at_least(&self, major: u32, minor: u32) -> bool {
        self.version >= (major, minor)
    }

    /// The texts of its tables.
    pub fn tables(&self) -> &ReleaseTables {
        &self.tables
    }

    /// Its types.
    pub fn schema(&'static self) -> &'static Schema {
        // Fields that are parsed later find their schema through a function, which cannot carry the release: a second one
        // has a function of its own here.
        self.schema
            .get_or_init(|| Schema::read(self.tables.types, || Release::latest().schema()))
    }

    /// How Go lays out its types.
    pub fn layouts(&self) -> &Layouts {
        self.layouts.get_or_init(|| Layouts::read(self.tables.layout))
    }

    /// How its types are merged.
    pub fn merge_schema(&self) -> &MergeSchema {
        self.merge.get_or_init(|| merge::read::read(self.tables.merge))
    }

    /// The constraints of OpenAPI on values of its types.
    pub fn constraints(&self) -> &Constraints {
        self.constraints
            .get_or_init(|| constraints::read(self.tables.constraints))
    }

    /// The fields that are there when admission sees an object.
    pub fn given(&self) -> &GivenFields {
        self.given.get_or_init(|| given::read(self.tables.given))
    }
}
