//! Warnings about CustomResourceDefinitions that a server accepts.

use std::collections::BTreeSet;

use pratique_gotext::strconv::quote;
use pratique_json::{Value, text_at};
use pratique_schema::Release;

use crate::definition_rules::{distinct_schemas, has_schema};
use crate::schema::is_unrecognized_format;

/// A server's warnings about a definition, but for those that it gave of the existing one.
// Upstream: apiextensions-apiserver/pkg/registry/customresourcedefinition/strategy.go, WarningsOnCreate, WarningsOnUpdate
pub fn definition_warnings(
    definition: &Value<'_>,
    old: Option<&Value<'_>>,
    release: &Release,
) -> Vec<String> {
    let unrecognized = |definition: &Value<'_>| unrecognized_formats(definition, release);
    let known = old.map(unrecognized).unwrap_or_default();
    let mut formats = unrecognized(definition);
    formats.retain(|format| !known.contains(format));
    let formats = formats.iter();
    let mut warnings: Vec<String> = formats
        .map(|format| format!("unrecognized format {}", quote(format)))
        .collect();
    // Upstream: apiextensions-apiserver/pkg/registry/customresourcedefinition/strategy.go, getNonScalarListTypeSetWarnings, since 1.37
    if !release.at_least(1, 37) {
        return warnings;
    }
    let known = old.map(wide_sets).unwrap_or_default();
    let wide = wide_sets(definition);
    warnings.extend(wide.difference(&known).map(|of| {
        format!(
            "x-kubernetes-list-type: set for items of type {} is not supported by server-side apply or CEL validation rules",
            quote(of)
        )
    }));
    warnings
}

fn search(definition: &Value<'_>, visit: &mut dyn FnMut(&Value<'_>)) {
    for schema in distinct_schemas(definition) {
        has_schema(schema, &mut |schema| {
            visit(schema);
            false
        });
    }
}

fn unrecognized_formats(definition: &Value<'_>, release: &Release) -> Vec<String> {
    let mut formats = Vec::new();
    search(definition, &mut |schema| {
        let (of, format) = (text_at(schema, &["type"]), text_at(schema, &["format"]));
        if !format.is_empty() && is_unrecognized_format(of, format, release) {
            formats.push(format.to_owned());
        }
    });
    formats
}

/// The types of the items of sets that are no scalars.
fn wide_sets(definition: &Value<'_>) -> BTreeSet<String> {
    let mut types = BTreeSet::new();
    search(definition, &mut |schema| {
        let of = text_at(schema, &["items", "type"]);
        if text_at(schema, &["x-kubernetes-list-type"]) == "set" && matches!(of, "object" | "array") {
            types.insert(of.to_owned());
        }
    });
    types
}
