//! Where expressions check a field that subresources change.

use std::collections::HashSet;

use pratique_cel::ast::{Ast, Expr, ExprId, Literal};
use pratique_expression::ExpressionPurpose;

use crate::analysis::{ParsedExpressions, ident_path};
use crate::subject::ExpressionSite;

/// The expressions of a policy on whose values its decision depends.
pub(super) struct DecidingExpressions {
    /// Their indices: match conditions, the variables that are read, validations and mutations.
    pub(super) sites: Vec<usize>,
    /// Whether one of them that is no match condition reads the object.
    pub(super) reads_object: bool,
}

impl DecidingExpressions {
    pub(super) fn new(sites: &[ExpressionSite<'_>], parsed: &ParsedExpressions) -> Self {
        let mut read: HashSet<&str> = HashSet::new();
        let mut deciding = DecidingExpressions {
            sites: Vec::new(),
            reads_object: false,
        };
        // From the last to the first: each expression sees the variables before it.
        for (index, (site, ast)) in sites.iter().zip(&parsed.asts).enumerate().rev() {
            let decides = match site.usage {
                ExpressionPurpose::Message | ExpressionPurpose::AuditAnnotation => false,
                ExpressionPurpose::Variable => site.variable().is_some_and(|name| read.contains(name)),
                _ => true,
            };
            let Some(ast) = ast.as_ref().filter(|_| decides) else {
                continue;
            };
            deciding.sites.push(index);
            if site.usage != ExpressionPurpose::MatchCondition {
                deciding.reads_object |= ast.ids().any(|id| is_ident(ast, id, "object"));
            }
            read.extend(ast.ids().filter_map(|id| match ast.expr(id) {
                Expr::Select { operand, field, .. } if is_ident(ast, *operand, "variables") => Some(&**field),
                _ => None,
            }));
        }
        deciding.sites.reverse();
        deciding
    }
}

fn is_ident(ast: &Ast, id: ExprId, name: &str) -> bool {
    matches!(ast.expr(id), Expr::Ident(ident) if &**ident == name)
}

/// `object.spec.ephemeralContainers`, or its name as a key.
pub(super) fn find_ephemeral_containers(ast: &Ast, _: bool) -> Option<ExprId> {
    ast.ids().find(|id| match ast.expr(*id) {
        Expr::Select { operand, field, .. } => {
            &**field == "ephemeralContainers"
                && ident_path(ast, *operand).is_none_or(|(_, root)| !matches!(root, "oldObject" | "Object"))
        }
        Expr::Literal(Literal::String(text)) => &**text == "ephemeralContainers",
        _ => false,
    })
}

/// `object.spec.finalizers`, which are not those of the metadata.
pub(super) fn find_namespace_finalizers(ast: &Ast, _: bool) -> Option<ExprId> {
    ast.ids().find(|id| {
        ident_path(ast, *id).is_some_and(|(_, root)| root == "object")
            && field_names(ast, *id) == ["spec", "finalizers"]
    })
}

/// A quantity of `resources` whose value is used. Requests and limits cannot be removed by a resize, so tests for them are sound.
pub(super) fn find_quantity(ast: &Ast, is_condition: bool) -> Option<ExprId> {
    let is_quantity = |id: ExprId| {
        let names = field_names(ast, id);
        matches!(names.as_slice(), [.., "resources", "limits" | "requests", _])
    };
    find_used(ast, is_quantity, is_condition).or_else(|| find_compared_resources(ast))
}

/// Limits that have to be the requests.
fn find_compared_resources(ast: &Ast) -> Option<ExprId> {
    let is_resources = |id: &ExprId| {
        let names = field_names(ast, *id);
        let is_test = matches!(ast.expr(*id), Expr::Select { test_only: true, .. });
        !is_test && matches!(names.as_slice(), [.., "resources", "limits" | "requests"])
    };
    ast.ids().find_map(|id| match ast.expr(id) {
        Expr::Call { function, args, .. } if matches!(&**function, "_==_" | "_!=_") => {
            args.first().filter(|_| args.iter().all(is_resources)).copied()
        }
        _ => None,
    })
}

/// `object.spec.replicas` whose value is used.
pub(super) fn find_replicas(ast: &Ast, is_condition: bool) -> Option<ExprId> {
    let is_replicas = |id: ExprId| {
        ident_path(ast, id).is_some_and(|(_, root)| root == "object")
            && field_names(ast, id) == ["spec", "replicas"]
    };
    find_used(ast, is_replicas, is_condition)
}

/// `object.status`, in an expression that reads no other part of the object.
pub(super) fn find_status(ast: &Ast, _: bool) -> Option<ExprId> {
    let reads_object = |id: &ExprId| match ast.expr(*id) {
        Expr::Select { operand, .. } => is_ident(ast, *operand, "object"),
        _ => false,
    };
    let reads: Vec<ExprId> = ast.ids().filter(reads_object).collect();
    let idents = ast.ids().filter(|id| is_ident(ast, *id, "object"));
    let of_status = |id: &ExprId| match ast.expr(*id) {
        Expr::Select { field, test_only, .. } => &**field == "status" && !test_only,
        _ => false,
    };
    let reads_variables = ast.ids().any(|id| is_ident(ast, id, "variables"));
    let is_status_only = reads.iter().all(of_status) && idents.count() == reads.len() && !reads_variables;
    reads.first().filter(|_| is_status_only).copied()
}

/// A field that is read for its value, rather than tested for its presence.
fn find_used(ast: &Ast, is_read: impl Fn(ExprId) -> bool, is_condition: bool) -> Option<ExprId> {
    let mut holders: Vec<Option<ExprId>> = vec![None; ast.len()];
    for id in ast.ids() {
        ast.expr(id).for_each_child(|child| {
            if let Some(holder) = holders.get_mut(child.0 as usize) {
                *holder = Some(id);
            }
        });
    }
    let is_chain = |id: &ExprId| match ast.expr(*id) {
        Expr::Select { test_only, .. } => !test_only,
        Expr::Call {
            function,
            target: None,
            ..
        } => matches!(&**function, "_[_]" | "_?._" | "_[?_]"),
        _ => false,
    };
    ast.ids()
        // The arguments of macros are nodes too.
        .filter(|id| *id == ast.root || matches!(holders.get(id.0 as usize), Some(Some(_))))
        .filter(is_chain)
        .find(|id| is_read(*id) && is_value_used(ast, &holders, *id, is_condition))
}

/// Whether more of a value is used than that it is there. In a condition, what is equal to that of the old object selects requests
/// that do not change it.
fn is_value_used(ast: &Ast, holders: &[Option<ExprId>], read: ExprId, is_condition: bool) -> bool {
    let mut at = read;
    loop {
        let Some(Some(holder)) = holders.get(at.0 as usize) else {
            return true;
        };
        match ast.expr(*holder) {
            Expr::Call {
                function,
                target: Some(target),
                ..
            } if *target == at => match &**function {
                "orValue" | "value" | "or" => at = *holder,
                "hasValue" | "size" => return false,
                _ => return true,
            },
            Expr::Call {
                function,
                target: None,
                args,
            } => match (&**function, args.as_slice()) {
                ("size", _) => return false,
                ("_==_" | "_!=_", [left, right]) => {
                    let other = if *left == at { *right } else { *left };
                    let is_old = is_condition
                        && &**function == "_==_"
                        && ident_path(ast, other).is_some_and(|(_, root)| root == "oldObject");
                    return !is_old && !is_absence(ast, other);
                }
                _ => return true,
            },
            _ => return true,
        }
    }
}

/// Whether a node is what stands for a field that is not there.
fn is_absence(ast: &Ast, id: ExprId) -> bool {
    match ast.expr(id) {
        Expr::Literal(Literal::Null) => true,
        Expr::Literal(Literal::String(text)) => text.is_empty(),
        Expr::Call { function, .. } => &**function == "optional.none" || &**function == "none",
        _ => false,
    }
}

/// The names of the fields and keys that a node reads, one after the other.
fn field_names(ast: &Ast, id: ExprId) -> Vec<&str> {
    let mut names = Vec::new();
    let mut at = id;
    loop {
        at = match ast.expr(at) {
            Expr::Select { operand, field, .. } => {
                names.push(&**field);
                *operand
            }
            Expr::Call {
                function,
                target: None,
                args,
            } if matches!(&**function, "_[_]" | "_?._" | "_[?_]") => {
                let [operand, key] = args.as_slice() else { break };
                if let Expr::Literal(Literal::String(key)) = ast.expr(*key) {
                    names.push(key);
                }
                *operand
            }
            Expr::Call {
                function,
                target: Some(target),
                ..
            } if matches!(&**function, "orValue" | "value") => *target,
            _ => break,
        };
    }
    names.reverse();
    names
}
