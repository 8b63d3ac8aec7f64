//! The programs: the cluster's and the store from their Go modules, and `pratique`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pratique_harness::{Error, cargo, go, workspace};

/// The paths of the programs.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    folder: PathBuf,
    pratique: PathBuf,
}

impl Programs {
    /// Builds all of them; `pratique` with a profile of cargo's, unless there is one already.
    pub(super) fn build(pratique: Option<&Path>, profile: &str) -> Result<Self, Error> {
        let pratique = match pratique {
            // It is run in other directories.
            Some(path) => fs::canonicalize(path).map_err(Error::file(path))?,
            None => cargo::pratique(profile)?,
        };
        let folder = workspace::target().join("e2e");
        for package in ["etcd", "kubectl", "apiserver", "controller-manager"] {
            go::build_changed("e2e", &format!("./{package}"), &folder)?;
        }
        go::build_changed("s3", "github.com/versity/versitygw/cmd/versitygw", &folder)?;
        Ok(Programs { folder, pratique })
    }

    /// The folder of the cluster's programs.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn pratique(&self) -> Command {
        Command::new(&self.pratique)
    }

    /// A program by its name, such as etcd.
    pub(super) fn cluster(&self, name: &str) -> Command {
        Command::new(self.folder.join(name))
    }
}

/// The output of a command that succeeds, or how it failed.
pub(super) fn succeeds(command: &mut Command) -> Result<String, Error> {
    let output = command
        .output()
        .map_err(Error::program(command.get_program().display()))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!("{command:?}: {}", describe(&output)).into())
    }
}

/// The exit status and the output of a command.
pub(super) fn describe(output: &Output) -> String {
    let [out, errors] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{}\n{out}{errors}", output.status)
}
