//! Where a key is read that is missing, and whether it may be.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use pratique_cel::ast::{Ast, Expr, ExprId};

use crate::analysis::{TextRange, chain_text, constant_key, ident_path, place_of};
use crate::observations::{KindObservations, MissingField, NO_KEY};
use crate::subject::PolicyView;

/// What is known of `request` and `namespaceObject`, of which there are no generated ones with all fields.
pub(super) struct RequestRoots {
    /// The labels that selectors ask for of each namespace.
    labels: Vec<String>,
}

impl RequestRoots {
    pub(super) fn new(policy: &PolicyView<'_>) -> Self {
        let of_policy = policy
            .constraints
            .and_then(|constraints| constraints.namespace_selector.as_ref());
        let mut labels: Vec<String> = of_policy.map(list_required_labels).unwrap_or_default();
        // Of several bindings any may match.
        if let [binding] = policy.bindings.as_slice() {
            let selector = binding
                .resources
                .and_then(|resources| resources.namespace_selector.as_ref());
            labels.extend(selector.map(list_required_labels).unwrap_or_default());
        }
        RequestRoots { labels }
    }

    /// Whether what is written so may lack a key.
    fn may_lack(&self, holder: &str, key: &str) -> bool {
        match holder {
            "namespaceObject.metadata.labels" => {
                key != "kubernetes.io/metadata.name" && !self.labels.iter().any(|label| label == key)
            }
            "namespaceObject.metadata" => {
                matches!(
                    key,
                    "annotations" | "deletionTimestamp" | "finalizers" | "ownerReferences"
                )
            }
            "request.userInfo" => matches!(key, "uid" | "extra"),
            "request.options" => !matches!(key, "kind" | "apiVersion"),
            "namespaceObject.metadata.annotations" | "request.userInfo.extra" => true,
            _ => false,
        }
    }
}

/// The labels that a selector asks for.
fn list_required_labels(selector: &LabelSelector) -> Vec<String> {
    let labels = selector.match_labels.iter().flatten().map(|(key, _)| key.clone());
    let expressions = selector.match_expressions.iter().flatten();
    let present = expressions.filter(|expression| matches!(expression.operator.as_str(), "In" | "Exists"));
    labels
        .chain(present.map(|expression| expression.key.clone()))
        .collect()
}

/// The keys that are missing, whether or not other evaluations find them.
pub(super) fn list_missing(kind: &KindObservations) -> Vec<MissingField> {
    let failures = kind.failures().filter(|failure| !failure.is_of_nameless);
    let missing = failures.filter_map(|failure| {
        Some(MissingField {
            site: failure.site,
            node: failure.node,
            key: failure.text.strip_prefix(NO_KEY)?.to_owned(),
            unfilled: None,
        })
    });
    missing.collect()
}

/// Where a missing key is read, and how the read is written; `None` if it is read from no part of an object.
pub(super) fn read(ast: &Ast, missing: &MissingField, roots: &RequestRoots) -> Option<(TextRange, String)> {
    let mut pending = vec![missing.node];
    while let Some(node) = pending.pop() {
        match ast.expr(node) {
            // The evaluator reports a branch through the conditional.
            Expr::Call { function, args, .. } if &**function == "_?_:_" => {
                pending.extend(args.iter().skip(1).rev());
            }
            Expr::Call {
                target: Some(target), ..
            } => pending.push(*target),
            _ => {
                if let Some(place) = read_in_chain(ast, node, &missing.key, roots) {
                    return Some(place);
                }
            }
        }
    }
    None
}

/// The same within one chain of fields.
fn read_in_chain(
    ast: &Ast,
    outermost: ExprId,
    missing: &str,
    roots: &RequestRoots,
) -> Option<(TextRange, String)> {
    let mut at = outermost;
    let mut read_node = None;
    loop {
        let (operand, reads) = match ast.expr(at) {
            Expr::Select { operand, field, .. } => (*operand, **field == *missing),
            Expr::Call {
                function,
                target: None,
                args,
            } if &**function == "_[_]" => {
                let (operand, key) = (*args.first()?, *args.get(1)?);
                let reads = match constant_key(ast, key) {
                    Some(key) => key == missing,
                    // A key that is computed may be any.
                    None => at == outermost && is_of_object(ast, operand),
                };
                (operand, reads)
            }
            Expr::Call {
                function,
                target: None,
                args,
            } if matches!(&**function, "_?._" | "_[?_]") => (*args.first()?, false),
            _ => break,
        };
        if reads {
            read_node = Some((at, operand));
        }
        at = operand;
    }
    let (node, operand) = read_node?;
    let place = place_of(ast, node);
    let holder = chain_text(ast, operand)?;
    let is_of_data = match ident_path(ast, operand)?.1 {
        "request" | "namespaceObject" => roots.may_lack(&holder, missing),
        root => !matches!(root, "params" | "authorizer"),
    };
    if !is_of_data {
        return None;
    }
    let is_field = matches!(ast.expr(node), Expr::Select { .. });
    let name = if is_field {
        format!("{holder}.{missing}")
    } else {
        format!("{holder}['{missing}']")
    };
    let written = if is_field { &name } else { &holder };
    let rest = ast.source.as_str().get(place.start..)?;
    let place = if rest.starts_with(written.as_str()) {
        place.start..place.start + written.len()
    } else {
        place
    };
    Some((place, name))
}

fn is_of_object(ast: &Ast, operand: ExprId) -> bool {
    ident_path(ast, operand).is_some_and(|(_, root)| matches!(root, "object" | "oldObject"))
}
