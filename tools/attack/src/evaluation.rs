//! Reviews whose evaluation takes long, or that should not be evaluated.

use std::thread;
use std::time::{Duration, Instant};

use super::attacked_server::ServedProgram;
use super::reviews;
use super::{AttackScale, count_codes};
use pratique_harness::{ToolError, outcome, together};

/// How many hostile reviews are evaluated at a time.
const AT_ONCE: usize = 4;
/// How many finalizers the largest of them has.
const FINALIZERS: usize = 70_000;
/// How long after the last answer the server may still work, and how long it is observed.
const LATE: Duration = Duration::from_millis(300);
const OBSERVED: Duration = Duration::from_secs(1);

/// Lists of tens of thousands, each element of which is looked for in another one: nothing is computed after the answer.
pub(super) fn comparisons(served: &ServedProgram, scale: AttackScale) -> Result<String, ToolError> {
    let body = reviews::many_finalizers(FINALIZERS).to_string();
    let codes = hostile(served, scale, "/validate?timeout=1s", &body)?;
    let time_at_answer = served.processor_time()?;
    thread::sleep(LATE);
    let settled = served.processor_time()?;
    thread::sleep(OBSERVED);
    let after = served.processor_time()?;
    // Usual clients continue, so the server does some work.
    let text = format!(
        "{codes}; after the last answer processors worked {:.1?} and then {:.1?} in {OBSERVED:?}",
        settled.saturating_sub(time_at_answer),
        after.saturating_sub(settled)
    );
    outcome(after.saturating_sub(settled) < OBSERVED * 3 / 4, text)
}

/// Reviews in which plugins compare many values: the answers are those of plugins, or an exceeded limit.
pub(super) fn plugins(served: &ServedProgram, scale: AttackScale) -> Result<String, ToolError> {
    let mut results = Vec::new();
    for review in reviews::compared(scale.size / 4) {
        let part = AttackScale {
            time: scale.time / 4,
            ..scale
        };
        for path in ["/mutate?timeout=10s", "/validate?timeout=10s"] {
            results.push(hostile(served, part, path, &review.to_string())?);
        }
    }
    let results = results.join("\n");
    if results.contains("times 504") {
        Err(format!("plugins do not end in time: {results}").into())
    } else {
        Ok(results)
    }
}

/// Patterns that compile to much, or match slowly.
pub(super) fn patterns(served: &ServedProgram, scale: AttackScale) -> Result<String, ToolError> {
    let texts = ["a".repeat(100_000), "\u{3b1}".repeat(100_000)];
    let patterns = [
        r"\pL{999}N".to_owned(),
        r"(\pL{1,30}){1,30}N".to_owned(),
        r"[\w-\W]".repeat(10_000),
        "(a*)*(a*)*(a*)*b".repeat(500),
        "(?i)x*".repeat(20_000),
    ];
    let mut results = Vec::new();
    for (index, pattern) in patterns.iter().enumerate() {
        let text = texts.get(index % texts.len()).cloned().unwrap_or_default();
        // Each has another length: nothing that was compiled for one is there for the next.
        let varied = format!("{pattern}{}", "x".repeat(index));
        let body = reviews::pattern(&varied, &text).to_string();
        let part = AttackScale {
            time: scale.time / 5,
            ..scale
        };
        results.push(hostile(served, part, "/validate?timeout=1s", &body)?);
    }
    Ok(results.join("\n"))
}

/// Reviews that no API server sends are refused, not allowed.
pub(super) fn odd(served: &ServedProgram, _: AttackScale) -> Result<String, ToolError> {
    let odd = reviews::odd();
    for (name, review) in &odd {
        let answer = served.post("/validate", &review.to_string())?;
        let text = String::from_utf8_lossy(&answer.body);
        let denied = answer.code == 200 && text.contains("\"allowed\":false");
        if answer.code != 400 && !denied {
            return Err(format!("{name}: {}: {text}", answer.code).into());
        }
    }
    Ok(format!("{} kinds of reviews were refused", odd.len()))
}

/// Lets several clients post a body repeatedly, and returns a summary of the answers.
fn hostile(served: &ServedProgram, scale: AttackScale, path: &str, body: &str) -> Result<String, ToolError> {
    let end = Instant::now() + scale.time;
    let codes = together(AT_ONCE, || {
        let mut codes = Vec::new();
        while codes.is_empty() || Instant::now() < end {
            codes.push(served.post(path, body)?.code);
        }
        Ok::<_, ToolError>(codes)
    })?;
    let codes = codes.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
    Ok(format!(
        "reviews of {} bytes were answered {}",
        body.len(),
        count_codes(&codes)
    ))
}
