//! The releases that are known. Made by `cargo xtask codegen` of `data/releases.txt`; do not edit.

use super::{Release, ReleaseTables, TableSource};

static V1_38: Release = Release::new(
    (1, 38),
    "1.38.0-beta.0",
    TableSource::Changed(&V1_37, tables!(changes "1.38")),
);

/// Names of fields are recognised by their address in the text, of which there must be one: a constant could lie in
/// several places.
static V1_37: Release = Release::new(
    (1, 37),
    "1.37.2",
    TableSource::Whole(tables!(whole "1.37")),
);

static V1_36: Release = Release::new(
    (1, 36),
    "1.36.3",
    TableSource::Changed(&V1_37, tables!(changes "1.36")),
);

static V1_35: Release = Release::new(
    (1, 35),
    "1.35.4",
    TableSource::Changed(&V1_36, tables!(changes "1.35")),
);

static V1_34: Release = Release::new(
    (1, 34),
    "1.34.4",
    TableSource::Changed(&V1_35, tables!(changes "1.34")),
);

/// The newest release that is out.
pub(super) static LATEST: &Release = &V1_37;

/// All of them, the newest first.
pub(super) static ALL: &[&Release] = &[&V1_38, &V1_37, &V1_36, &V1_35, &V1_34];
