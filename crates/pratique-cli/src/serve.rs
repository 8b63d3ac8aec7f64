//! `pratique serve`: answers an API server.

mod cluster;
mod judged;
mod logging;
mod registration;
mod signals;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use pratique::Live;
use pratique_audit::{Level, Log, Options, Target};
use pratique_metrics::Metrics;
use pratique_server::{
    CertificateFiles, Certificates, Limits, LiveReviewer, Reloads, Rotation, Server, Settings, Unknown,
};
use tokio::runtime;

use crate::STACK;
use crate::arguments::{AuditLevel, CertificateArguments, LimitArguments, LogLevel, ServeArguments};
use crate::exit::{Answer, Trouble};
use crate::output;
use cluster::Known;
use judged::Unusable;

/// How long to wait for audit events to be written in the end.
const LAST_EVENTS: Duration = Duration::from_secs(5);

/// Serves until a signal ends it, and answers whether all requests were answered.
pub(crate) fn run(arguments: &ServeArguments) -> Result<Answer, Trouble> {
    let level = match arguments.registration.print_webhook_configuration {
        true => LogLevel::Warn,
        false => arguments.log_level,
    };
    logging::start(arguments.log_format, level);
    let metrics = Metrics::new(&identity(arguments));
    let judged = match judged::start(arguments, &metrics) {
        Ok(judged) => judged,
        Err(Unusable::Trouble(trouble)) => return Err(trouble),
        Err(Unusable::Invalid(text)) => {
            output::note(&text);
            return Ok(Answer::No);
        }
    };
    if arguments.registration.print_webhook_configuration {
        return registration::print(&arguments.registration, &judged);
    }
    let reviewer = reviewer(judged.live.clone(), judged.reloads, judged.known);
    if let Some(unknown) = reviewer.unknown() {
        output::note(&format!("error: {unknown}: {}\n", remedy(&unknown)));
        return Ok(Answer::No);
    }
    let certificates = certificates(&arguments.certificates, arguments.listen)?;
    let rotation = certificates.as_ref().map(Rotation::start).transpose();
    let _rotation = rotation.map_err(|error| Trouble::Serve(error.to_string()))?;
    let audit = audit(arguments)?;
    let settings = Settings {
        limits: limits(&arguments.limits),
        metrics,
        audit: audit.clone(),
        certificates,
        page: !arguments.no_status_page,
    };
    let runtime = runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(STACK)
        .build()
        .map_err(|error| Trouble::Serve(error.to_string()))?;
    let answered = runtime.block_on(serve(arguments, reviewer, settings))?;
    runtime.shutdown_background();
    judged.live.stop();
    if let Some(counts) = audit
        .map(|log| log.close(LAST_EVENTS))
        .filter(|counts| counts.dropped > 0)
    {
        tracing::warn!(dropped = counts.dropped, "Audit events were lost");
    }
    Ok(Answer::of(answered))
}

/// What makes known what is not.
fn remedy(unknown: &Unknown) -> &'static str {
    match unknown {
        Unknown::Authorizer { .. } if cfg!(feature = "kube") => "name one with --cluster",
        Unknown::Authorizer { .. } => "this binary has no client of clusters",
        _ if cfg!(feature = "kube") => "give them with --cluster or --cluster-objects",
        _ => "give them with --cluster-objects",
    }
}

fn reviewer(live: Live, reloads: Reloads, known: Known) -> LiveReviewer {
    let problems = known.problems();
    let reviewer = LiveReviewer::new(live, reloads, known.cluster).with_problems(problems);
    match known.followed {
        Some(followed) => reviewer.following(followed),
        None => reviewer,
    }
}

async fn serve(
    arguments: &ServeArguments,
    reviewer: LiveReviewer,
    settings: Settings,
) -> Result<bool, Trouble> {
    let trouble =
        |error: std::io::Error| Trouble::Serve(format!("cannot listen at {}: {error}", arguments.listen));
    let scheme = if settings.certificates.is_some() {
        "https"
    } else {
        "http"
    };
    let page = settings.page;
    let own_certificate = settings
        .certificates
        .as_ref()
        .is_some_and(|own| own.files().is_none());
    let server = Server::bind(arguments.listen, Arc::new(reviewer), settings)
        .await
        .map_err(trouble)?;
    let address = server.address().map_err(trouble)?;
    tracing::info!(address = %address, scheme, "Serving");
    if own_certificate || scheme == "http" {
        output::note(&greeting(scheme, address, page));
    }
    let (delay, grace) = (
        Duration::from_secs(arguments.drain_delay),
        Duration::from_secs(arguments.drain_grace),
    );
    tokio::spawn(signals::end(server.shutdown(), delay, grace));
    Ok(server.run().await)
}

/// How to try it.
fn greeting(scheme: &str, address: SocketAddr, page: bool) -> String {
    let page = if page {
        "Open it in a browser, or try"
    } else {
        "Try"
    };
    let options = if scheme == "https" { "-sk" } else { "-s" };
    let review = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"CREATE","kind":{"group":"","version":"v1","kind":"Pod"},"resource":{"group":"","version":"v1","resource":"pods"},"namespace":"default","name":"demo","userInfo":{"username":"me"},"object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"demo","namespace":"default"},"spec":{"hostNetwork":true,"containers":[{"name":"demo","image":"demo"}]}}}}"#;
    format!(
        "Serving at {scheme}://{address}. {page}:\n\n  \
         curl {options} {scheme}://{address}/validate -H 'Content-Type: application/json' -d '{review}'\n\n"
    )
}

fn identity(arguments: &ServeArguments) -> String {
    let named = arguments.identity.clone();
    named
        .or_else(|| std::env::var("HOSTNAME").ok())
        .unwrap_or_else(|| "pratique".into())
}

fn certificates(
    arguments: &CertificateArguments,
    address: SocketAddr,
) -> Result<Option<Arc<Certificates>>, Trouble> {
    let CertificateArguments {
        tls_cert,
        tls_key,
        client_ca,
        plain_http,
    } = arguments;
    let certificates = match (tls_cert, tls_key) {
        (Some(certificate), Some(key)) => Certificates::load(CertificateFiles {
            certificate: certificate.clone(),
            key: key.clone(),
            client_ca: client_ca.clone(),
        }),
        _ if *plain_http => return Ok(None),
        _ => Certificates::development(vec!["localhost".into(), address.ip().to_string()]),
    };
    certificates
        .map(|own| Some(Arc::new(own)))
        .map_err(|error| Trouble::Serve(error.to_string()))
}

fn audit(arguments: &ServeArguments) -> Result<Option<Arc<Log>>, Trouble> {
    let Some(name) = &arguments.audit_log else {
        return Ok(None);
    };
    let level = match arguments.audit_level {
        AuditLevel::Metadata => Level::Metadata,
        AuditLevel::Request => Level::Request,
    };
    let log = Log::start(Options::new(Target::of(name), level));
    log.map(|log| Some(Arc::new(log)))
        .map_err(|error| Trouble::Serve(error.to_string()))
}

fn limits(arguments: &LimitArguments) -> Limits {
    let count = |own: u32| usize::try_from(own).unwrap_or(usize::MAX);
    Limits {
        body: usize::from(arguments.max_body) << 20,
        bodies: usize::from(arguments.max_bodies) << 20,
        requests: count(arguments.max_requests),
        connections: count(arguments.max_connections),
        ..Limits::default()
    }
}
