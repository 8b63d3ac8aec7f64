//! The server under load.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use pratique_benches::memory::{kib, processor_time};
use pratique_harness::{RunningProcess, TestCertificates, ToolError, free_port};

/// A `pratique serve` with policies and a certificate of its own.
pub(super) struct ServedProgram {
    process: RunningProcess,
    port: u16,
    state: PathBuf,
    certificates: TestCertificates,
}

impl ServedProgram {
    /// Starts it in a fresh folder.
    pub(super) fn start(program: &Path, policies: usize) -> Result<Self, ToolError> {
        let state = std::env::temp_dir().join(format!("pratique-load-{}", std::process::id()));
        let manifests = state.join("manifests");
        let failed = |error: std::io::Error| format!("{}: {error}", state.display());
        fs::create_dir_all(&manifests).map_err(failed)?;
        for file in pratique_benches::manifests(policies) {
            fs::write(manifests.join(&file.path), &file.content).map_err(failed)?;
        }
        let certificates = TestCertificates::new(&state.join("tls"))?;
        let port = free_port()?;
        let mut command = Command::new(program);
        command
            .args(["serve", "--listen", &format!("127.0.0.1:{port}")])
            .arg("--manifests")
            .arg(&manifests)
            .arg("--tls-cert")
            .arg(certificates.certificate())
            .arg("--tls-key")
            .arg(certificates.key())
            .args(["--drain-delay", "2"]);
        let mut process = RunningProcess::start(command, &state.join("serve.log"))?;
        process.wait_until("serving", |process| Ok(process.log()?.contains("Serving")))?;
        Ok(ServedProgram {
            process,
            port,
            state,
            certificates,
        })
    }

    /// The address of the server.
    pub(super) fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port))
    }

    /// The directory of its files, which is removed in the end.
    pub(super) fn state(&self) -> &Path {
        &self.state
    }

    /// The directory of its policies.
    pub(super) fn manifests(&self) -> PathBuf {
        self.state.join("manifests")
    }

    /// The directory with the files `tls.crt` and `tls.key`.
    pub(super) fn certificate_directory(&self) -> PathBuf {
        self.state.join("tls")
    }

    /// The authority of its certificate.
    pub(super) fn authority(&self) -> PathBuf {
        self.certificates.authority()
    }

    /// The memory that it has now, in KiB.
    pub(super) fn memory(&self) -> Result<u64, ToolError> {
        Ok(kib(&self.process.id().to_string(), "VmRSS")?)
    }

    /// The processor time that the server has used.
    pub(super) fn processor_time(&self) -> Result<Duration, ToolError> {
        Ok(processor_time(&self.process.id().to_string())?)
    }

    /// Asks it to end; an error if it does not end well.
    pub(super) fn stop(&mut self) -> Result<(), ToolError> {
        let status = self.process.stop()?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("it ended with {status}").into())
        }
    }
}

impl Drop for ServedProgram {
    fn drop(&mut self) {
        // A folder of temporary files may stay.
        let _ = fs::remove_dir_all(&self.state);
    }
}
