//! AlwaysAdmit, which lets everything pass, and AlwaysDeny, which refuses everything.

use pratique_core::Attributes;
use pratique_plugin::MutableAttributes;

use crate::answer::forbidden;
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};

// Upstream: plugin/pkg/admission/admit/admission.go
pub(crate) struct AlwaysAdmit;

impl BuiltInPlugin for AlwaysAdmit {}

// Upstream: plugin/pkg/admission/deny/admission.go
pub(crate) struct AlwaysDeny;

const ERROR: &str = "admission control is denying all modifications";

impl BuiltInPlugin for AlwaysDeny {
    fn admit(&self, attributes: &mut MutableAttributes<'_, '_>, _: &mut PluginCall<'_>) -> PluginAnswer {
        Err(forbidden(&attributes.as_attributes(), ERROR))
    }

    fn validate(&self, attributes: &Attributes<'_>, _: &mut PluginCall<'_>) -> PluginAnswer {
        Err(forbidden(attributes, ERROR))
    }
}
