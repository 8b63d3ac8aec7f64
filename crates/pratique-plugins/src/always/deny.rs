//! AlwaysDeny, which refuses everything.

use pratique_core::Attributes;
use pratique_plugin::{Effects, Handler, MutableAttributes, Plugin, PluginContext, PluginFactory, Rejection};
use pratique_types::Operation;

use crate::answer::forbidden;

pub(crate) const FACTORY: PluginFactory = PluginFactory {
    handler: Handler::new("AlwaysDeny", &Operation::ALL)
        .mutating()
        .validating(),
    make: |_| Ok(Box::new(AlwaysDeny)),
};

// Upstream: plugin/pkg/admission/deny/admission.go
struct AlwaysDeny;

const ERROR: &str = "admission control is denying all modifications";

impl Plugin for AlwaysDeny {
    fn handler(&self) -> &Handler {
        &FACTORY.handler
    }

    fn admit(
        &self,
        attributes: &mut MutableAttributes<'_, '_>,
        _: &PluginContext<'_>,
        _: &mut Effects,
    ) -> Result<(), Rejection> {
        Err(forbidden(&attributes.as_attributes(), ERROR))
    }

    fn validate(
        &self,
        attributes: &Attributes<'_>,
        _: &PluginContext<'_>,
        _: &mut Effects,
    ) -> Result<(), Rejection> {
        Err(forbidden(attributes, ERROR))
    }
}
