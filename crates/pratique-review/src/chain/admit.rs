//! One request through the whole chain.

use pratique::observer::{ChainObserver, ChainSpan, ChainStep};
use pratique::policy::PolicyObserver;
#[cfg(feature = "webhooks")]
use pratique::webhook::WebhookObserver;
use pratique::{Admission, AdmissionContext, Attributes, ObjectModel, Outcome, UnfinishedEvaluation};
use pratique_json::Value;
use pratique_types::AdmissionRequest;

use super::steps::{RecordingModel, ReviewStep, StepRecorder};

/// The result of a request.
#[derive(Clone, Debug)]
pub struct AdmittedRequest {
    /// The outcome.
    pub outcome: Outcome,
    /// The steps of the chain.
    pub steps: Vec<ReviewStep>,
}

/// Evaluates a request by the whole chain, and records its steps. The request has the object as an API server received it;
/// `sent` is the object before that, and `model` what is done with it between the steps.
/// The observer is told [the object that is stored](ChainObserver::admitted).
///
/// # Errors
/// As [`Admission::admit`].
pub async fn admit(
    admission: &Admission,
    (request, sent): (&AdmissionRequest<'_>, &Value<'_>),
    model: &dyn ObjectModel,
    context: AdmissionContext<'_>,
    observer: &mut dyn ChainObserver,
) -> Result<AdmittedRequest, UnfinishedEvaluation> {
    let model = RecordingModel::new(model, &request.kind);
    let mut recording = RecordingObserver {
        observer,
        steps: StepRecorder::new(admission.release(), sent, &request.object, &model),
    };
    let context = context.with_object_model(&model);
    let outcome = admission.admit(request, context, &mut recording).await?;
    Ok(AdmittedRequest {
        outcome,
        steps: recording.steps.into_steps(),
    })
}

/// Records the steps, and passes everything on to another observer.
struct RecordingObserver<'a, 'm> {
    observer: &'a mut dyn ChainObserver,
    steps: StepRecorder<'m>,
}

impl ChainObserver for RecordingObserver<'_, '_> {
    fn policies(&mut self) -> Option<&mut dyn PolicyObserver> {
        self.observer.policies()
    }

    #[cfg(feature = "webhooks")]
    fn webhooks(&mut self) -> Option<&mut dyn WebhookObserver> {
        self.observer.webhooks()
    }

    fn measures_time(&self) -> bool {
        self.observer.measures_time()
    }

    fn part(&mut self, name: &str, span: &ChainSpan) {
        self.observer.part(name, span);
    }

    fn step(&mut self, step: &ChainStep<'_>) {
        self.steps.record(step);
        self.observer.step(step);
    }

    fn phase(&mut self, span: &ChainSpan) {
        self.observer.phase(span);
    }

    fn admitted(&mut self, attributes: &Attributes<'_>) {
        self.observer.admitted(attributes);
    }
}
