//! CustomResourceDefinitions. The hub is `v1beta1`, in which fields of versions may also be set for all
//! versions at once.

use pratique_json::{Object, Value};

use super::small::with_port;
use super::{ApiVersion, ConversionError, ConversionFamily, is_v1beta1, part, parts, put, rename, take};

pub(super) const DEFINITION: ConversionFamily =
    ConversionFamily::new(|version| !is_v1beta1(version), to_hub, from_hub);

/// The fields that may be set for all versions: their names in the spec, and in a version.
const SHARED: [(&str, &str); 4] = [
    ("additionalPrinterColumns", "additionalPrinterColumns"),
    ("selectableFields", "selectableFields"),
    ("subresources", "subresources"),
    ("validation", "schema"),
];

fn to_hub(_: ApiVersion<'_>, definition: &mut Object<'_>) -> Result<(), ConversionError> {
    let Some(spec) = part(definition, "spec") else {
        return Ok(());
    };
    if !spec.contains_key("preserveUnknownFields") {
        spec.insert("preserveUnknownFields", Value::Bool(false));
    }
    if let Some(conversion) = part(spec, "conversion")
        && let Some(Value::Object(mut webhook)) = conversion.remove("webhook")
    {
        put(
            conversion,
            "conversionReviewVersions",
            take(&mut webhook, "conversionReviewVersions"),
        );
        put(
            conversion,
            "webhookClientConfig",
            take(&mut webhook, "clientConfig"),
        );
        part(conversion, "webhookClientConfig")
            .into_iter()
            .for_each(with_port);
    }
    for version in parts(spec, "versions") {
        parts(version, "additionalPrinterColumns").for_each(|column| rename(column, "jsonPath", "JSONPath"));
    }
    for (of_all, of_one) in SHARED {
        let mut values = parts(spec, "versions").map(|version| version.get(of_one).cloned());
        let first = values.next().flatten();
        if values.all(|other| other == first) {
            drop(values);
            parts(spec, "versions").for_each(|version| drop(version.remove(of_one)));
            put(spec, of_all, first);
        }
    }
    let first = parts(spec, "versions")
        .next()
        .and_then(|version| version.get("name").cloned());
    put(spec, "version", first);
    Ok(())
}

fn from_hub(_: ApiVersion<'_>, definition: &mut Object<'_>) -> Result<(), ConversionError> {
    let Some(spec) = part(definition, "spec") else {
        return Ok(());
    };
    if let Some(conversion) = part(spec, "conversion") {
        let versions = take(conversion, "conversionReviewVersions");
        let client = take(conversion, "webhookClientConfig");
        if versions.is_some() || client.is_some() {
            let mut webhook = Object::new();
            put(&mut webhook, "conversionReviewVersions", versions);
            put(&mut webhook, "clientConfig", client);
            part(&mut webhook, "clientConfig").into_iter().for_each(with_port);
            conversion.insert("webhook", webhook);
        }
    }
    let name = take(spec, "version").filter(|name| !name.is_empty());
    let has_versions = parts(spec, "versions").next().is_some();
    if let Some(name) = name.filter(|_| !has_versions) {
        let version = [("name", name), ("served", true.into()), ("storage", true.into())];
        let version = version.map(|(field, value)| (field.into(), value));
        let versions = vec![Value::Object(version.into_iter().collect())];
        spec.insert("versions", Value::Array(versions));
    }
    for (of_all, of_one) in SHARED {
        if let Some(value) = take(spec, of_all) {
            for version in parts(spec, "versions") {
                version.insert(of_one, value.clone());
            }
        }
    }
    for version in parts(spec, "versions") {
        parts(version, "additionalPrinterColumns").for_each(|column| rename(column, "JSONPath", "jsonPath"));
    }
    Ok(())
}
