//! Writes the tables of Kubernetes' built-in types from their Go types and OpenAPI documents.
//!
//! Go knows what is a pointer and what is left out when empty, OpenAPI how lists and maps are merged and what is
//! required; what defaulting fills in is written down in tables of their own.

mod changes;
mod constraints;
mod declarative;
mod descriptions;
mod discovery;
mod gates;
mod given_fields;
mod lifecycle;
mod merge;
mod objects;
mod openapi;
mod release;
mod release_list;
mod types;
mod validation;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Write as _};
use std::path::{Path, PathBuf};

use pratique_harness::ToolError;

use types::{FieldShape, GoTypes, StructField};

pub use release::{ReleaseSources, describe_changes, run_release};
pub use validation::run_validation;

/// Reads the lifecycles of the types of Go modules, and writes the table of versions that are no longer served.
pub fn run_lifecycle(modules: &[PathBuf], table: &Path) -> Result<(), ToolError> {
    lifecycle::run(modules, table)
}

/// Reads the OpenAPI documents of a directory, and writes the table of what fields are for.
pub fn run_descriptions(openapi: &Path, table: &Path) -> Result<(), ToolError> {
    descriptions::run(openapi, table)
}

/// Reads what `tools/go/objects` writes of a release, and OpenAPI documents of directories; writes the tables of the release
/// into the directory `data`. `given.txt` is made of the tables of `defaulting`, or of the one of another release; without both it
/// stays as it is.
fn run(
    objects: &Path,
    openapi: &[PathBuf],
    defaulting: Option<&Path>,
    given: Option<&str>,
    data: &Path,
) -> Result<(), ToolError> {
    let types = GoTypes::read(objects)?;
    // Not every release has all of the others.
    let others = OTHERS.lines().filter(|name| types.structs.contains_key(*name));
    let roots = types.kinds.values().cloned().chain(others.map(str::to_owned));
    let names = reachable(&types, roots);
    let mut text = String::from(HEAD);
    for (kind, name) in &types.kinds {
        let word = if has_objects(kind, name) { "kind" } else { "other" };
        let _ = writeln!(text, "{word} {kind} {name}");
    }
    let with_floats = with_floats(&types, &names);
    let mut layout = String::from(LAYOUT_HEAD);
    for name in &names {
        write_type(&types, name, with_floats.contains(name), &mut text);
        write_layout(&types, name, &mut layout);
    }
    for (name, text) in [("types.txt", text), ("layout.txt", layout)] {
        let table = data.join(name);
        std::fs::write(&table, text).map_err(ToolError::file(&table))?;
    }
    objects::run(objects, data)?;
    let table = data.join("given.txt");
    match (defaulting, given) {
        (Some(defaulting), _) => {
            given_fields::run(openapi, &types, &names, &types.kinds, defaulting, &table)?
        }
        (None, Some(other)) => given_fields::run_changed(openapi, &types, &names, other, objects, &table)?,
        (None, None) => {}
    }
    merge::run(openapi, &data.join("merge.txt"))?;
    constraints::run(openapi, &data.join("constraints.txt"))
}

/// Types of no kind that has objects: what conversions between versions keep in annotations, what is in manifests and
/// configuration files, and what webhooks answer.
const OTHERS: &str = include_str!("others.txt");

const HEAD: &str = "\
# The built-in types of Kubernetes. Made by `cargo xtask codegen`; do not edit.
# kind GROUP/VERSION/KIND TYPE
# other GROUP/VERSION/KIND TYPE: a kind without objects of its own: a list, options, a review of webhooks
# type TYPE [floats]
#  FIELD PRESENCE SHAPE [GO] [^EMBEDDED]
# `floats`: there are floating-point numbers in it, at whatever depth.
# PRESENCE: `!` always there, with its zero value if need be; `n` always there, perhaps null;
#   `?` left out when null; `-` left out when empty.
# SHAPE: a scalar, a TYPE, `[SHAPE` for a list, `{SHAPE` for a map.
# GO: what Go calls the field's type, where the shape does not tell. EMBEDDED: the embedded struct that it belongs to.
";

const LAYOUT_HEAD: &str = "\
# How Go lays out the built-in types of Kubernetes. Made by `cargo xtask codegen`; do not edit.
# TYPE FIELD...
# FIELD: JSON_NAME[=GO_NAME]:NUMBER, in Go's order; GO_NAME where it is not the JSON name in upper case.
#   ^TYPE:NUMBER for an embedded struct, whose fields follow in parentheses.
";

/// A struct with its fields by name, each in a line.
fn write_type(types: &GoTypes, name: &str, has_floats: bool, text: &mut String) {
    let floats = if has_floats { " floats" } else { "" };
    let _ = writeln!(text, "type {name}{floats}");
    for (field, of) in fields(types, name) {
        let _ = writeln!(text, " {field} {} {}{}", of.presence, of.shape, of.go);
    }
}

/// The fields of a struct in Go's order, in a line.
fn write_layout(types: &GoTypes, name: &str, text: &mut String) {
    let _ = writeln!(text, "{name}{}", layout(types, name));
}

fn layout(types: &GoTypes, name: &str) -> String {
    let declared = types.structs.get(name);
    let mut text = String::new();
    for field in declared.into_iter().flatten() {
        let number = field.number;
        match (&field.name, &field.shape) {
            (None, FieldShape::Named(embedded)) => {
                let _ = write!(text, " ^{embedded}:{number} ({} )", layout(types, embedded));
            }
            (None, _) => {}
            (Some(json), _) if capitalized(json) == field.go => {
                let _ = write!(text, " {json}:{number}");
            }
            // An embedded struct that is a field in JSON is called as its type.
            (Some(json), FieldShape::Named(of)) if field.go.is_empty() => {
                let local = of.rsplit_once('.').map_or(of.as_str(), |(_, local)| local);
                let _ = write!(text, " {json}={local}:{number}");
            }
            (Some(json), _) => {
                let _ = write!(text, " {json}={}:{number}", field.go);
            }
        }
    }
    text
}

fn capitalized(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Groups of what a server sends to webhooks: no server serves them.
const PROTOCOLS: [&str; 2] = ["admission.k8s.io/", "imagepolicy.k8s.io/"];

/// Whether there are objects of a kind: not so of lists, of what every group has, and of protocols.
fn has_objects(kind: &str, type_name: &str) -> bool {
    !kind.ends_with("List")
        && !type_name.starts_with("meta/")
        && !PROTOCOLS.iter().any(|group| kind.starts_with(group))
}

/// All types that are part of `roots`.
fn reachable(types: &GoTypes, roots: impl Iterator<Item = String>) -> BTreeSet<String> {
    let mut reachable_types = BTreeSet::new();
    let mut open: Vec<String> = roots.collect();
    while let Some(name) = open.pop() {
        if !reachable_types.insert(name.clone()) {
            continue;
        }
        for of in fields(types, &name).values() {
            let inner = of.shape.trim_start_matches(['[', '{']);
            if inner.contains('.') {
                open.push(inner.to_owned());
            }
        }
    }
    reachable_types
}

/// The types with floating-point numbers in them, at whatever depth.
fn with_floats(types: &GoTypes, names: &BTreeSet<String>) -> BTreeSet<String> {
    let mut float_types = BTreeSet::new();
    loop {
        let has_floats = |name: &&String| {
            let of = fields(types, name);
            let mut shapes = of.values().map(|of| of.shape.trim_start_matches(['[', '{']));
            !float_types.contains(*name)
                && shapes.any(|shape| shape == "float" || float_types.contains(shape))
        };
        let more: Vec<String> = names.iter().filter(has_floats).cloned().collect();
        if more.is_empty() {
            return float_types;
        }
        float_types.extend(more);
    }
}

/// A field as the table has it.
struct TableEntry {
    presence: char,
    shape: String,
    /// The words for Go's own names, each with a blank before it; empty where the shape tells.
    go: String,
}

impl TableEntry {
    /// The field as one of a struct that embeds the one that has it.
    fn within(self, embedded: &str) -> Self {
        let go = match self.go.split_once(" ^") {
            None => format!("{} ^{embedded}", self.go),
            Some((go, inner)) => format!("{go} ^{embedded}.{inner}"),
        };
        TableEntry { go, ..self }
    }
}

/// The fields of a struct by their JSON names, those of embedded structs included.
fn fields(types: &GoTypes, name: &str) -> BTreeMap<String, TableEntry> {
    let mut entries = BTreeMap::new();
    let declared = types.structs.get(name);
    for field in declared.into_iter().flatten() {
        match (&field.name, &field.shape) {
            (None, FieldShape::Named(embedded)) => {
                let local = embedded
                    .rsplit_once('.')
                    .map_or(embedded.as_str(), |(_, local)| local);
                // It may be another name for a struct of another version.
                let promoted = fields(types, &resolve(types, &field.shape)).into_iter();
                entries.extend(promoted.map(|(name, entry)| (name, entry.within(local))));
            }
            (None, _) => {}
            (Some(json), _) => {
                entries.insert(json.clone(), entry(types, field));
            }
        }
    }
    entries
}

fn entry(types: &GoTypes, field: &StructField) -> TableEntry {
    let shape = resolve(types, &field.shape);
    let collection = shape.starts_with(['[', '{']);
    let opaque = OPAQUE.contains(&shape.as_str()) || shape.contains('.');
    let presence = match (field.pointer, collection, field.omit_empty) {
        _ if field.omit_zero => '-',
        (true, _, true) => '?',
        (true, _, false) | (false, true, false) => 'n',
        // Go takes no struct for empty.
        (false, false, true) if opaque => '!',
        (false, _, true) => '-',
        (false, false, false) => '!',
    };
    let go = match go_name(&field.shape) {
        name if name == go_name(&read_back(&shape)) => String::new(),
        name => format!(" {name}"),
    };
    TableEntry { presence, shape, go }
}

/// The Go name of a shape: `[]v1.Container`.
fn go_name(shape: &FieldShape) -> String {
    match shape {
        FieldShape::List(element) => format!("[]{}", go_name(element)),
        FieldShape::Map(key, value) => format!("map[{key}]{}", go_name(value)),
        FieldShape::Scalar(name) => scalar_go_name(name).to_owned(),
        FieldShape::Named(name) => {
            let local = name.rsplit_once('/').map_or(name.as_str(), |(_, local)| local);
            scalar_go_name(local).to_owned()
        }
    }
}

/// The Go name of a scalar of the table; other names are unchanged.
fn scalar_go_name(name: &str) -> &str {
    match name {
        "quantity" => "resource.Quantity",
        "int-or-string" => "intstr.IntOrString",
        "time" => "v1.Time",
        "micro-time" => "v1.MicroTime",
        other => other,
    }
}

/// A resolved shape from its text.
fn read_back(text: &str) -> FieldShape {
    match (text.strip_prefix('['), text.strip_prefix('{')) {
        (Some(element), _) => FieldShape::List(Box::new(read_back(element))),
        (_, Some(value)) => FieldShape::Map("string".to_owned(), Box::new(read_back(value))),
        _ => FieldShape::Named(text.to_owned()),
    }
}

/// Scalars of the table that are structs in Go.
const OPAQUE: [&str; 6] = [
    "quantity",
    "int-or-string",
    "time",
    "micro-time",
    "duration",
    "json",
];

/// A shape with names of scalars, lists and maps replaced by what they stand for.
fn resolve(types: &GoTypes, shape: &FieldShape) -> String {
    match shape {
        FieldShape::List(element) => format!("[{}", resolve(types, element)),
        FieldShape::Map(_, value) => format!("{{{}", resolve(types, value)),
        FieldShape::Scalar(name) => (*name).to_owned(),
        FieldShape::Named(name) => {
            let alias = types.aliases.get(name);
            alias.map_or_else(|| name.clone(), |shape| resolve(types, shape))
        }
    }
}

/// Names the document that a parser cannot read.
fn within<E: Display>(document: impl Display) -> impl FnOnce(E) -> ToolError {
    move |error| format!("{document}: {error}").into()
}
