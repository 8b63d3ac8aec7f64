//! AlwaysAdmit, which lets everything pass.

use pratique_plugin::{Handler, Plugin, PluginFactory};
use pratique_types::Operation;

pub(crate) const FACTORY: PluginFactory = PluginFactory {
    handler: Handler::new("AlwaysAdmit", &Operation::ALL)
        .mutating()
        .validating(),
    make: |_| Ok(Box::new(AlwaysAdmit)),
};

// Upstream: plugin/pkg/admission/admit/admission.go
struct AlwaysAdmit;

impl Plugin for AlwaysAdmit {
    fn handler(&self) -> &Handler {
        &FACTORY.handler
    }
}
