//! A request to `pratique serve` over HTTP/1.1, beside the same server without policies. There is no other side: an API
//! server has its policies inside.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::material::Material;
use super::objects;
use super::policies::Policies;
use super::rows::{Object, Row};
use super::{Measured, Programs, Settings};
use crate::bench::build;
use crate::bench::side::{Program, Side};

/// A server that ends when this goes.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        // Nothing can be done about one that cannot be ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Lets one client take turns at both servers.
pub(super) fn measure(
    row: &Row,
    policies: &Policies,
    material: &Material,
    programs: &Programs,
    settings: &Settings,
) -> Result<Measured, String> {
    let server = match &programs.server {
        Some(built) => built.clone(),
        None => build::release("pratique-cli", "pratique")?,
    };
    let review = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": objects::request(Object::Full),
    });
    let review = material.file(&format!("{}-review.json", row.name), &review)?;
    let namespace = material.file("namespace.json", &objects::namespace())?;
    let ask = |name: &str, policies: &Policies| {
        let directory = material.policies(name, policies)?;
        let (served, address) = serve(&server, &directory, &namespace)?;
        let setup = json!({"address": address, "review": review});
        let (asking, allowed) = Program::start(&programs.ours, &["ask"], &setup)?;
        match allowed {
            Value::Bool(true) => Ok((served, asking)),
            other => Err(format!("{name}: the server answers {other}")),
        }
    };
    let mut with = ask(row.name, policies)?;
    let mut without = match &row.beside {
        Some(beside) => Some(ask(&format!("{}-beside", row.name), &beside.policies)?),
        None => None,
    };
    let mut measured = Measured::default();
    for _ in 0..settings.rounds {
        measured
            .ours
            .push(with.1.measure("ask", row.name, settings.turn)?.each());
        if let Some((_, asking)) = &mut without {
            measured
                .beside
                .push(asking.measure("ask", row.name, settings.turn)?.each());
        }
    }
    Ok(measured)
}

/// Starts a server and waits until it listens.
fn serve(server: &Path, directory: &str, namespace: &str) -> Result<(Served, String), String> {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let address = free.map_err(|error| error.to_string())?.to_string();
    let failed = |error: std::io::Error| format!("{}: {error}", server.display());
    let mut child = Command::new(server)
        .args([
            "serve",
            "--plain-http",
            "--listen",
            &address,
            "--manifests",
            directory,
        ])
        .args([
            "--plugin",
            "ValidatingAdmissionPolicy",
            "--cluster-objects",
            namespace,
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let log = child.stderr.take();
    let served = Served(child);
    let mut lines = BufReader::new(log.ok_or("the server has no stderr")?).lines();
    for line in lines.by_ref() {
        if line.map_err(failed)?.contains(&address) {
            // What it writes later has to go somewhere.
            std::thread::spawn(move || lines.for_each(drop));
            return Ok((served, address));
        }
    }
    Err(format!("{} serve ended early", server.display()))
}
