//! Reloading of certificates when their files change.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pratique_metrics::Metrics;
use pratique_watch::{Loaded, LogMessages, Options, StartError, Version, Watched};

use crate::configz;
use crate::tls::{CertificateError, Certificates};

/// Reloads certificates when their files change, until it is dropped.
#[derive(Debug)]
pub struct Rotation {
    watched: Vec<Watched<()>>,
}

impl Rotation {
    /// Starts watching the directories of the files. Swaps of links, as in a mounted Secret, are noticed as well. Files that
    /// cannot be used are logged and change nothing.
    ///
    /// # Errors
    /// If the files cannot be used by now, or cannot be watched.
    pub fn start(
        certificates: &Arc<Certificates>,
        metrics: &Metrics,
    ) -> Result<Self, StartError<CertificateError>> {
        record(certificates, metrics);
        let watched = directories(certificates)
            .into_iter()
            .map(|directory| watch(&directory, certificates, metrics));
        Ok(Rotation {
            watched: watched.collect::<Result<_, _>>()?,
        })
    }

    /// Whether a thread that watches the files ended by a panic.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.watched.iter().any(|watched| !watched.is_running())
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
    directory: &Path,
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
    let (certificates, metrics) = (certificates.clone(), metrics.clone());
    let load = move |_: &Path, _: Option<&Version<()>>| -> Result<Loaded<()>, CertificateError> {
        match certificates.reload() {
            Ok(true) => record(&certificates, &metrics),
            Ok(false) => {}
            Err(error) => {
                metrics.certificates_failed();
                return Err(error);
            }
        }
        Ok(Loaded::New {
            value: (),
            hash: certificates.hash(),
        })
    };
    Watched::start(
        directory,
        Options {
            log_messages,
            ..Options::default()
        },
        load,
        (),
    )
}

fn directories(certificates: &Certificates) -> BTreeSet<PathBuf> {
    let Some(files) = certificates.files() else {
        return BTreeSet::new();
    };
    let all = [
        Some(&files.certificate),
        Some(&files.key),
        files.client_ca.as_ref(),
    ];
    let parent = |path: &PathBuf| match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
        Some(parent) => parent.to_owned(),
        None => path.clone(),
    };
    all.into_iter().flatten().map(parent).collect()
}
