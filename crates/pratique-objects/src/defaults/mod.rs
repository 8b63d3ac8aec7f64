//! The defaulting functions that are more than steps, by the names that `data/functions.txt` calls them by.
//!
//! Where each is called, and what is set without a function, says the [plan](crate::plan). They work on objects that were
//! decoded: structs that are no pointers are there, lists and maps are there if Go has them, perhaps empty.
// Upstream: pkg/apis/GROUP/VERSION/defaults.go

mod certificates;
mod core;
mod definitions;
pub(crate) mod field;
mod image;
mod pod_resources;
mod quantities;

use std::cell::RefCell;

use pratique_json::Object;

/// Defaults an object or a part of one.
pub(crate) type Function = fn(&mut Object<'_>, &Context<'_>);

/// What defaulting and conversions depend on besides the object.
#[derive(Debug)]
pub(crate) struct Context<'c> {
    /// The time of the request, as a timestamp is written.
    pub(crate) now: &'c str,
    /// The first fault that was found.
    fault: RefCell<Option<String>>,
}

impl<'c> Context<'c> {
    pub(crate) fn new(now: &'c str) -> Self {
        Context {
            now,
            fault: RefCell::new(None),
        }
    }

    /// Notes why the object cannot be converted.
    pub(crate) fn fault(&self, fault: String) {
        self.fault.borrow_mut().get_or_insert(fault);
    }

    /// Why the object cannot be converted.
    pub(crate) fn into_fault(self) -> Option<String> {
        self.fault.into_inner()
    }
}

/// A function by its name.
pub(crate) fn function(name: &str) -> Option<Function> {
    Some(match name {
        "label_of_name" => core::label_of_name,
        "names_of_definition" => definitions::names,
        "pull_policy_of_container" => core::pull_policy,
        "resources_of_pod" => |spec, _| pod_resources::default(spec),
        "rounded_up" => quantities::round_up,
        "signer_of_request" => certificates::signer,
        "source_of_volume" => core::source,
        "stored_versions" => definitions::stored_versions,
        "time_of_taint" => |taint, context| field::absent(taint, "timeAdded", context.now.to_owned()),
        "versions_of_definition" => definitions::versions,
        _ => return None,
    })
}
