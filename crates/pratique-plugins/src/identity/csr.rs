//! The subjects of certificate signing requests.

use pratique_json::base64;
use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::pem::parse_x509_pem;
use x509_parser::prelude::FromDer;

/// Who a certificate is asked for.
#[derive(Debug, Default)]
pub(crate) struct Subject {
    /// The last common name.
    pub(crate) common_name: String,
    /// The organizations: a user's groups.
    pub(crate) organizations: Vec<String>,
}

/// Why a request is not one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CsrError {
    /// It is not PEM, or of something else.
    Pem,
    /// Its content is not a request.
    Content,
}

impl std::fmt::Display for CsrError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            CsrError::Pem => "PEM block type must be CERTIFICATE REQUEST",
            CsrError::Content => "asn1: structure error",
        })
    }
}

/// Reads the subject of a request as objects have it: PEM in base64.
// Upstream: pkg/apis/certificates/helpers.go, ParseCSR
pub(crate) fn parse(encoded: &str) -> Result<Subject, CsrError> {
    let text = base64::decode(encoded).map_err(|_| CsrError::Pem)?;
    let (_, block) = parse_x509_pem(&text).map_err(|_| CsrError::Pem)?;
    if block.label != "CERTIFICATE REQUEST" {
        return Err(CsrError::Pem);
    }
    let (rest, request) =
        X509CertificationRequest::from_der(&block.contents).map_err(|_| CsrError::Content)?;
    if !rest.is_empty() {
        return Err(CsrError::Content);
    }
    let subject = &request.certification_request_info.subject;
    let texts = |attributes: &mut dyn Iterator<Item = Option<String>>| -> Vec<String> {
        attributes.flatten().collect()
    };
    let mut names = subject
        .iter_common_name()
        .map(|name| name.as_str().ok().map(str::to_owned));
    let mut organizations = subject
        .iter_organization()
        .map(|name| name.as_str().ok().map(str::to_owned));
    Ok(Subject {
        common_name: texts(&mut names).pop().unwrap_or_default(),
        organizations: texts(&mut organizations),
    })
}
