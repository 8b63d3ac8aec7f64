//! Prints the webhook configurations that register the server.

use std::time::Duration;

use pratique::Configurations;
use pratique::live::Source as _;
use pratique_json::base64;
use pratique_manifest::{MAX_CONFIGURATION_BYTES, ManifestSet, read_regular};
use pratique_schema::Release;
use pratique_server::{Endpoint, WebhookRegistration};

use super::admission::LiveAdmission;
use super::logging::ServerLogging;
use crate::arguments::{RegistrationArguments, ServeArguments};
use crate::exit::{CliError, ExitStatus};
use crate::output;
use crate::output::text::text;
use crate::serve::serve_error::ServeError;

/// How long to wait for the followed configuration.
const FOLLOW_TIMEOUT: Duration = Duration::from_secs(30);

/// The note if there is no `caBundle`.
const NO_CA_BUNDLE: &str = "note: there is no caBundle: an API server trusts this server only if the roots of its own system do. \
    Give the root with --webhook-ca, or have cert-manager fill it in with --webhook-ca-from";

/// Prints the configurations as YAML.
pub(super) fn print(
    arguments: &ServeArguments,
    admission: &LiveAdmission,
    logging: &ServerLogging,
) -> Result<ExitStatus, CliError> {
    let release = admission.gates.release();
    let (arguments, plugins) = (&arguments.registration, &arguments.plugins);
    let mut all: Vec<Configurations> = admission
        .live
        .manifests()
        .iter()
        .map(|set| ManifestSet::clone(set).into())
        .collect();
    all.extend(admission.api.iter().cloned());
    if let Some(followed) = &admission.cluster.followed {
        wait(admission)?;
        all.extend(
            followed
                .current()
                .map(|configurations| Configurations::clone(&configurations)),
        );
    }
    let mut objects = Vec::new();
    for object in registration(arguments, release)?.objects(&all, plugins) {
        let bytes = object.to_string();
        let value = pratique_json::parse(bytes.as_bytes())
            .map_err(|error| CliError::Serve(ServeError::Serve(error.to_string())))?;
        objects.push(value.into_owned());
    }
    output::print_yaml(&objects)?;
    if objects.is_empty() {
        output::eprint(&text!(
            "note: there are no bindings, no webhooks and no plugins: an API server has nothing to send\n"
        ));
        return Ok(ExitStatus::Success);
    }
    if arguments.webhook_ca.is_none() && arguments.webhook_ca_from.is_none() {
        logging.note(&text!("{}\n", NO_CA_BUNDLE));
    }
    Ok(ExitStatus::Success)
}

/// Waits until the followed configuration is known.
fn wait(admission: &LiveAdmission) -> Result<(), CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(|error| CliError::Serve(ServeError::Serve(error.to_string())))?;
    let ready =
        runtime.block_on(async { tokio::time::timeout(FOLLOW_TIMEOUT, admission.live.ready()).await });
    match ready {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(CliError::Serve(ServeError::Serve(error.to_string()))),
        Err(_) => {
            let problems = admission.cluster.problems()();
            Err(CliError::Serve(ServeError::Serve(format!(
                "the cluster is not known: {}",
                problems.join("; ")
            ))))
        }
    }
}

fn registration(
    arguments: &RegistrationArguments,
    release: &'static Release,
) -> Result<WebhookRegistration, CliError> {
    let ca_bundle = match &arguments.webhook_ca {
        Some(path) => base64::encode(
            &read_regular(path, MAX_CONFIGURATION_BYTES).map_err(|error| CliError::unread(path, error))?,
        ),
        None => String::new(),
    };
    let from = arguments.webhook_ca_from.clone();
    Ok(WebhookRegistration {
        name: arguments.webhook_name.clone(),
        endpoint: endpoint(arguments),
        ca_bundle,
        annotations: from
            .map(|certificate| ("cert-manager.io/inject-ca-from".into(), certificate))
            .into_iter()
            .collect(),
        exempt_namespaces: arguments.exempt_namespace.clone(),
        exempt_labels: arguments.exempt_namespace_label.clone(),
        timeout: arguments.webhook_timeout,
        release,
    })
}

/// How API servers reach this server.
pub(super) fn endpoint(arguments: &RegistrationArguments) -> Endpoint {
    let service = &arguments.webhook_service;
    match &arguments.webhook_url {
        Some(url) => Endpoint::Url(url.clone()),
        None => Endpoint::Service {
            namespace: service.namespace.clone(),
            name: service.name.clone(),
            port: service.port,
        },
    }
}
