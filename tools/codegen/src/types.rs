//! Go's types, as `tools/go/objects` writes them: the fields of structs, and what other names stand for.

use std::collections::BTreeMap;
use std::path::Path;

use pratique_harness::ToolError;
use serde::Deserialize;

use super::within;

/// The Go types of the Kubernetes API.
#[derive(Debug, Default)]
pub(super) struct GoTypes {
    /// The type of each `GROUP/VERSION/KIND`: `core/v1.Pod`.
    pub(super) kinds: BTreeMap<String, String>,
    /// The fields of structs, in Go's order.
    pub(super) structs: BTreeMap<String, Vec<StructField>>,
    /// Names of scalars, lists and maps.
    pub(super) aliases: BTreeMap<String, FieldShape>,
}

/// A field of a struct.
#[derive(Debug)]
pub(super) struct StructField {
    /// Its name in JSON; `None` for an embedded struct, whose fields count as the outer struct's.
    pub(super) name: Option<String>,
    /// Its name in Go.
    pub(super) go: String,
    /// Its number in protocol buffers, which is its place in the text of a pointer to the struct.
    pub(super) number: u32,
    pub(super) shape: FieldShape,
    pub(super) pointer: bool,
    pub(super) omit_empty: bool,
    pub(super) omit_zero: bool,
}

/// The type of a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum FieldShape {
    Scalar(&'static str),
    List(Box<FieldShape>),
    /// With Go's name of the type of its keys.
    Map(String, Box<FieldShape>),
    /// `core/v1.Pod`
    Named(String),
}

/// The output of `tools/go/objects`.
#[derive(Deserialize)]
struct TypesDocument {
    kinds: BTreeMap<String, String>,
    types: BTreeMap<String, DeclaredType>,
}

/// A type with a name.
#[derive(Deserialize)]
struct DeclaredType {
    fields: Option<Vec<DeclaredField>>,
    of: Option<String>,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct DeclaredField {
    json: String,
    go: String,
    r#type: String,
    inline: bool,
    omitempty: bool,
    omitzero: bool,
    number: u32,
}

impl GoTypes {
    /// Reads the types of a release.
    pub(super) fn read(file: &Path) -> Result<Self, ToolError> {
        let document = read(file)?;
        let kinds = document.kinds.into_iter();
        let mut types = GoTypes {
            kinds: kinds.map(|(kind, name)| (kind, short(&name))).collect(),
            ..GoTypes::default()
        };
        for (name, declared) in document.types {
            let name = short(&name);
            if let Some(of) = declared.of {
                types.aliases.insert(name, shape(&of).0);
            } else {
                let fields = declared.fields.into_iter().flatten().map(StructField::from);
                types.structs.insert(name, fields.collect());
            }
        }
        Ok(types)
    }
}

impl From<DeclaredField> for StructField {
    fn from(declared: DeclaredField) -> Self {
        let (shape, pointer) = shape(&declared.r#type);
        StructField {
            name: (!declared.inline).then_some(declared.json),
            go: declared.go,
            number: declared.number,
            shape,
            pointer,
            omit_empty: declared.omitempty,
            omit_zero: declared.omitzero,
        }
    }
}

fn read(file: &Path) -> Result<TypesDocument, ToolError> {
    let text = std::fs::read(file).map_err(ToolError::file(file))?;
    serde_json::from_slice(&text).map_err(within(file.display()))
}

/// The shape of a Go type, and whether it is a pointer.
fn shape(of: &str) -> (FieldShape, bool) {
    if let Some(of) = of.strip_prefix('*') {
        return (shape(of).0, true);
    }
    let inner = |of: &str| Box::new(shape(of).0);
    let shape = match of {
        "bool" => FieldShape::Scalar("bool"),
        "string" => FieldShape::Scalar("string"),
        "int32" | "uint16" => FieldShape::Scalar("int32"),
        "int" | "int64" | "uint32" | "uint64" => FieldShape::Scalar("int64"),
        "float32" | "float64" => FieldShape::Scalar("float"),
        "[]uint8" => FieldShape::Scalar("bytes"),
        _ => match (
            of.strip_prefix("[]"),
            of.strip_prefix("map[").and_then(|of| of.split_once(']')),
        ) {
            (Some(element), _) => FieldShape::List(inner(element)),
            (_, Some((key, value))) => FieldShape::Map(local(key), inner(value)),
            _ => named(short(of)),
        },
    };
    (shape, false)
}

/// `v1.ResourceName` for `k8s.io/api/core/v1.ResourceName`
fn local(name: &str) -> String {
    name.rsplit_once('/').map_or(name, |(_, local)| local).to_owned()
}

/// Types that write and read themselves are scalars.
fn named(name: String) -> FieldShape {
    match name.as_str() {
        "resource.Quantity" => FieldShape::Scalar("quantity"),
        "intstr.IntOrString" => FieldShape::Scalar("int-or-string"),
        "meta/v1.Time" => FieldShape::Scalar("time"),
        "meta/v1.MicroTime" => FieldShape::Scalar("micro-time"),
        "meta/v1.Duration" => FieldShape::Scalar("duration"),
        "meta/v1.FieldsV1" | "runtime.RawExtension" | "runtime.Object" | "runtime.Unknown" => {
            FieldShape::Scalar("json")
        }
        _ if is_free(&name) => FieldShape::Scalar("json"),
        _ => FieldShape::Named(name),
    }
}

/// Whether a type of schemas within CustomResourceDefinitions reads itself: it may be one thing or another.
fn is_free(name: &str) -> bool {
    let local = name
        .strip_prefix("apiextensions/")
        .and_then(|name| name.split_once('.'));
    local.is_some_and(|(_, local)| local == "JSON" || local.starts_with("JSONSchemaPropsOr"))
}

/// `k8s.io/api/core/v1.Pod` → `core/v1.Pod`; `k8s.io/apimachinery/pkg/types.UID` → `types.UID`
fn short(name: &str) -> String {
    let Some((package, local)) = name.rsplit_once('.') else {
        return name.to_owned();
    };
    let mut parts = package.rsplit('/');
    let last = parts.next().unwrap_or(package);
    let is_version = last
        .strip_prefix('v')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    match parts.next().filter(|_| is_version) {
        Some(group) => format!("{group}/{last}.{local}"),
        None => format!("{last}.{local}"),
    }
}
