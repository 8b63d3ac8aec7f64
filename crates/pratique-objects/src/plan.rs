//! Plans of defaulting: for each kind, the places of an object that have defaults, and no others.

use std::borrow::Cow;
use std::collections::HashMap;
use std::iter::Peekable;
use std::str::Lines;

use foldhash::fast::RandomState;
use pratique_json::{Object, Value};
use pratique_schema::Release;
use pratique_types::GroupVersionKind;

use crate::defaults::field::{at, copy, is_absent, is_empty, merge, part};
use crate::defaults::{self, DefaultContext, DefaultFunction};
use crate::internal;

/// The functions that tables call.
static FUNCTIONS: &str = include_str!("../data/functions.txt");

/// The plans of a release, which share their parts.
#[derive(Debug)]
pub(crate) struct ReleasePlans {
    plans: Vec<Vec<PlanStep>>,
    kinds: HashMap<GroupVersionKind, usize, RandomState>,
}

/// The names of the fields that lead to a value.
type FieldPath = Box<[&'static str]>;

/// A step of defaulting a value.
#[derive(Debug)]
enum PlanStep {
    /// A function is called with it.
    Call(DefaultFunction),
    /// A plan is followed with it.
    Run(usize),
    /// A field is set where it is absent.
    Absent(&'static str, Value<'static>),
    /// A field is set where it is absent or empty.
    Zero(&'static str, Value<'static>),
    /// A field is set.
    Set(&'static str, Value<'static>),
    Remove(&'static str),
    /// A value is set where it is absent or empty to a copy of another.
    Copy(FieldPath, FieldPath),
    /// A map gets the members that another has and it has not.
    Merge(&'static str, &'static str),
    /// A plan is followed in a field.
    In(&'static str, usize),
    /// A plan is followed in a struct, which is made where it is absent.
    Part(&'static str, usize),
    /// A plan is followed in each element of a list or value of a map.
    Each(usize),
    /// A plan is followed if the value at a path is so.
    When(FieldPath, ValueTest, usize),
    /// A plan is followed if a feature gate is on, or off.
    Gate(&'static str, bool, usize),
}

/// A condition on a value.
#[derive(Debug)]
enum ValueTest {
    Absent(bool),
    Empty(bool),
    OneOf(Vec<Value<'static>>),
    Lacks(&'static str),
}

impl ValueTest {
    fn holds(&self, value: Option<&Value<'_>>) -> bool {
        match self {
            ValueTest::Absent(is_absent) => value.is_none_or(Value::is_null) == *is_absent,
            ValueTest::Empty(is_empty) => value.is_none_or(Value::is_empty) == *is_empty,
            ValueTest::OneOf(values) => values.iter().any(|of| Some(of) == value),
            ValueTest::Lacks(key) => value.is_none_or(|value| value.get(key).is_none()),
        }
    }
}

impl ReleasePlans {
    /// Reads a table as `cargo xtask codegen` writes it. A plan comes after those that it refers to, so that following one
    /// ends.
    pub(crate) fn read(table: &'static str, version: (u32, u32)) -> Self {
        let mut reader = PlanReader {
            version,
            ..PlanReader::default()
        };
        reader.read(FUNCTIONS);
        reader.read(table);
        ReleasePlans {
            plans: reader.plans,
            kinds: reader.kinds,
        }
    }

    /// Defaults an object of a kind.
    pub(crate) fn run(&self, kind: &GroupVersionKind, object: &mut Object<'_>, context: &DefaultContext<'_>) {
        if let Some(plan) = self.kinds.get(kind) {
            self.object(*plan, object, context);
        }
    }

    fn object(&self, plan: usize, object: &mut Object<'_>, context: &DefaultContext<'_>) {
        for step in self.plans.get(plan).into_iter().flatten() {
            match step {
                PlanStep::Call(function) => function(object, context),
                PlanStep::Run(plan) => self.object(*plan, object, context),
                PlanStep::Absent(field, value) => {
                    if is_absent(object, field) {
                        object.insert(*field, value.clone());
                    }
                }
                PlanStep::Zero(field, value) => {
                    if is_empty(object, field) {
                        object.insert(*field, value.clone());
                    }
                }
                PlanStep::Set(field, value) => {
                    object.insert(*field, value.clone());
                }
                PlanStep::Remove(field) => {
                    object.remove(field);
                }
                PlanStep::Copy(to, from) => copy(object, to, from),
                PlanStep::Merge(to, from) => merge(object, to, from),
                PlanStep::In(field, plan) => {
                    if let Some(value) = object.get_mut(field) {
                        self.value(*plan, value, context);
                    }
                }
                PlanStep::Part(field, plan) => {
                    if let Some(part) = part(object, field) {
                        self.object(*plan, part, context);
                    }
                }
                PlanStep::When(path, test, plan) => {
                    if test.holds(at(object, path)) {
                        self.object(*plan, object, context);
                    }
                }
                PlanStep::Gate(name, is_on, plan) => {
                    if context.gates.is_on(name) == *is_on {
                        self.object(*plan, object, context);
                    }
                }
                PlanStep::Each(plan) => object
                    .values_mut()
                    .for_each(|value| self.value(*plan, value, context)),
            }
        }
    }

    fn value(&self, plan: usize, value: &mut Value<'_>, context: &DefaultContext<'_>) {
        match value {
            Value::Object(object) => self.object(plan, object, context),
            Value::Array(elements) => {
                let steps = self.plans.get(plan).into_iter().flatten();
                for step in steps {
                    if let PlanStep::Each(plan) = step {
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

/// Reads tables one after another.
#[derive(Default)]
struct PlanReader {
    /// The release.
    version: (u32, u32),
    plans: Vec<Vec<PlanStep>>,
    kinds: HashMap<GroupVersionKind, usize, RandomState>,
    /// Plans that were read, by their names, which in generated tables are numbers.
    named: HashMap<&'static str, usize, RandomState>,
}

impl PlanReader {
    fn read(&mut self, table: &'static str) {
        let mut lines = table.lines().peekable();
        while let Some(line) = lines.next() {
            if let Some(names) = line.strip_prefix("plan ") {
                let plan = self.steps(&mut lines, 1);
                self.named.extend(names.split(' ').map(|name| (name, plan)));
            } else if let Some((kind, plan)) =
                line.strip_prefix("kind ").and_then(|line| line.split_once(' '))
            {
                let kind = GroupVersionKind::from_path(kind);
                self.kinds.extend(kind.zip(self.plan(plan)));
            }
        }
    }

    /// Reads the steps that are indented so deep into a plan. Recursion follows the indentation.
    fn steps(&mut self, lines: &mut Peekable<Lines<'static>>, depth: usize) -> usize {
        let is_step = |line: &&str| line.bytes().take_while(|byte| *byte == b' ').count() == depth;
        let mut steps = Vec::new();
        while let Some(line) = lines.next_if(is_step) {
            steps.extend(self.step(line.trim_start(), lines, depth));
        }
        self.plans.push(steps);
        self.plans.len() - 1
    }

    fn step(
        &mut self,
        line: &'static str,
        lines: &mut Peekable<Lines<'static>>,
        depth: usize,
    ) -> Option<PlanStep> {
        let (verb, rest) = line.split_once(' ')?;
        let (field, value) = rest.split_once(' ').unwrap_or((rest, ""));
        Some(match verb {
            "call" => match self.plan(rest) {
                Some(plan) => PlanStep::Run(plan),
                None => PlanStep::Call(native(rest)?),
            },
            "absent" => PlanStep::Absent(field, read_value(value)?),
            "zero" => PlanStep::Zero(field, read_value(value)?),
            "set" => PlanStep::Set(field, read_value(value)?),
            "remove" => PlanStep::Remove(field),
            "copy" => PlanStep::Copy(path(field), path(value)),
            "merge" => PlanStep::Merge(field, value),
            "in" => {
                let plan = match value {
                    "" => self.steps(lines, depth + 1),
                    name => self.plan(name)?,
                };
                match field {
                    "*" => PlanStep::Each(plan),
                    field => PlanStep::In(field, plan),
                }
            }
            "part" => PlanStep::Part(field, self.steps(lines, depth + 1)),
            "when" => PlanStep::When(path(field), read_test(value)?, self.steps(lines, depth + 1)),
            "gate" | "ungate" => PlanStep::Gate(field, verb == "gate", self.steps(lines, depth + 1)),
            "since" | "until" => {
                let plan = self.steps(lines, depth + 1);
                let release = Release::parse_version(field)?;
                let is_reached = match verb {
                    "since" => self.version >= release,
                    _ => self.version <= release,
                };
                return is_reached.then_some(PlanStep::Run(plan));
            }
            _ => return None,
        })
    }

    /// A plan by its name: `core/v1.SetDefaults_Pod`
    fn plan(&self, name: &str) -> Option<usize> {
        let of_any_version = || {
            let (group, of) = name.split_once('/')?;
            let (_, of) = of.split_once('.')?;
            self.named.get(format!("{group}/*.{of}").as_str())
        };
        self.named.get(name).or_else(of_any_version).copied()
    }
}

/// A function that is more than steps.
fn native(name: &str) -> Option<DefaultFunction> {
    defaults::function(name).or_else(|| internal::function(name))
}

fn path(text: &'static str) -> FieldPath {
    text.split('.').collect()
}

fn read_test(text: &'static str) -> Option<ValueTest> {
    let (test, rest) = text.split_once(' ').unwrap_or((text, ""));
    Some(match test {
        "absent" => ValueTest::Absent(true),
        "present" => ValueTest::Absent(false),
        "empty" => ValueTest::Empty(true),
        "set" => ValueTest::Empty(false),
        "is" => ValueTest::OneOf(rest.split(' ').filter_map(read_value).collect()),
        "lacks" => ValueTest::Lacks(rest),
        _ => return None,
    })
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

    /// No step of a table is missing.
    #[track_caller]
    fn check(table: &'static str, version: (u32, u32)) {
        let plans = ReleasePlans::read(table, version);
        let lines = || FUNCTIONS.lines().chain(table.lines());
        let is_left_out = |line: &str| match line.trim_start().split_once(' ') {
            Some(("since", release)) => Release::parse_version(release).unwrap() > version,
            Some(("until", release)) => Release::parse_version(release).unwrap() < version,
            _ => false,
        };
        let written = lines().filter(|line| line.starts_with(' ') && !is_left_out(line));
        let steps: usize = plans.plans.iter().map(Vec::len).sum();
        assert_eq!(steps, written.count());
        let kinds = lines().filter(|line| line.starts_with("kind "));
        assert_eq!(plans.kinds.len(), kinds.count());
    }

    #[test]
    fn every_step_is_read() {
        for release in Release::list() {
            check(release.tables().defaults, release.version());
            check(release.tables().conversions, release.version());
        }
    }
}
