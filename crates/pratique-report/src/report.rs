//! A report: what was evaluated against what, with the tally, and what could not be read.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::Tally;
use crate::input_place::InputPlaces;
use crate::shard_objects::ShardObjects;
use crate::tally::{VERSION, bounded_to};

/// The kind in the JSON form.
const KIND: &str = "Report";

/// How many problems, and how many notes, are kept.
const MAX_KEPT: usize = 100;
/// The rule of objects that are among the inputs more than once.
pub const DUPLICATE_OBJECT: &str = "duplicate-object";

/// How many notices are kept.
const MAX_NOTICES: usize = 1000;
/// The maximum length of a text of a problem or a note, in bytes.
const MAX_TEXT: usize = 2048;

/// The input that is another one in each run.
const STDIN: &str = "-";

/// A run: reports of different runs do not merge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReportRun {
    /// The command, such as `scan`.
    pub command: String,
    /// The version of the program.
    pub version: String,
    /// The inputs, as they were named; a report has them in order.
    pub inputs: Vec<String>,
    /// The operation on each object.
    pub operation: String,
    /// A digest of the policies, and of all that decisions depend on besides the inputs.
    pub policies: String,
    /// The number of policies.
    pub policy_count: u64,
    /// Whether one of them can deny something: has a binding.
    pub can_deny: bool,
}

/// A part of the inputs, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputShard {
    /// Which part.
    pub index: u32,
    /// How many parts there are.
    pub of: u32,
}

impl InputShard {
    /// The whole.
    pub const WHOLE: Self = InputShard { index: 0, of: 1 };
    /// The maximum number of parts.
    pub const MAX: u32 = 100_000;
}

/// Something that could not be read or evaluated.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportProblem {
    /// Where it is.
    pub place: String,
    /// What is wrong with it.
    pub message: String,
}

/// A warning about something that no decision tells: what was passed over, not known or not evaluated.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportNotice {
    /// The stable name of what it is about.
    pub rule: String,
    /// Where it is; empty if it is about all inputs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// What is told.
    pub message: String,
}

/// A report. Reports of shards merge to the report of the whole.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "JsonReport", try_from = "JsonReport")]
pub struct Report {
    run: ReportRun,
    of: u32,
    shards: BTreeSet<u32>,
    tally: Tally,
    problems: BTreeSet<ReportProblem>,
    notes: BTreeSet<String>,
    notices: BTreeSet<ReportNotice>,
    /// How many notices are not kept.
    more_notices: u64,
    /// What was evaluated, and what was not.
    evaluated: String,
    /// The objects of shards, until all are there.
    objects: ShardObjects,
    /// Where the inputs are, once another report was merged: they are not read anew for each of many reports.
    places: Option<InputPlaces>,
}

impl PartialEq for Report {
    fn eq(&self, other: &Self) -> bool {
        self.run == other.run
            && self.of == other.of
            && self.shards == other.shards
            && self.tally == other.tally
            && self.problems == other.problems
            && self.notes == other.notes
            && self.notices == other.notices
            && self.more_notices == other.more_notices
            && self.objects == other.objects
    }
}

impl Eq for Report {}

/// Why reports are not merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// They are of different runs.
    #[error("the reports are of different runs: their {what} differ ({first}, {second})")]
    Run {
        /// What differs.
        what: &'static str,
        /// That of the first report.
        first: String,
        /// That of the other one.
        second: String,
    },
    /// Both have a shard.
    #[error("shard {0} is in more than one of the reports")]
    Twice(u32),
    /// Both have an input, or one has a part of an input of the other.
    #[error("{0} is an input of more than one of the reports")]
    InputTwice(String),
}

/// Why a text is not a report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// It is not JSON of the form of a report.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// It is of another kind or version.
    #[error("expected a {KIND} of {VERSION}, and it is a {kind} of {api_version}")]
    Version {
        /// Its version.
        api_version: String,
        /// Its kind.
        kind: String,
    },
    /// It is not as reports are written.
    #[error("{0}")]
    Faulty(&'static str),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct JsonReport {
    api_version: String,
    kind: String,
    run: ReportRun,
    /// Absent if the report is of the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shards: Option<JsonShards>,
    tally: Tally,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    problems: Vec<ReportProblem>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notices: Vec<ReportNotice>,
    #[serde(default, skip_serializing_if = "is_zero")]
    more_notices: u64,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    evaluated: String,
    /// The objects of shards, which those of other shards are compared with.
    #[serde(default, skip_serializing_if = "ShardObjects::is_empty")]
    objects: ShardObjects,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives references")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonShards {
    of: u32,
    have: Vec<u32>,
}

impl Report {
    /// A report of a run, or of a shard of it, in which nothing is counted yet.
    pub fn new(run: ReportRun, shard: InputShard, tally: Tally) -> Self {
        let mut run = run;
        run.inputs.sort();
        run.inputs.dedup();
        Report {
            run,
            of: shard.of.max(1),
            shards: BTreeSet::from([shard.index]),
            tally,
            problems: BTreeSet::new(),
            notes: BTreeSet::new(),
            notices: BTreeSet::new(),
            more_notices: 0,
            evaluated: String::new(),
            objects: ShardObjects::default(),
            places: None,
        }
    }

    /// The run.
    pub fn run(&self) -> &ReportRun {
        &self.run
    }

    /// The counts.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The counts, to count more.
    pub fn tally_mut(&mut self) -> &mut Tally {
        &mut self.tally
    }

    /// The first problems in the order of their places; how many there are, the counts say.
    pub fn problems(&self) -> impl ExactSizeIterator<Item = &ReportProblem> {
        self.problems.iter()
    }

    /// Notes about the run, in order.
    pub fn notes(&self) -> impl ExactSizeIterator<Item = &str> {
        self.notes.iter().map(String::as_str)
    }

    /// The first notices in the order of their rules and places.
    pub fn notices(&self) -> impl ExactSizeIterator<Item = &ReportNotice> {
        self.notices.iter()
    }

    /// How many notices there are besides.
    pub fn more_notices(&self) -> u64 {
        self.more_notices
    }

    /// What was evaluated, and what was not; empty if that is not known.
    pub fn evaluated(&self) -> &str {
        &self.evaluated
    }

    /// The shards that are missing; empty if the report is of the whole.
    pub fn missing(&self) -> Vec<u32> {
        (0..self.of)
            .filter(|shard| !self.shards.contains(shard))
            .collect()
    }

    /// Whether it is of the whole: not of a shard, nor of some.
    pub fn is_whole(&self) -> bool {
        self.of == 1
    }

    /// Keeps a problem. It is not counted by this.
    pub fn add_problem(&mut self, place: &str, message: &str) {
        let text = |text: &str| bounded_to(text, MAX_TEXT);
        self.problems.insert(ReportProblem {
            place: text(place),
            message: text(message),
        });
        shrink(&mut self.problems);
    }

    /// Adds a note, which does not depend on the shard.
    pub fn add_note(&mut self, note: &str) {
        self.notes.insert(bounded_to(note, MAX_TEXT));
        shrink(&mut self.notes);
    }

    /// Adds a notice; one that is there already is there once.
    pub fn add_notice(&mut self, rule: &str, place: &str, message: &str) {
        let text = |text: &str| bounded_to(text, MAX_TEXT);
        self.notices.insert(ReportNotice {
            rule: text(rule),
            place: text(place),
            message: text(message),
        });
        self.shrink_notices();
    }

    /// Says what was evaluated, and what was not. Of merged reports, the first says it.
    pub fn set_evaluated(&mut self, evaluated: &str) {
        self.evaluated = bounded_to(evaluated, MAX_TEXT);
    }

    /// Gives it the objects of its shard by their names: what other shards have, too, is told once all reports are merged. A report
    /// of the whole needs none.
    pub fn set_objects(&mut self, objects: ShardObjects) {
        if !self.is_whole() {
            self.objects = objects;
        }
    }

    fn shrink_notices(&mut self) {
        while self.notices.len() > MAX_NOTICES {
            self.notices.pop_last();
            self.more_notices = self.more_notices.saturating_add(1);
        }
    }

    /// Adds the report of other shards of the same run, or a whole report of the same policies for other inputs.
    ///
    /// # Errors
    /// It is of another run, or of shards or inputs that are in this one. Nothing is added then.
    pub fn merge(&mut self, other: Report) -> Result<(), MergeError> {
        let differ = |what, first: &str, second: &str| MergeError::Run {
            what,
            first: first.to_owned(),
            second: second.to_owned(),
        };
        let (one, two) = (&self.run, &other.run);
        if self.of != other.of {
            let counts = [self.of, other.of].map(|of| of.to_string());
            let [first, second] = counts.each_ref().map(String::as_str);
            return Err(differ("numbers of shards", first, second));
        }
        let texts = [
            ("commands", &one.command, &two.command),
            ("versions", &one.version, &two.version),
            ("policies", &one.policies, &two.policies),
            ("operations", &one.operation, &two.operation),
        ];
        if let Some((what, first, second)) = texts.into_iter().find(|(_, first, second)| first != second) {
            return Err(differ(what, first, second));
        }
        if (one.policy_count, one.can_deny) != (two.policy_count, two.can_deny) {
            let counts = [one, two].map(|run| format!("{} policies", run.policy_count));
            let [first, second] = counts.each_ref().map(String::as_str);
            return Err(differ("policies", first, second));
        }
        match (self.of, one.inputs == two.inputs) {
            (1, _) => self.add_inputs(&other)?,
            (_, true) => {}
            (_, false) => return Err(differ("inputs", &one.inputs.join(", "), &two.inputs.join(", "))),
        }
        if self.of > 1
            && let Some(shard) = self.shards.intersection(&other.shards).next()
        {
            return Err(MergeError::Twice(*shard));
        }
        self.shards.extend(other.shards);
        self.tally.merge(other.tally);
        self.problems.extend(other.problems);
        self.notes.extend(other.notes);
        self.notices.extend(other.notices);
        self.more_notices = self.more_notices.saturating_add(other.more_notices);
        self.objects.merge(other.objects);
        if self.missing().is_empty() {
            (self.of, self.shards) = (1, BTreeSet::from([0]));
            self.notices
                .extend(std::mem::take(&mut self.objects).notices(DUPLICATE_OBJECT));
        }
        self.shrink_notices();
        shrink(&mut self.problems);
        shrink(&mut self.notes);
        Ok(())
    }

    /// Adds the inputs of another whole report.
    fn add_inputs(&mut self, other: &Report) -> Result<(), MergeError> {
        if other.run.inputs.is_empty() {
            return Err(MergeError::Twice(0));
        }
        let is_place = |input: &&String| input.as_str() != STDIN;
        let places = self
            .places
            .get_or_insert_with(|| InputPlaces::new(self.run.inputs.iter().filter(is_place)));
        let of_other = || other.run.inputs.iter().filter(is_place);
        if let Some(input) = of_other().find(|input| places.overlap(input)) {
            return Err(MergeError::InputTwice(input.clone()));
        }
        places.extend(InputPlaces::new(of_other()));
        self.run.inputs.extend(other.run.inputs.iter().cloned());
        self.run.inputs.sort();
        self.run.inputs.dedup();
        Ok(())
    }

    /// The report as JSON, in which equal reports are equal.
    pub fn to_json(&self) -> String {
        // Nothing in it can fail: it has texts and numbers.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The report of a JSON text, in the form of [`to_json`](Self::to_json). What that would not write is an error.
    pub fn from_json(text: &str) -> Result<Self, ReportError> {
        serde_json::from_str::<JsonReport>(text)?.try_into()
    }
}

impl From<Report> for JsonReport {
    fn from(report: Report) -> Self {
        JsonReport {
            api_version: VERSION.to_owned(),
            kind: KIND.to_owned(),
            run: report.run,
            shards: (report.of > 1).then(|| JsonShards {
                of: report.of,
                have: report.shards.into_iter().collect(),
            }),
            tally: report.tally,
            problems: report.problems.into_iter().collect(),
            notes: report.notes.into_iter().collect(),
            notices: report.notices.into_iter().collect(),
            more_notices: report.more_notices,
            evaluated: report.evaluated,
            objects: report.objects,
        }
    }
}

impl TryFrom<JsonReport> for Report {
    type Error = ReportError;

    fn try_from(json: JsonReport) -> Result<Self, ReportError> {
        if json.api_version != VERSION || json.kind != KIND {
            return Err(ReportError::Version {
                api_version: json.api_version,
                kind: json.kind,
            });
        }
        let (of, have) = match json.shards {
            Some(JsonShards { of, have }) => (of, have),
            None => (1, vec![0]),
        };
        let shards: BTreeSet<u32> = have.iter().copied().collect();
        let are_distinct = !have.is_empty() && have.len() == shards.len();
        if of == 0 || of > InputShard::MAX || !are_distinct || shards.last().is_some_and(|last| *last >= of) {
            return Err(ReportError::Faulty("its shards are not some of all shards"));
        }
        if !json.run.inputs.is_sorted_by(|first, second| first < second) {
            return Err(ReportError::Faulty("its inputs are not in order, or twice"));
        }
        let is_bounded = |text: &String| text.len() <= MAX_TEXT;
        let texts = json
            .problems
            .iter()
            .flat_map(|problem| [&problem.place, &problem.message]);
        let are_few = json.problems.len() <= MAX_KEPT && json.notes.len() <= MAX_KEPT;
        let notices = json.notices.iter();
        let of_notices = notices.flat_map(|notice| [&notice.rule, &notice.place, &notice.message]);
        let texts = texts.chain(&json.notes).chain(of_notices);
        let are_few = are_few && json.notices.len() <= MAX_NOTICES;
        if !are_few || !texts.chain([&json.evaluated]).all(is_bounded) {
            return Err(ReportError::Faulty(
                "it has more problems, notes or notices, or longer ones, than a report keeps",
            ));
        }
        Ok(Report {
            run: json.run,
            of,
            shards,
            tally: json.tally,
            problems: json.problems.into_iter().collect(),
            notes: json.notes.into_iter().collect(),
            notices: json.notices.into_iter().collect(),
            more_notices: json.more_notices,
            evaluated: json.evaluated,
            objects: json.objects,
            places: None,
        })
    }
}

fn shrink<T: Ord>(kept: &mut BTreeSet<T>) {
    while kept.len() > MAX_KEPT {
        kept.pop_last();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Decision, Evaluation, Limits};

    fn report(index: u32, of: u32, names: &[&str]) -> Report {
        let run = ReportRun {
            command: "scan".to_owned(),
            policies: "sha256:1".to_owned(),
            ..ReportRun::default()
        };
        let mut report = Report::new(run, InputShard { index, of }, Tally::new(Limits::default()));
        for name in names {
            report.tally_mut().count(&Evaluation {
                decision: Decision::Failed,
                name,
                ..Evaluation::default()
            });
            report.add_problem(name, "no JSON");
        }
        report.add_note("as updates");
        report.add_notice("unknown-kind", "", "Widget");
        for name in names {
            report.add_notice("duplicate-key", name, "twice");
        }
        report
    }

    #[test]
    fn shards_merge_to_the_whole() {
        let whole = report(0, 1, &["a", "b", "c"]);
        let mut merged = report(1, 3, &["b"]);
        assert_eq!(merged.missing(), [0, 2]);
        merged.merge(report(0, 3, &["a"])).unwrap();
        let mut merged = Report::from_json(&merged.to_json()).unwrap();
        assert_eq!(merged.missing(), [2]);
        assert_eq!(merged.merge(report(1, 3, &["b"])), Err(MergeError::Twice(1)));
        merged.merge(report(2, 3, &["c"])).unwrap();
        assert_eq!(merged, whole);
        assert_eq!(Report::from_json(&merged.to_json()).unwrap(), whole);
    }

    #[test]
    fn notices_that_are_not_kept_are_counted() {
        let mut merged = report(0, 2, &[]);
        let mut other = report(1, 2, &[]);
        for number in 0..MAX_NOTICES {
            other.add_notice("duplicate-key", &number.to_string(), "twice");
        }
        assert_eq!((other.notices().len(), other.more_notices()), (MAX_NOTICES, 1));
        merged
            .merge(Report::from_json(&other.to_json()).unwrap())
            .unwrap();
        assert_eq!((merged.notices().len(), merged.more_notices()), (MAX_NOTICES, 2));
    }

    #[test]
    fn whole_reports_of_other_inputs_are_added() {
        let of = |inputs: &[&str], names: &[&str]| {
            let mut report = report(0, 1, names);
            report.run.inputs = inputs.iter().map(|input| (*input).to_owned()).collect();
            report
        };
        let mut merged = of(&["b"], &["x", "y"]);
        merged.merge(of(&["a"], &["z"])).unwrap();
        assert_eq!(merged, of(&["a", "b"], &["x", "y", "z"]));
        let twice = merged.merge(of(&["c", "a"], &[])).unwrap_err();
        assert_eq!(twice, MergeError::InputTwice("a".to_owned()));
        for same in ["./a", "b/", "a/part.yaml", "."] {
            let twice = merged.merge(of(&[same], &[])).unwrap_err();
            assert_eq!(twice, MergeError::InputTwice(same.to_owned()));
        }
        assert_eq!(merged, of(&["a", "b"], &["x", "y", "z"]));
        let mut piped = of(&["-"], &["x"]);
        piped.merge(of(&["-"], &["y"])).unwrap();
        assert_eq!(piped, of(&["-"], &["x", "y"]));
    }

    #[test]
    fn other_runs_are_not_added() {
        let mut first = report(0, 2, &[]);
        let mut other = report(1, 2, &[]);
        other.run.policies = "sha256:2".to_owned();
        let error = first.merge(other).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the reports are of different runs: their policies differ (sha256:1, sha256:2)"
        );
        let error = first.merge(report(1, 3, &[])).unwrap_err();
        assert!(
            error.to_string().contains("numbers of shards differ (2, 3)"),
            "{error}"
        );
        assert_eq!(first, report(0, 2, &[]));
    }

    #[test]
    fn what_is_not_a_report_is_refused() {
        let json = report(1, 3, &["a"]).to_json();
        let check = |from: &str, to: &str, expected: &str| {
            assert!(json.contains(from), "{from} is not in {json}");
            let error = Report::from_json(&json.replacen(from, to, 1)).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        };
        check("\"have\":[1]", "\"have\":[3]", "its shards");
        check("\"have\":[1]", "\"have\":[1,1]", "its shards");
        check("\"of\":3", "\"of\":0", "its shards");
        check("\"inputs\":[]", "\"inputs\":[\"b\",\"a\"]", "its inputs");
        check("\"kind\":\"Report\"", "\"kind\":\"Tally\"", "it is a Tally");
        check("\"limits\"", "\"limit\"", "unknown field");
        check("no JSON", &"x".repeat(3000), "longer");
    }
}
