//! Policies and webhooks that read the name of a request to delete.

use pratique_cel::ast::{Ast, Expr, ExprId};
use pratique_manifest::{Location, ManifestSet, ObjectName};
use pratique_schema::Release;
use pratique_types::Operation;

use crate::analysis::{parse_site, place_of};
use crate::subject::ManifestView;

/// Where expressions read `request.name` for the operation DELETE on a server of a release: the first place in each policy or
/// webhook. Requests to delete a collection have no name.
pub fn find_deleted_names(release: &'static Release, sets: &[&ManifestSet]) -> Vec<(ObjectName, Location)> {
    let manifests = ManifestView::new(release, sets);
    let groups = manifests.expression_groups().filter(|group| {
        let mut rules = group.rules.iter();
        rules.any(|rule| rule.operations.contains(&Operation::Delete))
    });
    let first = groups.filter_map(|group| {
        group.sites.iter().find_map(|site| {
            if !site.text.contains("name") {
                return None;
            }
            let ast = parse_site(site)?;
            let place = place_of(&ast, find_request_name(&ast)?);
            Some((
                group.origin.name.clone(),
                group.origin.source.locate_range(&site.path, place),
            ))
        })
    });
    first.collect()
}

fn find_request_name(ast: &Ast) -> Option<ExprId> {
    let is_request = |id: ExprId| matches!(ast.expr(id), Expr::Ident(name) if &**name == "request");
    let reads_name = |id: &ExprId| match ast.expr(*id) {
        Expr::Select { operand, field, .. } => &**field == "name" && is_request(*operand),
        _ => false,
    };
    ast.ids().find(reads_name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{load, policy, webhook};

    #[track_caller]
    fn check(manifests: &str, expected: &[&str]) {
        let set = load(manifests);
        let places = find_deleted_names(Release::latest(), &[&set])
            .into_iter()
            .filter_map(|(_, location)| {
                let range = location.start.offset..location.end.offset;
                manifests.get(range)
            });
        assert_eq!(places.collect::<Vec<_>>(), expected, "{manifests}");
    }

    #[test]
    fn reads_of_names() {
        let of = |operations: &str, expression: &str| {
            policy(
                operations,
                &format!("validations: [{{expression: \"{expression}\"}}]"),
            )
        };
        check(&of("CREATE, DELETE", "request.name != 'a'"), &["request.name"]);
        check(&of("'*'", "!has(request.name)"), &["request.name"]);
        check(&of("CREATE", "request.name != 'a'"), &[]);
        check(&of("DELETE", "request.namespace != 'a'"), &[]);
        check(
            &webhook("Mutating", "pods", "DELETE", "request.name != 'a'"),
            &["request.name"],
        );
    }
}
