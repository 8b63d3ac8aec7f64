//! The workspace's directories.

use std::path::{Path, PathBuf};

/// The root of the workspace, where `Cargo.lock` is.
pub fn root() -> PathBuf {
    let tool = Path::new(env!("CARGO_MANIFEST_DIR"));
    tool.ancestors().nth(2).unwrap_or(tool).to_owned()
}

/// The target directory of Cargo. It can be deleted at any time.
pub fn target() -> PathBuf {
    let named = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    // Programs that run in other directories are given this path.
    let named = named.and_then(|path| std::path::absolute(path).ok());
    named.unwrap_or_else(|| root().join("target"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn root_has_the_lock_file() {
        assert!(super::root().join("Cargo.lock").is_file());
    }
}
