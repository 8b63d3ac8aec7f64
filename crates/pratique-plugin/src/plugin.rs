//! The interface of a plugin.

use pratique_core::Attributes;

use crate::attributes::MutableAttributes;
use crate::context::PluginContext;
use crate::effects::Effects;
use crate::handler::Handler;
use crate::rejection::Rejection;

/// An admission plugin: it may change the object, reject the request, warn, annotate, and report objects to write.
///
/// Objects are decoded into their kind and defaulted, as an API server has them at that point.
// Upstream: pkg/admission/interfaces.go, Interface, MutationInterface, ValidationInterface
pub trait Plugin: Send + Sync {
    /// Its name, when it is called, and what it may look up.
    fn handler(&self) -> &Handler;

    /// The mutating half. It runs once more when a policy or a webhook changed the object afterwards.
    ///
    /// # Errors
    /// The request does not pass.
    fn admit(
        &self,
        attributes: &mut MutableAttributes<'_, '_>,
        context: &PluginContext<'_>,
        effects: &mut Effects,
    ) -> Result<(), Rejection> {
        let _ = (attributes, context, effects);
        Ok(())
    }

    /// The validating half.
    ///
    /// # Errors
    /// The request does not pass.
    fn validate(
        &self,
        attributes: &Attributes<'_>,
        context: &PluginContext<'_>,
        effects: &mut Effects,
    ) -> Result<(), Rejection> {
        let _ = (attributes, context, effects);
        Ok(())
    }
}
