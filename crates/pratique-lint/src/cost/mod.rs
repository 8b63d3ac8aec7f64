//! What expressions may cost: for objects of any size up to one that is large, but not unheard of.

mod sizes;

use pratique_cel::Report as Usage;
use pratique_cel::estimate::{Range, estimate};
use pratique_manifest::{Location, ManifestSet, ObjectName};
use pratique_types::GroupVersionKind;

use crate::analysis::Parsed;
use crate::report::path_text;
use crate::subject::{Manifests, Origin, RuleView, Site};
use crate::typing::{Kinds, Typed, type_of, type_sites};
use sizes::{Asked, Object, Spread};

/// What an expression yields, reads and may cost.
#[derive(Clone, Debug)]
pub struct ExpressionCost {
    /// The object that it is part of.
    pub object: ObjectName,
    /// Its field: `spec.validations[0].expression`.
    pub field: String,
    /// Where it is.
    pub location: Location,
    /// Its text.
    pub text: String,
    /// The built-in kind for which it costs most; none if it is for others only.
    pub kind: Option<GroupVersionKind>,
    /// What it yields, reads and calls. Its cost is for objects of [`LARGE`](ExpressionCost::LARGE) bytes.
    pub usage: Usage,
}

impl ExpressionCost {
    /// The size of the objects that costs are for, in bytes.
    pub const LARGE: u64 = sizes::LARGE;
    /// What a single evaluation may cost.
    pub const LIMIT: u64 = 1_000_000;
}

/// What the expressions of manifests cost; those that do not compile for any kind are left out.
pub fn costs(sets: &[&ManifestSet]) -> Vec<ExpressionCost> {
    let manifests = Manifests::new(sets);
    let mut all = Vec::new();
    for policy in &manifests.policies {
        all.extend(described(&policy.sites, &policy.rules, &policy.origin));
    }
    for hook in &manifests.hooks {
        all.extend(described(&hook.conditions, &hook.rules, &hook.origin));
    }
    all
}

fn described(sites: &[Site<'_>], rules: &[RuleView<'_>], origin: &Origin<'_>) -> Vec<ExpressionCost> {
    let mut best: Vec<Option<ExpressionCost>> = vec![None; sites.len()];
    for (kind, typed) in typings(sites, rules) {
        for ((site, typed), best) in sites.iter().zip(&typed).zip(&mut best) {
            let Ok(checked) = &typed.checked else { continue };
            let mut usage = Usage::new(&typed.environment, checked, &Object::small());
            usage.cost = Range {
                min: usage.cost.min,
                max: worst(typed, sizes::LARGE),
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
                    kind: kind.clone(),
                    usage,
                });
            }
        }
    }
    best.into_iter().flatten().collect()
}

/// Expressions with the types of the kinds that they are for, to be asked for their costs.
pub(crate) struct Costs {
    typings: Vec<Vec<Typed>>,
}

impl Costs {
    pub(crate) fn new(sites: &[Site<'_>], rules: &[RuleView<'_>]) -> Self {
        Costs {
            typings: typings(sites, rules)
                .into_iter()
                .map(|(_, typed)| typed)
                .collect(),
        }
    }

    /// The most that an expression costs for objects of so many bytes, over all kinds; 0 if it compiles for none.
    pub(crate) fn worst(&self, site: usize, bytes: u64) -> u64 {
        let typed = self.typings.iter().filter_map(|typed| typed.get(site));
        typed.map(|typed| worst(typed, bytes)).max().unwrap_or_default()
    }
}

/// The expressions with the types of each of the first kinds that rules match, or without types if there is no kind.
fn typings(sites: &[Site<'_>], rules: &[RuleView<'_>]) -> Vec<(Option<GroupVersionKind>, Vec<Typed>)> {
    const MOST_KINDS: usize = 8;
    let kinds = Kinds::new(rules);
    let parsed = Parsed::new(sites);
    let types = kinds
        .builtin
        .iter()
        .filter_map(|served| Some((&served.kind, type_of(&served.kind)?)));
    let mut typings: Vec<_> = types
        .take(MOST_KINDS)
        .map(|(kind, of)| (Some(kind.clone()), type_sites(sites, &parsed, &of)))
        .collect();
    if typings.is_empty() || kinds.others {
        typings.push((None, type_sites(sites, &parsed, &pratique_cel::Type::Dyn)));
    }
    typings
}

/// The most that an expression costs for any object of so many bytes: all of them in one list, map or text that it
/// looks at, or spread over all of these.
fn worst(typed: &Typed, bytes: u64) -> u64 {
    let Ok(checked) = &typed.checked else { return 0 };
    let asked = Asked::default();
    let small = estimate(checked, &asked).max;
    let places = asked.into_places();
    let spread = Spread {
        bytes,
        over: places.len() as u64,
    };
    let focused = places
        .iter()
        .map(|place| estimate(checked, &Object::with(place, bytes)).max);
    let most = focused.max().unwrap_or_default();
    small.max(most).max(estimate(checked, &spread).max)
}
