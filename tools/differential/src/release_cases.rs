//! The golden cases of a suite, each asked of the code of a release: what it answers otherwise than Pratique, and than Pratique does
//! for the latest release. The answers can be recorded.

use pratique_gotext::time::{TimeLayout, parse};
use pratique_harness::ToolError;
use serde_json::Value;

use super::cel::GoldenExpressions;
use super::golden::{GoldenFile, KnownAnswer};
use super::plugins::GoldenPlugins;
use super::policy::GoldenPolicies;
use super::reference::ReferenceProgram;
use super::release::{ComparedRelease, ReleaseArguments};
use super::suite::{CaseComparison, GoldenSuite};
use super::validation::GoldenValidation;

/// How often each is asked: what depends on the order of Go's maps varies.
const TIMES: usize = 3;

/// How often one is asked again before it is a difference.
const TIMES_AGAIN: usize = 24;

/// Which cases are asked, and of which release.
#[derive(clap::Args)]
pub(super) struct GoldenArguments {
    /// The suite.
    suite: SuiteName,
    #[command(flatten)]
    release: ReleaseArguments,
    /// Add the answers that are Pratique's to cases that have none of the release.
    #[arg(long)]
    record: bool,
    /// Ask the cases alone whose names begin so, such as `fields/`.
    #[arg(long, value_name = "PREFIX", default_value = "")]
    only: String,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum SuiteName {
    Cel,
    Plugins,
    Policy,
    Validation,
}

/// What came of the golden cases.
#[derive(Default)]
struct GoldenReport {
    asked: usize,
    /// Cases that are not asked: of kinds that are not compared, with more than a question, or of other names.
    unasked: usize,
    /// Cases that the program has no answer to, such as those of a plugin that the release has not.
    unanswered: usize,
    /// How many answers are not those of the latest release.
    changed: usize,
    /// Intended differences.
    known: usize,
    /// How many answers are another one each time.
    varies: usize,
    recorded: usize,
    /// How many answers are not those that are recorded of the release.
    otherwise: usize,
    differences: usize,
}

/// Asks the cases, and prints what differs. Returns whether anything has to be mended.
pub(super) fn compare(run: &GoldenArguments) -> Result<bool, ToolError> {
    let suite: &dyn GoldenSuite = match run.suite {
        SuiteName::Cel => &GoldenExpressions,
        SuiteName::Plugins => &GoldenPlugins,
        SuiteName::Policy => &GoldenPolicies,
        SuiteName::Validation => &GoldenValidation,
    };
    let compared = run.release.find()?;
    let mut files = GoldenFile::list(suite.name())?;
    let mut reference = suite.start(&compared)?;
    let mut report = GoldenReport::default();
    for file in &mut files {
        let recorded = report.recorded;
        for index in 0..file.cases.len() {
            let Some(case) = file
                .cases
                .get(index)
                .filter(|case| name(case).starts_with(&run.only))
                .and_then(|case| suite.prepare(&compared, of_release(case, &compared)))
            else {
                report.unasked += 1;
                continue;
            };
            match ask(suite, &mut reference, &case)? {
                Ok(outcomes) => {
                    let answer = report.compare(suite, &case, &outcomes)?;
                    if let Some(expectation) = answer {
                        report.keep(
                            (suite, &compared),
                            (&mut *file, index),
                            &case,
                            expectation,
                            run.record,
                        );
                    }
                }
                Err(error) => {
                    report.unanswered += 1;
                    println!("no answer: {}: {error}", name(&case));
                }
            }
        }
        if report.recorded > recorded {
            file.write()?;
        }
    }
    report.print();
    if report.asked == 0 {
        return Err("no golden case was answered".into());
    }
    Ok(report.differences + report.otherwise > 0)
}

/// The different answers of the program to a case, or why it has none.
fn ask(
    suite: &dyn GoldenSuite,
    reference: &mut ReferenceProgram,
    case: &Value,
) -> Result<Result<Vec<Value>, String>, ToolError> {
    let mut ask = |times| {
        reference.ask(&suite.question(case, times)?)?;
        let answer = reference.answer()?;
        Ok::<_, ToolError>(answer.map(|outcomes| outcomes.into_iter().next().unwrap_or_default()))
    };
    let answer = ask(TIMES)?;
    if let Ok(outcomes) = &answer {
        for outcome in outcomes {
            if !matches!(suite.compare(case, outcome)?, CaseComparison::Differs { .. }) {
                return Ok(answer);
            }
        }
        return ask(TIMES_AGAIN);
    }
    Ok(answer)
}

/// A case as one of the release, without the answers that are recorded of it.
fn of_release(case: &Value, compared: &ComparedRelease) -> Value {
    let mut case = case.clone();
    if let Some(members) = case.as_object_mut() {
        for name in ["answers", "expect", "kubernetesVersions"] {
            members.remove(name);
        }
        members.insert("expect".to_owned(), Value::Null);
        members.insert("kubernetesVersion".to_owned(), compared.minor().into());
    }
    case
}

fn name(case: &Value) -> &str {
    case.get("name").and_then(Value::as_str).unwrap_or_default()
}

impl GoldenReport {
    /// Compares the answers to a case with ours. Returns the answer as an expectation, if it is ours.
    fn compare(
        &mut self,
        suite: &dyn GoldenSuite,
        case: &Value,
        outcomes: &[Value],
    ) -> Result<Option<Value>, ToolError> {
        let Some(first) = outcomes.first() else {
            return Err("the reference gives no outcome".into());
        };
        self.asked += 1;
        let mut latest = case.clone();
        if let Some(members) = latest.as_object_mut() {
            members.remove("kubernetesVersion");
        }
        let mut is_changed = true;
        for outcome in outcomes {
            is_changed &= matches!(suite.compare(&latest, outcome)?, CaseComparison::Differs { .. });
        }
        if is_changed {
            self.changed += 1;
            println!("changed: {}", name(case));
        }
        for outcome in outcomes {
            match suite.compare(case, outcome)? {
                CaseComparison::Same(expectation) if outcomes.len() == 1 => return Ok(Some(expectation)),
                // One of those that it gives is ours.
                CaseComparison::Same(_) => {
                    self.varies += 1;
                    return Ok(None);
                }
                CaseComparison::Known => {
                    self.known += 1;
                    return Ok(None);
                }
                CaseComparison::Differs { .. } => {}
            }
        }
        if let CaseComparison::Differs { kind, ours } = suite.compare(case, first)? {
            self.differences += 1;
            println!(
                "{kind}: {}\n  ours:      {ours}\n  reference: {first}\n",
                name(case)
            );
        }
        Ok(None)
    }

    /// Compares an answer with what is recorded of the release, and adds it where nothing is.
    fn keep(
        &mut self,
        (suite, compared): (&dyn GoldenSuite, &ComparedRelease),
        (file, index): (&mut GoldenFile, usize),
        case: &Value,
        expectation: Value,
        is_recorded: bool,
    ) {
        let minor = compared.minor();
        let is_same = |expect: &Value| is_same(suite.name(), case, expect, &expectation);
        match file.known_answer(index, &minor, &is_same) {
            KnownAnswer::Recorded => {}
            KnownAnswer::Otherwise => {
                self.otherwise += 1;
                println!("recorded otherwise: {}", name(case));
            }
            // A case that names its release in its flags is of this one alone.
            KnownAnswer::Missing if is_recorded && case.pointer("/flags/kubernetes-version").is_none() => {
                self.recorded += 1;
                file.add(index, &minor, expectation.clone(), &is_same);
            }
            KnownAnswer::Missing => {}
        }
    }

    fn print(&self) {
        println!(
            "{} golden cases: {} answered otherwise than by the latest release, {} recorded; {} differ on purpose, {} vary\n\
             {} not asked, {} without an answer\n\
             {} differences, {} recorded otherwise",
            self.asked,
            self.changed,
            self.recorded,
            self.known,
            self.varies,
            self.unasked,
            self.unanswered,
            self.differences,
            self.otherwise
        );
    }
}

/// Whether an answer is the one that a case has.
fn is_same(suite: &str, case: &Value, expect: &Value, answer: &Value) -> bool {
    let case = pratique_harness::with(case.clone(), [("expect", expect.clone())]);
    pratique_conformance::compare_answer(suite, &case, answer.clone()).is_exact()
        && decoded_object(&case, expect) == decoded_object(&case, answer)
}

/// What an object decodes to, which is the input of ours, without times that are not in the request: those at which it was decoded,
/// such as the `timeAdded` of a taint.
fn decoded_object(case: &Value, answer: &Value) -> Value {
    let mut decoded = answer.get("defaulted").cloned().unwrap_or_default();
    let given = case.get("request").map(Value::to_string).unwrap_or_default();
    forget_times(&mut decoded, &given);
    decoded
}

fn forget_times(value: &mut Value, given: &str) {
    match value {
        Value::String(text) if parse(text, TimeLayout::Rfc3339).is_ok() && !given.contains(text.as_str()) => {
            text.clear();
        }
        Value::Array(elements) => elements
            .iter_mut()
            .for_each(|element| forget_times(element, given)),
        Value::Object(members) => members
            .values_mut()
            .for_each(|member| forget_times(member, given)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_of_decoding_are_no_difference() {
        let case = json!({"request": {"object": {"spec": {"since": "2020-01-01T00:00:00Z"}}}});
        let answer =
            |since: &str, added: &str| json!({"defaulted": {"spec": {"since": since, "added": [added]}}});
        let decoded = |answer: Value| decoded_object(&case, &answer);
        let one = decoded(answer("2020-01-01T00:00:00Z", "2026-11-28T15:15:57Z"));
        assert_eq!(
            one,
            decoded(answer("2020-01-01T00:00:00Z", "2026-11-30T15:15:57Z"))
        );
        assert_ne!(
            one,
            decoded(answer("2021-01-01T00:00:00Z", "2026-11-30T15:15:57Z"))
        );
        assert_ne!(one, decoded(answer("2020-01-01T00:00:00Z", "soon")));
    }
}
