//! Names and addresses of a Pod: DNS, aliases, host names.

use pratique_gotext::validation::{dns1123_subdomain, qualified_name};

use super::options::PodOptions;
use crate::errors::Errors;
use crate::messages::{ip_address, subdomain_with_underscore};
use crate::node::Node;
use crate::seen_texts::SeenTexts;

// Upstream: pkg/apis/core/validation/validation.go, validatePodDNSConfig
pub(super) fn validate_dns_config(spec: &Node<'_, '_>, errors: &mut Errors) {
    let config = spec.child("dnsConfig");
    let (servers, searches) = (config.child("nameservers"), config.child("searches"));
    if spec.child("dnsPolicy").as_text() == "None" {
        if !config.is_set() {
            errors.required(config, "must provide `dnsConfig` when `dnsPolicy` is None");
            return;
        }
        if servers.is_empty() {
            errors.required(
                servers,
                "must provide at least one DNS nameserver when `dnsPolicy` is None",
            );
            return;
        }
    }
    if servers.len() > 3 {
        errors.invalid_value(&servers, "must not have more than 3 nameservers");
    }
    for server in servers.items() {
        validate_ip(&server, errors);
    }
    if searches.len() > 32 {
        errors.invalid_value(&searches, "must not have more than 32 search paths");
    }
    let length: usize = searches.items().map(|search| search.as_text().len() + 1).sum();
    if length > 2048 + 1 {
        errors.invalid_value(
            &searches,
            "must not have more than 2048 characters (including spaces) in the search list",
        );
    }
    for search in searches.items().filter(|search| search.as_text() != ".") {
        let text = search.as_text().strip_suffix('.').unwrap_or(search.as_text());
        for message in subdomain_with_underscore(text) {
            errors.invalid(search, text, &message);
        }
    }
    for option in config.child("options").items() {
        if option.child("name").as_text().is_empty() {
            errors.required(option, "must not be empty");
        }
    }
}

/// An address of a field that always took addresses.
// Upstream: pkg/apis/core/validation/validation.go, IsValidIPForLegacyField
pub(crate) fn validate_ip(address: &Node<'_, '_>, errors: &mut Errors) {
    if let Some(detail) = ip_address(address.as_text(), errors.gates().validates_addresses_strictly) {
        errors.invalid_or_empty(address, detail);
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateHostAliases
pub(super) fn validate_host_aliases(aliases: &Node<'_, '_>, errors: &mut Errors) {
    for alias in aliases.items() {
        validate_ip(&alias.child("ip"), errors);
        for name in alias.child("hostnames").items() {
            errors.invalid_each(&name, &dns1123_subdomain(name.as_text()));
        }
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validatePodHostName
pub(super) fn validate_host_name(spec: &Node<'_, '_>, errors: &mut Errors) {
    let name = spec.child("hostnameOverride");
    if !name.is_set() {
        return;
    }
    if spec.child("setHostnameAsFQDN").is_true() {
        errors.forbidden(name, "may not be specified when setHostnameAsFQDN is true");
    }
    if spec.child("hostNetwork").is_true() {
        errors.forbidden(name, "may not be specified when hostNetwork is true");
    }
    if name.as_text().len() > 64 {
        errors.too_long(name, 64);
    }
    errors.invalid_each(&name, &dns1123_subdomain(name.as_text()));
}

// Upstream: pkg/apis/core/validation/validation.go, validateHostUsers
pub(super) fn validate_host_users(spec: &Node<'_, '_>, options: PodOptions, errors: &mut Errors) {
    const DETAIL: &str = "when `hostUsers` is false";
    if spec.child("hostUsers").some_bool() != Some(false) {
        return;
    }
    if !options.user_namespace_host_network && spec.child("hostNetwork").is_true() {
        errors.forbidden(spec.child("hostNetwork"), DETAIL);
    }
    for (name, printed_name) in [("hostPID", "HostPID"), ("hostIPC", "HostIPC")] {
        if spec.child(name).is_true() {
            errors.forbidden(spec.child(printed_name), DETAIL);
        }
    }
    if options.user_namespace_devices {
        return;
    }
    for list in super::CONTAINER_LISTS {
        for container in spec.child(list).items() {
            if !container.child("volumeDevices").is_empty() {
                errors.forbidden(container.child("volumeDevices"), DETAIL);
            }
        }
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateReadinessGates
pub(super) fn validate_readiness_gates(gates: &Node<'_, '_>, errors: &mut Errors) {
    for gate in gates.items() {
        let condition = gate.child("conditionType");
        for message in qualified_name(condition.as_text()) {
            errors.invalid_or_empty(&condition, &message);
        }
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateSchedulingGates
pub(super) fn validate_scheduling_gates(gates: &Node<'_, '_>, errors: &mut Errors) {
    let mut names = SeenTexts::default();
    for gate in gates.items() {
        let name = gate.child("name").as_text();
        for message in qualified_name(name) {
            errors.invalid(gate, name, &message);
        }
        if !names.insert(name) {
            errors.duplicate(gate, name);
        }
    }
}
