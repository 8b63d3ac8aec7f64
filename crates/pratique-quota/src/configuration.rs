//! The configuration file of the plugin.

use pratique_manifest::{
    ConfigurationFault, ConfigurationKind, Failure, FieldStrictness, decode_plugin_configuration,
};
use pratique_schema::Release;
use serde_json::Value as Json;

use crate::{LimitedResource, ScopeSelector};

const GROUP: &str = "apiserver.config.k8s.io";
const KIND: &str = "ResourceQuotaConfiguration";
const LEGACY_GROUP: &str = "resourcequota.admission.k8s.io";
const LEGACY: &str = "Configuration";

/// The kinds, which have the same fields.
const KINDS: [ConfigurationKind; 5] = [
    ConfigurationKind::new(GROUP, "v1", KIND, "resourcequota/v1.Configuration"),
    ConfigurationKind::new(
        LEGACY_GROUP,
        "v1beta1",
        LEGACY,
        "resourcequota/v1beta1.Configuration",
    ),
    ConfigurationKind::new(
        LEGACY_GROUP,
        "v1alpha1",
        LEGACY,
        "resourcequota/v1alpha1.Configuration",
    ),
    ConfigurationKind::internal(GROUP, KIND),
    ConfigurationKind::internal(LEGACY_GROUP, LEGACY),
];

/// Reads a configuration file, as a server of a release does when it starts.
///
/// # Errors
/// The server would not start.
// Upstream: pkg/admission/plugin/resourcequota/config.go, LoadConfiguration
pub fn read_limited_resources(
    path: &str,
    text: &[u8],
    release: &'static Release,
) -> Result<Vec<LimitedResource>, Failure> {
    let decoded = decode_plugin_configuration(path, text, &KINDS, (FieldStrictness::Strict, release))?;
    let limited = elements(member(decoded.value(), "limitedResources"));
    let limited: Vec<LimitedResource> = limited.map(limited_resource).collect();
    let without = limited.iter().enumerate();
    let without = without.filter_map(|(index, limited)| limited.resource.is_empty().then_some(index));
    let faults: Vec<ConfigurationFault> = without.map(required).collect();
    if faults.is_empty() {
        Ok(limited)
    } else {
        Err(decoded.invalid(ConfigurationFault::aggregate(&faults), &faults))
    }
}

fn limited_resource(decoded: &Json) -> LimitedResource {
    LimitedResource {
        api_group: json_text(member(decoded, "apiGroup")),
        resource: json_text(member(decoded, "resource")),
        match_contains: elements(member(decoded, "matchContains"))
            .map(json_text)
            .collect(),
        match_scopes: elements(member(decoded, "matchScopes")).map(scope).collect(),
    }
}

fn scope(decoded: &Json) -> ScopeSelector {
    let values = decoded.get("values").and_then(Json::as_array);
    let values = values.map(|values| values.iter().map(json_text).collect());
    ScopeSelector::new(
        json_text(member(decoded, "scopeName")),
        json_text(member(decoded, "operator")),
        values,
    )
}

/// A field, null where it is missing.
fn member<'a>(value: &'a Json, name: &str) -> &'a Json {
    value.get(name).unwrap_or(&Json::Null)
}

fn elements(list: &Json) -> impl Iterator<Item = &Json> {
    list.as_array().into_iter().flatten()
}

fn json_text(value: &Json) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

// Upstream: pkg/admission/plugin/resourcequota/apis/resourcequota/validation/validation.go, ValidateConfiguration
fn required(index: usize) -> ConfigurationFault {
    let field = format!("limitedResources[{index}].resource");
    let message = format!("{field}: Required value");
    ConfigurationFault::new(field, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fields: &str) -> Result<Vec<LimitedResource>, String> {
        let text = format!("apiVersion: {LEGACY_GROUP}/v1beta1\nkind: Configuration\n{fields}");
        read_limited_resources("quota.yaml", text.as_bytes(), Release::latest())
            .map_err(|failure| failure.text)
    }

    #[test]
    fn limited_resources() {
        let limited = read(
            "limitedResources:\n- {resource: pods, matchContains: [cpu], matchScopes: [{scopeName: PriorityClass, \
             operator: In, values: [high]}]}\n",
        );
        let limited = limited.unwrap();
        assert_eq!(limited.len(), 1);
        assert_eq!(limited[0].match_contains, ["cpu"]);
        assert_eq!(
            limited[0].match_scopes[0].to_string(),
            "{PriorityClass In [high]}"
        );
    }

    #[test]
    fn errors() {
        assert_eq!(
            read("limitedResources: [{apiGroup: apps, resource: ''}, {resource: x}, {resource: ''}]\n")
                .unwrap_err(),
            "[limitedResources[0].resource: Required value, limitedResources[2].resource: Required value]"
        );
        assert_eq!(
            read("limitedResources: [{resource: x, odd: 1}]\n").unwrap_err(),
            "strict decoding error: unknown field \"limitedResources[0].odd\""
        );
    }
}
