//! The inputs of expressions: declarations, variables and inputs, the same for a batch of expressions.

use pratique_harness::{RandomDice, with};
use serde::Serialize;
use serde_json::{Value, json};

use super::generate::{ExpressionGenerator, GenerationManner};
use super::grammar::{GrammarPart, GrammarProduction, productions, read};
use super::sketch::OF_EXPRESSIONS;

/// Declarations, variables and inputs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct CelWorld {
    /// Which optional variables and types there are.
    pub(super) declared: DeclaredNames,
    /// Named expressions; each sees those before it.
    pub(super) variables: Vec<NamedExpression>,
    /// The inputs of expressions.
    pub(super) inputs: Value,
}

/// Which optional variables and types there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeclaredNames {
    /// `params`
    pub(super) params: bool,
    /// `authorizer`
    pub(super) authorizer: bool,
    /// `Object` and `JSONPatch`
    pub(super) patch_types: bool,
}

/// A named expression.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct NamedExpression {
    /// Its name.
    pub(super) name: String,
    /// Its source.
    pub(super) expression: String,
}

impl CelWorld {
    /// Expressions over it in the form that the reference reads.
    pub(super) fn question<'s>(&self, sources: impl Iterator<Item = &'s String>, times: usize) -> Value {
        let CelWorld {
            declared,
            variables,
            inputs,
        } = self;
        let sources: Vec<&String> = sources.collect();
        json!({"declared": declared, "variables": variables, "inputs": inputs, "expressions": sources, "times": times})
    }
}

/// A world with a generator of expressions for it.
pub(super) fn world(dice: &mut RandomDice, manner: GenerationManner) -> (CelWorld, ExpressionGenerator) {
    let declared = DeclaredNames {
        params: dice.chance(70),
        authorizer: dice.chance(50),
        patch_types: dice.chance(20),
    };
    let mut all = known(declared);
    let mut variables = Vec::new();
    let count = if dice.chance(50) { dice.below(4) } else { 0 };
    for index in 0..count {
        let name = format!("v{index}");
        let (of, tree) = ExpressionGenerator::new(all.clone(), manner).expression(dice);
        let production = read(&format!("{of} ~ variables.{name}"));
        all.extend(production.map(|production| GrammarProduction {
            weight: 6,
            ..production
        }));
        variables.push(NamedExpression {
            name,
            expression: tree.plain(),
        });
    }
    if count > 0 {
        all.extend(read("dyn ! variables.nope"));
        all.extend(read("bool: has(variables.v0)"));
        all.extend(read("optional_type(dyn) ~ variables.?v0"));
    }
    let world = CelWorld {
        declared,
        variables,
        inputs: inputs(dice),
    };
    (world, ExpressionGenerator::new(all, manner))
}

fn known(declared: DeclaredNames) -> Vec<GrammarProduction> {
    let parts = [
        (true, GrammarPart::Base),
        (true, GrammarPart::Inputs),
        (declared.params, GrammarPart::Params),
        (declared.authorizer, GrammarPart::Authorizer),
        (declared.patch_types, GrammarPart::PatchTypes),
    ];
    let there = parts.into_iter().filter(|(there, _)| *there);
    there.flat_map(|(_, part)| productions(part)).collect()
}

fn inputs(dice: &mut RandomDice) -> Value {
    let inputs = OF_EXPRESSIONS.draw_with("inputs", dice, &mut |_, dice| object(dice));
    let mut request = OF_EXPRESSIONS.draw("request", dice);
    // Where the request has no name, that of the object counts.
    if let Some(members) = request.as_object_mut()
        && inputs.get("object") == Some(&Value::Null)
        && dice.chance(8)
    {
        members.remove("name");
    }
    with(inputs, [("request", request)])
}

/// An object that has what the grammar's productions read, but for a member or two.
fn object(dice: &mut RandomDice) -> Value {
    let mut whole = OF_EXPRESSIONS.draw("whole object", dice);
    let Value::Object(members) = &mut whole else {
        return whole;
    };
    for _ in 0..dice.below(4) {
        let names: Vec<String> = members.keys().cloned().collect();
        let Some(name) = dice.pick(&names) else {
            continue;
        };
        if dice.chance(50) {
            members.remove(name)
        } else {
            members.insert(name.clone(), OF_EXPRESSIONS.draw("any", dice))
        };
    }
    whole
}
