//! Elements of lists that may have fewer.

use std::collections::BTreeMap;

use pratique_cel::ast::{Ast, Expr, ExprId, Literal};
use pratique_types::GroupVersionKind;

use super::UnguardedField;
use crate::analysis::{TextRange, chain_place, ident_path};
use crate::lint::{Lint, PolicySubject};
use crate::lints::type_check::kinds_text;
use crate::report::{LintFinding, LintReport};

/// The start of the error for an index behind the end of a list.
const NO_ELEMENT: &str = "index out of bounds: ";

/// The site, the place and the index of an element that is read.
type ElementKey = (usize, usize, String);

/// A list of which an element is read that may not be there.
struct ShortRead {
    place: TextRange,
    name: String,
    /// Whether it is made of the parts of a text.
    is_of_parts: bool,
    kinds: Vec<GroupVersionKind>,
}

/// Reports elements by a constant index that evaluations did not find.
pub(super) fn report_short_lists(subject: &PolicySubject<'_>, report: &mut LintReport) {
    let policy = subject.policy;
    let mut reads: BTreeMap<ElementKey, ShortRead> = BTreeMap::new();
    for kind in &subject.observations().kinds {
        for failure in kind.failures() {
            let index = failure.text.strip_prefix(NO_ELEMENT);
            let ast = subject.parsed().asts.get(failure.site).and_then(Option::as_ref);
            let Some((index, ast)) = index.zip(ast) else {
                continue;
            };
            let Some(list) = find_indexed_list(ast, failure.node, index) else {
                continue;
            };
            let (place, name) = list_place(ast, list);
            let read = reads
                .entry((failure.site, place.start, index.to_owned()))
                .or_insert_with(|| ShortRead {
                    place,
                    name,
                    is_of_parts: divided_text(ast, list).is_some(),
                    kinds: Vec::new(),
                });
            if !read.kinds.contains(&kind.served.kind) {
                read.kinds.push(kind.served.kind.clone());
            }
        }
    }
    for ((index, _, element), read) in reads {
        let ShortRead {
            place,
            name,
            is_of_parts,
            kinds,
        } = read;
        let Some(site) = policy.sites.get(index) else {
            continue;
        };
        let outcome = policy.outcome_of_errors(site.usage);
        let message = format!(
            "{}: {name} may have no element {element}: then \"{NO_ELEMENT}{element}\", and {outcome}",
            kinds_text(&kinds)
        );
        let help = if is_of_parts {
            format!("test it first, as in size({name}) > {element} && …: the text may have fewer parts")
        } else {
            format!("test it first, as in size({name}) > {element}, or ask all elements: {name}.all(x, …)")
        };
        let finding = LintFinding::new(UnguardedField::META, message).help(help);
        report.add_in(&policy.origin, &site.path, place, finding);
    }
}

/// The text whose parts are the elements of a list: `c.image` of `c.image.split(':')`.
fn divided_text(ast: &Ast, list: ExprId) -> Option<ExprId> {
    match ast.expr(list) {
        Expr::Call {
            function,
            target: Some(text),
            ..
        } if &**function == "split" => Some(*text),
        _ => None,
    }
}

/// Where a list is, and how it is written.
fn list_place(ast: &Ast, list: ExprId) -> (TextRange, String) {
    let Some(text) = divided_text(ast, list) else {
        return chain_place(ast, list);
    };
    let (place, name) = chain_place(ast, text);
    let source = ast.source.as_str();
    let call = source
        .get(place.end..)
        .and_then(|rest| rest.split_inclusive(')').next());
    let call = call.filter(|call| call.starts_with(".split("));
    let call = call.unwrap_or_default();
    (place.start..place.end + call.len(), format!("{name}{call}"))
}

/// The list of the object in a chain of fields of which an element of an index is read.
fn find_indexed_list(ast: &Ast, outermost: ExprId, index: &str) -> Option<ExprId> {
    let mut at = outermost;
    loop {
        at = match ast.expr(at) {
            Expr::Select { operand, .. } => *operand,
            Expr::Call {
                function,
                target: None,
                args,
            } if matches!(&**function, "_[_]" | "_?._" | "_[?_]") => {
                let [operand, key] = args.as_slice() else {
                    return None;
                };
                let is_index = |number: &i64| number.to_string() == index;
                if matches!(ast.expr(*key), Expr::Literal(Literal::Int(number)) if is_index(number)) {
                    let start = divided_text(ast, *operand).unwrap_or(*operand);
                    let root = ident_path(ast, start)?.1;
                    let is_of_data = !matches!(root, "request" | "namespaceObject" | "params" | "authorizer");
                    return is_of_data.then_some(*operand);
                }
                *operand
            }
            Expr::Call {
                target: Some(target), ..
            } => *target,
            _ => return None,
        };
    }
}
