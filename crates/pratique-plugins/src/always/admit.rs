//! AlwaysAdmit, which lets everything pass.

use pratique_plugin::{Handler, PluginFactory};
use pratique_types::Operation;

use crate::plain::{PlainPlugin, plain};

pub(crate) const FACTORY: PluginFactory = PluginFactory {
    handler: Handler::new("AlwaysAdmit", &Operation::ALL)
        .mutating()
        .validating(),
    make: |_| plain(FACTORY.handler, AlwaysAdmit),
};

// Upstream: plugin/pkg/admission/admit/admission.go
struct AlwaysAdmit;

impl PlainPlugin for AlwaysAdmit {}
