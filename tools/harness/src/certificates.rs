//! A certificate authority of the suite's own, and certificates that change as those of mounted secrets do.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::error::ToolError;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

/// An authority, and the folder that its newest certificate for the loopback address is in.
pub struct TestCertificates {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: PathBuf,
    issued: usize,
}

impl TestCertificates {
    /// Makes an authority and a first certificate.
    pub fn new(folder: &Path) -> Result<Self, ToolError> {
        let mut params = CertificateParams::new(Vec::new()).map_err(|error| error.to_string())?;
        // Who signs and who is signed have names of their own, or clients take one for the other.
        params
            .distinguished_name
            .push(DnType::CommonName, "e2e authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().map_err(|error| error.to_string())?;
        let issuer = CertifiedIssuer::self_signed(params, key).map_err(|error| error.to_string())?;
        let mut certificates = TestCertificates {
            issuer,
            folder: folder.to_owned(),
            issued: 0,
        };
        certificates.issue()?;
        let failed = ToolError::file(folder);
        for name in ["tls.crt", "tls.key"] {
            symlink(Path::new("..data").join(name), folder.join(name)).map_err(&failed)?;
        }
        fs::write(certificates.authority(), certificates.issuer.pem()).map_err(&failed)?;
        Ok(certificates)
    }

    /// Makes another certificate and swaps it in, as the kubelet does: files in a new folder, then `..data` renamed over.
    pub fn issue(&mut self) -> Result<(), ToolError> {
        let fault = |error: rcgen::Error| error.to_string();
        let key = KeyPair::generate().map_err(fault)?;
        let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
        let mut params = CertificateParams::new(names).map_err(fault)?;
        params.distinguished_name.push(DnType::CommonName, "e2e server");
        let certificate = params.signed_by(&key, &self.issuer).map_err(fault)?;
        self.issued += 1;
        let version = format!("..{}", self.issued);
        let folder = self.folder.join(&version);
        let place = || -> std::io::Result<()> {
            fs::create_dir_all(&folder)?;
            fs::write(folder.join("tls.crt"), certificate.pem())?;
            fs::write(folder.join("tls.key"), key.serialize_pem())?;
            symlink(&version, self.folder.join("..next"))?;
            fs::rename(self.folder.join("..next"), self.folder.join("..data"))
        };
        place().map_err(ToolError::file(&self.folder))
    }

    /// The certificate's file.
    pub fn certificate(&self) -> PathBuf {
        self.folder.join("tls.crt")
    }

    /// Its key's file.
    pub fn key(&self) -> PathBuf {
        self.folder.join("tls.key")
    }

    /// The authority's certificate, to be trusted.
    pub fn authority(&self) -> PathBuf {
        self.folder.join("ca.crt")
    }
}
