//! A language server that is asked about one document.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use pratique_harness::Error;
use serde_json::{Value, json};

use super::measured::processor_time;

/// A running `pratique lsp` with an open document. It ends with this value.
pub(super) struct LanguageServer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    uri: String,
    version: i64,
}

impl LanguageServer {
    /// Starts the server, and opens a file that has this text.
    pub(super) fn start(program: &Path, path: &Path, text: &str) -> Result<Self, Error> {
        let mut child = Command::new(program)
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(Error::program("pratique lsp"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("pratique lsp has no pipes".into());
        };
        let path = path.canonicalize().map_err(Error::file(&path))?;
        let root = path.parent().unwrap_or(&path).display().to_string();
        let mut server = LanguageServer {
            child,
            input,
            output: BufReader::new(output),
            uri: format!("file://{}", path.display()),
            version: 1,
        };
        let initialize = json!({"processId": null, "rootUri": format!("file://{root}"), "capabilities": {}});
        server.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize}))?;
        while server.receive()?.get("id") != Some(&json!(1)) {}
        server.notify("initialized", &json!({}))?;
        let document = json!({"uri": server.uri, "languageId": "yaml", "version": 1, "text": text});
        server.notify("textDocument/didOpen", &json!({"textDocument": document}))?;
        server.await_diagnostics()?;
        Ok(server)
    }

    /// Changes the document; returns the time until the server has said what is wrong with it.
    pub(super) fn edit(&mut self, text: &str) -> Result<Duration, Error> {
        let begun = Instant::now();
        self.version += 1;
        let document = json!({"uri": self.uri, "version": self.version});
        let changes = json!({"textDocument": document, "contentChanges": [{"text": text}]});
        self.notify("textDocument/didChange", &changes)?;
        self.await_diagnostics()?;
        Ok(begun.elapsed())
    }

    /// The time on processors until now.
    pub(super) fn processor_time(&self) -> Duration {
        processor_time(self.child.id())
    }

    fn await_diagnostics(&mut self) -> Result<(), Error> {
        loop {
            let message = self.receive()?;
            let params = message.get("params").unwrap_or(&Value::Null);
            let is_of_document = params.get("uri").and_then(Value::as_str) == Some(&self.uri);
            let version = params.get("version").and_then(Value::as_i64);
            if message.get("method") == Some(&json!("textDocument/publishDiagnostics"))
                && is_of_document
                && version.is_none_or(|version| version == self.version)
            {
                return Ok(());
            }
        }
    }

    fn notify(&mut self, method: &str, params: &Value) -> Result<(), Error> {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    fn send(&mut self, message: &Value) -> Result<(), Error> {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len())
            .and_then(|()| self.input.flush())
            .map_err(Error::program("pratique lsp"))
    }

    fn receive(&mut self) -> Result<Value, Error> {
        let failed = Error::program("pratique lsp");
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

impl Drop for LanguageServer {
    fn drop(&mut self) {
        // One that has ended is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
