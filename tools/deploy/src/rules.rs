//! The rules of `rules.yaml`, evaluated by the engine: what they say of objects that are applied together.

use pratique_cel::{Environment, Type, json, library};
use pratique_cel::{function::Function, library::mutation::to_json};
use pratique_harness::{ToolError, with};
use pratique_manifest::yaml_as_json;
use serde::Deserialize;
use serde_json::{Value, json};

use super::RenderState;
use super::objects::RenderedObject;

/// The most that an expression may cost, which is far more than any needs.
const COST_LIMIT: u64 = 1_000_000_000;

#[derive(Deserialize)]
struct RuleFile {
    variables: Vec<RuleVariable>,
    rules: Vec<ObjectRule>,
}

#[derive(Deserialize)]
struct RuleVariable {
    name: String,
    expression: String,
}

#[derive(Deserialize)]
struct ObjectRule {
    each: Option<String>,
    faults: String,
}

/// An environment with the values of its variables.
struct VariableScope {
    environment: Environment,
    values: Vec<(String, json::Value<'static>)>,
}

/// The faults of objects that are applied together.
///
/// # Errors
/// The rules cannot be read, or an expression fails.
pub(super) fn faults(objects: &[RenderedObject], state: RenderState) -> Result<Vec<String>, ToolError> {
    let text = yaml_as_json(include_bytes!("rules.yaml")).map_err(|error| error.to_string())?;
    let rules: RuleFile = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let mut scope = VariableScope::new(objects, state)?;
    for variable in rules.variables {
        let value = scope.evaluate(&variable.expression)?;
        scope.set(&variable.name, value);
    }
    let mut faults = Vec::new();
    for rule in rules.rules {
        let Some(each) = rule.each else {
            gather(&scope.evaluate(&rule.faults)?, "", &mut faults);
            continue;
        };
        for element in scope.evaluate(&each)?.as_array().unwrap_or_default() {
            scope.set("it", element.clone());
            let element_name = element
                .get("shown")
                .and_then(json::Value::as_str)
                .unwrap_or_default();
            // What lacks something that a rule takes for granted is wrong as well.
            let rule_faults = scope
                .evaluate(&rule.faults)
                .unwrap_or_else(|error| error.to_string().into());
            gather(&rule_faults, &format!("{element_name}: "), &mut faults);
        }
    }
    Ok(faults)
}

impl VariableScope {
    fn new(objects: &[RenderedObject], state: RenderState) -> Result<Self, ToolError> {
        let as_json =
            Function::new("json").global("json", &[Type::Dyn], Type::String, |context, arguments| {
                let value = arguments
                    .first()
                    .and_then(|value| to_json(value).ok())
                    .unwrap_or_default();
                Ok(pratique_cel::Value::String(context.arena.str(&value.to_string())))
            });
        let mut scope = VariableScope {
            environment: Environment::standard()
                .with_library(library::optionals())
                .with_library(library::lists())
                .with_library(library::strings())
                .with_function(as_json),
            values: Vec::new(),
        };
        let directories: Vec<String> = objects.iter().flat_map(super::policies::directories).collect();
        for (name, value) in [
            ("objects", objects.iter().map(show_object).collect()),
            ("rendered", json!(state == RenderState::Rendered)),
            ("directories", json!(directories)),
        ] {
            let text = value.to_string();
            let value = json::parse(text.as_bytes()).map_err(|error| error.to_string())?;
            scope.set(name, value.into_owned());
        }
        Ok(scope)
    }

    fn set(&mut self, name: &str, value: json::Value<'static>) {
        match self.values.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value,
            None => {
                self.environment = self.environment.clone().with_variable(name, Type::Dyn);
                self.values.push((name.to_owned(), value));
            }
        }
    }

    fn evaluate(&self, expression: &str) -> Result<json::Value<'static>, ToolError> {
        let fails = |error: &dyn std::fmt::Display| ToolError::from(format!("{expression}\n{error}"));
        let program = self
            .environment
            .compile(expression)
            .map_err(|error| fails(&error))?;
        let values = self.values.iter().map(|(name, value)| (name.as_str(), value));
        program
            .evaluate_json(values, COST_LIMIT)
            .map_err(|error| fails(&error))
    }
}

/// An object as expressions see it.
fn show_object(object: &RenderedObject) -> Value {
    let names = [
        ("name", json!(object.name())),
        ("namespace", json!(object.namespace())),
    ];
    let metadata = match object.part("/metadata") {
        Value::Object(members) => Value::Object(members.clone()),
        _ => json!({}),
    };
    with(
        object.value.clone(),
        [
            ("shown", json!(object.to_string())),
            ("kind", json!(object.kind())),
            ("metadata", with(metadata, names)),
        ],
    )
}

/// Texts that are not empty, in lists of any depth that the rules write.
fn gather(value: &json::Value<'_>, prefix: &str, faults: &mut Vec<String>) {
    for element in value.as_array().unwrap_or_default() {
        gather(element, prefix, faults);
    }
    if let Some(fault) = value.as_str().filter(|fault| !fault.is_empty()) {
        faults.push(format!("{prefix}{fault}"));
    }
}
