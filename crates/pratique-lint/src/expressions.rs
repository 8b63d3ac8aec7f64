//! The expressions of manifests with their types, for programs that show them.

use std::ops::Range;
use std::sync::Arc;

use pratique_cel::{CheckedAst, Environment};
use pratique_manifest::{Location, ManifestSet, ObjectName, ObjectSource, PathStep};
use pratique_schema::Release;
use pratique_types::GroupVersionKind;

use crate::analysis::ParsedExpressions;
use crate::cost::typings;
use crate::report::path_text;
use crate::subject::{ExpressionGroup, ManifestView};
use crate::typing::{CustomTypes, ExpressionAge, TypedSite, type_custom_sites};

/// An expression of a policy or a webhook, checked with the types of a kind that it matches.
#[derive(Clone, Debug)]
pub struct TypedExpression {
    /// The release whose kinds and functions these are.
    pub release: &'static Release,
    /// The manifest of the expression.
    pub object: ObjectName,
    /// Where the manifest is.
    pub source: ObjectSource,
    /// The path of the field that holds the expression.
    pub path: Vec<PathStep>,
    /// Its text.
    pub text: String,
    /// The name of the variable that it defines, if it defines one.
    pub variable: Option<String>,
    /// The kind of `object`: a built-in or a defined one, or `None` where its fields are not known.
    pub kind: Option<GroupVersionKind>,
    /// The variables, functions and types that it may use.
    pub environment: Environment,
    /// The tree with its types; `None` if it does not compile for the kind.
    pub checked: Option<Arc<CheckedAst>>,
}

impl TypedExpression {
    /// The path as messages have it: `spec.validations[0].expression`.
    pub fn field(&self) -> String {
        path_text(&self.path)
    }

    /// Where a range of bytes of the text is.
    pub fn location(&self, range: Range<usize>) -> Location {
        self.source.locate_range(&self.path, range)
    }
}

/// All expressions of manifests with their types in a release, in the order of the policies and of their fields. Expressions of a
/// policy that matches several kinds are checked for the first kind for which they compile.
pub fn type_expressions(release: &'static Release, sets: &[&ManifestSet]) -> Vec<TypedExpression> {
    let manifests = ManifestView::new(release, sets);
    let custom = Arc::default();
    let groups = manifests.expression_groups();
    groups.flat_map(|group| type_group(group, &custom)).collect()
}

/// Expressions, checked for each of the kinds that rules match: the built-in ones, those of custom resources, and then those
/// of which nothing is known.
fn by_kind(
    group: ExpressionGroup<'_, '_>,
    custom: &Arc<CustomTypes>,
) -> Vec<(Option<GroupVersionKind>, Vec<TypedSite>)> {
    let ExpressionGroup {
        release,
        sites,
        rules,
        ..
    } = group;
    let mut all: Vec<(Option<GroupVersionKind>, Vec<TypedSite>)> = typings(group, ExpressionAge::New)
        .into_iter()
        .map(|typing| (typing.served.map(|served| served.kind.clone()), typing.typed))
        .collect();
    let parsed = ParsedExpressions::new(sites);
    let of_custom = custom.matched(rules).take(MOST_CUSTOM).map(|(kind, of)| {
        (
            Some(kind.clone()),
            type_custom_sites(release, sites, &parsed, &of, custom),
        )
    });
    let known = all.iter().filter(|(kind, _)| kind.is_some()).count();
    all.splice(known..known, of_custom.collect::<Vec<_>>());
    all
}

/// The most kinds of custom resources for which expressions are checked.
const MOST_CUSTOM: usize = 8;

pub(crate) fn type_group(group: ExpressionGroup<'_, '_>, custom: &Arc<CustomTypes>) -> Vec<TypedExpression> {
    let ExpressionGroup {
        release,
        origin,
        sites,
        ..
    } = group;
    let mut best: Vec<Option<TypedExpression>> = sites.iter().map(|_| None).collect();
    for (kind, typed) in by_kind(group, custom) {
        for ((site, typed), best) in sites.iter().zip(typed).zip(&mut best) {
            let is_better = match best {
                None => true,
                Some(best) => best.checked.is_none() && typed.checked.is_ok(),
            };
            if is_better {
                *best = Some(TypedExpression {
                    release,
                    object: origin.name.clone(),
                    source: origin.source.clone(),
                    path: site.path.clone(),
                    text: site.text.to_owned(),
                    variable: site.variable().map(str::to_owned),
                    kind: kind.clone(),
                    environment: typed.environment,
                    checked: typed.checked.ok().map(Arc::new),
                });
            }
        }
    }
    best.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{load, policy};

    #[test]
    fn expressions_have_types_and_places() {
        let spec = "variables: [{name: count, expression: object.spec.containers.size()}]\nvalidations: [{expression: variables.count > 1}]";
        let set = load(&policy("CREATE", spec));
        let all = type_expressions(Release::latest(), &[&set]);
        let kinds: Vec<_> = all
            .iter()
            .map(|one| one.kind.as_ref().map(|kind| &*kind.kind))
            .collect();
        assert_eq!(kinds, [Some("Pod"), Some("Pod")]);
        assert_eq!(all[0].variable.as_deref(), Some("count"));
        assert_eq!(all[0].checked.as_ref().unwrap().result_type().to_string(), "int");
        assert_eq!(all[1].field(), "spec.validations[0].expression");
        let at = all[1].location(0..9);
        assert_eq!(at.end.column - at.start.column, 9);
        assert!(all[1].environment.variable("variables").is_some());
    }

    /// What is proposed for an expression is what an API server takes in a new one.
    #[test]
    fn functions_are_those_of_new_expressions() {
        let set = load(&policy("CREATE", "validations: [{expression: 'true'}]"));
        let has = |release: &str, function: &str| {
            let all = type_expressions(Release::by_version(release).unwrap(), &[&set]);
            all[0].environment.function(function).is_some()
        };
        assert!(!has("1.37", "includes") && has("1.38", "includes"));
        assert!(!has("1.38", "isMask"));
    }
}
