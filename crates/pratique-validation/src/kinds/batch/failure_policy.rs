//! When a Job has failed, and when it has succeeded.

use pratique_gotext::validation::qualified_name;
use pratique_types::field::BadValue;

use crate::errors::Errors;
use crate::node::Node;

// Upstream: pkg/apis/batch/validation/validation.go, validatePodFailurePolicy
pub(super) fn validate_failure_policy(spec: &Node<'_, '_>, errors: &mut Errors) {
    let policy = spec.child("podFailurePolicy");
    if !policy.is_set() {
        return;
    }
    let rules = policy.child("rules");
    if rules.len() > 20 {
        errors.too_many(&rules, 20);
    }
    for rule in rules.items() {
        validate_rule(&rule, spec, errors);
    }
}

// Upstream: pkg/apis/batch/validation/validation.go, validatePodFailurePolicyRule
fn validate_rule(rule: &Node<'_, '_>, spec: &Node<'_, '_>, errors: &mut Errors) {
    let (action, codes) = (rule.child("action"), rule.child("onExitCodes"));
    let conditions = rule.child("onPodConditions");
    match action.as_text() {
        "" => errors.required(
            action,
            "valid values: [\"Count\" \"FailIndex\" \"FailJob\" \"Ignore\"]",
        ),
        "FailIndex" => {
            if !spec.child("backoffLimitPerIndex").is_set() {
                errors.invalid_name(&action, "requires the backoffLimitPerIndex to be set");
            }
        }
        "Count" | "FailJob" | "Ignore" => {}
        _ => errors.not_supported(&action, &["Count", "FailIndex", "FailJob", "Ignore"]),
    }
    if codes.is_set() {
        validate_exit_codes(&codes, spec, errors);
    }
    if conditions.len() > 20 {
        errors.too_many(&conditions, 20);
    }
    for pattern in conditions.items() {
        validate_condition(&pattern, errors);
    }
    let detail = match (codes.is_set(), !conditions.is_empty()) {
        (true, true) => "specifying both OnExitCodes and OnPodConditions is not supported",
        (false, false) => "specifying one of OnExitCodes and OnPodConditions is required",
        _ => return,
    };
    // A struct of Go without fields.
    errors.invalid(rule, BadValue::Omitted, detail);
}

fn validate_condition(pattern: &Node<'_, '_>, errors: &mut Errors) {
    let (kind, status) = (pattern.child("type"), pattern.child("status"));
    for message in qualified_name(kind.as_text()) {
        errors.invalid_or_empty(&kind, &message);
    }
    match status.as_text() {
        "" => errors.required(status, "valid values: [\"False\" \"True\" \"Unknown\"]"),
        "False" | "True" | "Unknown" => {}
        _ => errors.not_supported(&status, &["False", "True", "Unknown"]),
    }
}

// Upstream: pkg/apis/batch/validation/validation.go, validatePodFailurePolicyRuleOnExitCodes
fn validate_exit_codes(codes: &Node<'_, '_>, spec: &Node<'_, '_>, errors: &mut Errors) {
    let (operator, values) = (codes.child("operator"), codes.child("values"));
    match operator.as_text() {
        "" => errors.required(operator, "valid values: [\"In\" \"NotIn\"]"),
        "In" | "NotIn" => {}
        _ => errors.not_supported(&operator, &["In", "NotIn"]),
    }
    let container = codes.child("containerName");
    if container.is_set() && !has_container(spec, container.as_text()) {
        errors.invalid_or_empty(
            &container,
            "must be one of the container or initContainer names in the pod template",
        );
    }
    if values.is_empty() {
        errors.invalid_value(&values, "at least one value is required");
    } else if values.len() > 255 {
        errors.too_many(&values, 255);
    }
    let mut seen = std::collections::HashSet::new();
    let (mut is_ordered, mut last) = (true, i64::MIN);
    for value in values.items() {
        let number = value.int();
        if operator.as_text() == "In" && number == 0 {
            errors.invalid(value, number, "must not be 0 for the In operator");
        }
        if !seen.insert(number) {
            errors.duplicate(value, number);
        }
        is_ordered &= number >= last;
        last = number;
    }
    if !is_ordered {
        errors.invalid_value(&values, "must be ordered");
    }
}

fn has_container(spec: &Node<'_, '_>, name: &str) -> bool {
    let template = spec.child("template");
    let pod = template.child("spec");
    ["containers", "initContainers"].iter().any(|list| {
        pod.child(list)
            .items()
            .any(|container| container.child("name").as_text() == name)
    })
}

// Upstream: pkg/apis/batch/validation/validation.go, validateSuccessPolicy
pub(super) fn validate_success_policy(spec: &Node<'_, '_>, errors: &mut Errors) {
    let policy = spec.child("successPolicy");
    let rules = policy.child("rules");
    if rules.is_empty() {
        errors.required(
            rules,
            "at least one rules must be specified when the successPolicy is specified",
        );
    }
    if rules.len() > 20 {
        errors.too_many(&rules, 20);
    }
    let completions = spec.child("completions").int();
    for rule in rules.items() {
        validate_success_rule(&rule, completions, errors);
    }
}

fn validate_success_rule(rule: &Node<'_, '_>, completions: i64, errors: &mut Errors) {
    const MAX_INDEXES: usize = 64 << 10;
    let (count, indexes) = (rule.child("succeededCount"), rule.child("succeededIndexes"));
    if !count.is_set() && !indexes.is_set() {
        errors.required(
            rule,
            "at least one of succeededCount or succeededIndexes must be specified",
        );
    }
    let mut total = 0;
    if indexes.is_set() {
        if indexes.as_text().len() > MAX_INDEXES {
            errors.too_long(indexes, MAX_INDEXES as i64);
        }
        match count_indexes(indexes.as_text(), completions) {
            Ok(number) => total = number,
            Err(why) => errors.invalid_or_empty(&indexes, &format!("error parsing succeededIndexes: {why}")),
        }
    }
    if !count.is_set() {
        return;
    }
    errors.nonnegative(&count);
    if count.int() > completions {
        let detail =
            format!("must be less than or equal to {completions} (the number of specified completions)");
        errors.invalid(count, count.int(), &detail);
    }
    if indexes.is_set() && count.int() > total {
        let detail = format!(
            "must be less than or equal to {total} (the number of indexes in the specified succeededIndexes field)"
        );
        errors.invalid(count, count.int(), &detail);
    }
}

/// How many indexes a text like `1,3-5` names.
// Upstream: pkg/apis/batch/validation/validation.go, validateIndexesFormat
pub(super) fn count_indexes(text: &str, completions: i64) -> Result<i64, String> {
    if text.is_empty() {
        return Ok(0);
    }
    let (mut total, mut last) = (0i64, None);
    for interval in text.split(',') {
        let (first, end) = parse_interval(interval, completions)?;
        if let Some(last) = last.filter(|last| *last >= first) {
            return Err(format!(
                "non-increasing order, previous: {last}, current: {first}"
            ));
        }
        total = total.saturating_add(end - first + 1);
        last = Some(end);
    }
    Ok(total)
}

fn parse_interval(interval: &str, completions: i64) -> Result<(i64, i64), String> {
    use pratique_gotext::strconv::quote;
    let limits: Vec<&str> = interval.split('-').collect();
    let number = |text: &str| {
        text.parse::<i64>()
            .ok()
            .filter(|number| *number >= 0 && !text.starts_with('+'))
            .ok_or_else(|| format!("cannot convert string to integer for index: {}", quote(text)))
    };
    let below = |number: i64| {
        if number >= completions {
            return Err(format!("too large index: {}", quote(&number.to_string())));
        }
        Ok(number)
    };
    match limits.as_slice() {
        [only] => {
            let first = below(number(only)?)?;
            Ok((first, first))
        }
        [first, last] => {
            let first = below(number(first)?)?;
            let last = below(number(last)?)?;
            if first >= last {
                return Err(format!(
                    "non-increasing order, previous: {first}, current: {last}"
                ));
            }
            Ok((first, last))
        }
        _ => Err(format!(
            "the fragment {} violates the requirement that an index interval can have at most two parts separated by '-'",
            quote(interval)
        )),
    }
}
