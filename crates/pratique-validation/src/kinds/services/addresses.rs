//! The addresses of a Service and their families.

use super::is_headless;
use crate::addresses::{is_dual_stack, is_ipv6, validate_legacy_ip};
use crate::errors::Errors;
use crate::node::Node;
use crate::seen_texts::SeenTexts;

// Upstream: pkg/apis/core/validation/validation.go, ValidateServiceClusterIPsRelatedFields
pub(super) fn validate_addresses(spec: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    const FAMILIES: &[&str] = &["IPv4", "IPv6"];
    const POLICIES: &[&str] = &["PreferDualStack", "RequireDualStack", "SingleStack"];
    if spec.child("type").as_text() == "ExternalName" {
        return;
    }
    let (first, addresses) = (spec.child("clusterIP"), spec.child("clusterIPs"));
    let begins = addresses.items().next().map(|address| address.as_text());
    if !first.as_text().is_empty() {
        match begins {
            None => errors.required(addresses, ""),
            Some(text) if text != first.as_text() => {
                errors.invalid_value(&addresses, "first value must match `clusterIP`");
            }
            Some(_) => {}
        }
    } else if begins.is_some() {
        errors.invalid_value(&addresses, "must be empty when `clusterIP` is not specified");
    }
    let families = spec.child("ipFamilies");
    let mut seen = SeenTexts::default();
    for family in families.items() {
        if !FAMILIES.contains(&family.as_text()) {
            errors.not_supported(&family, FAMILIES);
        }
        if !seen.insert(family.as_text()) {
            errors.duplicate(family, crate::errors::named(family.as_text()));
        }
    }
    let policy = spec.child("ipFamilyPolicy");
    if policy.is_set() && !POLICIES.contains(&policy.as_text()) {
        errors.not_supported(&policy, POLICIES);
    }
    validate_cluster_ips(spec, &addresses, &old.child("clusterIPs"), errors);
}

fn validate_cluster_ips(
    spec: &Node<'_, '_>,
    addresses: &Node<'_, '_>,
    old: &Node<'_, '_>,
    errors: &mut Errors,
) {
    let mut is_invalid = false;
    for (at, address) in addresses.items().enumerate() {
        if at == 0 && address.as_text() == "None" {
            if addresses.len() > 1 {
                is_invalid = true;
                errors.invalid_value(addresses, "'None' must be the first and only value");
            }
            continue;
        }
        let count = errors.len();
        validate_legacy_ip(&address, old, errors);
        is_invalid |= errors.len() > count;
    }
    if addresses.len() > 2 {
        errors.invalid_value(addresses, "may only hold up to 2 values");
    }
    if is_invalid {
        return;
    }
    if addresses.len() > 1 {
        let families = is_dual_stack(addresses.items().map(|address| address.as_text()));
        if let Err(fault) = &families {
            let detail = format!("failed to check for dual stack with error:{fault}");
            errors.internal(addresses, &detail);
        }
        if families != Ok(true) {
            errors.invalid_value(addresses, "may specify no more than one IP for each IP family");
        }
    }
    if is_headless(spec) {
        return;
    }
    let families = spec.child("ipFamilies");
    for (at, (address, family)) in addresses.items().zip(families.items()).enumerate() {
        let expected = match family.as_text() {
            "IPv4" if is_ipv6(address.as_text()) => "IPv4",
            "IPv6" if !is_ipv6(address.as_text()) => "IPv6",
            _ => continue,
        };
        errors.invalid_or_empty(
            &address,
            &format!("expected an {expected} value as indicated by `ipFamilies[{at}]`"),
        );
    }
}

const CHANGED: &str = "may not change once set";

// Upstream: pkg/apis/core/validation/validation.go, validateUpgradeDowngradeClusterIPs
pub(super) fn validate_address_changes(spec: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    if is_external_name(spec) || is_external_name(old) || (is_headless(spec) && is_headless(old)) {
        return;
    }
    let (addresses, old_addresses) = (spec.child("clusterIPs"), old.child("clusterIPs"));
    let at = |index: usize| Node::with_path(addresses.value(), addresses.path().index(index));
    if addresses.len() == old_addresses.len() {
        for (index, (new, old)) in addresses.items().zip(old_addresses.items()).enumerate() {
            if new.as_text() != old.as_text() {
                errors.invalid_value(&at(index), CHANGED);
            }
        }
        return;
    }
    let is_fewer = addresses.len() < old_addresses.len();
    if is_fewer && addresses.is_empty() {
        errors.invalid_value(&at(0), "primary clusterIP can not be unset");
    }
    if changes_first(&addresses, &old_addresses) {
        errors.invalid_value(&at(0), CHANGED);
    }
    if is_fewer && addresses.len() == 1 {
        validate_single_stack(spec, "clusterIP", errors);
    }
}

fn is_external_name(spec: &Node<'_, '_>) -> bool {
    spec.child("type").as_text() == "ExternalName"
}

fn changes_first(list: &Node<'_, '_>, old: &Node<'_, '_>) -> bool {
    list.items()
        .next()
        .zip(old.items().next())
        .is_some_and(|(new, old)| new.as_text() != old.as_text())
}

fn validate_single_stack(spec: &Node<'_, '_>, what: &str, errors: &mut Errors) {
    let policy = spec.child("ipFamilyPolicy");
    if policy.as_text() != "SingleStack" {
        let detail = format!("must be set to 'SingleStack' when releasing the secondary {what}");
        if policy.is_set() {
            errors.invalid_name(&policy, &detail);
        } else {
            errors.invalid_value(&policy, &detail);
        }
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateUpgradeDowngradeIPFamilies
pub(super) fn validate_family_changes(spec: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    let is_left_out =
        is_external_name(spec) || is_external_name(old) || is_headless(spec) || is_headless(old);
    if is_left_out {
        return;
    }
    let (families, old_families) = (spec.child("ipFamilies"), old.child("ipFamilies"));
    let first = families.path().index(0);
    let all = Node::with_path(families.value(), first);
    if families.len() == old_families.len() {
        for _ in families
            .items()
            .zip(old_families.items())
            .filter(|(new, old)| new.as_text() != old.as_text())
        {
            errors.invalid_value(&all, CHANGED);
        }
        return;
    }
    let is_fewer = families.len() < old_families.len();
    let addresses = spec.child("clusterIPs");
    if is_fewer && addresses.is_empty() {
        errors.invalid_value(&all, "primary ipFamily can not be unset");
    }
    if changes_first(&families, &old_families) {
        // The error prints the addresses.
        errors.invalid_value(&Node::with_path(addresses.value(), first), CHANGED);
    }
    if is_fewer && families.len() == 1 {
        validate_single_stack(spec, "ipFamily", errors);
    }
}
