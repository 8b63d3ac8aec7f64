//! Events, of the core and of their own group, which names some fields otherwise and is stricter.

use pratique_gotext::time::Timestamp;
use pratique_gotext::validation::{dns1123_subdomain, qualified_name};

use super::{KindRules, Request};
use crate::errors::{Errors, IMMUTABLE};
use crate::internal::internal_json;
use crate::messages::subdomain_name;
use crate::node::Node;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};

pub(super) const KINDS: &[KindRules] = &[
    KindRules {
        group: "",
        kind: "Event",
        is_namespaced: true,
        create: |request, errors| validate_legacy(&request.object, &CORE, errors),
        update: |request, errors| validate_legacy(&request.object, &CORE, errors),
        subresources: &[],
    },
    KindRules {
        group: "events.k8s.io",
        kind: "Event",
        is_namespaced: true,
        create: validate_event,
        update: validate_event_update,
        subresources: &[],
    },
];

/// How a group names fields that both groups have.
struct FieldNames {
    involved_object: &'static str,
    reporting_controller: &'static str,
    message: &'static str,
}

const CORE: FieldNames = FieldNames {
    involved_object: "involvedObject",
    reporting_controller: "reportingComponent",
    message: "message",
};

const EVENTS: FieldNames = FieldNames {
    involved_object: "regarding",
    reporting_controller: "reportingController",
    message: "note",
};

// Upstream: pkg/apis/core/validation/events.go, legacyValidateEvent
fn validate_legacy(event: &Node<'_, '_>, names: &FieldNames, errors: &mut Errors) {
    validate_legacy_fields(event, names, errors);
    // Until 1.36.
    if !errors.release().at_least(1, 37) {
        let namespace = event.child("metadata").child("namespace").as_text();
        for message in dns1123_subdomain(namespace) {
            errors.invalid("namespace", namespace, &message);
        }
    }
}

fn validate_legacy_fields(event: &Node<'_, '_>, names: &FieldNames, errors: &mut Errors) {
    let namespace = event.child("metadata").child("namespace").as_text();
    let involved = event.child_as(names.involved_object, "involvedObject");
    let involved = involved.child("namespace");
    let is_new = is_time(&event.child("eventTime"));
    let is_match = match (involved.as_text(), is_new) {
        ("", false) => ["", "default"].contains(&namespace),
        ("", true) => ["default", "kube-system"].contains(&namespace),
        (involved, false) => involved == namespace,
        (_, true) => true,
    };
    if !is_match {
        errors.invalid_or_empty(&involved, "does not match event.namespace");
    }
    if !is_new {
        return;
    }
    let controller = event.child(names.reporting_controller);
    if controller.as_text().is_empty() {
        errors.required(controller, "");
    }
    for message in qualified_name(controller.as_text()) {
        errors.invalid_or_empty(&controller, &message);
    }
    for (name, error_name, limit) in [
        ("reportingInstance", "reportingInstance", 128),
        ("action", "action", 128),
        ("reason", "reason", 128),
        (names.message, "message", 1024),
    ] {
        let field = event.child_as(name, error_name);
        if field.as_text().is_empty() && error_name != "message" {
            errors.required(field, "");
        }
        if field.as_text().len() > limit {
            errors.invalid(field, "", &format!("can have at most {limit} characters"));
        }
    }
}

/// Whether a time is set and not the zero time.
fn is_time(time: &Node<'_, '_>) -> bool {
    !time.as_text().is_empty()
        && time.as_text() != "0001-01-01T00:00:00.000000Z"
        && time.as_text() != "0001-01-01T00:00:00Z"
}

// Upstream: pkg/apis/core/validation/events.go, ValidateEventCreate
fn validate_event(request: &Request<'_>, errors: &mut Errors) {
    let event = &request.object;
    validate_legacy(event, &EVENTS, errors);
    validate_core_meta(&event.child("metadata"), true, subdomain_name, errors);
    validate_series(event, errors);
    let (time, kind) = (event.child("eventTime"), event.child("type"));
    if !is_time(&time) {
        errors.required(time, "");
    }
    if !["Normal", "Warning"].contains(&kind.as_text()) {
        errors.invalid(kind, "", &format!("has invalid value: {}", kind.as_text()));
    }
    let source = event.child("deprecatedSource");
    let has_source = ["component", "host"]
        .iter()
        .any(|name| !source.child(name).as_text().is_empty());
    for (is_given, error_name) in [
        (
            is_time(&event.child("deprecatedFirstTimestamp")),
            "firstTimestamp",
        ),
        (is_time(&event.child("deprecatedLastTimestamp")), "lastTimestamp"),
        (event.child("deprecatedCount").int() != 0, "count"),
        (has_source, "source"),
    ] {
        if is_given {
            errors.invalid(error_name, "", "needs to be unset");
        }
    }
}

// Upstream: pkg/apis/core/validation/events.go, validateV1EventSeries
fn validate_series(event: &Node<'_, '_>, errors: &mut Errors) {
    let series = event.child("series");
    if !series.is_set() {
        return;
    }
    let (count, time) = (series.child("count"), series.child("lastObservedTime"));
    if count.int() < 2 {
        errors.invalid(count, "", "should be at least 2");
    }
    if !is_time(&time) {
        errors.required(time, "");
    }
}

/// The fields that may not change: how they are written, how errors name them, and their internal types.
const IMMUTABLE_FIELDS: &[(&str, &str, &str)] = &[
    ("regarding", "involvedObject", "core.ObjectReference"),
    ("reason", "reason", "string"),
    ("note", "message", "string"),
    ("deprecatedSource", "source", "core.EventSource"),
    ("deprecatedFirstTimestamp", "firstTimestamp", "metav1.Time"),
    ("deprecatedLastTimestamp", "lastTimestamp", "metav1.Time"),
    ("deprecatedCount", "count", "int32"),
    ("reason", "reason", "string"),
    ("type", "type", "string"),
    ("eventTime", "eventTime", "metav1.MicroTime"),
    ("action", "action", "string"),
    ("related", "related", "*core.ObjectReference"),
    ("reportingController", "reportingController", "string"),
    ("reportingInstance", "reportingInstance", "string"),
];

// Upstream: pkg/apis/core/validation/events.go, ValidateEventUpdate
fn validate_event_update(request: &Request<'_>, errors: &mut Errors) {
    let (event, old) = (&request.object, &request.old);
    validate_legacy(event, &EVENTS, errors);
    validate_core_meta_update(&event.child("metadata"), &old.child("metadata"), errors);
    if event.child("series").value() != old.child("series").value() {
        validate_series(event, errors);
    }
    for (name, error_name, type_name) in IMMUTABLE_FIELDS {
        let (field, old) = (event.child_as(name, error_name), old.child(name));
        if field.is_same(&old) || *name == "eventTime" && is_same_moment(field.as_text(), old.as_text()) {
            continue;
        }
        if *type_name == "string" {
            errors.invalid_or_empty(&field, IMMUTABLE);
        } else {
            errors.invalid(
                field,
                internal_json(errors.release(), type_name, field.value()),
                IMMUTABLE,
            );
        }
    }
}

/// Whether two times are the same but for fractions of microseconds, which not every client keeps.
fn is_same_moment(one: &str, other: &str) -> bool {
    let microseconds = |text: &str| {
        let time = Timestamp::parse(text).ok()?;
        Some((time.seconds(), time.nanos() / 1000))
    };
    microseconds(one) == microseconds(other)
}
