//! Certificates that are read again when their files change.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pratique_watch::{Loaded, Options, StartError, Version, Watched, Wording};

use crate::tls::{CertificateError, Certificates};

/// Reads certificates again when their files change, until it is dropped.
#[derive(Debug)]
pub struct Rotation {
    _watched: Vec<Watched<()>>,
}

impl Rotation {
    /// Begins to look at the directories that the files are in. Files that are put there by a swap of links, as in a
    /// mounted Secret, are seen too; files that cannot be used are told to logs, and change nothing.
    ///
    /// # Errors
    /// When the files cannot be used by now, or cannot be watched.
    pub fn start(certificates: &Arc<Certificates>) -> Result<Self, StartError<CertificateError>> {
        let watched = directories(certificates)
            .into_iter()
            .map(|directory| watch(&directory, certificates));
        Ok(Rotation {
            _watched: watched.collect::<Result<_, _>>()?,
        })
    }
}

fn watch(
    directory: &Path,
    certificates: &Arc<Certificates>,
) -> Result<Watched<()>, StartError<CertificateError>> {
    let wording = Wording {
        plugin: "certificates".into(),
        reloaded: "reloaded certificates",
        failed: "reloading certificates",
        unwatched: "watching certificates",
    };
    let own = certificates.clone();
    let load = move |_: &Path, _: Option<&Version<()>>| -> Result<Loaded<()>, CertificateError> {
        own.reload()?;
        Ok(Loaded::New {
            value: (),
            hash: own.hash(),
        })
    };
    Watched::start(
        directory,
        Options {
            wording,
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
