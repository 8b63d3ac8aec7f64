//! Plans of defaulting: for each kind, at which places of an object something is defaulted, and nothing of any other place.

use std::borrow::Cow;
use std::collections::HashMap;

use foldhash::fast::RandomState;
use pratique_json::{Object, Value};
use pratique_types::GroupVersionKind;

use crate::defaults::{Context, Function};
use crate::release::read_kind;

/// The plans of a release, which share their parts.
#[derive(Debug, Default)]
pub(crate) struct Plans {
    plans: Vec<Vec<Step>>,
    kinds: HashMap<GroupVersionKind, usize, RandomState>,
}

/// A step of defaulting a value.
#[derive(Debug)]
enum Step {
    /// A function is called with it.
    Call(Function),
    /// A field is set where it is absent.
    Absent(&'static str, Value<'static>),
    /// A field is set where it is absent or empty.
    Zero(&'static str, Value<'static>),
    /// A plan is followed in a field.
    In(&'static str, usize),
    /// A plan is followed in each element of a list or value of a map.
    Each(usize),
}

impl Plans {
    /// Reads a table as `cargo xtask codegen` writes it. A plan comes after those that it refers to, so that following one
    /// ends.
    pub(crate) fn read(table: &'static str, function: fn(&str) -> Option<Function>) -> Self {
        let mut read = Plans::default();
        for line in table.lines() {
            match line.strip_prefix(' ') {
                Some(step) => {
                    let step = read_step(step, read.plans.len(), function);
                    if let (Some(step), Some(plan)) = (step, read.plans.last_mut()) {
                        plan.push(step);
                    }
                }
                None if line.starts_with("plan ") => read.plans.push(Vec::new()),
                None => {
                    let words = line.strip_prefix("kind ").and_then(|line| line.split_once(' '));
                    let kind = words.and_then(|(kind, plan)| Some((read_kind(kind)?, plan.parse().ok()?)));
                    read.kinds.extend(kind);
                }
            }
        }
        read
    }

    /// Defaults an object of a kind.
    pub(crate) fn run(&self, kind: &GroupVersionKind, object: &mut Object<'_>, context: &Context<'_>) {
        if let Some(plan) = self.kinds.get(kind) {
            self.object(*plan, object, context);
        }
    }

    fn object(&self, plan: usize, object: &mut Object<'_>, context: &Context<'_>) {
        for step in self.plans.get(plan).into_iter().flatten() {
            match step {
                Step::Call(function) => function(object, context),
                Step::Absent(field, value) => {
                    if object.get(field).is_none_or(Value::is_null) {
                        object.insert(*field, value.clone());
                    }
                }
                Step::Zero(field, value) => {
                    if object.get(field).is_none_or(Value::is_empty) {
                        object.insert(*field, value.clone());
                    }
                }
                Step::In(field, plan) => {
                    if let Some(value) = object.get_mut(field) {
                        self.value(*plan, value, context);
                    }
                }
                Step::Each(plan) => object
                    .values_mut()
                    .for_each(|value| self.value(*plan, value, context)),
            }
        }
    }

    fn value(&self, plan: usize, value: &mut Value<'_>, context: &Context<'_>) {
        match value {
            Value::Object(object) => self.object(plan, object, context),
            Value::Array(elements) => {
                let steps = self.plans.get(plan).into_iter().flatten();
                for step in steps {
                    if let Step::Each(plan) = step {
                        elements
                            .iter_mut()
                            .for_each(|element| self.value(*plan, element, context));
                    }
                }
            }
            _ => {}
        }
    }
}

fn read_step(line: &'static str, known: usize, function: fn(&str) -> Option<Function>) -> Option<Step> {
    let (verb, rest) = line.split_once(' ')?;
    if verb == "call" {
        return function(rest).map(Step::Call);
    }
    let (field, rest) = rest.split_once(' ')?;
    match verb {
        "absent" => Some(Step::Absent(field, read_value(rest)?)),
        "zero" => Some(Step::Zero(field, read_value(rest)?)),
        "in" => {
            let plan = rest.parse().ok().filter(|plan| *plan < known)?;
            Some(match field {
                "*" => Step::Each(plan),
                field => Step::In(field, plan),
            })
        }
        _ => None,
    }
}

/// A value that copies share.
fn read_value(text: &'static str) -> Option<Value<'static>> {
    Some(match pratique_json::parse(text.as_bytes()).ok()? {
        Value::String(Cow::Owned(text)) => Value::from(text),
        value => value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No function of a table is missing.
    #[track_caller]
    fn check(table: &'static str, function: fn(&str) -> Option<Function>) {
        let calls = table.lines().filter_map(|line| line.strip_prefix(" call "));
        let missing: Vec<&str> = calls.filter(|name| function(name).is_none()).collect();
        assert_eq!(missing, [] as [&str; 0]);
        let plans = Plans::read(table, function);
        let steps: usize = plans.plans.iter().map(Vec::len).sum();
        let written = |prefix: &str| table.lines().filter(|line| line.starts_with(prefix)).count();
        assert_eq!(steps, written(" "));
        assert_eq!(plans.kinds.len(), written("kind "));
    }

    #[test]
    fn every_step_is_read() {
        check(include_str!("../data/defaults.txt"), crate::defaults::function);
        check(include_str!("../data/conversions.txt"), crate::internal::function);
    }
}
