//! The status of a Job. A rule is applied only where what it reads changed.

use jiff::Timestamp;
use pratique_types::field::{BadValue, Error, ErrorKind};

use super::index_ranges::{check_indexes, find_overlap};
use crate::errors::{Errors, IMMUTABLE, named};
use crate::internal::internal_json;
use crate::kinds::Request;
use crate::node::Node;
use crate::seen_texts::SeenTexts;

/// A Job with the conditions that are true of it.
struct JobState<'n, 'v> {
    spec: Node<'n, 'v>,
    status: Node<'n, 'v>,
    is_complete: bool,
    is_failed: bool,
    is_to_fail: bool,
    meets_criteria: bool,
}

impl<'n, 'v> JobState<'n, 'v> {
    fn new(spec: Node<'n, 'v>, status: Node<'n, 'v>) -> Self {
        let is = |kind: &str| has_condition(&status, kind, "True");
        JobState {
            spec,
            is_complete: is("Complete"),
            is_failed: is("Failed"),
            is_to_fail: is("FailureTarget"),
            meets_criteria: is("SuccessCriteriaMet"),
            status,
        }
    }

    fn is_finished(&self) -> bool {
        self.is_complete || self.is_failed
    }

    /// Whether a field of the status is another one than in the old Job.
    fn changes(&self, old: &JobState<'_, '_>, name: &str) -> bool {
        !self.status.child(name).is_same(&old.status.child(name))
    }

    fn changes_count(&self, old: &JobState<'_, '_>, name: &str) -> bool {
        self.status.child(name).int() != old.status.child(name).int()
    }
}

fn has_condition(status: &Node<'_, '_>, kind: &str, value: &str) -> bool {
    let conditions = status.child("conditions");
    conditions.items().any(|condition| {
        condition.child("type").as_text() == kind && condition.child("status").as_text() == value
    })
}

// Upstream: pkg/apis/batch/validation/validation.go, ValidateJobStatusUpdate;
// pkg/registry/batch/job/strategy.go, getStatusValidationOptions
pub(super) fn validate_job_status(request: &Request<'_>, errors: &mut Errors) {
    let (object, old) = (&request.object, &request.old);
    let job = JobState::new(object.child("spec"), object.child("status"));
    let old = JobState::new(old.child("spec"), old.child("status"));
    validate_counts(&job.status, errors);
    validate_completion(&job, &old, errors);
    validate_finished(&job, &old, errors);
    validate_indexes(&job, &old, errors);
    let terminating = job.status.child("terminating");
    let finishes = job.is_finished() != old.is_finished();
    if (finishes || job.changes(&old, "terminating")) && job.is_finished() && terminating.int() > 0 {
        let detail = "terminating>0 is invalid for finished job";
        errors.invalid(terminating, terminating.int(), detail);
    }
    let (ready, active) = (job.status.child("ready"), job.status.child("active"));
    let changes_ready = job.changes(&old, "ready") || job.changes_count(&old, "active");
    if changes_ready && ready.some_int().is_some_and(|ready| ready > active.int()) {
        errors.invalid(ready, ready.int(), "cannot set more ready pods than active");
    }
    validate_criteria(&job, errors);
    validate_transitions(&job, &old, errors);
}

/// An error about the conditions, which are not printed.
fn refuse_conditions(status: &Node<'_, '_>, detail: &str, errors: &mut Errors) {
    let field = status.child("conditions");
    let error = Error::new(ErrorKind::Invalid, field, &BadValue::Omitted, detail);
    errors.push(error);
}

fn validate_counts(status: &Node<'_, '_>, errors: &mut Errors) {
    for name in ["active", "succeeded", "failed", "ready", "terminating"] {
        errors.nonnegative(&status.child(name));
    }
    let uncounted = status.child("uncountedTerminatedPods");
    let mut seen = SeenTexts::default();
    for list in ["succeeded", "failed"] {
        for uid in uncounted.child(list).items() {
            if uid.as_text().is_empty() {
                errors.invalid_name(&uid, "must not be empty");
            } else if !seen.insert(uid.as_text()) {
                errors.duplicate(uid, named(uid.as_text()));
            }
        }
    }
}

fn validate_completion(job: &JobState<'_, '_>, old: &JobState<'_, '_>, errors: &mut Errors) {
    let status = &job.status;
    let completes = job.is_complete != old.is_complete;
    let fails = job.is_failed != old.is_failed;
    if (completes || fails) && job.is_complete && job.is_failed {
        refuse_conditions(
            status,
            "cannot set Complete=True and Failed=true conditions",
            errors,
        );
    }
    let is_to_fail = job.is_to_fail != old.is_to_fail;
    if (completes || is_to_fail) && job.is_complete && job.is_to_fail {
        refuse_conditions(
            status,
            "cannot set Complete=True and FailureTarget=true conditions",
            errors,
        );
    }
    let (end, start) = (status.child("completionTime"), status.child("startTime"));
    let changes_end = job.changes(old, "completionTime");
    if completes || changes_end {
        if end.is_set() && !job.is_complete {
            errors.invalid_value(
                &end,
                "cannot set completionTime when there is no Complete=True condition",
            );
        }
        if !end.is_set() && job.is_complete {
            errors.required(end, "completionTime is required for Complete jobs");
        }
    }
    let parse = |time: &Node<'_, '_>| time.as_text().parse::<Timestamp>().ok();
    if (changes_end || job.changes(old, "startTime"))
        && let (Some(start), Some(time)) = (parse(&start), parse(&end))
        && time < start
    {
        errors.invalid_value(&end, "must be equal to or after `startTime`");
    }
    if (fails || job.changes(old, "failedIndexes")) && job.is_failed && !job.is_to_fail {
        refuse_conditions(
            status,
            "cannot set Failed=True condition without the FailureTarget=true condition",
            errors,
        );
    }
    let meets = job.meets_criteria != old.meets_criteria;
    if (completes || meets) && job.is_complete && !job.meets_criteria {
        refuse_conditions(
            status,
            "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
            errors,
        );
    }
}

fn validate_finished(job: &JobState<'_, '_>, old: &JobState<'_, '_>, errors: &mut Errors) {
    let finishes = job.is_finished() != old.is_finished();
    if !job.is_finished() {
        return;
    }
    let (active, start) = (job.status.child("active"), job.status.child("startTime"));
    if (finishes || job.changes_count(old, "active")) && active.int() > 0 {
        errors.invalid(active, active.int(), "active>0 is invalid for finished job");
    }
    let (suspend, completions) = (job.spec.child("suspend"), job.spec.child("completions"));
    let has_nothing_to_do = suspend.is_true() && completions.some_int() == Some(0);
    if (finishes || job.changes(old, "startTime")) && !has_nothing_to_do && !start.is_set() {
        errors.required(start, "startTime is required for finished job");
    }
    let uncounted = job.status.child("uncountedTerminatedPods");
    let count = uncounted.child("failed").len() + uncounted.child("succeeded").len();
    if (finishes || job.changes(old, "uncountedTerminatedPods")) && count > 0 {
        let value = internal_json(
            errors.release(),
            "batch.UncountedTerminatedPods",
            uncounted.value(),
        );
        errors.invalid(uncounted, value, "must be empty for finished job");
    }
}

fn validate_indexes(job: &JobState<'_, '_>, old: &JobState<'_, '_>, errors: &mut Errors) {
    let (completed, failed) = (
        job.status.child("completedIndexes"),
        job.status.child("failedIndexes"),
    );
    let changes_completed = completed.as_text() != old.status.child("completedIndexes").as_text();
    let changes_failed = job.changes(old, "failedIndexes");
    let completions = job.spec.child("completions").some_int();
    let has_limit = job.spec.child("backoffLimitPerIndex").is_set();
    let mut check = |field: &Node<'_, '_>, name: &str| {
        let fault = completions.and_then(|completions| check_indexes(field.as_text(), completions).err());
        if let Some(fault) = fault {
            errors.invalid_or_empty(field, &format!("error parsing {name}: {fault}"));
        }
    };
    if changes_completed {
        check(&completed, "completedIndexes");
    }
    if changes_failed && has_limit && failed.is_set() {
        check(&failed, "failedIndexes");
    }
    let is_indexed = job.spec.child("completionMode").as_text() == "Indexed";
    if changes_completed && !completed.as_text().is_empty() && !is_indexed {
        errors.invalid_or_empty(
            &completed,
            "cannot set non-empty completedIndexes when non-indexed completion mode",
        );
    }
    if changes_failed && !has_limit && failed.is_set() {
        errors.invalid_or_empty(
            &failed,
            "cannot set non-null failedIndexes when backoffLimitPerIndex is null",
        );
    }
    let overlap = completions
        .filter(|_| (changes_completed || changes_failed) && failed.is_set())
        .and_then(|completions| find_overlap(completed.as_text(), failed.as_text(), completions));
    if let Some(index) = overlap {
        let detail = format!("failedIndexes and completedIndexes overlap at index: {index}");
        errors.invalid_or_empty(&failed, &detail);
    }
}

/// Conditions that exclude each other, however long they have been there.
fn validate_criteria(job: &JobState<'_, '_>, errors: &mut Errors) {
    if job.meets_criteria && job.is_failed {
        refuse_conditions(
            &job.status,
            "cannot set SuccessCriteriaMet=True and Failed=true conditions",
            errors,
        );
    }
    if job.meets_criteria && job.is_to_fail {
        refuse_conditions(
            &job.status,
            "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions",
            errors,
        );
    }
    if job.spec.child("successPolicy").is_set() && !job.meets_criteria && job.is_complete {
        refuse_conditions(
            &job.status,
            "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True",
            errors,
        );
    }
}

fn validate_transitions(job: &JobState<'_, '_>, old: &JobState<'_, '_>, errors: &mut Errors) {
    let status = &job.status;
    let terminal = [
        ("Failed", old.is_failed && !job.is_failed),
        ("Complete", old.is_complete && !job.is_complete),
        ("FailureTarget", old.is_to_fail && !job.is_to_fail),
    ];
    for (kind, _) in terminal.into_iter().filter(|(_, is_disabled)| *is_disabled) {
        let detail = format!("cannot disable the terminal {kind}=True condition");
        refuse_conditions(status, &detail, errors);
    }
    let is_indexed = job.spec.child("completionMode").as_text() == "Indexed";
    // Such a Job may be scaled down, so that fewer Pods succeeded.
    let (completions, parallelism) = (job.spec.child("completions"), job.spec.child("parallelism"));
    let is_elastic = is_indexed && completions.value() == parallelism.value();
    for (name, may_decrease) in [("failed", false), ("succeeded", is_elastic)] {
        let count = status.child(name);
        if !may_decrease && count.int() < old.status.child(name).int() {
            let detail = format!("cannot decrease the {name} counter");
            errors.invalid(count, count.int(), &detail);
        }
    }
    let (end, old_end) = (status.child("completionTime"), old.status.child("completionTime"));
    if end.is_set() && old_end.is_set() && !end.is_same(&old_end) {
        errors.invalid_value(&end, IMMUTABLE);
    }
    let resumes =
        has_condition(&old.status, "Suspended", "True") && has_condition(status, "Suspended", "False");
    let (start, suspend) = (status.child("startTime"), job.spec.child("suspend"));
    let had_start = old.status.child("startTime").is_set();
    if had_start && !resumes && job.changes(old, "startTime") && !suspend.is_true() {
        // Upstream: pkg/apis/batch/validation/validation.go, ValidateJobStatusUpdate: changed in 1.36
        if errors.release().at_least(1, 36) {
            errors.invalid_value(&start, "field is immutable for unsuspended job once set");
        } else {
            errors.required(start, "startTime cannot be removed for unsuspended job");
        }
    }
    if old.meets_criteria && !job.meets_criteria {
        refuse_conditions(
            status,
            "cannot disable the SuccessCriteriaMet=True condition",
            errors,
        );
    }
    if old.is_complete && !old.meets_criteria && job.meets_criteria {
        refuse_conditions(
            status,
            "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions",
            errors,
        );
    }
}
