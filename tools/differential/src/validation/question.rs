//! Golden cases as questions to the registry of a release.
#![allow(
    clippy::indexing_slicing,
    reason = "values of JSON give null for what they have not"
)]

use pratique_harness::ToolError;
use serde_json::{Map, Value};

use super::{differs, is_known, kind_of, question};
use crate::reference::ReferenceProgram;
use crate::release::ComparedRelease;
use crate::suite::{CaseComparison, GoldenSuite, compare_expectation};

/// The suite `validation`.
pub(crate) struct GoldenValidation;

impl GoldenSuite for GoldenValidation {
    fn name(&self) -> &'static str {
        "validation"
    }

    fn start(&self, compared: &ComparedRelease) -> Result<ReferenceProgram, ToolError> {
        ReferenceProgram::start(compared, "validation", &[])
    }

    /// A case with the namespace of its request; none where it is of a kind that is not compared, or has more than a question: who
    /// asks, the name in a URL, a name that is generated, or another one than the stored object's, or who manages the fields of that.
    fn prepare(&self, compared: &ComparedRelease, mut case: Value) -> Option<Value> {
        let kind = kind_of(&case)?;
        let is_plain = ["user", "urlName"].iter().all(|name| case.get(name).is_none());
        let name_of = |object: &str| case[object]["metadata"]["name"].as_str().unwrap_or_default();
        let is_named = case["object"]["metadata"].get("generateName").is_none()
            && (case.get("oldObject").is_none() || name_of("object") == name_of("oldObject"));
        let is_managed = case["oldObject"]["metadata"].get("managedFields").is_some();
        if !kind.is_known_to(compared.release) || !is_plain || !is_named || is_managed {
            return None;
        }
        // What manages fields is made before a strategy sees an object.
        if let Some(metadata) = case
            .pointer_mut("/object/metadata")
            .and_then(Value::as_object_mut)
        {
            metadata.remove("managedFields");
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

    fn question(&self, case: &Value, times: usize) -> Result<Value, ToolError> {
        Ok(question(case, times))
    }

    fn compare(&self, case: &Value, theirs: &Value) -> Result<CaseComparison, ToolError> {
        let ours = pratique_conformance::validation_answer(case)?;
        match differs(&ours, theirs) {
            Some(_) if is_known(case, &ours, theirs) => Ok(CaseComparison::Known),
            Some(kind) => Ok(CaseComparison::Differs { kind, ours }),
            None => Ok(
                match compare_expectation(self.name(), case, expectation(theirs)) {
                    // The strategy is not all that warns and decodes.
                    CaseComparison::Differs { .. } => CaseComparison::Known,
                    comparison => comparison,
                },
            ),
        }
    }
}

/// What is said of an object as expectations have it: without what all statuses are.
fn expectation(theirs: &Value) -> Value {
    let mut expectation = Map::new();
    for name in ["accepted", "status", "warnings"] {
        if let Some(member) = theirs.get(name) {
            expectation.insert(name.to_owned(), member.clone());
        }
    }
    Value::Object(expectation)
}
