//! Searches for objects that make expressions as expensive as possible.
//!
//! The search generates many small objects, selects those with the most expensive evaluations, and grows the lists,
//! maps and strings that expressions read: one of them, two, or one inside another. Results are verified by evaluation,
//! but the search is not exhaustive. It is bounded by a budget of work, not by time.

use pratique_json::Value;
use pratique_policy::ExpressionId;
use pratique_types::{GroupVersionKind, Operation};

use crate::evaluate::{EvaluatedExpression, PolicyEvaluator};
use crate::generate::{self, ObjectSpec};
use crate::grow::GrowablePlace;

/// The maximum size of generated objects, in bytes of JSON: about a hundredth of what an API server accepts.
pub const LARGEST: usize = 32 << 10;

/// The evaluation whose cost is maximized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CostGoal {
    /// A single evaluation of an expression.
    Expression(ExpressionId),
    /// The match conditions together.
    Conditions,
    /// All expressions except match conditions and audit annotations.
    Policy,
}

/// A budget of work: units of cost, and bytes of objects.
#[derive(Clone, Copy, Debug)]
pub struct WorkBudget {
    left: u64,
    spent: u64,
}

/// An object that makes an evaluation expensive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostExample {
    /// Its kind.
    pub kind: GroupVersionKind,
    /// The operation of the request.
    pub operation: Operation,
    /// The object, as JSON.
    pub object: String,
    /// The cost of the evaluation, which ends soon after the limit.
    pub cost: u64,
    /// Its large part: `480 items in spec.containers`.
    pub large: String,
}

impl CostGoal {
    /// The cost of the goal.
    pub fn cost(&self, evaluated: &[EvaluatedExpression]) -> u64 {
        let is_condition = |id: &ExpressionId| matches!(id, ExpressionId::Condition(_));
        let costs = |counts: &dyn Fn(&ExpressionId) -> bool| {
            let counted = evaluated
                .iter()
                .filter(|evaluation| counts(&evaluation.expression));
            counted.fold(0u64, |sum, evaluation| sum.saturating_add(evaluation.cost))
        };
        match self {
            CostGoal::Expression(id) => {
                let matching = evaluated.iter().filter(|evaluation| evaluation.expression == *id);
                matching
                    .map(|evaluation| evaluation.cost)
                    .max()
                    .unwrap_or_default()
            }
            CostGoal::Conditions => costs(&is_condition),
            CostGoal::Policy => {
                costs(&|id: &ExpressionId| !is_condition(id) && !matches!(id, ExpressionId::Annotation(_)))
            }
        }
    }
}

impl WorkBudget {
    /// A budget of units of cost and bytes.
    pub fn new(units: u64) -> Self {
        WorkBudget {
            left: units,
            spent: 0,
        }
    }

    /// Splits off a part, which can be [given back](Self::give_back).
    pub fn take(&mut self, most: u64) -> WorkBudget {
        let units = self.left.min(most);
        self.left -= units;
        WorkBudget {
            left: units,
            spent: 0,
        }
    }

    /// Returns the rest of a part.
    pub fn give_back(&mut self, part: WorkBudget) {
        self.left = self.left.saturating_add(part.left);
        self.spent = self.spent.saturating_add(part.spent);
    }

    /// The work that was done. The last evaluation may exceed the budget by up to the cost limit of an evaluation.
    pub fn spent(&self) -> u64 {
        self.spent
    }

    /// Whether the budget is used up.
    pub fn is_spent(&self) -> bool {
        self.left == 0
    }

    fn spend(&mut self, units: u64) {
        self.left = self.left.saturating_sub(units);
        self.spent = self.spent.saturating_add(units);
    }
}

/// The number of small objects, how many of them grow, and in how many places.
const SEEDS: u64 = 48;
const GROWN: usize = 3;
const PLACES: usize = 24;
/// The number of the most expensive places that are grown in pairs.
const TOGETHER: usize = 4;

/// For each goal, the smallest object found that reaches its limit, or else the most expensive one; `None` if the
/// budget ends before the first object. `is_interrupted` is asked before each object, and ends the search.
pub fn most_expensive(
    evaluator: &PolicyEvaluator<'_>,
    spec: &ObjectSpec<'_>,
    goals: &[(CostGoal, u64)],
    budget: &mut WorkBudget,
    is_interrupted: &dyn Fn() -> bool,
) -> Vec<Option<CostExample>> {
    let mut search = CostSearch {
        evaluator,
        goals,
        best: vec![None; goals.len()],
        budget,
        is_interrupted,
    };
    let paths = spec.reads.paths(256);
    let places = paths
        .iter()
        .filter_map(|path| GrowablePlace::new(spec.release, &spec.served.kind, path));
    let places: Vec<GrowablePlace> = places.take(PLACES).collect();
    for seed in search.seeds(spec) {
        if search.is_done() || search.is_ended() {
            break;
        }
        search.grow(&seed, &places);
    }
    for goal in 0..goals.len() {
        search.shrink(goal);
    }
    let example = |candidate: CostCandidate| CostExample {
        kind: spec.served.kind.clone(),
        operation: spec.operation,
        object: candidate.object.to_string(),
        cost: candidate.cost,
        large: candidate.describe(),
    };
    search.best.into_iter().map(|best| best.map(example)).collect()
}

struct CostSearch<'s> {
    evaluator: &'s PolicyEvaluator<'s>,
    goals: &'s [(CostGoal, u64)],
    /// By goal.
    best: Vec<Option<CostCandidate>>,
    budget: &'s mut WorkBudget,
    is_interrupted: &'s dyn Fn() -> bool,
}

/// An object and the plan by which it was grown.
#[derive(Clone)]
struct CostCandidate {
    object: Value<'static>,
    cost: u64,
    seed: Value<'static>,
    plan: GrowthPlan,
    bytes: usize,
}

/// The places to grow, which share the bytes, and an inner place with its number of items.
#[derive(Clone)]
struct GrowthPlan {
    places: Vec<GrowablePlace>,
    inner: Option<(GrowablePlace, usize)>,
}

impl GrowthPlan {
    fn new(places: &[&GrowablePlace]) -> Self {
        GrowthPlan {
            places: places.iter().map(|place| (*place).clone()).collect(),
            inner: None,
        }
    }

    /// Grows an object to at most `bytes` bytes; `None` if it does not have the places.
    fn build(&self, seed: &Value<'static>, bytes: usize) -> Option<Value<'static>> {
        let mut model = seed.clone();
        if let Some((inner, count)) = &self.inner
            && !inner.grow(&mut model, *count)
        {
            return None;
        }
        let room = bytes.checked_sub(model.to_string().len())?;
        let mut share = room.checked_div(self.places.len())?;
        loop {
            let mut object = model.clone();
            for place in &self.places {
                let more = share.checked_div(place.unit(&model)?)?;
                let count = place.count(&model) + more;
                if !place.grow(&mut object, count) {
                    return None;
                }
            }
            if object.to_string().len() <= bytes || share == 0 {
                return Some(object);
            }
            share = share / 10 * 9;
        }
    }
}

impl CostCandidate {
    /// An object without grown parts.
    fn small(object: Value<'static>) -> Self {
        CostCandidate {
            bytes: object.to_string().len(),
            seed: object.clone(),
            object,
            cost: 0,
            plan: GrowthPlan::new(&[]),
        }
    }

    fn describe(&self) -> String {
        let places = self
            .plan
            .places
            .iter()
            .chain(self.plan.inner.iter().map(|(inner, _)| inner));
        let parts = places.map(|place| place.described(place.count(&self.object)));
        parts.collect::<Vec<_>>().join(", ")
    }
}

impl CostSearch<'_> {
    /// Whether no more objects may be evaluated.
    fn is_ended(&self) -> bool {
        self.budget.is_spent() || (self.is_interrupted)()
    }

    /// The costs of an object by goal, and the number of evaluated expressions; `None` if no more may be evaluated.
    fn measure(&mut self, object: &Value<'_>) -> Option<(Vec<u64>, usize)> {
        if self.is_ended() {
            return None;
        }
        let evaluated = self.evaluator.evaluate(object, None);
        let all: u64 = evaluated
            .iter()
            .fold(0, |sum, evaluation| sum.saturating_add(evaluation.cost));
        self.budget
            .spend(all.saturating_add(object.to_string().len() as u64));
        let costs = self.goals.iter().map(|(goal, _)| goal.cost(&evaluated));
        Some((costs.collect(), evaluated.len()))
    }

    /// Whether all goals reach their limits.
    fn is_done(&self) -> bool {
        let both = self.goals.iter().zip(&self.best);
        both.into_iter()
            .all(|((_, limit), best)| best.as_ref().is_some_and(|best| best.cost >= *limit))
    }

    /// How near costs are to the limits that are not reached yet: the maximum, in thousandths of the limit.
    fn nearness(&self, costs: &[u64]) -> u64 {
        let all = self.goals.iter().zip(&self.best).zip(costs);
        let open = all.filter(|(((_, limit), best), _)| best.as_ref().is_none_or(|best| best.cost < *limit));
        let near = open.filter_map(|(((_, limit), _), cost)| cost.saturating_mul(1000).checked_div(*limit));
        near.max().unwrap_or_default()
    }

    /// Keeps an object for the goals for which it is the most expensive so far.
    fn keep(&mut self, costs: &[u64], candidate: &CostCandidate) {
        for (best, cost) in self.best.iter_mut().zip(costs) {
            if best.as_ref().is_none_or(|best| best.cost < *cost) {
                *best = Some(CostCandidate {
                    cost: *cost,
                    ..candidate.clone()
                });
            }
        }
    }

    /// Small objects with expensive evaluations, the most expensive first.
    fn seeds(&mut self, spec: &ObjectSpec<'_>) -> Vec<Value<'static>> {
        const DENSITIES: [u8; 3] = [100, 85, 60];
        let mut seeds: Vec<((u64, usize), Vec<u64>, Value<'static>)> = Vec::new();
        for seed in 0..SEEDS {
            let density = DENSITIES.get(seed as usize % DENSITIES.len()).copied();
            let spec = ObjectSpec {
                density: density.unwrap_or(100),
                ..*spec
            };
            let Some(object) = generate::generate(&spec, seed) else {
                break;
            };
            let Some((costs, evaluated)) = self.measure(&object) else {
                break;
            };
            self.keep(&costs, &CostCandidate::small(object.clone()));
            if !seeds.iter().any(|(_, known, _)| *known == costs) {
                let total = costs.iter().fold(0u64, |sum, cost| sum.saturating_add(*cost));
                seeds.push(((total, evaluated), costs, object));
            }
        }
        seeds.sort_by_key(|(rank, ..)| std::cmp::Reverse(*rank));
        let first = seeds.into_iter().take(GROWN);
        first.map(|(.., object)| object).collect()
    }

    /// Grows and evaluates an object; gives its nearness to the open limits, and its costs.
    fn try_plan(
        &mut self,
        seed: &Value<'static>,
        plan: GrowthPlan,
        bytes: usize,
    ) -> Option<(u64, Vec<u64>, CostCandidate)> {
        let object = plan.build(seed, bytes)?;
        let (costs, _) = self.measure(&object)?;
        let candidate = CostCandidate {
            object,
            cost: 0,
            seed: seed.clone(),
            plan,
            bytes,
        };
        Some((self.nearness(&costs), costs, candidate))
    }

    /// Grows an object at each place, then at pairs of the most expensive places, until all limits are reached.
    fn grow(&mut self, seed: &Value<'static>, places: &[GrowablePlace]) {
        let mut singles: Vec<(u64, &GrowablePlace)> = Vec::new();
        for place in places {
            if let Some((near, costs, candidate)) = self.try_plan(seed, GrowthPlan::new(&[place]), LARGEST) {
                self.keep(&costs, &candidate);
                singles.push((near, place));
            }
            if self.is_done() || self.is_ended() {
                return;
            }
        }
        singles.sort_by_key(|(near, _)| std::cmp::Reverse(*near));
        let dear: Vec<&GrowablePlace> = singles.iter().take(TOGETHER).map(|(_, place)| *place).collect();
        for (at, one) in dear.iter().enumerate() {
            for other in dear.iter().skip(at + 1) {
                for plan in pairs(one, other) {
                    if let Some((_, costs, candidate)) = self.try_plan(seed, plan, LARGEST) {
                        self.keep(&costs, &candidate);
                    }
                    if self.is_done() || self.is_ended() {
                        return;
                    }
                }
            }
        }
    }

    /// Searches for a smaller object that still reaches a goal's limit.
    fn shrink(&mut self, goal: usize) {
        const STEP: usize = 1 << 10;
        let (Some((_, limit)), Some(Some(smallest))) = (self.goals.get(goal), self.best.get(goal)) else {
            return;
        };
        let (limit, mut smallest) = (*limit, smallest.clone());
        if smallest.cost < limit || smallest.plan.places.is_empty() {
            return;
        }
        let (mut below, mut reached) = (0, smallest.bytes);
        while reached - below > STEP && !self.is_ended() {
            let middle = below + (reached - below) / 2;
            let smaller = self.try_plan(&smallest.seed, smallest.plan.clone(), middle);
            let cost = |costs: &[u64]| costs.get(goal).copied().unwrap_or_default();
            match smaller {
                Some((_, costs, smaller)) if cost(&costs) >= limit => {
                    smallest = CostCandidate {
                        cost: cost(&costs),
                        ..smaller
                    };
                    reached = middle;
                }
                _ => below = middle,
            }
        }
        if let Some(best) = self.best.get_mut(goal) {
            *best = Some(smallest);
        }
    }
}

/// The plans that grow two places.
fn pairs(one: &GrowablePlace, other: &GrowablePlace) -> Vec<GrowthPlan> {
    const INNER: [usize; 2] = [8, 40];
    let nested = |outer: &GrowablePlace, inner: &GrowablePlace| -> Vec<GrowthPlan> {
        let plan = |count: &usize| GrowthPlan {
            places: vec![outer.clone()],
            inner: Some((inner.clone(), *count)),
        };
        INNER.iter().map(plan).collect()
    };
    if one.holds(other) {
        nested(one, other)
    } else if other.holds(one) {
        nested(other, one)
    } else {
        vec![GrowthPlan::new(&[one, other])]
    }
}
