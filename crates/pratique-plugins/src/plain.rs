//! Plugins that answer and do nothing else, which most are.

use pratique_core::Attributes;
use pratique_plugin::{Effects, Handler, MutableAttributes, Plugin, PluginContext, Rejection, StartError};

/// Whether a request passes a half of a plugin.
pub(crate) type Answer = Result<(), Rejection>;

/// A plugin without warnings, annotations or objects of its own.
pub(crate) trait PlainPlugin: Send + Sync {
    /// See [`Plugin::admit`].
    fn admit(&self, attributes: &mut MutableAttributes<'_, '_>, context: &PluginContext<'_>) -> Answer {
        let _ = (attributes, context);
        Ok(())
    }

    /// See [`Plugin::validate`].
    fn validate(&self, attributes: &Attributes<'_>, context: &PluginContext<'_>) -> Answer {
        let _ = (attributes, context);
        Ok(())
    }
}

/// Makes it a plugin that is called when the handler says.
pub(crate) fn plain(
    handler: Handler,
    plugin: impl PlainPlugin + 'static,
) -> Result<Box<dyn Plugin>, StartError> {
    Ok(Box::new(Handled { handler, plugin }))
}

struct Handled<P> {
    handler: Handler,
    plugin: P,
}

impl<P: PlainPlugin> Plugin for Handled<P> {
    fn handler(&self) -> &Handler {
        &self.handler
    }

    fn admit(
        &self,
        attributes: &mut MutableAttributes<'_, '_>,
        context: &PluginContext<'_>,
        _: &mut Effects,
    ) -> Answer {
        self.plugin.admit(attributes, context)
    }

    fn validate(&self, attributes: &Attributes<'_>, context: &PluginContext<'_>, _: &mut Effects) -> Answer {
        self.plugin.validate(attributes, context)
    }
}
