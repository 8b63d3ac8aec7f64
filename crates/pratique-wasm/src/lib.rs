//! The engine behind one function: a JSON request in, a JSON answer out.
//!
//! For hosts of WebAssembly (`wasm32-unknown-unknown`), such as browsers and Node.js, and for other languages. The request is
//! one of [`Request`]'s, the answer is described with [`Evaluate`] and [`Expression`]. Everything that is answered comes from the
//! crates that the command line uses: policies are loaded, linted and evaluated as `pratique check` and `pratique review`
//! do it, without files, sockets or threads.
//!
//! ```
//! let request = serde_json::json!({"evaluate": {
//!     "policies": [{"path": "policy.yaml", "text": r#"
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicy
//! metadata: {name: few}
//! spec:
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE]}]
//!   validations: [{expression: "object.spec.replicas <= 5", message: no more than 5 replicas}]
//! ---
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicyBinding
//! metadata: {name: few}
//! spec: {policyName: few, validationActions: [Deny]}
//! "#}],
//!     "object": "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 7, \
//!         selector: {matchLabels: {app: web}}, \
//!         template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}}}",
//! }});
//! let answer = pratique_wasm::answer(request.to_string().as_bytes());
//! let answer: serde_json::Value = serde_json::from_slice(&answer)?;
//! assert_eq!(answer["decision"], "denied");
//! assert_eq!(answer["explanation"]["policies"][0]["bindings"][0]["rounds"][0]["expressions"][0]["inner"][0]["value"], "7");
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! # In WebAssembly
//!
//! A module exports three functions, without unsafe code but their names. A host calls `pratique_input(length)`, writes the
//! request of that length to the address that it returned, calls `pratique_answer()`, which returns the length of the answer,
//! and reads it from the address that `pratique_output()` returns. A panic, or memory that is used up, ends in a trap; the
//! instance is then of no more use, and its host makes another of the same module.

mod answer;
mod evaluate;
#[cfg(target_family = "wasm")]
mod exports;
mod request;
#[cfg(test)]
mod tests;

pub use answer::answer;
pub use evaluate::Evaluation;
pub use request::{Evaluate, Expression, Request};
