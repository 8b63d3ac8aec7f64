//! AlwaysAdmit, which lets everything pass.

use pratique_plugin::{Operations, Plugin, PluginFactory};

pub(crate) const FACTORY: PluginFactory = PluginFactory {
    name: "AlwaysAdmit",
    make: |_| Ok(Box::new(AlwaysAdmit)),
};

// Upstream: plugin/pkg/admission/admit/admission.go
struct AlwaysAdmit;

impl Plugin for AlwaysAdmit {
    fn name(&self) -> &str {
        FACTORY.name
    }

    fn operations(&self) -> Operations {
        Operations::ALL
    }

    fn mutates(&self) -> bool {
        true
    }

    fn validates(&self) -> bool {
        true
    }
}
