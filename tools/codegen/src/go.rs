//! Go's declarations of API types: structs with JSON tags, and names for scalars, lists and maps.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The types of a package.
#[derive(Debug, Default)]
pub(super) struct Package {
    /// Group and version, for packages of an API group.
    pub(super) group_version: Option<(String, String)>,
    pub(super) structs: BTreeMap<String, Vec<Field>>,
    pub(super) aliases: BTreeMap<String, Shape>,
}

/// A field of a struct.
#[derive(Debug)]
pub(super) struct Field {
    /// Its name in JSON; `None` for an embedded struct, whose fields count as own.
    pub(super) name: Option<String>,
    /// Its name in Go; none of its own where it is embedded.
    pub(super) go: String,
    /// Its number in protocol buffers, which is its place in the text of a pointer to the struct.
    pub(super) number: u32,
    pub(super) shape: Shape,
    pub(super) pointer: bool,
    pub(super) omit_empty: bool,
    pub(super) omit_zero: bool,
}

/// What a field holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    Scalar(&'static str),
    List(Box<Shape>),
    Map(Box<Shape>),
    /// `core/v1.Pod`
    Named(String),
}

/// Go modules on disk.
pub struct Modules<'m> {
    /// `k8s.io/api`, once for each release: later ones add the versions, types and fields that are not in the ones before.
    pub api: &'m [PathBuf],
    /// `k8s.io/apimachinery`
    pub apimachinery: &'m Path,
    /// `k8s.io/apiextensions-apiserver`
    pub apiextensions: &'m Path,
    /// `k8s.io/kube-aggregator`
    pub aggregator: &'m Path,
}

/// All packages: `core/v1` → types.
pub(super) fn read(modules: &Modules<'_>) -> Result<BTreeMap<String, Package>, String> {
    let mut packages = BTreeMap::new();
    for api in modules.api {
        for group in directories(api)? {
            read_group(&api.join(&group), &group, &mut packages)?;
        }
    }
    for (module, group) in [
        (modules.apiextensions, "apiextensions"),
        (modules.aggregator, "apiregistration"),
    ] {
        read_group(&module.join("pkg/apis").join(group), group, &mut packages)?;
    }
    let meta = modules.apimachinery.join("pkg/apis/meta/v1");
    packages.insert("meta/v1".to_owned(), read_package(&meta, "meta/v1")?);
    Ok(packages)
}

/// Adds the packages of a group, and to those that are known what they lack.
fn read_group(directory: &Path, group: &str, packages: &mut BTreeMap<String, Package>) -> Result<(), String> {
    for version in directories(directory)? {
        let directory = directory.join(&version);
        let path = format!("{group}/{version}");
        if version.starts_with('v') && directory.join("register.go").exists() {
            let mut package = read_package(&directory, &path)?;
            package.group_version = group_name(&directory)?.map(|group| (group, version));
            match packages.get_mut(&path) {
                Some(known) => known.add(package),
                None => drop(packages.insert(path, package)),
            }
        }
    }
    Ok(())
}

impl Package {
    /// Adds the types and fields of another release. Fields that this one would never leave out are not added: it does not
    /// write them.
    fn add(&mut self, other: Package) {
        for (name, fields) in other.structs {
            let known = self.structs.entry(name).or_default();
            let is_new = known.is_empty();
            for field in fields {
                let is_known = known.iter().any(|known| known.name == field.name);
                if is_new || !is_known && field.omit_empty {
                    known.push(field);
                }
            }
        }
        for (name, shape) in other.aliases {
            self.aliases.entry(name).or_insert(shape);
        }
    }
}

fn directories(of: &Path) -> Result<Vec<String>, String> {
    let entries = std::fs::read_dir(of).map_err(|error| format!("{}: {error}", of.display()))?;
    let entries = entries.filter_map(|entry| entry.ok().filter(|entry| entry.path().is_dir()));
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    Ok(names)
}

fn group_name(directory: &Path) -> Result<Option<String>, String> {
    let text = read_text(&directory.join("register.go"))?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("const GroupName = "));
    Ok(line.map(|name| name.trim_matches('"').to_owned()))
}

fn read_text(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn read_package(directory: &Path, path: &str) -> Result<Package, String> {
    let mut package = Package::default();
    let entries =
        std::fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name().into_string().unwrap_or_default();
        let generated =
            name.starts_with("generated") || name.starts_with("zz_") || name.ends_with("_test.go");
        if name.ends_with(".go") && !generated {
            read_file(&read_text(&entry.path())?, path, &mut package);
        }
    }
    Ok(package)
}

fn read_file(text: &str, path: &str, package: &mut Package) {
    let mut imports = BTreeMap::new();
    let mut current: Option<(String, Vec<Field>)> = None;
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with("//")) {
        imports.extend(import(line));
        if let Some((name, fields)) = &mut current {
            if line == "}" {
                package
                    .structs
                    .insert(std::mem::take(name), std::mem::take(fields));
                current = None;
            } else {
                fields.extend(field(line, path, &imports));
            }
        } else if let Some(declaration) = line.strip_prefix("type ") {
            match declaration.split_once(' ') {
                Some((name, "struct {")) => current = Some((name.to_owned(), Vec::new())),
                Some((name, of)) if !of.starts_with("struct") && !of.starts_with("interface") => {
                    let (shape, _) = shape(of.trim_start_matches("= "), path, &imports);
                    package.aliases.insert(name.to_owned(), shape);
                }
                _ => {}
            }
        }
    }
}

/// `metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"` → `metav1`, `meta/v1`
fn import(line: &str) -> Option<(String, String)> {
    let line = line.trim_start_matches("import ");
    let (alias, rest) = line.split_once('"')?;
    let path = rest.strip_suffix('"')?;
    let known = path
        .strip_prefix("k8s.io/api/")
        .or_else(|| path.strip_prefix("k8s.io/apimachinery/pkg/apis/"))?;
    let alias = match alias.trim() {
        "" => path.rsplit('/').next()?,
        alias => alias,
    };
    Some((alias.to_owned(), known.to_owned()))
}

/// `Name []string `json:"name,omitempty"``, or an embedded type alone.
fn field(line: &str, path: &str, imports: &BTreeMap<String, String>) -> Option<Field> {
    let (declaration, tag) = line.split_once('`')?;
    let json = tag.split_once("json:\"")?.1.split_once('"')?.0;
    let mut options = json.split(',');
    let name = options.next().unwrap_or_default();
    let options: Vec<&str> = options.collect();
    if name == "-" {
        return None;
    }
    let of = declaration.trim();
    let (go, of) = of.split_once(' ').map_or(("", of), |(go, of)| (go, of.trim()));
    let number = tag
        .split_once("protobuf:\"")
        .and_then(|(_, tag)| tag.split(',').nth(1)?.parse().ok());
    let (shape, pointer) = shape(of, path, imports);
    Some(Field {
        name: (!name.is_empty()).then(|| name.to_owned()),
        go: go.to_owned(),
        number: number.unwrap_or_default(),
        shape,
        pointer,
        omit_empty: options.contains(&"omitempty"),
        omit_zero: options.contains(&"omitzero"),
    })
}

/// The shape of a Go type, and whether it is a pointer.
fn shape(of: &str, path: &str, imports: &BTreeMap<String, String>) -> (Shape, bool) {
    let of = of.split(" //").next().unwrap_or(of).trim();
    if let Some(of) = of.strip_prefix('*') {
        return (shape(of, path, imports).0, true);
    }
    let inner = |of: &str| Box::new(shape(of, path, imports).0);
    let shape = match of {
        "bool" => Shape::Scalar("bool"),
        "string" => Shape::Scalar("string"),
        "int32" | "uint16" => Shape::Scalar("int32"),
        "int" | "int64" | "uint32" | "uint64" => Shape::Scalar("int64"),
        "float32" | "float64" => Shape::Scalar("float"),
        "[]byte" => Shape::Scalar("bytes"),
        "resource.Quantity" => Shape::Scalar("quantity"),
        "intstr.IntOrString" => Shape::Scalar("int-or-string"),
        "runtime.RawExtension" | "runtime.Object" => Shape::Scalar("json"),
        _ => match (
            of.strip_prefix("[]"),
            of.strip_prefix("map[").and_then(|of| of.split_once(']')),
        ) {
            (Some(element), _) => Shape::List(inner(element)),
            (_, Some((_, value))) => Shape::Map(inner(value)),
            _ => named(of, path, imports),
        },
    };
    (shape, false)
}

fn named(of: &str, path: &str, imports: &BTreeMap<String, String>) -> Shape {
    let name = match of.split_once('.') {
        None => format!("{path}.{of}"),
        Some((alias, own)) => match imports.get(alias) {
            Some(path) => format!("{path}.{own}"),
            None => format!("{alias}.{own}"),
        },
    };
    match name.as_str() {
        "meta/v1.Time" => Shape::Scalar("time"),
        "meta/v1.MicroTime" => Shape::Scalar("micro-time"),
        "meta/v1.Duration" => Shape::Scalar("duration"),
        "meta/v1.FieldsV1" => Shape::Scalar("json"),
        _ if is_free(&name) => Shape::Scalar("json"),
        _ => Shape::Named(name),
    }
}

/// Whether a type of schemas within CustomResourceDefinitions reads itself: it may be one thing or another.
fn is_free(name: &str) -> bool {
    let own = name
        .strip_prefix("apiextensions/")
        .and_then(|name| name.split_once('.'));
    own.is_some_and(|(_, own)| own == "JSON" || own.starts_with("JSONSchemaPropsOr"))
}
