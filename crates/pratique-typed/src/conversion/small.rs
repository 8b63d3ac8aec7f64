//! Kinds of which few fields have another name or place in some version. The hubs are the first stable versions.

use pratique_json::{Object, Value};

use super::{
    ApiVersion, ConversionError, ConversionFamily, annotate, annotation, any, drop_annotation, is_v1alpha1,
    is_v1beta1, none, part, parts, put, rename, take,
};

pub(super) const ACCESS_REVIEW: ConversionFamily =
    ConversionFamily::new(is_v1beta1, review_to_hub, review_from_hub);

fn review_to_hub(_: ApiVersion<'_>, review: &mut Object<'_>) -> Result<(), ConversionError> {
    if let Some(spec) = part(review, "spec") {
        rename(spec, "group", "groups");
    }
    Ok(())
}

fn review_from_hub(_: ApiVersion<'_>, review: &mut Object<'_>) -> Result<(), ConversionError> {
    if let Some(spec) = part(review, "spec") {
        rename(spec, "groups", "group");
    }
    Ok(())
}

pub(super) const API_SERVICE: ConversionFamily = ConversionFamily::new(any, none, api_service_from_hub);

pub(super) const WEBHOOK_CONFIGURATION: ConversionFamily =
    ConversionFamily::new(any, none, webhooks_from_hub);

fn api_service_from_hub(_: ApiVersion<'_>, api: &mut Object<'_>) -> Result<(), ConversionError> {
    part(api, "spec").into_iter().for_each(with_port);
    Ok(())
}

fn webhooks_from_hub(_: ApiVersion<'_>, configuration: &mut Object<'_>) -> Result<(), ConversionError> {
    let webhooks = parts(configuration, "webhooks");
    let clients = webhooks.filter_map(|webhook| part(webhook, "clientConfig"));
    clients.for_each(with_port);
    Ok(())
}

/// Gives the service of a client a port: internal versions have no null for it.
pub(super) fn with_port(client: &mut Object<'_>) {
    if let Some(service) = part(client, "service")
        && !service.contains_key("port")
    {
        service.insert("port", Value::Int(0));
    }
}

pub(super) const PRIORITY_LEVEL: ConversionFamily = ConversionFamily::new(any, level_to_hub, level_from_hub);

/// Distinguishes zero shares from an absent number of shares, in a version that has no null for it.
const PRESERVE_ZERO: &str = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";
const ASSURED: &str = "assuredConcurrencyShares";
const NOMINAL: &str = "nominalConcurrencyShares";

/// Whether a version calls the shares assured.
fn is_assured(version: &str) -> bool {
    is_v1beta1(version) || version.ends_with("/v1beta2")
}

fn level_to_hub(version: ApiVersion<'_>, level: &mut Object<'_>) -> Result<(), ConversionError> {
    if version.name.ends_with("/v1beta3") {
        drop_annotation(level, PRESERVE_ZERO);
    }
    let limited = part(level, "spec").and_then(|spec| part(spec, "limited"));
    if let Some(limited) = limited {
        if is_assured(version.name) {
            rename(limited, ASSURED, NOMINAL);
        }
        if limited.get(NOMINAL).is_none_or(Value::is_null) {
            limited.insert(NOMINAL, Value::Int(0));
        }
    }
    Ok(())
}

fn level_from_hub(version: ApiVersion<'_>, level: &mut Object<'_>) -> Result<(), ConversionError> {
    let Some(limited) = part(level, "spec").and_then(|spec| part(spec, "limited")) else {
        return Ok(());
    };
    let has_none = limited.get(NOMINAL).and_then(Value::as_int) == Some(0);
    if is_assured(version.name) {
        rename(limited, NOMINAL, ASSURED);
    }
    if version.name.ends_with("/v1beta3") && has_none && annotation(level, PRESERVE_ZERO).is_none() {
        annotate(level, PRESERVE_ZERO, "");
    }
    Ok(())
}

pub(super) const RUNTIME_CLASS: ConversionFamily =
    ConversionFamily::new(is_v1alpha1, class_to_hub, class_from_hub);

/// The fields that `v1alpha1` has in a spec: their names there, and in other versions.
const CLASS_FIELDS: [(&str, &str); 3] = [
    ("runtimeHandler", "handler"),
    ("overhead", "overhead"),
    ("scheduling", "scheduling"),
];

fn class_to_hub(_: ApiVersion<'_>, class: &mut Object<'_>) -> Result<(), ConversionError> {
    let Some(Value::Object(mut spec)) = class.remove("spec") else {
        return Ok(());
    };
    for (from, to) in CLASS_FIELDS {
        put(class, to, take(&mut spec, from));
    }
    Ok(())
}

fn class_from_hub(_: ApiVersion<'_>, class: &mut Object<'_>) -> Result<(), ConversionError> {
    let mut spec = Object::new();
    for (to, from) in CLASS_FIELDS {
        put(&mut spec, to, take(class, from));
    }
    class.insert("spec", spec);
    Ok(())
}
