//! The objects of a kustomization as they are written: its resources and components, and the ConfigMaps that it makes.
//!
//! Nothing is patched or renamed; Kustomize itself does that.

use std::fs;
use std::path::Path;

use pratique_harness::ToolError;
use serde_json::{Map, Value, json};

use super::objects::{RenderedObject, items, read, text_at};

/// Gathers the objects of kustomizations that are applied together.
///
/// # Errors
/// When a file cannot be read.
pub fn written(directories: &[&Path]) -> Result<Vec<RenderedObject>, ToolError> {
    let mut objects = Vec::new();
    for directory in directories {
        gather(directory, &mut objects)?;
    }
    Ok(objects)
}

fn gather(directory: &Path, objects: &mut Vec<RenderedObject>) -> Result<(), ToolError> {
    let kustomizations = file(&directory.join("kustomization.yaml"))?;
    for kustomization in &kustomizations {
        for resource in items(kustomization.part("/resources"))
            .iter()
            .filter_map(Value::as_str)
        {
            objects.extend(file(&directory.join(resource))?);
        }
        for generator in items(kustomization.part("/configMapGenerator")) {
            objects.push(made(directory, generator)?);
        }
    }
    Ok(())
}

fn file(path: &Path) -> Result<Vec<RenderedObject>, ToolError> {
    let origin = path.display().to_string();
    let text = fs::read_to_string(path).map_err(|error| format!("{origin}: {error}"))?;
    read(&origin, &text)
}

fn made(directory: &Path, generator: &Value) -> Result<RenderedObject, ToolError> {
    let mut data = Map::new();
    for name in items(&generator["files"]).iter().filter_map(Value::as_str) {
        let path = directory.join(name);
        let text = fs::read_to_string(&path).map_err(ToolError::file(&path))?;
        let key = name.rsplit('/').next().unwrap_or_default();
        data.insert(key.to_owned(), text.into());
    }
    let metadata =
        json!({"name": text_at(generator, "/name"), "namespace": text_at(generator, "/namespace")});
    Ok(RenderedObject {
        origin: directory.display().to_string(),
        value: json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}),
    })
}
