//! Inputs of cases: JSON values and directories of files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use pratique_json::{self as json, base64};
use serde_json::Value;

/// A value of a case as an engine's value.
pub fn json_value(value: &Value) -> json::Value<'static> {
    let text = value.to_string();
    json::parse(text.as_bytes())
        .map(json::Value::into_owned)
        .unwrap_or_default()
}

/// A temporary directory with the files of a case, removed on drop.
pub(super) struct CaseDirectory {
    path: PathBuf,
}

impl CaseDirectory {
    /// Makes the directory. `$DIR` in texts and link targets is its path.
    pub(super) fn new(files: &Value) -> io::Result<Self> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("pratique-case-{}-{number}", std::process::id()));
        let directory = CaseDirectory { path };
        fs::create_dir_all(&directory.path)?;
        for (name, content) in files.as_object().into_iter().flatten() {
            directory.write(&directory.path.join(name), content)?;
        }
        Ok(directory)
    }

    /// Its path as the case's texts show it.
    pub(super) fn display_path(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    fn write(&self, path: &Path, content: &Value) -> io::Result<()> {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let text = |field: &Value| {
            field
                .as_str()
                .unwrap_or_default()
                .replace("$DIR", &self.display_path())
        };
        if content.is_string() {
            fs::write(path, text(content))
        } else if let Some(encoded) = content.get("base64") {
            let bytes = base64::decode(encoded.as_str().unwrap_or_default())
                .map_err(|at| io::Error::other(format!("no base64 at byte {at}")))?;
            fs::write(path, bytes)
        } else if let Some(target) = content.get("link") {
            std::os::unix::fs::symlink(text(target), path)
        } else if content.get("dir").is_some() {
            fs::create_dir_all(path)
        } else {
            fs::write(path, text(&content["text"]))?;
            let mode = content["mode"]
                .as_str()
                .and_then(|mode| u32::from_str_radix(mode, 8).ok());
            match mode {
                Some(mode) => fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)),
                None => Ok(()),
            }
        }
    }
}

impl Drop for CaseDirectory {
    fn drop(&mut self) {
        // On failure the files stay in the system's temporary directory.
        let _ = fs::remove_dir_all(&self.path);
    }
}
