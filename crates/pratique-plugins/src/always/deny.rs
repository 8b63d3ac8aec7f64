//! AlwaysDeny, which refuses everything.

use pratique_core::Attributes;
use pratique_plugin::{
    Effects, MutableAttributes, Operations, Plugin, PluginContext, PluginFactory, Rejection,
};

use crate::answer::forbidden;

pub(crate) const FACTORY: PluginFactory = PluginFactory {
    name: "AlwaysDeny",
    make: |_| Ok(Box::new(AlwaysDeny)),
};

// Upstream: plugin/pkg/admission/deny/admission.go
struct AlwaysDeny;

const ERROR: &str = "admission control is denying all modifications";

impl Plugin for AlwaysDeny {
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
