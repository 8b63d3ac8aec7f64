//! Definitions of custom resources, whose rules are expressions, too.

use std::cell::OnceCell;

use pratique_json::Value;
use pratique_manifest::{ObjectSource, PathStep};
use pratique_sample::{CustomDefinition, CustomKind};
use pratique_types::GroupVersionKind;

use super::path;

/// A definition of a custom resource.
pub(crate) struct DefinitionView<'m> {
    pub(crate) source: &'m ObjectSource,
    /// Its rules, and the expressions of their messages.
    pub(crate) rules: Vec<DefinitionRule>,
    definition: &'m CustomDefinition,
    failures: OnceCell<Vec<RuleFailure>>,
}

/// An expression of a definition.
pub(crate) struct DefinitionRule {
    /// The version in whose schema it is.
    pub(crate) version: String,
    pub(crate) path: Vec<PathStep>,
    pub(crate) text: String,
}

/// A rule that fails for an object without a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RuleFailure {
    /// The rule, as the server's error shows it.
    pub(crate) rule: String,
    /// The key that is missing.
    pub(crate) key: String,
    /// The path of the field.
    pub(crate) without: String,
    pub(crate) kind: GroupVersionKind,
    /// The object, as JSON.
    pub(crate) object: String,
}

/// The maximum depth of schemas.
const MOST_DEPTH: usize = 64;
/// What stands between an error and the rule in a server's text.
const BEFORE_RULE: &str = " evaluating rule: ";

impl<'m> DefinitionView<'m> {
    pub(crate) fn new(source: &'m ObjectSource, definition: &'m CustomDefinition) -> Self {
        let mut rules = Vec::new();
        let versions = definition
            .value()
            .at(&["spec", "versions"])
            .and_then(Value::as_array);
        for (index, version) in versions.into_iter().flatten().enumerate() {
            let name = version.get("name").and_then(Value::as_str).unwrap_or_default();
            if let Some(schema) = version.at(&["schema", "openAPIV3Schema"]) {
                let at = path(&format!("spec.versions[{index}].schema.openAPIV3Schema"));
                collect_rules((name, schema), &at, 0, &mut rules);
            }
        }
        DefinitionView {
            source,
            rules,
            definition,
            failures: OnceCell::new(),
        }
    }

    /// The rules that fail for generated objects which are valid apart from that.
    pub(crate) fn failures(&self) -> &[RuleFailure] {
        self.failures.get_or_init(|| {
            self.definition
                .kinds()
                .iter()
                .flat_map(failures_of_kind)
                .collect()
        })
    }
}

/// What fails for an object without one of the fields, and is all that a server has against it.
fn failures_of_kind(kind: &CustomKind) -> Vec<RuleFailure> {
    let samples = kind.samples();
    let mut samples = samples.iter();
    let Some(whole) = samples.next() else {
        return Vec::new();
    };
    let (_, known) = kind.receive(&whole.object);
    let mut failures = Vec::new();
    for sample in samples {
        let (object, errors) = kind.receive(&sample.object);
        let own: Vec<&String> = errors.iter().filter(|error| !known.contains(error)).collect();
        let failed: Option<Vec<RuleFailure>> = own
            .into_iter()
            .map(|error| {
                let (fault, rule) = error.split_once(BEFORE_RULE)?;
                let (_, key) = fault.rsplit_once("no such key: ")?;
                Some(RuleFailure {
                    rule: rule.to_owned(),
                    key: key.to_owned(),
                    without: sample.without.join("."),
                    kind: kind.served.kind.clone(),
                    object: object.to_string(),
                })
            })
            .collect();
        failures.extend(failed.unwrap_or_default());
    }
    failures
}

/// The rules of a version's schema and of those below it. Recursion is safe: its depth is bounded.
fn collect_rules(
    (version, schema): (&str, &Value<'_>),
    at: &[PathStep],
    depth: usize,
    rules: &mut Vec<DefinitionRule>,
) {
    if depth > MOST_DEPTH {
        return;
    }
    let within = |steps: &[&str]| {
        let steps = steps.iter().map(|step| PathStep::Field((*step).to_owned()));
        at.iter().cloned().chain(steps).collect::<Vec<PathStep>>()
    };
    let own = schema.get("x-kubernetes-validations").and_then(Value::as_array);
    for (index, rule) in own.into_iter().flatten().enumerate() {
        for field in ["rule", "messageExpression"] {
            if let Some(text) = rule.get(field).and_then(Value::as_str) {
                let mut path = within(&["x-kubernetes-validations"]);
                path.push(PathStep::Index(index));
                path.push(PathStep::Field(field.to_owned()));
                rules.push(DefinitionRule {
                    version: version.to_owned(),
                    path,
                    text: text.to_owned(),
                });
            }
        }
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flat_map(|properties| properties.iter()) {
        collect_rules(
            (version, schema),
            &within(&["properties", name]),
            depth + 1,
            rules,
        );
    }
    for name in ["items", "additionalProperties"] {
        if let Some(schema @ Value::Object(_)) = schema.get(name) {
            collect_rules((version, schema), &within(&[name]), depth + 1, rules);
        }
    }
}
