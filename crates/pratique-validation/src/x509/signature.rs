//! Signatures of requests. They are verified where the crate is built with `ring`; without it, all are taken to be valid.
//!
//! Keys of the curves P-224 and P-521, and digests of another size than the curve's, are not known to `ring`: their signatures
//! are taken to be valid, too.

use super::X509Error;
use super::public_key::PublicKey;
use super::request::CertificateRequest;

/// The algorithms of signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Algorithm {
    Rsa(Digest),
    RsaPss,
    Ecdsa(Digest),
    Ed25519,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Digest {
    Md5,
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl Algorithm {
    // Upstream: crypto/x509/x509.go, signatureAlgorithmDetails
    fn from_identifier(identifier: &[u8]) -> Option<Self> {
        const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
        const ECDSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04];
        if let Some(rest) = identifier.strip_prefix(RSA) {
            return match rest {
                [4] => Some(Algorithm::Rsa(Digest::Md5)),
                [5] => Some(Algorithm::Rsa(Digest::Sha1)),
                [10] => Some(Algorithm::RsaPss),
                [11] => Some(Algorithm::Rsa(Digest::Sha256)),
                [12] => Some(Algorithm::Rsa(Digest::Sha384)),
                [13] => Some(Algorithm::Rsa(Digest::Sha512)),
                _ => None,
            };
        }
        match identifier.strip_prefix(ECDSA) {
            Some([1]) => Some(Algorithm::Ecdsa(Digest::Sha1)),
            Some([3, 2]) => Some(Algorithm::Ecdsa(Digest::Sha256)),
            Some([3, 3]) => Some(Algorithm::Ecdsa(Digest::Sha384)),
            Some([3, 4]) => Some(Algorithm::Ecdsa(Digest::Sha512)),
            _ => (identifier == [0x2b, 0x65, 0x70]).then_some(Algorithm::Ed25519),
        }
    }

    fn key_name(self) -> &'static str {
        match self {
            Algorithm::Rsa(_) | Algorithm::RsaPss => "RSA",
            Algorithm::Ecdsa(_) => "ECDSA",
            Algorithm::Ed25519 => "Ed25519",
        }
    }
}

/// Verifies that who requests a certificate has the private key.
// Upstream: crypto/x509/x509.go, checkSignature
pub(crate) fn verify_request(request: &CertificateRequest<'_>) -> Result<(), X509Error> {
    const UNSUPPORTED: &str = "x509: cannot verify signature: algorithm unimplemented";
    let algorithm = Algorithm::from_identifier(request.algorithm);
    let (Some(algorithm), Some(key)) = (algorithm, &request.public_key) else {
        return Err(X509Error::new(UNSUPPORTED));
    };
    let (signed, signature) = (request.signed, request.signature.as_slice());
    let (is_valid, fault) = match (algorithm, key) {
        (Algorithm::Rsa(Digest::Md5), _) => {
            return Err(X509Error::new(
                "x509: cannot verify signature: insecure algorithm MD5-RSA",
            ));
        }
        (_, PublicKey::Other) => return Err(X509Error::new(UNSUPPORTED)),
        (Algorithm::Rsa(_) | Algorithm::RsaPss, PublicKey::Rsa { .. }) => (
            backend::verify_rsa(key, algorithm, request.parameters, signed, signature),
            "crypto/rsa: verification error",
        ),
        (Algorithm::Ecdsa(digest), PublicKey::Ecdsa { .. }) => (
            backend::verify_ecdsa(key, digest, signed, signature),
            "x509: ECDSA verification failure",
        ),
        (Algorithm::Ed25519, PublicKey::Ed25519(key)) => (
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
    if is_valid {
        Ok(())
    } else {
        Err(X509Error::new(fault))
    }
}

/// Whether a text was signed with the private key: RSA with PSS, all with SHA-256 where they have a digest.
// Upstream: pkg/apis/certificates/validation/validation.go, validateDeprecatedPKIXPublicKey
pub(crate) fn verify_possession(key: &PublicKey, text: &[u8], signature: &[u8]) -> bool {
    match key {
        PublicKey::Rsa { .. } => backend::verify_rsa(key, Algorithm::RsaPss, &[], text, signature),
        PublicKey::Ecdsa { .. } => backend::verify_ecdsa(key, Digest::Sha256, text, signature),
        PublicKey::Ed25519(key) => backend::verify_ed25519(key, text, signature),
        PublicKey::Other => true,
    }
}

#[cfg(feature = "ring")]
mod backend {
    use ring::signature::{self, EcdsaVerificationAlgorithm, RsaParameters, RsaPublicKeyComponents};

    use super::{Algorithm, Digest};
    use crate::x509::public_key::{Curve, PublicKey};

    const SHA384: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x02];
    const SHA512: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x03];

    pub(super) fn verify_rsa(
        key: &PublicKey,
        algorithm: Algorithm,
        parameters: &[u8],
        signed: &[u8],
        signature: &[u8],
    ) -> bool {
        let PublicKey::Rsa { modulus, exponent } = key else {
            return false;
        };
        // The parameters of PSS name the digest.
        let names = |digest: &[u8]| parameters.windows(digest.len()).any(|window| window == digest);
        let scheme: &RsaParameters = match algorithm {
            Algorithm::Rsa(Digest::Sha1) => &signature::RSA_PKCS1_1024_8192_SHA1_FOR_LEGACY_USE_ONLY,
            Algorithm::Rsa(Digest::Sha384) => &signature::RSA_PKCS1_2048_8192_SHA384,
            Algorithm::Rsa(Digest::Sha512) => &signature::RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY,
            Algorithm::RsaPss if names(SHA384) => &signature::RSA_PSS_2048_8192_SHA384,
            Algorithm::RsaPss if names(SHA512) => &signature::RSA_PSS_2048_8192_SHA512,
            Algorithm::RsaPss => &signature::RSA_PSS_2048_8192_SHA256,
            _ => &signature::RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY,
        };
        let key = RsaPublicKeyComponents {
            n: modulus,
            e: exponent,
        };
        key.verify(scheme, signed, signature).is_ok()
    }

    pub(super) fn verify_ecdsa(key: &PublicKey, digest: Digest, signed: &[u8], signature: &[u8]) -> bool {
        let PublicKey::Ecdsa { curve, point } = key else {
            return false;
        };
        let scheme: &EcdsaVerificationAlgorithm = match (curve, digest) {
            (Curve::P256, Digest::Sha256) => &signature::ECDSA_P256_SHA256_ASN1,
            (Curve::P256, Digest::Sha384) => &signature::ECDSA_P256_SHA384_ASN1,
            (Curve::P384, Digest::Sha256) => &signature::ECDSA_P384_SHA256_ASN1,
            (Curve::P384, Digest::Sha384) => &signature::ECDSA_P384_SHA384_ASN1,
            _ => return true,
        };
        let key = signature::UnparsedPublicKey::new(scheme, point);
        key.verify(signed, signature).is_ok()
    }

    pub(super) fn verify_ed25519(key: &[u8], signed: &[u8], signature: &[u8]) -> bool {
        let key = signature::UnparsedPublicKey::new(&signature::ED25519, key);
        key.verify(signed, signature).is_ok()
    }
}

/// Takes all signatures to be valid.
#[cfg(not(feature = "ring"))]
mod backend {
    use super::{Algorithm, Digest};
    use crate::x509::public_key::PublicKey;

    pub(super) fn verify_rsa(_: &PublicKey, _: Algorithm, _: &[u8], _: &[u8], _: &[u8]) -> bool {
        true
    }

    pub(super) fn verify_ecdsa(_: &PublicKey, _: Digest, _: &[u8], _: &[u8]) -> bool {
        true
    }

    pub(super) fn verify_ed25519(_: &[u8], _: &[u8], _: &[u8]) -> bool {
        true
    }
}
