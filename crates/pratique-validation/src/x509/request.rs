//! Requests for certificates (PKCS #10).

use super::der::{DerReader, SEQUENCE, SET};
use super::extensions::read_alternative_names;
use super::names::check_name;
use super::public_key::{PublicKey, read_key};
use super::structures::{
    FieldReader, FieldType, read_algorithm, read_bits, read_key_info, structural, syntax,
};
use super::{X509Error, required};

const EXTENSION_REQUEST: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x0e];
const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1d, 17];

/// What is asked of a request.
pub(crate) struct CertificateRequest<'d> {
    /// Absent where its algorithm is not known.
    pub(crate) public_key: Option<PublicKey>,
    /// What is signed.
    pub(super) signed: &'d [u8],
    /// The identifier of the algorithm of the signature.
    pub(super) algorithm: &'d [u8],
    pub(super) parameters: &'d [u8],
    pub(super) signature: Vec<u8>,
}

/// A request.
// Upstream: crypto/x509/x509.go, ParseCertificateRequest
pub(crate) fn parse_request(der: &[u8]) -> Result<CertificateRequest<'_>, X509Error> {
    let mut reader = FieldReader::new(der);
    let request = reader.read(FieldType::sequence("certificateRequest"))?;
    let mut fields = FieldReader::new(request.content);
    let signed = fields.read(FieldType::sequence("tbsCertificateRequest"))?;
    let mut inner = FieldReader::new(signed.content);
    inner.read_int()?;
    let subject = inner.read_any()?.whole;
    let info = read_key_info(&mut inner)?;
    let attributes = inner.read_tagged_list()?.content;
    let (algorithm, parameters) = read_algorithm(&mut fields)?;
    let signature = read_bits(&mut fields)?;
    if !reader.is_at_end() {
        return Err(syntax("trailing data"));
    }
    let public_key = read_key(&info)?;
    check_name(subject)?;
    check_attributes(DerReader::new(attributes))?;
    Ok(CertificateRequest {
        public_key,
        signed: signed.whole,
        algorithm,
        parameters,
        signature,
    })
}

/// Reads the extensions that are requested. Attributes that cannot be read are none.
// Upstream: crypto/x509/x509.go, parseCSRExtensions
fn check_attributes(mut attributes: DerReader<'_>) -> Result<(), X509Error> {
    let mut identifiers = std::collections::HashSet::new();
    while let Some((_, mut attribute, _)) = attributes.read_any() {
        let identifier = attribute.read_identifier();
        let values = attribute.read(SET);
        let Some(mut values) = values.filter(|_| identifier == Some(EXTENSION_REQUEST)) else {
            continue;
        };
        let Some((_, mut extensions, _)) = values.read_any() else {
            continue;
        };
        while !extensions.is_empty() {
            let extension = extensions.read(SEQUENCE);
            let mut extension = extension.ok_or_else(|| structural("sequence tag mismatch"))?;
            let identifier = required(
                extension.read_identifier(),
                "asn1: structure error: tags don't match",
            )?;
            if !identifiers.insert(identifier) {
                return Err(X509Error::new(
                    "x509: certificate request contains duplicate requested extensions",
                ));
            }
            if identifier == ALTERNATIVE_NAMES {
                check_names(&mut extension)?;
            }
        }
    }
    Ok(())
}

fn check_names(extension: &mut DerReader<'_>) -> Result<(), X509Error> {
    use super::der::{BOOLEAN, OCTET_STRING};
    if extension.has_tag(BOOLEAN) {
        required(extension.read_boolean(), "asn1: syntax error: invalid boolean")?;
    }
    let value = extension.read(OCTET_STRING);
    let value = value.ok_or_else(|| structural("tags don't match"))?;
    read_alternative_names(value).map(|_| ())
}
