//! Writes the expressions of a policy.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use pratique::policy::Trial;
use pratique_expression::Declarations;
use pratique_harness::RandomDice;
use serde_json::{Value, json};

use super::kinds::ResourceKind;
use crate::generate::{ExpressionGenerator, GenerationManner};
use crate::grammar::{GrammarPart, GrammarProduction, lines, productions, read};
use crate::tree::ExpressionTree;
use crate::types::GrammarType;

/// The trees of expressions, by their source: they are what expressions are made small by.
pub(super) type SourceTrees = BTreeMap<String, ExpressionTree>;

/// Writes the expressions of one policy.
pub(super) struct PolicyWriter<'t> {
    trees: &'t mut SourceTrees,
    params: bool,
    /// The kind that is mutated, mostly.
    mutates: Option<ResourceKind>,
    /// Whether expressions that do not compile are of use.
    doubtful: bool,
    plain: PlaceGenerators,
    rich: PlaceGenerators,
    variables: Vec<(String, String)>,
}

/// The purpose of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExpressionPlace {
    /// A match condition: without variables.
    Condition,
    /// A message: without the authorizer.
    Message,
    /// Anything else.
    Body,
}

/// Generators of the productions for a place, made when they are needed.
#[derive(Default)]
struct PlaceGenerators {
    condition: Option<ExpressionGenerator>,
    message: Option<ExpressionGenerator>,
    body: Option<ExpressionGenerator>,
}

/// The few features that most policies use.
static PLAIN: LazyLock<Vec<GrammarProduction>> = LazyLock::new(|| {
    let texts = [
        include_str!("grammar/plain.txt"),
        include_str!("grammar/inputs.txt"),
    ];
    texts.into_iter().flat_map(lines).collect()
});

/// All of the language.
static RICH: LazyLock<Vec<GrammarProduction>> = LazyLock::new(|| {
    let mut all = productions(GrammarPart::Base);
    all.extend(PLAIN.iter().cloned());
    all
});

impl<'t> PolicyWriter<'t> {
    /// Writes expressions that may read params, or may be mutations.
    pub(super) fn new(
        trees: &'t mut SourceTrees,
        params: bool,
        mutates: Option<ResourceKind>,
        doubtful: bool,
    ) -> Self {
        PolicyWriter {
            trees,
            params,
            mutates,
            doubtful,
            plain: PlaceGenerators::default(),
            rich: PlaceGenerators::default(),
            variables: Vec::new(),
        }
    }

    /// An expression of a type, or the one given if none is found.
    pub(super) fn expression(
        &mut self,
        dice: &mut RandomDice,
        of: &str,
        place: ExpressionPlace,
        otherwise: &str,
    ) -> String {
        let of = GrammarType::parse(of);
        for _ in 0..6 {
            let rich = dice.chance(15);
            let size = if top_of_mutation(&of) {
                *dice.pick(&[3, 6, 9, 14, 20]).unwrap_or(&6)
            } else {
                *dice.pick(&[1, 2, 3, 4, 6, 9, 14]).unwrap_or(&3)
            };
            let tree = self.generator(rich, place).of_type(&of, size, dice);
            let source = tree.plain();
            if source.len() < 2_000 && (self.fits(&source, &of, place) || self.doubtful && dice.chance(5)) {
                self.trees.insert(source.clone(), tree);
                return source;
            }
        }
        otherwise.to_owned()
    }

    /// The variables of the policy.
    pub(super) fn variables(&mut self, dice: &mut RandomDice) -> Value {
        const TYPES: &[&str] = &[
            "bool",
            "bool",
            "string",
            "int",
            "list(string)",
            "map(string, string)",
            "list(map(string, dyn))",
            "dyn",
        ];
        let count = dice.below(4);
        for index in 0..count {
            let of = dice.pick(TYPES).copied().unwrap_or("bool");
            let source = self.expression(dice, of, ExpressionPlace::Body, "null");
            self.variables.push((format!("v{index}"), source));
            // Productions name those variables that there are.
            self.plain = PlaceGenerators::default();
            self.rich = PlaceGenerators::default();
        }
        let all = self.variables.iter();
        all.map(|(name, expression)| json!({"name": name, "expression": expression}))
            .collect()
    }

    fn generator(&mut self, rich: bool, place: ExpressionPlace) -> &mut ExpressionGenerator {
        let made = self.productions(rich, place);
        let generators = if rich { &mut self.rich } else { &mut self.plain };
        let slot = match place {
            ExpressionPlace::Condition => &mut generators.condition,
            ExpressionPlace::Message => &mut generators.message,
            ExpressionPlace::Body => &mut generators.body,
        };
        slot.get_or_insert_with(|| ExpressionGenerator::new(made(), GenerationManner { sound: true }))
    }

    /// The productions for a place, made only if they are wanted.
    fn productions(
        &self,
        rich: bool,
        place: ExpressionPlace,
    ) -> impl FnOnce() -> Vec<GrammarProduction> + use<> {
        let parts = [
            (self.params, include_str!("grammar/params.txt")),
            (
                place != ExpressionPlace::Message,
                include_str!("grammar/authorizer.txt"),
            ),
            (self.mutates.is_some(), include_str!("grammar/mutations.txt")),
            (self.mutates.is_some(), self.mutations()),
        ];
        let names: Vec<String> = match place {
            ExpressionPlace::Condition => Vec::new(),
            _ => self.variables.iter().map(|(name, _)| name.clone()).collect(),
        };
        move || {
            let mut all = if rich { RICH.clone() } else { PLAIN.clone() };
            let parts = parts.into_iter().filter(|(there, _)| *there);
            all.extend(parts.flat_map(|(_, text)| lines(text)));
            for name in names {
                let of = [
                    "bool",
                    "string",
                    "int",
                    "list(string)",
                    "map(string, string)",
                    "dyn",
                ];
                let read = of
                    .iter()
                    .filter_map(|of| read(&format!("2*{of} ~ variables.{name}")));
                all.extend(read);
            }
            all
        }
    }

    /// What mutations of the kind are made of.
    fn mutations(&self) -> &'static str {
        match self.mutates.map(|kind| kind.kind) {
            Some("Pod") => include_str!("grammar/mutations_pod.txt"),
            Some("Deployment") => include_str!("grammar/mutations_deployment.txt"),
            _ => include_str!("grammar/mutations_custom.txt"),
        }
    }

    /// Whether an expression compiles and gives what is wanted.
    fn fits(&self, source: &str, of: &GrammarType, place: ExpressionPlace) -> bool {
        let declarations = Declarations {
            params: self.params,
            authorizer: place != ExpressionPlace::Message,
            patch_types: self.mutates.is_some(),
            variables: place != ExpressionPlace::Condition,
        };
        let variables = self.variables.iter().filter(|_| declarations.variables);
        let variables = variables.map(|(name, expression)| (name.as_str(), expression.as_str()));
        let compiled = Trial::compile(source, variables, declarations);
        let top = ["bool", "string", "Object", "list(JSONPatch)"].contains(&of.to_string().as_str());
        compiled.is_ok_and(|trial| !top || trial.result_type().declared_name() == of.to_string())
    }
}

/// Whether a type is what mutations give.
fn top_of_mutation(of: &GrammarType) -> bool {
    matches!(of.name.as_str(), "Object" | "list")
}
