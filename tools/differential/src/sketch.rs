//! Random values by sketch: JSON of which parts are left to chance.
//!
//! In a sketch, `"$name"` is a value by the sketch of that name, or what the caller makes of the name; `"$list name"` a
//! few such values; `"$number 3 7"` a number from 3 on and below 7; `"$chance 40"` true 40 times in a hundred.
//! `{"$pick": […]}` is one of several, all as often as each other or by `"$weights"`. The member `"name ?40"` is there 40
//! times in a hundred, and `"$like": "$name"` stands for the members of another sketch. All else is as it is written.

use std::sync::LazyLock;

use pratique_harness::RandomDice;
use serde_json::{Map, Value, json};

/// Inputs of expressions, and pieces of expressions.
pub(super) static OF_EXPRESSIONS: LazyLock<SketchTable> =
    LazyLock::new(|| SketchTable::read(include_str!("sketches.json")));

/// Policies, requests, objects, and what webhooks answer.
pub(super) static OF_POLICIES: LazyLock<SketchTable> =
    LazyLock::new(|| SketchTable::read(include_str!("policy/sketches.json")));

/// Sketches by name.
pub(super) struct SketchTable(Map<String, Value>);

/// Generates values for names that have no sketch.
type FallbackGenerator<'o> = &'o mut dyn FnMut(&str, &mut RandomDice) -> Value;

impl SketchTable {
    fn read(text: &str) -> Self {
        // The texts are constants of ours, which are JSON.
        SketchTable(serde_json::from_str(text).unwrap_or_default())
    }

    /// Whether there is a sketch of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// A value by the sketch of a name.
    pub(super) fn draw(&self, name: &str, dice: &mut RandomDice) -> Value {
        self.draw_with(name, dice, &mut |_, _| Value::Null)
    }

    /// A value by the sketch of a name, in which the caller makes some of the parts.
    pub(super) fn draw_with(
        &self,
        name: &str,
        dice: &mut RandomDice,
        others: FallbackGenerator<'_>,
    ) -> Value {
        if let Some(sketch) = self.0.get(name) {
            return self.value(sketch, dice, others);
        }
        let words: Vec<&str> = name.split(' ').collect();
        let number = |text: &str| text.parse::<i64>().unwrap_or_default();
        match words.as_slice() {
            ["number", from, below] => {
                let span = usize::try_from(number(below) - number(from)).unwrap_or_default();
                json!(number(from) + i64::try_from(dice.below(span)).unwrap_or_default())
            }
            ["chance", percent] => json!(dice.chance(percent.parse().unwrap_or_default())),
            ["list", of] => {
                let length = dice.pick(&[0, 1, 2, 3, 3, 5, 9]).copied().unwrap_or_default();
                (0..length).map(|_| self.draw_with(of, dice, others)).collect()
            }
            _ => others(name, dice),
        }
    }

    /// One of several texts, as it is written.
    pub(super) fn word(&self, name: &str, dice: &mut RandomDice) -> &str {
        let of = self.0.get(name).and_then(Value::as_object);
        let chosen = of.and_then(|of| picked(of, dice)).and_then(Value::as_str);
        chosen.unwrap_or_default()
    }

    fn value(&self, sketch: &Value, dice: &mut RandomDice, others: FallbackGenerator<'_>) -> Value {
        match sketch {
            Value::String(text) => match text.strip_prefix('$') {
                Some(name) => self.draw_with(name, dice, others),
                None => sketch.clone(),
            },
            Value::Array(items) => items.iter().map(|item| self.value(item, dice, others)).collect(),
            Value::Object(members) if members.contains_key("$pick") => match picked(members, dice) {
                Some(chosen) => self.value(chosen, dice, others),
                None => Value::Null,
            },
            Value::Object(members) => {
                let mut drawn = Map::new();
                for (name, member) in members {
                    let (name, percent) = name.split_once(" ?").unwrap_or((name, ""));
                    if percent.parse().is_ok_and(|percent| !dice.chance(percent)) {
                        continue;
                    }
                    match (name, self.value(member, dice, others)) {
                        ("$like", Value::Object(like)) => drawn.extend(like),
                        (name, value) => drop(drawn.insert(name.to_owned(), value)),
                    }
                }
                Value::Object(drawn)
            }
            plain => plain.clone(),
        }
    }
}

/// One of those in a `$pick`.
fn picked<'s>(sketch: &'s Map<String, Value>, dice: &mut RandomDice) -> Option<&'s Value> {
    let of = sketch.get("$pick")?.as_array()?;
    let Some(weights) = sketch.get("$weights").and_then(Value::as_array) else {
        return dice.pick(of);
    };
    let weights = weights
        .iter()
        .map(|weight| weight.as_u64().unwrap_or_default() as usize);
    let each = of.iter().zip(weights);
    let all: Vec<&Value> = each
        .flat_map(|(item, weight)| std::iter::repeat_n(item, weight))
        .collect();
    dice.pick(&all).copied()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn parts_are_left_to_chance() {
        let sketches = SketchTable::read(
            r#"{"a": {"$like": "$b", "always": [1, "$made"], "never ?0": 1, "sure ?100": "$number 3 4"},
                "b": {"c": {"$pick": ["d", "e"], "$weights": [0, 2]}}}"#,
        );
        let drawn = sketches.draw_with("a", &mut RandomDice::new(1), &mut |name, _| json!(name));
        assert_eq!(drawn, json!({"c": "e", "always": [1, "made"], "sure": 3}));
    }

    #[test]
    fn callers_make_all_that_is_no_sketch() {
        let check = |sketches: &SketchTable, expected: &[&str]| {
            let mut used = BTreeSet::new();
            for name in sketches.0.keys() {
                for seed in 0..50 {
                    sketches.draw_with(name, &mut RandomDice::new(seed), &mut |name, _| {
                        used.insert(name.to_owned());
                        Value::Null
                    });
                }
            }
            assert_eq!(used.iter().map(String::as_str).collect::<Vec<_>>(), expected);
        };
        check(&OF_EXPRESSIONS, &["object"]);
        check(
            &OF_POLICIES,
            &[
                "annotation",
                "condition",
                "configuration",
                "group",
                "message",
                "narrow rule",
                "patch",
                "resource",
                "resource/*",
                "resource/status",
                "validated",
                "variables",
                "version",
                "wide rule",
            ],
        );
    }
}
