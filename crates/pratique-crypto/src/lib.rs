//! The crypto provider that TLS servers and clients of a process use.
//!
//! A provider that the program [installed](CryptoProvider::install_default) comes first, then AWS-LC (feature
//! `aws-lc-rs`), then `ring` (feature `ring`, on by default). Libraries that share a process take it from here, so that they
//! use the same one, and so that it does not matter which features of `rustls` others enable: where both providers are
//! there, `rustls` itself panics unless one was installed.
//!
//! ```
//! let provider = pratique_crypto::provider()?;
//! assert!(!provider.cipher_suites.is_empty());
//! # Ok::<(), pratique_crypto::NoProvider>(())
//! ```

use std::sync::{Arc, OnceLock};

use rustls::crypto::CryptoProvider;

/// There is no crypto provider: none was installed, and no feature names one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no crypto provider is installed, and this program was built without the features ring and aws-lc-rs"
)]
pub struct NoProvider;

/// The crypto provider of this process.
///
/// # Errors
/// None was installed, and this crate was built without features.
pub fn provider() -> Result<Arc<CryptoProvider>, NoProvider> {
    static BUILT_IN: OnceLock<Option<Arc<CryptoProvider>>> = OnceLock::new();
    let installed = CryptoProvider::get_default().cloned();
    let built_in = || BUILT_IN.get_or_init(|| built_in().map(Arc::new)).clone();
    installed.or_else(built_in).ok_or(NoProvider)
}

/// Installs the provider, unless the program did, for libraries that use the one that is installed.
///
/// # Errors
/// As [`provider`].
pub fn install() -> Result<(), NoProvider> {
    let provider = provider()?;
    // It fails where another thread was first, which leaves a provider as well.
    let _ = CryptoProvider::install_default((*provider).clone());
    Ok(())
}

#[cfg(feature = "aws-lc-rs")]
fn built_in() -> Option<CryptoProvider> {
    Some(rustls::crypto::aws_lc_rs::default_provider())
}

#[cfg(all(feature = "ring", not(feature = "aws-lc-rs")))]
fn built_in() -> Option<CryptoProvider> {
    Some(rustls::crypto::ring::default_provider())
}

#[cfg(not(any(feature = "ring", feature = "aws-lc-rs")))]
fn built_in() -> Option<CryptoProvider> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installed_provider_comes_first() {
        let expected = cfg!(any(feature = "ring", feature = "aws-lc-rs"));
        assert_eq!(provider().is_ok(), expected);
        let Ok(first) = provider() else {
            return assert_eq!(install(), Err(NoProvider));
        };
        let fewer = CryptoProvider {
            cipher_suites: first.cipher_suites.iter().take(1).copied().collect(),
            ..(*first).clone()
        };
        fewer.install_default().unwrap();
        assert_eq!(provider().unwrap().cipher_suites.len(), 1);
        assert_eq!(install(), Ok(()));
        assert_eq!(provider().unwrap().cipher_suites.len(), 1);
    }
}
