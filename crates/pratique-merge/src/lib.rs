//! How admission changes objects: JSON Patch as the Kubernetes API server applies it.

pub mod json_patch;
