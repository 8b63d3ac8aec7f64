//! Names that fit before the cursor: variables, fields of the matched kind, functions with their signatures.

use lsp_types::{CompletionItem, CompletionItemKind, Documentation};
use pratique_cel::{Environment, Type};

use crate::cursor::ExpressionCursor;
use crate::functions;
use crate::hover::overloads;
use crate::scan::{NamePrefix, prefix, scopes};

/// Macros that are called on an operand.
const MEMBER_MACROS: [&str; 9] = [
    "all",
    "exists",
    "exists_one",
    "existsOne",
    "filter",
    "map",
    "sortBy",
    "optMap",
    "optFlatMap",
];

/// The names that fit at the cursor.
pub(crate) fn complete(cursor: ExpressionCursor<'_>) -> Vec<CompletionItem> {
    let expression = cursor.expression;
    let Some(start) = expression.text.get(..cursor.offset) else {
        return Vec::new();
    };
    let environment = scopes(start)
        .into_iter()
        .fold(expression.environment.clone(), |environment, scope| {
            let element = type_of(&environment, scope.operand)
                .as_ref()
                .map_or(Type::Dyn, element);
            environment.with_variable(scope.variable, element)
        });
    let NamePrefix { operand, name } = prefix(start);
    let mut items = match operand {
        None => globals(&environment),
        Some(operand) => match type_of(&environment, operand) {
            Some(of) => members(&environment, &of),
            None => Vec::new(),
        },
    };
    // Names that macros generate cannot be written.
    items.retain(|item| item.label.starts_with(name) && !item.label.contains('@'));
    items.sort_by(|a, b| (a.kind != Some(FIELD), &a.label).cmp(&(b.kind != Some(FIELD), &b.label)));
    items.dedup_by(|a, b| a.label == b.label && a.kind == b.kind);
    items
}

const FIELD: CompletionItemKind = CompletionItemKind::FIELD;

/// The type of an operand, if it is complete.
fn type_of(environment: &Environment, operand: &str) -> Option<Type> {
    let checked = environment
        .parse(operand)
        .and_then(|ast| environment.check_types(ast))
        .ok()?;
    Some(checked.result_type().clone())
}

/// The type of a macro's variable.
fn element(of: &Type) -> Type {
    match of {
        Type::List(element) => (**element).clone(),
        Type::Map(key, _) => (**key).clone(),
        _ => Type::Dyn,
    }
}

fn globals(environment: &Environment) -> Vec<CompletionItem> {
    environment
        .names()
        .filter_map(|name| global(environment, name))
        .collect()
}

fn global(environment: &Environment, name: &str) -> Option<CompletionItem> {
    if let Some((_, of)) = environment.variable(name) {
        return Some(item(name, CompletionItemKind::VARIABLE, Some(of.to_string())));
    }
    let Some(function) = environment.function(name) else {
        // A macro.
        let is_member = MEMBER_MACROS.contains(&name);
        return (!is_member).then(|| item(name, CompletionItemKind::KEYWORD, None));
    };
    let is_global = function.overloads.iter().any(|overload| !overload.member);
    is_global.then(|| item(name, CompletionItemKind::FUNCTION, overloads(function).next()))
}

/// The fields of a type, and the functions that are called on its values.
fn members(environment: &Environment, of: &Type) -> Vec<CompletionItem> {
    let of = match of.optional_value() {
        Some(value) => value,
        None => of,
    };
    let mut items = Vec::new();
    if let Type::Struct(name) = of
        && let Some(provider) = environment.provider(name)
    {
        items.extend(provider.field_names(name).iter().map(|field| {
            let of = provider.field(name, field);
            item(field, FIELD, of.map(|of| of.to_string()))
        }));
    }
    if matches!(of, Type::List(_) | Type::Map(..) | Type::Dyn) {
        let macros = MEMBER_MACROS.iter();
        items.extend(macros.map(|name| item(name, CompletionItemKind::KEYWORD, None)));
    }
    for name in environment.names() {
        let Some(function) = environment.function(name) else {
            continue;
        };
        let fits = function.overloads.iter().find(|overload| {
            overload.member
                && overload
                    .params
                    .first()
                    .is_some_and(|receiver| is_like(receiver, of))
        });
        if fits.is_some() {
            let signature = overloads(function).next();
            items.push(item(name, CompletionItemKind::METHOD, signature));
        }
    }
    items
}

/// Whether a value of a type may be the receiver of a function.
fn is_like(receiver: &Type, of: &Type) -> bool {
    match (receiver, of) {
        (Type::Param(_) | Type::Dyn, _) | (_, Type::Dyn) => true,
        (Type::List(receiver), Type::List(of)) => is_like(receiver, of),
        (Type::Map(..), Type::Map(..)) => true,
        (Type::Opaque(receiver, _), Type::Opaque(of, _)) => receiver == of,
        (receiver, of) => receiver == of,
    }
}

fn item(label: &str, kind: CompletionItemKind, detail: Option<String>) -> CompletionItem {
    let description = match kind {
        CompletionItemKind::VARIABLE => functions::variable(label),
        FIELD => None,
        _ => functions::function(label),
    };
    CompletionItem {
        label: label.to_owned(),
        kind: Some(kind),
        detail,
        documentation: description.map(|text| Documentation::String(text.to_owned())),
        ..CompletionItem::default()
    }
}
