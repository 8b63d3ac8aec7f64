//! The files of the playground, held in memory.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::Path;

use bytes::Bytes;
use flate2::read::GzDecoder;
use pratique_manifest::{path_text, read_regular};

use crate::exit::CliError;
use crate::playground::playground_error::PlaygroundError;

/// The most that a file may have, in bytes.
const MOST: u64 = 64 << 20;

/// The suffix of files in compressed form.
const COMPRESSED: &str = ".gz";

/// Files by name. Requests lead to one of them or nowhere, never to the disk.
#[derive(Debug, Default)]
pub(super) struct SiteFiles(BTreeMap<String, Bytes>);

/// A file to be sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FoundFile {
    pub(super) content: Bytes,
    pub(super) media_type: &'static str,
    /// Whether the content is in compressed form.
    pub(super) is_compressed: bool,
}

impl SiteFiles {
    /// Reads the files of a playground in a directory.
    pub(super) fn read(directory: &Path) -> Result<Self, CliError> {
        let unreadable = |path: &Path| {
            let path = path.to_owned();
            move |error| CliError::unread(&path, error)
        };
        let mut files = SiteFiles::default();
        for entry in fs::read_dir(directory).map_err(unreadable(directory))? {
            let path = entry.map_err(unreadable(directory))?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            if let Some(name) = name.filter(|name| media_type(name).is_some()) {
                let content = read_regular(&path, MOST).map_err(unreadable(&path))?;
                files.add(name, content);
            }
        }
        if files.has("index.html") && files.has("pratique.wasm") {
            Ok(files)
        } else {
            Err(CliError::Playground(PlaygroundError::NotPlayground {
                path: path_text(directory),
            }))
        }
    }

    /// Adds a file.
    pub(super) fn add(&mut self, name: &str, content: Vec<u8>) {
        self.0.insert(name.to_owned(), content.into());
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains_key(name) || self.0.contains_key(&format!("{name}{COMPRESSED}"))
    }

    /// The file of a path, in compressed form if it is there in that form and the client takes it.
    pub(super) fn find(&self, path: &str, takes_compressed: bool) -> Option<FoundFile> {
        let name = match path.strip_prefix('/')? {
            "" => "index.html",
            name => name,
        };
        let media_type = media_type(name).filter(|_| !name.ends_with(COMPRESSED))?;
        let new_file = |content, is_compressed| FoundFile {
            content,
            media_type,
            is_compressed,
        };
        let compressed = self.0.get(&format!("{name}{COMPRESSED}"));
        match (compressed, self.0.get(name)) {
            (Some(compressed), _) if takes_compressed => Some(new_file(compressed.clone(), true)),
            (_, Some(plain)) => Some(new_file(plain.clone(), false)),
            (Some(compressed), None) => Some(new_file(expanded(compressed)?, false)),
            (None, None) => None,
        }
    }
}

fn expanded(compressed: &[u8]) -> Option<Bytes> {
    let mut content = Vec::new();
    let mut reader = GzDecoder::new(compressed).take(MOST);
    reader.read_to_end(&mut content).ok()?;
    Some(content.into())
}

/// The media type of a file by its name, compressed or not; `None` for one that is no part of a playground.
fn media_type(name: &str) -> Option<&'static str> {
    let name = name.strip_suffix(COMPRESSED).unwrap_or(name);
    let (_, extension) = name.rsplit_once('.')?;
    match extension {
        "html" => Some("text/html; charset=utf-8"),
        "css" => Some("text/css; charset=utf-8"),
        "js" => Some("text/javascript; charset=utf-8"),
        "json" => Some("application/json"),
        "wasm" => Some("application/wasm"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn files() -> SiteFiles {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(b"module").unwrap();
        let mut files = SiteFiles::default();
        files.add("index.html", b"page".to_vec());
        files.add("pratique.wasm.gz", encoder.finish().unwrap());
        files
    }

    #[test]
    fn files_are_found_by_their_names() {
        let files = files();
        for path in ["/", "/index.html"] {
            let page = files.find(path, true).unwrap();
            assert_eq!((&*page.content, page.is_compressed), (&b"page"[..], false));
            assert_eq!(page.media_type, "text/html; charset=utf-8");
        }
        for path in [
            "",
            "index.html",
            "/../index.html",
            "//index.html",
            "/pratique.wasm.gz",
            "/other.js",
            "/%2e",
        ] {
            assert_eq!(files.find(path, true), None, "{path}");
        }
    }

    #[test]
    fn what_is_compressed_is_expanded_for_clients_that_do_not_take_it() {
        let files = files();
        assert!(files.find("/pratique.wasm", true).unwrap().is_compressed);
        let plain = files.find("/pratique.wasm", false).unwrap();
        assert_eq!((&*plain.content, plain.is_compressed), (&b"module"[..], false));
    }

    #[test]
    fn other_directories_are_refused() {
        let refused = SiteFiles::read(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap_err();
        assert!(
            refused.to_string().ends_with("there is no playground"),
            "{refused}"
        );
    }
}
