//! Values of which a part does not have its type: the rest is validated all the same, without blaming it for the part.
//!
//! The server stops at the first value of a wrong type. Whoever mends it wants to know of everything else at once.

use serde_json::{Value as Json, json};

use super::{FieldError, path_text};
use crate::kind::Kind;
use crate::problem::Rule;

/// The fields of a value that do not have their types, as their paths: `spec.validations[0].expression`.
#[derive(Clone, Debug, Default)]
pub(crate) struct WrongFields(Vec<String>);

impl WrongFields {
    pub(crate) fn new(fields: Vec<String>) -> Self {
        WrongFields(fields)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those within an item of a list that has them.
    pub(crate) fn of_item(&self, index: usize) -> Self {
        let start = format!("items[{index}]");
        let within = self.0.iter().filter_map(|field| field.strip_prefix(&start));
        WrongFields(
            within
                .map(|rest| rest.trim_start_matches('.').to_owned())
                .collect(),
        )
    }

    /// Puts something in the place of fields whose absence would be held against others.
    pub(crate) fn fill(&self, kind: Kind, value: &mut Json) {
        let is_policy = matches!(
            kind,
            Kind::ValidatingAdmissionPolicy | Kind::MutatingAdmissionPolicy
        );
        if !is_policy {
            return;
        }
        for field in &self.0 {
            let (place, filler) = match field.as_str() {
                "spec.paramKind" => ("/spec/paramKind".to_owned(), json!({})),
                "spec.validations" | "spec.auditAnnotations" => {
                    (format!("/{}", field.replace('.', "/")), json!([{}]))
                }
                _ => match variable_of(field) {
                    // Others may name it: its type is not known.
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
                && object.get(name).is_none_or(|found| *found == "")
            {
                object.insert(name.to_owned(), filler);
            }
        }
    }

    /// Whether an error follows from what has the wrong type, so that nothing is known of it.
    pub(crate) fn explain(&self, error: &FieldError) -> bool {
        let path = path_text(&error.path);
        let within = |field: &String| {
            field.is_empty()
                || path
                    .strip_prefix(field.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        let names_unknown = || {
            error.rule == Rule::InvalidExpression
                && error.text.contains("variables.")
                && self.0.iter().any(|field| hides_variables(field))
        };
        self.0.iter().any(within) || names_unknown()
    }
}

/// The index of the variable that a field is of, and the rest of its path.
fn variable_of(field: &str) -> Option<(usize, &str)> {
    let (index, rest) = field.strip_prefix("spec.variables[")?.split_once(']')?;
    Some((index.parse().ok()?, rest))
}

/// Whether it is not known which variables there are.
fn hides_variables(field: &str) -> bool {
    field == "spec.variables" || variable_of(field).is_some_and(|(_, rest)| rest != ".expression")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Step;

    #[track_caller]
    fn check(wrong: &str, path: &[&str], text: &str, expected: bool) {
        let step = |name: &&str| match name.parse() {
            Ok(index) => Step::Index(index),
            Err(_) => Step::Field((*name).to_owned()),
        };
        let error = FieldError {
            path: path.iter().map(step).collect(),
            rule: Rule::InvalidExpression,
            text: text.to_owned(),
            issues: Vec::new(),
            help: None,
        };
        let fields = WrongFields::new(vec![wrong.to_owned()]);
        assert_eq!(fields.explain(&error), expected, "{wrong} {path:?}");
    }

    #[test]
    fn errors_that_follow_from_a_wrong_type() {
        let expression = ["spec", "validations", "1", "expression"];
        check("spec.validations[1]", &expression, "", true);
        check("spec.validations[1].expression", &expression, "", true);
        check("spec.validations[1].message", &expression, "", false);
        check("spec.validations[10]", &expression, "", false);
        check("spec.variables", &expression, "variables.a", true);
        check("spec.variables[0].name", &expression, "variables.a", true);
        check("spec.variables[0].expression", &expression, "variables.a", false);
        check("spec.variables", &expression, "object.a", false);
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
