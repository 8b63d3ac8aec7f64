//! Objects that make expressions cost as much as they can.
//!
//! The search makes many small objects, takes those over which most is evaluated, and lets the lists, maps and texts
//! grow that expressions read: one of them, two beside each other, or one in another. What it finds was evaluated, and
//! cost what it says; what it does not find may exist. It counts its work and ends when that is done, not when time is up.

use pratique_json::Value;
use pratique_types::{GroupVersionKind, Operation};

use crate::evaluate::{Evaluated, Evaluator, ExpressionId};
use crate::generate::{self, ObjectSpec};
use crate::grow::Growable;

/// The largest object that is made, in bytes of JSON: a hundredth of what an API server takes.
pub const LARGEST: usize = 32 << 10;

/// What is to be expensive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// A single evaluation of an expression.
    Expression(ExpressionId),
    /// The match conditions together.
    Conditions,
    /// All but match conditions and audit annotations.
    Policy,
}

/// Work that may still be done: units of cost, and bytes of objects.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    left: u64,
    spent: u64,
}

/// An object that makes an evaluation expensive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostExample {
    /// Its kind.
    pub kind: GroupVersionKind,
    /// What the request does with it.
    pub operation: Operation,
    /// The object, as JSON.
    pub object: String,
    /// What the evaluation cost. It ends soon after the limit.
    pub cost: u64,
    /// What is large in it: `480 items in spec.containers`.
    pub large: String,
}

impl Goal {
    /// What it cost.
    pub fn cost(&self, evaluated: &[Evaluated]) -> u64 {
        let is_condition = |id: &ExpressionId| matches!(id, ExpressionId::Condition(_));
        let costs = |counts: &dyn Fn(&ExpressionId) -> bool| {
            let counted = evaluated
                .iter()
                .filter(|evaluation| counts(&evaluation.expression));
            counted.fold(0u64, |sum, evaluation| sum.saturating_add(evaluation.cost))
        };
        match self {
            Goal::Expression(id) => {
                let matching = evaluated.iter().filter(|evaluation| evaluation.expression == *id);
                matching
                    .map(|evaluation| evaluation.cost)
                    .max()
                    .unwrap_or_default()
            }
            Goal::Conditions => costs(&is_condition),
            Goal::Policy => {
                costs(&|id: &ExpressionId| !is_condition(id) && !matches!(id, ExpressionId::Annotation(_)))
            }
        }
    }
}

impl Budget {
    /// Work of so many units of cost and bytes.
    pub fn new(units: u64) -> Self {
        Budget {
            left: units,
            spent: 0,
        }
    }

    /// A part of it; [give it back](Self::give_back).
    pub fn take(&mut self, most: u64) -> Budget {
        let taken = self.left.min(most);
        self.left -= taken;
        Budget {
            left: taken,
            spent: 0,
        }
    }

    /// Takes back what was not spent.
    pub fn give_back(&mut self, part: Budget) {
        self.left = self.left.saturating_add(part.left);
        self.spent = self.spent.saturating_add(part.spent);
    }

    /// What was spent. The last evaluation may have gone beyond what was left, by no more than one evaluation may cost.
    pub fn spent(&self) -> u64 {
        self.spent
    }

    /// Whether nothing is left.
    pub fn is_spent(&self) -> bool {
        self.left == 0
    }

    fn spend(&mut self, units: u64) {
        self.left = self.left.saturating_sub(units);
        self.spent = self.spent.saturating_add(units);
    }
}

/// How many small objects are made, how many of them grow, and in how many places.
const SEEDS: u64 = 48;
const GROWN: usize = 3;
const PLACES: usize = 24;
/// How many of the places that cost most grow together with another one.
const TOGETHER: usize = 4;

/// For each goal with its limit the smallest object found that makes it cost that; if none does, the one that makes it
/// cost most. There is none where the work ends before the first object.
pub fn most_expensive(
    evaluator: &Evaluator<'_>,
    spec: &ObjectSpec<'_>,
    goals: &[(Goal, u64)],
    budget: &mut Budget,
) -> Vec<Option<CostExample>> {
    let mut search = Search {
        evaluator,
        goals,
        best: vec![None; goals.len()],
        budget,
    };
    let paths = spec.reads.paths(256);
    let places = paths
        .iter()
        .filter_map(|path| Growable::new(&spec.served.kind, path));
    let places: Vec<Growable> = places.take(PLACES).collect();
    for seed in search.seeds(spec) {
        if search.is_done() {
            break;
        }
        search.grow(&seed, &places);
    }
    for goal in 0..goals.len() {
        search.shrink(goal);
    }
    let example = |found: Candidate| CostExample {
        kind: spec.served.kind.clone(),
        operation: spec.operation,
        object: found.object.to_string(),
        cost: found.cost,
        large: found.described(),
    };
    search.best.into_iter().map(|found| found.map(example)).collect()
}

struct Search<'s> {
    evaluator: &'s Evaluator<'s>,
    goals: &'s [(Goal, u64)],
    /// By goal.
    best: Vec<Option<Candidate>>,
    budget: &'s mut Budget,
}

/// An object with what was grown in it.
#[derive(Clone)]
struct Candidate {
    object: Value<'static>,
    cost: u64,
    seed: Value<'static>,
    plan: Plan,
    bytes: usize,
}

/// What is to grow: places with their parts of the bytes, a place within another one with a number.
#[derive(Clone)]
struct Plan {
    places: Vec<Growable>,
    inner: Option<(Growable, usize)>,
}

impl Plan {
    fn of(places: &[&Growable]) -> Self {
        Plan {
            places: places.iter().map(|place| (*place).clone()).collect(),
            inner: None,
        }
    }

    /// An object grown to at most so many bytes; `None` where it does not have the places.
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

impl Candidate {
    /// An object in which nothing was grown.
    fn small(object: Value<'static>) -> Self {
        Candidate {
            bytes: object.to_string().len(),
            seed: object.clone(),
            object,
            cost: 0,
            plan: Plan::of(&[]),
        }
    }

    fn described(&self) -> String {
        let places = self
            .plan
            .places
            .iter()
            .chain(self.plan.inner.iter().map(|(inner, _)| inner));
        let parts = places.map(|place| place.described(place.count(&self.object)));
        parts.collect::<Vec<_>>().join(", ")
    }
}

impl Search<'_> {
    /// What an object costs, by goal, and how many expressions are evaluated over it; `None` when the budget is spent.
    fn measure(&mut self, object: &Value<'_>) -> Option<(Vec<u64>, usize)> {
        if self.budget.is_spent() {
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

    /// Whether all goals cost their limits.
    fn is_done(&self) -> bool {
        let both = self.goals.iter().zip(&self.best);
        both.into_iter()
            .all(|((_, limit), best)| best.as_ref().is_some_and(|best| best.cost >= *limit))
    }

    /// How near costs are to the limits that were not reached yet: thousandths of the nearest one.
    fn nearness(&self, costs: &[u64]) -> u64 {
        let all = self.goals.iter().zip(&self.best).zip(costs);
        let open = all.filter(|(((_, limit), best), _)| best.as_ref().is_none_or(|best| best.cost < *limit));
        let near = open.filter_map(|(((_, limit), _), cost)| cost.saturating_mul(1000).checked_div(*limit));
        near.max().unwrap_or_default()
    }

    /// Keeps an object for the goals that it makes cost more than those before did.
    fn keep(&mut self, costs: &[u64], found: &Candidate) {
        for (best, cost) in self.best.iter_mut().zip(costs) {
            if best.as_ref().is_none_or(|best| best.cost < *cost) {
                *best = Some(Candidate {
                    cost: *cost,
                    ..found.clone()
                });
            }
        }
    }

    /// Small objects over which much is evaluated, the most first.
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
            self.keep(&costs, &Candidate::small(object.clone()));
            if !seeds.iter().any(|(_, known, _)| *known == costs) {
                let total = costs.iter().fold(0u64, |sum, cost| sum.saturating_add(*cost));
                seeds.push(((total, evaluated), costs, object));
            }
        }
        seeds.sort_by_key(|(rank, ..)| std::cmp::Reverse(*rank));
        let first = seeds.into_iter().take(GROWN);
        first.map(|(.., object)| object).collect()
    }

    /// Evaluates an object that grew as planned; how near it comes to what was not reached yet.
    fn try_plan(
        &mut self,
        seed: &Value<'static>,
        plan: Plan,
        bytes: usize,
    ) -> Option<(u64, Vec<u64>, Candidate)> {
        let object = plan.build(seed, bytes)?;
        let (costs, _) = self.measure(&object)?;
        let found = Candidate {
            object,
            cost: 0,
            seed: seed.clone(),
            plan,
            bytes,
        };
        Some((self.nearness(&costs), costs, found))
    }

    /// Lets an object grow at each place, then at pairs of those where that cost most, until all limits are reached.
    fn grow(&mut self, seed: &Value<'static>, places: &[Growable]) {
        let mut singles: Vec<(u64, &Growable)> = Vec::new();
        for place in places {
            if let Some((near, costs, found)) = self.try_plan(seed, Plan::of(&[place]), LARGEST) {
                self.keep(&costs, &found);
                singles.push((near, place));
            }
            if self.is_done() || self.budget.is_spent() {
                return;
            }
        }
        singles.sort_by_key(|(near, _)| std::cmp::Reverse(*near));
        let dear: Vec<&Growable> = singles.iter().take(TOGETHER).map(|(_, place)| *place).collect();
        for (at, one) in dear.iter().enumerate() {
            for other in dear.iter().skip(at + 1) {
                for plan in pairs(one, other) {
                    if let Some((_, costs, found)) = self.try_plan(seed, plan, LARGEST) {
                        self.keep(&costs, &found);
                    }
                    if self.is_done() || self.budget.is_spent() {
                        return;
                    }
                }
            }
        }
    }

    /// Looks for a smaller object that still makes a goal cost its limit.
    fn shrink(&mut self, goal: usize) {
        const STEP: usize = 1 << 10;
        let (Some((_, limit)), Some(Some(found))) = (self.goals.get(goal), self.best.get(goal)) else {
            return;
        };
        let (limit, mut found) = (*limit, found.clone());
        if found.cost < limit || found.plan.places.is_empty() {
            return;
        }
        let (mut below, mut reached) = (0, found.bytes);
        while reached - below > STEP && !self.budget.is_spent() {
            let middle = below + (reached - below) / 2;
            let smaller = self.try_plan(&found.seed, found.plan.clone(), middle);
            let cost = |costs: &[u64]| costs.get(goal).copied().unwrap_or_default();
            match smaller {
                Some((_, costs, smaller)) if cost(&costs) >= limit => {
                    found = Candidate {
                        cost: cost(&costs),
                        ..smaller
                    };
                    reached = middle;
                }
                _ => below = middle,
            }
        }
        if let Some(best) = self.best.get_mut(goal) {
            *best = Some(found);
        }
    }
}

/// How two places grow together.
fn pairs(one: &Growable, other: &Growable) -> Vec<Plan> {
    const INNER: [usize; 2] = [8, 40];
    let nested = |outer: &Growable, inner: &Growable| -> Vec<Plan> {
        let plan = |count: &usize| Plan {
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
        vec![Plan::of(&[one, other])]
    }
}
