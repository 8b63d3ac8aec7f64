//! A client that says what it is told and no more.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::{Value, json};

use super::handler::DEADLINE;

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect(&self.body)
    }

    pub(crate) fn has(&self, header: &str) -> bool {
        self.head.to_lowercase().lines().any(|line| line == header)
    }
}

/// A connection.
pub(crate) struct Client<S: Read + Write> {
    stream: BufReader<S>,
}

impl Client<TcpStream> {
    pub(crate) fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        Client::over(stream)
    }

    /// Whether something can be read, such as an answer or the end of the connection.
    pub(crate) fn has_answer(&self) -> bool {
        let stream = self.stream.get_ref();
        stream.set_nonblocking(true).unwrap();
        let peeked = stream.peek(&mut [0]);
        stream.set_nonblocking(false).unwrap();
        !matches!(peeked, Err(error) if error.kind() == ErrorKind::WouldBlock)
    }
}

impl<S: Read + Write> Client<S> {
    pub(crate) fn over(stream: S) -> Self {
        Client {
            stream: BufReader::new(stream),
        }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stream.get_mut().write_all(bytes)?;
        self.stream.get_mut().flush()
    }

    /// Sends a request.
    pub(crate) fn ask(&mut self, method: &str, path: &str, headers: &str, body: &[u8]) -> Answer {
        self.try_ask(method, path, headers, body).expect("no answer")
    }

    /// Sends a request; `None` when the connection ends instead of an answer.
    fn try_ask(&mut self, method: &str, path: &str, headers: &str, body: &[u8]) -> Option<Answer> {
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: {length}\r\n\r\n"
        );
        self.send(&[head.as_bytes(), body].concat()).ok()?;
        match method {
            "HEAD" => self.read_head(),
            _ => self.read(),
        }
    }

    pub(crate) fn get(&mut self, path: &str) -> Answer {
        self.ask("GET", path, "", b"")
    }

    /// Asks for a review of an object of this name.
    pub(crate) fn review(&mut self, path: &str, name: &str) -> Answer {
        self.try_review(path, name).expect("no answer")
    }

    /// Likewise; `None` when the connection ends instead of an answer.
    pub(crate) fn try_review(&mut self, path: &str, name: &str) -> Option<Answer> {
        let body = review(name).to_string();
        self.try_ask(
            "POST",
            path,
            "Content-Type: application/json\r\n",
            body.as_bytes(),
        )
    }

    /// Reads an answer; `None` when the connection ends instead.
    pub(crate) fn read(&mut self) -> Option<Answer> {
        let mut answer = self.read_head()?;
        let length = answer.head.to_lowercase();
        let length = length
            .lines()
            .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        self.stream.read_exact(&mut body).ok()?;
        answer.body = String::from_utf8(body).unwrap();
        Some(answer)
    }

    fn read_head(&mut self) -> Option<Answer> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.stream.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let code = head.split(' ').nth(1)?.parse().ok()?;
        Some(Answer {
            code,
            head: head.replace("\r\n", "\n"),
            body: String::new(),
        })
    }
}

/// A review of an object of this name.
pub(crate) fn review(name: &str) -> Value {
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "u1", "operation": "CREATE", "name": name, "namespace": "n",
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "userInfo": {"username": "dev"}, "object": {"metadata": {"name": name}}, "oldObject": null
        }
    })
}
