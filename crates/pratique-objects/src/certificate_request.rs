//! Certificate signing requests (PKCS #10), as far as defaults and admission look into them.

use pratique_json::base64;
use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::extensions::{GeneralName, ParsedExtension};
use x509_parser::pem::parse_x509_pem;
use x509_parser::prelude::FromDer;

/// The subject and the alternative names of a request for a certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CertificateRequest {
    /// The last common name.
    pub common_name: String,
    /// The organizations: a user's groups.
    pub organizations: Vec<String>,
    /// Whether there are alternative names that are DNS names.
    pub has_dns_names: bool,
    /// Whether there are alternative names that are addresses.
    pub has_ip_addresses: bool,
    /// Whether there are alternative names that are email addresses.
    pub has_email_addresses: bool,
    /// Whether there are alternative names that are URIs.
    pub has_uris: bool,
}

/// Why a text is not a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateRequestError {
    /// It is not PEM, or of something else.
    #[error("PEM block type must be CERTIFICATE REQUEST")]
    Pem,
    /// Its content is not a request, for this reason.
    #[error("asn1: {0}")]
    Content(String),
}

impl CertificateRequest {
    /// Reads a request as objects have it: PEM in base64.
    ///
    /// # Errors
    /// It is not a request.
    // Upstream: pkg/apis/certificates/helpers.go, ParseCSR
    pub fn parse(encoded: &str) -> Result<Self, CertificateRequestError> {
        let text = base64::decode(encoded).map_err(|_| CertificateRequestError::Pem)?;
        let (_, block) = parse_x509_pem(&text).map_err(|_| CertificateRequestError::Pem)?;
        if block.label != "CERTIFICATE REQUEST" {
            return Err(CertificateRequestError::Pem);
        }
        let refused = |why: String| CertificateRequestError::Content(why);
        let (rest, request) = X509CertificationRequest::from_der(&block.contents)
            .map_err(|_| refused(header_fault(&block.contents)))?;
        if !rest.is_empty() {
            return Err(refused("syntax error: trailing data".to_owned()));
        }
        let subject = &request.certification_request_info.subject;
        let names = subject.iter_common_name();
        let names = names.filter_map(|name| name.as_str().ok());
        let organizations = subject.iter_organization();
        let organizations = organizations.filter_map(|name| name.as_str().ok());
        let mut read = CertificateRequest {
            common_name: names.last().unwrap_or_default().to_owned(),
            organizations: organizations.map(str::to_owned).collect(),
            ..CertificateRequest::default()
        };
        for extension in request.requested_extensions().into_iter().flatten() {
            let ParsedExtension::SubjectAlternativeName(alternatives) = extension else {
                continue;
            };
            for name in &alternatives.general_names {
                match name {
                    GeneralName::DNSName(_) => read.has_dns_names = true,
                    GeneralName::IPAddress(_) => read.has_ip_addresses = true,
                    GeneralName::RFC822Name(_) => read.has_email_addresses = true,
                    GeneralName::URI(_) => read.has_uris = true,
                    _ => {}
                }
            }
        }
        Ok(read)
    }

    /// Whether a node's kubelet requests a certificate of a client, with these usages.
    // Upstream: pkg/apis/certificates/helpers.go, ValidateKubeletClientCSR
    pub fn is_kubelet_client(&self, usages: &[&str]) -> bool {
        self.is_of_node()
            && !(self.has_dns_names || self.has_ip_addresses || self.has_email_addresses || self.has_uris)
            && are_exactly("client auth", usages)
    }

    /// Whether a node's kubelet requests a certificate of a server, with these usages.
    // Upstream: pkg/apis/certificates/helpers.go, ValidateKubeletServingCSR
    pub fn is_kubelet_serving(&self, usages: &[&str]) -> bool {
        self.is_of_node()
            && (self.has_dns_names || self.has_ip_addresses)
            && !(self.has_email_addresses || self.has_uris)
            && are_exactly("server auth", usages)
    }

    fn is_of_node(&self) -> bool {
        self.organizations == ["system:nodes"] && self.common_name.starts_with("system:node:")
    }
}

/// Whether usages are, in any order, a digital signature, a purpose, and perhaps the encipherment of keys.
fn are_exactly(purpose: &str, usages: &[&str]) -> bool {
    let required = ["digital signature", purpose];
    required.iter().all(|usage| usages.contains(usage))
        && usages
            .iter()
            .all(|usage| required.contains(usage) || *usage == "key encipherment")
}

/// The error of Go's parser about the beginning of a request; of faults further within, only that there is one.
// Upstream: encoding/asn1, parseTagAndLength and parseField
fn header_fault(der: &[u8]) -> String {
    const PARAMETERS: &str = "{optional:false explicit:false application:false private:false defaultValue:<nil> \
        tag:<nil> stringType:0 timeType:0 set:false omitEmpty:false}";
    let [tag, rest @ ..] = der else {
        return "syntax error: sequence truncated".to_owned();
    };
    let (length, content) = match length(rest) {
        Ok(number) => number,
        Err(why) => return why.to_owned(),
    };
    let (class, compound, number) = (tag >> 6, tag & 0x20 != 0, tag & 0x1f);
    if (class, compound, number) != (0, true, 16) {
        return format!(
            "structure error: tags don't match (16 vs {{class:{class} tag:{number} length:{length} \
             isCompound:{compound}}}) {PARAMETERS} certificateRequest @{}",
            der.len().saturating_sub(content.len())
        );
    }
    match content.len() {
        length_read if length_read < length => "syntax error: data truncated",
        0 => "syntax error: sequence truncated",
        _ => "structure error",
    }
    .to_owned()
}

/// The length that follows a tag, and the rest.
fn length(der: &[u8]) -> Result<(usize, &[u8]), &'static str> {
    const TRUNCATED: &str = "syntax error: truncated tag or length";
    let (first, mut rest) = der.split_first().ok_or(TRUNCATED)?;
    let bytes = match first {
        0..0x80 => return Ok((usize::from(*first), rest)),
        0x80 => return Err("syntax error: indefinite length found (not DER)"),
        more => more & 0x7f,
    };
    let mut length = 0;
    for _ in 0..bytes {
        let (byte, after) = rest.split_first().ok_or(TRUNCATED)?;
        rest = after;
        if length >= 1 << 23 {
            return Err("structure error: length too large");
        }
        length = length << 8 | usize::from(*byte);
        if length == 0 {
            return Err("structure error: superfluous leading zeros in length");
        }
    }
    if length < 0x80 {
        Err("structure error: non-minimal length")
    } else {
        Ok((length, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_follows_from_names_and_usages() {
        let node = CertificateRequest {
            common_name: "system:node:x".to_owned(),
            organizations: vec!["system:nodes".to_owned()],
            ..CertificateRequest::default()
        };
        let client = ["digital signature", "client auth", "key encipherment"];
        let serving = ["server auth", "digital signature"];
        assert!(node.is_kubelet_client(&client));
        assert!(node.is_kubelet_client(client.get(..2).unwrap()));
        assert!(!node.is_kubelet_client(&serving) && !node.is_kubelet_serving(&serving));
        let named = CertificateRequest {
            has_dns_names: true,
            ..node.clone()
        };
        assert!(named.is_kubelet_serving(&serving) && !named.is_kubelet_client(&client));
        let with_uri = CertificateRequest {
            has_uris: true,
            ..named
        };
        assert!(!with_uri.is_kubelet_serving(&serving));
        let other = CertificateRequest {
            organizations: vec!["system:nodes".to_owned(), "more".to_owned()],
            ..node
        };
        assert!(!other.is_kubelet_client(&client));
    }

    #[test]
    fn what_is_no_request_is_none() {
        for text in ["", "!", "aGVsbG8=", "LS0tLS1CRUdJTiBYLS0tLS0KAAAA"] {
            assert_eq!(
                CertificateRequest::parse(text),
                Err(CertificateRequestError::Pem),
                "{text}"
            );
        }
    }

    #[test]
    fn faults_at_the_beginning_are_told_as_go_does() {
        let check = |der: &[u8], expected: &str| {
            let fault = header_fault(der);
            assert!(fault.starts_with(expected), "{der:x?}: {fault}");
        };
        check(&[], "syntax error: sequence truncated");
        check(&[0x30], "syntax error: truncated tag or length");
        check(&[0x30, 0x82, 1], "syntax error: truncated tag or length");
        check(&[0x30, 0x80], "syntax error: indefinite length found (not DER)");
        check(&[0x30, 0x81, 5], "structure error: non-minimal length");
        check(
            &[0x30, 0x82, 0, 1],
            "structure error: superfluous leading zeros in length",
        );
        check(&[0x30, 0x85, 1, 1, 1, 1, 1], "structure error: length too large");
        check(&[0x30, 5, 0], "syntax error: data truncated");
        check(&[0x30, 0], "syntax error: sequence truncated");
        check(&[0x30, 2, 5, 0], "structure error");
        let mismatch =
            "structure error: tags don't match (16 vs {class:0 tag:0 length:0 isCompound:false}) {optional";
        check(&[0, 0, 16], mismatch);
        assert!(header_fault(&[0, 0, 16]).ends_with("omitEmpty:false} certificateRequest @2"));
        check(
            &[0xa1, 0x81, 0x90, 0],
            "structure error: tags don't match (16 vs {class:2 tag:1 length:144 isCompound:true})",
        );
    }
}
