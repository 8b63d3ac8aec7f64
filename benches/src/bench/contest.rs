//! The rounds of a contest, and their results.

use std::time::Duration;

use pratique_harness::{ToolError, with};
use serde_json::{Value, json};

use super::BenchArguments;
use super::side::{ContestSide, SideProgram, SideSample};
use pratique_harness::{SampleSpread, geometric_mean};

/// A comparison of two sides.
#[derive(Clone, Debug)]
pub(crate) struct SideContest {
    /// Its name.
    pub(crate) name: String,
    /// The kinds of work.
    pub(crate) measures: Vec<WorkMeasure>,
    /// The inputs of each kind of work.
    pub(crate) cases: Vec<String>,
    /// How often each side is measured for each measure and case.
    pub(crate) rounds: usize,
    /// The duration of a measurement.
    pub(crate) turn: Duration,
}

/// A kind of work.
#[derive(Clone, Debug)]
pub(crate) struct WorkMeasure {
    /// Its name in orders.
    pub(crate) name: String,
    /// A description of the work of either side.
    pub(crate) title: String,
}

/// The results of a contest.
#[derive(Clone, Debug)]
pub(crate) struct ContestResults {
    /// The name of the contest.
    pub(crate) name: String,
    /// Each measure with its cases.
    pub(crate) measures: Vec<(WorkMeasure, Vec<ContestLine>)>,
}

/// One measure of one case.
#[derive(Clone, Debug)]
pub(crate) struct ContestLine {
    /// The case.
    pub(crate) case: String,
    /// The nanoseconds of our side.
    pub(crate) ours: SampleSpread,
    /// The nanoseconds of the other side, and their ratio to ours in each round.
    pub(crate) against: Option<(SampleSpread, SampleSpread)>,
}

impl SideContest {
    /// A contest of the selected measures, each with its name and description.
    pub(super) fn new(
        arguments: &BenchArguments,
        name: &str,
        measures: &[(&str, &str)],
        cases: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let wanted = |name: &str| arguments.only.as_ref().is_none_or(|only| name.contains(only));
        let measures = measures.iter().filter(|(name, _)| wanted(name));
        SideContest {
            name: name.to_owned(),
            measures: measures
                .map(|(name, title)| WorkMeasure {
                    name: (*name).to_owned(),
                    title: (*title).to_owned(),
                })
                .collect(),
            cases: cases.into_iter().map(Into::into).collect(),
            rounds: arguments.rounds,
            turn: arguments.length(),
        }
    }

    /// Runs the contest between programs.
    pub(super) fn between(
        &self,
        (mut ours, mut theirs): (SideProgram, Option<SideProgram>),
    ) -> Result<ContestResults, ToolError> {
        let theirs = theirs.as_mut().map(|theirs| theirs as &mut dyn ContestSide);
        self.hold(&mut ours, theirs)
    }

    /// Runs the contest. A round measures each case and each measure once, ours and then theirs.
    pub(crate) fn hold(
        &self,
        ours: &mut dyn ContestSide,
        mut theirs: Option<&mut dyn ContestSide>,
    ) -> Result<ContestResults, ToolError> {
        let mut turns = Vec::new();
        for round in 0..self.rounds.max(1) {
            eprint!("\r{}: round {} of {}", self.name, round + 1, self.rounds.max(1));
            turns.push(self.round(ours, &mut theirs)?);
        }
        eprintln!();
        let mut measures = Vec::new();
        for (at, measure) in self.measures.iter().enumerate() {
            let of_case = |(case, name): (usize, &String)| {
                let place = at * self.cases.len() + case;
                line(name, turns.iter().filter_map(|round| round.get(place)))
            };
            let lines: Option<Vec<ContestLine>> = self.cases.iter().enumerate().map(of_case).collect();
            measures.push((measure.clone(), lines.ok_or("a round is not whole")?));
        }
        Ok(ContestResults {
            name: self.name.clone(),
            measures,
        })
    }

    fn round(
        &self,
        ours: &mut dyn ContestSide,
        theirs: &mut Option<&mut dyn ContestSide>,
    ) -> Result<Vec<(SideSample, Option<SideSample>)>, ToolError> {
        let mut turns = Vec::new();
        for measure in &self.measures {
            for case in &self.cases {
                let measured = ours.measure(&measure.name, case, self.turn)?;
                let other = match theirs {
                    Some(theirs) => Some(theirs.measure(&measure.name, case, self.turn)?),
                    None => None,
                };
                turns.push((measured, other));
            }
        }
        Ok(turns)
    }
}

/// `None` without a round.
fn line<'t>(
    case: &str,
    rounds: impl Iterator<Item = &'t (SideSample, Option<SideSample>)>,
) -> Option<ContestLine> {
    let rounds: Vec<_> = rounds.collect();
    let pairs = || {
        rounds
            .iter()
            .filter_map(|(ours, theirs)| Some((ours.each(), theirs.as_ref()?.each())))
    };
    let theirs = SampleSpread::from_numbers(pairs().map(|(_, theirs)| theirs));
    let ratio = SampleSpread::from_numbers(pairs().map(|(ours, theirs)| theirs / ours));
    Some(ContestLine {
        case: case.to_owned(),
        ours: SampleSpread::from_numbers(rounds.iter().map(|(ours, _)| ours.each()))?,
        against: theirs.zip(ratio),
    })
}

impl ContestResults {
    /// The geometric mean of a measure's ratios over its cases; `None` without another side.
    pub(crate) fn geometric_mean(lines: &[ContestLine]) -> Option<f64> {
        let ratios = lines.iter().map(|line| Some(line.against?.1.median));
        geometric_mean(ratios.collect::<Option<Vec<f64>>>()?)
    }

    /// All numbers, for tools.
    pub(crate) fn to_json(&self) -> Value {
        let measures = self.measures.iter().map(|(measure, lines)| {
            json!({
                "name": measure.name,
                "title": measure.title,
                "cases": lines.iter().map(line_json).collect::<Vec<_>>(),
                "geometricMean": ContestResults::geometric_mean(lines),
            })
        });
        json!({"bench": self.name, "unit": "ns", "measures": measures.collect::<Vec<_>>()})
    }
}

fn line_json(line: &ContestLine) -> Value {
    let spread = |spread: &SampleSpread| json!({"lowest": spread.lowest, "median": spread.median, "highest": spread.highest});
    let against = line.against.iter();
    let against = against.flat_map(|(theirs, ratio)| [("theirs", spread(theirs)), ("ratio", spread(ratio))]);
    with(json!({"name": line.case, "ours": spread(&line.ours)}), against)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A side that always needs the same time.
    struct Fixed(u64, Vec<String>);

    impl ContestSide for Fixed {
        fn measure(&mut self, measure: &str, case: &str, _: Duration) -> Result<SideSample, ToolError> {
            self.1.push(format!("{measure} {case}"));
            Ok(SideSample {
                operations: 2,
                nanoseconds: 2 * self.0,
            })
        }
    }

    fn contest(rounds: usize) -> SideContest {
        SideContest {
            name: "test".to_owned(),
            measures: vec![WorkMeasure {
                name: "m".to_owned(),
                title: "Work".to_owned(),
            }],
            cases: vec!["a".to_owned(), "b".to_owned()],
            rounds,
            turn: Duration::ZERO,
        }
    }

    #[test]
    fn sides_take_turns() {
        let (mut ours, mut theirs) = (Fixed(100, Vec::new()), Fixed(2_000, Vec::new()));
        let results = contest(2).hold(&mut ours, Some(&mut theirs)).unwrap();
        assert_eq!(ours.1, ["m a", "m b", "m a", "m b"]);
        assert_eq!(ours.1, theirs.1);
        let (_, lines) = results.measures.first().unwrap();
        let mean = ContestResults::geometric_mean(lines).unwrap();
        assert!((mean - 20.0).abs() < 1e-9, "{mean}");
        has_parts(
            &results.to_string(),
            &["a", "100 ns", "2.00 µs", "20.0×", "geometric mean"],
        );
    }

    #[test]
    fn ours_alone_has_no_ratio() {
        let results = contest(1).hold(&mut Fixed(1_500_000, Vec::new()), None).unwrap();
        let (_, lines) = results.measures.first().unwrap();
        assert_eq!(ContestResults::geometric_mean(lines), None);
        let text = results.to_string();
        has_parts(&text, &["1.50 ms"]);
        assert!(!text.contains("geometric"), "{text}");
        assert_eq!(results.to_json().pointer("/measures/0/cases/0/ratio"), None);
    }

    fn has_parts(text: &str, parts: &[&str]) {
        for part in parts {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }
}
