//! A request to `pratique serve` over HTTP/1.1, compared with the same server without policies. There is no other side: an
//! API server evaluates its policies itself.

use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use pratique_harness::{RunningProcess, ToolError, free_port};
use serde_json::{Value, json};

use super::policies::PolicySet;
use super::rows::{EvaluatedObject, RowWork};
use super::{MeasuredRow, RowContext, objects};
use crate::build;
use crate::side::{ContestSide, SideProgram};

/// Measures both servers alternately.
pub(super) fn measure(context: &RowContext<'_>, policies: &PolicySet) -> Result<MeasuredRow, ToolError> {
    let (row, material, settings) = (context.row, context.material, context.settings);
    let server = match &context.programs.server {
        Some(built) => built.clone(),
        None => build::release("pratique")?,
    };
    let review = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": objects::request(EvaluatedObject::Full),
    });
    let review = material.file(&format!("{}-review.json", row.name), &review)?;
    let namespace = material.file("namespace.json", &objects::namespace())?;
    let ask = |name: &str, policies: &PolicySet| {
        let directory = material.policies(name, policies)?;
        let (server, address) = serve(&server, &directory, &namespace)?;
        let setup = json!({"address": address, "review": review});
        let (asking, allowed) = SideProgram::start(&context.programs.ours, &["ask"], &setup)?;
        match allowed {
            Value::Bool(true) => Ok((server, asking)),
            other => Err(ToolError::from(format!("{name}: the server answers {other}"))),
        }
    };
    let mut with = ask(&row.name, policies)?;
    let mut without = match row.control.as_ref().map(|control| &control.work) {
        Some(RowWork::Serve(policies)) => Some(ask(&format!("{}-control", row.name), policies)?),
        _ => None,
    };
    let mut measured = MeasuredRow::default();
    for _ in 0..settings.rounds {
        measured
            .ours
            .push(with.1.measure("ask", &row.name, settings.turn)?.each());
        if let Some((_, asking)) = &mut without {
            measured
                .control
                .push(asking.measure("ask", &row.name, settings.turn)?.each());
        }
    }
    Ok(measured)
}

/// Starts a server and waits until it listens.
fn serve(server: &Path, directory: &str, namespace: &str) -> Result<(RunningProcess, String), ToolError> {
    let address = format!("127.0.0.1:{}", free_port()?);
    let mut command = Command::new(server);
    command
        .args(["serve", "--plain-http", "--listen", &address])
        .args(["--manifests", directory, "--plugin", "ValidatingAdmissionPolicy"])
        .args(["--cluster-objects", namespace]);
    let mut process = RunningProcess::start(command, &Path::new(directory).with_extension("log"))?;
    process.wait_until("listening", |_| Ok(TcpStream::connect(&address).is_ok()))?;
    Ok((process, address))
}
