//! Reloading of certificates when their files change.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pratique_metrics::Metrics;
use pratique_watch::{LoadResult, LogMessages, StartError, Version, WatchOptions, Watched};

use crate::configz;
use crate::tls::{CertificateError, CertificateReload, Certificates};

/// Reloads certificates when their files change, until it is dropped.
#[derive(Debug)]
pub struct CertificateRotation {
    watched: Option<Watched<()>>,
}

impl CertificateRotation {
    /// Starts watching the files. Swaps of links, as in a mounted Secret, are noticed as well. Files that cannot be used are
    /// logged and change nothing, and files that are rewritten in place are waited for.
    ///
    /// # Errors
    /// If the files cannot be used by now, or cannot be watched.
    pub fn start(
        certificates: &Arc<Certificates>,
        metrics: &Metrics,
    ) -> Result<Self, StartError<CertificateError>> {
        record(certificates, metrics);
        let paths = paths(certificates);
        let watched = if paths.is_empty() {
            None
        } else {
            Some(watch(paths, certificates, metrics)?)
        };
        Ok(CertificateRotation { watched })
    }

    /// Whether the thread that watches the files ended by a panic.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.watched.as_ref().is_some_and(|watched| !watched.is_running())
    }
}

/// Records new certificates in metrics.
fn record(certificates: &Certificates, metrics: &Metrics) {
    let expirations = certificates.expirations();
    let all = [
        (configz::SERVING, expirations.serving),
        (configz::CLIENT_CA, expirations.client_ca),
    ];
    for (name, at) in all {
        if let Some(at) = at {
            metrics.certificate_expires(name, at);
        }
    }
    metrics.certificates_loaded();
}

fn watch(
    paths: Vec<PathBuf>,
    certificates: &Arc<Certificates>,
    metrics: &Metrics,
) -> Result<Watched<()>, StartError<CertificateError>> {
    let log_messages = LogMessages {
        plugin: "certificates".into(),
        reloaded: "reloaded certificates",
        failed: "reloading certificates",
        recovered: "certificates match those in use again",
        unsettled: "certificates may be unfinished, keeping those in use",
        unwatched: "watching certificates",
    };
    let mut rewrites = certificates.rewrites().map_err(StartError::Load)?;
    let (certificates, metrics) = (certificates.clone(), metrics.clone());
    let load = move |_: &Path, current: Option<&Version<()>>| -> Result<LoadResult<()>, CertificateError> {
        // The first load only compares: the certificates were loaded before.
        match certificates.reload_stable(&mut rewrites) {
            Ok(CertificateReload::Changed) => record(&certificates, &metrics),
            Ok(CertificateReload::Unchanged) => {}
            Ok(CertificateReload::Unstable(unstable)) if current.is_some() => {
                return Ok(LoadResult::Unsettled {
                    reason: unstable.to_string(),
                    retry_after: unstable.retry_after,
                });
            }
            // What changes meanwhile is an event.
            Ok(CertificateReload::Unstable(_)) => {}
            Err(error) => {
                metrics.certificates_failed();
                return Err(error);
            }
        }
        Ok(LoadResult::New {
            value: (),
            hash: certificates.hash(),
        })
    };
    Watched::start_all(
        paths,
        WatchOptions {
            log_messages,
            ..WatchOptions::default()
        },
        load,
        (),
    )
}

fn paths(certificates: &Certificates) -> Vec<PathBuf> {
    let Some(files) = certificates.files() else {
        return Vec::new();
    };
    let paths = [
        Some(&files.certificate),
        Some(&files.key),
        files.client_ca.as_ref(),
    ];
    paths.into_iter().flatten().cloned().collect()
}
