//! Decisions as workflow commands of GitHub Actions.

use super::decisions::Action;
use super::record::Record;
use super::report::subject;
use super::result::ReviewResult;
use crate::output::github::Commands;

/// A message for each policy that denies, warns, records, or is undecided.
pub(super) fn of(result: &ReviewResult<'_>, record: &Record) -> Commands {
    let mut commands = Commands::default();
    for remark in record.remarks() {
        let level = match remark.action {
            Some(Action::Warn) => "warning",
            Some(Action::Audit | Action::Ignore) => "notice",
            Some(Action::Deny) | None => "error",
        };
        let title = remark.policy.unwrap_or("denied");
        let message = format!("{}: {}", subject(result.input), remark.message);
        commands.annotate(level, Some(&result.input.location), title, &message);
    }
    commands
}
