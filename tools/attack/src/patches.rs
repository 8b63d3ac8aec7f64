//! JSON Patches that copy without end.

use super::AttackScale;
use super::attacked_server::ServedProgram;
use super::reviews;
use pratique_harness::ToolError;

/// How long the annotation is that a policy copies a dozen times: 3 MiB of copies are allowed.
const COPIED: usize = 300_000;
/// The error of an API server for more.
pub(super) const LIMIT: &str = "exceeding the limit 3145728";

/// A policy's patch that copies more than an API server allows is an error, and one that copies less is applied.
pub(super) fn by_policy(served: &ServedProgram, scale: AttackScale) -> Result<String, ToolError> {
    for _ in 0..scale.rounds {
        for (bytes, allowed) in [(COPIED / 2, true), (COPIED, false)] {
            let answer = served.post("/mutate", &reviews::copied(bytes).to_string())?;
            let text = String::from_utf8_lossy(&answer.body);
            let right = if allowed {
                text.contains("\"allowed\":true") && text.contains("\"patch\"")
            } else {
                text.contains("\"allowed\":false") && text.contains(LIMIT)
            };
            if answer.code != 200 || !right {
                let start: String = text.chars().take(500).collect();
                return Err(format!("12 copies of {bytes} bytes: {}: {start}", answer.code).into());
            }
        }
    }
    Ok(format!(
        "12 copies of {COPIED} bytes were denied, of {} applied",
        COPIED / 2
    ))
}
