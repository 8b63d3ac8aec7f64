//! What programs have executed, as the compiler wants to be told.

use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use pratique_harness::{ToolError, cargo};

/// The extension of what programs write.
const RAW: &str = "profraw";
/// The extension of what the compiler reads.
const MERGED: &str = "profdata";

/// A directory of counts.
pub(crate) struct ProfileData {
    directory: PathBuf,
    /// The program of the compiler's component `llvm-tools` that merges counts.
    merger: PathBuf,
}

impl ProfileData {
    pub(crate) fn new(directory: &Path) -> Result<Self, ToolError> {
        fs::create_dir_all(directory).map_err(ToolError::file(directory))?;
        let merger = merger()?;
        Ok(ProfileData {
            directory: directory.to_owned(),
            merger,
        })
    }

    /// The flag for programs that count.
    pub(crate) fn generate_flag(&self) -> String {
        format!("-Cprofile-generate={}", self.directory.display())
    }

    /// Has programs do what is to be counted, unless that was done since they were built; returns the flag for what is compiled by the
    /// counts.
    pub(crate) fn record(
        &self,
        programs: &[PathBuf],
        work: impl FnOnce(&Path) -> Result<(), ToolError>,
    ) -> Result<String, ToolError> {
        let built = latest(programs)?;
        let recorded = self.files(MERGED)?;
        let merged = match recorded.as_slice() {
            [recorded] if latest(std::slice::from_ref(recorded))? > built => recorded.clone(),
            _ => {
                self.remove(RAW)?;
                // One file for each program, in which the counts of its runs are added up.
                work(&self.directory.join(format!("%m.{RAW}")))?;
                self.merge()?
            }
        };
        Ok(format!("-Cprofile-use={}", merged.display()))
    }

    /// Merges what was written into one file. Its name has the hash of its content: Cargo knows by its flags whether to build again.
    fn merge(&self) -> Result<PathBuf, ToolError> {
        let merged = self.directory.join("merged");
        let status = Command::new(&self.merger)
            .args(["merge", "--output"])
            .arg(&merged)
            .args(self.files(RAW)?)
            .status()
            .map_err(ToolError::program(self.merger.display()))?;
        if !status.success() {
            return Err(format!("llvm-profdata ended with {status}").into());
        }
        let content = fs::read(&merged).map_err(ToolError::file(&merged))?;
        let mut hasher = DefaultHasher::new();
        content.hash(&mut hasher);
        let named = self.directory.join(format!("{:016x}.{MERGED}", hasher.finish()));
        self.remove(MERGED)?;
        self.remove(RAW)?;
        fs::rename(&merged, &named).map_err(ToolError::file(&named))?;
        Ok(named)
    }

    fn files(&self, extension: &str) -> Result<Vec<PathBuf>, ToolError> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.directory).map_err(ToolError::file(&self.directory))? {
            let path = entry?.path();
            if path.extension() == Some(OsStr::new(extension)) {
                files.push(path);
            }
        }
        Ok(files)
    }

    fn remove(&self, extension: &str) -> Result<(), ToolError> {
        for file in self.files(extension)? {
            fs::remove_file(&file).map_err(ToolError::file(&file))?;
        }
        Ok(())
    }
}

/// When the last of some files was written.
fn latest(files: &[PathBuf]) -> Result<Option<SystemTime>, ToolError> {
    let mut latest = None;
    for file in files {
        let written = fs::metadata(file).and_then(|metadata| metadata.modified());
        latest = latest.max(Some(written.map_err(ToolError::file(file))?));
    }
    Ok(latest)
}

/// The `llvm-profdata` of the compiler: that of a system is of another version.
fn merger() -> Result<PathBuf, ToolError> {
    let printed = cargo::compiler()
        .args(["--print", "target-libdir"])
        .output()
        .map_err(ToolError::program("rustc"))?;
    let libraries = String::from_utf8_lossy(&printed.stdout);
    let merger = Path::new(libraries.trim())
        .with_file_name("bin")
        .join(format!("llvm-profdata{}", std::env::consts::EXE_SUFFIX));
    if !merger.is_file() {
        let missing = "the compiler's tools are missing; `rustup component add llvm-tools` installs them";
        return Err(missing.into());
    }
    Ok(merger)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory whose merger joins files as they are, and ends as it is told.
    #[cfg(unix)]
    fn profile(directory: &Path, end: &str) -> ProfileData {
        use std::os::unix::fs::PermissionsExt as _;
        let merger = directory.join("merger");
        fs::write(
            &merger,
            format!("#!/bin/sh\nout=$3\nshift 3\ncat \"$@\" > \"$out\"\n{end}\n"),
        )
        .unwrap();
        fs::set_permissions(&merger, fs::Permissions::from_mode(0o755)).unwrap();
        ProfileData {
            directory: directory.to_owned(),
            merger,
        }
    }

    #[test]
    #[cfg(unix)]
    fn counts_are_recorded_once_for_a_build() {
        let temporary = tempfile::tempdir().unwrap();
        let profile = profile(temporary.path(), "");
        let program = temporary.path().join("program");
        fs::write(&program, "").unwrap();
        let raw = temporary.path().join("1.profraw");
        let record = |counts: &str| {
            let work = |_: &Path| fs::write(&raw, counts).map_err(ToolError::file(&raw));
            profile.record(std::slice::from_ref(&program), work).unwrap()
        };
        let first = record("one");
        assert!(first.starts_with("-Cprofile-use="), "{first}");
        assert_eq!(record("other"), first);
        // A program that was built later is put to work again; the same counts are the same file.
        let later = SystemTime::now() + std::time::Duration::from_secs(60);
        let file = fs::File::options().write(true).open(&program).unwrap();
        file.set_modified(later).unwrap();
        assert_eq!(record("one"), first);
        assert_ne!(record("two"), first);
        assert_eq!(profile.files(MERGED).unwrap().len(), 1);
        assert!(profile.files(RAW).unwrap().is_empty());
    }

    #[test]
    #[cfg(unix)]
    fn work_that_fails_leaves_no_counts() {
        let temporary = tempfile::tempdir().unwrap();
        let failing = profile(temporary.path(), "exit 3");
        let failed = failing.record(&[], |_| Err("no".into())).unwrap_err();
        assert_eq!(failed.to_string(), "no");
        let failed = failing.record(&[], |_| Ok(())).unwrap_err();
        assert_eq!(failed.to_string(), "llvm-profdata ended with exit status: 3");
        assert!(failing.files(MERGED).unwrap().is_empty());
    }
}
