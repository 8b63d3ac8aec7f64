//! Certificate signing requests (PKCS #10), as far as defaults and admission look into them.

use pratique_json::base64;
use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::extensions::{GeneralName, ParsedExtension};
use x509_parser::pem::parse_x509_pem;
use x509_parser::prelude::FromDer;

/// What a certificate is asked for.
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

/// Why a request is not one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CertificateRequestError {
    /// It is not PEM, or of something else.
    #[error("PEM block type must be CERTIFICATE REQUEST")]
    Pem,
    /// Its content is not a request.
    #[error("asn1: structure error")]
    Content,
}

impl CertificateRequest {
    /// Reads a request as objects have it: PEM in base64.
    ///
    /// # Errors
    /// It is none.
    // Upstream: pkg/apis/certificates/helpers.go, ParseCSR
    pub fn parse(encoded: &str) -> Result<Self, CertificateRequestError> {
        let text = base64::decode(encoded).map_err(|_| CertificateRequestError::Pem)?;
        let (_, block) = parse_x509_pem(&text).map_err(|_| CertificateRequestError::Pem)?;
        if block.label != "CERTIFICATE REQUEST" {
            return Err(CertificateRequestError::Pem);
        }
        let (rest, request) = X509CertificationRequest::from_der(&block.contents)
            .map_err(|_| CertificateRequestError::Content)?;
        if !rest.is_empty() {
            return Err(CertificateRequestError::Content);
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

    /// Whether a node's kubelet asks for a certificate of a client, with these usages.
    // Upstream: pkg/apis/certificates/helpers.go, ValidateKubeletClientCSR
    pub fn is_kubelet_client(&self, usages: &[&str]) -> bool {
        self.is_of_node()
            && !(self.has_dns_names || self.has_ip_addresses || self.has_email_addresses || self.has_uris)
            && are_exactly("client auth", usages)
    }

    /// Whether a node's kubelet asks for a certificate of a server, with these usages.
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
}
