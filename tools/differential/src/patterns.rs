//! Expressions that look for random patterns in random texts: whether they match, where first, where else.
//!
//! What is found tells its place as far as texts have few equal parts. Pieces of patterns are as a literal of CEL writes
//! them, so that a tree of them can be made smaller like any other.

use pratique_harness::Dice;

use super::tree::{Node, Tree};

/// An expression that looks for a pattern.
pub(super) fn expression(dice: &mut Dice) -> Tree {
    // Few characters, so that something is found.
    let alphabet: Alphabet = [(); 5].map(|()| dice.pick(CHARACTERS).copied().unwrap_or_default());
    let mut pattern = Tree(alternatives(dice, &alphabet, 4));
    if dice.chance(10) {
        let damage = dice.pick(DAMAGE).copied().unwrap_or_default();
        let at = dice.below(pattern.0.len() + 1);
        pattern.0.insert(at, Node::Text(damage.to_owned()));
    }
    let text = (0..dice.below(14)).map(|_| character(dice, &alphabet));
    let text: String = text.collect();
    let repeated = if dice.chance(5) { 1 + dice.below(60) } else { 1 };
    // A literal pattern is compiled with the expression, others when it is evaluated.
    let (before, after) = match dice.chance(50) {
        true => ("\"", "\""),
        false => ("[\"", "\"][0]"),
    };
    let (call, end) = dice.pick(CALLS).copied().unwrap_or_default();
    Tree(vec![
        Node::Text(format!("\"{}\"{call}{before}", text.repeat(repeated))),
        Node::Inner(pattern),
        Node::Text(format!("{after}{end}")),
    ])
}

const CALLS: &[(&str, &str)] = &[
    (".matches(", ")"),
    (".find(", ")"),
    (".findAll(", ")"),
    (".findAll(", ", 2)"),
    (".findAll(", ", 0)"),
];

/// Single characters, in texts and in patterns.
const CHARACTERS: &[&str] = &[
    "a", "a", "b", "b", "c", "A", "B", "1", "2", "_", "-", " ", "\\n", "\\t", "\\r", "é", "É", "ß", "ſ", "k",
    "K", "σ", "ς", "世", "🍺", "\\u2028", "\\u00a0", "Ⅷ", "٣", "\\x00", "̈", "ǅ",
];

/// Pieces of patterns that match a character, or none.
const ATOMS: &[&str] = &[
    ".",
    "^",
    "$",
    "\\\\A",
    "\\\\z",
    "\\\\b",
    "\\\\B",
    "\\\\d",
    "\\\\D",
    "\\\\w",
    "\\\\W",
    "\\\\s",
    "\\\\S",
    "\\\\pL",
    "\\\\PN",
    "\\\\p{Greek}",
    "\\\\p{^Lu}",
    "\\\\P{Han}",
    "\\\\pZ",
    "\\\\x41",
    "\\\\x{e9}",
    "\\\\101",
    "\\\\n",
    "\\\\t",
    "\\\\.",
    "\\\\*",
    "\\\\Qa.b\\\\E",
    "\\\\Q\\\\E",
    "(?i)",
    "(?s)",
    "(?m)",
    "(?U)",
    "(?-i)",
    "(?im-sU)",
    "()",
    "\\\\-",
    "\\\\v",
    "\\\\a",
    "\\\\f",
    "\\\\0",
    "\\\\x{1F37A}",
    "\\\\p{Any}",
    "\\\\p{L}",
    "\\\\p{Lt}",
    "\\\\p{Latin}",
    "\\\\pM",
];

/// Pieces of classes.
const MEMBERS: &[&str] = &[
    "a",
    "b",
    "c",
    "a-c",
    "A-Z",
    "0-9",
    "é",
    "世",
    "🍺",
    "_",
    "-",
    ".",
    "^",
    "\\\\d",
    "\\\\W",
    "\\\\s",
    "\\\\pL",
    "\\\\P{Greek}",
    "[:alpha:]",
    "[:^space:]",
    "[:word:]",
    "[:punct:]",
    "\\\\x41-\\\\x{e9}",
    "\\\\]",
    "\\\\\\\\",
    "\\\\n",
    "&&",
    "ſ",
    "k-m",
    " -~",
];

const REPETITIONS: &[&str] = &[
    "*", "+", "?", "*?", "+?", "??", "{2}", "{0}", "{1,}", "{0,2}", "{1,3}?", "{2,}?", "{,2}", "{3,5}",
    "{0,0}",
];

/// What makes patterns faulty, mostly.
const DAMAGE: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "*",
    "**",
    "{1001}",
    "{2,1}",
    "\\\\",
    "\\\\8",
    "\\\\C",
    "(?=a)",
    "(?P<n",
    "(?<n>a)",
    "(?P=n)",
    "(?x)",
    "[z-a]",
    "[[:no:]]",
    "\\\\p{No such}",
    "\\\\pX",
    "(?P<n>a)(?P<n>b)",
    "{",
    "}",
    "a{1000}{1000}",
    "\\\\x{110000}",
    "\\\\Z",
    "\\\\u0041",
    "++",
    "|",
];

/// The characters of which most of an expression is made.
type Alphabet = [&'static str; 5];

fn character(dice: &mut Dice, alphabet: &Alphabet) -> &'static str {
    let of = if dice.chance(90) {
        alphabet.as_slice()
    } else {
        CHARACTERS
    };
    dice.pick(of).copied().unwrap_or_default()
}

fn alternatives(dice: &mut Dice, alphabet: &Alphabet, depth: usize) -> Vec<Node> {
    let mut nodes = Vec::new();
    let count = if dice.chance(25) { 2 + dice.below(2) } else { 1 };
    for index in 0..count {
        if index > 0 {
            nodes.push(Node::Text("|".to_owned()));
        }
        let pieces = if dice.chance(10) { 0 } else { 1 + dice.below(3) };
        for _ in 0..pieces {
            nodes.push(Node::Inner(repeated(dice, alphabet, depth)));
        }
    }
    nodes
}

fn repeated(dice: &mut Dice, alphabet: &Alphabet, depth: usize) -> Tree {
    let mut nodes = vec![Node::Inner(atom(dice, alphabet, depth))];
    if dice.chance(30) {
        let repetition = dice.pick(REPETITIONS).copied().unwrap_or_default();
        nodes.push(Node::Text(repetition.to_owned()));
    }
    Tree(nodes)
}

fn atom(dice: &mut Dice, alphabet: &Alphabet, depth: usize) -> Tree {
    match dice.below(10) {
        0..5 => Tree::text(character(dice, alphabet)),
        5..6 => Tree::text(dice.pick(ATOMS).copied().unwrap_or_default()),
        6..8 => class(dice),
        _ if depth == 0 => Tree::text("a"),
        _ => {
            const OPEN: &[&str] = &[
                "(", "(?:", "(?i:", "(?s:", "(?m:", "(?U:", "(?P<n>", "(?-i:", "(?i-m:",
            ];
            let mut nodes = vec![Node::Text(
                dice.pick(OPEN).copied().unwrap_or_default().to_owned(),
            )];
            nodes.push(Node::Inner(Tree(alternatives(dice, alphabet, depth - 1))));
            nodes.push(Node::Text(")".to_owned()));
            Tree(nodes)
        }
    }
}

fn class(dice: &mut Dice) -> Tree {
    let mut nodes = vec![Node::Text(if dice.chance(30) { "[^" } else { "[" }.to_owned())];
    for _ in 0..1 + dice.below(3) {
        nodes.push(Node::Inner(Tree::text(
            dice.pick(MEMBERS).copied().unwrap_or_default(),
        )));
    }
    nodes.push(Node::Text("]".to_owned()));
    Tree(nodes)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::ours::Ours;
    use super::super::world::World;
    use super::*;

    #[test]
    fn most_patterns_compile_and_many_match() {
        let world = World::default();
        let ours = Ours::new(&world);
        let mut dice = Dice::new(1);
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
