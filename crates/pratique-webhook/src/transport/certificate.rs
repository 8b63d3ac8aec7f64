//! The parts of a certificate that are checked: its names, its validity, and what it may sign.

use std::net::IpAddr;

use rustls::pki_types::{CertificateDer, UnixTime};
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::FromDer;
use x509_parser::x509::X509Name;

use super::refusal::CertificateRefusal;

/// The fields of a server's certificate that are checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The common name of its subject, else the organization, else its serial number.
    pub subject: String,
    /// The DNS names for which it is.
    pub names: Vec<String>,
    /// The addresses for which it is.
    pub addresses: Vec<IpAddr>,
    /// When it begins to be valid, in seconds since 1970.
    pub not_before: i64,
    /// When it ends to be valid, in seconds since 1970.
    pub not_after: i64,
    /// The common name of its subject, if that must do for want of names.
    pub(super) legacy_name: Option<String>,
    pub(super) serves: bool,
    pub(super) cannot_sign: bool,
    pub(super) issuer_raw: Vec<u8>,
    pub(super) subject_raw: Vec<u8>,
}

impl Certificate {
    /// Decodes a certificate.
    pub(super) fn read(der: &CertificateDer<'_>) -> Result<Self, CertificateRefusal> {
        let (_, read) = X509Certificate::from_der(der).map_err(|_| CertificateRefusal::Malformed)?;
        let names = read.subject_alternative_name().ok().flatten();
        let usage = read.extended_key_usage().ok().flatten();
        let mut certificate = Self {
            subject: subject(&read),
            names: Vec::new(),
            addresses: Vec::new(),
            not_before: read.validity().not_before.timestamp(),
            not_after: read.validity().not_after.timestamp(),
            legacy_name: common_name(read.subject()).filter(|_| names.is_none()),
            serves: usage.is_none_or(|usage| usage.value.any || usage.value.server_auth),
            cannot_sign: cannot_sign(&read),
            issuer_raw: read.issuer().as_raw().to_vec(),
            subject_raw: read.subject().as_raw().to_vec(),
        };
        for name in names.iter().flat_map(|names| &names.value.general_names) {
            match name {
                GeneralName::DNSName(name) => certificate.names.push((*name).to_owned()),
                GeneralName::IPAddress(bytes) => certificate.addresses.extend(address(bytes)),
                _ => {}
            }
        }
        Ok(certificate)
    }

    /// When it ends to be valid, as RFC 3339 has it.
    pub fn expires(&self) -> String {
        moment(self.not_after)
    }

    /// Why it is not valid at this time.
    pub(super) fn validity_fault(&self, now: UnixTime) -> Option<CertificateRefusal> {
        let at = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        let (relation, limit) = match at {
            _ if at < self.not_before => ("before", self.not_before),
            _ if at > self.not_after => ("after", self.not_after),
            _ => return None,
        };
        let (now, limit) = (moment(at), moment(limit));
        Some(CertificateRefusal::Validity(format!(
            "current time {now} is {relation} {limit}"
        )))
    }
}

/// Go's RFC 3339, in UTC.
fn moment(seconds: i64) -> String {
    jiff::Timestamp::from_second(seconds).map_or_else(|_| seconds.to_string(), |moment| moment.to_string())
}

fn subject(certificate: &X509Certificate<'_>) -> String {
    let organization = || {
        Some(
            certificate
                .subject()
                .iter_organization()
                .next()?
                .as_str()
                .ok()?
                .to_owned(),
        )
    };
    common_name(certificate.subject())
        .filter(|name| !name.is_empty())
        .or_else(organization)
        .unwrap_or_else(|| format!("serial:{}", certificate.tbs_certificate.serial))
}

fn common_name(name: &X509Name<'_>) -> Option<String> {
    Some(name.iter_common_name().next()?.as_str().ok()?.to_owned())
}

/// Whether Go refuses signatures of this one on certificates.
fn cannot_sign(certificate: &X509Certificate<'_>) -> bool {
    let constraints = certificate.basic_constraints().ok().flatten();
    let is_authority = match constraints {
        Some(constraints) => constraints.value.ca,
        None => certificate.version().0 != 2,
    };
    let usage = certificate.key_usage().ok().flatten();
    !is_authority || usage.is_some_and(|usage| !usage.value.key_cert_sign())
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    if let Ok(four) = <[u8; 4]>::try_from(bytes) {
        return Some(IpAddr::from(four));
    }
    <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        assert_eq!(moment(0), "1970-01-01T00:00:00Z");
        assert_eq!(moment(1_767_225_600), "2026-01-01T00:00:00Z");
    }

    #[test]
    fn garbage_is_malformed() {
        let read = Certificate::read(&CertificateDer::from(vec![1, 2, 3]));
        assert_eq!(read.unwrap_err(), CertificateRefusal::Malformed);
    }
}
