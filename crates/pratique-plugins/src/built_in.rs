//! The shared parts of the built-in plugins.

use std::ops::Deref;

use pratique_core::Attributes;
use pratique_json::same_name;
use pratique_plugin::{
    Effects, Handler, MutableAttributes, Plugin, PluginContext, PluginSettings, Rejection, StartError,
};
use pratique_types::AdmissionRequest;

/// Whether a request passes a half of a plugin.
pub(crate) type PluginAnswer = Result<(), Rejection>;

/// A built-in plugin. The table of [`FACTORIES`](crate::FACTORIES) has when it is called.
pub(crate) trait BuiltInPlugin: Send + Sync {
    /// See [`Plugin::admit`].
    fn admit(
        &self,
        attributes: &mut MutableAttributes<'_, '_>,
        context: &mut PluginCall<'_>,
    ) -> PluginAnswer {
        let _ = (attributes, context);
        Ok(())
    }

    /// See [`Plugin::validate`].
    fn validate(&self, attributes: &Attributes<'_>, context: &mut PluginCall<'_>) -> PluginAnswer {
        let _ = (attributes, context);
        Ok(())
    }
}

/// The context of a request, and its effects besides the decision.
pub(crate) struct PluginCall<'c> {
    pub(crate) context: &'c PluginContext<'c>,
    pub(crate) effects: &'c mut Effects,
}

impl<'c> Deref for PluginCall<'c> {
    type Target = PluginContext<'c>;

    fn deref(&self) -> &Self::Target {
        self.context
    }
}

/// The requests that a plugin looks at; it lets others pass.
#[derive(Clone, Copy)]
pub(crate) enum HandledRequests {
    /// All.
    Any,
    /// None: the plugin is behind a feature gate that is off.
    Never,
    /// Those for a resource or a subresource.
    Of {
        group: &'static str,
        resource: &'static str,
        /// Empty for the objects themselves.
        subresource: &'static str,
    },
}

impl HandledRequests {
    /// Those for the objects of a resource themselves.
    pub(crate) const fn new(group: &'static str, resource: &'static str) -> Self {
        HandledRequests::to(group, resource, "")
    }

    /// Those to a subresource.
    pub(crate) const fn to(group: &'static str, resource: &'static str, subresource: &'static str) -> Self {
        HandledRequests::Of {
            group,
            resource,
            subresource,
        }
    }

    /// These where one of the feature gates is on.
    pub(crate) fn when(self, settings: &PluginSettings<'_>, gates: &[&str]) -> Self {
        if gates.iter().any(|gate| settings.feature_gates.is_on(gate)) {
            self
        } else {
            HandledRequests::Never
        }
    }

    fn contain(self, request: &AdmissionRequest<'_>) -> bool {
        match self {
            HandledRequests::Any => true,
            HandledRequests::Never => false,
            HandledRequests::Of {
                group,
                resource,
                subresource,
            } => {
                same_name(&request.sub_resource, subresource)
                    && same_name(&request.resource.resource, resource)
                    && same_name(&request.resource.group, group)
            }
        }
    }
}

/// Makes it a plugin that is called when the handler says, for these requests.
pub(crate) fn handled(
    handler: Handler,
    requests: HandledRequests,
    plugin: impl BuiltInPlugin + 'static,
) -> Result<Box<dyn Plugin>, StartError> {
    Ok(Box::new(HandledPlugin {
        handler,
        requests,
        plugin,
    }))
}

struct HandledPlugin<P> {
    handler: Handler,
    requests: HandledRequests,
    plugin: P,
}

impl<P: BuiltInPlugin> Plugin for HandledPlugin<P> {
    fn handler(&self) -> &Handler {
        &self.handler
    }

    fn admit(
        &self,
        attributes: &mut MutableAttributes<'_, '_>,
        context: &PluginContext<'_>,
        effects: &mut Effects,
    ) -> PluginAnswer {
        if self.requests.contain(attributes.request) {
            self.plugin
                .admit(attributes, &mut PluginCall { context, effects })
        } else {
            Ok(())
        }
    }

    fn validate(
        &self,
        attributes: &Attributes<'_>,
        context: &PluginContext<'_>,
        effects: &mut Effects,
    ) -> PluginAnswer {
        if self.requests.contain(attributes.request) {
            self.plugin
                .validate(attributes, &mut PluginCall { context, effects })
        } else {
            Ok(())
        }
    }
}
