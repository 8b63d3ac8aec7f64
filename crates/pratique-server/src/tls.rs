//! TLS certificates, which can be reloaded from their files.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use arc_swap::ArcSwap;
use pratique_gotext::hex::encode_to_string;
use pratique_manifest::{
    FileContent, MAX_CONFIGURATION_BYTES, ManifestFile, RewriteDetector, UnstableFile, path_text,
    read_with_state,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{RootCertStore, ServerConfig};
use sha2::{Digest, Sha256};

use crate::configz::{self, CertificateSource, ReloadAttempt};
use crate::expiry;

/// The files of certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    /// The certificate chain of the server, as PEM.
    pub certificate: PathBuf,
    /// The private key, as PEM.
    pub key: PathBuf,
    /// The roots of client certificates, as PEM. If set, only clients with a certificate may send reviews and view the
    /// configuration; otherwise, all clients may.
    pub client_ca: Option<PathBuf>,
}

/// An error of loading certificates.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The content of a file is invalid.
    #[error("{}: {message}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The problem.
        message: String,
    },
    /// The certificate and the key do not match, or cannot be used.
    #[error("the certificate cannot be used: {0}")]
    Unusable(String),
    /// TLS needs a crypto provider.
    #[error(transparent)]
    Provider(#[from] pratique_crypto::NoProvider),
}

/// The certificates of a server: the last ones that could be loaded.
#[derive(Debug)]
pub struct Certificates {
    files: Option<CertificateFiles>,
    current: ArcSwap<ServerConfig>,
    /// The state of the current content.
    state: Mutex<CertificateState>,
}

#[derive(Debug)]
struct CertificateState {
    hash: Vec<u8>,
    expirations: CertificateExpirations,
    loaded: SystemTime,
    last_reload: ReloadAttempt,
}

/// The result of a reload of certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CertificateReload {
    /// The content is that in use.
    Unchanged,
    /// New connections use the new content.
    Changed,
    /// A file may be incomplete: the content in use stays.
    Unstable(UnstableFile),
}

/// The earliest expiry of each kind of certificate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CertificateExpirations {
    /// The certificate chain of the server.
    pub(crate) serving: Option<SystemTime>,
    /// The roots of client certificates.
    pub(crate) client_ca: Option<SystemTime>,
}

impl CertificateState {
    fn loaded(hash: Vec<u8>, expirations: CertificateExpirations) -> Self {
        let now = SystemTime::now();
        CertificateState {
            hash,
            expirations,
            loaded: now,
            last_reload: ReloadAttempt { at: now, error: None },
        }
    }
}

impl Certificates {
    /// Loads certificates from files.
    ///
    /// # Errors
    /// If the files cannot be read or used.
    pub fn load(files: CertificateFiles) -> Result<Self, CertificateError> {
        let content = CertificateContent::read(&files)?;
        let (config, expirations) = content.config(&files)?;
        Ok(Certificates {
            files: Some(files),
            current: ArcSwap::from_pointee(config),
            state: Mutex::new(CertificateState::loaded(content.hash(), expirations)),
        })
    }

    /// Generates a self-signed certificate for these names and addresses, for development.
    ///
    /// # Errors
    /// If a name is invalid.
    pub fn development(names: Vec<String>) -> Result<Self, CertificateError> {
        let (chain, key) = self_signed(names)?;
        let expirations = CertificateExpirations {
            serving: expiry::earliest(&chain),
            client_ca: None,
        };
        Ok(Certificates {
            files: None,
            current: ArcSwap::from_pointee(config(chain, key, None)?),
            state: Mutex::new(CertificateState::loaded(Vec::new(), expirations)),
        })
    }

    /// Reloads the files, for new connections. Returns whether the content changed.
    ///
    /// # Errors
    /// If the files cannot be read or used; nothing changes then.
    pub fn reload(&self) -> Result<bool, CertificateError> {
        let reloaded = self.reload_if(|_| Ok(()))?;
        Ok(reloaded == CertificateReload::Changed)
    }

    /// Reloads the files, for new connections, unless one of them may be incomplete.
    ///
    /// # Errors
    /// As [`reload`](Self::reload).
    pub(crate) fn reload_stable(
        &self,
        rewrites: &mut RewriteDetector,
    ) -> Result<CertificateReload, CertificateError> {
        self.reload_if(|content| {
            let hash = encode_to_string(content.hash());
            if hash == self.hash() {
                rewrites.keep(content.files.clone())
            } else {
                rewrites.admit(content.files.clone(), &[], &hash)?
            }
            Ok(())
        })
    }

    /// The files as they are now, which are compared with later ones.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) fn rewrites(&self) -> Result<RewriteDetector, CertificateError> {
        let mut rewrites = RewriteDetector::default();
        if let Some(files) = &self.files {
            rewrites.accept(CertificateContent::read(files)?.files, &[]);
        }
        Ok(rewrites)
    }

    fn reload_if(
        &self,
        may_load: impl FnOnce(&CertificateContent) -> Result<(), UnstableFile>,
    ) -> Result<CertificateReload, CertificateError> {
        let Some(files) = &self.files else {
            return Ok(CertificateReload::Unchanged);
        };
        let reloaded = self.reload_from(files, may_load);
        let at = SystemTime::now();
        let mut state = self.state();
        match &reloaded {
            Err(error) => {
                let error = Some(error.to_string());
                state.last_reload = ReloadAttempt { at, error };
            }
            // After a failure, the content is again that in use.
            Ok(_) if state.last_reload.error.is_some() => {
                state.last_reload = ReloadAttempt { at, error: None }
            }
            Ok(_) => {}
        }
        reloaded
    }

    fn reload_from(
        &self,
        files: &CertificateFiles,
        may_load: impl FnOnce(&CertificateContent) -> Result<(), UnstableFile>,
    ) -> Result<CertificateReload, CertificateError> {
        let content = CertificateContent::read(files)?;
        let hash = content.hash();
        let is_unchanged = self.state().hash == hash;
        let next = if is_unchanged {
            None
        } else {
            Some(content.config(files)?)
        };
        if let Err(unstable) = may_load(&content) {
            return Ok(CertificateReload::Unstable(unstable));
        }
        let Some((config, expirations)) = next else {
            return Ok(CertificateReload::Unchanged);
        };
        let mut state = self.state();
        self.current.store(Arc::new(config));
        *state = CertificateState::loaded(hash, expirations);
        Ok(CertificateReload::Changed)
    }

    /// The state is consistent even after a panic: it is replaced as a whole.
    fn state(&self) -> MutexGuard<'_, CertificateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The files; `None` for a generated certificate.
    #[must_use]
    pub fn files(&self) -> Option<&CertificateFiles> {
        self.files.as_ref()
    }

    /// The hash of the content.
    pub(crate) fn hash(&self) -> String {
        encode_to_string(&self.state().hash)
    }

    /// The expiry of the current certificates.
    pub(crate) fn expirations(&self) -> CertificateExpirations {
        self.state().expirations
    }

    /// The entries of `/configz`.
    pub(crate) fn sources(&self) -> Vec<CertificateSource> {
        let state = self.state();
        let source = |name: &'static str, file: Option<&Path>, expires| CertificateSource {
            name,
            location: file.map_or_else(
                || "made at the start".to_owned(),
                |file| file.display().to_string(),
            ),
            expires,
            loaded: state.loaded,
            last_reload: state.last_reload.clone(),
        };
        let files = self.files.as_ref();
        let serving = source(
            configz::SERVING,
            files.map(|files| &*files.certificate),
            state.expirations.serving,
        );
        let client_ca = files.and_then(|files| files.client_ca.as_deref());
        let client_ca =
            client_ca.map(|file| source(configz::CLIENT_CA, Some(file), state.expirations.client_ca));
        [serving].into_iter().chain(client_ca).collect()
    }

    /// Whether clients are asked for a certificate.
    pub(crate) fn requests_client_certificates(&self) -> bool {
        self.files.as_ref().is_some_and(|files| files.client_ca.is_some())
    }

    /// The configuration of new connections.
    pub(crate) fn current(&self) -> Arc<ServerConfig> {
        self.current.load_full()
    }
}

/// The content of the files at one time.
struct CertificateContent {
    certificate: Vec<u8>,
    key: Vec<u8>,
    client_ca: Option<Vec<u8>>,
    /// What tells whether the files are being written to.
    files: Vec<FileContent>,
}

impl CertificateContent {
    fn read(files: &CertificateFiles) -> Result<Self, CertificateError> {
        let mut contents = Vec::new();
        let mut read = |path: &Path| {
            let read = read_with_state(path, MAX_CONFIGURATION_BYTES);
            let (content, state) = read.map_err(|source| CertificateError::Read {
                path: path.into(),
                source,
            })?;
            let path = path_text(path);
            let file = ManifestFile { path, content };
            contents.push(FileContent::new(&file, &state).essential());
            Ok::<_, CertificateError>(file.content)
        };
        let client_ca = files.client_ca.as_deref().map(&mut read).transpose()?;
        let (certificate, key) = (read(&files.certificate)?, read(&files.key)?);
        Ok(CertificateContent {
            certificate,
            key,
            client_ca,
            files: contents,
        })
    }

    fn hash(&self) -> Vec<u8> {
        let mut hash = Sha256::new();
        for part in [
            &self.certificate,
            &self.key,
            self.client_ca.as_ref().unwrap_or(&Vec::new()),
        ] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        hash.finalize().to_vec()
    }

    fn config(
        &self,
        files: &CertificateFiles,
    ) -> Result<(ServerConfig, CertificateExpirations), CertificateError> {
        let chain = certificates(&self.certificate, &files.certificate)?;
        let key = PrivateKeyDer::from_pem_slice(&self.key).map_err(|error| invalid(&files.key, error))?;
        let roots = self.client_ca.as_deref().zip(files.client_ca.as_deref());
        let roots = roots.map(|(text, path)| certificates(text, path)).transpose()?;
        let expirations = CertificateExpirations {
            serving: expiry::earliest(&chain),
            client_ca: roots.as_deref().and_then(expiry::earliest),
        };
        Ok((config(chain, key, roots)?, expirations))
    }
}

fn certificates(text: &[u8], path: &Path) -> Result<Vec<CertificateDer<'static>>, CertificateError> {
    let parse_result: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text).collect();
    let certificates = parse_result.map_err(|error| invalid(path, error))?;
    if certificates.is_empty() {
        Err(invalid(path, "no certificate in it"))
    } else {
        Ok(certificates)
    }
}

fn invalid(path: &Path, message: impl ToString) -> CertificateError {
    CertificateError::Content {
        path: path.into(),
        message: message.to_string(),
    }
}

#[cfg(any(feature = "ring", feature = "aws-lc-rs"))]
fn self_signed(
    names: Vec<String>,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), CertificateError> {
    let unusable = |error: rcgen::Error| CertificateError::Unusable(error.to_string());
    let generated = rcgen::generate_simple_self_signed(names).map_err(unusable)?;
    let key = PrivateKeyDer::Pkcs8(generated.signing_key.serialize_der().into());
    Ok((vec![generated.cert.der().clone()], key))
}

#[cfg(not(any(feature = "ring", feature = "aws-lc-rs")))]
fn self_signed(
    _: Vec<String>,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), CertificateError> {
    Err(pratique_crypto::NoProvider.into())
}

fn config(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    roots: Option<Vec<CertificateDer<'static>>>,
) -> Result<ServerConfig, CertificateError> {
    let unusable = |error: rustls::Error| CertificateError::Unusable(error.to_string());
    let builder = ServerConfig::builder_with_provider(pratique_crypto::provider()?);
    let builder = builder.with_safe_default_protocol_versions().map_err(unusable)?;
    let builder = match roots {
        Some(roots) => builder.with_client_cert_verifier(verifier(roots)?),
        None => builder.with_no_client_auth(),
    };
    let mut config = builder.with_single_cert(chain, key).map_err(unusable)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Verifies certificates of clients that have one. Clients without a certificate may use health checks.
fn verifier(roots: Vec<CertificateDer<'static>>) -> Result<Arc<dyn ClientCertVerifier>, CertificateError> {
    let unusable = |error: &dyn std::error::Error| CertificateError::Unusable(error.to_string());
    let mut store = RootCertStore::empty();
    for root in roots {
        store.add(root).map_err(|error| unusable(&error))?;
    }
    let provider = pratique_crypto::provider()?;
    let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(store), provider);
    builder
        .allow_unauthenticated()
        .build()
        .map_err(|error| unusable(&error))
}
