//! `matchConstraints` and `matchResources`: rules and selectors together.

use k8s_openapi::api::admissionregistration::v1 as api;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use pratique_json::Value;
use pratique_types::{GroupVersionKind, GroupVersionResource, Operation};

use crate::equivalents::Equivalents;
use crate::request::{Namespace, Namespaces, Target};
use crate::rules::{MatchedRule, Rules};
use crate::selector::{InvalidSelector, Labels, Selector};

/// Compiled `MatchResources` of a policy, or the corresponding fields of a webhook.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MatchResources {
    pub(crate) rules: Rules,
    exclude: Rules,
    /// Why they never match.
    pub(crate) invalid: Option<MatchError>,
    namespace_selector: Result<Selector, InvalidSelector>,
    object_selector: Result<Selector, InvalidSelector>,
    /// Whether nothing matches without rules; otherwise everything does.
    needs_rule: bool,
}

/// The resource and kind that a request matched as; policies get its objects converted to this kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchedResource<'r> {
    /// The resource.
    pub resource: &'r GroupVersionResource,
    /// The kind.
    pub kind: &'r GroupVersionKind,
}

/// Why it cannot be decided whether a request matches, with an API server's message.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum MatchError {
    /// A policy has no `matchConstraints`.
    #[error("policy contained no match constraints, a required field")]
    NoConstraints,
    /// A selector is missing that the API sets by default.
    #[error("a nil {0} selector was passed, please ensure selectors are initialized properly")]
    NoSelector(&'static str),
    /// A selector is not valid.
    #[error("Internal error occurred: {0}")]
    InvalidSelector(#[from] InvalidSelector),
    /// The namespace of the request does not exist.
    #[error("namespaces \"{0}\" not found")]
    NamespaceNotFound(String),
    /// The request creates or updates a namespace, but does not contain it.
    #[error("Internal error occurred: object does not implement the Object interfaces")]
    NoMetadata,
    /// Everything else matches, and the namespace selector depends on unknown labels.
    #[error("the labels of namespace \"{name}\" are not known: {selector} selects by them")]
    UnknownLabels {
        /// The namespace.
        name: String,
        /// The selector, as `kubectl` takes it.
        selector: String,
    },
    /// Everything else matches, and the object selector depends on the stored object, which is missing.
    #[error("the stored object is not known: objectSelector {0} selects by its labels, too")]
    UnknownOldObject(String),
    /// Everything else matches, and the rules depend on the resource, which was only assumed from this kind.
    #[error("the resource of kind {kind} of {} is not known", .0.api_version(), kind = .0.kind)]
    UnknownResource(GroupVersionKind),
    /// The kind of an equivalent resource is not known.
    #[error("unable to convert to {0}: unknown kind")]
    UnknownKind(GroupVersionResource),
}

impl MatchResources {
    /// Whether an excluding rule matches. A version that is not served has no equivalents here: an API server has no requests
    /// for it.
    fn excludes(&self, target: &Target<'_>, equivalents: &Equivalents) -> Result<bool, MatchError> {
        Ok(match self.exclude.find(target, equivalents)? {
            None => false,
            Some(MatchedRule::Itself) => true,
            Some(MatchedRule::Other(_)) => equivalents.serve(target.resource, target.subresource),
        })
    }

    /// Compiles the `matchConstraints` of a policy. Errors show when a request matches the rest.
    pub fn compile(constraints: Option<&api::MatchResources>) -> Self {
        let Some(constraints) = constraints else {
            return MatchResources {
                invalid: Some(MatchError::NoConstraints),
                ..MatchResources::compile(Some(&api::MatchResources::default()))
            };
        };
        let match_policy = constraints.match_policy.as_deref();
        let rules = |rules: &Option<Vec<_>>| Rules::named(rules.as_deref().unwrap_or_default(), match_policy);
        let selectors = [
            ("namespace", &constraints.namespace_selector),
            ("object", &constraints.object_selector),
        ];
        let missing = selectors.iter().find(|(_, selector)| selector.is_none());
        let selector = |selector: &Option<_>| Selector::compile(&selector.clone().unwrap_or_default());
        MatchResources {
            rules: rules(&constraints.resource_rules),
            exclude: rules(&constraints.exclude_resource_rules),
            invalid: missing.map(|(name, _)| MatchError::NoSelector(name)),
            namespace_selector: selector(&constraints.namespace_selector),
            object_selector: selector(&constraints.object_selector),
            needs_rule: false,
        }
    }

    /// Compiles the rules and selectors of a webhook. A webhook without rules matches nothing.
    pub fn of_webhook(
        rules: &[api::RuleWithOperations],
        match_policy: Option<&str>,
        namespace_selector: Option<&LabelSelector>,
        object_selector: Option<&LabelSelector>,
    ) -> Self {
        let selector = |selector: Option<&LabelSelector>| {
            Selector::compile(selector.unwrap_or(&LabelSelector::default()))
        };
        MatchResources {
            rules: Rules::of_webhook(rules, match_policy),
            exclude: Rules::default(),
            invalid: None,
            namespace_selector: selector(namespace_selector),
            object_selector: selector(object_selector),
            needs_rule: true,
        }
    }

    /// Matches a request; gives the resource as which it matches.
    ///
    /// Errors of selectors come last: they count only where everything else matches.
    // Upstream: apiserver/pkg/admission/plugin/policy/matching/matching.go, Matcher.Matches
    pub fn matches<'r>(
        &self,
        target: &Target<'r>,
        equivalents: &'r Equivalents,
        namespaces: &dyn Namespaces,
    ) -> Result<Option<MatchedResource<'r>>, MatchError> {
        if let Some(error) = &self.invalid {
            return Err(error.clone());
        }
        // The reference evaluates the selectors first; as they have no effects, rules may come first.
        let rule_match = if self.rules.is_empty() && !self.needs_rule {
            Ok(Some(MatchedRule::Itself))
        } else {
            self.rules.find(target, equivalents)
        };
        if matches!(rule_match, Ok(None)) && self.exclude.is_empty() {
            return Ok(None);
        }
        let in_namespace = self.namespace_matches(target, namespaces);
        let selected = self.object_matches(target);
        if in_namespace == Ok(false) || selected == Ok(false) {
            return Ok(None);
        }
        match self.excludes(target, equivalents) {
            Ok(true) => return Ok(None),
            Err(MatchError::UnknownResource(_)) if matches!(rule_match, Ok(None)) => return Ok(None),
            excludes => drop(excludes?),
        }
        let Some(rule_match) = rule_match? else {
            return Ok(None);
        };
        in_namespace.and(selected)?;
        Ok(Some(match rule_match {
            MatchedRule::Itself => MatchedResource {
                resource: target.resource,
                kind: target.kind,
            },
            MatchedRule::Other(other) => MatchedResource {
                resource: &other.resource,
                kind: &other.kind,
            },
        }))
    }

    /// Whether namespaces are selected by labels other than that of their names.
    pub fn selects_namespaces(&self) -> bool {
        self.namespace_selector
            .as_ref()
            .is_ok_and(|selector| !selector.is_of_names())
    }

    pub(crate) fn namespace_matches(
        &self,
        target: &Target<'_>,
        namespaces: &dyn Namespaces,
    ) -> Result<bool, MatchError> {
        let selects = self.namespace_selector.as_ref();
        if target.assumes_resource && selects.is_ok_and(|selector| !selector.is_empty()) {
            // A selector selects objects outside of namespaces whatever it is, and an object that names no namespace may be in
            // any. One in a namespace that is selected matches, wherever its kind lives.
            let is_selected =
                !target.namespace.is_empty() && self.stored_namespace_matches(target, namespaces) == Ok(true);
            return if is_selected {
                Ok(true)
            } else {
                Err(MatchError::UnknownResource(target.kind.clone()))
            };
        }
        self.stored_namespace_matches(target, namespaces)
    }

    fn stored_namespace_matches(
        &self,
        target: &Target<'_>,
        namespaces: &dyn Namespaces,
    ) -> Result<bool, MatchError> {
        let is_namespace = target.resource.resource == "namespaces";
        if target.namespace.is_empty() && !is_namespace {
            return Ok(true);
        }
        let selector = self.namespace_selector.as_ref().map_err(Clone::clone)?;
        if selector.is_empty() {
            return Ok(true);
        }
        let writes = matches!(target.operation, Operation::Create | Operation::Update);
        if is_namespace && target.subresource.is_empty() && writes {
            // The stored namespace does not exist yet, or has the previous labels.
            let labels = target.labels_of(target.object).ok_or(MatchError::NoMetadata)?;
            return Ok(selector.matches(labels));
        }
        let name = target.namespace;
        match namespaces.namespace(name) {
            Namespace::Stored(namespace) => Ok(selector.matches(labels_at(namespace))),
            Namespace::Absent => Err(MatchError::NamespaceNotFound(name.to_owned())),
            Namespace::Named => {
                let matches = selector.matches_name(name);
                matches.ok_or_else(|| MatchError::UnknownLabels {
                    name: name.to_owned(),
                    selector: selector.to_string(),
                })
            }
        }
    }

    pub(crate) fn object_matches(&self, target: &Target<'_>) -> Result<bool, MatchError> {
        let selector = self.object_selector.as_ref().map_err(Clone::clone)?;
        let selects = |object| {
            target
                .labels_of(object)
                .is_some_and(|labels| selector.matches(labels))
        };
        if selector.is_empty() || selects(target.object) || selects(target.old_object) {
            return Ok(true);
        }
        if target.lacks_old_object {
            Err(MatchError::UnknownOldObject(selector.to_string()))
        } else {
            Ok(false)
        }
    }
}

fn labels_at<'a>(object: &'a Value<'a>) -> Labels<'a> {
    let labels = object.at(&["metadata", "labels"]);
    labels.map(Labels::new).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use pratique_types::builtin::BuiltinResources;

    use super::*;
    use pratique_types::AdmissionRequest;

    struct One<'a>(&'a str, Value<'a>);

    impl Namespaces for One<'_> {
        fn namespace<'a>(&'a self, name: &str) -> Namespace<'a> {
            (self.0 == name).then_some(&self.1).into()
        }
    }

    struct NamesOnly;

    impl Namespaces for NamesOnly {
        fn namespace<'a>(&'a self, _: &str) -> Namespace<'a> {
            Namespace::Named
        }
    }

    const REQUEST: &str = r#"{"kind":{"group":"","version":"v1","kind":"Pod"},
        "resource":{"group":"","version":"v1","resource":"pods"},"namespace":"n","operation":"CREATE",
        "object":{"metadata":{"labels":{"app":"a"}}}}"#;

    #[track_caller]
    fn check(constraints: &str, expected: Result<bool, &str>) {
        let namespace = pratique_json::parse(br#"{"metadata":{"labels":{"team":"x"}}}"#).unwrap();
        check_in(&One("n", namespace), constraints, expected);
    }

    #[track_caller]
    fn check_in(namespaces: &dyn Namespaces, constraints: &str, expected: Result<bool, &str>) {
        check_request(REQUEST, namespaces, constraints, expected);
    }

    #[track_caller]
    fn check_request(
        request: &str,
        namespaces: &dyn Namespaces,
        constraints: &str,
        expected: Result<bool, &str>,
    ) {
        let rules = r#""resourceRules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["pods"]}]"#;
        let text = format!("{{{rules},{constraints}}}");
        let constraints: api::MatchResources = serde_json::from_str(&text).unwrap();
        let request: AdmissionRequest<'_> = serde_json::from_str(request).unwrap();
        let matched = MatchResources::compile(Some(&constraints))
            .matches(
                &Target::new(&request),
                &Equivalents::of_release(BuiltinResources::latest()),
                namespaces,
            )
            .map(|matched| matched.is_some())
            .map_err(|error| error.to_string());
        assert_eq!(matched, expected.map_err(str::to_owned), "{text}");
    }

    #[test]
    fn selectors() {
        let both = |namespace: &str, object: &str| {
            format!(r#""namespaceSelector":{{{namespace}}},"objectSelector":{{{object}}}"#)
        };
        check(&both("", ""), Ok(true));
        check(
            &both(r#""matchLabels":{"team":"x"}"#, r#""matchLabels":{"app":"a"}"#),
            Ok(true),
        );
        check(&both(r#""matchLabels":{"team":"y"}"#, ""), Ok(false));
        check(&both("", r#""matchLabels":{"app":"b"}"#), Ok(false));
        let bad = r#""matchExpressions":[{"key":"a","operator":"Near"}]"#;
        check(
            &both(bad, ""),
            Err(r#"Internal error occurred: "Near" is not a valid label selector operator"#),
        );
        check(&both(bad, r#""matchLabels":{"app":"b"}"#), Ok(false));
    }

    #[test]
    fn names_settle_what_they_can() {
        let label = crate::NAME_LABEL;
        let selector = |requirements: &str, object: &str| {
            format!(
                r#""namespaceSelector":{{"matchExpressions":[{requirements}]}},"objectSelector":{{{object}}}"#
            )
        };
        let of = |key: &str, operator: &str, values: &str| {
            format!(r#"{{"key":"{key}","operator":"{operator}","values":[{values}]}}"#)
        };
        let named = of(label, "In", r#""n","m""#);
        let other = of(label, "NotIn", r#""n""#);
        let team = of("team", "Exists", "");
        check_in(&NamesOnly, &selector("", ""), Ok(true));
        check_in(&NamesOnly, &selector(&named, ""), Ok(true));
        check_in(&NamesOnly, &selector(&other, ""), Ok(false));
        check_in(&NamesOnly, &selector(&format!("{team},{other}"), ""), Ok(false));
        let unknown = r#"the labels of namespace "n" are not known: kubernetes.io/metadata.name in (n,m),team selects by them"#;
        check_in(
            &NamesOnly,
            &selector(&format!("{named},{team}"), ""),
            Err(unknown),
        );
        // A request that does not match otherwise does not depend on them.
        let excluded = format!(
            r#"{},"excludeResourceRules":[{{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}}]"#,
            selector(&team, "")
        );
        check_in(&NamesOnly, &excluded, Ok(false));
        check_in(
            &NamesOnly,
            &selector(&team, r#""matchLabels":{"app":"b"}"#),
            Ok(false),
        );
    }

    #[test]
    fn selectors_are_expected() {
        check(
            r#""objectSelector":{}"#,
            Err("a nil namespace selector was passed, please ensure selectors are initialized properly"),
        );
    }

    #[test]
    fn excluded() {
        check(
            r#""namespaceSelector":{},"objectSelector":{},"excludeResourceRules":
                [{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["*"]}]"#,
            Ok(false),
        );
    }

    #[test]
    fn what_is_not_served_is_not_excluded_as_another_version() {
        let excluded = |version: &str| {
            format!(
                r#""namespaceSelector":{{}},"objectSelector":{{}},"matchPolicy":"Equivalent","excludeResourceRules":
                    [{{"operations":["*"],"apiGroups":[""],"apiVersions":["{version}"],"resources":["pods"]}}]"#
            )
        };
        let later = REQUEST.replace("v1", "v9");
        let check = |request: &str, version: &str, expected: bool| {
            check_request(request, &NamesOnly, &excluded(version), Ok(expected));
        };
        check(REQUEST, "v1", false);
        check(&later, "v9", false);
        check(&later, "v1", true);
        check(REQUEST, "v9", true);
    }
}
