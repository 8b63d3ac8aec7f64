//! The hash of manifest files' content.

use pratique_gotext::hex::encode_to_string;
use sha2::{Digest, Sha256};

use crate::read::directory::ManifestFile;

/// The hash of manifest files' content, by which a server notices changes: `sha256:` over the bytes of each
/// file that is not empty and a NUL, in order; empty when there is no such file.
#[must_use]
pub fn content_hash(files: &[ManifestFile]) -> String {
    let mut hash = ContentHash::default();
    files.iter().for_each(|file| hash.add(&file.content));
    hash.finish()
}

/// Computes a content hash.
#[derive(Default)]
pub(crate) struct ContentHash(Option<Sha256>);

impl ContentHash {
    pub(crate) fn add(&mut self, content: &[u8]) {
        if !content.is_empty() {
            let hasher = self.0.get_or_insert_default();
            hasher.update(content);
            hasher.update([0]);
        }
    }

    pub(crate) fn finish(self) -> String {
        let Some(hasher) = self.0 else {
            return String::new();
        };
        format!("sha256:{}", encode_to_string(hasher.finalize()))
    }
}
