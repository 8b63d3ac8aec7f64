//! Validates webhook configurations as an API server does.

use pratique::expressions::Expressions;
use pratique_manifest::{LoadOptions, Loader, ManifestFile};

use super::objects::RenderedObject;

/// The faults of a webhook configuration.
pub(super) fn faults(object: &RenderedObject) -> Vec<String> {
    if !object.kind().ends_with("WebhookConfiguration") {
        return Vec::new();
    }
    let file = ManifestFile {
        path: object.origin.clone(),
        content: object.value.to_string().into_bytes(),
    };
    let expressions = Expressions::new(std::sync::Arc::default());
    match Loader::for_api(&LoadOptions::new(&expressions)).load_files(&[file]) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.problems().map(|problem| problem.message.clone()).collect(),
    }
}
