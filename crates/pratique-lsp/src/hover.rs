//! Hovers: the type of a value, the signatures of a function, the description of either, the cost of the expression.

use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Range};
use pratique_cel::ast::Expr;
use pratique_cel::function::Function;
use pratique_cel::{CheckedAst, Environment, Type};
use pratique_lint::{CustomTypes, ExpressionCost, TypedExpression, estimate_cost};

use crate::analysis::ManifestAnalysis;
use crate::cursor::ExpressionCursor;
use crate::fields;
use crate::functions;
use crate::nodes::{NameKind, NamedNode, name_at};
use crate::text::IndexedText;

/// The hover for a place in an expression.
pub(crate) fn hover(
    analysis: &ManifestAnalysis,
    cursor: ExpressionCursor<'_>,
    custom: &CustomTypes,
    text: &IndexedText,
) -> Option<Hover> {
    let expression = cursor.expression;
    let loose;
    let checked = if let Some(checked) = &expression.checked {
        &**checked
    } else {
        // What is not wrong has a type nevertheless.
        let ast = expression.environment.parse(&expression.text).ok()?;
        loose = expression.environment.check_loosely(ast);
        &loose
    };
    let name = name_at(&checked.ast, cursor.offset)?;
    let written = expression.text.get(name.range.clone())?;
    let of_type = checked.type_of(name.id);
    let mut lines = match (name.kind, checked.ast.expr(name.id)) {
        (NameKind::Function, Expr::Call { function, .. }) => signatures(&expression.environment, function)
            .unwrap_or_else(|| vec![code(&format!("{written}: {of_type}"))]),
        _ => vec![code(&format!("{written}: {of_type}"))],
    };
    lines.extend(description(checked, &name, custom));
    if let Some(kind) = &expression.kind {
        lines.push(format!("For `{kind}`."));
    }
    lines.extend(cost(analysis, expression));
    Some(Hover {
        contents: HoverContents::Markup(MarkupContent {
            kind: MarkupKind::Markdown,
            value: lines.join("\n\n"),
        }),
        range: Some(range(expression, name.range, text)),
    })
}

/// The description of a name, if there is one.
fn description(checked: &CheckedAst, name: &NamedNode, custom: &CustomTypes) -> Option<String> {
    match checked.ast.expr(name.id) {
        Expr::Call { function, .. } => functions::function(function).map(str::to_owned),
        Expr::Ident(variable) => functions::variable(variable).map(str::to_owned),
        Expr::Select { operand, field, .. } => {
            let of = checked.type_of(*operand);
            let Type::Struct(of) = of.optional_value().unwrap_or(of) else {
                return None;
            };
            match custom.description(of, field) {
                "" => fields::describe(of, field),
                own => Some(own.to_owned()),
            }
        }
        _ => None,
    }
}

/// The signatures of a function, as code.
fn signatures(environment: &Environment, function: &str) -> Option<Vec<String>> {
    let function = environment.function(function)?;
    let all: Vec<String> = overloads(function).collect();
    Some(vec![code(&all.join("\n"))])
}

/// How each overload of a function is called, and what it gives.
pub(crate) fn overloads(function: &Function) -> impl Iterator<Item = String> {
    function.overloads.iter().map(|overload| {
        let params: Vec<String> = overload.params.iter().map(ToString::to_string).collect();
        match (overload.member, params.split_first()) {
            (true, Some((receiver, params))) => {
                format!(
                    "{receiver}.{}({}): {}",
                    function.name,
                    params.join(", "),
                    overload.result
                )
            }
            _ => format!("{}({}): {}", function.name, params.join(", "), overload.result),
        }
    })
}

/// The worst-case cost of the whole expression.
fn cost(analysis: &ManifestAnalysis, expression: &TypedExpression) -> Option<String> {
    let estimate = estimate_cost(
        expression.release,
        &analysis.sets(),
        &expression.source,
        &expression.path,
    )?;
    let max = estimate.usage.cost.max;
    let share = max.saturating_mul(100) / ExpressionCost::LIMIT;
    Some(format!(
        "The expression costs at most {max} for an object of {} KiB, {share} % of what one may cost.",
        ExpressionCost::LARGE >> 10
    ))
}

/// The range of some bytes of an expression.
pub(crate) fn range(
    expression: &TypedExpression,
    bytes: std::ops::Range<usize>,
    text: &IndexedText,
) -> Range {
    text.range(&expression.location(bytes))
}

fn code(text: &str) -> String {
    format!("```cel\n{text}\n```")
}
