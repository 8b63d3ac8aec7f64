//! Our side of the rows of plugins of `cargo xtask bench`, and `pratique-benches count-plugins TIMES CASE`, for profilers.
//!
//! A case has the plugins (by name, or `"default"`), the objects of the cluster, and a request. Before time runs, the
//! objects are decoded and defaulted, as those that an API server keeps; what is timed are both halves of the chain over an
//! object of its own for each run.

use std::hint::black_box;

use pratique::json::Value;
use pratique::types::{AdmissionRequest, GroupVersion, GroupVersionKind, ObjectForm};
use pratique_benches::BenchError;
use pratique_benches::contest::{ContestOrder, ContestSide, TurnSample};
use pratique_objects::{FieldValidation, MediaType, ObjectCodec};
use pratique_plugin::{
    Attributes, Effects, MutableAttributes, PluginChain, PluginContext, PluginSettings, Rejection, Stage,
    StateObjects, default_plugins,
};
use pratique_schema::FeatureGates;
use serde_json::{Value as Json, json};

use crate::counted_run;

/// A case that takes part in a contest.
pub(crate) struct DecidedCase(PreparedCase);

impl DecidedCase {
    pub(crate) fn new(setup: Json) -> Result<Self, BenchError> {
        PreparedCase::new(&setup).map(DecidedCase)
    }
}

impl ContestSide for DecidedCase {
    /// The decision on the request, and the object after mutation.
    fn facts(&self) -> Result<Json, BenchError> {
        let DecidedCase(case) = self;
        let request = case.request()?;
        let mut object = case.original.clone();
        match once(
            &case.chain,
            &request,
            &mut object,
            &PluginContext::new(&case.state),
        ) {
            Ok(()) => Ok(json!({"allowed": true, "message": "", "object": Json::from(object)})),
            Err(rejection) => match rejection.status() {
                Some(status) => Ok(json!({"allowed": false, "message": status.message, "object": null})),
                None => Err(rejection.to_string().into()),
            },
        }
    }

    fn measure(&self, order: &ContestOrder) -> Result<TurnSample, BenchError> {
        let DecidedCase(case) = self;
        let request = case.request()?;
        let context = PluginContext::new(&case.state);
        Ok(order.time_with(
            || case.original.clone(),
            |object| once(&case.chain, &request, object, &context).is_ok(),
        ))
    }
}

/// Runs a case a number of times, for profilers.
pub(crate) fn count(arguments: &[String]) -> Result<(), BenchError> {
    counted_run::count(
        arguments,
        |case| PreparedCase::new(&case),
        |case, times| {
            let request = case.request()?;
            let mut objects = case.objects(times);
            case.run_counted(&request, &mut objects, &PluginContext::new(&case.state));
            std::mem::forget(objects);
            Ok(())
        },
    )
}

/// A case whose objects are decoded and defaulted.
struct PreparedCase {
    chain: PluginChain,
    state: StateObjects,
    request: String,
    original: Value<'static>,
}

impl PreparedCase {
    fn new(case: &Json) -> Result<Self, BenchError> {
        let objects = ObjectCodec::with_placeholder("2026-01-02T03:04:05Z");
        let mut state = StateObjects::whole();
        for object in case["objects"].as_array().into_iter().flatten() {
            state.insert(decoded(&objects, object)?)?;
        }
        Ok(PreparedCase {
            chain: chain(&case["plugins"])?,
            state,
            request: case["request"].to_string(),
            original: decoded(&objects, case.pointer("/request/object").unwrap_or(&Json::Null))?,
        })
    }

    fn request(&self) -> Result<AdmissionRequest<'_>, BenchError> {
        Ok(serde_json::from_str(&self.request)?)
    }

    /// Copies of the object, to be changed.
    fn objects(&self, times: usize) -> Vec<Value<'_>> {
        (0..times).map(|_| self.original.clone()).collect()
    }

    /// Runs the chain over each object. A function of its own, so that tools that count instructions find it.
    #[inline(never)]
    fn run_counted<'a>(
        &self,
        request: &AdmissionRequest<'a>,
        objects: &mut [Value<'a>],
        context: &PluginContext<'_>,
    ) {
        for object in objects {
            let _ = black_box(once(&self.chain, request, object, context));
        }
    }
}

fn once(
    chain: &PluginChain,
    request: &AdmissionRequest<'_>,
    object: &mut Value<'_>,
    context: &PluginContext<'_>,
) -> Result<(), Rejection> {
    let mut effects = Effects::default();
    let mut attributes = MutableAttributes::new(request, object);
    chain.admit(Stage::All, &mut attributes, context, &mut effects, &mut ())?;
    let attributes = Attributes {
        request,
        object,
        form: ObjectForm::Settled,
    };
    let result = chain.validate(Stage::All, &attributes, context, &mut effects, &mut ());
    black_box(effects);
    result
}

pub(crate) fn chain(names: &Json) -> Result<PluginChain, BenchError> {
    let names: Vec<&str> = match names {
        Json::Array(names) => names.iter().filter_map(Json::as_str).collect(),
        _ => default_plugins().collect(),
    };
    let gates = FeatureGates::default();
    let plugins = names.into_iter().map(|name| {
        let factory = pratique_plugins::factory(name).ok_or_else(|| format!("there is no plugin {name}"))?;
        factory
            .start(&PluginSettings::new(gates))
            .map_err(|error| BenchError::from(error.of_plugin(name)))
    });
    Ok(PluginChain::new(plugins.collect::<Result<_, BenchError>>()?))
}

/// An object as an API server has it: decoded, and defaulted.
pub(crate) fn decoded(objects: &ObjectCodec, object: &Json) -> Result<Value<'static>, BenchError> {
    let kind = kind_of(object)?;
    let text = object.to_string();
    let received = objects.receive(text.as_bytes(), MediaType::Json, &kind, FieldValidation::Strict);
    let received = received?;
    Ok(Value::into_owned(received.value))
}

fn kind_of(object: &Json) -> Result<GroupVersionKind, BenchError> {
    let text = |name: &str| object[name].as_str().unwrap_or_default();
    let version = GroupVersion::parse(text("apiVersion"))?;
    Ok(version.with_kind(text("kind")))
}
