//! etcd, with its data in the state folder.

use std::path::Path;

use pratique_harness::{RunningProcess, ToolError, free_port};

use super::programs::ProgramPaths;

/// An etcd that serves.
pub(super) struct EtcdServer {
    _process: RunningProcess,
    url: String,
}

impl EtcdServer {
    /// Starts one with no data.
    pub(super) fn start(programs: &ProgramPaths, state: &Path) -> Result<Self, ToolError> {
        let url = format!("http://127.0.0.1:{}", free_port()?);
        let peers = format!("http://127.0.0.1:{}", free_port()?);
        let mut command = programs.cluster("etcd");
        command.arg("--data").arg(state.join("etcd"));
        command.args(["--clients", &url, "--peers", &peers]);
        let mut process = RunningProcess::start(command, &state.join("etcd.log"))?;
        process.wait_until("ready", |process| Ok(process.log()?.contains("ready")))?;
        Ok(EtcdServer {
            _process: process,
            url,
        })
    }

    /// Its client URL.
    pub(super) fn url(&self) -> &str {
        &self.url
    }
}
