//! PersistentVolumeClaimResize: claims grow only where their class permits it.

use pratique_core::Attributes;
use pratique_gotext::quantity::Quantity;
use pratique_json::Value;
use pratique_plugin::{Handler, PluginContext, PluginFactory, StateKind};
use pratique_types::Operation;

use super::storage_class::BETA_CLASS;
use crate::answer::forbidden;
use crate::object::{annotation, is_kind, text};
use crate::plain::{Answer, PlainPlugin, plain};
use crate::pods::quantity;

pub(crate) const FACTORY: PluginFactory = PluginFactory {
    handler: Handler::new("PersistentVolumeClaimResize", &[Operation::Update])
        .validating()
        .needing(&[StateKind::STORAGE_CLASS]),
    make: |_| plain(FACTORY.handler, PersistentVolumeClaimResize),
};

// Upstream: plugin/pkg/admission/storage/persistentvolume/resize/admission.go
struct PersistentVolumeClaimResize;

impl PlainPlugin for PersistentVolumeClaimResize {
    fn validate(&self, attributes: &Attributes<'_>, context: &PluginContext<'_>) -> Answer {
        let request = attributes.request;
        let (claim, old) = (attributes.object, &request.old_object);
        let is_claim = |object: &Value<'_>| is_kind(object, "", "PersistentVolumeClaim");
        if request.resource.resource != "persistentvolumeclaims"
            || !request.resource.group.is_empty()
            || !request.sub_resource.is_empty()
            || !is_claim(claim)
            || !is_claim(old)
            || size(claim) <= size(old)
        {
            return Ok(());
        }
        if text(old, &["status", "phase"]) != "Bound" {
            return Err(forbidden(
                attributes,
                "Only bound persistent volume claims can be expanded",
            ));
        }
        let class = class_of(claim);
        let permitted = !class.is_empty()
            && class == class_of(old)
            && context
                .state
                .find(StateKind::STORAGE_CLASS, "", class)?
                .and_then(|class| class.get("allowVolumeExpansion")?.as_bool())
                .unwrap_or(false);
        match permitted {
            true => Ok(()),
            false => Err(forbidden(
                attributes,
                "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must \
                 support resize",
            )),
        }
    }
}

fn size(claim: &Value<'_>) -> Quantity {
    let asked = claim.at(&["spec", "resources", "requests", "storage"]);
    asked
        .and_then(quantity)
        .unwrap_or_else(|| Quantity::from_integer(0))
}

// Upstream: pkg/apis/core/helper/helpers.go, GetPersistentVolumeClaimClass
fn class_of<'v>(claim: &'v Value<'_>) -> &'v str {
    annotation(claim, BETA_CLASS).unwrap_or_else(|| text(claim, &["spec", "storageClassName"]))
}
