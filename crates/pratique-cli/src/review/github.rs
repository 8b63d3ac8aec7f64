//! Decisions as workflow commands of GitHub Actions.

use super::input_errors::JsonError;
use super::record::Record;
use super::report::subject;
use super::result::ReviewResult;
use crate::output::finding::Level;
use crate::output::github::Commands;
use crate::output::notice::Notice;

/// A message for each policy that denies, warns, records, or is undecided, and for each denial and warning by others.
pub(super) fn of(result: &ReviewResult<'_>, record: &Record) -> Commands {
    let mut commands = Commands::default();
    for remark in record.remarks() {
        let message = format!("{}: {}", subject(result.input), remark.message);
        let location = remark.location.unwrap_or(&result.input.location);
        commands.annotate(remark.level(), location, remark.rule(), &message);
    }
    commands
}

/// A message for each error of an input, and for each notice.
pub(super) fn run(errors: &[JsonError], notices: &[Notice]) -> Commands {
    let mut commands = Commands::default();
    for error in errors {
        commands.annotate_place(Level::Error, &error.input_place(), &error.place, &error.message);
    }
    for notice in notices {
        notice.annotate(&mut commands);
    }
    commands
}
