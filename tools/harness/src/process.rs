//! Programs that run alongside a tool: started with a log, waited for, and ended with their owner.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::ToolError;

/// How long a program may take to start or to end.
const PATIENCE: Duration = Duration::from_secs(240);

/// How long to wait between two checks.
const PAUSE: Duration = Duration::from_millis(50);

/// A running program. It is killed and waited for on drop.
pub struct RunningProcess {
    child: Child,
    log: PathBuf,
}

impl RunningProcess {
    /// Starts a program that writes to a log.
    pub fn start(mut command: Command, log: &Path) -> Result<Self, ToolError> {
        let failed = ToolError::file(log);
        let file = File::options()
            .create(true)
            .append(true)
            .open(log)
            .map_err(&failed)?;
        let child = command
            .stdin(Stdio::null())
            .stdout(file.try_clone().map_err(&failed)?)
            .stderr(file)
            .spawn()
            .map_err(ToolError::program(command.get_program().display()))?;
        Ok(RunningProcess {
            child,
            log: log.to_owned(),
        })
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its output so far.
    pub fn log(&self) -> Result<String, ToolError> {
        fs::read_to_string(&self.log).map_err(ToolError::file(&self.log))
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>, ToolError> {
        Ok(self.child.try_wait()?)
    }

    /// Waits until a condition holds; an error if the program ends before, or the condition does not hold in time.
    pub fn wait_until(
        &mut self,
        what: &str,
        mut wanted: impl FnMut(&Self) -> Result<bool, ToolError>,
    ) -> Result<(), ToolError> {
        let give_up = Instant::now() + PATIENCE;
        while Instant::now() < give_up {
            if wanted(self)? {
                return Ok(());
            }
            if let Some(status) = self.ended()? {
                return Err(format!("not {what}: it ended with {status}\n{}", self.end_of_log()?).into());
            }
            thread::sleep(PAUSE);
        }
        Err(format!("not {what} in time\n{}", self.end_of_log()?).into())
    }

    /// Sends SIGTERM, and waits until the program has ended; kills it if it does not end.
    pub fn stop(&mut self) -> Result<ExitStatus, ToolError> {
        self.stop_by("TERM")
    }

    /// The same, by another signal.
    pub fn stop_by(&mut self, signal: &str) -> Result<ExitStatus, ToolError> {
        self.signal(signal)?;
        let give_up = Instant::now() + PATIENCE;
        while Instant::now() < give_up {
            if let Some(status) = self.ended()? {
                return Ok(status);
            }
            thread::sleep(PAUSE);
        }
        self.child.kill()?;
        Err(format!("it had to be killed\n{}", self.end_of_log()?).into())
    }

    /// Ends the program at once (SIGKILL), as a crash would.
    pub fn kill(&mut self) -> Result<(), ToolError> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    fn signal(&self, name: &str) -> Result<(), ToolError> {
        Command::new("kill")
            .arg(format!("-{name}"))
            .arg(self.child.id().to_string())
            .status()
            .map(drop)
            .map_err(ToolError::program("kill"))
    }

    fn end_of_log(&self) -> Result<String, ToolError> {
        let log = self.log()?;
        let lines: Vec<&str> = log.lines().rev().take(20).collect();
        Ok(lines.into_iter().rev().collect::<Vec<_>>().join("\n"))
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // Errors of killing it cannot be handled.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// A free port of the loopback address.
pub fn free_port() -> Result<u16, ToolError> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    Ok(listener.local_addr()?.port())
}

/// Waits until a condition holds that does not depend on a single process.
pub fn eventually(
    what: &str,
    mut wanted: impl FnMut() -> Result<bool, ToolError>,
) -> Result<Duration, ToolError> {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if wanted()? {
            return Ok(start.elapsed());
        }
        thread::sleep(PAUSE);
    }
    Err(format!("not {what} in time").into())
}
