//! Inputs of both sides, as files: directories of policies, requests, namespaces.

use std::fs;
use std::path::{Path, PathBuf};

use pratique_harness::{ToolError, go};
use serde_json::{Value, json};

use super::objects;
use super::policies::PolicySet;
use super::rows::EvaluatedObject;

/// A directory that both sides read from; it is overwritten, and kept for inspection.
pub(super) struct BoardMaterial {
    directory: PathBuf,
    seed: u64,
    /// The OpenAPI document of core/v1, which the reference needs for mutations.
    document: Option<PathBuf>,
}

impl BoardMaterial {
    /// Of a seed, in a directory.
    pub(super) fn new(directory: &Path, seed: u64) -> Result<Self, ToolError> {
        fs::create_dir_all(directory).map_err(ToolError::file(&directory))?;
        let directory = directory.canonicalize();
        Ok(BoardMaterial {
            directory: directory.map_err(|error| error.to_string())?,
            seed,
            document: None,
        })
    }

    /// Finds the OpenAPI document for the reference.
    pub(super) fn for_reference(mut self) -> Result<Self, ToolError> {
        let module = go::dependency("load", "k8s.io/kubernetes")?;
        self.document = Some(module.join("api/openapi-spec/v3/api__v1_openapi.json"));
        Ok(self)
    }

    /// Writes policies into a directory of this name, and returns its path.
    pub(super) fn policies(&self, name: &str, policies: &PolicySet) -> Result<String, ToolError> {
        let directory = self.directory.join(name);
        policies.write(self.seed, &directory)?;
        Ok(directory.display().to_string())
    }

    /// Writes so many files, each of which can take the place of the policies' first, into a directory of this name, and
    /// returns the path of the first and that of the directory.
    pub(super) fn others(
        &self,
        name: &str,
        policies: &PolicySet,
        count: usize,
    ) -> Result<[String; 2], ToolError> {
        let others = self.directory.join(format!("{name}-others"));
        let failed = |error: std::io::Error| format!("{}: {error}", others.display());
        let _ = fs::remove_dir_all(&others);
        fs::create_dir_all(&others).map_err(failed)?;
        let one = PolicySet {
            count: 1,
            matching: None,
            ..*policies
        };
        let mut first = String::new();
        for other in 0..count {
            let seed = self.seed.wrapping_add(1 + u64::try_from(other).unwrap_or(0));
            for (file, text) in one.files(seed) {
                fs::write(others.join(format!("{other:04}.yaml")), text).map_err(failed)?;
                first = file;
            }
        }
        let first = self.directory.join(name).join(first);
        Ok([first, others].map(|path| path.display().to_string()))
    }

    /// Writes all inputs of a request, and returns the setup for the sides.
    pub(super) fn evaluated(
        &self,
        name: &str,
        policies: &PolicySet,
        object: EvaluatedObject,
    ) -> Result<Value, ToolError> {
        let directory = self.policies(name, policies)?;
        let request = self.file(&format!("{name}-request.json"), &objects::request(object))?;
        let namespace = self.file("namespace.json", &objects::namespace())?;
        Ok(json!({
            "plugin": policies.plugin(),
            "directory": directory,
            "request": request,
            "namespace": namespace,
            "openapi": self.document,
        }))
    }

    /// Writes a file of JSON and returns its path.
    pub(super) fn file(&self, name: &str, value: &Value) -> Result<String, ToolError> {
        let path = self.directory.join(name);
        fs::write(&path, objects::write_lines(value)).map_err(ToolError::file(&path))?;
        Ok(path.display().to_string())
    }
}
