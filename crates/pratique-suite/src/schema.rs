//! The format of suites: its JSON Schema, from which the decoder and the documentation are derived.

use std::sync::LazyLock;

use pratique_manifest::FileSchema;
use serde_json::Value;

/// The `kind` of suites.
pub const KIND: &str = "Suite";

static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../data/suite.schema.json")).unwrap_or_default());

/// The format of suites.
pub(crate) static FORMAT: LazyLock<FileSchema> = LazyLock::new(|| FileSchema::new(&DOCUMENT));

/// The JSON Schema of suites.
pub fn schema() -> &'static Value {
    &DOCUMENT
}

#[cfg(test)]
mod tests {
    use super::*;
    use pratique_state::API_VERSION;

    use crate::decision::expectable_names;
    use crate::plugin_outcome::PluginOutcome;
    use crate::policy_outcome::PolicyOutcome;

    #[test]
    fn references_lead_somewhere() {
        let text = schema().to_string();
        for rest in text.split("\"$ref\":\"#/definitions/").skip(1) {
            let name = rest.split('"').next().unwrap();
            assert!(FORMAT.types().named(name).is_some(), "{name}");
        }
    }

    #[test]
    fn rules_are_those_of_files_of_rules() {
        for name in ["Authorizer", "AuthorizerRule"] {
            let path = format!("/definitions/{name}");
            assert_eq!(
                schema().pointer(&path),
                pratique_state::rules_schema().pointer(&path),
                "{name}"
            );
        }
    }

    #[test]
    fn names_are_those_of_the_code() {
        let is = |path: &str, names: &[&str]| {
            let listed = schema().pointer(&format!("/definitions/{path}/enum")).unwrap();
            assert_eq!(*listed, serde_json::json!(names), "{path}");
        };
        is("Suite/properties/apiVersion", &[API_VERSION]);
        is("Suite/properties/kind", &[KIND]);
        is("Expectation/properties/verdict", &expectable_names());
        is("Test/properties/expect/anyOf/0", &expectable_names());
        is("Row/properties/expect/anyOf/0", &expectable_names());
        is(
            "Test/properties/expectObjects/additionalProperties/anyOf/0",
            &expectable_names(),
        );
        let outcome = |field| format!("Expectation/properties/{field}/additionalProperties");
        is(&outcome("policies"), PolicyOutcome::NAMES);
        is(&outcome("bindings"), PolicyOutcome::NAMES);
        is(&outcome("plugins"), PluginOutcome::NAMES);
    }
}
