//! Golden cases of the built-in admission plugins, asked of those of a release.

use pratique_harness::ToolError;
use serde_json::{Value, json};

use crate::reference::ReferenceProgram;
use crate::release::ComparedRelease;
use crate::suite::{CaseComparison, GoldenSuite, compare_expectation};

/// The suite `plugins`.
pub(super) struct GoldenPlugins;

impl GoldenSuite for GoldenPlugins {
    fn name(&self) -> &'static str {
        "plugins"
    }

    fn start(&self, compared: &ComparedRelease) -> Result<ReferenceProgram, ToolError> {
        ReferenceProgram::start(compared, "plugins", &[])
    }

    /// A case may be about one release alone.
    fn prepare(&self, compared: &ComparedRelease, case: Value) -> Option<Value> {
        let version = case.pointer("/flags/kubernetes-version").and_then(Value::as_str);
        let is_asked = version.is_none_or(|version| compared.minor() == version);
        is_asked.then_some(case)
    }

    fn question(&self, case: &Value, times: usize) -> Result<Value, ToolError> {
        let mut question = json!({"times": times});
        let names = [
            "plugins",
            "config",
            "flags",
            "backend",
            "objects",
            "authorizer",
            "request",
            "requests",
        ];
        if let (Some(question), Some(case)) = (question.as_object_mut(), case.as_object()) {
            let members = names
                .iter()
                .filter_map(|name| Some(((*name).to_owned(), case.get(*name)?.clone())));
            question.extend(members);
        }
        Ok(question)
    }

    fn compare(&self, case: &Value, theirs: &Value) -> Result<CaseComparison, ToolError> {
        Ok(compare_expectation(self.name(), case, theirs.clone()))
    }
}
