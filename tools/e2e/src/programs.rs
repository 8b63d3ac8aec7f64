//! The programs: the cluster's from their Go modules, and `pratique`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pratique_harness::{Error, cargo, go, workspace};

/// Where the programs are.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    folder: PathBuf,
    pratique: PathBuf,
}

impl Programs {
    /// Builds all of them; `pratique` with a profile of cargo's, unless there is one already.
    pub(super) fn build(pratique: Option<&Path>, profile: &str) -> Result<Self, Error> {
        let pratique = pratique.map_or_else(|| cargo::pratique(profile), |path| Ok(path.to_owned()))?;
        let folder = workspace::target().join("e2e");
        fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
        for package in ["etcd", "kubectl", "apiserver"] {
            go::build_changed("e2e", package, &folder)?;
        }
        Ok(Programs { folder, pratique })
    }

    /// The folder of the cluster's programs.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn pratique(&self) -> Command {
        Command::new(&self.pratique)
    }

    /// etcd, kubectl or apiserver.
    pub(super) fn cluster(&self, name: &str) -> Command {
        Command::new(self.folder.join(name))
    }
}
