//! Which fields objects have before a policy sees them: those that their schema requires, and those that an API server
//! fills in where they are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use pratique_harness::ToolError;
use serde_json::Value;

use super::merge::schemas;
use super::types::GoTypes;
use super::{fields, openapi, within};

const HEAD: &str = "\
# Which fields objects have when admission sees them. Made by `cargo xtask codegen`; do not edit.
# type TYPE
#  PATH !          required by the schema
#  PATH =VALUE     filled in with the value by defaulting where it is left out and what holds it is there
#  PATH =          the same, with a value that depends on others
# PATH: fields from the type on, through all elements of lists.
";

/// The facts of types: by path, `!` or `=` and a value.
type TypeFacts = BTreeMap<String, BTreeMap<String, String>>;

/// Writes the table. `defaulting` has `calls.json` and `functions.json`: which functions default which parts of a kind,
/// and what these functions set.
pub(super) fn run(
    directories: &[PathBuf],
    types: &GoTypes,
    names: &BTreeSet<String>,
    kinds: &BTreeMap<String, String>,
    defaulting: &Path,
    table: &Path,
) -> Result<(), ToolError> {
    let mut facts = required(directories, names)?;
    let calls = read(&defaulting.join("calls.json"))?;
    let functions = read(&defaulting.join("functions.json"))?;
    for (kind, calls) in calls.as_object().into_iter().flatten() {
        let kind = match kind.split_once(' ') {
            Some((version, name)) if !version.contains('/') => format!("/{version}/{name}"),
            _ => kind.replacen(' ', "/", 1),
        };
        let Some(root) = kinds.get(&kind) else { continue };
        for call in calls.as_array().into_iter().flatten() {
            add_call(&mut facts, types, root, call, &functions);
        }
    }
    write(&facts, table)
}

/// Writes the table of a release by that of another one: what is required, and the values of generated functions, are the release's
/// own; what functions by hand set is the same, as far as there are the fields.
pub(super) fn run_changed(
    directories: &[PathBuf],
    types: &GoTypes,
    names: &BTreeSet<String>,
    other: &str,
    objects: &Path,
    table: &Path,
) -> Result<(), ToolError> {
    let mut facts = required(directories, names)?;
    let document = read(objects)?;
    let by_kind = document.get("defaults").and_then(Value::as_object);
    for (kind, steps) in by_kind.into_iter().flatten() {
        let Some(root) = types.kinds.get(kind) else {
            continue;
        };
        for step in steps.as_array().into_iter().flatten() {
            add_step(&mut facts, types, root, step);
        }
    }
    let mut current = "";
    for line in other.lines() {
        if let Some(name) = line.strip_prefix("type ") {
            current = name;
        } else if let Some((path, how)) = line.strip_prefix(' ').and_then(|line| line.split_once(' '))
            && how != "!"
            && names.contains(current)
            && has_field(types, current, path)
        {
            let of = facts.entry(current.to_owned()).or_default();
            of.entry(path.to_owned()).or_insert_with(|| how.to_owned());
        }
    }
    write(&facts, table)
}

fn write(facts: &TypeFacts, table: &Path) -> Result<(), ToolError> {
    let mut text = String::from(HEAD);
    for (name, fields) in facts {
        let _ = writeln!(text, "type {name}");
        for (path, how) in fields {
            let _ = writeln!(text, " {path} {how}");
        }
    }
    std::fs::write(table, text).map_err(ToolError::file(table))
}

/// Adds the value that a generated function sets.
fn add_step(facts: &mut TypeFacts, types: &GoTypes, root: &str, step: &Value) {
    let path = step.get("path").and_then(Value::as_array);
    let names = path.into_iter().flatten().filter_map(Value::as_str);
    let names: Vec<&str> = names.filter(|name| *name != "*").collect();
    let (Some((field, holder)), Some(value)) = (names.split_last(), step.get("value")) else {
        return;
    };
    if let Some(of) = step.get("when").and(type_at(types, root, &holder.join("."))) {
        add(facts, of, field, value);
    }
}

/// Whether a type has a field at a path.
fn has_field(types: &GoTypes, of: &str, path: &str) -> bool {
    let (holder, field) = path.rsplit_once('.').unwrap_or(("", path));
    type_at(types, of, holder).is_some_and(|holder| fields(types, &holder).contains_key(field))
}

fn read(path: &Path) -> Result<Value, ToolError> {
    let text = std::fs::read(path).map_err(ToolError::file(path))?;
    serde_json::from_slice(&text).map_err(within(path.display()))
}

/// Required fields of the OpenAPI documents.
fn required(directories: &[PathBuf], names: &BTreeSet<String>) -> Result<TypeFacts, ToolError> {
    let mut facts = TypeFacts::new();
    let texts = directories.iter().map(|directory| openapi::texts(directory));
    let texts = texts.collect::<Result<Vec<_>, _>>()?;
    for (document, text) in texts.into_iter().flatten() {
        let parsed = pratique_json::parse(&text).map_err(within(&document))?;
        for (name, schema) in schemas(&parsed) {
            let Some(name) = type_name(name).filter(|name| names.contains(name)) else {
                continue;
            };
            let fields = schema.get("required").and_then(pratique_json::Value::as_array);
            for field in fields
                .into_iter()
                .flatten()
                .filter_map(pratique_json::Value::as_str)
            {
                let of = facts.entry(name.clone()).or_default();
                of.insert(field.to_owned(), "!".to_owned());
            }
        }
    }
    Ok(facts)
}

/// `io.k8s.api.core.v1.PodSpec` → `core/v1.PodSpec`
fn type_name(schema: &str) -> Option<String> {
    let mut words = schema.rsplit('.');
    let (name, version, group) = (words.next()?, words.next()?, words.next()?);
    Some(format!("{group}/{version}.{name}"))
}

/// Adds what one call of a defaulting function sets, or the value that is set at its path itself.
fn add_call(facts: &mut TypeFacts, types: &GoTypes, root: &str, call: &Value, functions: &Value) {
    let text = |of: &Value, field: &str| {
        of.get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let path = text(call, "path");
    if let Some(value) = call.get("value") {
        let (holder, field) = path.rsplit_once('.').unwrap_or(("", &path));
        if let Some(of) = type_at(types, root, holder) {
            add(facts, of, field, value);
        }
        return;
    }
    let Some(of) = type_at(types, root, &path) else {
        return;
    };
    let rules = functions.get(text(call, "call")).and_then(Value::as_array);
    for rule in rules.into_iter().flatten() {
        let (field, when) = (text(rule, "path"), text(rule, "when"));
        let is_name = !field.is_empty() && !field.contains(['{', '(']);
        if let Some(value) = rule.get("set")
            && is_name
            && is_usual(&when)
            && !copies_optional(facts, &of, value)
            && value.as_str() != Some("removed")
        {
            add(facts, of.clone(), &field.replace("[*]", ""), value);
        }
    }
}

/// Whether a value is that of another field of the type, which may be left out itself.
fn copies_optional(facts: &TypeFacts, of: &str, value: &Value) -> bool {
    let source = value.as_str().and_then(|text| text.strip_prefix('='));
    source.is_some_and(|source| {
        let is_field = source.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_field && !facts.get(of).is_some_and(|fields| fields.contains_key(source))
    })
}

/// Whether a function sets its value wherever the field is left out, or where other fields have their own defaults.
fn is_usual(when: &str) -> bool {
    let rest = ["absent", "empty", "zero"]
        .into_iter()
        .find_map(|word| when.strip_prefix(word));
    match rest {
        Some("") => true,
        Some(rest) => {
            let by_default = ["RollingUpdate", "by now", "the tag of the image", "the number 0"];
            let is_gated = rest.contains("the gate");
            !is_gated && by_default.iter().any(|words| rest.contains(words))
        }
        None => false,
    }
}

fn add(facts: &mut TypeFacts, of: String, path: &str, value: &Value) {
    let how = match value {
        Value::String(text) if text.starts_with('=') || text.contains(' ') => "=".to_owned(),
        value => format!("={value}"),
    };
    let of = facts.entry(of).or_default();
    of.entry(path.to_owned()).or_insert(how);
}

/// The type at a path of fields of another.
fn type_at(types: &GoTypes, root: &str, path: &str) -> Option<String> {
    let mut at = root.to_owned();
    for name in path.split('.').filter(|name| !name.is_empty()) {
        let name = name.trim_end_matches("[*]").trim_end_matches("{*}");
        let shape = fields(types, &at).remove(name)?.shape;
        at = shape.trim_start_matches(['[', '{']).to_owned();
    }
    at.contains('.').then_some(at)
}
