//! Decisions as SARIF 2.1.0: a result for each policy that denies, warns, records, or is undecided, for each denial and warning
//! by others, for each error of an input, and for each notice.

use pratique_report::Action;
use pratique_review::{DroppedField, SourceFile};

use crate::acceptance::accepted_finding::AcceptedBy;
use crate::evaluation::limitations::{self, ReportedLimitation};
use crate::evaluation::record::{DecisionRecord, INVALID, SERVER_WARNING};
use crate::input::sources;
use crate::output::finding::AnnotationLevel;
use crate::output::notice::{self, InputNotice};
use crate::output::place::InputPlace;
use crate::output::sarif::{LogResult, SarifInvocation, SarifLog};
use crate::stream::input_errors::{INPUT, JsonError};

/// All decisions, errors and notices, limitations, what was evaluated, and the exit code of the command.
pub(crate) fn log(
    records: &[DecisionRecord],
    errors: &[JsonError],
    notices: &[InputNotice],
    limitations: &[ReportedLimitation],
    sources: &[SourceFile],
    evaluated: &str,
    exit_code: u8,
) -> SarifLog {
    let mut results: Vec<LogResult> = records.iter().flat_map(of_record).collect();
    results.extend(errors.iter().map(JsonError::sarif));
    results.extend(notices.iter().map(LogResult::of_notice));
    let mut notifications = limitations::notifications(limitations);
    notifications.extend(sources::notifications(sources));
    notifications.push((AnnotationLevel::Note, evaluated.to_owned()));
    let invocation = SarifInvocation {
        is_successful: errors.is_empty(),
        exit_code,
        notifications,
    };
    SarifLog::new(description, invocation, results)
}

fn of_record(record: &DecisionRecord) -> Vec<LogResult> {
    let place = record.input_place();
    let (subject, object) = (record.subject(), record.name_in_cluster());
    let remarks = record.distinct_remarks().into_iter().map(|remark| {
        let message = format!("{subject}: {}", remark.message);
        let field = remark.location.map(InputPlace::from);
        let place = field.as_ref().unwrap_or(&place);
        let result = LogResult::new(remark.rule(), remark.level(), &message, place, Some(&object));
        let is_known = remark.accepted.map(|finding| &finding.by);
        let result = match is_known {
            Some(AcceptedBy::Exception { reason, .. }) => result.suppressed(reason),
            Some(AcceptedBy::Baseline) | None => result,
        };
        // An undecided object is no finding of a baseline, nor is an error that is ignored.
        let is_finding = !matches!(remark.action, Action::Ignore | Action::Undecided);
        match (record.is_compared, is_known) {
            (true, Some(AcceptedBy::Baseline)) => result.in_baseline("unchanged"),
            (true, None) if is_finding => result.in_baseline("new"),
            _ => result,
        }
    });
    remarks.collect()
}

/// What a rule is about.
fn description(rule: &str) -> String {
    match rule {
        INPUT => "An input cannot be read or evaluated".to_owned(),
        INVALID => "The API server's own validation refuses an object".to_owned(),
        DroppedField::RULE => {
            "The API server drops a field of an object, as its feature gate is off".to_owned()
        }
        SERVER_WARNING => "The API server warns about an object".to_owned(),
        limitations::NO_DEFINITION => {
            "An object is neither defaulted nor validated, as its definition is not known".to_owned()
        }
        limitations::UNKNOWN_KIND => "It is not known which resource an object of a kind is".to_owned(),
        rule => notice::description(rule).map_or_else(
            || format!("{rule} denies or warns about an object, or cannot be decided"),
            str::to_owned,
        ),
    }
}
