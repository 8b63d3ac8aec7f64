//! A directory as a kubelet mounts a ConfigMap: its files are links into `..data`, which is a link to one version.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use pratique_harness::Error;

/// Such a directory.
pub(crate) struct Volume {
    directory: PathBuf,
    files: usize,
    /// The version to come, and the one that is.
    next: Option<PathBuf>,
    now: Option<PathBuf>,
}

impl Volume {
    /// A volume of so many files, without a version.
    pub(crate) fn new(directory: &Path, files: usize) -> Result<Self, Error> {
        for index in 0..files {
            let name = name(index);
            symlink(format!("..data/{name}"), directory.join(name)).map_err(|error| error.to_string())?;
        }
        Ok(Volume {
            directory: directory.to_owned(),
            files,
            next: None,
            now: None,
        })
    }

    /// Writes a version, which is not in use yet.
    pub(crate) fn prepare(&mut self, version: &str, text: impl Fn(usize) -> String) -> Result<(), Error> {
        self.next = Some(self.write(version, text)?);
        self.link(version)
    }

    /// Writes a version that stays, to be chosen.
    pub(crate) fn write(&self, version: &str, text: impl Fn(usize) -> String) -> Result<PathBuf, Error> {
        let directory = self.directory.join(format!("..{version}"));
        fs::create_dir(&directory).map_err(|error| error.to_string())?;
        for index in 0..self.files {
            fs::write(directory.join(name(index)), text(index)).map_err(|error| error.to_string())?;
        }
        Ok(directory)
    }

    /// Puts a version that stays in the place of the one that is.
    pub(crate) fn choose(&self, version: &str) -> Result<(), Error> {
        self.link(version)?;
        self.rename()
    }

    fn link(&self, version: &str) -> Result<(), Error> {
        let (version, aside) = (format!("..{version}"), self.directory.join("..data_tmp"));
        symlink(version, aside).map_err(|error| Error::from(error.to_string()))
    }

    fn rename(&self) -> Result<(), Error> {
        let renamed = fs::rename(self.directory.join("..data_tmp"), self.directory.join("..data"));
        renamed.map_err(|error| Error::from(error.to_string()))
    }

    /// Puts the version that was prepared in the place of the one that is.
    pub(crate) fn swap(&mut self) -> Result<(), Error> {
        self.rename()?;
        let last = std::mem::replace(&mut self.now, self.next.take());
        last.map_or(Ok(()), |last| {
            fs::remove_dir_all(last).map_err(|error| Error::from(error.to_string()))
        })
    }

    /// Both.
    pub(crate) fn put(&mut self, version: &str, text: impl Fn(usize) -> String) -> Result<(), Error> {
        self.prepare(version, text)?;
        self.swap()
    }
}

fn name(index: usize) -> String {
    format!("policy-{index:04}.yaml")
}
