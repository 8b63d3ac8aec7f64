//! The command `pratique`, run over the files of a case.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pratique_harness::ToolError;
use serde_json::Value;

/// The program, and a directory that it runs in.
pub(super) struct CliProgram {
    path: PathBuf,
    directory: PathBuf,
}

/// The output of the program.
pub(super) struct ProgramRun {
    /// Standard output, if it is JSON.
    pub(super) output: Option<Value>,
    pub(super) messages: String,
}

impl CliProgram {
    pub(super) fn new(path: &Path) -> Result<Self, ToolError> {
        let directory = std::env::temp_dir().join(format!("pratique-agree-{}", std::process::id()));
        Ok(CliProgram {
            path: path.canonicalize().map_err(ToolError::file(&path))?,
            directory,
        })
    }

    /// Runs it in a directory that has these files and nothing else.
    pub(super) fn run(
        &self,
        files: &[(String, String)],
        arguments: &[&str],
    ) -> Result<ProgramRun, ToolError> {
        self.clear();
        fs::create_dir_all(&self.directory).map_err(ToolError::file(&self.directory))?;
        for (name, text) in files {
            let path = self.directory.join(name);
            let parent = path.parent().unwrap_or(&self.directory);
            fs::create_dir_all(parent).map_err(ToolError::file(&parent))?;
            fs::write(&path, text).map_err(ToolError::file(&path))?;
        }
        let ran = Command::new(&self.path)
            .args(arguments)
            .args(["--no-project-file", "--output", "json"])
            .current_dir(&self.directory)
            .env_clear()
            .output()
            .map_err(ToolError::program(self.path.display()))?;
        Ok(ProgramRun {
            output: serde_json::from_slice(&ran.stdout).ok(),
            messages: String::from_utf8_lossy(&ran.stderr).into_owned(),
        })
    }

    fn clear(&self) {
        // What stays in a folder of temporary files is in the way of nothing but the next case, which would tell.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

impl Drop for CliProgram {
    fn drop(&mut self) {
        self.clear();
    }
}
