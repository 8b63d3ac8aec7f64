//! AlwaysDeny, which refuses everything.

use pratique_core::Attributes;
use pratique_plugin::{Handler, MutableAttributes, PluginContext, PluginFactory};
use pratique_types::Operation;

use crate::answer::forbidden;
use crate::plain::{Answer, PlainPlugin, plain};

pub(crate) const FACTORY: PluginFactory = PluginFactory {
    handler: Handler::new("AlwaysDeny", &Operation::ALL)
        .mutating()
        .validating(),
    make: |_| plain(FACTORY.handler, AlwaysDeny),
};

// Upstream: plugin/pkg/admission/deny/admission.go
struct AlwaysDeny;

const ERROR: &str = "admission control is denying all modifications";

impl PlainPlugin for AlwaysDeny {
    fn admit(&self, attributes: &mut MutableAttributes<'_, '_>, _: &PluginContext<'_>) -> Answer {
        Err(forbidden(&attributes.as_attributes(), ERROR))
    }

    fn validate(&self, attributes: &Attributes<'_>, _: &PluginContext<'_>) -> Answer {
        Err(forbidden(attributes, ERROR))
    }
}
