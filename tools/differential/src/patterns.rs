//! Expressions that look for random patterns in random texts: whether they match, where first, where else.
//!
//! What is found tells its place as far as texts have few equal parts. Pieces of patterns are as a literal of CEL writes
//! them, so that a tree of them can be made smaller like any other.

use pratique_harness::RandomDice;

use super::sketch::OF_EXPRESSIONS;
use super::tree::{ExpressionTree, TreeNode};

/// An expression that looks for a pattern.
pub(super) fn expression(dice: &mut RandomDice) -> ExpressionTree {
    // Few characters, so that something is found.
    let alphabet: PatternAlphabet = [(); 5].map(|()| OF_EXPRESSIONS.word("pattern character", dice));
    let mut pattern = ExpressionTree(alternatives(dice, &alphabet, 4));
    if dice.chance(10) {
        let damage = OF_EXPRESSIONS.word("pattern damage", dice);
        let at = dice.below(pattern.0.len() + 1);
        pattern.0.insert(at, TreeNode::Text(damage.to_owned()));
    }
    let text = (0..dice.below(14)).map(|_| character(dice, &alphabet));
    let text: String = text.collect();
    let repeated = if dice.chance(5) { 1 + dice.below(60) } else { 1 };
    // A literal pattern is compiled with the expression, others when it is evaluated.
    let (opening, closing) = if dice.chance(50) {
        ("\"", "\"")
    } else {
        ("[\"", "\"][0]")
    };
    let (call, end) = dice.pick(CALLS).copied().unwrap_or_default();
    ExpressionTree(vec![
        TreeNode::Text(format!("\"{}\"{call}{opening}", text.repeat(repeated))),
        TreeNode::Inner(pattern),
        TreeNode::Text(format!("{closing}{end}")),
    ])
}

const CALLS: &[(&str, &str)] = &[
    (".matches(", ")"),
    (".find(", ")"),
    (".findAll(", ")"),
    (".findAll(", ", 2)"),
    (".findAll(", ", 0)"),
];

/// The characters of which most of an expression is made.
type PatternAlphabet = [&'static str; 5];

fn character(dice: &mut RandomDice, alphabet: &PatternAlphabet) -> &'static str {
    if dice.chance(90) {
        dice.pick(alphabet).copied().unwrap_or_default()
    } else {
        OF_EXPRESSIONS.word("pattern character", dice)
    }
}

fn alternatives(dice: &mut RandomDice, alphabet: &PatternAlphabet, depth: usize) -> Vec<TreeNode> {
    let mut nodes = Vec::new();
    let count = if dice.chance(25) { 2 + dice.below(2) } else { 1 };
    for index in 0..count {
        if index > 0 {
            nodes.push(TreeNode::Text("|".to_owned()));
        }
        let pieces = if dice.chance(10) { 0 } else { 1 + dice.below(3) };
        for _ in 0..pieces {
            nodes.push(TreeNode::Inner(repeated(dice, alphabet, depth)));
        }
    }
    nodes
}

fn repeated(dice: &mut RandomDice, alphabet: &PatternAlphabet, depth: usize) -> ExpressionTree {
    let mut nodes = vec![TreeNode::Inner(atom(dice, alphabet, depth))];
    if dice.chance(30) {
        let repetition = OF_EXPRESSIONS.word("repetition", dice);
        nodes.push(TreeNode::Text(repetition.to_owned()));
    }
    ExpressionTree(nodes)
}

fn atom(dice: &mut RandomDice, alphabet: &PatternAlphabet, depth: usize) -> ExpressionTree {
    match dice.below(10) {
        0..5 => ExpressionTree::from_text(character(dice, alphabet)),
        5..6 => ExpressionTree::from_text(OF_EXPRESSIONS.word("pattern atom", dice)),
        6..8 => class(dice),
        _ if depth == 0 => ExpressionTree::from_text("a"),
        _ => {
            let mut nodes = vec![TreeNode::Text(OF_EXPRESSIONS.word("group", dice).to_owned())];
            nodes.push(TreeNode::Inner(ExpressionTree(alternatives(
                dice,
                alphabet,
                depth - 1,
            ))));
            nodes.push(TreeNode::Text(")".to_owned()));
            ExpressionTree(nodes)
        }
    }
}

fn class(dice: &mut RandomDice) -> ExpressionTree {
    let mut nodes = vec![TreeNode::Text(
        if dice.chance(30) { "[^" } else { "[" }.to_owned(),
    )];
    for _ in 0..1 + dice.below(3) {
        nodes.push(TreeNode::Inner(ExpressionTree::from_text(
            OF_EXPRESSIONS.word("class member", dice),
        )));
    }
    nodes.push(TreeNode::Text("]".to_owned()));
    ExpressionTree(nodes)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::ours::CompiledWorld;
    use super::super::world::CelWorld;
    use super::*;

    #[test]
    fn most_patterns_compile_and_many_match() {
        let world = CelWorld::default();
        let ours = CompiledWorld::new(&world, pratique_schema::Release::latest());
        let mut dice = RandomDice::new(1);
        let (mut faulty, mut found) = (0, BTreeSet::new());
        for _ in 0..400 {
            let outcome = ours.outcome(&expression(&mut dice).plain());
            assert_eq!(outcome.crash, "");
            faulty += usize::from(!outcome.compile.is_empty() || !outcome.error.is_empty());
            found.extend(outcome.value.map(|value| value.to_string()));
        }
        assert!(faulty < 150, "{faulty} are faulty");
        assert!(found.len() > 60, "{found:?}");
    }
}
