//! What to write instead of a mutation that fails. The texts of a server are fixed words around names.

use pratique_cel::ast::{Ast, Expr, ExprId, Literal};
use pratique_gotext::suggest::{did_you_mean, nearest};
use pratique_sample::CustomKind;
use pratique_schema::{Release, Shape, StructType};
use pratique_types::GroupVersionKind;

use crate::analysis::constant_key;

const OPERATIONS: [&str; 6] = ["add", "remove", "replace", "move", "copy", "test"];

/// Help for the text of a server of a release about a mutation of an object of a kind.
pub(crate) fn help_for(
    release: &'static Release,
    text: &str,
    ast: &Ast,
    (kind, custom): (&GroupVersionKind, Option<&CustomKind>),
) -> Option<String> {
    if let Some(patch) = text.strip_prefix("JSON Patch: ") {
        return paths(ast)
            .find_map(correct_path)
            .or_else(|| for_patch(patch, ast));
    }
    if let Some(path) = paths(ast).find_map(correct_path) {
        return Some(path);
    }
    // A null is told to be none of the type that is wanted.
    let is_of_type = text.contains("expected ") || text.contains(" of type ");
    if is_of_type && sets_null(ast) {
        return Some(NULL.to_owned());
    }
    if let Some((_, field)) = text.split_once("unknown field ") {
        let is_relative = paths(ast).any(|path| !path.is_empty() && !path.starts_with('/'));
        if is_relative {
            return Some("a path begins with a slash, as in /spec/replicas".to_owned());
        }
        return for_unknown_field(release, field.trim_matches('"'), kind);
    }
    if let Some((path, _)) = text.split_once(": field not declared in schema") {
        let path = path.rsplit(": ").next().unwrap_or_default().trim();
        let path = path.trim_start_matches('.');
        let meant = match custom.and_then(CustomKind::declared_fields) {
            Some(declared) => {
                let name = path.rsplit('.').next().unwrap_or_default();
                nearest(name, declared).map(did_you_mean)
            }
            None => for_unknown_field(release, path, kind),
        };
        return meant.or_else(|| Some(format!("the kind {} has no such field", kind.kind)));
    }
    if let Some((_, wanted)) = text.rsplit_once(" of type ") {
        return Some(for_type(wanted.split_whitespace().next().unwrap_or_default()));
    }
    if let Some((_, names)) = text.split_once("unexpected type name \"")
        && let Some((_, wanted)) = names.split_once("expected \"")
    {
        let wanted = wanted.split('"').next().unwrap_or_default();
        return Some(format!(
            "write {wanted}{{…}}: a type has the names of the fields on its way, and elements that of their list"
        ));
    }
    for_value(text).map(str::to_owned)
}

/// Help for a path that is written as in other languages: `$.spec.a`, `/spec.a`, `/spec/containers[0]`. Keys of labels and
/// annotations have dots themselves.
fn correct_path(path: &str) -> Option<String> {
    let fields = path.trim_start_matches(['$', '.', '/']);
    let first = fields.split('/').next().unwrap_or_default();
    let is_other = path.starts_with('$') || first.contains('.') || path.contains('[');
    if !is_other || path.contains("/labels") || path.contains("/annotations") {
        return None;
    }
    let steps = fields.replace(['.', '['], "/").replace(']', "");
    Some(format!(
        "the names and indices of a path stand between slashes: /{steps}"
    ))
}

/// Whether a configuration sets a field, or a key of a map, to null.
fn sets_null(ast: &Ast) -> bool {
    let is_null = |id: ExprId| matches!(ast.expr(id), Expr::Literal(Literal::Null));
    ast.ids().any(|id| match ast.expr(id) {
        Expr::Struct { type_name, fields } => {
            type_name.starts_with("Object") && fields.iter().any(|field| is_null(field.value))
        }
        Expr::Map(entries) => entries.iter().any(|entry| is_null(entry.value)),
        _ => false,
    })
}

const NULL: &str = "null removes nothing: leave the field out of the configuration, or remove it with a JSONPatch of op \"remove\"";

/// Help for an operation that cannot be applied.
fn for_patch(text: &str, ast: &Ast) -> Option<String> {
    if let Some(operation) = text.strip_prefix("Unexpected kind: ") {
        let meant = nearest(operation, OPERATIONS).map(|meant| format!("{}; ", did_you_mean(meant)));
        let all = OPERATIONS.join(", ");
        return Some(format!(
            "{}an operation is one of {all}",
            meant.unwrap_or_default()
        ));
    }
    if text.contains("invalid index") || text.contains("not a proper array index") {
        return Some("an element is named by its index from 0, and the end of a list by -; test that the list is so long".to_owned());
    }
    let (operation, path) = match text.split_once("Unable to remove nonexistent key: ") {
        Some((_, rest)) => {
            let key = rest.split(':').next()?;
            (
                "remove",
                paths(ast).find(|path| path.rsplit('/').next() == Some(key))?,
            )
        }
        None => {
            let (operation, rest) = text.split_once(" operation does not apply: doc is missing ")?;
            let (_, rest) = rest.split_once(": ")?;
            (operation, rest.strip_suffix(": missing value")?.trim_matches('"'))
        }
    };
    let (parent, last) = path.rsplit_once('/')?;
    let steps: Vec<&str> = parent.split('/').skip(1).collect();
    if let ["metadata", map @ ("labels" | "annotations"), first, ..] = steps.as_slice() {
        let key = path
            .split_once(&format!("/{map}/"))
            .map_or(*first, |(_, key)| key);
        return Some(format!(
            "a slash in a key is written ~1: '/metadata/{map}/' + jsonpatch.escapeKey('{key}'); where there are no {map}, add \
             them first"
        ));
    }
    let is_index = |step: &str| step.parse::<usize>().is_ok();
    let field = |pointer: &str| {
        let steps = pointer.split('/').skip(1).map(|step| {
            if is_index(step) {
                format!("[{step}]")
            } else {
                format!(".{step}")
            }
        });
        format!("object{}", steps.collect::<String>())
    };
    let has_no_index = |pointer: &str| !pointer.split('/').any(is_index);
    match operation {
        "add" if steps.last().is_some_and(|step| !is_index(step)) => {
            let (holder, empty) = (
                field(parent),
                if last == "-" || last == "0" { "[]" } else { "{}" },
            );
            Some(format!(
                "add the parent first: (has({holder}) ? [] : [JSONPatch{{op: \"add\", path: \"{parent}\", value: {empty}}}]) + […], \
                 or use an ApplyConfiguration, which creates it"
            ))
        }
        "replace" => {
            Some("op \"add\" sets a field whether it is there or not, where its parent is".to_owned())
        }
        "remove" | "move" | "copy" if has_no_index(path) => Some(format!(
            "test it first: has({}) ? [JSONPatch{{…}}] : []",
            field(path)
        )),
        _ => Some(
            "make the operation only where the path is there: condition ? [JSONPatch{…}] : []".to_owned(),
        ),
    }
}

/// The constant paths of the operations in an expression.
fn paths(ast: &Ast) -> impl Iterator<Item = &str> {
    ast.ids().filter_map(|id| match ast.expr(id) {
        Expr::Struct { type_name, fields } if &**type_name == "JSONPatch" => {
            let path = fields.iter().find(|field| &*field.name == "path")?;
            constant_key(ast, path.value)
        }
        _ => None,
    })
}

/// The name that was probably meant by a path of fields.
fn for_unknown_field(release: &'static Release, path: &str, kind: &GroupVersionKind) -> Option<String> {
    let schema = release.schema();
    let mut of: &StructType = schema.get(schema.kind(kind)?);
    let names = path
        .split('.')
        .map(|step| step.split('[').next().unwrap_or_default());
    for name in names {
        let Some(field) = of.field(name) else {
            let meant = nearest(name, of.fields.iter().map(|field| field.name))?;
            return Some(did_you_mean(meant));
        };
        let mut shape = &field.shape;
        of = loop {
            match shape {
                Shape::Struct(id) => break schema.get(*id),
                Shape::List(element) => shape = element,
                _ => return None,
            }
        };
    }
    None
}

/// Help for a value that is none of a Go type.
fn for_type(wanted: &str) -> String {
    match wanted {
        "int" | "int32" | "int64" | "float64" => "write a number, without quotes".to_owned(),
        "bool" => "write true or false, without quotes".to_owned(),
        "string" => "write a text: put it into quotes, or make one with string(…)".to_owned(),
        other if other.starts_with("[]") => "write a list: […]".to_owned(),
        other if other.starts_with("map[") => "write a map: {'key': value}".to_owned(),
        _ => "write an object with the fields that the API has here".to_owned(),
    }
}

fn for_value(text: &str) -> Option<&'static str> {
    let help = if text.contains("NULL_VALUE") || text.contains("structpb.NullValue") {
        NULL
    } else if text.contains("quantities must match the regular expression") {
        "the unit of a quantity is one of k, M, G, T, P, E, or Ki, Mi, Gi, Ti, Pi, Ei, without a B: '64Mi'"
    } else if text.contains("expected numeric") {
        "write a number, without quotes"
    } else if text.contains("expected boolean") {
        "write true or false, without quotes"
    } else if text.contains("expected string") {
        "write a text: put it into quotes, or make one with string(…)"
    } else if text.contains("'Quantity'") || text.contains("expected any scalar") {
        "a quantity is written as a text, as in '500m'"
    } else if text.contains("optional.none()") {
        "an optional element is marked: [?value]"
    } else if text.contains("associative list with keys may not have non-map elements") {
        "make a configuration of each element, with the fields to set: list.map(c, Object.spec.containers{name: c.name, …})"
    } else if text.contains("could not marshal to JSON") {
        "a value is made of texts, numbers, booleans, lists, maps with keys that are texts, and objects: make a text with string(…)"
    } else {
        return None;
    };
    Some(help)
}
