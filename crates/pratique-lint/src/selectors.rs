//! Label selectors that contradict each other.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

/// The combined requirements of several selectors on a label.
#[derive(Default)]
struct LabelRequirement<'s> {
    /// The values that are allowed; `None` if any is.
    values: Option<Vec<&'s str>>,
    excluded: Vec<&'s str>,
    present: bool,
    absent: bool,
}

/// A label on which the selectors contradict each other.
pub(crate) fn contradiction(selectors: &[&LabelSelector]) -> Option<String> {
    let mut requirements: BTreeMap<&str, LabelRequirement<'_>> = BTreeMap::new();
    for selector in selectors {
        for (key, value) in selector.match_labels.iter().flatten() {
            requirements.entry(key).or_default().one_of(vec![value]);
        }
        for expression in selector.match_expressions.iter().flatten() {
            let values = expression.values.iter().flatten().map(String::as_str).collect();
            let label = requirements.entry(&expression.key).or_default();
            match expression.operator.as_str() {
                "In" => label.one_of(values),
                "NotIn" => label.excluded.extend(values),
                "Exists" => label.present = true,
                "DoesNotExist" => label.absent = true,
                _ => {}
            }
        }
    }
    let impossible = requirements.iter().find(|(_, label)| label.is_impossible());
    impossible.map(|(key, _)| (*key).to_owned())
}

impl<'s> LabelRequirement<'s> {
    fn one_of(&mut self, values: Vec<&'s str>) {
        self.present = true;
        match &mut self.values {
            Some(left) => left.retain(|value| values.contains(value)),
            None => self.values = Some(values),
        }
    }

    fn is_impossible(&self) -> bool {
        let none_left = self
            .values
            .as_ref()
            .is_some_and(|left| left.iter().all(|value| self.excluded.contains(value)));
        none_left || (self.present && self.absent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelectorRequirement;

    fn label(key: &str, value: &str) -> LabelSelector {
        LabelSelector {
            match_labels: Some([(key.to_owned(), value.to_owned())].into()),
            ..LabelSelector::default()
        }
    }

    fn expression(key: &str, operator: &str, values: &[&str]) -> LabelSelector {
        let requirement = LabelSelectorRequirement {
            key: key.to_owned(),
            operator: operator.to_owned(),
            values: Some(values.iter().map(|value| (*value).to_owned()).collect()),
        };
        LabelSelector {
            match_expressions: Some(vec![requirement]),
            ..LabelSelector::default()
        }
    }

    #[track_caller]
    fn check(selectors: &[LabelSelector], expected: Option<&str>) {
        let selectors: Vec<_> = selectors.iter().collect();
        assert_eq!(contradiction(&selectors).as_deref(), expected);
    }

    #[test]
    fn contradictions() {
        check(&[label("a", "x"), label("a", "y")], Some("a"));
        check(&[label("a", "x"), label("b", "y")], None);
        check(
            &[label("a", "x"), expression("a", "NotIn", &["x", "y"])],
            Some("a"),
        );
        check(&[label("a", "x"), expression("a", "NotIn", &["y"])], None);
        check(
            &[label("a", "x"), expression("a", "DoesNotExist", &[])],
            Some("a"),
        );
        check(
            &[
                expression("a", "In", &["x", "y"]),
                expression("a", "In", &["y", "z"]),
            ],
            None,
        );
        check(
            &[
                expression("a", "NotIn", &["y"]),
                expression("a", "DoesNotExist", &[]),
            ],
            None,
        );
    }
}
