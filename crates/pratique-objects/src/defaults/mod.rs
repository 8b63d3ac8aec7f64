//! The defaulting functions that are written by hand, by their names upstream, one module for some groups of the API.
//!
//! Where each is called, and what is set without a function, says the generated [plan](crate::plan). They work on
//! objects that were decoded: structs that are no pointers are there, lists and maps are there if Go has them, perhaps
//! empty.
// Upstream: pkg/apis/GROUP/VERSION/defaults.go

mod apps;
mod autoscaling;
mod batch;
mod certificates;
mod core;
mod device;
mod extensions;
pub(crate) mod field;
mod flowcontrol;
mod image;
mod network;
mod pod;
mod pod_resources;
mod quantities;
mod rbac;
mod registration;
mod service;
mod storage;

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

/// A defaulting function by its name upstream: `core/v1.SetDefaults_Pod`.
pub(crate) fn function(name: &str) -> Option<Function> {
    let (package, function) = name.split_once(".SetDefaults_")?;
    let (group, version) = package.split_once('/')?;
    match group {
        "admissionregistration" | "apiextensions" | "apiregistration" => {
            registration::function(group, version, function)
        }
        "apps" => apps::function(version, function),
        "authentication" => extensions::token_request(function),
        "autoscaling" => autoscaling::function(version, function),
        "batch" => batch::function(function),
        "certificates" => certificates::function(function),
        "core" => core::function(function),
        "discovery" | "networking" => network::function(function),
        "extensions" => extensions::function(function),
        "flowcontrol" => flowcontrol::function(version, function),
        "rbac" => rbac::function(version, function),
        "resource" => device::function(version, function),
        "scheduling" | "storage" => storage::function(version, function),
        _ => None,
    }
}
