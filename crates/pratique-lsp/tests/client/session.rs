//! A session of a client.

use std::fs;
use std::path::PathBuf;
use std::thread::{self, JoinHandle};

use lsp_server::{Message, Notification, Request, RequestId};
use pratique_lsp::{Connection, LspError};
use serde_json::{Value, json};

/// A client, and the server that it talks to.
pub(crate) struct Client {
    connection: Connection,
    server: Option<JoinHandle<Result<(), LspError>>>,
    pub(crate) directory: PathBuf,
    requests: i32,
    version: i32,
}

impl Client {
    /// A session in a directory with these files.
    pub(crate) fn new(name: &str, files: &[(&str, &str)]) -> Client {
        let directory = std::env::temp_dir().join(format!("pratique-lsp-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).unwrap();
        for (name, text) in files {
            let path = directory.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let (server, connection) = Connection::memory();
        let mut client = Client {
            connection,
            server: Some(thread::spawn(move || pratique_lsp::run(&server))),
            directory,
            requests: 0,
            version: 0,
        };
        let folder = format!("file://{}", client.directory.display());
        let capabilities = json!({"workspace": {"inlayHint": {"refreshSupport": true}}});
        let folders = json!([{"uri": folder, "name": name}]);
        let answer = client.ask(
            "initialize",
            json!({"capabilities": capabilities, "workspaceFolders": folders}),
        );
        assert_eq!(answer["capabilities"]["hoverProvider"], true);
        client.notify("initialized", json!({}));
        client
    }

    pub(crate) fn uri(&self, file: &str) -> String {
        format!("file://{}", self.directory.join(file).display())
    }

    pub(crate) fn notify(&self, method: &str, params: Value) {
        let notification = Notification::new(method.to_owned(), params);
        self.connection.sender.send(notification.into()).unwrap();
    }

    /// The result of a request; notifications before it are left out.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.answer(method, params).unwrap()
    }

    pub(crate) fn answer(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.requests += 1;
        let id = RequestId::from(self.requests);
        let request = Request::new(id.clone(), method.to_owned(), params);
        self.connection.sender.send(request.into()).unwrap();
        loop {
            match self.connection.receiver.recv().unwrap() {
                Message::Response(response) if response.id == id => {
                    return response.response_result.map_err(|error| error.message);
                }
                _ => {}
            }
        }
    }

    pub(crate) fn open(&self, file: &str, text: &str) {
        let document = json!({"uri": self.uri(file), "languageId": "yaml", "version": 0, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": document}));
    }

    /// Replaces the first occurrence of a text.
    pub(crate) fn replace(&mut self, file: &str, text: &str, from: &str, to: &str) {
        self.version += 1;
        let start = position(text, from, 0);
        let end = position(text, from, from.len());
        let document = json!({"uri": self.uri(file), "version": self.version});
        let change = json!({"range": {"start": start, "end": end}, "text": to});
        self.notify(
            "textDocument/didChange",
            json!({"textDocument": document, "contentChanges": [change]}),
        );
    }

    /// The diagnostics that are published next for a file: code and message.
    pub(crate) fn diagnostics(&self, file: &str) -> Vec<(String, String, Value)> {
        let uri = self.uri(file);
        loop {
            let (published, diagnostics) = self.next_diagnostics();
            if published == uri {
                return diagnostics;
            }
        }
    }

    /// The diagnostics that are published next, and the file that they are for.
    pub(crate) fn next_diagnostics(&self) -> (String, Vec<(String, String, Value)>) {
        loop {
            let message = self.connection.receiver.recv().unwrap();
            let Message::Notification(published) = message else {
                continue;
            };
            let Some(uri) = published.params["uri"].as_str() else {
                continue;
            };
            let of = |diagnostic: &Value| {
                let text = |field: &str| diagnostic[field].as_str().unwrap().to_owned();
                (
                    text("code"),
                    text("message"),
                    diagnostic["range"]["start"].clone(),
                )
            };
            let diagnostics = published.params["diagnostics"].as_array().unwrap();
            return (uri.to_owned(), diagnostics.iter().map(of).collect());
        }
    }

    /// Waits until the server asks the client for something.
    pub(crate) fn server_request(&self) -> String {
        loop {
            if let Message::Request(request) = self.connection.receiver.recv().unwrap() {
                return request.method;
            }
        }
    }

    pub(crate) fn save(&self, file: &str) {
        self.notify(
            "textDocument/didSave",
            json!({"textDocument": {"uri": self.uri(file)}}),
        );
    }

    pub(crate) fn at(&self, file: &str, text: &str, needle: &str, offset: usize) -> Value {
        json!({"textDocument": {"uri": self.uri(file)}, "position": position(text, needle, offset)})
    }

    pub(crate) fn end(mut self) {
        assert_eq!(self.ask("shutdown", Value::Null), Value::Null);
        self.notify("exit", Value::Null);
        self.server.take().unwrap().join().unwrap().unwrap();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Where some bytes behind the first occurrence of a text are.
pub(crate) fn position(text: &str, needle: &str, offset: usize) -> Value {
    let at = text.find(needle).unwrap() + offset;
    let line = text[..at].matches('\n').count();
    let start = text[..at].rfind('\n').map_or(0, |before| before + 1);
    json!({"line": line, "character": at - start})
}

/// A text after the edits of a code action.
pub(crate) fn edited(text: &str, edits: &Value) -> String {
    let mut text = text.to_owned();
    for edit in edits.as_array().unwrap() {
        let at = |place: &Value| {
            let line = usize::try_from(place["line"].as_u64().unwrap()).unwrap();
            let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
            start + usize::try_from(place["character"].as_u64().unwrap()).unwrap()
        };
        let range = at(&edit["range"]["start"])..at(&edit["range"]["end"]);
        text.replace_range(range, edit["newText"].as_str().unwrap());
    }
    text
}
