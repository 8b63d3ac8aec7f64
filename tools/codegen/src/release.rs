//! The tables of a release: written whole or as changes of those of another one, and listed.

use std::fs;
use std::path::{Path, PathBuf};

use pratique_harness::{ToolError, workspace};
use pratique_schema::{Release, apply_changes};

use crate::{changes, discovery, gates, release_list};

/// The tables that a release has in its directory.
const TABLES: [&str; 11] = [
    "types",
    "layout",
    "merge",
    "constraints",
    "given",
    "kinds",
    "defaults",
    "conversions",
    "deprecations",
    "patch_strategies",
    "gates",
];

/// The tables of resources, which lie in `pratique-types` where they are whole.
const RESOURCE_TABLES: [&str; 2] = ["resources", "optional"];

/// Where what is known of a release comes from.
#[derive(Clone, Debug)]
pub struct ReleaseSources {
    /// A directory with what the programs of `tools/go/objects` wrote: `objects.json`, `gates.json`, `patch_strategies.txt`,
    /// `deprecations.txt`, and a directory `openapi`.
    pub reflected: PathBuf,
    /// A directory with discovery documents, as they lie in `k8s.io/kubernetes`.
    pub discovery: PathBuf,
    /// A directory with `calls.json` and `functions.json`, which say what defaulting sets.
    pub defaulting: Option<PathBuf>,
}

/// The directory of the tables of releases.
pub(crate) fn schema_data() -> PathBuf {
    workspace::root().join("crates/pratique-schema/data")
}

/// Writes the tables of a release, as changes of those of a neighbour unless they are kept whole, and lists the release.
///
/// # Errors
/// What is read is not there or of another form, or a file cannot be written.
pub fn run_release(version: &str, sources: &ReleaseSources) -> Result<(), ToolError> {
    let listed = release_list::read(&schema_data())?.with(version)?;
    let release = listed.find(version)?;
    let directory = schema_data().join(&release.minor);
    let whole = if release.base.is_none() {
        directory.clone()
    } else {
        sources.reflected.join("tables")
    };
    fs::create_dir_all(&directory).map_err(ToolError::file(&directory))?;
    fs::create_dir_all(&whole).map_err(ToolError::file(&whole))?;
    for name in ["patch_strategies.txt", "deprecations.txt"] {
        let from = sources.reflected.join(name);
        fs::copy(&from, whole.join(name)).map_err(ToolError::file(&from))?;
    }
    gates::run(&sources.reflected.join("gates.json"), &whole)?;
    let base = match &release.base {
        Some(base) => Some(whole_table(&listed, &schema_data(), base, "given")?),
        None => None,
    };
    crate::run(
        &sources.reflected.join("objects.json"),
        &[sources.reflected.join("openapi")],
        sources.defaulting.as_deref(),
        base.as_deref(),
        &whole,
    )?;
    match &release.base {
        None => discovery::run(&sources.discovery, &resource_directory()),
        Some(base) => {
            discovery::run(&sources.discovery, &whole)?;
            for name in TABLES.into_iter().chain(RESOURCE_TABLES) {
                let table = read(&whole.join(name).with_extension("txt"))?;
                let changes = changes::between(&whole_table(&listed, &schema_data(), base, name)?, &table);
                write(&directory.join(name).with_extension("diff"), &changes)?;
            }
            Ok(())
        }
    }?;
    listed.write(&schema_data())
}

/// A table of a release as a whole, of the tables in a directory.
pub(crate) fn whole_table(
    listed: &release_list::KnownReleases,
    data: &Path,
    minor: &str,
    name: &str,
) -> Result<String, ToolError> {
    // A chain has no more members than there are releases.
    let mut chain = vec![listed.find_minor(minor)?];
    while let Some(base) = chain.last().and_then(|release| release.base.as_deref())
        && chain.len() <= listed.len()
    {
        chain.push(listed.find_minor(base)?);
    }
    let mut table = String::new();
    for release in chain.iter().rev() {
        let directory = match release.base {
            None if RESOURCE_TABLES.contains(&name) => resource_directory(),
            _ => data.join(&release.minor),
        };
        table = match release.base {
            None => read(&directory.join(name).with_extension("txt"))?,
            Some(_) => apply_changes(&table, &read(&directory.join(name).with_extension("diff"))?),
        };
    }
    Ok(table)
}

fn resource_directory() -> PathBuf {
    workspace::root().join("crates/pratique-types/data")
}

/// What differs between a release and another, by table: how many lines are new and gone, and each line of the tables of resources
/// and gates.
///
/// # Errors
/// A version is not known.
pub fn describe_changes(older: &str, newer: &str) -> Result<String, ToolError> {
    let release =
        |version: &str| Release::by_version(version).map_err(|error| ToolError::from(error.to_string()));
    let (older, newer) = (release(older)?.tables(), release(newer)?.tables());
    let tables = [
        ("types", older.types, newer.types),
        ("merge", older.merge, newer.merge),
        ("constraints", older.constraints, newer.constraints),
        ("given", older.given, newer.given),
        ("defaults", older.defaults, newer.defaults),
        ("conversions", older.conversions, newer.conversions),
        ("patch strategies", older.patch_strategies, newer.patch_strategies),
        ("kinds", older.kinds, newer.kinds),
        ("deprecations", older.deprecations, newer.deprecations),
        ("gates", older.gates, newer.gates),
        ("resources", older.resources, newer.resources),
        ("optional resources", older.optional, newer.optional),
    ];
    Ok(changes::describe(&tables))
}

pub(crate) fn read(path: &Path) -> Result<String, ToolError> {
    fs::read_to_string(path).map_err(ToolError::file(path))
}

pub(crate) fn write(path: &Path, text: &str) -> Result<(), ToolError> {
    fs::write(path, text).map_err(ToolError::file(path))
}
