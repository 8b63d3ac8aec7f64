//! Ingresses and their classes.

use pratique_gotext::validation::dns1123_subdomain;
use pratique_types::field::BadValue;

use crate::addresses::is_ip;
use crate::domain_paths::validate_domain_path;
use crate::errors::Errors;
use crate::kinds::Request;
use crate::messages::{
    NameRule, label_name, lettered_label_name, path_segment_name, port_name, port_number, subdomain_name,
};
use crate::node::Node;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};

// Upstream: pkg/apis/networking/validation/validation.go, ValidateIngressSpec
pub(super) fn validate_ingress(request: &Request<'_>, errors: &mut Errors) {
    let (spec, old) = (request.object.child("spec"), request.old.child("spec"));
    let (rules, backend) = (spec.child("rules"), spec.child("defaultBackend"));
    if rules.is_empty() && !backend.is_set() {
        let value = if rules.is_set() { "[]" } else { "null" };
        errors.invalid(
            spec,
            BadValue::Prepared(value.into()),
            "either `defaultBackend` or `rules` must be specified",
        );
    }
    let names = service_names(&old, errors);
    if backend.is_set() {
        validate_backend(&backend, names, errors);
    }
    let allows_wildcard = allows_invalid_wildcard(&old, names, errors);
    for rule in rules.items() {
        validate_rule(&rule, allows_wildcard, names, errors);
    }
    let old_tls = old.child("tls");
    let is_invalid = |name: &str| !name.is_empty() && !subdomain_name(name, false).is_empty();
    let allows_secret = old_tls
        .items()
        .any(|tls| is_invalid(tls.child("secretName").as_text()));
    for tls in spec.child("tls").items() {
        for host in tls.child("hosts").items() {
            validate_host(&host, errors);
        }
        let secret = tls.child("secretName");
        if !allows_secret && !secret.as_text().is_empty() {
            errors.invalid_each(&secret, &subdomain_name(secret.as_text(), false));
        }
    }
    let class = spec.child("ingressClassName");
    if class.is_set() {
        for message in subdomain_name(class.as_text(), false) {
            errors.invalid_or_empty(&class, &message);
        }
    }
}

/// A name of hosts, which may begin with a wildcard.
fn validate_host(host: &Node<'_, '_>, errors: &mut Errors) {
    let messages = if host.as_text().contains('*') {
        wildcard_messages(host.as_text())
    } else {
        dns1123_subdomain(host.as_text())
    };
    for message in messages {
        errors.invalid_or_empty(host, &message);
    }
}

// Upstream: apimachinery/pkg/util/validation/validation.go, IsWildcardDNS1123Subdomain
fn wildcard_messages(text: &str) -> Vec<String> {
    let mut messages = Vec::new();
    if text.len() > 253 {
        messages.push("must be no more than 253 characters".to_owned());
    }
    let rest = text.strip_prefix("*.");
    let is_subdomain = |rest: &str| {
        rest.split('.').all(|label| {
            let bytes = label.as_bytes();
            let is_edge = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
            bytes.first().is_some_and(is_edge)
                && bytes.last().is_some_and(is_edge)
                && bytes.iter().all(|byte| is_edge(byte) || *byte == b'-')
        })
    };
    if !rest.is_some_and(is_subdomain) {
        messages.push(
            "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower \
             case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used \
             for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
                .to_owned(),
        );
    }
    messages
}

/// How the Services of backends are named: those of an old Ingress may go on to begin with digits.
// Upstream: pkg/apis/networking/validation/validation.go, allowRelaxedServiceNameValidation
fn service_names(old: &Node<'_, '_>, errors: &Errors) -> NameRule {
    let is_relaxed = |backend: &Node<'_, '_>| {
        let name = backend.child("service").child("name").as_text();
        backend.child("service").is_set()
            && label_name(name, false).is_empty()
            && !lettered_label_name(name, false).is_empty()
    };
    let in_rules = || {
        old.child("rules").items().any(|rule| {
            let http = rule.child("http");
            http.child("paths")
                .items()
                .any(|path| is_relaxed(&path.child("backend")))
        })
    };
    // Before 1.35, that of the default was not looked at.
    let in_default = errors.release().at_least(1, 35) && is_relaxed(&old.child("defaultBackend"));
    if errors.gates().relaxes_service_names || in_default || in_rules() {
        label_name
    } else {
        lettered_label_name
    }
}

fn allows_invalid_wildcard(old: &Node<'_, '_>, names: NameRule, of: &Errors) -> bool {
    let mut errors = Errors::of_gates(of.gates());
    for rule in old
        .child("rules")
        .items()
        .filter(|rule| rule.child("host").as_text().contains('*'))
    {
        validate_paths(&rule, names, &mut errors);
    }
    !errors.is_empty()
}

// Upstream: pkg/apis/networking/validation/validation.go, validateIngressRules
fn validate_rule(rule: &Node<'_, '_>, allows_wildcard: bool, names: NameRule, errors: &mut Errors) {
    let host = rule.child("host");
    if !host.as_text().is_empty() {
        if is_ip(host.as_text()) {
            errors.invalid_value(&host, "must be a DNS name, not an IP address");
        }
        validate_host(&host, errors);
    }
    if !host.as_text().contains('*') || !allows_wildcard {
        validate_paths(rule, names, errors);
    }
}

fn validate_paths(rule: &Node<'_, '_>, names: NameRule, errors: &mut Errors) {
    let http = rule.child("http");
    if !http.is_set() {
        return;
    }
    let paths = http.child("paths");
    if paths.is_empty() {
        errors.required(paths, "");
    }
    for path in paths.items() {
        validate_path(&path, names, errors);
    }
}

// Upstream: pkg/apis/networking/validation/validation.go, validateHTTPIngressPath
fn validate_path(rule: &Node<'_, '_>, names: NameRule, errors: &mut Errors) {
    const ABSOLUTE: &str = "must be an absolute path";
    let (kind, path) = (rule.child("pathType"), rule.child("path"));
    if !kind.is_set() {
        errors.required(kind, "pathType must be specified");
        return;
    }
    let text = path.as_text();
    match kind.as_text() {
        "Exact" | "Prefix" => {
            if !text.starts_with('/') {
                errors.invalid_or_empty(&path, ABSOLUTE);
            }
            for sequence in ["//", "/./", "/../", "%2f", "%2F"] {
                if text.contains(sequence) {
                    errors.invalid_or_empty(&path, &format!("must not contain '{sequence}'"));
                }
            }
            for suffix in ["/..", "/."] {
                if text.ends_with(suffix) {
                    errors.invalid_or_empty(&path, &format!("cannot end with '{suffix}'"));
                }
            }
        }
        "ImplementationSpecific" => {
            if !text.is_empty() && !text.starts_with('/') {
                errors.invalid_or_empty(&path, ABSOLUTE);
            }
        }
        _ => errors.not_supported(&kind, &["Exact", "ImplementationSpecific", "Prefix"]),
    }
    validate_backend(&rule.child("backend"), names, errors);
}

// Upstream: pkg/apis/networking/validation/validation.go, validateIngressBackend
fn validate_backend(backend: &Node<'_, '_>, names: NameRule, errors: &mut Errors) {
    let (resource, service) = (backend.child("resource"), backend.child("service"));
    match (resource.is_set(), service.is_set()) {
        (true, true) => errors.invalid(backend, "", "cannot set both resource and service backends"),
        (true, false) => validate_resource(&resource, errors),
        (false, false) => errors.invalid(backend, "", "resource or service backend is required"),
        (false, true) => {
            let (name, port) = (service.child("name"), service.child("port"));
            if name.as_text().is_empty() {
                errors.required(name, "");
            } else {
                errors.invalid_each(&name, &names(name.as_text(), false));
            }
            validate_backend_port(backend, &port, errors);
        }
    }
}

fn validate_backend_port(backend: &Node<'_, '_>, port: &Node<'_, '_>, errors: &mut Errors) {
    let (name, number) = (port.child("name"), port.child("number"));
    match (!name.as_text().is_empty(), number.int() != 0) {
        (true, true) => errors.invalid(backend, "", "cannot set both port name & port number"),
        (true, false) => errors.invalid_each(&name, &port_name(name.as_text())),
        (false, true) => {
            if let Some(message) = port_number(number.int()) {
                errors.invalid(number, number.int(), &message);
            }
        }
        (false, false) => errors.required(backend, "port name or number is required"),
    }
}

/// An object of another group.
fn validate_resource(resource: &Node<'_, '_>, errors: &mut Errors) {
    let group = resource.child("apiGroup");
    if group.is_set() {
        for message in dns1123_subdomain(group.as_text()) {
            errors.invalid_or_empty(&group, &message);
        }
    }
    for name in ["kind", "name"] {
        let field = resource.child(name);
        if field.as_text().is_empty() {
            // Only that of a class has declarative rules.
            errors.required_covered(field, "");
        } else {
            errors.invalid_each(&field, &path_segment_name(field.as_text(), false));
        }
    }
}

/// The annotation that names a class, beside the field that came in its place.
pub(super) fn validate_class_annotation(request: &Request<'_>, errors: &mut Errors) {
    const ANNOTATION: &str = "kubernetes.io/ingress.class";
    let (metadata, spec) = (request.object.child("metadata"), request.object.child("spec"));
    let annotations = metadata.child("annotations");
    let (annotation, class) = (annotations.key(ANNOTATION), spec.child("ingressClassName"));
    if annotation.is_set() && class.is_set() && annotation.as_text() != class.as_text() {
        errors.invalid(
            format!("annotations.{ANNOTATION}"),
            annotation.as_text(),
            "must match `ingressClassName` when both are specified",
        );
    }
}

// Upstream: pkg/apis/networking/validation/validation.go, ValidateIngressStatusUpdate
pub(super) fn validate_status(request: &Request<'_>, errors: &mut Errors) {
    let (object, old) = (&request.object, &request.old);
    validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
    let (status, old) = (object.child("status"), old.child("status"));
    let (balancer, old) = (status.child("loadBalancer"), old.child("loadBalancer"));
    let old = old.child("ingress");
    for point in balancer.child("ingress").items() {
        let (ip, host) = (point.child("ip"), point.child("hostname"));
        let is_old = old.items().any(|old| old.child("ip").as_text() == ip.as_text());
        if !ip.as_text().is_empty() && !is_old {
            crate::pod::validate_ip(&ip, errors);
        }
        if !host.as_text().is_empty() {
            errors.invalid_each(&host, &dns1123_subdomain(host.as_text()));
            if is_ip(host.as_text()) {
                errors.invalid_value(&host, "must be a DNS name, not an IP address");
            }
        }
    }
}

// Upstream: pkg/apis/networking/validation/validation.go, ValidateIngressClass
pub(super) fn validate_class(request: &Request<'_>, errors: &mut Errors) {
    validate_core_meta(&request.object.child("metadata"), false, subdomain_name, errors);
    let spec = request.object.child("spec");
    let controller = spec.child("controller");
    if controller.as_text().len() > 250 {
        errors.too_long(controller, 250);
    }
    validate_domain_path(&controller, errors);
    let parameters = spec.child("parameters");
    if !parameters.is_set() {
        return;
    }
    // Declarative rules require kind and name.
    validate_resource(&parameters, errors);
    let (scope, namespace) = (parameters.child("scope"), parameters.child("namespace"));
    if !scope.is_set() {
        errors.required(scope, "");
        return;
    }
    match scope.as_text() {
        "Namespace" if !namespace.is_set() => {
            errors.required(namespace, "`parameters.scope` is set to 'Namespace'");
        }
        "Namespace" => {
            for message in label_name(namespace.as_text(), false) {
                errors.invalid_or_empty(&namespace, &message);
            }
        }
        "Cluster" => {
            if namespace.is_set() {
                errors.forbidden(namespace, "`parameters.scope` is set to 'Cluster'");
            }
        }
        _ => errors.unsupported_text(&scope, &["Cluster", "Namespace"]),
    }
}
