//! Makes expressions: of a wanted type, from the productions that have it.

use std::collections::HashMap;
use std::rc::Rc;

use pratique_harness::RandomDice;

use super::grammar::{GrammarProduction, ProductionSort, TemplatePiece};
use super::sketch::OF_EXPRESSIONS;
use super::tree::{ExpressionTree, TreeNode};
use super::types::{GrammarType, TypeBindings};

/// How expressions are made.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GenerationManner {
    /// Nothing that may not compile, and nothing of a type that the checker does not know.
    pub(super) sound: bool,
}

/// Makes expressions from productions.
pub(super) struct ExpressionGenerator {
    productions: Vec<GrammarProduction>,
    known: HashMap<(GrammarType, WantedProductions), Rc<ProductionCandidates>>,
    /// Whether expressions of a type can be generated in a number of steps.
    within: HashMap<(GrammarType, WantedProductions, usize), bool>,
    manner: GenerationManner,
    authorizer: bool,
    patch_types: bool,
}

/// The selection of productions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum WantedProductions {
    Any,
    Sound,
    Exact,
}

/// The productions of a type, by index, as often as they count.
#[derive(Default)]
struct ProductionCandidates {
    /// Those with which an expression ends soonest.
    last: Vec<usize>,
    branches: Vec<usize>,
}

/// A variable of a macro, and whether the checker knows its type.
#[derive(Clone)]
struct MacroVariable {
    name: String,
    of: GrammarType,
    exact: bool,
}

/// The state of generating an expression.
struct GeneratorProgress<'d> {
    dice: &'d mut RandomDice,
    scope: Vec<MacroVariable>,
}

impl ExpressionGenerator {
    /// A generator for an environment that has these productions.
    pub(super) fn new(productions: Vec<GrammarProduction>, manner: GenerationManner) -> Self {
        let has = |prefix: &str| {
            productions
                .iter()
                .any(|production| production.of.name.starts_with(prefix))
        };
        ExpressionGenerator {
            known: HashMap::new(),
            within: HashMap::new(),
            manner,
            authorizer: has("kubernetes.authorization"),
            patch_types: has("JSONPatch"),
            productions,
        }
    }

    /// An expression of a random type and size.
    pub(super) fn expression(&mut self, dice: &mut RandomDice) -> (GrammarType, ExpressionTree) {
        let size = *dice.pick(&[2, 4, 7, 12, 20, 35]).unwrap_or(&4);
        let of = self.result_type(dice);
        let mut progress = GeneratorProgress {
            dice,
            scope: Vec::new(),
        };
        let tree = self.tree(&of, size, self.manner.sound, &mut progress);
        (of, tree)
    }

    /// An expression whose type the checker knows at its top, but not in all its parts.
    pub(super) fn of_type(&mut self, of: &GrammarType, size: usize, dice: &mut RandomDice) -> ExpressionTree {
        let candidates = self.candidates(of, WantedProductions::Exact);
        let last = candidates.branches.is_empty() || size <= 1;
        let chosen = if last {
            dice.pick(&candidates.last)
        } else {
            dice.pick(&candidates.branches)
        };
        let Some(production) = chosen.and_then(|index| self.productions.get(*index)).cloned() else {
            return ExpressionTree::from_text(NOTHING);
        };
        let mut progress = GeneratorProgress {
            dice,
            scope: Vec::new(),
        };
        self.filled(&production, of, size, false, &mut progress)
    }

    fn result_type(&self, dice: &mut RandomDice) -> GrammarType {
        if self.patch_types && dice.chance(50) {
            let of = dice.pick(&["Object", "list(JSONPatch)", "JSONPatch"]).copied();
            return GrammarType::parse(of.unwrap_or("Object"));
        }
        if self.authorizer && dice.chance(15) {
            return GrammarType::named("kubernetes.authorization.Decision");
        }
        if dice.chance(40) {
            GrammarType::named("bool")
        } else {
            self.any_type(dice, 2)
        }
    }

    /// Any type that values have.
    fn any_type(&self, dice: &mut RandomDice, depth: usize) -> GrammarType {
        let composed = |name: &str, of: Vec<GrammarType>| GrammarType {
            name: name.to_owned(),
            of,
        };
        match dice.below(if depth == 0 { 10 } else { 16 }) {
            0..8 => named(dice, "plain type"),
            8 if self.patch_types => named(dice, "patch type"),
            9 if self.authorizer && dice.chance(20) => named(dice, "authorization type"),
            8..10 => named(dice, "rare type"),
            10..13 => composed("list", vec![self.any_type(dice, depth - 1)]),
            13..15 => {
                let key = named(dice, "key type");
                composed("map", vec![key, self.any_type(dice, depth - 1)])
            }
            _ => composed("optional_type", vec![self.any_type(dice, depth - 1)]),
        }
    }

    /// An expression of a type with about `size` parts; of a type that the checker knows, if it is to be exact.
    fn tree(
        &mut self,
        of: &GrammarType,
        size: usize,
        exact: bool,
        progress: &mut GeneratorProgress<'_>,
    ) -> ExpressionTree {
        if let Some(made_up) = made_up(of, progress.dice) {
            return ExpressionTree::from_text(made_up);
        }
        if !self.manner.sound && progress.dice.chance(1) {
            let other = self.any_type(progress.dice, 1);
            return self.made(&other, size.min(4), false, progress);
        }
        self.made(of, size, exact, progress)
    }

    fn made(
        &mut self,
        of: &GrammarType,
        size: usize,
        exact: bool,
        progress: &mut GeneratorProgress<'_>,
    ) -> ExpressionTree {
        let fitting: Vec<&MacroVariable> = progress
            .scope
            .iter()
            .filter(|variable| variable.of == *of && (variable.exact || !exact))
            .collect();
        if let Some(variable) = progress.dice.pick(&fitting)
            && progress.dice.chance(if size <= 1 { 80 } else { 25 })
        {
            return ExpressionTree::from_text(variable.name.clone());
        }
        let wanted = match (exact, self.manner.sound) {
            (true, _) => WantedProductions::Exact,
            (false, true) => WantedProductions::Sound,
            (false, false) => WantedProductions::Any,
        };
        let candidates = self.candidates(of, wanted);
        let last = candidates.branches.is_empty() || size <= 1 || progress.dice.chance(8);
        let chosen = if last && (size <= 1 || !candidates.last.is_empty()) {
            progress.dice.pick(&candidates.last)
        } else {
            progress.dice.pick(&candidates.branches)
        };
        let Some(production) = chosen.and_then(|index| self.productions.get(*index)).cloned() else {
            return ExpressionTree::from_text(NOTHING);
        };
        self.filled(&production, of, size, exact, progress)
    }

    fn filled(
        &mut self,
        production: &GrammarProduction,
        of: &GrammarType,
        size: usize,
        exact: bool,
        progress: &mut GeneratorProgress<'_>,
    ) -> ExpressionTree {
        let mut bindings = TypeBindings::new();
        production.of.matches(of, &mut bindings);
        let holes = production
            .pieces
            .iter()
            .filter(|piece| matches!(piece, TemplatePiece::Hole { .. }))
            .count();
        let share = size.saturating_sub(1) / holes.max(1);
        let outer = progress.scope.len();
        let mut nodes = Vec::with_capacity(production.pieces.len());
        for piece in &production.pieces {
            nodes.push(match piece {
                TemplatePiece::Text(text) => TreeNode::Text(text.clone()),
                TemplatePiece::Hole { of, exact: known } => {
                    let of = self.resolved(of, &mut bindings, progress.dice);
                    TreeNode::Inner(self.tree(&of, share, exact || *known, progress))
                }
                TemplatePiece::Variable(of) => {
                    let of = self.resolved(of, &mut bindings, progress.dice);
                    let name = variable_name(progress, self.manner);
                    progress.scope.push(MacroVariable {
                        name: name.clone(),
                        of,
                        exact: exact || self.manner.sound,
                    });
                    TreeNode::Text(name)
                }
            });
        }
        progress.scope.truncate(outer);
        ExpressionTree(nodes)
    }

    /// A type with its letters replaced; `K` is a type that maps have keys of.
    fn resolved(&self, of: &GrammarType, bindings: &mut TypeBindings, dice: &mut RandomDice) -> GrammarType {
        if !bindings.contains_key("K") {
            bindings.insert("K".to_owned(), named(dice, "key type"));
        }
        of.resolve(bindings, &mut || self.any_type(dice, 1))
    }

    fn candidates(&mut self, of: &GrammarType, wanted: WantedProductions) -> Rc<ProductionCandidates> {
        let key = (of.clone(), wanted);
        if let Some(known) = self.known.get(&key) {
            return Rc::clone(known);
        }
        let fitting: Vec<usize> = self.fitting(of, wanted).collect();
        let steps = (0..LONGEST).find(|steps| self.ends_within(of, wanted, *steps));
        let mut candidates = ProductionCandidates::default();
        for index in fitting {
            let Some(production) = self.productions.get(index).cloned() else {
                continue;
            };
            let holes = holes(&production, of, wanted);
            let last = steps.is_some_and(|steps| self.all_end_within(of, &holes, steps));
            let weighed = || std::iter::repeat_n(index, production.weight);
            if last {
                candidates.last.extend(weighed());
            }
            if !holes.is_empty() {
                candidates.branches.extend(weighed());
            }
        }
        let candidates = Rc::new(candidates);
        self.known.insert(key, Rc::clone(&candidates));
        candidates
    }

    fn fitting(&self, of: &GrammarType, wanted: WantedProductions) -> impl Iterator<Item = usize> + use<'_> {
        let of = of.clone();
        let productions = self.productions.iter().enumerate();
        let fitting = productions.filter(move |(_, production)| {
            let allowed = match wanted {
                WantedProductions::Any => true,
                WantedProductions::Sound => production.sort != ProductionSort::Doubtful,
                WantedProductions::Exact => production.sort == ProductionSort::Static,
            };
            allowed && production.of.matches(&of, &mut TypeBindings::new())
        });
        fitting.map(|(index, _)| index)
    }

    fn ends_within(&mut self, of: &GrammarType, wanted: WantedProductions, steps: usize) -> bool {
        let key = (of.clone(), wanted, steps);
        if let Some(known) = self.within.get(&key) {
            return *known;
        }
        let fitting: Vec<usize> = self.fitting(of, wanted).collect();
        let ends = fitting.into_iter().any(|index| {
            let holes = self
                .productions
                .get(index)
                .map(|production| holes(production, of, wanted));
            holes.is_some_and(|holes| self.all_end_within(of, &holes, steps))
        });
        self.within.insert(key, ends);
        ends
    }

    /// Whether a template with these holes can be filled in so many steps, with types no larger than its own.
    fn all_end_within(
        &mut self,
        of: &GrammarType,
        holes: &[(GrammarType, WantedProductions)],
        steps: usize,
    ) -> bool {
        let small = |hole: &GrammarType| hole.size() <= of.size();
        holes.is_empty()
            || steps > 0
                && holes.iter().all(|(hole, _)| small(hole))
                && holes
                    .iter()
                    .all(|(hole, wanted)| self.ends_within(hole, *wanted, steps - 1))
    }
}

/// More steps than any type needs.
const LONGEST: usize = 7;

/// The holes of a production, with what is wanted of them; letters that may be anything are numbers.
fn holes(
    production: &GrammarProduction,
    of: &GrammarType,
    wanted: WantedProductions,
) -> Vec<(GrammarType, WantedProductions)> {
    let mut bindings = TypeBindings::new();
    production.of.matches(of, &mut bindings);
    let pieces = production.pieces.iter().filter_map(|piece| match piece {
        TemplatePiece::Hole { of, .. } if of.name.starts_with('@') => None,
        TemplatePiece::Hole { of, exact } => {
            let of = of.resolve(&mut bindings, &mut || GrammarType::named("int"));
            Some((of, if *exact { WantedProductions::Exact } else { wanted }))
        }
        _ => None,
    });
    pieces.collect()
}

fn named(dice: &mut RandomDice, of: &str) -> GrammarType {
    GrammarType::named(OF_EXPRESSIONS.word(of, dice))
}

/// Of any type, but without a value: for types that no production ends with.
const NOTHING: &str = "[][0]";

/// A name for a variable; sometimes one that hides another.
fn variable_name(progress: &mut GeneratorProgress<'_>, manner: GenerationManner) -> String {
    const NAMES: &[&str] = &["x", "y", "k", "v", "e", "item", "a", "_b", "x1"];
    if !manner.sound && progress.dice.chance(3) {
        return OF_EXPRESSIONS.word("odd name", progress.dice).to_owned();
    }
    let used = progress.scope.len();
    let free = NAMES.get(used..).filter(|free| !free.is_empty()).unwrap_or(NAMES);
    let hides = !manner.sound && progress.dice.chance(10);
    let name = if hides {
        progress.dice.pick(NAMES)
    } else {
        free.first()
    };
    name.copied().unwrap_or("x").to_owned()
}

/// Values that the generator invents.
fn made_up(of: &GrammarType, dice: &mut RandomDice) -> Option<String> {
    Some(match of.name.as_str() {
        "@int" => match dice.below(4) {
            0 => ((dice.bits() as i64) >> dice.below(63)).to_string(),
            1 => ((1i64 << dice.below(63)) - 1).to_string(),
            _ => (dice.below(14) as i64 - 2).to_string(),
        },
        "@uint" => match dice.below(3) {
            0 => format!("{}u", dice.bits() >> dice.below(64)),
            _ => format!("{}u", dice.below(12)),
        },
        "@double" => match dice.below(4) {
            0 => match f64::from_bits(dice.bits()) {
                finite if finite.is_finite() => format!("{finite:e}"),
                _ => "0.25".to_owned(),
            },
            1 => format!("{}.0", dice.below(1000)),
            _ => format!("{}.{}", dice.below(20), dice.below(1000)),
        },
        "@string" => make_text(dice),
        _ => return None,
    })
}

/// A literal of a few letters, plain and otherwise.
fn make_text(dice: &mut RandomDice) -> String {
    let length = *dice.pick(&[0, 1, 2, 3, 5, 8, 13, 40]).unwrap_or(&1);
    let letters: String = (0..length).map(|_| OF_EXPRESSIONS.word("letter", dice)).collect();
    format!("'{letters}'")
}
