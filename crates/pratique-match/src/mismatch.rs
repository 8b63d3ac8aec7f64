//! Explains why a request does not match.

use std::fmt::{self, Display, Formatter};

use crate::equivalents::Equivalents;
use crate::request::{Namespaces, Target};
use crate::resources::MatchResources;
use crate::rules::Rule;

/// Why a request does not match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// No rule matches. For each rule in order, the field that does not match.
    Rules(Vec<RuleField>),
    /// An excluding rule matches.
    Excluded,
    /// The labels of the namespace are not those selected.
    NamespaceSelector,
    /// Neither the labels of the object nor those of the stored one are those selected.
    ObjectSelector,
}

/// A field of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleField {
    /// `operations`
    Operations,
    /// `apiGroups`
    ApiGroups,
    /// `apiVersions`
    ApiVersions,
    /// `resources`
    Resources,
    /// `scope`
    Scope,
    /// `resourceNames`
    ResourceNames,
}

impl MatchResources {
    /// Why a request does not match; `None` if it does, or if that cannot be decided.
    pub fn mismatch<'r>(
        &self,
        target: &Target<'r>,
        equivalents: &'r Equivalents,
        namespaces: &dyn Namespaces,
    ) -> Option<Mismatch> {
        if self.matches(target, equivalents, namespaces) != Ok(None) {
            return None;
        }
        let may_match = |rules: &crate::Rules| !matches!(rules.find(target, equivalents), Ok(None));
        Some(if !self.rules.is_empty() && !may_match(&self.rules) {
            let fields = self.rules.rules.iter().map(|rule| rule.mismatched_field(target));
            Mismatch::Rules(fields.collect())
        } else if self.namespace_matches(target, namespaces) == Ok(false) {
            Mismatch::NamespaceSelector
        } else if self.object_matches(target) == Ok(false) {
            Mismatch::ObjectSelector
        } else {
            Mismatch::Excluded
        })
    }
}

impl Rule {
    /// The first field that does not match the request; the name if all others do.
    fn mismatched_field(&self, target: &Target<'_>) -> RuleField {
        let resource = target.resource;
        let named =
            |pattern: &crate::rules::ResourcePattern| pattern.matches(&resource.resource, target.subresource);
        if !self.groups.contain(&resource.group) {
            RuleField::ApiGroups
        } else if !self.resources.iter().any(named) {
            RuleField::Resources
        } else if !self.versions.contain(&resource.version) {
            RuleField::ApiVersions
        } else if !self.operations.contains(&target.operation) {
            RuleField::Operations
        } else if !self.in_scope(target, resource) {
            RuleField::Scope
        } else {
            RuleField::ResourceNames
        }
    }
}

impl RuleField {
    /// The name of the field.
    pub fn name(self) -> &'static str {
        match self {
            RuleField::Operations => "operations",
            RuleField::ApiGroups => "apiGroups",
            RuleField::ApiVersions => "apiVersions",
            RuleField::Resources => "resources",
            RuleField::Scope => "scope",
            RuleField::ResourceNames => "resourceNames",
        }
    }
}

impl Display for Mismatch {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Mismatch::Rules(fields) => {
                formatter.write_str("no resource rule fits:")?;
                for (index, field) in fields.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    write!(formatter, "{comma} [{index}].{}", field.name())?;
                }
                Ok(())
            }
            Mismatch::Excluded => formatter.write_str("excludeResourceRules exclude it"),
            Mismatch::NamespaceSelector => {
                formatter.write_str("namespaceSelector does not select its namespace")
            }
            Mismatch::ObjectSelector => formatter.write_str("objectSelector does not select it"),
        }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::admissionregistration::v1 as api;
    use pratique_json::Value;
    use pratique_types::AdmissionRequest;

    use pratique_types::builtin::BuiltinResources;

    use super::*;

    struct Nowhere(Value<'static>);

    impl Namespaces for Nowhere {
        fn namespace<'a>(&'a self, _: &str) -> crate::Namespace<'a> {
            crate::Namespace::Stored(&self.0)
        }
    }

    #[track_caller]
    fn check(constraints: &str, expected: Option<&str>) {
        let selectors = r#""namespaceSelector":{},"objectSelector":{}"#;
        let constraints = constraints.replace("SELECTORS", selectors);
        let constraints: api::MatchResources = serde_json::from_str(&constraints).unwrap();
        let request: AdmissionRequest<'_> = serde_json::from_str(
            r#"{"kind":{"group":"","version":"v1","kind":"Pod"},"resource":{"group":"","version":"v1","resource":"pods"},
                "namespace":"n","name":"p","operation":"CREATE","object":{"metadata":{}}}"#,
        )
        .unwrap();
        let found = MatchResources::compile(Some(&constraints)).mismatch(
            &Target::new(&request),
            &Equivalents::of_release(BuiltinResources::latest()),
            &Nowhere(Value::Null),
        );
        assert_eq!(
            found.map(|mismatch| mismatch.to_string()).as_deref(),
            expected,
            "{constraints:?}"
        );
    }

    fn rule(operations: &str, groups: &str, versions: &str, resources: &str, more: &str) -> String {
        format!(
            r#"{{"operations":["{operations}"],"apiGroups":["{groups}"],"apiVersions":["{versions}"],"resources":["{resources}"]{more}}}"#
        )
    }

    #[test]
    fn a_rule_mismatch_names_the_field() {
        let rules = [
            rule("*", "apps", "v1", "pods", ""),
            rule("*", "", "v1", "services", ""),
            rule("*", "", "v2", "pods", ""),
            rule("DELETE", "", "v1", "pods", ""),
            rule("*", "", "v1", "pods", r#","scope":"Cluster""#),
            rule("*", "", "v1", "pods", r#","resourceNames":["q"]"#),
        ]
        .join(",");
        check(
            &format!(r#"{{"resourceRules":[{rules}],SELECTORS}}"#),
            Some(
                "no resource rule fits: [0].apiGroups, [1].resources, [2].apiVersions, [3].operations, [4].scope, [5].resourceNames",
            ),
        );
        let fits = rule("*", "*", "*", "*", "");
        check(&format!(r#"{{"resourceRules":[{fits}],SELECTORS}}"#), None);
        check(
            &format!(r#"{{"resourceRules":[{fits}],"excludeResourceRules":[{fits}],SELECTORS}}"#),
            Some("excludeResourceRules exclude it"),
        );
    }

    #[test]
    fn a_selector_mismatch_names_the_selector() {
        let labels = r#"{"matchLabels":{"a":"b"}}"#;
        check(
            &format!(r#"{{"namespaceSelector":{labels},"objectSelector":{{}}}}"#),
            Some("namespaceSelector does not select its namespace"),
        );
        check(
            &format!(r#"{{"namespaceSelector":{{}},"objectSelector":{labels}}}"#),
            Some("objectSelector does not select it"),
        );
    }
}
