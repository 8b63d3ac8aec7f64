//! Whether the manifests in ConfigMaps load.

use pratique::expressions::Expressions;
use pratique_manifest::{LoadOptions, Loader, ManifestFile, ManifestPlugin};
use serde_json::Value;

use super::objects::{RenderedObject, items, read, text_at};

/// The faults that keep the files of a ConfigMap from loading.
pub(super) fn faults(object: &RenderedObject) -> Vec<String> {
    if object.kind() != "ConfigMap" {
        return Vec::new();
    }
    let files: Vec<ManifestFile> = data(object)
        .map(|(name, text)| ManifestFile {
            path: name.to_owned(),
            content: text.as_bytes().to_vec(),
        })
        .collect();
    let Some(plugin) = plugin(object) else {
        return Vec::new();
    };
    let expressions = Expressions::new(std::sync::Arc::default());
    match Loader::for_plugin(plugin, &LoadOptions::new(&expressions)).load_files(&files) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.problems().map(|problem| problem.message.clone()).collect(),
    }
}

/// The directories of manifests that an AdmissionConfiguration in a ConfigMap names.
pub(super) fn directories(object: &RenderedObject) -> Vec<String> {
    let files = data(object)
        .filter_map(|(name, text)| read(name, text).ok())
        .flatten();
    let configurations = files.filter(|configuration| configuration.kind() == "AdmissionConfiguration");
    configurations
        .flat_map(|configuration| {
            let plugins = items(configuration.part("/plugins")).iter();
            plugins
                .map(|plugin| text_at(plugin, "/configuration/staticManifestsDir").to_owned())
                .filter(|path| !path.is_empty())
                .collect::<Vec<_>>()
        })
        .collect()
}

/// The plugin of a ConfigMap's manifests, from its name.
fn plugin(object: &RenderedObject) -> Option<ManifestPlugin> {
    match object.name().rsplit('-').next() {
        Some("validating") => Some(ManifestPlugin::ValidatingAdmissionPolicy),
        Some("mutating") => Some(ManifestPlugin::MutatingAdmissionPolicy),
        _ => None,
    }
}

fn data(object: &RenderedObject) -> impl Iterator<Item = (&str, &str)> {
    let members = object.part("/data").as_object().into_iter().flatten();
    members.filter_map(|(name, value)| Some((name.as_str(), Value::as_str(value)?)))
}
