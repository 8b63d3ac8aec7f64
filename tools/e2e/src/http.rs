//! Requests to an API server, through `kubectl proxy`: of those that kubectl itself makes the whole answer is not shown.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use pratique_harness::{RunningProcess, ToolError, free_port};
use pratique_registry::Target;
use pratique_types::GroupVersion;
use serde_json::{Value, json};

use super::kubectl::KubectlUser;

/// A proxy with the rights of one user.
pub(super) struct UserProxy {
    _process: RunningProcess,
    port: u16,
}

impl UserProxy {
    /// Starts one.
    pub(super) fn start(kubectl: &KubectlUser) -> Result<Self, ToolError> {
        let port = free_port()?;
        let mut process = kubectl.start(&["proxy", &format!("--port={port}")], "proxy")?;
        process.wait_until("ready", |process| {
            Ok(process.log()?.contains("Starting to serve"))
        })?;
        Ok(UserProxy {
            _process: process,
            port,
        })
    }

    /// Asks what would come of the creation of an object, of which nothing is stored.
    pub(super) fn create_dry(&self, path: &str, object: &Value) -> Result<Value, ToolError> {
        let path = format!("{path}?dryRun=All");
        let send = || self.send("POST", &path, object);
        // On a busy machine the proxy may lose its connection.
        send().or_else(|_| send())
    }

    /// Sends an object: the code, with the object or the parts of the Status that say why not, and the warnings.
    pub(super) fn send(&self, method: &str, path: &str, object: &Value) -> Result<Value, ToolError> {
        let body = object.to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        // A connection of this version ends with the answer, which then is in one piece.
        write!(
            stream,
            "{method} {path} HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        answer(&text).ok_or_else(|| ToolError::from(format!("{method} {path}: {text}")))
    }
}

/// The answer in a response.
fn answer(response: &str) -> Option<Value> {
    let (head, body) = response.split_once("\r\n\r\n")?;
    let mut lines = head.lines();
    let code: u16 = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let warnings = lines.filter_map(|line| {
        let (name, value) = line.split_once(": ")?;
        let text = value.strip_prefix("299 - ")?;
        name.eq_ignore_ascii_case("Warning")
            .then(|| serde_json::from_str::<Value>(text).ok())?
    });
    let warnings: Vec<Value> = warnings.collect();
    let parsed: Option<Value> = serde_json::from_str(body).ok();
    let mut answer = match (code, parsed) {
        (200..300, object) => json!({"code": code, "object": object?}),
        (_, Some(body)) => {
            let parts = ["reason", "message", "details"].into_iter();
            let parts = parts.filter_map(|name| Some((name.to_owned(), body.get(name)?.clone())));
            json!({"code": code, "status": Value::Object(parts.collect())})
        }
        // A path that the server does not have, or a request on which it panics.
        (_, None) => json!({"code": code, "status": {"message": body.trim()}}),
    };
    if let (false, Some(members)) = (warnings.is_empty(), answer.as_object_mut()) {
        members.insert("warnings".to_owned(), Value::Array(warnings));
    }
    Some(answer)
}

/// The path of the collection that an object belongs to.
pub(super) fn path(object: &Value) -> Result<String, ToolError> {
    let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let version = GroupVersion::parse(text("/apiVersion")).map_err(|error| error.to_string())?;
    let namespace = text("/metadata/namespace");
    let target = Target::collection(&version.with_kind(text("/kind")), namespace)
        .ok_or_else(|| format!("no resource of {}", text("/kind")))?;
    let api = match text("/apiVersion") {
        "v1" => "/api/v1".to_owned(),
        version => format!("/apis/{version}"),
    };
    let resource = &target.resource.resource;
    Ok(if target.namespaced {
        format!("{api}/namespaces/{namespace}/{resource}")
    } else {
        format!("{api}/{resource}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_read() {
        let response = "HTTP/1.0 403 Forbidden\r\nWarning: 299 - \"old \\\"x\\\"\"\r\nOther: 1\r\n\r\n\
            {\"kind\":\"Status\",\"message\":\"no\",\"reason\":\"Forbidden\"}";
        let expected = json!({
            "code": 403,
            "status": {"message": "no", "reason": "Forbidden"},
            "warnings": ["old \"x\""],
        });
        assert_eq!(answer(response), Some(expected));
        let response = "HTTP/1.0 404 Not Found\r\nOther: 1\r\n\r\n404 page not found\n";
        let expected = json!({"code": 404, "status": {"message": "404 page not found"}});
        assert_eq!(answer(response), Some(expected));
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "shop"}});
        assert_eq!(path(&pod).unwrap(), "/api/v1/namespaces/shop/pods");
    }
}
