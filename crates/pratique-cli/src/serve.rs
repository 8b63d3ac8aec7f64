//! `pratique serve`: serves AdmissionReviews.

mod admission;
mod cluster;
mod files;
mod followed_server;
mod log_writer;
mod logging;
mod plugins;
mod pod_security_metrics;
mod policy_files;
mod record;
mod registration;
mod sample_request;
pub(crate) mod serve_error;
mod signals;
mod undefined_resources;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use pratique::Live;
use pratique_audit::{Level, Log, LogOptions, Target};
use pratique_metrics::Metrics;
use pratique_server::{
    CertificateFiles, CertificateRotation, Certificates, ConnectionDrain, LastReloads, Limits, LiveHandler,
    Server, Settings, UnknownState,
};
use tokio::runtime;

use crate::STACK;
use crate::arguments::{AuditLevel, CertificateArguments, LimitArguments, LogLevel, ServeArguments};
use crate::exit::{CliError, ExitStatus};
use crate::memory;
use crate::output::text::{PrintableText, text};
use crate::serve::serve_error::ServeError;
use admission::{LiveAdmission, LoadFailure};
use cluster::ClusterContext;
use logging::ServerLogging;
use policy_files::PolicyFiles;
use sample_request::SampleRequest;

/// How long shutdown waits for background tasks.
const LAST_TASKS: Duration = Duration::from_secs(2);
/// How long shutdown waits for audit events to be written.
const LAST_EVENTS: Duration = Duration::from_secs(5);
/// How long shutdown may take after the drain: more than the sum of the above.
const END: Duration = Duration::from_secs(10);

/// Serves until a signal ends it; succeeds if all requests were answered.
pub(crate) fn run(arguments: &ServeArguments) -> Result<ExitStatus, CliError> {
    let level = if arguments.registration.print_webhook_configuration {
        LogLevel::Warn
    } else {
        arguments.log_level
    };
    let logging = logging::start(arguments.logging_format, level).map_err(CliError::Thread)?;
    let ended = start(arguments, &logging).map_err(|error| match error {
        CliError::BrokenPipe => error,
        error => {
            logging.fail(&error.to_text());
            CliError::Logged
        }
    });
    logging.flush();
    ended
}

fn start(arguments: &ServeArguments, logging: &ServerLogging) -> Result<ExitStatus, CliError> {
    let is_served = !arguments.registration.print_webhook_configuration;
    if let Some(plugin) = arguments
        .plugin_counting_anonymous_reviews()
        .filter(|_| is_served)
    {
        return Err(CliError::Serve(ServeError::AnonymousReviews { plugin }));
    }
    let files = files::raise();
    let metrics = Metrics::new(&identity(arguments));
    logging.writer.count_in(&metrics);
    let admission = match admission::start(arguments, &metrics) {
        Ok(admission) => admission,
        Err(LoadFailure::Cli(error)) => return Err(error),
        Err(LoadFailure::Invalid(text)) => {
            logging.fail(&text);
            return Ok(ExitStatus::Failure);
        }
    };
    if arguments.registration.print_webhook_configuration {
        return registration::print(arguments, &admission, logging);
    }
    let LiveAdmission {
        live,
        gates,
        reloads,
        cluster,
        api,
        policy_files,
        followed_files,
    } = admission;
    let namespace = cluster.sample_namespace.clone();
    let reviewer = reviewer(live.clone(), reloads, cluster);
    let release = gates.release().to_string();
    tracing::info!(release, "Deciding as an API server of Kubernetes");
    let reviewer = reviewer.with_kubernetes_version(&release);
    let reviewer = followed_files.into_iter().fold(reviewer, LiveHandler::following);
    if let Some(unknown) = reviewer.unknown_state() {
        logging.fail(&text!("error: {}: {}\n", unknown, help_for(&unknown)));
        return Ok(ExitStatus::Failure);
    }
    let addresses = arguments
        .listen
        .addresses()
        .map_err(|error| listen_error(arguments, &error))?;
    let health = match &arguments.health_listen {
        Some(listen) => listen.addresses().map_err(|error| {
            CliError::Serve(ServeError::Serve(format!("cannot listen at {listen}: {error}")))
        })?,
        None => Vec::new(),
    };
    let certificates = certificates(arguments, &addresses)?;
    let rotation = certificates
        .as_ref()
        .map(|certificates| CertificateRotation::start(certificates, &metrics));
    let rotation = rotation
        .transpose()
        .map_err(|error| CliError::Serve(ServeError::Serve(error.to_string())))?
        .map(Arc::new);
    let limits = limits(&arguments.limits, files);
    let audit = audit(arguments, &limits)?;
    let recorder = record::start(&arguments.record, &limits)?;
    let mut page_hosts = arguments.status_page_hosts.clone();
    page_hosts.extend(arguments.listen.name().map(str::to_owned));
    let settings = Settings {
        limits,
        metrics,
        health,
        audit: audit.clone(),
        recorder: recorder.clone(),
        certificates,
        rotation: rotation.clone(),
        protected_metrics: arguments.certificates.protect_metrics,
        page: !arguments.no_status_page,
        page_hosts,
    };
    let has_policies = arguments.has_policies() || !arguments.policies.paths.policies.is_empty();
    let sample = if has_policies {
        SampleRequest::new(gates.release(), &live.manifests(), &api, &arguments.plugins)
    } else {
        SampleRequest::of_standards()
    };
    let sample = match namespace {
        Some(namespace) => sample.in_namespace(&namespace),
        None => sample,
    };
    let sample = sample.defaulted(gates);
    let runtime = runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(STACK)
        .build()
        .map_err(|error| CliError::Serve(ServeError::Serve(error.to_string())))?;
    let serving = serve(arguments, &addresses, reviewer, settings, (logging, &sample));
    let answered = runtime.block_on(serving)?;
    runtime.shutdown_background();
    stop(live, rotation, policy_files);
    if let Some(counts) = audit
        .map(|log| log.close(LAST_EVENTS))
        .filter(|counts| counts.dropped > 0)
    {
        tracing::warn!(dropped = counts.dropped, "Audit events were lost");
    }
    if let Some(counts) = recorder
        .map(|recorder| recorder.close(LAST_EVENTS))
        .filter(|counts| counts.dropped > 0)
    {
        tracing::warn!(dropped = counts.dropped, "Requests of the record were lost");
    }
    Ok(ExitStatus::from_holds(answered))
}

/// How to give missing cluster state.
fn help_for(unknown: &UnknownState) -> &'static str {
    match unknown {
        UnknownState::Authorizer { .. } if cfg!(feature = "kube") => "name one with --cluster",
        UnknownState::Authorizer { .. } => "this binary has no client of clusters",
        _ if cfg!(feature = "kube") => "give them with --cluster or --cluster-objects",
        _ => "give them with --cluster-objects",
    }
}

/// Stops background tasks, and waits for them with a timeout: a file system may hang.
fn stop(live: Live, rotation: Option<Arc<CertificateRotation>>, policy_files: Option<PolicyFiles>) {
    let (done, stopped) = mpsc::sync_channel(1);
    let stopping = thread::Builder::new().spawn(move || {
        live.stop();
        drop((live, rotation, policy_files));
        // The receiver may have timed out.
        let _ = done.send(());
    });
    if stopping.is_ok() && stopped.recv_timeout(LAST_TASKS).is_err() {
        tracing::warn!("Background tasks did not end in time");
    }
}

fn reviewer(live: Live, reloads: LastReloads, cluster: ClusterContext) -> LiveHandler {
    let problems = cluster.problems();
    let reviewer = LiveHandler::new(live, reloads, cluster.cluster).with_problems(problems);
    match cluster.followed {
        Some(followed) => reviewer.following(followed),
        None => reviewer,
    }
}

async fn serve(
    arguments: &ServeArguments,
    addresses: &[SocketAddr],
    reviewer: LiveHandler,
    settings: Settings,
    (logging, sample): (&ServerLogging, &SampleRequest),
) -> Result<bool, CliError> {
    let scheme = if settings.certificates.is_some() {
        "https"
    } else {
        "http"
    };
    let page = settings.page;
    let is_self_signed = settings
        .certificates
        .as_ref()
        .is_some_and(|certificates| certificates.files().is_none());
    let listening = signals::listen().map_err(CliError::Thread)?;
    let server = Server::bind_all(addresses, Arc::new(reviewer), settings).await;
    let server = server.map_err(|error| listen_error(arguments, &error))?;
    let address = server
        .address()
        .map_err(|error| listen_error(arguments, &error))?;
    let reached = match (arguments.listen.name(), address.ip().is_unspecified()) {
        (Some(name), _) => format!("{name}:{}", address.port()),
        (None, true) => format!("localhost:{}", address.port()),
        (None, false) => address.to_string(),
    };
    if let Some(address) = server.health_address() {
        tracing::info!(address = %address, "Serving health and metrics");
    }
    let curl = curl_command(scheme, &reached, sample);
    let tries = is_self_signed || scheme == "http";
    if tries && !logging.is_text() {
        tracing::info!(address = %address, scheme, try = curl, "Serving")
    } else {
        tracing::info!(address = %address, scheme, "Serving")
    }
    if tries && logging.is_text() {
        logging.note(&greeting(scheme, &reached, page, &curl));
    }
    let drain = ConnectionDrain {
        delay: arguments.shutdown_delay_duration,
        grace: arguments.drain_grace,
    };
    listening
        .start(server.shutdown(), drain, END)
        .map_err(CliError::Thread)?;
    Ok(server.run().await)
}

fn listen_error(arguments: &ServeArguments, error: &io::Error) -> CliError {
    CliError::Serve(ServeError::Serve(format!(
        "cannot listen at {}: {error}",
        arguments.listen
    )))
}

/// The message at the start, with a command to try the server.
fn greeting(scheme: &str, reached: &str, page: bool, curl: &str) -> PrintableText {
    let page = if page {
        "Open it in a browser, or try"
    } else {
        "Try"
    };
    text!("Serving at {}://{}. {}:\n\n  {}\n\n", scheme, reached, page, curl)
}

/// A shell command that sends a sample request.
fn curl_command(scheme: &str, reached: &str, SampleRequest { path, review }: &SampleRequest) -> String {
    let options = if scheme == "https" { "-sk" } else { "-s" };
    format!("curl {options} {scheme}://{reached}{path} -H 'Content-Type: application/json' -d '{review}'")
}

fn identity(arguments: &ServeArguments) -> String {
    let named = arguments.identity.clone();
    named
        .or_else(|| std::env::var("HOSTNAME").ok())
        .unwrap_or_else(|| "pratique".into())
}

fn certificates(
    arguments: &ServeArguments,
    addresses: &[SocketAddr],
) -> Result<Option<Arc<Certificates>>, CliError> {
    let CertificateArguments {
        tls_cert_file,
        tls_private_key_file,
        client_ca_file,
        plain_http,
        protect_metrics: _,
        count_anonymous_reviews: _,
    } = &arguments.certificates;
    let certificates = match (tls_cert_file, tls_private_key_file) {
        (Some(certificate), Some(key)) => Certificates::load(CertificateFiles {
            certificate: certificate.clone(),
            key: key.clone(),
            client_ca: client_ca_file.clone(),
        }),
        _ if *plain_http => return Ok(None),
        _ => {
            let mut names = vec!["localhost".to_owned()];
            names.extend(arguments.listen.name().map(str::to_owned));
            names.extend(addresses.iter().map(|address| address.ip().to_string()));
            names.dedup();
            Certificates::development(names)
        }
    };
    certificates
        .map(|certificates| Some(Arc::new(certificates)))
        .map_err(|error| CliError::Serve(ServeError::Serve(error.to_string())))
}

/// Part of the memory is for events: an eighth, if it is less than they need.
fn audit(arguments: &ServeArguments, limits: &Limits) -> Result<Option<Log>, CliError> {
    let Some(name) = &arguments.audit_log_path else {
        return Ok(None);
    };
    let level = match arguments.audit_level {
        AuditLevel::Metadata => Level::Metadata,
        AuditLevel::Request => Level::Request,
    };
    let usual = LogOptions::new(Target::from_name(name), level);
    let options = LogOptions {
        secrets: arguments.audit_secrets,
        bytes: usual.bytes.min(limits.memory / 8),
        ..usual
    };
    let log = Log::start(options);
    log.map(Some)
        .map_err(|error| CliError::Serve(ServeError::Serve(error.to_string())))
}

fn limits(arguments: &LimitArguments, files: Option<u64>) -> Limits {
    let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    Limits {
        body: usize::from(arguments.max_body) << 20,
        memory: arguments
            .max_memory
            .map_or_else(memory::requests, |mebibytes| u64::from(mebibytes) << 20)
            .try_into()
            .unwrap_or(usize::MAX),
        requests: count(arguments.max_requests_inflight),
        connections: count(files::connections(arguments.max_connections, files)),
        ..Limits::default()
    }
}
