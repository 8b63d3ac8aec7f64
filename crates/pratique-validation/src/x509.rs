//! Certificates and requests for them, as far as Go's `crypto/x509` looks into them while it reads them, with its errors.
//!
//! What is read is what a server reads: a certificate that Go takes is one here.

mod base_point;
mod certificate;
mod curve_point;
mod der;
mod extensions;
mod key_pair;
mod mailbox;
mod names;
mod pem;
mod private_key;
mod public_key;
mod request;
mod rsa_numbers;
mod signature;
mod structures;

use std::borrow::Cow;

pub(crate) use certificate::{X509Certificate, parse_certificate, parse_certificates};
pub use key_pair::{KeyPairError, check_key_pair};
pub(crate) use mailbox::is_mailbox;
pub(crate) use pem::decode_block;
pub(crate) use public_key::{PublicKey, parse_public_key};
pub(crate) use request::parse_request;
pub(crate) use signature::{SignatureVerdict, verify_possession, verify_request};

/// What is wrong with a certificate or a request, in Go's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct X509Error(pub(crate) Cow<'static, str>);

impl X509Error {
    const fn new(text: &'static str) -> Self {
        X509Error(Cow::Borrowed(text))
    }
}

/// The value, or the error of Go's package that there is none.
fn required<T>(value: Option<T>, text: &'static str) -> Result<T, X509Error> {
    value.ok_or_else(|| X509Error::new(text))
}
