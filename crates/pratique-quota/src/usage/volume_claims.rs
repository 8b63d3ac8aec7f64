//! The usage of persistent volume claims.

use pratique_gotext::quantity::Quantity;
use pratique_json::Value;
use smallvec::SmallVec;

use crate::fields::text_at;
use crate::names::STORAGE_CLASS;
use crate::resource_list::quantity;
use crate::{QuotaError, ResourceList};

/// The usage of a claim.
// Upstream: pkg/quota/v1/evaluator/core/persistent_volume_claims.go, pvcEvaluator.Usage
pub(crate) fn volume_claim_usage<'a>(claim: &'a Value<'a>) -> Result<ResourceList<'a>, QuotaError> {
    let one = Quantity::parse("1")?;
    let mut usage = ResourceList::default();
    usage.set("persistentvolumeclaims", one.clone());
    usage.set("count/persistentvolumeclaims", one.clone());
    let class = storage_class(claim);
    if !class.is_empty() {
        usage.set(format!("{class}{STORAGE_CLASS}persistentvolumeclaims"), one);
    }
    if let Some(storage) = storage(claim)? {
        if !class.is_empty() {
            usage.set(format!("{class}{STORAGE_CLASS}requests.storage"), storage.clone());
        }
        usage.set("requests.storage", storage);
    }
    Ok(usage)
}

// Upstream: component-helpers/storage/volume/helpers.go, GetPersistentVolumeClaimClass
fn storage_class<'a>(claim: &'a Value<'a>) -> &'a str {
    const BETA: &str = "volume.beta.kubernetes.io/storage-class";
    match claim.at(&["metadata", "annotations", BETA]) {
        Some(class) => class.as_str().unwrap_or_default(),
        None => text_at(claim, &["spec", "storageClassName"]),
    }
}

// Upstream: pkg/quota/v1/evaluator/core/persistent_volume_claims.go, pvcEvaluator.getStorageUsage
fn storage(claim: &Value<'_>) -> Result<Option<Quantity>, QuotaError> {
    let Some(requested) = claim.at(&["spec", "resources", "requests", "storage"]) else {
        return Ok(None);
    };
    let requested = rounded_up(quantity(requested)?)?;
    if let Some(allocated) = claim.at(&["status", "allocatedResources", "storage"]) {
        let allocated = quantity(allocated)?;
        if allocated > requested {
            return Ok(Some(rounded_up(allocated)?));
        }
    }
    Ok(Some(requested))
}

/// The next whole number, with the same suffix.
fn rounded_up(amount: Quantity) -> Result<Quantity, QuotaError> {
    let parts = amount.go_parts();
    let is_small_fraction = !parts.is_big && parts.scale < 0;
    if !is_small_fraction {
        return Ok(amount);
    }
    let whole = Quantity::parse(&amount.value().to_string())?;
    if whole == amount {
        Ok(amount)
    } else {
        Ok(amount.add(&whole.sub(&amount)?)?)
    }
}

/// The names of the volume attributes classes that a claim has or is to have.
// Upstream: pkg/quota/v1/evaluator/core/persistent_volume_claims.go, getReferencedVolumeAttributesClassNames
pub(crate) fn attributes_classes<'a>(claim: &'a Value<'a>) -> SmallVec<[&'a str; 3]> {
    let names = [
        text_at(claim, &["spec", "volumeAttributesClassName"]),
        text_at(claim, &["status", "currentVolumeAttributesClassName"]),
        text_at(
            claim,
            &["status", "modifyVolumeStatus", "targetVolumeAttributesClassName"],
        ),
    ];
    names.into_iter().filter(|name| !name.is_empty()).collect()
}
