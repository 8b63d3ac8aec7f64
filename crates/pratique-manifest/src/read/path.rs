//! Paths: as texts, and what their extensions say.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

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

/// A path without `.` and `..`, by its names alone: nothing is looked up, and links count as what they are called.
#[doc(hidden)]
pub fn without_dots(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
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
    fn paths_are_normalized_by_their_names() {
        for (path, expected) in [
            ("/a/./b/../c", "/a/c"),
            ("/../a", "/a"),
            ("/a/b/../../..", "/"),
            ("./a", "a"),
            (".", ""),
        ] {
            assert_eq!(without_dots(Path::new(path)), Path::new(expected));
        }
    }

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
