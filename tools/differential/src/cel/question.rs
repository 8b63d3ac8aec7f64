//! Golden cases of expressions as worlds with one expression.
#![allow(
    clippy::indexing_slicing,
    reason = "values of JSON give null for what they have not"
)]

use pratique_harness::ToolError;
use serde_json::{Value, json};

use crate::known_differences::is_known;
use crate::ours::CompiledWorld;
use crate::outcome::ExpressionOutcome;
use crate::reference::ReferenceProgram;
use crate::release::ComparedRelease;
use crate::suite::{CaseComparison, GoldenSuite};
use crate::world::{CelWorld, DeclaredNames, NamedExpression};

/// The suite `cel`.
pub(crate) struct GoldenExpressions;

impl GoldenSuite for GoldenExpressions {
    fn name(&self) -> &'static str {
        "cel"
    }

    fn start(&self, compared: &ComparedRelease) -> Result<ReferenceProgram, ToolError> {
        ReferenceProgram::start(compared, "cel", &[])
    }

    /// A request of another kind than the one that a policy names is no part of a world.
    fn prepare(&self, _: &ComparedRelease, case: Value) -> Option<Value> {
        let request = &case["bindings"]["request"];
        let is_converted = ["requestKind", "requestResource"]
            .iter()
            .any(|name| request.get(name).is_some());
        (!is_converted).then_some(case)
    }

    fn question(&self, case: &Value, times: usize) -> Result<Value, ToolError> {
        let source = source(case);
        Ok(world(case).question(std::iter::once(&source), times))
    }

    fn compare(&self, case: &Value, theirs: &Value) -> Result<CaseComparison, ToolError> {
        let world = world(case);
        let release = pratique_conformance::release_of(case);
        let ours = CompiledWorld::new(&world, release).outcome(&source(case));
        let expected = ExpressionOutcome::read(theirs);
        Ok(match ours.differs(&expected) {
            // Both are the same: cases have another form of it.
            None => CaseComparison::Same(pratique_conformance::run_case(self.name(), case).actual),
            Some(_) if is_known(&ours, &expected) => CaseComparison::Known,
            Some(kind) => CaseComparison::Differs {
                kind,
                ours: json!(ours),
            },
        })
    }
}

fn source(case: &Value) -> String {
    case["expression"].as_str().unwrap_or_default().to_owned()
}

fn world(case: &Value) -> CelWorld {
    let is_declared = |name: &str| case["env"][name] == true;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let variables = case["variables"].as_array().into_iter().flatten();
    let bindings = &case["bindings"];
    let user = &bindings["authorizer"]["user"];
    let mut request = match &bindings["request"] {
        Value::Null => json!({}),
        request => request.clone(),
    };
    if request.get("userInfo").is_none() && !user.is_null() {
        request["userInfo"] = json!({"username": user["name"], "uid": user["uid"],
            "groups": user["groups"], "extra": user["extra"]});
    }
    CelWorld {
        declared: DeclaredNames {
            params: is_declared("hasParams"),
            authorizer: is_declared("hasAuthorizer"),
            patch_types: is_declared("hasPatchTypes"),
        },
        variables: variables
            .map(|variable| NamedExpression {
                name: text(&variable["name"]),
                expression: text(&variable["expression"]),
            })
            .collect(),
        inputs: json!({
            "object": bindings["object"], "oldObject": bindings["oldObject"], "params": bindings["params"],
            "namespaceObject": bindings["namespaceObject"], "request": request,
            "allow": bindings["authorizer"]["allow"],
        }),
    }
}
