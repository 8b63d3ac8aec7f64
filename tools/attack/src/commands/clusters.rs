//! Clusters that are read once, whose answers have no end.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::thread;

use super::{AttackScale, run, write};
use pratique_harness::ToolError;

/// The most memory that a command may have for it, in KiB: eight answers as large as are read.
const MOST_MEMORY: u64 = 256 << 10;

/// An answer to whatever is asked, without end.
fn answer(stream: TcpStream) -> std::io::Result<()> {
    let mut writer = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while reader.read_line(&mut line)? > 0 && line != "\r\n" {
        line.clear();
    }
    writer.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n\
          26\r\n{\"kind\":\"List\",\"apiVersion\":\"v1\",\"x\":\"\r\n",
    )?;
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    loop {
        writer.write_all(chunk.as_bytes())?;
    }
}

/// Commands that read a cluster end with an error, and keep little of the answer.
pub(super) fn endless(program: &Path, folder: &Path, _: AttackScale) -> Result<String, ToolError> {
    let failed = |error: std::io::Error| format!("a cluster: {error}");
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that goes is what it is about.
            thread::spawn(move || answer(stream));
        }
    });
    let kubeconfig = serde_json::json!({"apiVersion": "v1", "kind": "Config", "current-context": "a",
        "clusters": [{"name": "a", "cluster": {"server": format!("http://{address}")}}],
        "users": [{"name": "a", "user": {}}], "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}]});
    write(folder, "kubeconfig.json", &kubeconfig.to_string())?;
    write(folder, "policies.yaml", include_str!("../policies.yaml"))?;
    write(
        folder,
        "pod.yaml",
        "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}, spec: {containers: [{name: a, image: b}]}}\n",
    )?;
    let mut results = Vec::new();
    for arguments in [
        &["snapshot", "out", "--kubeconfig", "kubeconfig.json"][..],
        &[
            "review",
            "pod.yaml",
            "--policies",
            "policies.yaml",
            "--kubeconfig",
            "kubeconfig.json",
        ],
        &[
            "scan",
            "--cluster",
            "--policies",
            "policies.yaml",
            "--kubeconfig",
            "kubeconfig.json",
        ],
    ] {
        let result = run(program, folder, arguments)?;
        let command_line = arguments.join(" ");
        if result.memory > MOST_MEMORY {
            return Err(format!("`{command_line}`: {}", result.summary()).into());
        }
        let summary = result.refused();
        results.push(summary.map_err(|error| ToolError::from(format!("`{command_line}`: {error}")))?);
    }
    Ok(results.join("\n"))
}
