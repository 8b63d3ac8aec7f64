//! Values with fields of the wrong type: the rest is validated as well, without errors that only follow from these fields.
//!
//! The server stops at the first value of a wrong type; reporting the other errors saves further attempts.

use serde_json::{Value as Json, json};

use super::FieldError;
use crate::kind::Kind;

/// The paths of the fields of a value that have the wrong type: `spec.validations[0].expression`.
#[derive(Clone, Debug, Default)]
pub(crate) struct WrongFields(Vec<String>);

impl WrongFields {
    pub(crate) fn new(fields: Vec<String>) -> Self {
        WrongFields(fields)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The fields within an item of a list.
    pub(crate) fn of_item(&self, index: usize) -> Self {
        let start = format!("items[{index}]");
        let within = self.0.iter().filter_map(|field| field.strip_prefix(&start));
        WrongFields(
            within
                .map(|rest| rest.trim_start_matches('.').to_owned())
                .collect(),
        )
    }

    /// Fills in fields whose absence would cause other errors.
    pub(crate) fn fill(&self, kind: Kind, value: &mut Json) {
        if !kind.is_policy() {
            return;
        }
        for field in &self.0 {
            let (place, filler) = match field.as_str() {
                "spec.paramKind" => ("/spec/paramKind".to_owned(), json!({})),
                "spec.validations" | "spec.auditAnnotations" => {
                    (format!("/{}", field.replace('.', "/")), json!([{}]))
                }
                _ => match variable_of(field) {
                    // Other expressions may use the variable, whose type is not known.
                    Some((index, ".expression")) => {
                        (format!("/spec/variables/{index}/expression"), "dyn(null)".into())
                    }
                    _ => continue,
                },
            };
            let Some((object, name)) = place.rsplit_once('/') else {
                continue;
            };
            if let Some(object) = value.pointer_mut(object).and_then(Json::as_object_mut)
                && object.get(name).is_none_or(|member| *member == "")
            {
                object.insert(name.to_owned(), filler);
            }
        }
    }

    /// Whether an error may follow from a field of the wrong type.
    pub(crate) fn explains(&self, error: &FieldError) -> bool {
        let within = |field: &String| {
            field.is_empty()
                || error
                    .field
                    .strip_prefix(field.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        let uses_unknown =
            || error.remark.uses_variables && self.0.iter().any(|field| hides_variables(field));
        self.0.iter().any(within) || uses_unknown()
    }
}

/// The index of the variable that a field belongs to, and the rest of its path.
fn variable_of(field: &str) -> Option<(usize, &str)> {
    let (index, rest) = field.strip_prefix("spec.variables[")?.split_once(']')?;
    Some((index.parse().ok()?, rest))
}

/// Whether a field of the wrong type hides which variables are declared.
fn hides_variables(field: &str) -> bool {
    field == "spec.variables" || variable_of(field).is_some_and(|(_, rest)| rest != ".expression")
}

#[cfg(test)]
mod tests {
    use super::super::errors::ErrorRemark;
    use super::*;
    use crate::problem::Rule;

    #[track_caller]
    fn check(wrong: &str, field: &str, expression: &str, expected: bool) {
        let error = FieldError {
            field: field.to_owned(),
            rule: Rule::InvalidExpression,
            text: String::new(),
            remark: ErrorRemark {
                uses_variables: expression.contains("variables."),
                ..ErrorRemark::default()
            },
        };
        let fields = WrongFields::new(vec![wrong.to_owned()]);
        assert_eq!(fields.explains(&error), expected, "{wrong} {field}");
    }

    #[test]
    fn errors_that_follow_from_a_wrong_type() {
        let expression = "spec.validations[1].expression";
        check("spec.validations[1]", expression, "", true);
        check("spec.validations[1].expression", expression, "", true);
        check("spec.validations[1].message", expression, "", false);
        check("spec.validations[10]", expression, "", false);
        check("spec.variables", expression, "variables.a", true);
        check("spec.variables[0].name", expression, "variables.a", true);
        check("spec.variables[0].expression", expression, "variables.a", false);
        check("spec.variables", expression, "object.a", false);
    }

    #[test]
    fn what_others_depend_on_is_filled_in() {
        let fields = [
            "spec.paramKind",
            "spec.validations",
            "spec.variables[0].expression",
        ];
        let fields = WrongFields::new(fields.map(str::to_owned).to_vec());
        let mut value = json!({"spec": {"variables": [{"name": "a", "expression": ""}]}});
        fields.fill(Kind::ValidatingAdmissionPolicy, &mut value);
        let expected = json!({"spec": {
            "paramKind": {}, "validations": [{}], "variables": [{"name": "a", "expression": "dyn(null)"}],
        }});
        assert_eq!(value, expected);
        let of_list = WrongFields::new(vec!["items[1].spec.x".to_owned()]);
        assert!(of_list.of_item(0).is_empty() && !of_list.of_item(1).is_empty());
    }
}
