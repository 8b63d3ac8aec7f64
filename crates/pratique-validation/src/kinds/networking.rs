//! NetworkPolicies, Ingresses, IngressClasses, IPAddresses and ServiceCIDRs.

mod ingresses;
mod ip_addresses;
mod network_policies;
mod service_cidrs;

use super::KindRules;
use crate::messages::subdomain_name;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};

pub(super) const KINDS: &[KindRules] = &[
    KindRules {
        group: "networking.k8s.io",
        kind: "NetworkPolicy",
        is_namespaced: true,
        create: |request, errors| {
            validate_core_meta(&request.object.child("metadata"), true, subdomain_name, errors);
            network_policies::validate_network_policy(request, errors);
        },
        update: |request, errors| {
            let (object, old) = (&request.object, &request.old);
            // Upstream: pkg/registry/networking/networkpolicy/strategy.go, ValidateUpdate: twice before 1.36.
            if !errors.release().at_least(1, 36) {
                validate_core_meta(&object.child("metadata"), true, subdomain_name, errors);
                network_policies::validate_network_policy(request, errors);
            }
            validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
            network_policies::validate_network_policy(request, errors);
        },
        subresources: &[],
    },
    KindRules {
        group: "networking.k8s.io",
        kind: "Ingress",
        is_namespaced: true,
        create: |request, errors| {
            validate_core_meta(&request.object.child("metadata"), true, subdomain_name, errors);
            ingresses::validate_ingress(request, errors);
            ingresses::validate_class_annotation(request, errors);
        },
        update: |request, errors| {
            let (object, old) = (&request.object, &request.old);
            validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
            validate_core_meta(&object.child("metadata"), true, subdomain_name, errors);
            ingresses::validate_ingress(request, errors);
        },
        subresources: &[("status", ingresses::validate_status)],
    },
    KindRules {
        group: "networking.k8s.io",
        kind: "IngressClass",
        is_namespaced: false,
        create: ingresses::validate_class,
        update: |request, errors| {
            let (object, old) = (&request.object, &request.old);
            validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
            let (spec, old) = (object.child("spec"), old.child("spec"));
            let (controller, old_controller) = (spec.child("controller"), old.child("controller"));
            if controller.as_text() != old_controller.as_text() {
                errors.invalid_or_empty(&controller, crate::errors::IMMUTABLE);
            }
            ingresses::validate_class(request, errors);
        },
        subresources: &[],
    },
    KindRules {
        group: "networking.k8s.io",
        kind: "IPAddress",
        is_namespaced: false,
        create: ip_addresses::validate_ip_address,
        update: ip_addresses::validate_ip_address_update,
        subresources: &[],
    },
    KindRules {
        group: "networking.k8s.io",
        kind: "ServiceCIDR",
        is_namespaced: false,
        create: service_cidrs::validate_service_cidr,
        update: service_cidrs::validate_service_cidr_update,
        subresources: &[("status", service_cidrs::validate_status_update)],
    },
];
