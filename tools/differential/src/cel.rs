//! Expressions: whether they compile, their types, values, errors and costs.

mod question;

use std::cell::Cell;
use std::time::{Duration, Instant};

use pratique_harness::{RandomDice, ToolError};
use serde_json::{Value, json};

pub(super) use self::question::GoldenExpressions;
use super::area::{ComparedArea, RunReport, shape};
use super::generate::GenerationManner;
use super::ours::CompiledWorld;
use super::outcome::ExpressionOutcome;
use super::reference::ReferenceProgram;
use super::release::ComparedRelease;
use super::shrink::{AllowedCuts, CaseDifference};
use super::tree::{ExpressionTree, shorter};
use super::world::{self, CelWorld};
use super::{CelRun, damage, known_differences, patterns};

/// The area.
pub(super) struct CelArea {
    batch: usize,
    regex: bool,
    slow: Cell<usize>,
    compared: ComparedRelease,
}

/// Expressions of one world.
#[derive(Clone)]
pub(super) struct WorldRound {
    pub(super) world: CelWorld,
    pub(super) expressions: Vec<GeneratedExpression>,
}

/// A source, and what it was written from.
#[derive(Clone)]
pub(super) struct GeneratedExpression {
    pub(super) source: String,
    tree: Option<ExpressionTree>,
}

impl GeneratedExpression {
    fn plain(tree: ExpressionTree) -> Self {
        GeneratedExpression {
            source: tree.plain(),
            tree: Some(tree),
        }
    }
}

impl CelArea {
    pub(super) fn new(run: &CelRun) -> Result<Self, ToolError> {
        Ok(CelArea {
            batch: run.batch,
            regex: run.regex,
            slow: Cell::default(),
            compared: run.span.release.find()?,
        })
    }
}

/// No expression should take longer: its cost is limited, and so is its size.
const SLOW: Duration = Duration::from_secs(1);

/// How deep inputs are made smaller.
const DEPTH: usize = 4;

impl ComparedArea for CelArea {
    type Case = WorldRound;

    const NAME: &'static str = "cel";
    const ENOUGH: usize = 6;

    fn start(&self) -> Result<ReferenceProgram, ToolError> {
        ReferenceProgram::start(&self.compared, "cel", &[])
    }

    fn random(&self, dice: &mut RandomDice) -> WorldRound {
        if self.regex {
            // Expressions that look for patterns need nothing of the world.
            return WorldRound {
                world: CelWorld {
                    inputs: json!({}),
                    ..CelWorld::default()
                },
                expressions: (0..self.batch)
                    .map(|_| GeneratedExpression::plain(patterns::expression(dice)))
                    .collect(),
            };
        }
        let (world, mut generator) = world::world(dice, GenerationManner::default());
        let trees: Vec<ExpressionTree> = (0..self.batch).map(|_| generator.expression(dice).1).collect();
        let damaged = trees.into_iter().map(|tree| GeneratedExpression {
            source: damage::source(&tree, dice),
            tree: Some(tree),
        });
        WorldRound {
            expressions: damaged.collect(),
            world,
        }
    }

    fn question(&self, round: &WorldRound, times: usize) -> Value {
        let sources = round.expressions.iter().map(|expression| &expression.source);
        round.world.question(sources, times)
    }

    fn ours(&self, round: &WorldRound) -> Result<Vec<Value>, ToolError> {
        let ours = CompiledWorld::new(&round.world, self.compared.release);
        let outcomes = round
            .expressions
            .iter()
            .map(|GeneratedExpression { source, .. }| {
                let (outcome, mut took) = timed(|| ours.outcome(source));
                if took > SLOW {
                    // What was slow because the machine did something else is not slow again.
                    took = took.min(timed(|| ours.outcome(source)).1);
                }
                if took > SLOW {
                    self.slow.set(self.slow.get() + 1);
                    println!("slow: {took:?}\n  {source}\n");
                }
                serde_json::to_value(outcome).map_err(|error| ToolError::from(error.to_string()))
            });
        outcomes.collect()
    }

    fn with_question(&self, round: &WorldRound, index: usize) -> WorldRound {
        WorldRound {
            world: round.world.clone(),
            expressions: round.expressions.get(index).cloned().into_iter().collect(),
        }
    }

    fn differs(&self, ours: &Value, theirs: &Value) -> Option<&'static str> {
        ExpressionOutcome::read(ours).differs(&ExpressionOutcome::read(theirs))
    }

    fn is_known(&self, _: &WorldRound, ours: &Value, theirs: &Value) -> bool {
        known_differences::is_known(&ExpressionOutcome::read(ours), &ExpressionOutcome::read(theirs))
    }

    /// A variable may crash it as any expression.
    fn may_fail(&self, error: &str) -> bool {
        error.starts_with("crash: ")
    }

    /// The expression, then its source, then the data.
    fn smaller(&self, round: &WorldRound) -> Vec<WorldRound> {
        let Some(GeneratedExpression { source, tree }) = round.expressions.first() else {
            return Vec::new();
        };
        let trees = tree
            .iter()
            .flat_map(|tree| [vec![tree.clone()], tree.simpler()].concat());
        let simpler = trees.map(GeneratedExpression::plain).filter(|simpler| {
            simpler.source.len() < source.len() || (tree.is_some() && simpler.source != *source)
        });
        let shorter = shorter(source)
            .into_iter()
            .map(|source| GeneratedExpression { source, tree: None });
        let mut rounds: Vec<WorldRound> = simpler
            .chain(shorter)
            .map(|expression| WorldRound {
                world: round.world.clone(),
                expressions: vec![expression],
            })
            .collect();
        let with = |world: CelWorld| WorldRound {
            world,
            expressions: round.expressions.clone(),
        };
        for index in 0..round.world.variables.len() {
            let mut world = round.world.clone();
            world.variables.remove(index);
            rounds.push(with(world));
        }
        let cuts = AllowedCuts {
            may_go: &|path, _| path.len() < DEPTH,
            texts: &|_, _| Vec::new(),
        };
        let inputs = cuts.list_cuts(&round.world.inputs, &mut Vec::new()).into_iter();
        rounds.extend(inputs.map(|(_, inputs)| {
            with(CelWorld {
                inputs,
                ..round.world.clone()
            })
        }));
        rounds
    }

    fn texts(&self, outcome: &Value) -> String {
        let ExpressionOutcome { compile, error, .. } = ExpressionOutcome::read(outcome);
        [compile.lines().next().unwrap_or_default(), &error].concat()
    }

    fn fingerprint(&self, difference: &CaseDifference<WorldRound>) -> String {
        let source = difference
            .case
            .expressions
            .first()
            .map(|expression| shape(&expression.source));
        format!("{} {}", difference.kind, source.unwrap_or_default())
    }

    fn counts(&self, ours: &Value, theirs: &Value) -> Vec<(&'static str, bool)> {
        let both = [ours, theirs];
        vec![
            (
                "compile",
                both.iter().all(|outcome| outcome.get("compile").is_none()),
            ),
            (
                "give values",
                both.iter().all(|outcome| outcome.get("value").is_some()),
            ),
        ]
    }

    fn slow(&self) -> usize {
        self.slow.get()
    }

    fn describe(&self, difference: &CaseDifference<WorldRound>) -> String {
        let WorldRound { world, expressions } = &difference.case;
        let sources = expressions.iter().map(|expression| expression.source.as_str());
        let mut lines = vec![format!("{}: {}", difference.kind, sources.collect::<String>())];
        let variables = world.variables.iter();
        lines.extend(
            variables.map(|variable| format!("  variables.{} = {}", variable.name, variable.expression)),
        );
        lines.push(format!("  declared: {:?}", world.declared));
        if world.inputs.as_object().is_some_and(|inputs| !inputs.is_empty()) {
            lines.push(format!("  inputs: {}", world.inputs));
        }
        let text = |outcome: &Value| match outcome.get("compile").and_then(Value::as_str) {
            None => outcome.to_string(),
            Some(fault) => fault.replace('\n', "\n    "),
        };
        lines.push(format!("  ours:      {}", text(&difference.ours)));
        lines.push(format!("  reference: {}\n", text(&difference.theirs)));
        lines.join("\n")
    }

    fn summary(&self, report: &RunReport) -> String {
        format!(
            "{} expressions: {} compile, {} give values; {} where the reference varies, {} differ on purpose\n\
             {} differences, {} slow, {} rounds without an answer",
            report.questions,
            report.count("compile"),
            report.count("give values"),
            report.varies,
            report.known,
            report.differences(),
            self.slow(),
            report.unanswered,
        )
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    (work(), start.elapsed())
}
