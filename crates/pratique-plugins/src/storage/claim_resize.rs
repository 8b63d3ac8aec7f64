//! PersistentVolumeClaimResize: claims grow only where their class permits it.

use pratique_core::Attributes;
use pratique_gotext::quantity::Quantity;
use pratique_json::Value;
use pratique_plugin::StateKind;

use super::default_class::BETA_CLASS;
use crate::answer::forbidden;
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};
use crate::object::{annotation, is_kind, text};
use crate::pods::quantity;

// Upstream: plugin/pkg/admission/storage/persistentvolume/resize/admission.go
pub(crate) struct PersistentVolumeClaimResize;

impl BuiltInPlugin for PersistentVolumeClaimResize {
    fn validate(&self, attributes: &Attributes<'_>, context: &mut PluginCall<'_>) -> PluginAnswer {
        let request = attributes.request;
        let (claim, old) = (attributes.object, &request.old_object);
        let is_claim = |object: &Value<'_>| is_kind(object, "", "PersistentVolumeClaim");
        if !is_claim(claim) || !is_claim(old) || size(claim) <= size(old) {
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
        if permitted {
            Ok(())
        } else {
            Err(forbidden(
                attributes,
                "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must \
                 support resize",
            ))
        }
    }
}

fn size(claim: &Value<'_>) -> Quantity {
    let requested = claim.at(&["spec", "resources", "requests", "storage"]);
    requested
        .and_then(quantity)
        .unwrap_or_else(|| Quantity::from_integer(0))
}

// Upstream: pkg/apis/core/helper/helpers.go, GetPersistentVolumeClaimClass
fn class_of<'v>(claim: &'v Value<'_>) -> &'v str {
    annotation(claim, BETA_CLASS).unwrap_or_else(|| text(claim, &["spec", "storageClassName"]))
}
