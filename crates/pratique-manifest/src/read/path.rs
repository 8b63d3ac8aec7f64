//! Paths: as texts, and what their extensions say.

use std::ffi::OsStr;
use std::path::Path;

/// A path as messages show it: bytes that are not UTF-8 are written as `\xff`, so that different paths look different. Only
/// the path itself leads to the file.
pub fn path_text(path: &Path) -> String {
    let mut out = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        out.push_str(chunk.valid());
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out
}

/// Whether a file has an extension of YAML or JSON.
pub fn is_manifest(path: &Path) -> bool {
    let extension = path.extension().map(OsStr::to_ascii_lowercase);
    extension.is_some_and(|extension| ["yaml", "yml", "json"].iter().any(|known| extension == *known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn bytes_that_are_no_text() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt as _;

        let text = |bytes| path_text(Path::new(OsStr::from_bytes(bytes)));
        assert_eq!(text("a/é\n".as_bytes()), "a/é\n");
        assert_eq!(text(b"a/\xfe\xc3.yaml"), "a/\\xfe\\xc3.yaml");
        assert_ne!(text(b"\xfe"), text(b"\xff"));
    }
}
