//! A language server that is asked about one document.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use pratique_harness::ToolError;
use serde_json::{Value, json};

/// A running `pratique lsp` with an open document. It ends with this value.
pub(super) struct LanguageServer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    uri: String,
    version: i64,
    requests: i64,
}

/// How long it was until something was said.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepTime {
    pub(super) clock: Duration,
    /// On processors, of the server.
    pub(super) processor: Duration,
}

impl LanguageServer {
    /// Starts the server, and opens a file that has this text.
    pub(super) fn start(program: &Path, path: &Path, text: &str) -> Result<Self, ToolError> {
        let mut child = Command::new(program)
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(ToolError::program("pratique lsp"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("pratique lsp has no pipes".into());
        };
        let path = path.canonicalize().map_err(ToolError::file(&path))?;
        let root = path.parent().unwrap_or(&path).display().to_string();
        let mut server = LanguageServer {
            child,
            input,
            output: BufReader::new(output),
            uri: format!("file://{}", path.display()),
            version: 1,
            requests: 0,
        };
        let initialize = json!({"processId": null, "rootUri": format!("file://{root}"), "capabilities": {}});
        let id = server.request("initialize", &initialize)?;
        server.await_answer(id)?;
        server.notify("initialized", &json!({}))?;
        let document = json!({"uri": server.uri, "languageId": "yaml", "version": 1, "text": text});
        server.notify("textDocument/didOpen", &json!({"textDocument": document}))?;
        server.await_findings(StepClock::new(server.child.id()))?;
        Ok(server)
    }

    /// Changes the document; returns the time until the server has said what loading finds in it, and what lints find.
    pub(super) fn edit(&mut self, text: &str) -> Result<[StepTime; 2], ToolError> {
        let clock = StepClock::new(self.child.id());
        self.version += 1;
        let document = json!({"uri": self.uri, "version": self.version});
        let changes = json!({"textDocument": document, "contentChanges": [{"text": text}]});
        self.notify("textDocument/didChange", &changes)?;
        self.await_findings(clock)
    }

    /// Waits for what is found in the document. Nothing is published of a file without findings, so requests are sent whose answers come
    /// behind what is published: those about symbols need the document loaded, those for fixes its lints. Both wait when the server
    /// begins, as a request that comes while lints run would end them.
    fn await_findings(&mut self, clock: StepClock) -> Result<[StepTime; 2], ToolError> {
        let document = json!({"uri": self.uri});
        let symbols = self.request("textDocument/documentSymbol", &json!({"textDocument": document}))?;
        let start = json!({"line": 0, "character": 0});
        let range = json!({"start": start, "end": start});
        let fixes = json!({"textDocument": document, "range": range, "context": {"diagnostics": []}});
        let fixes = self.request("textDocument/codeAction", &fixes)?;
        self.await_answer(symbols)?;
        let loaded = clock.time();
        self.await_answer(fixes)?;
        Ok([loaded, clock.time()])
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<i64, ToolError> {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        Ok(id)
    }

    /// Waits for the answer to a request, which must not be an error.
    fn await_answer(&mut self, id: i64) -> Result<(), ToolError> {
        loop {
            let message = self.receive()?;
            if message.get("method").is_some() || message.get("id") != Some(&json!(id)) {
                continue;
            }
            return match message.get("error") {
                Some(error) => Err(format!("pratique lsp: {error}").into()),
                None => Ok(()),
            };
        }
    }

    fn notify(&mut self, method: &str, params: &Value) -> Result<(), ToolError> {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    fn send(&mut self, message: &Value) -> Result<(), ToolError> {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len())
            .and_then(|()| self.input.flush())
            .map_err(ToolError::program("pratique lsp"))
    }

    fn receive(&mut self) -> Result<Value, ToolError> {
        let failed = ToolError::program("pratique lsp");
        let mut length = None;
        let mut line = String::new();
        let read = loop {
            line.clear();
            match self.output.read_line(&mut line) {
                Ok(0) => return Err("pratique lsp has ended".into()),
                Err(error) => break Err(error),
                Ok(_) if line.trim().is_empty() => break Ok(()),
                Ok(_) => {}
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse::<usize>().ok();
            }
        };
        let mut body = vec![0; length.unwrap_or(0)];
        read.and_then(|()| self.output.read_exact(&mut body))
            .map_err(failed)?;
        serde_json::from_slice(&body).map_err(|error| format!("pratique lsp: {error}").into())
    }
}

/// Measures a server from one moment on.
#[derive(Clone, Copy)]
struct StepClock {
    server: u32,
    begun: Instant,
    earlier: Duration,
}

impl StepClock {
    fn new(server: u32) -> Self {
        StepClock {
            server,
            earlier: processor_time(server),
            begun: Instant::now(),
        }
    }

    fn time(&self) -> StepTime {
        let clock = self.begun.elapsed();
        StepTime {
            clock,
            processor: processor_time(self.server).saturating_sub(self.earlier),
        }
    }
}

/// The time on processors of the threads of a process, which has all that it ever had. Edits take less than the ticks of `stat`.
fn processor_time(id: u32) -> Duration {
    let threads = std::fs::read_dir(Path::new("/proc").join(id.to_string()).join("task"));
    let threads = threads.into_iter().flatten().flatten();
    let times = threads.filter_map(|thread| {
        let schedule = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        schedule.split_whitespace().next()?.parse().ok()
    });
    times.map(Duration::from_nanos).sum()
}

impl Drop for LanguageServer {
    fn drop(&mut self) {
        // One that has ended is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that answers, and publishes nothing: as of a file without findings.
    const QUIET: &str = "#!/bin/sh\nfor id in 1 2 3 4 5; do\n\
        printf 'Content-Length: 40\\r\\n\\r\\n{\"jsonrpc\": \"2.0\", \"id\": %s, \"result\": 0}' $id\ndone\nexec cat > /dev/null\n";

    #[test]
    #[cfg(unix)]
    fn a_file_without_findings_is_measured() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = std::env::temp_dir().join(format!("pratique-bench-server-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let program = directory.join("server");
        std::fs::write(&program, QUIET).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut server = LanguageServer::start(&program, &program, "a: 1\n").unwrap();
        let [loaded, linted] = server.edit("a: 2\n").unwrap();
        assert!(loaded.clock <= linted.clock && loaded.processor <= linted.processor);
        drop(server);
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
