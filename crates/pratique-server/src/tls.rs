//! Certificates, from files that may be replaced while they are in use.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{RootCertStore, ServerConfig};
use sha2::{Digest, Sha256};

/// Where certificates are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    /// The server's certificate and those between it and a root, as PEM.
    pub certificate: PathBuf,
    /// Its private key, as PEM.
    pub key: PathBuf,
    /// The roots that clients' certificates must lead to, as PEM. With these, only clients with such a certificate may
    /// ask for reviews and see the configuration; without, everybody may.
    pub client_ca: Option<PathBuf>,
}

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// A file does not open.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A file does not hold what it should.
    #[error("{}: {message}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// The certificate and the key do not belong together, or cannot be used.
    #[error("the certificate cannot be used: {0}")]
    Unusable(String),
}

/// The certificates that a server uses: those that were usable last.
#[derive(Debug)]
pub struct Certificates {
    files: Option<CertificateFiles>,
    current: ArcSwap<ServerConfig>,
    /// Of the content in use.
    hash: Mutex<Vec<u8>>,
}

impl Certificates {
    /// Reads certificates from files.
    ///
    /// # Errors
    /// When they are not there, or cannot be used.
    pub fn load(files: CertificateFiles) -> Result<Self, CertificateError> {
        let content = Content::read(&files)?;
        let config = content.config(&files)?;
        let (current, hash) = (ArcSwap::from_pointee(config), Mutex::new(content.hash()));
        Ok(Certificates {
            files: Some(files),
            current,
            hash,
        })
    }

    /// A certificate of its own for these names and addresses, which nobody trusts: for development.
    ///
    /// # Errors
    /// When none can be made, as for names that are none.
    pub fn development(names: Vec<String>) -> Result<Self, CertificateError> {
        let unusable = |error: rcgen::Error| CertificateError::Unusable(error.to_string());
        let made = rcgen::generate_simple_self_signed(names).map_err(unusable)?;
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let config = config(vec![made.cert.der().clone()], key, None)?;
        Ok(Certificates {
            files: None,
            current: ArcSwap::from_pointee(config),
            hash: Mutex::default(),
        })
    }

    /// Reads the files again. Connections that begin afterwards use what is there now; if it cannot be used, nothing
    /// changes. Tells whether there was anything new.
    ///
    /// # Errors
    /// When the files are not there, or cannot be used.
    pub fn reload(&self) -> Result<bool, CertificateError> {
        let Some(files) = &self.files else {
            return Ok(false);
        };
        let content = Content::read(files)?;
        let mut hash = self.hash.lock().unwrap_or_else(PoisonError::into_inner);
        if *hash == content.hash() {
            return Ok(false);
        }
        self.current.store(Arc::new(content.config(files)?));
        *hash = content.hash();
        Ok(true)
    }

    /// The files, if it is from files.
    #[must_use]
    pub fn files(&self) -> Option<&CertificateFiles> {
        self.files.as_ref()
    }

    /// What tells the content in use from others.
    pub(crate) fn hash(&self) -> String {
        let hash = self.hash.lock().unwrap_or_else(PoisonError::into_inner);
        hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether clients need a certificate.
    pub(crate) fn asks_clients(&self) -> bool {
        self.files.as_ref().is_some_and(|files| files.client_ca.is_some())
    }

    /// What connections use that begin now.
    pub(crate) fn current(&self) -> Arc<ServerConfig> {
        self.current.load_full()
    }
}

/// What the files hold at one moment.
struct Content {
    certificate: Vec<u8>,
    key: Vec<u8>,
    client_ca: Option<Vec<u8>>,
}

impl Content {
    fn read(files: &CertificateFiles) -> Result<Self, CertificateError> {
        let read = |path: &Path| {
            let read = fs::read(path);
            read.map_err(|source| CertificateError::Read {
                path: path.into(),
                source,
            })
        };
        let client_ca = files.client_ca.as_deref().map(read).transpose()?;
        Ok(Content {
            certificate: read(&files.certificate)?,
            key: read(&files.key)?,
            client_ca,
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

    fn config(&self, files: &CertificateFiles) -> Result<ServerConfig, CertificateError> {
        let chain = certificates(&self.certificate, &files.certificate)?;
        let key = PrivateKeyDer::from_pem_slice(&self.key).map_err(|error| wrong(&files.key, error))?;
        let roots = self.client_ca.as_deref().zip(files.client_ca.as_deref());
        let roots = roots.map(|(text, path)| certificates(text, path)).transpose()?;
        config(chain, key, roots)
    }
}

fn certificates(text: &[u8], path: &Path) -> Result<Vec<CertificateDer<'static>>, CertificateError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text).collect();
    let found = found.map_err(|error| wrong(path, error))?;
    if found.is_empty() {
        Err(wrong(path, "no certificate in it"))
    } else {
        Ok(found)
    }
}

fn wrong(path: &Path, message: impl ToString) -> CertificateError {
    CertificateError::Content {
        path: path.into(),
        message: message.to_string(),
    }
}

fn config(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    roots: Option<Vec<CertificateDer<'static>>>,
) -> Result<ServerConfig, CertificateError> {
    let unusable = |error: rustls::Error| CertificateError::Unusable(error.to_string());
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(unusable)?;
    let builder = match roots {
        Some(roots) => builder.with_client_cert_verifier(verifier(roots)?),
        None => builder.with_no_client_auth(),
    };
    let mut config = builder.with_single_cert(chain, key).map_err(unusable)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Looks at certificates of clients that have one: those that have none may still see whether the server is well.
fn verifier(roots: Vec<CertificateDer<'static>>) -> Result<Arc<dyn ClientCertVerifier>, CertificateError> {
    let unusable = |error: &dyn std::error::Error| CertificateError::Unusable(error.to_string());
    let mut store = RootCertStore::empty();
    for root in roots {
        store.add(root).map_err(|error| unusable(&error))?;
    }
    let provider = Arc::new(ring::default_provider());
    let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(store), provider);
    builder
        .allow_unauthenticated()
        .build()
        .map_err(|error| unusable(&error))
}
