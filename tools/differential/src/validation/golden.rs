//! The golden cases, each asked once of a release: what its server says otherwise than Pratique, and than Pratique says of the
//! latest release.
#![allow(
    clippy::indexing_slicing,
    reason = "values of JSON give null for what they have not"
)]

use pratique_harness::{Error, workspace};
use serde_json::Value;

use super::{ValidationArea, kind_of};
use crate::area::ComparedArea;
use crate::shrink::CaseDifference;

/// What came of the golden cases.
#[derive(Default)]
struct GoldenReport {
    asked: usize,
    /// Cases of kinds that the release has not, or that the reference has no answer to.
    unanswered: usize,
    /// How many answers are not those of the latest release.
    changed: usize,
    /// Intended differences.
    known: usize,
    differences: usize,
}

/// Asks all golden cases, and prints each that is answered otherwise. Returns whether ours differ.
pub(crate) fn compare_golden(area: &ValidationArea) -> Result<bool, Error> {
    let cases = pratique_conformance::cases_below(&workspace::root().join("testdata/validation"))?;
    let mut reference = area.start()?;
    let mut report = GoldenReport::default();
    for latest in cases {
        let Some(latest) = as_question(area, latest) else {
            report.unanswered += 1;
            continue;
        };
        let case = area.of_release(latest.clone());
        reference.ask(&area.question(&case, 1))?;
        match reference.answer()? {
            Ok(outcomes) => {
                let Some(theirs) = outcomes.first().and_then(|each| each.first()) else {
                    return Err("the reference gives no outcome".into());
                };
                report.add(area, [&latest, &case], theirs)?;
            }
            Err(error) => {
                report.unanswered += 1;
                println!(
                    "no answer: {}: {error}",
                    case["name"].as_str().unwrap_or_default()
                );
            }
        }
    }
    println!(
        "{} golden cases: {} answered otherwise than by the latest release; {} differ on purpose, {} not compared\n\
         {} differences",
        report.asked, report.changed, report.known, report.unanswered, report.differences
    );
    if report.asked == 0 {
        return Err("no golden case was answered".into());
    }
    Ok(report.differences > 0)
}

/// A case with the namespace of its request; none where it is of a kind that is not compared, or has more than a question: who
/// asks, the name in a URL, a name that is generated, or another one than the stored object's.
fn as_question(area: &ValidationArea, mut case: Value) -> Option<Value> {
    let kind = kind_of(&case)?;
    let is_compared = area.kinds.iter().any(|known| known.path() == kind.path());
    let is_plain = ["user", "urlName"].iter().all(|name| case.get(name).is_none());
    let name_of = |object: &str| case[object]["metadata"]["name"].as_str().unwrap_or_default();
    let is_named = case["object"]["metadata"].get("generateName").is_none()
        && (case.get("oldObject").is_none() || name_of("object") == name_of("oldObject"));
    if !is_compared || !is_plain || !is_named {
        return None;
    }
    // What manages fields is made before a strategy sees an object.
    for place in ["/object/metadata", "/oldObject/metadata"] {
        if let Some(metadata) = case.pointer_mut(place).and_then(Value::as_object_mut) {
            metadata.remove("managedFields");
        }
    }
    let places = [
        "/namespace",
        "/oldObject/metadata/namespace",
        "/object/metadata/namespace",
    ];
    let mut given = places.iter().filter_map(|place| case.pointer(place)?.as_str());
    let namespace = match given.find(|namespace| !namespace.is_empty()) {
        _ if !kind.is_namespaced => "",
        Some(namespace) => namespace,
        None => "default",
    };
    case["namespace"] = namespace.to_owned().into();
    Some(case)
}

impl GoldenReport {
    /// Compares an answer with ours about the case of the release, and about that of the latest one.
    fn add(
        &mut self,
        area: &ValidationArea,
        [latest, case]: [&Value; 2],
        theirs: &Value,
    ) -> Result<(), Error> {
        self.asked += 1;
        let ours = pratique_conformance::validation_answer(case)?;
        if area
            .differs(&pratique_conformance::validation_answer(latest)?, theirs)
            .is_some()
        {
            self.changed += 1;
            println!("changed: {}", case["name"].as_str().unwrap_or_default());
        }
        let Some(kind) = area.differs(&ours, theirs) else {
            return Ok(());
        };
        if area.is_known(case, &ours, theirs) {
            self.known += 1;
            return Ok(());
        }
        self.differences += 1;
        let difference = CaseDifference {
            case: case.clone(),
            kind,
            ours,
            theirs: theirs.clone(),
        };
        println!("{}", area.describe(&difference));
        Ok(())
    }
}
