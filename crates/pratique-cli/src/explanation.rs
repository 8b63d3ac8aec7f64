//! Explanations as text.

use pratique_explain::{Binding, Explanation, ExplanationRound, Expression, Line, MatchOutcome, Policy};
use pratique_manifest::Location;

use crate::output::problems;
use crate::output::text::{IndentedLines, PrintableText, text};
use crate::style::{StreamStyle, TextTone};

/// The maximum number of characters of a value beside its name.
const VALUE: usize = 96;

/// Explains all policies: those that match with all evaluations, the others with the reason why they do not match.
pub(crate) fn whole(explanation: &Explanation, style: StreamStyle) -> PrintableText {
    let policies = explanation.policies.iter();
    policies.map(|policy| one_policy(policy, style, true)).collect()
}

/// Explains only expressions that were false or failed, and policies that could not be evaluated.
pub(crate) fn excerpt(explanation: &Explanation, style: StreamStyle) -> PrintableText {
    let policies = explanation.policies.iter().filter(|policy| has_failure(policy));
    policies.map(|policy| one_policy(policy, style, false)).collect()
}

/// Explains why nothing was denied: the policies that match, or all if none does; or the one that should have denied.
pub(crate) fn allowed(explanation: &Explanation, wanted: Option<&str>, style: StreamStyle) -> PrintableText {
    let named = |policy: &&Policy| wanted.is_none_or(|name| policy.name == name);
    let named: Vec<&Policy> = explanation.policies.iter().filter(named).collect();
    let any_meets = named
        .iter()
        .any(|policy| policy.match_outcome == MatchOutcome::Yes);
    let explained_policies = named
        .into_iter()
        .filter(|policy| !any_meets || policy.match_outcome == MatchOutcome::Yes);
    explained_policies
        .map(|policy| one_policy(policy, style, true))
        .collect()
}

fn has_failure(policy: &Policy) -> bool {
    let failed = |match_outcome: &MatchOutcome| {
        matches!(
            match_outcome,
            MatchOutcome::Failed(_) | MatchOutcome::Undecided(_)
        )
    };
    let rounds = policy.bindings.iter().flat_map(|binding| &binding.rounds);
    let mut expressions = rounds.flat_map(|round| &round.expressions);
    failed(&policy.match_outcome)
        || policy
            .bindings
            .iter()
            .any(|binding| failed(&binding.match_outcome))
        || expressions.any(is_decisive)
}

/// Whether an expression is shown with a diagram.
fn is_decisive(expression: &Expression) -> bool {
    let decides = !matches!(expression.place, pratique_explain::ExpressionId::Variable(_));
    expression.error.is_some() || (decides && expression.is_false())
}

fn one_policy(policy: &Policy, style: StreamStyle, whole: bool) -> PrintableText {
    let name = style.paint(TextTone::Place, &policy.name);
    let place = policy
        .location
        .as_ref()
        .map(|location| text!(" {}", at(location, style)));
    let place = place.unwrap_or_default();
    let mut out = text!(
        "  policy {}{}{}\n",
        name,
        place,
        match_outcome(&policy.match_outcome, style)
    );
    if policy.match_outcome == MatchOutcome::Yes && policy.bindings.is_empty() {
        out.push(&text!("    no binding\n"));
    }
    for binding in &policy.bindings {
        out.push(&one_binding(binding, style, whole));
    }
    out
}

fn one_binding(binding: &Binding, style: StreamStyle, whole: bool) -> PrintableText {
    let name = style.paint(TextTone::Place, &binding.name);
    let mut out = text!(
        "    binding {}{}\n",
        name,
        match_outcome(&binding.match_outcome, style)
    );
    if binding.match_outcome == MatchOutcome::Yes && binding.rounds.is_empty() {
        out.push(&text!("      no params\n"));
    }
    for round in &binding.rounds {
        out.push(&one_round(round, style, whole));
    }
    out
}

fn match_outcome(match_outcome: &MatchOutcome, style: StreamStyle) -> PrintableText {
    let (label, why) = match match_outcome {
        MatchOutcome::Yes => return PrintableText::new(),
        MatchOutcome::No(why) => (style.paint(TextTone::Faint, "does not match:"), why),
        MatchOutcome::Undecided(why) => (style.paint(TextTone::Warning, "undecided:"), why),
        MatchOutcome::Failed(why) => (style.paint(TextTone::Bad, "failed:"), why),
    };
    let lines = IndentedLines {
        text: why,
        indent: "      ",
    };
    text!(": {} {}", label, lines)
}

fn one_round(round: &ExplanationRound, style: StreamStyle, whole: bool) -> PrintableText {
    let mut out = PrintableText::new();
    if round.again {
        let again = style.paint(TextTone::Faint, "again, as the object has changed");
        out.push(&text!("      {}\n", again));
    }
    if let Some(params) = &round.params {
        out.push(&text!("      params {}\n", style.paint(TextTone::Place, params)));
    }
    let explained_expressions = round
        .expressions
        .iter()
        .filter(|expression| whole || is_decisive(expression));
    for expression in explained_expressions {
        out.push(&one_expression(expression, style, whole));
    }
    if round.exhausted {
        out.push(&text!("      {}\n", style.paint(TextTone::Bad, "out of budget")));
    }
    if whole {
        let cost = text!("      cost {} in all", round.cost);
        out.push(&text!("{}\n", style.paint(TextTone::Faint, cost)));
    }
    out
}

fn one_expression(expression: &Expression, style: StreamStyle, whole: bool) -> PrintableText {
    let name = expression.name.as_ref().map(|name| format!(" ({name})"));
    let field = expression.place.field() + &name.unwrap_or_default();
    let result = match (&expression.value, &expression.error) {
        (Some(value), _) => {
            let tone = if is_decisive(expression) {
                TextTone::Bad
            } else {
                TextTone::Good
            };
            text!("= {}", style.paint(tone, cut(value)))
        }
        (None, Some(error)) => {
            let lines = IndentedLines {
                text: error,
                indent: "        ",
            };
            style.paint(TextTone::Bad, text!("failed: {}", lines))
        }
        (None, None) => PrintableText::new(),
    };
    let cost = if whole {
        style.paint(TextTone::Faint, text!(" (cost {})", expression.cost))
    } else {
        PrintableText::new()
    };
    let place = expression.location.as_ref().filter(|_| is_decisive(expression));
    let place = place.map(|location| text!(" {}", at(location, style)));
    let mut out = text!(
        "      {} {}{}{}\n",
        field,
        result,
        cost,
        place.unwrap_or_default()
    );
    if let Some(help) = expression.help {
        let label = style.paint(TextTone::Faint, "= help:");
        out.push(&text!("        {} {}\n", label, help));
    }
    for field in &expression.left_out {
        out.push(&text!(
            "        {} is empty now, and the server leaves it out: the next mutation does not find it\n",
            field
        ));
    }
    if is_decisive(expression) {
        if let Some(because) = &expression.because {
            out.push(&text!("        because of {}\n", cut(because)));
        }
        for line in expression.diagram() {
            // As wide as the character that it stands for.
            let line = match line {
                Line::Source(line) => text!("{}", line.replace('\t', " ")),
                Line::Values(line) => style.paint(TextTone::Faint, line.replace('\t', " ")),
            };
            out.push(&text!("        {}\n", line));
        }
    }
    out
}

/// A location, dimmed.
fn at(location: &Location, style: StreamStyle) -> PrintableText {
    style.paint(TextTone::Faint, problems::place(location))
}

/// A value, cut to fit beside its name.
fn cut(text: &str) -> String {
    if text.chars().count() <= VALUE {
        return text.to_owned();
    }
    let start: String = text.chars().take(VALUE).collect();
    format!("{start}…")
}
