//! What the pages of the documentation say beyond their examples, tried.

mod configuration;
mod inputs;
mod mutations;
mod numbers;
#[cfg(feature = "kube")]
mod permissions;
mod tools;
mod webhooks;

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
