//! How strategic merge patches merge fields.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// How a field is patched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PatchStrategy {
    /// Whether a list is merged, not replaced.
    pub merges: bool,
    /// The field that identifies the elements of a list; none where they are compared as a whole.
    pub key: Option<&'static str>,
}

/// The strategies of the fields of a release's types: the patch tags in Go.
#[derive(Debug, Default)]
pub struct PatchStrategies(HashMap<(&'static str, &'static str), PatchStrategy, RandomState>);

impl PatchStrategies {
    /// Reads a table as `cargo xtask codegen` writes it.
    pub(crate) fn read(table: &'static str) -> Self {
        let lines = table.lines().filter(|line| !line.starts_with('#'));
        PatchStrategies(lines.filter_map(read_line).collect())
    }

    /// The strategy of a field of a type, such as `core/v1.PodSpec`.
    pub fn find(&self, type_name: &str, field: &str) -> PatchStrategy {
        self.0.get(&(type_name, field)).copied().unwrap_or_default()
    }
}

/// `core/v1.PodSpec containers merge name`
fn read_line(line: &'static str) -> Option<((&'static str, &'static str), PatchStrategy)> {
    let mut columns = line.split(' ');
    let place = (columns.next()?, columns.next()?);
    let strategies = columns.next()?;
    let strategy = PatchStrategy {
        merges: strategies.split(',').any(|one| one == "merge"),
        key: columns.next(),
    };
    Some((place, strategy))
}
