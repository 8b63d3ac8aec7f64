//! Objects in another version, and as they come from storage.

use pratique_json::Value;

use crate::definition::CustomResource;
use crate::version::{DecodeError, Version};

/// Why an object has no form in a version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConversionError {
    /// The definition has no such version.
    #[error("the definition has no version {0:?}")]
    NoVersion(String),
    /// Only the definition's webhook can convert it.
    #[error("{0} is converted to {1} by a webhook, which is not called")]
    Webhook(String, String),
}

impl CustomResource {
    /// The version that an object says it is of, if it is of this kind.
    pub fn version_of(&self, object: &Value<'_>) -> Option<&Version> {
        let text = |name| object.get(name).and_then(Value::as_str).unwrap_or_default();
        let (group, version) = text("apiVersion").split_once('/')?;
        if group != self.group() || text("kind") != self.kind() {
            return None;
        }
        self.version(version)
    }

    /// Prunes an object that is sent, by the version that it says it is of, see [`Version::prune`]. Where there is no such
    /// version, nothing but metadata is known.
    ///
    /// # Errors
    /// Metadata that cannot be read.
    // Upstream: apiextensions-apiserver/pkg/apiserver/customresource_handler.go, unstructuredSchemaCoercer.apply
    pub fn prune(&self, object: &mut Value<'_>) -> Result<Vec<String>, DecodeError> {
        let of_version = self.version_of(object);
        let Some(any) = of_version.or_else(|| self.versions().first()) else {
            return Ok(Vec::new());
        };
        match of_version {
            None if any.is_of_kind(object) => any.prune_unknown(object),
            _ => any.prune(object),
        }
    }

    /// Brings an object into a version, without pruning or defaulting it.
    ///
    /// # Errors
    /// A webhook converts the object, or it states a version that does not exist.
    // Upstream: apiextensions-apiserver/pkg/apiserver/conversion/{nop_converter,converter}.go
    pub fn convert(&self, object: &mut Value<'_>, to: &Version) -> Result<(), ConversionError> {
        let stated = object
            .get("apiVersion")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let wanted = to.api_version();
        if stated == wanted {
            return Ok(());
        }
        let stated = stated.to_owned();
        if self.version_of(object).is_none() {
            return Err(ConversionError::NoVersion(stated));
        }
        if self.has_webhook() {
            return Err(ConversionError::Webhook(stated, wanted));
        }
        if let Value::Object(members) = object {
            members.insert("apiVersion", wanted);
        }
        Ok(())
    }

    /// Turns a stored object into the one that requests for a version see: pruned and defaulted by the version that
    /// it is stored in, converted, and pruned by the version of the request.
    ///
    /// # Errors
    /// It has no form in that version.
    // Upstream: apiextensions-apiserver/pkg/apiserver/customresource_handler.go, crdConversionRESTOptionsGetter
    pub fn read_stored(&self, object: &mut Value<'_>, to: &Version) -> Result<(), ConversionError> {
        let stated = object
            .get("apiVersion")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let Some(stored) = self.version_of(object) else {
            return Err(ConversionError::NoVersion(stated.to_owned()));
        };
        stored.prune_stored(object);
        stored.default(object);
        self.convert(object, to)?;
        to.prune_stored(object);
        Ok(())
    }

    /// Changes an object in a version as storing and reading it again does.
    ///
    /// # Errors
    /// It has no form in the version that objects are stored in.
    pub fn through_storage(&self, object: &mut Value<'_>, version: &Version) -> Result<(), ConversionError> {
        let storage = self.versions().iter().find(|version| version.is_storage());
        let storage = storage.unwrap_or(version);
        self.convert(object, storage)?;
        storage.prune_stored(object);
        self.read_stored(object, version)
    }
}
