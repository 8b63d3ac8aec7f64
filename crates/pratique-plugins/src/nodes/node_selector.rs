//! Selectors of nodes by labels and by name.

use pratique_gotext::strconv::quote;
use pratique_gotext::validation::{label_value, qualified_name};
use pratique_json::{Object, Value, escape_html};

use crate::answer::aggregate;
use crate::object::{elements, members, name, text};

/// A compiled `core/v1` NodeSelector: a node is selected by any of its terms.
// Upstream: component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go
pub(crate) struct NodeSelector<'a> {
    terms: Vec<NodeTerm<'a>>,
}

/// Why an API server would not compile a selector, with its message.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct NodeSelectorError(String);

struct NodeTerm<'a> {
    labels: Vec<NodeRequirement<'a>>,
    fields: Vec<NodeRequirement<'a>>,
}

struct NodeRequirement<'a> {
    key: &'a str,
    test: LabelTest<'a>,
}

enum LabelTest<'a> {
    In(Vec<&'a str>),
    NotIn(Vec<&'a str>),
    Exists,
    DoesNotExist,
    GreaterThan(Option<i64>),
    LessThan(Option<i64>),
}

const OPERATORS: [&str; 6] = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];

/// The operators for fields.
const FIELD_OPERATORS: [&str; 2] = ["In", "NotIn"];

impl<'a> NodeSelector<'a> {
    /// Compiles a selector. Terms without requirements select nothing.
    ///
    /// # Errors
    /// All faults of all terms.
    pub(crate) fn compile(selector: &'a Value<'a>) -> Result<Self, NodeSelectorError> {
        let (mut terms, mut faults) = (Vec::new(), Vec::new());
        for (index, term) in elements(selector, &["nodeSelectorTerms"]).iter().enumerate() {
            let expressions = elements(term, &["matchExpressions"]);
            let fields = elements(term, &["matchFields"]);
            if expressions.is_empty() && fields.is_empty() {
                continue;
            }
            let path = format!("nodeSelectorTerms[{index}]");
            terms.push(NodeTerm {
                labels: read(
                    expressions,
                    &format!("{path}.matchExpressions"),
                    NodeRequirement::of_labels,
                    &mut faults,
                ),
                fields: read(
                    fields,
                    &format!("{path}.matchFields"),
                    NodeRequirement::of_fields,
                    &mut faults,
                ),
            });
        }
        if faults.is_empty() {
            Ok(NodeSelector { terms })
        } else {
            Err(NodeSelectorError(aggregate(&faults)))
        }
    }

    /// Whether it selects a node.
    pub(crate) fn matches(&self, node: &Value<'_>) -> bool {
        let none = Object::new();
        let labels = members(node, &["metadata", "labels"]).unwrap_or(&none);
        let of_label = |key: &str| labels.get(key).map(|value| value.as_str().unwrap_or_default());
        // Of fields there is the name alone; others are empty.
        let of_field = |key: &str| Some(if key == "metadata.name" { name(node) } else { "" });
        self.terms.iter().any(|term| {
            term.labels
                .iter()
                .all(|requirement| requirement.passes(of_label(requirement.key)))
                && (name(node).is_empty()
                    || term
                        .fields
                        .iter()
                        .all(|requirement| requirement.passes(of_field(requirement.key))))
        })
    }
}

fn read<'a>(
    requirements: &'a [Value<'a>],
    path: &str,
    compile: fn(&'a Value<'a>, &str, &mut Vec<String>) -> Option<NodeRequirement<'a>>,
    faults: &mut Vec<String>,
) -> Vec<NodeRequirement<'a>> {
    let requirements = requirements.iter().enumerate();
    let compiled = requirements
        .filter_map(|(index, requirement)| compile(requirement, &format!("{path}[{index}]"), faults));
    compiled.collect()
}

impl<'a> NodeRequirement<'a> {
    // Upstream: component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go, nodeSelectorRequirementsAsSelector;
    // apimachinery/pkg/labels/selector.go, NewRequirement
    fn of_labels(requirement: &'a Value<'a>, path: &str, faults: &mut Vec<String>) -> Option<Self> {
        let key = text(requirement, &["key"]);
        let values = values_of(requirement);
        let integer = || values.first().and_then(|value| value.parse().ok());
        let test = match text(requirement, &["operator"]) {
            "In" => LabelTest::In(values.clone()),
            "NotIn" => LabelTest::NotIn(values.clone()),
            "Exists" => LabelTest::Exists,
            "DoesNotExist" => LabelTest::DoesNotExist,
            "Gt" => LabelTest::GreaterThan(integer()),
            "Lt" => LabelTest::LessThan(integer()),
            other => {
                faults.push(unsupported(path, other, &OPERATORS));
                return None;
            }
        };
        let number_of_faults = faults.len();
        let key_faults = qualified_name(key);
        if !key_faults.is_empty() {
            let (key, key_faults) = (quote(key), key_faults.join("; "));
            faults.push(format!("{path}.key: Invalid value: {key}: {key_faults}"));
        }
        let values_path = format!("{path}.values");
        faults.extend(test.value_faults(&values, &values_path, requirement));
        for (index, value) in values.iter().enumerate() {
            let value_faults = label_value(value);
            if !value_faults.is_empty() {
                let (value, value_faults) = (quote(value), value_faults.join("; "));
                faults.push(format!(
                    "{values_path}[{index}][{key}]: Invalid value: {value}: {value_faults}"
                ));
            }
        }
        (faults.len() == number_of_faults).then_some(NodeRequirement { key, test })
    }

    // Upstream: component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go, nodeSelectorRequirementsAsFieldSelector
    fn of_fields(requirement: &'a Value<'a>, path: &str, faults: &mut Vec<String>) -> Option<Self> {
        let values = values_of(requirement);
        let operator = text(requirement, &["operator"]);
        if !FIELD_OPERATORS.contains(&operator) {
            faults.push(unsupported(path, operator, &FIELD_OPERATORS));
            return None;
        }
        if values.len() != 1 {
            faults.push(format!(
                "{path}.values: Invalid value: {}: must have one element",
                shown_values(requirement)
            ));
            return None;
        }
        let key = text(requirement, &["key"]);
        let test = if operator == "In" {
            LabelTest::In(values)
        } else {
            LabelTest::NotIn(values)
        };
        Some(NodeRequirement { key, test })
    }

    // Upstream: apimachinery/pkg/labels/selector.go, Requirement.Matches
    fn passes(&self, value: Option<&str>) -> bool {
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match &self.test {
            LabelTest::In(values) => value.is_some_and(|value| values.contains(&value)),
            LabelTest::NotIn(values) => value.is_none_or(|value| !values.contains(&value)),
            LabelTest::Exists => value.is_some(),
            LabelTest::DoesNotExist => value.is_none(),
            LabelTest::GreaterThan(bound) => {
                number().zip(*bound).is_some_and(|(number, bound)| number > bound)
            }
            LabelTest::LessThan(bound) => number().zip(*bound).is_some_and(|(number, bound)| number < bound),
        }
    }
}

impl LabelTest<'_> {
    /// The faults of the number of values, and of values that have to be numbers.
    fn value_faults(&self, values: &[&str], path: &str, requirement: &Value<'_>) -> Vec<String> {
        let of_list = |detail: &str| {
            let values_text = shown_values(requirement);
            vec![format!("{path}: Invalid value: {values_text}: {detail}")]
        };
        match self {
            LabelTest::In(_) | LabelTest::NotIn(_) if values.is_empty() => {
                of_list("for 'in', 'notin' operators, values set can't be empty")
            }
            LabelTest::In(_) | LabelTest::NotIn(_) => Vec::new(),
            LabelTest::Exists | LabelTest::DoesNotExist if !values.is_empty() => {
                of_list("values set must be empty for exists and does not exist")
            }
            LabelTest::Exists | LabelTest::DoesNotExist => Vec::new(),
            LabelTest::GreaterThan(_) | LabelTest::LessThan(_) => {
                let mut faults = Vec::new();
                if values.len() != 1 {
                    faults = of_list("for 'Gt', 'Lt' operators, exactly one value is required");
                }
                let numbers = values.iter().enumerate();
                let wrong = numbers.filter(|(_, value)| value.parse::<i64>().is_err());
                faults.extend(wrong.map(|(index, value)| {
                    let value = quote(value);
                    format!(
                        "{path}[{index}]: Invalid value: {value}: for 'Gt', 'Lt' operators, the value must be an integer"
                    )
                }));
                faults
            }
        }
    }
}

fn values_of<'a>(requirement: &'a Value<'a>) -> Vec<&'a str> {
    let values = elements(requirement, &["values"]).iter();
    values.map(|value| value.as_str().unwrap_or_default()).collect()
}

/// The values as JSON, which is what messages show of a list.
fn shown_values(requirement: &Value<'_>) -> String {
    match requirement.get("values") {
        Some(values) if values.as_array().is_some() => {
            let values: Vec<String> = values_of(requirement).into_iter().map(as_json).collect();
            format!("[{}]", values.join(","))
        }
        _ => "null".to_owned(),
    }
}

/// `….operator: Unsupported value: "Near": supported values: "In", "NotIn"`
fn unsupported(path: &str, operator: &str, supported: &[&str]) -> String {
    let supported: Vec<String> = supported.iter().map(|operator| quote(operator)).collect();
    format!(
        "{path}.operator: Unsupported value: {}: supported values: {}",
        // An operator is no `string` for Go, so that it is shown as JSON.
        as_json(operator),
        supported.join(", ")
    )
}

/// A text as Go's JSON has it.
fn as_json(text: &str) -> String {
    escape_html(&Value::from(text).to_string()).into_owned()
}

#[cfg(test)]
mod tests {
    use pratique_json::parse;

    use super::*;

    #[track_caller]
    fn check(term: &str, expected: Result<bool, &str>) {
        let selector = format!(r#"{{"nodeSelectorTerms": [{{}}, {term}]}}"#);
        let selector = parse(selector.as_bytes()).unwrap();
        let node =
            parse(br#"{"metadata": {"name": "n1", "labels": {"gpu": "yes", "cores": "8", "odd": "x"}}}"#)
                .unwrap();
        let matched = NodeSelector::compile(&selector).map(|selector| selector.matches(&node));
        assert_eq!(
            matched.map_err(|error| error.to_string()),
            expected.map_err(str::to_owned)
        );
    }

    #[test]
    fn labels_and_fields() {
        check(
            r#"{"matchExpressions": [{"key": "gpu", "operator": "In", "values": ["yes"]}]}"#,
            Ok(true),
        );
        check(
            r#"{"matchExpressions": [{"key": "cpu", "operator": "NotIn", "values": ["yes"]}]}"#,
            Ok(true),
        );
        check(
            r#"{"matchExpressions": [{"key": "gpu", "operator": "DoesNotExist"}]}"#,
            Ok(false),
        );
        check(
            r#"{"matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["7"]}]}"#,
            Ok(true),
        );
        check(
            r#"{"matchExpressions": [{"key": "odd", "operator": "Lt", "values": ["7"]}]}"#,
            Ok(false),
        );
        check(
            r#"{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}"#,
            Ok(true),
        );
        check(
            r#"{"matchFields": [{"key": "metadata.uid", "operator": "NotIn", "values": ["n1"]}]}"#,
            Ok(true),
        );
        check("{}", Ok(false));
    }

    #[test]
    fn faults_are_told_together() {
        check(
            r#"{"matchExpressions": [{"key": "gpu", "operator": "Gt", "values": ["a", "1"]}, {"key": "gpu", "operator": "In"}],
                "matchFields": [{"key": "a", "operator": "Exists"}, {"key": "a", "operator": "In", "values": ["<", "b"]}]}"#,
            Err(concat!(
                r#"[nodeSelectorTerms[1].matchExpressions[0].values: Invalid value: ["a","1"]: for 'Gt', 'Lt' operators, "#,
                "exactly one value is required, ",
                r#"nodeSelectorTerms[1].matchExpressions[0].values[0]: Invalid value: "a": for 'Gt', 'Lt' operators, the value "#,
                "must be an integer, ",
                "nodeSelectorTerms[1].matchExpressions[1].values: Invalid value: null: for 'in', 'notin' operators, values ",
                "set can't be empty, ",
                r#"nodeSelectorTerms[1].matchFields[0].operator: Unsupported value: "Exists": supported values: "In", "NotIn", "#,
                r#"nodeSelectorTerms[1].matchFields[1].values: Invalid value: ["\u003c","b"]: must have one element]"#,
            )),
        );
    }
}
