//! Our side of the rows of the whole chain of `cargo xtask bench`, and `pratique-benches count-chain TIMES SETUP`, for profilers.
//!
//! A setup has the plugins (by name, or `"default"`), a directory of policies or none, the objects of the cluster, and a request.
//! What is timed is the whole way of the request: its object is read from bytes, decoded strictly, defaulted, admitted by plugins and
//! policies, prepared and validated between, and written. Nothing is stored.

use std::hint::black_box;

use pratique::api_objects::{ApiObjects, ReceiveOptions};
use pratique::authorization::NoAuthorizer;
use pratique::manifest::ManifestPlugin;
use pratique::observer::ChainObserver;
use pratique::plugins::StateObjects;
use pratique::types::AdmissionRequest;
use pratique::{Admission, AdmissionContext, Attributes, Objects, Outcome, PluginInputs};
use pratique_benches::BenchError;
use pratique_benches::contest::{ContestOrder, ContestSide, TurnSample};
use pratique_objects::{FieldValidation, MediaType, ObjectCodec};
use pratique_validation::Validator;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::{counted_run, plugins};

/// The time and the identity of new objects.
const TIME: &str = "2026-01-02T03:04:05Z";

#[derive(Deserialize)]
struct ChainSetup {
    plugins: Value,
    objects: Vec<Value>,
    request: Value,
    /// Where there are policies.
    directory: String,
}

/// A request as it arrives, and the server that answers it.
pub(crate) struct ServedRequest {
    admission: Admission,
    codec: ObjectCodec,
    objects: ApiObjects,
    validator: Validator,
    state: StateObjects,
    cluster: Objects,
    /// Without its object.
    request: AdmissionRequest<'static>,
    body: String,
    runtime: Runtime,
}

/// The answer to a request.
enum ServedAnswer {
    /// The object as it would be stored.
    Stored(Vec<u8>),
    /// Why it is refused.
    Refused(String),
}

/// The object that is admitted, which is written where it is.
#[derive(Default)]
struct WrittenObject {
    text: Vec<u8>,
}

impl ChainObserver for WrittenObject {
    fn measures_time(&self) -> bool {
        false
    }

    fn admitted(&mut self, attributes: &Attributes<'_>) {
        pratique_json::write(attributes.object, &mut self.text);
    }
}

impl ServedRequest {
    pub(crate) fn new(setup: Value) -> Result<Self, BenchError> {
        let mut setup: ChainSetup = serde_json::from_value(setup)?;
        let members = setup.request.as_object_mut().ok_or("the request is no object")?;
        let body = members.remove("object").unwrap_or_default().to_string();
        // It lives as long as the process.
        let request: &'static str = Box::leak(setup.request.to_string().into_boxed_str());
        let codec = ObjectCodec::with_placeholder(TIME);
        let (mut state, mut cluster) = (StateObjects::whole(), Objects::new());
        for object in &setup.objects {
            let object = plugins::decoded(&codec, object)?;
            // Those that policies do not look up are left out.
            let _ = cluster.insert(object.clone());
            state.insert(object)?;
        }
        let builder = Admission::builder().plugins(plugins::chain(&setup.plugins)?);
        let builder = match setup.directory.as_str() {
            "" => builder,
            directory => builder.directory(directory, ManifestPlugin::ValidatingAdmissionPolicy),
        };
        Ok(ServedRequest {
            admission: builder.build()?,
            codec,
            objects: ApiObjects::default(),
            validator: Validator::new(),
            state,
            cluster,
            request: serde_json::from_str(request)?,
            body,
            runtime: Builder::new_current_thread().build()?,
        })
    }

    fn answer(&self) -> Result<ServedAnswer, BenchError> {
        let (json, strict) = (MediaType::Json, FieldValidation::Strict);
        let decoded = self
            .codec
            .decode(self.body.as_bytes(), json, &self.request.kind, strict);
        let (object, form) = match decoded {
            Ok(decoded) => (decoded.value, decoded.form),
            Err(error) => return Ok(ServedAnswer::Refused(error.to_string())),
        };
        let mut request = AdmissionRequest {
            object,
            form,
            ..self.request.clone()
        };
        let options = ReceiveOptions {
            validator: Some(&self.validator),
            ..ReceiveOptions::default()
        };
        let received = match self.objects.receive_with(&mut request, options) {
            Ok(received) => received,
            Err(refused) => return Ok(ServedAnswer::Refused(refused.status.message)),
        };
        let context = AdmissionContext::new(&self.cluster)
            .with_decider(&NoAuthorizer)
            .with_object_model(&received)
            .with_plugins(PluginInputs::new(&self.state))
            .without_objects();
        let mut written = WrittenObject::default();
        let admitted = self.admission.admit_owned(request, context, &mut written);
        let Outcome {
            status, undecided, ..
        } = self.runtime.block_on(admitted)?;
        match (status, undecided.first()) {
            (Some(status), _) => Ok(ServedAnswer::Refused(status.message)),
            (None, Some(undecided)) => Err(undecided.to_string().into()),
            (None, None) => Ok(ServedAnswer::Stored(written.text)),
        }
    }

    /// Answers a number of times. A function of its own, so that tools that count instructions find it.
    #[inline(never)]
    fn run_counted(&self, times: usize) {
        for _ in 0..times {
            let _ = black_box(self.answer());
        }
    }
}

impl ContestSide for ServedRequest {
    /// The decision on the request, and the object without what is new each time.
    fn facts(&self) -> Result<Value, BenchError> {
        match self.answer()? {
            ServedAnswer::Refused(message) => {
                Ok(json!({"allowed": false, "message": message, "object": null}))
            }
            ServedAnswer::Stored(text) => {
                let mut object: Value = serde_json::from_slice(&text)?;
                if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
                    metadata.retain(|name, _| !matches!(name.as_str(), "uid" | "creationTimestamp"));
                }
                Ok(json!({"allowed": true, "message": "", "object": object}))
            }
        }
    }

    fn measure(&self, order: &ContestOrder) -> Result<TurnSample, BenchError> {
        Ok(order.time(|| self.answer().is_ok()))
    }
}

/// Answers a number of times, for profilers.
pub(crate) fn count(arguments: &[String]) -> Result<(), BenchError> {
    counted_run::count(arguments, ServedRequest::new, |served, times| {
        served.run_counted(times);
        Ok(())
    })
}
