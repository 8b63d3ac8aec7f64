//! Decisions as workflow commands of GitHub Actions.

use crate::evaluation::record::DecisionRecord;
use crate::evaluation::report::subject;
use crate::evaluation::result::ReviewResult;
use crate::output::finding::AnnotationLevel;
use crate::output::github::WorkflowCommands;
use crate::output::notice::InputNotice;
use crate::output::place::InputPlace;
use crate::stream::input_errors::JsonError;

/// A message for each policy that denies, warns, records, or is undecided, and for each denial and warning by others.
pub(crate) fn review_commands(result: &ReviewResult<'_>, record: &DecisionRecord) -> WorkflowCommands {
    let mut commands = WorkflowCommands::default();
    for remark in record.distinct_remarks() {
        let message = format!("{}: {}", subject(result.input), remark.message);
        let location = remark.location.unwrap_or(result.input.shown_location());
        commands.annotate(remark.level(), location, remark.rule(), &message);
    }
    commands
}

/// The messages about the decisions of a run that keeps them to its end.
pub(crate) fn record_commands(records: &[DecisionRecord]) -> WorkflowCommands {
    let mut commands = WorkflowCommands::default();
    for record in records {
        let (subject, place) = (record.subject(), record.input_place());
        for remark in record.distinct_remarks() {
            let message = format!("{subject}: {}", remark.message);
            let field = remark.location.map(InputPlace::from);
            let place = field.as_ref().unwrap_or(&place);
            commands.annotate_place(remark.level(), place, remark.rule(), &message);
        }
    }
    commands
}

/// A message for each error of an input, and for each notice.
pub(crate) fn run(errors: &[JsonError], notices: &[InputNotice]) -> WorkflowCommands {
    let mut commands = WorkflowCommands::default();
    annotate_run(&mut commands, errors, notices);
    commands
}

/// Adds a message for each error of an input, and for each notice.
pub(crate) fn annotate_run(commands: &mut WorkflowCommands, errors: &[JsonError], notices: &[InputNotice]) {
    for error in errors {
        commands.annotate_place(AnnotationLevel::Error, &error.input_place(), &error.place, &error.message);
    }
    for notice in notices {
        notice.annotate(commands);
    }
}
