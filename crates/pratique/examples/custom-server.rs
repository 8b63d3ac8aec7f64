//! An admission server with a step of its own: `custom-server DIRECTORY [ADDRESS]` answers AdmissionReviews by the
//! ValidatingAdmissionPolicies of a directory, which may change meanwhile, and refuses images without a digest. It speaks
//! plain HTTP: put what ends TLS before it. It knows no cluster: namespaces exist, and what a policy reads of them besides
//! their names, or uses the authorizer, is undecided, and answered with a status that says so.

use std::error::Error;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, server::conn::http1};
use hyper_util::rt::TokioIo;
use pratique::json::Value;
use pratique::manifest::ManifestPlugin;
use pratique::observer::AdmissionPhase;
use pratique::step::{StepOutcome, StepPlace, step};
use pratique::types::AdmissionReview;
use pratique::{Admission, Attributes, Live};
use tokio::net::TcpListener;

type ServerFailure = Box<dyn Error + Send + Sync>;

/// The step: containers of all sorts are to say exactly what they run.
fn pinned(attributes: Attributes<'_>) -> StepOutcome {
    let list = |field| attributes.object.at(&["spec", field]).and_then(Value::as_array);
    let containers = ["initContainers", "containers", "ephemeralContainers"].map(list);
    let image = |container: &Value<'_>| container.get("image").and_then(Value::as_str).map(str::to_owned);
    let mut images = containers.into_iter().flatten().flatten().filter_map(image);
    match images.find(|image| !image.contains("@sha256:")) {
        Some(image) => StepOutcome::deny(format!("image {image:?} has no digest")),
        None => StepOutcome::allow(),
    }
}

/// The admission: policies, and the step before them.
pub(crate) fn live(directory: &str) -> Result<Live, ServerFailure> {
    let builder = Admission::builder()
        .directory(directory, ManifestPlugin::ValidatingAdmissionPolicy)
        .step(StepPlace::BeforeValidatingPolicies, step("pinned-images", pinned));
    Ok(builder.live().start()?)
}

/// Answers one review of a validating webhook.
async fn review(live: Live, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, ServerFailure> {
    let body = Limited::new(request.into_body(), 8 << 20)
        .collect()
        .await?
        .to_bytes();
    let review = AdmissionReview::parse(&body)?;
    let answer = live.answer(&review, AdmissionPhase::Validating).await?;
    Ok(Response::new(serde_json::to_vec(&answer)?.into()))
}

/// Serves until the listener fails. What no API server sends gets no answer.
pub(crate) async fn serve(listener: TcpListener, live: Live) -> Result<(), ServerFailure> {
    loop {
        let (stream, live) = (TokioIo::new(listener.accept().await?.0), live.clone());
        let service = service_fn(move |request| review(live.clone(), request));
        tokio::spawn(async { drop(http1::Builder::new().serve_connection(stream, service).await) });
    }
}

#[tokio::main]
pub(crate) async fn main() -> Result<(), ServerFailure> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments
        .next()
        .ok_or("usage: custom-server DIRECTORY [ADDRESS]")?;
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    serve(TcpListener::bind(address).await?, live(&directory)?).await
}
