//! A directory as a kubelet mounts a ConfigMap: its files are links into `..data`, which is a link to one version.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use pratique_benches::BenchError;

/// A directory that is laid out like this.
pub(crate) struct MountedVolume {
    directory: PathBuf,
    files: usize,
    /// The version that was prepared.
    next: Option<PathBuf>,
    /// The version in use.
    current: Option<PathBuf>,
}

impl MountedVolume {
    /// A volume of a number of files, without a version.
    pub(crate) fn new(directory: &Path, files: usize) -> Result<Self, BenchError> {
        for index in 0..files {
            let name = name(index);
            symlink(format!("..data/{name}"), directory.join(name))?;
        }
        Ok(MountedVolume {
            directory: directory.to_owned(),
            files,
            next: None,
            current: None,
        })
    }

    /// Writes the version that [`MountedVolume::swap`] puts in use.
    pub(crate) fn prepare(
        &mut self,
        version: &str,
        text: impl Fn(usize) -> String,
    ) -> Result<(), BenchError> {
        self.next = Some(self.write(version, text)?);
        self.link(version)
    }

    /// Writes a version that [`MountedVolume::choose`] can put in use, any number of times.
    pub(crate) fn write(&self, version: &str, text: impl Fn(usize) -> String) -> Result<PathBuf, BenchError> {
        let directory = self.directory.join(format!("..{version}"));
        fs::create_dir(&directory)?;
        for index in 0..self.files {
            fs::write(directory.join(name(index)), text(index))?;
        }
        Ok(directory)
    }

    /// Puts a version in use, and keeps the one before.
    pub(crate) fn choose(&self, version: &str) -> Result<(), BenchError> {
        self.link(version)?;
        self.rename()
    }

    fn link(&self, version: &str) -> Result<(), BenchError> {
        let (version, aside) = (format!("..{version}"), self.directory.join("..data_tmp"));
        Ok(symlink(version, aside)?)
    }

    fn rename(&self) -> Result<(), BenchError> {
        Ok(fs::rename(
            self.directory.join("..data_tmp"),
            self.directory.join("..data"),
        )?)
    }

    /// Puts the prepared version in use, and removes the one before.
    pub(crate) fn swap(&mut self) -> Result<(), BenchError> {
        self.rename()?;
        let last = std::mem::replace(&mut self.current, self.next.take());
        if let Some(last) = last {
            fs::remove_dir_all(last)?;
        }
        Ok(())
    }

    /// Writes a version and puts it in use.
    pub(crate) fn put(&mut self, version: &str, text: impl Fn(usize) -> String) -> Result<(), BenchError> {
        self.prepare(version, text)?;
        self.swap()
    }
}

fn name(index: usize) -> String {
    format!("policy-{index:04}.yaml")
}
