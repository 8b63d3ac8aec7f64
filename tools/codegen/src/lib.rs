//! Writes the tables of Kubernetes' built-in types from their Go declarations and OpenAPI documents.
//!
//! Go knows what is a pointer and what is left out when empty, OpenAPI how lists and maps are merged and what is
//! required; what defaulting fills in is written down in tables of their own.

mod constraints;
mod discovery;
mod given;
mod go;
mod merge;
mod openapi;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

pub use go::Modules;
use go::{Field, Package, Shape};

/// Reads discovery documents of directories and the table of the resources that every server serves, `served`; writes the
/// table `optional` of all others.
pub fn run_discovery(discovery: &[PathBuf], served: &Path, optional: &Path) -> Result<(), String> {
    discovery::run(discovery, served, optional)
}

/// Reads OpenAPI documents of directories, and Go modules; writes `types.txt`, `layout.txt`, `merge.txt` and
/// `constraints.txt` into the directory `data`, and `given.txt` if there are tables of `defaulting`.
pub fn run(
    openapi: &[PathBuf],
    modules: &Modules<'_>,
    defaulting: Option<&Path>,
    data: &Path,
) -> Result<(), String> {
    let packages = go::read(modules)?;
    let kinds = kinds(&packages);
    let roots = kinds.values().cloned();
    let types = reachable(&packages, roots.chain(OTHERS.map(str::to_owned)));
    let mut text = String::from(HEAD);
    for (kind, name) in &kinds {
        let _ = writeln!(text, "kind {kind} {name}");
    }
    let mut layout = String::from(LAYOUT_HEAD);
    for name in &types {
        write_layout(&packages, name, &mut layout);
    }
    for name in &types {
        let _ = writeln!(text, "type {name}");
        for (field, of) in fields(&packages, name) {
            let _ = writeln!(text, " {field} {} {}{}", of.presence, of.shape, of.go);
        }
    }
    let table = data.join("types.txt");
    std::fs::write(&table, text).map_err(|error| format!("{}: {error}", table.display()))?;
    let table = data.join("layout.txt");
    std::fs::write(&table, layout).map_err(|error| format!("{}: {error}", table.display()))?;
    if let Some(defaulting) = defaulting {
        given::run(
            openapi,
            &packages,
            &types,
            &kinds,
            defaulting,
            &data.join("given.txt"),
        )?;
    }
    merge::run(openapi, &data.join("merge.txt"))?;
    constraints::run(openapi, &data.join("constraints.txt"))
}

/// Types of no kind, which conversions between versions keep in annotations.
const OTHERS: [&str; 3] = [
    "autoscaling/v1.HorizontalPodAutoscalerCondition",
    "autoscaling/v1.MetricSpec",
    "autoscaling/v1.MetricStatus",
];

const HEAD: &str = "\
# The built-in types of Kubernetes. Made by `cargo xtask codegen`; do not edit.
# kind GROUP/VERSION/KIND TYPE
# type TYPE
#  FIELD PRESENCE SHAPE [GO] [^EMBEDDED]
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

/// The fields of a struct in Go's order, in a line.
fn write_layout(packages: &BTreeMap<String, Package>, name: &str, text: &mut String) {
    let _ = writeln!(text, "{name}{}", layout(packages, name));
}

fn layout(packages: &BTreeMap<String, Package>, name: &str) -> String {
    let declared = name
        .rsplit_once('.')
        .and_then(|(path, own)| Some((packages.get(path)?, own)));
    // A type may be another's by a name of its own.
    if let Some(Shape::Named(of)) = declared.and_then(|(package, own)| package.aliases.get(own)) {
        return layout(packages, of);
    }
    let declared = declared.and_then(|(package, own)| package.structs.get(own));
    let mut text = String::new();
    for field in declared.into_iter().flatten() {
        let number = field.number;
        match (&field.name, &field.shape) {
            (None, Shape::Named(embedded)) => {
                let _ = write!(text, " ^{embedded}:{number} ({} )", layout(packages, embedded));
            }
            (None, _) => {}
            (Some(json), _) if capitalized(json) == field.go => {
                let _ = write!(text, " {json}:{number}");
            }
            // An embedded struct that is a field in JSON is called as its type.
            (Some(json), Shape::Named(of)) if field.go.is_empty() => {
                let own = of.rsplit_once('.').map_or(of.as_str(), |(_, own)| own);
                let _ = write!(text, " {json}={own}:{number}");
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

/// Groups whose kinds are no resources of an API server.
const NO_RESOURCES: [&str; 3] = ["admission.k8s.io", "apidiscovery.k8s.io", "imagepolicy.k8s.io"];

/// `GROUP/VERSION/KIND` → type, for all versions: those that are served unless asked for, and those that were served once,
/// too.
fn kinds(packages: &BTreeMap<String, Package>) -> BTreeMap<String, String> {
    let mut kinds = BTreeMap::new();
    for (path, package) in packages {
        let Some((group, version)) = &package.group_version else {
            continue;
        };
        if NO_RESOURCES.contains(&group.as_str()) {
            continue;
        }
        for (name, fields) in &package.structs {
            let is_kind = fields
                .iter()
                .any(|field| field.shape == Shape::Named(TYPE_META.to_owned()));
            if is_kind && !name.ends_with("List") {
                kinds.insert(format!("{group}/{version}/{name}"), format!("{path}.{name}"));
            }
        }
    }
    kinds
}

const TYPE_META: &str = "meta/v1.TypeMeta";

/// All types that are part of `roots`.
fn reachable(packages: &BTreeMap<String, Package>, roots: impl Iterator<Item = String>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open: Vec<String> = roots.collect();
    while let Some(name) = open.pop() {
        if !found.insert(name.clone()) {
            continue;
        }
        for of in fields(packages, &name).values() {
            let inner = of.shape.trim_start_matches(['[', '{']);
            if inner.contains('.') {
                open.push(inner.to_owned());
            }
        }
    }
    found
}

/// A field as the table has it.
struct Entry {
    presence: char,
    shape: String,
    /// The words for Go's own names, each with a blank before it; empty where the shape tells.
    go: String,
}

impl Entry {
    /// The field as one of a struct that embeds the one that has it.
    fn within(self, embedded: &str) -> Self {
        let go = match self.go.split_once(" ^") {
            None => format!("{} ^{embedded}", self.go),
            Some((go, inner)) => format!("{go} ^{embedded}.{inner}"),
        };
        Entry { go, ..self }
    }
}

/// The fields of a struct by their JSON names, those of embedded structs included.
fn fields(packages: &BTreeMap<String, Package>, name: &str) -> BTreeMap<String, Entry> {
    let mut entries = BTreeMap::new();
    let declared = name
        .rsplit_once('.')
        .and_then(|(path, own)| packages.get(path)?.structs.get(own));
    for field in declared.into_iter().flatten() {
        match (&field.name, &field.shape) {
            (None, Shape::Named(embedded)) => {
                let own = embedded
                    .rsplit_once('.')
                    .map_or(embedded.as_str(), |(_, own)| own);
                // It may be another name for a struct of another version.
                let promoted = fields(packages, &resolve(packages, &field.shape)).into_iter();
                entries.extend(promoted.map(|(name, entry)| (name, entry.within(own))));
            }
            (None, _) => {}
            (Some(json), _) => {
                entries.insert(json.clone(), entry(packages, field));
            }
        }
    }
    entries
}

fn entry(packages: &BTreeMap<String, Package>, field: &Field) -> Entry {
    let shape = resolve(packages, &field.shape);
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
    Entry { presence, shape, go }
}

/// What Go calls a shape: `[]v1.Container`.
fn go_name(shape: &Shape) -> String {
    match shape {
        Shape::List(element) => format!("[]{}", go_name(element)),
        Shape::Map(value) => format!("map[string]{}", go_name(value)),
        Shape::Scalar(name) => (*name).to_owned(),
        Shape::Named(name) => name
            .rsplit_once('/')
            .map_or(name.as_str(), |(_, own)| own)
            .to_owned(),
    }
}

/// A resolved shape from its text.
fn read_back(text: &str) -> Shape {
    match (text.strip_prefix('['), text.strip_prefix('{')) {
        (Some(element), _) => Shape::List(Box::new(read_back(element))),
        (_, Some(value)) => Shape::Map(Box::new(read_back(value))),
        _ => Shape::Named(text.to_owned()),
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

/// Texts with names of their own, in packages that are not read.
const TEXTS: [&str; 2] = ["types.UID", "types.NodeName"];

/// A shape with names of scalars, lists and maps replaced by what they stand for.
fn resolve(packages: &BTreeMap<String, Package>, shape: &Shape) -> String {
    match shape {
        Shape::List(element) => format!("[{}", resolve(packages, element)),
        Shape::Map(value) => format!("{{{}", resolve(packages, value)),
        Shape::Scalar(name) => (*name).to_owned(),
        Shape::Named(name) if TEXTS.contains(&name.as_str()) => "string".to_owned(),
        Shape::Named(name) => {
            let declared = name
                .rsplit_once('.')
                .and_then(|(path, own)| packages.get(path)?.aliases.get(own));
            declared.map_or_else(|| name.clone(), |shape| resolve(packages, shape))
        }
    }
}
