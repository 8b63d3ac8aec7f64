//! Certificates that are read again when their files change.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pratique_metrics::Metrics;
use pratique_watch::{Loaded, LogMessages, Options, StartError, Version, Watched};

use crate::configz;
use crate::tls::{CertificateError, Certificates};

/// Reads certificates again when their files change, until it is dropped.
#[derive(Debug)]
pub struct Rotation {
    watched: Vec<Watched<()>>,
}

impl Rotation {
    /// Begins to look at the directories that the files are in. Files that are put there by a swap of links, as in a
    /// mounted Secret, are seen too; files that cannot be used are told to logs, and change nothing.
    ///
    /// # Errors
    /// When the files cannot be used by now, or cannot be watched.
    pub fn start(
        certificates: &Arc<Certificates>,
        metrics: &Metrics,
    ) -> Result<Self, StartError<CertificateError>> {
        count(certificates, metrics);
        let watched = directories(certificates)
            .into_iter()
            .map(|directory| watch(&directory, certificates, metrics));
        Ok(Rotation {
            watched: watched.collect::<Result<_, _>>()?,
        })
    }

    /// Whether files are not looked at any more: the thread that did ended by a panic.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.watched.iter().any(|own| !own.is_running())
    }
}

/// Counts certificates that are in use from now on.
fn count(certificates: &Certificates, metrics: &Metrics) {
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
        recovered: "certificates are again what is in use",
        unsettled: "certificates may be unfinished, keeping what is in use",
        unwatched: "watching certificates",
    };
    let (own, metrics) = (certificates.clone(), metrics.clone());
    let load = move |_: &Path, _: Option<&Version<()>>| -> Result<Loaded<()>, CertificateError> {
        match own.reload() {
            Ok(true) => count(&own, &metrics),
            Ok(false) => {}
            Err(error) => {
                metrics.certificates_failed();
                return Err(error);
            }
        }
        Ok(Loaded::New {
            value: (),
            hash: own.hash(),
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
