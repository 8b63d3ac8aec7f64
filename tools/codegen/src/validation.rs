//! The tables of validation: the declarative rules of a release, and the internal types that messages print.

use std::fs;
use std::path::{Path, PathBuf};

use pratique_harness::{ToolError, workspace};
use pratique_schema::Release;

use crate::release::{read, schema_data, whole_table, write};
use crate::{changes, declarative, release_list};

/// Writes the tables of a release, as changes of those of its neighbour unless they are kept whole. `rules` is what
/// `tools/go/declarative` wrote, `internal` what `tools/go/internaltypes` did.
///
/// # Errors
/// The version is not known, or a file cannot be read or written.
pub fn run_validation(version: &str, rules: &Path, internal: &Path) -> Result<(), ToolError> {
    let listed = release_list::read(&schema_data())?;
    let release = listed.find(version)?;
    let known = Release::by_version(version).map_err(|error| ToolError::from(error.to_string()))?;
    let directory = data().join(&release.minor);
    fs::create_dir_all(&directory).map_err(ToolError::file(&directory))?;
    let tables = [
        (
            "declarative",
            declarative::select_rules(&read(rules)?, known.tables().types),
        ),
        ("internal", read(internal)?),
    ];
    for (name, table) in tables {
        let file = directory.join(name);
        match &release.base {
            None => write(&file.with_extension("txt"), &table)?,
            Some(base) => {
                let base = whole_table(&listed, &data(), base, name)?;
                write(&file.with_extension("diff"), &changes::between(&base, &table))?;
            }
        }
    }
    Ok(())
}

fn data() -> PathBuf {
    workspace::root().join("crates/pratique-validation/data")
}
