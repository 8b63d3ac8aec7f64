//! The admission plugin.

use pratique_core::Attributes;
use pratique_json::{Object, Value};
use pratique_plugin::{
    ChangedQuota, DerivedCache, Effects, Handler, MissingState, Plugin, PluginContext, PluginFactory,
    Rejection, StateKind,
};
use pratique_types::Operation;

use crate::check::{NewUsage, QuotaCheck};
use crate::fields::text_at;
use crate::quota_measures::{MeasureInputs, MeasuredResource};
use crate::quotas::QuotaIndex;
use crate::resource_list::members;
use crate::usage::{PODS_READ, UsageRules};
use crate::{QuotaSettings, read_limited_resources};

/// The plugin's name.
pub const NAME: &str = "ResourceQuota";

/// Makes the plugin from its configuration.
pub const FACTORY: PluginFactory = PluginFactory {
    handler: Handler::new(NAME, &[Operation::Create, Operation::Update])
        .validating()
        .needing(&[
            StateKind::RESOURCE_QUOTA,
            StateKind::DEVICE_CLASS,
            StateKind::RESOURCE_CLAIM,
            StateKind::POD,
        ])
        .reading(&[PODS_READ]),
    make: |_, settings| {
        let limited = match settings.configuration {
            Some(text) => read_limited_resources(
                settings.configuration_file,
                text,
                settings.feature_gates.release(),
            )?,
            None => Vec::new(),
        };
        Ok(Box::new(ResourceQuota::new(QuotaSettings {
            limited,
            feature_gates: settings.feature_gates,
        })))
    },
};

/// The quotas of more namespaces than this are not kept.
const MAX_NAMESPACES: usize = 4096;

/// The admission plugin `ResourceQuota`.
///
/// It writes no usage: the new statuses of quotas are in [`Effects::booked`], and count once the quotas of the
/// [`ClusterState`](pratique_plugin::ClusterState) have them.
pub struct ResourceQuota {
    settings: QuotaSettings,
    rules: UsageRules,
    quotas: DerivedCache<QuotaIndex>,
}

impl ResourceQuota {
    /// The plugin with these settings.
    pub fn new(settings: QuotaSettings) -> Self {
        ResourceQuota {
            rules: UsageRules::new(settings.feature_gates),
            settings,
            quotas: DerivedCache::new(MAX_NAMESPACES),
        }
    }
}

impl Default for ResourceQuota {
    fn default() -> Self {
        ResourceQuota::new(QuotaSettings::default())
    }
}

impl Plugin for ResourceQuota {
    fn handler(&self) -> &Handler {
        &FACTORY.handler
    }

    // Upstream: pkg/admission/plugin/resourcequota/admission.go, Validate
    fn validate(
        &self,
        attributes: &Attributes<'_>,
        context: &PluginContext<'_>,
        effects: &mut Effects,
    ) -> Result<(), Rejection> {
        let request = attributes.request;
        let is_namespace = request.kind.is_core("Namespace");
        if request.namespace.is_empty() || (is_namespace && request.operation == Operation::Create) {
            return Ok(());
        }
        let Some(measured) = MeasuredResource::from_resource(&request.resource) else {
            return Ok(());
        };
        if !measured.handles(attributes) {
            return Ok(());
        }
        let list = context
            .state
            .require_list(StateKind::RESOURCE_QUOTA, &request.namespace)?;
        let has_limited = !self.settings.limited.is_empty();
        if list.is_empty() && !has_limited {
            return Ok(());
        }
        let quotas = self.quotas.get(&request.namespace, list);
        if request.assumes_resource && quotas.index().counts_any_of(&request.kind.group) {
            return Err(MissingState::Resource(request.kind.clone()).into());
        }
        let measuring = MeasureInputs {
            state: context.state,
            limited: &self.settings.limited,
            rules: self.rules,
            now: context.now,
            namespace: &request.namespace,
            classes: None,
        };
        let check = QuotaCheck {
            attributes,
            measured: &measured,
            measuring: measuring.with_classes(&measured)?,
        };
        // Scopes that are limited may be covered by quotas that limit nothing that is measured.
        let booked = if has_limited {
            check.run(quotas.items())?
        } else {
            check.run(quotas.at(&quotas.index().places(&measured)))?
        };
        if context.state.lacks_controllers()
            && let Some(quota) = list
                .iter()
                .find(|quota| is_unfilled(quota, &measured, self.rules))
        {
            return Err(MissingState::Status {
                kind: StateKind::RESOURCE_QUOTA,
                namespace: request.namespace.clone(),
                name: text_at(quota, &["metadata", "name"]).to_owned(),
                field: "status.hard",
            }
            .into());
        }
        if request.dry_run != Some(true) {
            let booked = booked.into_iter().map(|new| booking(&request.namespace, &new));
            effects.booked.extend(booked);
        }
        Ok(())
    }
}

/// Whether a quota is to limit what is measured, and its controller has not written into its status that it does: it limits
/// nothing until then.
///
/// Upstream: pkg/controller/resourcequota/resource_quota_controller.go, `syncResourceQuota`
fn is_unfilled(quota: &Value<'_>, measured: &MeasuredResource, rules: UsageRules) -> bool {
    let mut names = members(quota.at(&["spec", "hard"]));
    quota.at(&["status", "hard"]).is_none() && names.any(|(name, _)| measured.matches(name, rules, None) > 0)
}

/// The new status of a quota.
fn booking(namespace: &str, new: &NewUsage<'_>) -> ChangedQuota {
    let used = new.used.iter();
    let used: Object<'static> = used
        .map(|(name, amount)| (name.to_owned().into(), Value::from(amount.to_string())))
        .collect();
    let status = new.quota.object.get("status").and_then(Value::as_object);
    let mut status = status
        .map(|status| status.clone().into_owned())
        .unwrap_or_default();
    status.insert("used", Value::Object(used));
    ChangedQuota {
        namespace: namespace.to_owned(),
        name: new.quota.name.clone(),
        status: Value::Object(status),
    }
}
