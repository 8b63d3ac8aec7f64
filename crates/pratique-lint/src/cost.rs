//! Cost estimates of expressions, for objects up to a large but realistic size.

mod sizes;

use pratique_cel::cost::Range;
use pratique_cel::estimate::{Sizes, estimate};
use pratique_cel::{Report as Usage, Type};
use pratique_manifest::{Location, ManifestSet, ObjectName, ObjectSource, PathStep};
use pratique_schema::Release;
use pratique_types::GroupVersionKind;
use pratique_types::builtin::ServedResource;
use pratique_types::cel_limits::PER_CALL_LIMIT;

use crate::analysis::ParsedExpressions;
use crate::report::path_text;
use crate::subject::{ExpressionGroup, ExpressionSite, ManifestView};
use crate::typing::{ExpressionAge, MatchedKinds, TypedSite, type_of, type_sites};
use sizes::{FocusedObject, PlaceRecorder, SpreadObject, VariableSizes, WithVariables};

/// The type, the inputs and the estimated cost of an expression.
#[derive(Clone, Debug)]
pub struct ExpressionCost {
    /// The manifest of the expression.
    pub object: ObjectName,
    /// Its field: `spec.validations[0].expression`.
    pub field: String,
    /// Where it is.
    pub location: Location,
    /// Its text.
    pub text: String,
    /// The built-in kind with the highest cost; `None` if it matches no built-in kind.
    pub kind: Option<GroupVersionKind>,
    /// Type, inputs and functions. The cost is for objects of [`LARGE`](ExpressionCost::LARGE) bytes.
    pub usage: Usage,
}

impl ExpressionCost {
    /// The size of the objects for which costs are estimated, in bytes.
    pub const LARGE: u64 = sizes::LARGE;
    /// The cost limit of a single evaluation.
    pub const LIMIT: u64 = PER_CALL_LIMIT;
}

/// Estimates the costs of the expressions of manifests for a server of a release, except for those that compile for no kind.
pub fn estimate_costs(release: &'static Release, sets: &[&ManifestSet]) -> Vec<ExpressionCost> {
    let manifests = ManifestView::new(release, sets);
    let groups = manifests.expression_groups();
    groups.flat_map(|group| described(group, |_| true)).collect()
}

/// Estimates the cost of the expression in one field of a manifest; `None` if there is none, or if it compiles for no kind.
pub fn estimate_cost(
    release: &'static Release,
    sets: &[&ManifestSet],
    source: &ObjectSource,
    path: &[PathStep],
) -> Option<ExpressionCost> {
    let manifests = ManifestView::new(release, sets);
    let of_object = |group: &ExpressionGroup<'_, '_>| group.origin.source.is_same(source);
    let mut groups = manifests.expression_groups().filter(of_object);
    groups.find_map(|group| described(group, |site| site.path == path).pop())
}

/// The costs of those expressions of a group that are wanted.
fn described(
    group: ExpressionGroup<'_, '_>,
    is_wanted: impl Fn(&ExpressionSite<'_>) -> bool,
) -> Vec<ExpressionCost> {
    let ExpressionGroup { origin, sites, .. } = group;
    let mut best: Vec<Option<ExpressionCost>> = vec![None; sites.len()];
    for typing in typings(group, ExpressionAge::Stored) {
        for ((site, typed), best) in sites.iter().zip(&typing.typed).zip(&mut best) {
            let Ok(checked) = &typed.checked else { continue };
            if !is_wanted(site) {
                continue;
            }
            let small = WithVariables::new(&typing.variables, FocusedObject::small());
            let mut usage = Usage::new(&typed.environment, checked, &small);
            usage.cost = Range {
                min: usage.cost.min,
                max: worst(typed, &typing.variables, sizes::LARGE),
            };
            if best
                .as_ref()
                .is_none_or(|best| best.usage.cost.max < usage.cost.max)
            {
                *best = Some(ExpressionCost {
                    object: origin.name.clone(),
                    field: path_text(&site.path),
                    location: origin.source.locate(&site.path),
                    text: site.text.to_owned(),
                    kind: typing.served.map(|served| served.kind.clone()),
                    usage,
                });
            }
        }
    }
    best.into_iter().flatten().collect()
}

/// Cost estimates of expressions, by kind.
pub(crate) struct CostEstimates {
    typings: Vec<KindTyping>,
}

/// Expressions, type-checked for a kind.
pub(crate) struct KindTyping {
    /// A resource of the kind; `None` if the kind is not built in.
    pub(crate) served: Option<&'static ServedResource>,
    pub(crate) typed: Vec<TypedSite>,
    variables: VariableSizes,
}

impl CostEstimates {
    pub(crate) fn new(group: ExpressionGroup<'_, '_>) -> Self {
        CostEstimates {
            typings: typings(group, ExpressionAge::Stored),
        }
    }

    /// The built-in kinds, each with its index.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (usize, &'static ServedResource)> {
        let typings = self.typings.iter().enumerate();
        typings.filter_map(|(at, typing)| Some((at, typing.served?)))
    }

    /// The maximum cost of an expression for objects of a kind and size; 0 if it does not compile for the kind.
    pub(crate) fn of_kind(&self, kind: usize, site: usize, bytes: u64) -> u64 {
        let typing = self.typings.get(kind);
        let typed = typing.and_then(|typing| Some((typing.typed.get(site)?, &typing.variables)));
        typed.map_or(0, |(typed, variables)| worst(typed, variables, bytes))
    }
}

/// Type-checks the expressions for the first kinds that rules match, or without types if there is no kind.
pub(crate) fn typings(group: ExpressionGroup<'_, '_>, age: ExpressionAge) -> Vec<KindTyping> {
    const MOST_KINDS: usize = 8;
    let ExpressionGroup {
        release,
        sites,
        rules,
        ..
    } = group;
    let kinds = MatchedKinds::new(release, rules);
    let parsed = ParsedExpressions::new(sites);
    let types = kinds
        .builtin
        .iter()
        .filter_map(|served| Some((*served, type_of(release, &served.kind)?)));
    let typing = |served, of: &Type| {
        let typed = type_sites(release, age, sites, &parsed, of);
        KindTyping {
            served,
            variables: variables(sites, &typed),
            typed,
        }
    };
    let mut typings: Vec<_> = types
        .take(MOST_KINDS)
        .map(|(served, of)| typing(Some(served), &of))
        .collect();
    if typings.is_empty() || kinds.others {
        typings.push(typing(None, &Type::Dyn));
    }
    typings
}

/// The sizes of variables, as far as they are known.
fn variables(sites: &[ExpressionSite<'_>], typed: &[TypedSite]) -> VariableSizes {
    let mut variables = VariableSizes::default();
    for (site, typed) in sites.iter().zip(typed) {
        if let (Some(name), Ok(checked)) = (site.variable(), &typed.checked) {
            variables.define(name, checked);
        }
    }
    variables
}

/// The maximum cost of an expression for any object of a size: all bytes in one list, map or string that the expression
/// reads, or spread over all of these.
fn worst(typed: &TypedSite, variables: &VariableSizes, bytes: u64) -> u64 {
    let Ok(checked) = &typed.checked else { return 0 };
    let most = |sizes: &dyn Sizes| estimate(checked, sizes).max;
    let recorder = WithVariables::new(variables, PlaceRecorder::default());
    let small = most(&recorder);
    let places = recorder.into_inner().into_places();
    let spread = SpreadObject {
        bytes,
        over: places.len() as u64,
    };
    let focused = places
        .iter()
        .map(|place| most(&WithVariables::new(variables, FocusedObject::with(place, bytes))));
    let focused = focused.max().unwrap_or_default();
    small
        .max(focused)
        .max(most(&WithVariables::new(variables, spread)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{load, policy};

    /// The estimates of a policy's expressions, in order.
    fn estimates(spec: &str) -> Vec<u64> {
        let set = load(&policy("CREATE", spec));
        estimate_costs(Release::latest(), &[&set])
            .into_iter()
            .map(|cost| cost.usage.cost.max)
            .collect()
    }

    #[test]
    fn variables_have_the_sizes_of_what_they_stand_for() {
        let constant = "variables: [{name: all, expression: \"['a', 'b', 'c']\"}]
validations: [{expression: \"variables.all.all(a, object.metadata.name != a)\"}]
";
        let inline = "validations: [{expression: \"['a', 'b', 'c'].all(a, object.metadata.name != a)\"}]\n";
        // Reading a variable is charged, but not building the list.
        let (constant, inline) = (estimates(constant)[1], estimates(inline)[0]);
        assert!(constant < 100 && inline < 100, "{constant} {inline}");

        let part = "variables: [{name: all, expression: object.spec.containers}]
validations: [{expression: 'variables.all.all(c, variables.all.exists(d, c.name == d.name))'}]
";
        let inline = "validations:
- expression: object.spec.containers.all(c, object.spec.containers.exists(d, c.name == d.name))
";
        let (part, inline) = (estimates(part)[1], estimates(inline)[0]);
        assert!(
            inline > 1_000_000 && part.abs_diff(inline) < inline / 2,
            "{part} {inline}"
        );
    }
}
