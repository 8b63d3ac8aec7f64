//! Validates webhook configurations as an API server does.

use pratique::expressions::Expressions;
use pratique_manifest::{ManifestFile, Options, load_api_files};

use super::objects::Object;

/// The faults of a webhook configuration.
pub(super) fn faults(object: &Object) -> Vec<String> {
    if !object.kind().ends_with("WebhookConfiguration") {
        return Vec::new();
    }
    let file = ManifestFile {
        path: object.origin.clone(),
        content: object.value.to_string().into_bytes(),
    };
    let expressions = Expressions::new(std::sync::Arc::default());
    match load_api_files(&[file], &Options::new(&expressions)) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.problems().map(|problem| problem.message.clone()).collect(),
    }
}
