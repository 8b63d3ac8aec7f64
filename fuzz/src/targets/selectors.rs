//! Matching of requests: selectors and rules.

use std::collections::BTreeMap;

use arbitrary::Unstructured;
use k8s_openapi::api::admissionregistration::v1::MatchResources as Constraints;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};
use pratique_json::{self as json, Object, Value};
use pratique_match::{
    Equivalents, Labels, MatchIndex, MatchResources, Namespace, Namespaces, Selector, Target,
};
use pratique_schema::Release;
use pratique_types::AdmissionRequest;

use crate::input::{self, InputForm};

/// A selector and labels, or the constraints of a policy and a request. A selector selects what a model of it does; the
/// index finds whatever matches.
pub fn selectors(input: &[u8]) {
    match input::read(input, 2) {
        None => {}
        Some(InputForm::Text(parts)) => {
            let [first, second] = parts.as_slice() else {
                return;
            };
            if let (Ok(selector), Ok(labels)) = (serde_json::from_slice(first), json::parse(second)) {
                selected(&selector, &labels);
            }
            if let (Ok(constraints), Ok(request)) =
                (serde_json::from_slice(first), serde_json::from_slice(second))
            {
                matched(&constraints, &request);
            }
        }
        Some(InputForm::Choices(mut choices)) => {
            let labels: Object<'static> = members(&mut choices)
                .into_iter()
                .map(|(key, value)| (key.into(), value.into()))
                .collect();
            selected(&selector(&mut choices), &Value::Object(labels));
        }
    }
}

fn selected(selector: &LabelSelector, labels: &Value<'_>) {
    match Selector::compile(selector) {
        Ok(compiled) => {
            let expected = model(selector, labels);
            assert_eq!(
                compiled.matches(Labels::new(labels)),
                expected,
                "{selector:?} of {labels}"
            );
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Whether labels are selected, as the API describes it.
fn model(selector: &LabelSelector, labels: &Value<'_>) -> bool {
    // What is not a text makes all labels none.
    let members = labels.as_object().into_iter().flat_map(Object::iter);
    let texts: Option<BTreeMap<&str, &str>> =
        members.map(|(key, value)| Some((key, value.as_str()?))).collect();
    let texts = texts.unwrap_or_default();
    let equal = selector.match_labels.iter().flatten();
    let mut expressions = selector.match_expressions.iter().flatten();
    equal
        .into_iter()
        .all(|(key, value)| texts.get(&**key) == Some(&&**value))
        && expressions.all(|requirement| {
            let label = texts.get(&*requirement.key);
            let values = requirement.values.as_deref().unwrap_or_default();
            let is_one = label.is_some_and(|label| values.iter().any(|value| value == label));
            match &*requirement.operator {
                "In" => is_one,
                "NotIn" => !is_one,
                "Exists" => label.is_some(),
                _ => label.is_none(),
            }
        })
}

/// Namespaces of which only the names are known.
struct NamedNamespaces;

impl Namespaces for NamedNamespaces {
    fn namespace<'a>(&'a self, _: &str) -> Namespace<'a> {
        Namespace::Named
    }
}

fn matched(constraints: &Constraints, request: &AdmissionRequest<'_>) {
    let equivalents = Equivalents::of_release(Release::latest().resources());
    let compiled = MatchResources::compile(Some(constraints));
    let target = Target::new(request);
    let result = compiled.matches(&target, &equivalents, &NamedNamespaces);
    let candidates = MatchIndex::new([&compiled]).candidates(&target, &equivalents);
    if !matches!(result, Ok(None)) {
        assert_eq!(candidates, [0], "{constraints:?} {request:?}: {result:?}");
    }
    assert_eq!(compiled.matches(&target, &equivalents, &NamedNamespaces), result);
}

fn selector(choices: &mut Unstructured<'_>) -> LabelSelector {
    const OPERATORS: [&str; 5] = ["In", "NotIn", "Exists", "DoesNotExist", "Near"];
    let requirement = |choices: &mut Unstructured<'_>| LabelSelectorRequirement {
        key: make_text(choices),
        operator: input::pick(choices, &OPERATORS).unwrap_or_default().to_owned(),
        values: match input::up_to(choices, 3) {
            0 => None,
            count => Some((1..count).map(|_| make_text(choices)).collect()),
        },
    };
    let count = input::up_to(choices, 3);
    LabelSelector {
        match_labels: Some(members(choices)),
        match_expressions: Some((0..count).map(|_| requirement(choices)).collect()),
    }
}

fn members(choices: &mut Unstructured<'_>) -> BTreeMap<String, String> {
    let count = input::up_to(choices, 3);
    (0..count)
        .map(|_| (make_text(choices), make_text(choices)))
        .collect()
}

fn make_text(choices: &mut Unstructured<'_>) -> String {
    match input::up_to(choices, 4) {
        4 => choices.arbitrary().unwrap_or_default(),
        _ => input::pick(choices, &["a", "b", "example.com/a", "", "-", "A_b.c"])
            .unwrap_or_default()
            .to_owned(),
    }
}
