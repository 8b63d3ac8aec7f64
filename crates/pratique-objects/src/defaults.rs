//! The defaulting functions that are more than steps, by the names that `data/functions.txt` calls them by.
//!
//! The [plan](crate::plan) says where each is called, and which fields are set without a function. The
//! functions work on decoded objects: structs that are no pointers are present, lists and maps are present if
//! Go has them, perhaps empty.
// Upstream: pkg/apis/GROUP/VERSION/defaults.go

mod certificates;
pub(crate) mod core;
mod definitions;
pub(crate) mod field;
mod image;
pub(crate) mod quantities;

use std::cell::RefCell;

use pratique_json::Object;
use pratique_schema::{FeatureGates, Schema};
use pratique_types::GroupVersionKind;

use crate::error::DecodeError;
use crate::pod_resources;

/// Defaults an object or a part of one.
pub(crate) type DefaultFunction = fn(&mut Object<'_>, &DefaultContext<'_>);

/// The context of defaulting and conversions.
#[derive(Debug)]
pub(crate) struct DefaultContext<'c> {
    /// The time of the request, as a timestamp is written.
    pub(crate) now: &'c str,
    /// The feature gates.
    pub(crate) gates: FeatureGates,
    /// The types of the release.
    pub(crate) schema: &'static Schema,
    /// The first fault that was found.
    fault: RefCell<Option<String>>,
}

impl<'c> DefaultContext<'c> {
    pub(crate) fn new(now: &'c str, gates: FeatureGates, schema: &'static Schema) -> Self {
        DefaultContext {
            now,
            gates,
            schema,
            fault: RefCell::new(None),
        }
    }

    /// Records why the object cannot be converted.
    pub(crate) fn fault(&self, fault: String) {
        self.fault.borrow_mut().get_or_insert(fault);
    }

    /// Whether an object of a kind was converted, or why it cannot be.
    pub(crate) fn outcome(self, kind: &GroupVersionKind) -> Result<(), DecodeError> {
        match self.fault.into_inner() {
            None => Ok(()),
            Some(fault) => Err(DecodeError::undecodable(kind, kind, fault)),
        }
    }
}

/// A function by its name.
pub(crate) fn function(name: &str) -> Option<DefaultFunction> {
    Some(match name {
        "addresses_of_pod" => |status, _| core::first_of_list(status, "podIP", "podIPs", Some("ip")),
        "grace_period_of_pod" => core::grace_period,
        "label_of_name" => core::label_of_name,
        "names_of_definition" => definitions::names,
        "pull_policy_of_container" => core::pull_policy,
        "resources_of_pod" => |spec, _| pod_resources::default_requests(spec),
        "rounded_up" => quantities::round_up,
        "signer_of_request" => certificates::signer,
        "source_of_volume" => core::source,
        "stored_versions" => definitions::stored_versions,
        "time_of_taint" => |taint, context| field::absent(taint, "timeAdded", context.now.to_owned()),
        "versions_of_definition" => definitions::versions,
        "without_init_annotations" => |object, _| core::drop_init_annotations(object),
        _ => return None,
    })
}
