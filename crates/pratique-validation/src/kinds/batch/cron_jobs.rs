//! CronJobs.

use pratique_gotext::strconv::atoi;

use super::delegation::validate_delegation;
use super::jobs::validate_common_spec;
use crate::errors::{Errors, named};
use crate::internal::internal_json;
use crate::kinds::Request;
use crate::kinds::pods::template_options;
use crate::node::Node;

// Upstream: pkg/apis/batch/validation/validation.go, ValidateCronJobCreate
pub(super) fn validate_cron_job_create(request: &Request<'_>, errors: &mut Errors) {
    validate_cron_job(request, errors);
    let metadata = request.object.child("metadata");
    let name = metadata.child("name");
    // A Job's name is eleven characters longer.
    if name.as_text().len() > 63 - 11 {
        errors.invalid_or_empty(&name, "must be no more than 52 characters");
    }
}

// Upstream: pkg/apis/batch/validation/validation.go, validateCronJobSpec
pub(super) fn validate_cron_job(request: &Request<'_>, errors: &mut Errors) {
    let (spec, old) = (request.object.child("spec"), request.old.child("spec"));
    let schedule = spec.child("schedule");
    if schedule.as_text().is_empty() {
        errors.required_until(38, schedule, "");
    } else {
        validate_schedule(&spec, old.child("schedule").as_text().contains("TZ"), errors);
    }
    errors.nonnegative(&spec.child("startingDeadlineSeconds"));
    let zone = spec.child("timeZone");
    if !old.is_set() || zone.value() != old.child("timeZone").value() {
        validate_time_zone(&zone, errors);
    }
    errors.required_enum(&spec.child("concurrencyPolicy"), &["Allow", "Forbid", "Replace"]);
    let (template, old_template) = (spec.child("jobTemplate"), old.child("jobTemplate"));
    let (job, old_job) = (template.child("spec"), old_template.child("spec"));
    validate_common_spec(
        &job,
        &old_job,
        template_options(&old_job.child("template"), request.settings.gates),
        errors,
    );
    validate_delegation((&template, &old_template), errors);
    let (selector, manual) = (job.child("selector"), job.child("manualSelector"));
    if selector.is_set() {
        errors.invalid(
            selector,
            internal_json(errors.release(), "*metav1.LabelSelector", selector.value()),
            "`selector` will be auto-generated",
        );
    }
    if manual.is_true() {
        errors.push(pratique_types::field::Error::not_supported(
            manual,
            true,
            ["nil", "false"],
        ));
    }
    errors.nonnegative(&spec.child("successfulJobsHistoryLimit"));
    errors.nonnegative(&spec.child("failedJobsHistoryLimit"));
}

// Upstream: pkg/apis/batch/validation/validation.go, validateScheduleFormat
fn validate_schedule(spec: &Node<'_, '_>, allows_zone: bool, errors: &mut Errors) {
    let schedule = spec.child("schedule");
    let text = schedule.as_text();
    if let Err(why) = check_schedule(text) {
        errors.invalid_or_empty(&schedule, &why);
    }
    if !text.contains("TZ") {
        return;
    }
    if !allows_zone {
        errors.invalid_or_empty(
            &schedule,
            "cannot use TZ or CRON_TZ in schedule, use timeZone field instead",
        );
    } else if spec.child("timeZone").is_set() {
        errors.invalid_or_empty(
            &schedule,
            "cannot use both timeZone field and TZ or CRON_TZ in schedule",
        );
    }
}

// Upstream: pkg/apis/batch/validation/validation.go, validateTimeZone
fn validate_time_zone(zone: &Node<'_, '_>, errors: &mut Errors) {
    let text = zone.as_text();
    if !zone.is_set() {
        return;
    }
    if text.is_empty() {
        errors.invalid(zone, named(text), "timeZone must be nil or non-empty string");
        return;
    }
    let is_part = |part: &str| {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-_+".contains(&byte);
        (1..=14).contains(&part.len())
            && part.bytes().all(is_allowed)
            && !part.starts_with('-')
            && !matches!(part, "." | "..")
    };
    let unknown = format!("unknown time zone {text}");
    if !text.split('/').all(is_part) {
        errors.invalid(zone, named(text), &unknown);
        return;
    }
    let is_local = text.eq_ignore_ascii_case("Local");
    if is_local {
        errors.invalid(
            zone,
            named(text),
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones",
        );
    }
    if !is_known_zone(text) && text != "Local" {
        errors.invalid(zone, named(text), &unknown);
    }
}

/// Whether there is a time zone of the name, in the letters of the database.
fn is_known_zone(name: &str) -> bool {
    name == "UTC" || jiff::tz::TimeZone::get(name).is_ok_and(|zone| zone.iana_name() == Some(name))
}

/// The names and limits of a field of a schedule.
struct FieldBounds {
    min: i64,
    max: i64,
    /// What stands for the numbers, beginning with the lowest.
    names: &'static [&'static str],
}

const FIELDS: &[FieldBounds] = &[
    FieldBounds {
        min: 0,
        max: 59,
        names: &[],
    },
    FieldBounds {
        min: 0,
        max: 23,
        names: &[],
    },
    FieldBounds {
        min: 1,
        max: 31,
        names: &[],
    },
    FieldBounds {
        min: 1,
        max: 12,
        names: &[
            "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
        ],
    },
    FieldBounds {
        min: 0,
        max: 6,
        names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
    },
];

/// Whether a text is a schedule, in the words of the server's parser.
// Upstream: github.com/robfig/cron/v3/parser.go, Parse
fn check_schedule(text: &str) -> Result<(), String> {
    const NAMED: &[&str] = &[
        "@yearly",
        "@annually",
        "@monthly",
        "@weekly",
        "@daily",
        "@midnight",
        "@hourly",
    ];
    let mut text = text;
    if let Some(rest) = text.strip_prefix("TZ=").or_else(|| text.strip_prefix("CRON_TZ=")) {
        let (zone, rest) = rest.split_once(' ').ok_or("panic parsing schedule")?;
        if !is_known_zone(zone) {
            return Err(format!("provided bad location {zone}: unknown time zone {zone}"));
        }
        text = rest.trim();
    }
    if text.starts_with('@') {
        if let Some(duration) = text.strip_prefix("@every ") {
            let parsed = pratique_gotext::time::Duration::parse(duration);
            return parsed
                .map(drop)
                .map_err(|error| format!("failed to parse duration {text}: {error}"));
        }
        return if NAMED.contains(&text) {
            Ok(())
        } else {
            Err(format!("unrecognized descriptor: {text}"))
        };
    }
    let fields: Vec<&str> = text.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        return Err(format!(
            "expected exactly 5 fields, found {}: [{}]",
            fields.len(),
            fields.join(" ")
        ));
    }
    let mut pairs = fields.iter().zip(FIELDS);
    pairs.try_for_each(|(field, bounds)| {
        let mut parts = field.split(',').filter(|part| !part.is_empty());
        parts.try_for_each(|part| check_range(part, bounds))
    })
}

/// `number`, `number-number`, `*`, each with a step after a slash.
// Upstream: github.com/robfig/cron/v3/parser.go, getRange
fn check_range(text: &str, bounds: &FieldBounds) -> Result<(), String> {
    let parts: Vec<&str> = text.split('/').collect();
    let limits: Vec<&str> = parts
        .first()
        .map_or_else(Vec::new, |range| range.split('-').collect());
    let (start, mut end) = match limits.as_slice() {
        ["*" | "?", ..] => (bounds.min, bounds.max),
        [only] => {
            let number = parse_number(only, bounds)?;
            (number, number)
        }
        [first, last] => (parse_number(first, bounds)?, parse_number(last, bounds)?),
        [first, ..] => {
            parse_number(first, bounds)?;
            return Err(format!("too many hyphens: {text}"));
        }
        [] => return Ok(()),
    };
    let step = match parts.as_slice() {
        [_] => 1,
        [_, step] => {
            let step = parse_whole(step)?;
            if limits.len() == 1 {
                end = bounds.max;
            }
            step
        }
        _ => return Err(format!("too many slashes: {text}")),
    };
    if start < bounds.min {
        return Err(format!(
            "beginning of range ({start}) below minimum ({}): {text}",
            bounds.min
        ));
    }
    if end > bounds.max {
        return Err(format!(
            "end of range ({end}) above maximum ({}): {text}",
            bounds.max
        ));
    }
    if start > end {
        return Err(format!(
            "beginning of range ({start}) beyond end of range ({end}): {text}"
        ));
    }
    if step == 0 {
        return Err(format!("step of range should be a positive number: {text}"));
    }
    Ok(())
}

fn parse_number(text: &str, bounds: &FieldBounds) -> Result<i64, String> {
    let name = text.to_lowercase();
    match bounds.names.iter().position(|known| **known == name) {
        Some(at) => Ok(bounds.min + i64::try_from(at).unwrap_or_default()),
        None => parse_whole(text),
    }
}

fn parse_whole(text: &str) -> Result<i64, String> {
    let number = atoi(text).map_err(|error| format!("failed to parse int from {text}: {error}"))?;
    if number < 0 {
        return Err(format!("negative number ({number}) not allowed: {text}"));
    }
    Ok(number)
}
