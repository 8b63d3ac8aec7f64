//! Label selectors, compiled.

use std::fmt;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};
use pratique_gotext::strconv::quote;
use pratique_gotext::validation::{label_value, qualified_name};
use pratique_json::{Object, Value};

use crate::request::NAME_LABEL;

/// A compiled `meta/v1` label selector.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Selector {
    requirements: Vec<LabelRequirement>,
}

/// Why an API server would not compile a selector, with its message.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{0}")]
pub struct InvalidSelector(String);

/// The labels of an object.
#[derive(Clone, Copy, Debug, Default)]
pub struct Labels<'a>(Option<&'a Object<'a>>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct LabelRequirement {
    key: String,
    test: LabelTest,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum LabelTest {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    DoesNotExist,
}

impl Selector {
    /// Compiles a selector.
    // Upstream: apimachinery/pkg/apis/meta/v1/helpers.go, LabelSelectorAsSelector
    pub fn compile(selector: &LabelSelector) -> Result<Self, InvalidSelector> {
        let labels = selector.match_labels.iter().flatten();
        let equalities =
            labels.map(|(key, value)| LabelRequirement::new(key, LabelTest::In(vec![value.clone()])));
        let expressions = selector.match_expressions.iter().flatten();
        let requirements = equalities.chain(expressions.map(LabelRequirement::compile));
        Ok(Selector {
            requirements: requirements.collect::<Result<_, _>>()?,
        })
    }

    /// Whether it selects everything.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Whether it selects an object with these labels.
    pub fn matches(&self, labels: Labels<'_>) -> bool {
        self.requirements
            .iter()
            .all(|requirement| requirement.matches(labels))
    }

    /// Whether it selects a namespace of which only the name is known; `None` where that depends on other labels.
    pub fn matches_name(&self, name: &str) -> Option<bool> {
        let (of_name, others): (Vec<&LabelRequirement>, Vec<_>) = self
            .requirements
            .iter()
            .partition(|requirement| requirement.key == NAME_LABEL);
        if of_name
            .iter()
            .all(|requirement| requirement.test.passes(Some(name)))
        {
            others.is_empty().then_some(true)
        } else {
            Some(false)
        }
    }

    /// Whether it selects by no label but that of the name.
    pub fn is_of_names(&self) -> bool {
        self.requirements
            .iter()
            .all(|requirement| requirement.key == NAME_LABEL)
    }
}

/// As `kubectl --selector` takes it: `app=web,tier in (a,b),!old`.
impl fmt::Display for Selector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, LabelRequirement { key, test }) in self.requirements.iter().enumerate() {
            if index > 0 {
                formatter.write_str(",")?;
            }
            match test {
                LabelTest::In(values) => match values.as_slice() {
                    [value] => write!(formatter, "{key}={value}")?,
                    values => write!(formatter, "{key} in ({})", values.join(","))?,
                },
                LabelTest::NotIn(values) => write!(formatter, "{key} notin ({})", values.join(","))?,
                LabelTest::Exists => formatter.write_str(key)?,
                LabelTest::DoesNotExist => write!(formatter, "!{key}")?,
            }
        }
        Ok(())
    }
}

impl<'a> Labels<'a> {
    /// Takes `metadata.labels`. Unless all members are texts or null, which is the empty text, there are no labels: that is
    /// how an API server reads the labels of custom resources.
    // Upstream: apimachinery/pkg/apis/meta/v1/unstructured/helpers.go, NestedNullCoercingStringMap
    pub fn new(labels: &'a Value<'a>) -> Self {
        let is_label = |value: &Value<'_>| matches!(value, Value::String(_) | Value::Null);
        let object = labels.as_object();
        Labels(object.filter(|object| object.iter().all(|(_, value)| is_label(value))))
    }

    fn get(self, key: &str) -> Option<&'a str> {
        self.0?.get(key).map(|value| value.as_str().unwrap_or_default())
    }
}

impl LabelRequirement {
    fn compile(expression: &LabelSelectorRequirement) -> Result<Self, InvalidSelector> {
        let values = expression.values.clone().unwrap_or_default();
        let test = match expression.operator.as_str() {
            "In" => LabelTest::In(values.clone()),
            "NotIn" => LabelTest::NotIn(values.clone()),
            "Exists" => LabelTest::Exists,
            "DoesNotExist" => LabelTest::DoesNotExist,
            other => {
                let message = format!("{} is not a valid label selector operator", quote(other));
                return Err(InvalidSelector(message));
            }
        };
        let presence = matches!(test, LabelTest::Exists | LabelTest::DoesNotExist);
        let count = match (presence, values.is_empty()) {
            (false, true) => Some(
                "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"
                    .to_owned(),
            ),
            (true, false) => Some(format!(
                "values: Invalid value: {}: values set must be empty for exists and does not exist",
                json_list(&values)
            )),
            _ => None,
        };
        Self::checked(&expression.key, test, count, &values)
    }

    fn new(key: &str, test: LabelTest) -> Result<Self, InvalidSelector> {
        let values = match &test {
            LabelTest::In(values) => values.clone(),
            _ => Vec::new(),
        };
        Self::checked(key, test, None, &values)
    }

    /// Puts faults together in the reference's order: of the key, of the number of values, of each value.
    fn checked(
        key: &str,
        test: LabelTest,
        count: Option<String>,
        values: &[String],
    ) -> Result<Self, InvalidSelector> {
        let key_fault = qualified_name(key);
        let mut faults = Vec::new();
        if !key_fault.is_empty() {
            faults.push(format!(
                "key: Invalid value: {}: {}",
                quote(key),
                key_fault.join("; ")
            ));
        }
        faults.extend(count);
        for (index, value) in values.iter().enumerate() {
            let fault = label_value(value);
            if !fault.is_empty() {
                let fault = fault.join("; ");
                faults.push(format!(
                    "values[{index}][{key}]: Invalid value: {}: {fault}",
                    quote(value)
                ));
            }
        }
        match faults.as_slice() {
            [] => Ok(LabelRequirement {
                key: key.to_owned(),
                test,
            }),
            [fault] => Err(InvalidSelector(fault.clone())),
            faults => Err(InvalidSelector(format!("[{}]", faults.join(", ")))),
        }
    }

    fn matches(&self, labels: Labels<'_>) -> bool {
        self.test.passes(labels.get(&self.key))
    }
}

impl LabelTest {
    /// Whether a label passes the test.
    fn passes(&self, label: Option<&str>) -> bool {
        let one_of = |values: &[String]| label.map(|label| values.iter().any(|value| value == label));
        match self {
            LabelTest::In(values) => one_of(values) == Some(true),
            LabelTest::NotIn(values) => one_of(values) != Some(true),
            LabelTest::Exists => label.is_some(),
            LabelTest::DoesNotExist => label.is_none(),
        }
    }
}

fn json_list(texts: &[String]) -> impl fmt::Display {
    let texts = texts.iter().map(|text| Value::from(text.as_str()));
    Value::Array(texts.collect()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compile(json: &str) -> Result<Selector, InvalidSelector> {
        Selector::compile(&serde_json::from_str(json).unwrap())
    }

    #[track_caller]
    fn check(selector: &str, labels: &str, expected: bool) {
        let labels = pratique_json::parse(labels.as_bytes()).unwrap();
        assert_eq!(
            compile(selector).unwrap().matches(Labels::new(&labels)),
            expected,
            "{selector}"
        );
    }

    #[test]
    fn requirements_match() {
        check("{}", "null", true);
        check(r#"{"matchLabels":{"a":"1"}}"#, r#"{"a":"1","b":"2"}"#, true);
        check(r#"{"matchLabels":{"a":"1"}}"#, r#"{"a":"2"}"#, false);
        let expression = |operator: &str, values: &str| {
            format!(r#"{{"matchExpressions":[{{"key":"a","operator":"{operator}","values":{values}}}]}}"#)
        };
        for (operator, values, with, without) in [
            ("In", r#"["1","2"]"#, true, false),
            ("NotIn", r#"["1"]"#, false, true),
            ("Exists", "[]", true, false),
            ("DoesNotExist", "null", false, true),
        ] {
            check(&expression(operator, values), r#"{"a":"1"}"#, with);
            check(&expression(operator, values), "{}", without);
        }
    }

    #[test]
    fn labels_that_are_not_texts_are_none() {
        check(r#"{"matchLabels":{"a":"1"}}"#, r#"{"a":"1","b":2}"#, false);
        check(r#"{"matchLabels":{"a":"1"}}"#, r#"{"a":"1","b":null}"#, true);
        check(r#"{"matchLabels":{"b":""}}"#, r#"{"a":"1","b":null}"#, true);
    }

    #[test]
    fn faults() {
        for (selector, message) in [
            (
                r#"{"matchExpressions":[{"key":"a","operator":"Near"}]}"#,
                r#""Near" is not a valid label selector operator"#,
            ),
            (
                "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"\\u0000é\\u200b\"}]}",
                r#""\x00é\u200b" is not a valid label selector operator"#,
            ),
            (
                r#"{"matchExpressions":[{"key":"a","operator":"In","values":[]}]}"#,
                "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
            ),
            (
                r#"{"matchExpressions":[{"key":"a","operator":"Exists","values":["x"]}]}"#,
                r#"values: Invalid value: ["x"]: values set must be empty for exists and does not exist"#,
            ),
        ] {
            assert_eq!(compile(selector).unwrap_err().to_string(), message);
        }
        let both = compile(r#"{"matchLabels":{"-":"?"}}"#).unwrap_err().to_string();
        assert!(
            both.starts_with(r#"[key: Invalid value: "-": name part must"#),
            "{both}"
        );
        assert!(
            both.contains(r#"values[0][-]: Invalid value: "?": a valid label"#),
            "{both}"
        );
    }
}
