//! Validations as policies have them.

use std::sync::LazyLock;

use pratique_harness::{RandomDice, with};
use serde::Deserialize;
use serde_json::{Value, json};

/// A rule: an expression, and what is said when it does not hold. `NUMBER` stands for what is a policy's own.
pub(crate) type RuleText = (String, String);

/// The rules of this directory's file.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RuleTexts {
    /// A rule that holds for both Pods, whatever the number.
    holding: Vec<RuleText>,
    /// A rule that holds for neither Pod.
    failing: Vec<RuleText>,
    /// A rule that holds for most ConfigMaps.
    pub(crate) config_maps: Vec<RuleText>,
    /// A rule that holds for most objects of RBAC.
    pub(crate) rbac: Vec<RuleText>,
}

/// All of them.
pub(crate) static RULES: LazyLock<RuleTexts> =
    // The text is a constant of ours; tests count what is in it.
    LazyLock::new(|| serde_json::from_str(include_str!("rules.json")).unwrap_or_default());

/// Three rules of any kind.
pub(crate) fn mix(index: usize, dice: &mut RandomDice) -> Value {
    let chosen = distinct(&RULES.holding, dice);
    let validations: Vec<Value> = chosen
        .iter()
        .map(|rule| validation(rule, index, dice.chance(20)))
        .collect();
    let images = "(object.spec.containers + object.spec.?initContainers.orValue([])).map(c, c.image)";
    let names_images = json!(validations).to_string().contains("variables.");
    let variables = names_images.then(|| ("variables", json!([{"name": "images", "expression": images}])));
    let conditions = dice.chance(25).then(|| {
        let condition = if dice.chance(50) {
            "!('system:nodes' in request.userInfo.groups)".to_owned()
        } else {
            numbered("request.userInfo.username != 'system:unit-NUMBER'", index)
        };
        (
            "matchConditions",
            json!([{"name": "who", "expression": condition}]),
        )
    });
    let spec = json!({"validations": validations});
    with(spec, variables.into_iter().chain(conditions))
}

/// The same three rules as others have, of the common ones without a number.
pub(super) fn shared(index: usize) -> Value {
    let common: Vec<&RuleText> = RULES
        .holding
        .iter()
        .filter(|(text, _)| !text.contains("NUMBER") && !text.contains("variables."))
        .collect();
    let step = |step: usize| common.get((index + step * 5) % common.len().max(1));
    let validations = (0..3).filter_map(step).map(|rule| validation(rule, index, false));
    json!({"validations": validations.collect::<Vec<_>>()})
}

/// A rule that fails first, and two more of either kind.
pub(super) fn deny(index: usize, dice: &mut RandomDice) -> Value {
    let mut validations = Vec::new();
    for (place, rule) in distinct(&RULES.failing, dice).into_iter().take(2).enumerate() {
        let speaks = match place {
            0 => index % 2 == 1,
            _ => dice.chance(30),
        };
        validations.push(validation(rule, index, speaks));
    }
    // None of those with variables, to keep it short.
    let third = distinct(RULES.holding.get(..20).unwrap_or_default(), dice);
    validations.extend(third.first().map(|rule| validation(rule, index, false)));
    json!({"validations": validations})
}

/// Three of several, all different.
fn distinct<'t>(of: &'t [RuleText], dice: &mut RandomDice) -> Vec<&'t RuleText> {
    let start = dice.below(of.len());
    // Steps that never lead back to the start in three.
    let [first, second] = [1 + dice.below(of.len() / 3), 1 + dice.below(of.len() / 3)];
    let places = [start, start + first, start + first + second].into_iter();
    places.filter_map(|at| of.get(at % of.len().max(1))).collect()
}

fn validation((text, message): &RuleText, index: usize, speaks: bool) -> Value {
    let (expression, message) = (numbered(text, index), numbered(message, index));
    if speaks {
        let computed = format!("'{}: ' + object.metadata.name", message.replace('\'', "\\'"));
        json!({"expression": expression, "messageExpression": computed})
    } else {
        json!({"expression": expression, "message": message})
    }
}

/// The number has three digits at least, so that what is made larger by it is large.
fn numbered(text: &str, index: usize) -> String {
    text.replace("NUMBER", &format!("{}", 100 + index))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn three_of_several_are_different() {
        let mut dice = RandomDice::new(5);
        for _ in 0..500 {
            for of in [&RULES.holding, &RULES.failing] {
                let texts: BTreeSet<_> = distinct(of, &mut dice).into_iter().collect();
                assert_eq!(texts.len(), 3, "{texts:?}");
            }
        }
    }

    #[test]
    fn about_half_of_the_rules_are_a_policys_own() {
        assert_eq!(RULES.holding.len(), 32);
        let numbered = RULES
            .holding
            .iter()
            .filter(|(text, _)| text.contains("NUMBER"))
            .count();
        assert!((12..=20).contains(&numbered), "{numbered}");
    }
}
