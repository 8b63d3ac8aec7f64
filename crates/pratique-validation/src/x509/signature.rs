//! Signatures of requests. They are verified where the crate is built with `ring`; without it, whether one is valid is unknown,
//! and so it is of keys of the curves P-224 and P-521, and of digests of SHA-512 with smaller curves, which `ring` does not know.

use super::X509Error;
use super::public_key::PublicKey;
use super::request::CertificateRequest;

/// The algorithms of signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SignatureAlgorithm {
    Rsa(DigestAlgorithm),
    RsaPss,
    Ecdsa(DigestAlgorithm),
    Ed25519,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DigestAlgorithm {
    Md5,
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl SignatureAlgorithm {
    // Upstream: crypto/x509/x509.go, signatureAlgorithmDetails
    fn from_identifier(identifier: &[u8]) -> Option<Self> {
        const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
        const ECDSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04];
        if let Some(rest) = identifier.strip_prefix(RSA) {
            return match rest {
                [4] => Some(SignatureAlgorithm::Rsa(DigestAlgorithm::Md5)),
                [5] => Some(SignatureAlgorithm::Rsa(DigestAlgorithm::Sha1)),
                [10] => Some(SignatureAlgorithm::RsaPss),
                [11] => Some(SignatureAlgorithm::Rsa(DigestAlgorithm::Sha256)),
                [12] => Some(SignatureAlgorithm::Rsa(DigestAlgorithm::Sha384)),
                [13] => Some(SignatureAlgorithm::Rsa(DigestAlgorithm::Sha512)),
                _ => None,
            };
        }
        match identifier.strip_prefix(ECDSA) {
            Some([1]) => Some(SignatureAlgorithm::Ecdsa(DigestAlgorithm::Sha1)),
            Some([3, 2]) => Some(SignatureAlgorithm::Ecdsa(DigestAlgorithm::Sha256)),
            Some([3, 3]) => Some(SignatureAlgorithm::Ecdsa(DigestAlgorithm::Sha384)),
            Some([3, 4]) => Some(SignatureAlgorithm::Ecdsa(DigestAlgorithm::Sha512)),
            _ => (identifier == [0x2b, 0x65, 0x70]).then_some(SignatureAlgorithm::Ed25519),
        }
    }

    fn key_name(self) -> &'static str {
        match self {
            SignatureAlgorithm::Rsa(_) | SignatureAlgorithm::RsaPss => "RSA",
            SignatureAlgorithm::Ecdsa(_) => "ECDSA",
            SignatureAlgorithm::Ed25519 => "Ed25519",
        }
    }
}

/// What is known of a signature that is not wrong for another reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignatureVerdict {
    Valid,
    Invalid,
    /// The key or the digest is not known here.
    Unknown,
}

impl From<bool> for SignatureVerdict {
    fn from(is_valid: bool) -> Self {
        if is_valid {
            SignatureVerdict::Valid
        } else {
            SignatureVerdict::Invalid
        }
    }
}

/// Verifies that who requests a certificate has the private key; `false` where that is unknown.
// Upstream: crypto/x509/x509.go, checkSignature
pub(crate) fn verify_request(request: &CertificateRequest<'_>) -> Result<bool, X509Error> {
    const UNSUPPORTED: &str = "x509: cannot verify signature: algorithm unimplemented";
    let algorithm = SignatureAlgorithm::from_identifier(request.algorithm);
    let (Some(algorithm), Some(key)) = (algorithm, &request.public_key) else {
        return Err(X509Error::new(UNSUPPORTED));
    };
    let (signed, signature) = (request.signed, request.signature.as_slice());
    let (verified, fault) = match (algorithm, key) {
        (SignatureAlgorithm::Rsa(DigestAlgorithm::Md5), _) => {
            return Err(X509Error::new(
                "x509: cannot verify signature: insecure algorithm MD5-RSA",
            ));
        }
        (_, PublicKey::Other) => return Err(X509Error::new(UNSUPPORTED)),
        (SignatureAlgorithm::Rsa(_) | SignatureAlgorithm::RsaPss, PublicKey::Rsa { .. }) => (
            backend::verify_rsa(key, algorithm, request.parameters, signed, signature),
            "crypto/rsa: verification error",
        ),
        (SignatureAlgorithm::Ecdsa(digest), PublicKey::Ecdsa { .. }) => (
            backend::verify_ecdsa(key, digest, signed, signature),
            "x509: ECDSA verification failure",
        ),
        (SignatureAlgorithm::Ed25519, PublicKey::Ed25519(key)) => (
            backend::verify_ed25519(key, signed, signature),
            "x509: Ed25519 verification failure",
        ),
        _ => {
            let text = format!(
                "x509: signature algorithm specifies an {} public key, but have public key of type {}",
                algorithm.key_name(),
                key.type_name()
            );
            return Err(X509Error(text.into()));
        }
    };
    match verified {
        SignatureVerdict::Valid => Ok(true),
        SignatureVerdict::Invalid => Err(X509Error::new(fault)),
        SignatureVerdict::Unknown => Ok(false),
    }
}

/// Whether a text was signed with the private key: RSA with PSS, all with SHA-256 where they have a digest.
// Upstream: pkg/apis/certificates/validation/validation.go, validateDeprecatedPKIXPublicKey
pub(crate) fn verify_possession(key: &PublicKey, text: &[u8], signature: &[u8]) -> SignatureVerdict {
    match key {
        PublicKey::Rsa { .. } => backend::verify_rsa(key, SignatureAlgorithm::RsaPss, &[], text, signature),
        PublicKey::Ecdsa { .. } => backend::verify_ecdsa(key, DigestAlgorithm::Sha256, text, signature),
        PublicKey::Ed25519(key) => backend::verify_ed25519(key, text, signature),
        PublicKey::Other => SignatureVerdict::Unknown,
    }
}

/// The public key of Ed25519 that belongs to a seed of 32 bytes; none where that is unknown.
pub(super) fn derive_ed25519(seed: &[u8]) -> Option<Vec<u8>> {
    backend::derive_ed25519(seed)
}

#[cfg(feature = "ring")]
mod backend {
    use ring::signature::{
        self, EcdsaVerificationAlgorithm, KeyPair as _, RsaParameters, RsaPublicKeyComponents,
    };

    use super::{DigestAlgorithm, SignatureAlgorithm, SignatureVerdict};
    use crate::x509::public_key::{EllipticCurve, PublicKey};

    const SHA384: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x02];
    const SHA512: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x03];

    pub(super) fn verify_rsa(
        key: &PublicKey,
        algorithm: SignatureAlgorithm,
        parameters: &[u8],
        signed: &[u8],
        signature: &[u8],
    ) -> SignatureVerdict {
        let PublicKey::Rsa { modulus, exponent } = key else {
            return SignatureVerdict::Invalid;
        };
        // The parameters of PSS name the digest.
        let names = |digest: &[u8]| parameters.windows(digest.len()).any(|window| window == digest);
        let scheme: &RsaParameters = match algorithm {
            SignatureAlgorithm::Rsa(DigestAlgorithm::Sha1) => {
                &signature::RSA_PKCS1_1024_8192_SHA1_FOR_LEGACY_USE_ONLY
            }
            SignatureAlgorithm::Rsa(DigestAlgorithm::Sha384) => &signature::RSA_PKCS1_2048_8192_SHA384,
            SignatureAlgorithm::Rsa(DigestAlgorithm::Sha512) => {
                &signature::RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY
            }
            SignatureAlgorithm::RsaPss if names(SHA384) => &signature::RSA_PSS_2048_8192_SHA384,
            SignatureAlgorithm::RsaPss if names(SHA512) => &signature::RSA_PSS_2048_8192_SHA512,
            SignatureAlgorithm::RsaPss => &signature::RSA_PSS_2048_8192_SHA256,
            _ => &signature::RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY,
        };
        let key = RsaPublicKeyComponents {
            n: modulus,
            e: exponent,
        };
        key.verify(scheme, signed, signature).is_ok().into()
    }

    pub(super) fn verify_ecdsa(
        key: &PublicKey,
        digest: DigestAlgorithm,
        signed: &[u8],
        signature: &[u8],
    ) -> SignatureVerdict {
        let PublicKey::Ecdsa { curve, point } = key else {
            return SignatureVerdict::Invalid;
        };
        let scheme: &EcdsaVerificationAlgorithm = match (curve, digest) {
            (EllipticCurve::P256, DigestAlgorithm::Sha256) => &signature::ECDSA_P256_SHA256_ASN1,
            (EllipticCurve::P256, DigestAlgorithm::Sha384) => &signature::ECDSA_P256_SHA384_ASN1,
            (EllipticCurve::P384, DigestAlgorithm::Sha256) => &signature::ECDSA_P384_SHA256_ASN1,
            (EllipticCurve::P384, DigestAlgorithm::Sha384) => &signature::ECDSA_P384_SHA384_ASN1,
            _ => return SignatureVerdict::Unknown,
        };
        let key = signature::UnparsedPublicKey::new(scheme, point);
        key.verify(signed, signature).is_ok().into()
    }

    pub(super) fn verify_ed25519(key: &[u8], signed: &[u8], signature: &[u8]) -> SignatureVerdict {
        let key = signature::UnparsedPublicKey::new(&signature::ED25519, key);
        key.verify(signed, signature).is_ok().into()
    }

    pub(super) fn derive_ed25519(seed: &[u8]) -> Option<Vec<u8>> {
        let pair = signature::Ed25519KeyPair::from_seed_unchecked(seed).ok()?;
        Some(pair.public_key().as_ref().to_vec())
    }
}

/// Knows nothing of signatures.
#[cfg(not(feature = "ring"))]
mod backend {
    use super::{DigestAlgorithm, SignatureAlgorithm, SignatureVerdict};
    use crate::x509::public_key::PublicKey;

    pub(super) fn verify_rsa(
        _: &PublicKey,
        _: SignatureAlgorithm,
        _: &[u8],
        _: &[u8],
        _: &[u8],
    ) -> SignatureVerdict {
        SignatureVerdict::Unknown
    }

    pub(super) fn verify_ecdsa(_: &PublicKey, _: DigestAlgorithm, _: &[u8], _: &[u8]) -> SignatureVerdict {
        SignatureVerdict::Unknown
    }

    pub(super) fn verify_ed25519(_: &[u8], _: &[u8], _: &[u8]) -> SignatureVerdict {
        SignatureVerdict::Unknown
    }

    pub(super) fn derive_ed25519(_: &[u8]) -> Option<Vec<u8>> {
        None
    }
}
