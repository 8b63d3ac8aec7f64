//! Decisions as workflow commands of GitHub Actions.

use pratique_report::Action;

use crate::evaluation::record::DecisionRecord;
use crate::output::finding::AnnotationLevel;
use crate::output::github::WorkflowCommands;
use crate::output::notice::InputNotice;
use crate::stream::input_errors::JsonError;

/// Adds a message for each policy that denies, warns, or records, and for each denial and warning by others. What is undecided is
/// the same for many objects: it comes [once](crate::evaluation::undecided_reasons::UndecidedReasons::annotate), and after what is
/// denied.
pub(crate) fn annotate_record(commands: &mut WorkflowCommands, record: &DecisionRecord) {
    let subject = record.subject();
    let remarks = record.distinct_remarks().into_iter();
    for remark in remarks.filter(|remark| remark.action != Action::Undecided) {
        let message = format!("{subject}: {}", remark.message);
        let location = remark.location.unwrap_or(&record.location);
        commands.annotate(remark.level(), location, remark.rule(), &message);
    }
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
        commands.annotate_place(
            AnnotationLevel::Error,
            &error.input_place(),
            &error.place,
            &error.message,
        );
    }
    for notice in notices {
        notice.annotate(commands);
    }
}
