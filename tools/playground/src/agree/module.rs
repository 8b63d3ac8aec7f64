//! The module in Node.js, and the same code built for this machine.

use std::path::Path;
use std::process::Command;

use pratique_harness::{LineProcess, ToolError};
use serde_json::Value;

use crate::source;

/// The module, which answers one request after another.
pub(super) struct WasmModule {
    node: LineProcess,
}

impl WasmModule {
    pub(super) fn start(module: &Path) -> Result<Self, ToolError> {
        let mut node = Command::new("node");
        node.arg("--stack-size=4000")
            .arg(source("tools/playground/lines.mjs"))
            .arg(source("bindings/javascript/engine.js"))
            .arg(module);
        Ok(WasmModule {
            node: LineProcess::start(&mut node)?,
        })
    }

    /// The answer to a request, or how it differs from what the code answers on this machine.
    pub(super) fn answer(&mut self, request: &Value) -> Result<Result<Value, String>, ToolError> {
        let request = request.to_string();
        self.node.send(&request)?;
        let of_module = self.node.receive()?;
        let here = pratique_wasm::answer(request.as_bytes());
        let here = String::from_utf8_lossy(&here);
        if of_module != here {
            return Ok(Err(format!(
                "the module answers\n  {of_module}\nand not\n  {here}"
            )));
        }
        let answer: Value = serde_json::from_str(&of_module).map_err(|error| error.to_string())?;
        Ok(Ok(answer))
    }
}
