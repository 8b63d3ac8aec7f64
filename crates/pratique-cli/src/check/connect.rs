//! `--connect`: probes the configured webhooks.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use pratique_manifest::{Kind, Location, ObjectName};
use pratique_webhook::transport::{Certificate, CredentialSource, NoCredentials};
use pratique_webhook::{HttpCaller, ProbeResult, probe_mutating, probe_validating};

use super::loaded_plugin::LoadedPlugin;
use crate::exit::CliError;
use crate::output::catalog;
use crate::output::finding::{FindingSeverity, OutputFinding};
use crate::output::text::{PrintableText, text};
use crate::style::{StreamStyle, TextTone};

/// A webhook that was probed.
pub(super) struct ProbedWebhook {
    /// Its configuration, and where that is.
    object: ObjectName,
    location: Location,
    pub(super) probed: ProbeResult,
}

impl ProbedWebhook {
    fn new(kind: Kind, name: &str, location: &Location, probed: ProbeResult) -> Self {
        ProbedWebhook {
            object: ObjectName {
                kind,
                name: name.to_owned(),
            },
            location: location.clone(),
            probed,
        }
    }

    /// The name of its configuration.
    pub(super) fn configuration(&self) -> &str {
        &self.object.name
    }

    /// Whether it responds.
    pub(super) fn is_ok(&self) -> bool {
        self.probed.answered.is_ok()
    }

    /// The finding that it does not respond.
    pub(super) fn finding(&self) -> Option<OutputFinding<'_>> {
        let message = self.probed.answered.as_ref().err()?;
        Some(OutputFinding {
            severity: FindingSeverity::Denied,
            name: catalog::UNANSWERED_WEBHOOK,
            message,
            summary: None,
            field: None,
            object: Some(&self.object),
            location: Some(&self.location),
            input: "",
            help: None,
            example: None,
            stops_server: false,
        })
    }
}

/// Probes the webhooks of all plugins, with the credentials of each plugin.
pub(super) fn connect(plugins: &[LoadedPlugin]) -> Result<Vec<ProbedWebhook>, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(CliError::Thread)?;
    let mut connections = Vec::new();
    for plugin in plugins {
        let credentials: Arc<dyn CredentialSource> = match &plugin.kube_config {
            Some(config) => Arc::new(config.clone()),
            None => Arc::new(NoCredentials),
        };
        let caller = HttpCaller::builder().credentials(credentials).build();
        let sets = &plugin.manifests;
        for loaded in &sets.mutating_webhooks {
            let probed = runtime.block_on(probe_mutating(&loaded.object, &caller));
            let name = loaded.object.metadata.name.as_deref().unwrap_or_default();
            let location = loaded.source.locate(&[]);
            let of = |probed| ProbedWebhook::new(Kind::MutatingWebhookConfiguration, name, &location, probed);
            connections.extend(probed.into_iter().map(of));
        }
        for loaded in &sets.validating_webhooks {
            let probed = runtime.block_on(probe_validating(&loaded.object, &caller));
            let name = loaded.object.metadata.name.as_deref().unwrap_or_default();
            let location = loaded.source.locate(&[]);
            let of =
                |probed| ProbedWebhook::new(Kind::ValidatingWebhookConfiguration, name, &location, probed);
            connections.extend(probed.into_iter().map(of));
        }
    }
    Ok(connections)
}

/// The result as text.
pub(super) fn connection_text(connection: &ProbedWebhook, style: StreamStyle) -> PrintableText {
    let ProbeResult {
        webhook,
        url,
        certificate,
        answered,
    } = &connection.probed;
    let mut out = text!(
        "\n{} {} {}\n",
        style.paint(TextTone::Place, connection.configuration()),
        webhook,
        style.paint(TextTone::Faint, url)
    );
    if let Some(certificate) = certificate {
        out.push(&text!("  {}\n", described(certificate)));
    }
    out.push(&match answered {
        Ok(time) => text!(
            "  {} in {} ms\n",
            style.paint(TextTone::Good, "answers"),
            time.as_millis()
        ),
        Err(reason) => text!("  {}\n", style.paint(TextTone::Bad, reason)),
    });
    out
}

fn described(certificate: &Certificate) -> String {
    let addresses = certificate.addresses.iter().map(ToString::to_string);
    let names: Vec<String> = certificate.names.iter().cloned().chain(addresses).collect();
    let names = if names.is_empty() {
        "no names".to_owned()
    } else {
        names.join(", ")
    };
    format!(
        "certificate {} for {names}, until {}{}",
        certificate.subject,
        certificate.expires(),
        left(certificate.not_after)
    )
}

/// The remaining time, if it is short.
fn left(then: i64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let left = then.saturating_sub(i64::try_from(now.as_secs()).unwrap_or(i64::MAX));
    match left {
        ..0 => String::new(),
        0..172_800 => format!(" (in {} hours)", left / 3600),
        172_800..2_592_000 => format!(" (in {} days)", left / 86_400),
        _ => String::new(),
    }
}
