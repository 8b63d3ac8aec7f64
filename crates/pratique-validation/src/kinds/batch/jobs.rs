//! Jobs.

use pratique_gotext::validation::dns1123_label;
use pratique_json::Value;
use pratique_types::field::BadValue;

use super::delegation::{validate_delegation, validate_group};
use super::failure_policy::{validate_failure_policy, validate_success_policy};
use crate::domain_paths::validate_domain_path;
use crate::errors::{DEPENDENT_REQUIRED, Errors, IMMUTABLE};
use crate::internal::internal_json;
use crate::kinds::Request;
use crate::kinds::pods::template_options;
use crate::node::Node;
use crate::pod::{PodOptions, validate_pod_template};
use crate::selector::{has_invalid_values, is_selector, matches_labels, validate_selector};

const CONTROLLER_UID: &str = "batch.kubernetes.io/controller-uid";
const JOB_NAME: &str = "batch.kubernetes.io/job-name";
const OLD_CONTROLLER_UID: &str = "controller-uid";
const OLD_JOB_NAME: &str = "job-name";

// Upstream: pkg/apis/batch/validation/validation.go, ValidateJobCreate
pub(super) fn validate_job_create(request: &Request<'_>, errors: &mut Errors) {
    let spec = request.object.child("spec");
    validate_generated_selector(&request.object, true, errors);
    let options = PodOptions::default().with_gates(request.settings.gates);
    validate_spec(&spec, &request.old.child("spec"), options, errors);
    validate_delegation((&request.object, &request.old), errors);
    validate_pod_names(&request.object, errors);
}

/// What is validated of a new Job, of one that changes.
// Upstream: pkg/registry/batch/job/strategy.go, validationOptionsForJob
pub(super) fn validate_changed_as_new(request: &Request<'_>, errors: &mut Errors) {
    let old = request.old.child("spec");
    let old_template = old.child("template");
    let metadata = old_template.child("metadata");
    let labels = metadata.child("labels");
    let had_labels = [JOB_NAME, CONTROLLER_UID]
        .iter()
        .all(|key| labels.key(key).is_set());
    validate_generated_selector(&request.object, had_labels, errors);
    let mut options = template_options(&old_template, request.settings.gates);
    options.invalid_selector_values |= has_invalid_values(&old.child("selector"));
    validate_spec(&request.object.child("spec"), &old, options, errors);
    validate_pod_names(&request.object, errors);
}

// Upstream: pkg/apis/batch/validation/validation.go, validateGeneratedSelector
fn validate_generated_selector(job: &Node<'_, '_>, requires_prefix: bool, errors: &mut Errors) {
    let (metadata, spec) = (job.child("metadata"), job.child("spec"));
    let (selector, template) = (spec.child("selector"), spec.child("template"));
    if spec.child("manualSelector").is_true() || !selector.is_set() {
        return;
    }
    let (uid, name) = (metadata.child("uid"), metadata.child("name"));
    if uid.as_text().is_empty() {
        errors.required(uid, "");
    }
    let (uid, name) = (uid.as_text(), name.as_text());
    let expected = [
        (OLD_CONTROLLER_UID, uid),
        (OLD_JOB_NAME, name),
        (CONTROLLER_UID, uid),
        (JOB_NAME, name),
    ];
    let expected = expected
        .get(..if requires_prefix { 4 } else { 2 })
        .unwrap_or_default();
    let of_template = template.child("metadata");
    let labels = of_template.child("labels");
    for (key, value) in expected.iter().copied() {
        let label = labels.key(key);
        let detail = || format!("must be '{value}'");
        if !label.is_set() {
            errors.required(label, &detail());
        } else if label.as_text() != value {
            errors.invalid(label, BadValue::Json(labels.value()), &detail());
        }
    }
    let members = expected
        .iter()
        .map(|(key, value)| ((*key).into(), Value::from(*value)));
    let expected = Value::Object(members.collect());
    if is_selector(&selector) && !matches_labels(&selector, &Node::with_path(&expected, *labels.path())) {
        errors.invalid(
            selector,
            internal_json(errors.release(), "*metav1.LabelSelector", selector.value()),
            "`selector` not auto-generated",
        );
    }
}

/// The host name of the last Pod of an indexed Job.
// Upstream: pkg/apis/batch/validation/validation.go, validateNameAllowsCompletions
fn validate_pod_names(job: &Node<'_, '_>, errors: &mut Errors) {
    let (metadata, spec) = (job.child("metadata"), job.child("spec"));
    let completions = spec.child("completions").int();
    if spec.child("completionMode").as_text() != "Indexed" || completions <= 0 {
        return;
    }
    let name = metadata.child("name");
    let host = format!("{}-{}", name.as_text(), completions - 1);
    if !dns1123_label(&host).is_empty() {
        let detail = format!("will not able to create pod with invalid DNS label: {host}");
        errors.invalid_or_empty(&name, &detail);
    }
}

// Upstream: pkg/apis/batch/validation/validation.go, ValidateJobSpec
fn validate_spec(spec: &Node<'_, '_>, old: &Node<'_, '_>, options: PodOptions, errors: &mut Errors) {
    validate_common_spec(spec, old, options, errors);
    let (selector, template) = (spec.child("selector"), spec.child("template"));
    if selector.is_set() {
        validate_selector(&selector, options.invalid_selector_values, errors);
    } else {
        errors.required(selector, "");
    }
    let metadata = template.child("metadata");
    let labels = metadata.child("labels");
    if is_selector(&selector) && !matches_labels(&selector, &labels) {
        errors.invalid_value(&labels, "`selector` does not match template `labels`");
    }
}

/// What Jobs and the templates of CronJobs have in common.
// Upstream: pkg/apis/batch/validation/validation.go, validateJobSpec
pub(super) fn validate_common_spec(
    spec: &Node<'_, '_>,
    old: &Node<'_, '_>,
    options: PodOptions,
    errors: &mut Errors,
) {
    let start = errors.len();
    for name in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ] {
        errors.nonnegative(&spec.child(name));
    }
    // Upstream: pkg/apis/batch/validation/validation.go, validateJobSpec: declarative rules say the same since 1.38.
    if errors.release().at_least(1, 38) {
        errors.cover_from(start, "minimum");
    }
    if spec.child("maxFailedIndexes").is_set() && !spec.child("backoffLimitPerIndex").is_set() {
        let start = errors.len();
        errors.required(
            spec.child("backoffLimitPerIndex"),
            "when maxFailedIndexes is specified",
        );
        errors.cover_from(start, DEPENDENT_REQUIRED);
    }
    let manager = spec.child("managedBy");
    if manager.is_set() {
        validate_domain_path(&manager, errors);
        if manager.as_text().len() > 63 {
            errors.too_long(manager, 63);
        }
    }
    validate_completion_mode(spec, errors);
    validate_failure_policy(spec, errors);
    let success = spec.child("successPolicy");
    if success.is_set() {
        if spec.child("completionMode").as_text() == "Indexed" {
            validate_success_policy(spec, errors);
        } else {
            let value = internal_json(errors.release(), "batch.SuccessPolicy", success.value());
            errors.invalid(success, value, "requires indexed completion mode");
        }
    }
    validate_replacement_policy(spec, errors);
    validate_gang(spec, errors);
    validate_group(spec, old, errors);
    let template = spec.child("template");
    validate_pod_template(&template, None, options, errors);
    let pod = template.child("spec");
    let policy = pod.child("restartPolicy");
    match policy.as_text() {
        "Always" | "" => errors.required(policy, "valid values: \"OnFailure\", \"Never\""),
        "OnFailure" if spec.child("podFailurePolicy").is_set() => {
            errors.invalid_name(
                &policy,
                "only \"Never\" is supported when podFailurePolicy is specified",
            );
        }
        "OnFailure" | "Never" => {}
        _ => errors.not_supported(&policy, &["OnFailure", "Never"]),
    }
}

fn validate_completion_mode(spec: &Node<'_, '_>, errors: &mut Errors) {
    let mode = spec.child("completionMode");
    if mode.is_set() && !["NonIndexed", "Indexed"].contains(&mode.as_text()) {
        errors.not_supported(&mode, &["NonIndexed", "Indexed"]);
    }
    if mode.as_text() == "Indexed" {
        validate_indexed(spec, errors);
    }
    if !mode.is_set() || mode.as_text() == "NonIndexed" {
        for name in ["backoffLimitPerIndex", "maxFailedIndexes"] {
            let field = spec.child(name);
            if field.is_set() {
                errors.invalid(field, field.int(), "requires indexed completion mode");
            }
        }
    }
}

fn validate_indexed(spec: &Node<'_, '_>, errors: &mut Errors) {
    const MAX_INDEXES: i64 = 100_000;
    const MANY: i64 = 100_000;
    const MAX_OF_MANY: i64 = 10_000;
    let (completions, parallelism) = (spec.child("completions"), spec.child("parallelism"));
    let failed = spec.child("maxFailedIndexes");
    if !completions.is_set() {
        errors.required(completions, "when completion mode is Indexed");
    }
    if parallelism.int() > MAX_INDEXES {
        let detail = format!("must be less than or equal to {MAX_INDEXES} when completion mode is Indexed");
        errors.invalid(parallelism, parallelism.int(), &detail);
    }
    if completions.is_set() && failed.is_set() && failed.int() > completions.int() {
        errors.invalid(failed, failed.int(), "must be less than or equal to completions");
    }
    if failed.int() > MAX_INDEXES {
        errors.invalid(
            failed,
            failed.int(),
            &format!("must be less than or equal to {MAX_INDEXES}"),
        );
    }
    if completions.int() <= MANY || !spec.child("backoffLimitPerIndex").is_set() {
        return;
    }
    if !failed.is_set() {
        errors.required(
            failed,
            &format!("must be specified when completions is above {MANY}"),
        );
    }
    let detail = format!(
        "must be less than or equal to {MAX_OF_MANY} when completions are above {MANY} and used with backoff limit per index"
    );
    for field in [&parallelism, &failed] {
        if field.int() > MAX_OF_MANY {
            errors.invalid(field, field.int(), &detail);
        }
    }
}

fn validate_replacement_policy(spec: &Node<'_, '_>, errors: &mut Errors) {
    let policy = spec.child("podReplacementPolicy");
    let supported: &[&str] = if spec.child("podFailurePolicy").is_set() {
        &["Failed"]
    } else {
        &["Failed", "TerminatingOrFailed"]
    };
    if policy.is_set() && !supported.contains(&policy.as_text()) {
        errors.not_supported(&policy, supported);
    }
}

// Upstream: pkg/apis/batch/validation/validation.go, ValidateJobSpecUpdate
pub(super) fn validate_job_update(request: &Request<'_>, errors: &mut Errors) {
    let (spec, old) = (request.object.child("spec"), request.old.child("spec"));
    let mut options = template_options(&old.child("template"), request.settings.gates);
    options.invalid_selector_values |= has_invalid_values(&old.child("selector"));
    validate_spec(&spec, &old, options, errors);
    validate_completions(&spec, &old, errors);
    let selector = spec.child("selector");
    if !selector.is_same(&old.child("selector")) {
        let value = internal_json(errors.release(), "*metav1.LabelSelector", selector.value());
        errors.invalid(selector, value, IMMUTABLE);
    }
    validate_template_update(request, errors);
    for (name, type_name) in [
        ("completionMode", "*batch.CompletionMode"),
        ("podFailurePolicy", "*batch.PodFailurePolicy"),
        ("backoffLimitPerIndex", "*int32"),
        ("managedBy", "*string"),
        ("successPolicy", "*batch.SuccessPolicy"),
    ] {
        let (field, old) = (spec.child(name), old.child(name));
        if !field.is_same(&old) {
            errors.invalid(
                field,
                internal_json(errors.release(), type_name, field.value()),
                IMMUTABLE,
            );
        }
    }
    validate_scheduling_update(&spec, &old, errors);
    // Upstream: pkg/apis/batch/validation/validation.go, ValidateJobUpdate; before 1.37, `validate_changed_as_new` does it.
    if errors.release().at_least(1, 37) {
        validate_delegation((&request.object, &request.old), errors);
        validate_pod_names(&request.object, errors);
    }
}

/// How Pods are scheduled together cannot change in kind.
// Upstream: pkg/apis/batch/validation/validation.go, validateJobSchedulingUpdate
fn validate_scheduling_update(spec: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    let (scheduling, old) = (spec.child("scheduling"), old.child("scheduling"));
    let (policy, old) = (
        scheduling.child("schedulingPolicy"),
        old.child("schedulingPolicy"),
    );
    let changes = policy.child("basic").is_set() != old.child("basic").is_set();
    if policy.is_set() && old.is_set() && changes {
        errors.invalid(
            policy,
            BadValue::Prepared("null".into()),
            "the basic/gang policy variant is immutable after creation; only schedulingPolicy.gang.minCount may be updated",
        );
    }
}

/// No more Pods can be needed at once than run at once.
// Upstream: pkg/apis/batch/validation/validation.go, validateGangMinCount
fn validate_gang(spec: &Node<'_, '_>, errors: &mut Errors) {
    let scheduling = spec.child("scheduling");
    let policy = scheduling.child("schedulingPolicy");
    let gang = policy.child("gang");
    let (count, parallelism) = (
        gang.child("minCount"),
        spec.child("parallelism").some_int().unwrap_or(1),
    );
    if count.int() > parallelism && count.is_set() {
        let detail = format!("must not be greater than parallelism ({parallelism})");
        errors.invalid(count, count.int(), &detail);
    }
}

/// Indexed Jobs are scaled by both numbers together.
// Upstream: pkg/apis/batch/validation/validation.go, validateCompletions
fn validate_completions(spec: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    let (field, old_field) = (spec.child("completions"), old.child("completions"));
    if field.value() == old_field.value() {
        return;
    }
    let value = field
        .some_int()
        .map_or(BadValue::Prepared("null".into()), BadValue::Int);
    let is_indexed = spec.child("completionMode").as_text() == "Indexed";
    let detail = if !is_indexed {
        IMMUTABLE
    } else if field.is_set() && spec.child("parallelism").value() != field.value() {
        "can only be modified in tandem with spec.parallelism"
    } else {
        return;
    };
    errors.invalid(field, value, detail);
}

/// The template may change while the Job is suspended, in some of its fields.
// Upstream: pkg/apis/batch/validation/validation.go, validatePodTemplateUpdate
fn validate_template_update(request: &Request<'_>, errors: &mut Errors) {
    let (spec, old) = (request.object.child("spec"), request.old.child("spec"));
    let (template, old_template) = (spec.child("template"), old.child("template"));
    if template.is_same(&old_template) {
        return;
    }
    let status = request.old.child("status");
    let is_suspended = old.child("suspend").is_true();
    let has_condition = status.child("conditions").items().any(|condition| {
        condition.child("type").as_text() == "Suspended" && condition.child("status").as_text() == "True"
    });
    let never_started = !status.child("startTime").is_set();
    let is_at_rest = is_suspended && (never_started || has_condition) && status.child("active").int() == 0;
    let gates = request.settings.gates;
    let mut allowed = old_template.value().owned_within("");
    let changes_scheduling = if gates.changes_job_scheduling {
        is_at_rest
    } else {
        is_suspended && never_started
    };
    if changes_scheduling {
        allow_scheduling(&mut allowed, template.value());
    }
    if gates.changes_job_resources && is_at_rest {
        allow_resources(&mut allowed, template.value());
        let allowed_spec = allowed
            .get("spec")
            .map_or(Value::Null, |spec| spec.owned_within(""));
        let new_spec = template.child("spec");
        if !crate::node::is_same(new_spec.value(), &allowed_spec) {
            // The path is written as one name.
            let template_path = spec.path().child("template.spec");
            errors.invalid(
                template_path,
                internal_json(errors.release(), "core.PodSpec", new_spec.value()),
                IMMUTABLE,
            );
        }
    } else if !crate::node::is_same(template.value(), &allowed) {
        errors.invalid(
            template,
            internal_json(errors.release(), "core.PodTemplateSpec", template.value()),
            IMMUTABLE,
        );
    }
}

/// Puts the new values of all that says where Pods run into the old template.
fn allow_scheduling(allowed: &mut Value<'static>, template: &Value<'_>) {
    let copy = |path: &[&str]| {
        template
            .at(path)
            .map_or(Value::Null, |value| value.owned_within(""))
    };
    let mut metadata = allowed.get("metadata").cloned().unwrap_or_default();
    if metadata.is_null() {
        metadata = pratique_json::Object::new().into();
    }
    for name in ["annotations", "labels"] {
        set_member(&mut metadata, name, copy(&["metadata", name]));
    }
    let is_absent = metadata.is_empty() && template.get("metadata").is_none();
    set_member(
        allowed,
        "metadata",
        if is_absent { Value::Null } else { metadata },
    );
    if let Some(spec) = allowed.get_mut("spec") {
        for name in ["nodeSelector", "tolerations", "schedulingGates"] {
            set_member(spec, name, copy(&["spec", name]));
        }
        let nodes = copy(&["spec", "affinity", "nodeAffinity"]);
        let has_new = template.at(&["spec", "affinity"]).is_some();
        if spec.get("affinity").is_none() && has_new {
            set_member(spec, "affinity", pratique_json::Object::new().into());
        }
        if let Some(affinity) = spec.get_mut("affinity") {
            set_member(affinity, "nodeAffinity", nodes);
            if affinity.is_empty() && !has_new {
                set_member(spec, "affinity", Value::Null);
            }
        }
    }
}

fn allow_resources(allowed: &mut Value<'static>, template: &Value<'_>) {
    for list in ["containers", "initContainers"] {
        let new = template
            .at(&["spec", list])
            .and_then(Value::as_array)
            .unwrap_or_default();
        let old = allowed.get_mut("spec").and_then(|spec| spec.get_mut(list));
        let Some(Value::Array(old)) = old else {
            continue;
        };
        if old.len() != new.len() {
            continue;
        }
        for (old, new) in old.iter_mut().zip(new) {
            if old.get("name") == new.get("name") {
                let resources = new
                    .get("resources")
                    .map_or(Value::Null, |value| value.owned_within(""));
                set_member(old, "resources", resources);
            }
        }
    }
}

fn set_member(object: &mut Value<'static>, name: &'static str, value: Value<'static>) {
    let Value::Object(members) = object else {
        return;
    };
    if value.is_null() {
        members.remove(name);
    } else {
        members.insert(name, value);
    }
}
