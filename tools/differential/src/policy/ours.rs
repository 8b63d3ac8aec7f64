//! Our side: compiles the policies of a world and evaluates them for its requests.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use pratique::{Admission, EvalContext, Objects};
use pratique_harness::ToolError;
use pratique_types::AdmissionRequest;
use serde_json::{Value, json};

use super::world::PolicyWorld;
use pratique_conformance::authorizer::{CaseAuthorizer, CheckRule};
use pratique_conformance::fixture::json_value;
use pratique_conformance::policy;

/// The outcome of each request in this implementation.
///
/// # Errors
/// The policies do not load.
pub fn outcomes(world: &PolicyWorld) -> Result<Vec<Value>, ToolError> {
    let admission = policy::admission(&world.case(&Value::Null))?;
    let mut cluster = Objects::of_release(world.compared.release);
    for object in &world.objects {
        // An object without a name is ignored.
        let _ = cluster.insert(json_value(object));
    }
    let rules: Vec<CheckRule> =
        serde_json::from_value(world.allow.clone()).map_err(|error| error.to_string())?;
    let authorizer = CaseAuthorizer::new(rules);
    let outcomes = world.requests.iter().map(|request| {
        let evaluated = AssertUnwindSafe(|| outcome(&admission, request, &cluster, &authorizer));
        catch_unwind(evaluated).unwrap_or_else(|_| json!({"crash": true}))
    });
    Ok(outcomes.collect())
}

fn outcome(admission: &Admission, request: &Value, cluster: &Objects, authorizer: &CaseAuthorizer) -> Value {
    let text = request.to_string();
    let request: AdmissionRequest<'_> = match serde_json::from_str(&text) {
        Ok(request) => request,
        Err(error) => return json!({"request": error.to_string()}),
    };
    let context = EvalContext::new(cluster, Arc::new(authorizer.clone()));
    match admission.admit_policies(&request, context, &mut ()) {
        Ok(outcome) => policy::to_expectation(&outcome),
        Err(unfinished) => json!({"unfinished": unfinished.to_string()}),
    }
}
