//! Our side of the rows of `cargo xtask bench` in which policies evaluate one request.
//!
//! The setup names files: `{"plugin", "directory", "request", "namespace"}`. Before time runs the request was read, and its
//! object has the form of its kind, as the other side's was decoded into a Go type; what is timed is `Admission::admit_policies`,
//! with its outcome.

use std::fs;
use std::hint::black_box;
use std::sync::Arc;

use pratique::authorization::Authorizer;
use pratique::manifest::ManifestPlugin;
use pratique::policy::settle_request;
use pratique::types::AdmissionRequest;
use pratique::workers::Sequential;
use pratique::{Admission, AdmissionBuilder, EvalContext, Objects, Outcome, json};
use pratique_benches::BenchError;
use pratique_benches::contest::{ContestOrder, ContestSide, TurnSample};
use pratique_schema::Release;
use pratique_testkit::NoOpinion;
use serde::Deserialize;
use serde_json::Value;

use crate::counted_run;

/// The paths of all inputs.
#[derive(Debug, Deserialize)]
pub(crate) struct AdmissionSetup {
    plugin: String,
    directory: String,
    request: String,
    namespace: String,
}

/// A request and the policies that evaluate it.
pub(crate) struct EvaluatedRequest {
    admission: Admission,
    cluster: Objects,
    request: AdmissionRequest<'static>,
    authorizer: Arc<dyn Authorizer>,
}

impl EvaluatedRequest {
    pub(crate) fn new(setup: Value) -> Result<Self, BenchError> {
        let setup: AdmissionSetup = serde_json::from_value(setup)?;
        // It lives as long as the process.
        let text: &'static str = Box::leak(read(&setup.request)?.into_boxed_str());
        let mut cluster = Objects::new();
        let namespace = read(&setup.namespace)?;
        let namespace = json::parse(namespace.as_bytes())?;
        // It has a kind and a name, so it is kept.
        let _ = cluster.insert(namespace.into_owned());
        let mut request = serde_json::from_str(text)?;
        settle_request(Release::latest(), &mut request);
        Ok(EvaluatedRequest {
            admission: load(&setup.directory, plugin(&setup.plugin)?)?,
            cluster,
            request,
            authorizer: Arc::new(NoOpinion),
        })
    }

    fn evaluate(&self) -> Result<Outcome, BenchError> {
        self.evaluate_in(self.context())
    }

    fn evaluate_in(&self, context: EvalContext<'_>) -> Result<Outcome, BenchError> {
        let outcome = self
            .admission
            .admit_policies(black_box(&self.request), context, &mut ());
        Ok(outcome?)
    }

    fn context(&self) -> EvalContext<'_> {
        EvalContext::new(&self.cluster, self.authorizer.clone())
    }

    /// Evaluates a number of times, on one thread. A function of its own, so that tools that count instructions find it.
    #[inline(never)]
    fn evaluate_counted(&self, times: usize) {
        for _ in 0..times {
            let _ = black_box(self.evaluate_in(self.context().with_workers(&Sequential)));
        }
    }
}

impl ContestSide for EvaluatedRequest {
    fn facts(&self) -> Result<Value, BenchError> {
        let outcome = self.evaluate()?;
        let object = outcome.object.as_ref().map(ToString::to_string);
        let object = object.map(|text| serde_json::from_str::<Value>(&text));
        Ok(serde_json::json!({
            "allowed": outcome.allowed(),
            "message": outcome.status.as_ref().map(|status| &status.message),
            "object": object.transpose()?,
        }))
    }

    fn measure(&self, order: &ContestOrder) -> Result<TurnSample, BenchError> {
        Ok(order.time(|| self.evaluate()))
    }
}

/// Evaluates a number of times, for profilers.
pub(crate) fn count(arguments: &[String]) -> Result<(), BenchError> {
    counted_run::count(arguments, EvaluatedRequest::new, |evaluated, times| {
        evaluated.evaluate_counted(times);
        Ok(())
    })
}

/// What `pratique serve` lets a load take, where no container bounds it.
const SERVER_LOAD_BYTES: u64 = 2 << 30;

/// Loads a directory of policies, so that they can be evaluated.
pub(crate) fn load(directory: &str, plugin: ManifestPlugin) -> Result<Admission, BenchError> {
    load_by(Admission::builder(), directory, plugin)
}

/// [`load`] on one thread.
pub(crate) fn load_sequential(directory: &str, plugin: ManifestPlugin) -> Result<Admission, BenchError> {
    load_by(Admission::builder().workers(Sequential), directory, plugin)
}

fn load_by(
    builder: AdmissionBuilder,
    directory: &str,
    plugin: ManifestPlugin,
) -> Result<Admission, BenchError> {
    // Rows with many bindings need more than a library takes by default.
    let builder = builder.max_load_bytes(SERVER_LOAD_BYTES);
    Ok(builder.directory(directory, plugin).build()?)
}

/// A plugin by the name that an API server's configuration has for it.
pub(crate) fn plugin(name: &str) -> Result<ManifestPlugin, BenchError> {
    match name {
        "ValidatingAdmissionPolicy" => Ok(ManifestPlugin::ValidatingAdmissionPolicy),
        "MutatingAdmissionPolicy" => Ok(ManifestPlugin::MutatingAdmissionPolicy),
        other => Err(format!("no plugin is named {other:?}").into()),
    }
}

fn read(path: &str) -> Result<String, BenchError> {
    fs::read_to_string(path).map_err(|error| format!("{path}: {error}").into())
}
