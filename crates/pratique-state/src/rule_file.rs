//! Files of authorization rules, as suites have them in `cluster.authorizer`.

use std::sync::LazyLock;

use pratique::authorization::AuthorizerDecision;
use pratique_manifest::{FileSchema, ManifestFile, MappingFields, Problem, read_documents};
use serde_json::Value;

use crate::authorizer::{Rule, Rules};

/// The struct of a file.
const AUTHORIZER: &str = "Authorizer";

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../data/authorizer.schema.json")).unwrap_or_default()
});

static FORMAT: LazyLock<FileSchema> = LazyLock::new(|| FileSchema::new(&DOCUMENT));

/// The JSON Schema of files of rules.
pub fn rules_schema() -> &'static Value {
    &DOCUMENT
}

/// Reads the authorizer rules of a file with a field `authorizer`, as in a suite's `cluster.authorizer`.
///
/// # Errors
/// All problems, with locations.
pub fn read_rules(file: &ManifestFile) -> Result<Rules, Vec<Problem>> {
    let documents = read_documents(file).map_err(|errors| errors.problems().cloned().collect::<Vec<_>>())?;
    let mut rules = Vec::new();
    if documents.is_empty() {
        let message =
            "expected a field `authorizer` with rules: `authorizer: []` has none, and allows nothing";
        return Err(vec![Problem::new(pratique_manifest::Rule::InvalidField, message)]);
    }
    for document in documents {
        let source = document.source;
        let mut problems = document.duplicates;
        problems.extend(FORMAT.problems(&source, AUTHORIZER));
        if !problems.is_empty() {
            return Err(problems);
        }
        let fields = |id| MappingFields {
            tree: source.tree(),
            id,
        };
        let listed = fields(source.root()).list("authorizer").into_iter();
        rules.extend(listed.map(|id| Rule::from_fields(&fields(id))));
    }
    Ok(Rules(rules))
}

impl Rule {
    /// The rule of a mapping that was validated.
    pub fn from_fields(fields: &MappingFields<'_>) -> Self {
        Rule {
            users: fields.texts("users"),
            groups: fields.texts("groups"),
            verbs: fields.texts("verbs"),
            api_groups: fields.texts("apiGroups"),
            resources: fields.texts("resources"),
            resource_names: fields.texts("resourceNames"),
            namespaces: fields.texts("namespaces"),
            non_resource_urls: fields.texts("nonResourceURLs"),
            decision: AuthorizerDecision {
                allowed: fields.bool("allow").unwrap_or(true),
                reason: fields.read_text("reason").unwrap_or_default(),
                error: fields.read_text("error"),
            },
        }
    }
}
