//! Our side: compiles an expression and evaluates it over a world.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use pratique::policy::Trial;
use pratique::{EvalContext, Objects};
use pratique_expression::{Cache, Declarations, ExpressionError};
use pratique_json as json;
use pratique_match::MatchedResource;
use pratique_schema::Release;
use pratique_types::{AdmissionRequest, Operation};
use serde_json::Value;

use super::outcome::ExpressionOutcome;
use super::render::render;
use super::world::CelWorld;
use pratique_conformance::authorizer::{CaseAuthorizer, CheckRule};

/// A world, ready for expressions.
pub(super) struct CompiledWorld<'w> {
    world: &'w CelWorld,
    release: &'static Release,
    request: AdmissionRequest<'static>,
    params: json::Value<'static>,
    namespace: json::Value<'static>,
    rules: CaseAuthorizer,
}

impl<'w> CompiledWorld<'w> {
    /// Makes the inputs of a world ready.
    pub(super) fn new(world: &'w CelWorld, release: &'static Release) -> Self {
        let inputs = &world.inputs;
        let request_fields = inputs.get("request").cloned().unwrap_or_default();
        let field = |name: &str| json_value(request_fields.get(name).unwrap_or(&Value::Null));
        let mut request: AdmissionRequest<'static> = plain_request(&request_fields);
        request.options = field("options");
        request.dry_run.get_or_insert(false);
        request.object = json_value(inputs.get("object").unwrap_or(&Value::Null));
        request.old_object = json_value(inputs.get("oldObject").unwrap_or(&Value::Null));
        let allow = inputs.get("allow").cloned().unwrap_or_default();
        let rules: Vec<CheckRule> = serde_json::from_value(allow).unwrap_or_default();
        let params = if world.declared.params {
            json_value(inputs.get("params").unwrap_or(&Value::Null))
        } else {
            json::Value::Null
        };
        CompiledWorld {
            world,
            release,
            request,
            params,
            namespace: json_value(inputs.get("namespaceObject").unwrap_or(&Value::Null)),
            rules: CaseAuthorizer::new(rules),
        }
    }

    /// The outcome of an expression.
    pub(super) fn outcome(&self, expression: &str) -> ExpressionOutcome {
        let result = catch_unwind(AssertUnwindSafe(|| self.evaluated(expression)));
        result.unwrap_or_else(|_| ExpressionOutcome {
            crash: "panic".to_owned(),
            ..ExpressionOutcome::default()
        })
    }

    fn evaluated(&self, expression: &str) -> ExpressionOutcome {
        let declared = self.world.declared;
        let declarations = Declarations {
            params: declared.params,
            authorizer: declared.authorizer,
            patch_types: declared.patch_types,
            variables: true,
        };
        let variables = self.world.variables.iter();
        let named = variables.map(|variable| (variable.name.as_str(), variable.expression.as_str()));
        match Trial::compile_in(
            &Cache::new().of_release(self.release),
            expression,
            named,
            declarations,
        ) {
            Ok(trial) => self.evaluated_trial(&trial, expression),
            Err(error) => fault(&error),
        }
    }

    fn evaluated_trial(&self, trial: &Trial, expression: &str) -> ExpressionOutcome {
        let of = trial.result_type().declared_name();
        let cluster = Objects::new();
        let context = EvalContext::new(&cluster, Arc::new(self.rules.clone())).of_release(self.release);
        let matched = MatchedResource {
            resource: &self.request.resource,
            kind: &self.request.kind,
        };
        let prefix = format!("expression '{expression}' resulted in error: ");
        let read = |result: pratique::policy::TrialResult<'_>| {
            let cost = i64::try_from(result.cost).unwrap_or(i64::MAX);
            let (value, error) = match &result.answer {
                Ok(value) => (Some(render(value)), String::new()),
                Err(text) => (None, text.strip_prefix(&prefix).unwrap_or(text).to_owned()),
            };
            ExpressionOutcome {
                of: of.clone(),
                value,
                error,
                cost,
                ..ExpressionOutcome::default()
            }
        };
        let answer = trial.evaluate(
            &self.request,
            matched,
            &self.params,
            &self.namespace,
            context,
            read,
        );
        answer.unwrap_or_else(|unfinished| ExpressionOutcome {
            error: unfinished.to_string(),
            ..ExpressionOutcome::default()
        })
    }
}

fn fault(error: &ExpressionError) -> ExpressionOutcome {
    ExpressionOutcome {
        compile: error.to_string(),
        ..ExpressionOutcome::default()
    }
}

/// The fields of a request that are no JSON themselves.
fn plain_request(request_fields: &Value) -> AdmissionRequest<'static> {
    fn read<T: Default + for<'de> serde::Deserialize<'de>>(request_fields: &Value, field: &str) -> T {
        let field = request_fields.get(field).cloned();
        field
            .and_then(|field| serde_json::from_value(field).ok())
            .unwrap_or_default()
    }
    AdmissionRequest {
        kind: read(request_fields, "kind"),
        resource: read(request_fields, "resource"),
        sub_resource: read(request_fields, "subResource"),
        name: read(request_fields, "name"),
        namespace: read(request_fields, "namespace"),
        operation: match request_fields.get("operation") {
            Some(_) => read(request_fields, "operation"),
            None => Operation::None,
        },
        user_info: read(request_fields, "userInfo"),
        dry_run: read(request_fields, "dryRun"),
        ..AdmissionRequest::default()
    }
}

fn json_value(value: &Value) -> json::Value<'static> {
    pratique_conformance::fixture::json_value(value)
}
