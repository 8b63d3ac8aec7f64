//! The expiry of certificates.

use std::time::{Duration, SystemTime};

use rustls::pki_types::CertificateDer;
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer as _;

/// The earliest expiry of these certificates; `None` if none of them can be parsed.
pub(crate) fn earliest(certificates: &[CertificateDer<'_>]) -> Option<SystemTime> {
    certificates
        .iter()
        .filter_map(|certificate| not_after(certificate))
        .min()
}

fn not_after(certificate: &[u8]) -> Option<SystemTime> {
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    let seconds = certificate.validity().not_after.timestamp();
    let distance = Duration::from_secs(seconds.unsigned_abs());
    match seconds {
        0.. => SystemTime::UNIX_EPOCH.checked_add(distance),
        _ => SystemTime::UNIX_EPOCH.checked_sub(distance),
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    fn certificate(year: i32) -> CertificateDer<'static> {
        let mut parameters = CertificateParams::new(Vec::new()).unwrap();
        parameters.not_before = date_time_ymd(1960, 1, 1);
        parameters.not_after = date_time_ymd(year, 1, 1);
        let certificate = parameters.self_signed(&KeyPair::generate().unwrap()).unwrap();
        certificate.der().clone()
    }

    #[test]
    fn the_earliest_expiry_counts() {
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let [near, far, past] = [2030, 2040, 1969].map(certificate);
        assert_eq!(earliest(&[far.clone(), near.clone()]), Some(at(1_893_456_000)));
        assert_eq!(earliest(&[far]), Some(at(2_208_988_800)));
        assert!(earliest(&[near, past]).unwrap() < SystemTime::UNIX_EPOCH);
        assert_eq!(earliest(&[CertificateDer::from(vec![1, 2])]), None);
        assert_eq!(earliest(&[]), None);
    }
}
