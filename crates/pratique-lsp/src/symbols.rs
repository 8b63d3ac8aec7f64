//! The outline of a document: its objects with their expressions.

use lsp_types::{DocumentSymbol, Range, SymbolKind};
use pratique_lint::TypedExpression;

use crate::analysis::{ManifestAnalysis, ManifestObject};
use crate::text::IndexedText;

/// The objects of a file.
pub(crate) fn of_file(analysis: &ManifestAnalysis, file: &str, text: &IndexedText) -> Vec<DocumentSymbol> {
    let objects = analysis
        .objects
        .iter()
        .filter(|object| *object.location.file == *file);
    let mut symbols: Vec<DocumentSymbol> = objects.map(|object| of_object(analysis, object, text)).collect();
    symbols.sort_by_key(|symbol| symbol.range.start);
    symbols
}

fn of_object(analysis: &ManifestAnalysis, object: &ManifestObject, text: &IndexedText) -> DocumentSymbol {
    let expressions = analysis.expressions.iter();
    let expressions = expressions.filter(|expression| expression.object == object.name);
    let children: Vec<DocumentSymbol> = expressions
        .map(|expression| of_expression(expression, text))
        .collect();
    symbol(
        object.name.name.clone(),
        Some(object.name.kind.name().to_owned()),
        SymbolKind::CLASS,
        [text.range(&object.location), text.range(&object.name_location)],
        children,
    )
}

fn of_expression(expression: &TypedExpression, text: &IndexedText) -> DocumentSymbol {
    let range = text.range(&expression.source.locate(&expression.path));
    let (name, kind) = match &expression.variable {
        Some(name) => (format!("variables.{name}"), SymbolKind::VARIABLE),
        None => (expression.field(), SymbolKind::FUNCTION),
    };
    let of_type = expression
        .checked
        .as_ref()
        .map(|checked| checked.result_type().to_string());
    symbol(name, of_type, kind, [range, range], Vec::new())
}

#[allow(deprecated, reason = "the field has to be given")]
fn symbol(
    name: String,
    detail: Option<String>,
    kind: SymbolKind,
    [range, selection_range]: [Range; 2],
    children: Vec<DocumentSymbol>,
) -> DocumentSymbol {
    let is_inside = range.start <= selection_range.start && selection_range.end <= range.end;
    DocumentSymbol {
        name,
        detail,
        kind,
        tags: None,
        deprecated: None,
        range,
        selection_range: if is_inside { selection_range } else { range },
        children: (!children.is_empty()).then_some(children),
    }
}
