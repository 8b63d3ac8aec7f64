//! What is said of Windows, and what depends on the operating system of a Pod.

use pratique_gotext::validation::dns1123_subdomain;
use pratique_types::field::BadValue;

use super::CONTAINER_LISTS;
use crate::errors::{Errors, named};
use crate::node::Node;

// Upstream: pkg/apis/core/validation/validation.go, validateWindowsSecurityContextOptions
pub(super) fn validate_windows_options(options: &Node<'_, '_>, errors: &mut Errors) {
    const MAX_SPEC: usize = 64 << 10;
    if !options.is_set() {
        return;
    }
    let name = options.child("gmsaCredentialSpecName");
    if name.is_set() {
        for message in dns1123_subdomain(name.as_text()) {
            errors.invalid_name(&name, &message);
        }
    }
    let spec = options.child("gmsaCredentialSpec");
    if spec.is_set() {
        if spec.as_text().is_empty() {
            errors.invalid_name(&spec, "gmsaCredentialSpec cannot be an empty string");
        } else if spec.as_text().len() > MAX_SPEC {
            errors.invalid_name(&spec, "gmsaCredentialSpec size must be under 64 KiB");
        }
    }
    let user = options.child("runAsUserName");
    if user.is_set() {
        for message in user_name_messages(user.as_text()) {
            errors.invalid(user, named(user.as_text()), message);
        }
    }
}

/// What is wrong with `DOMAIN\user`.
fn user_name_messages(name: &str) -> Vec<&'static str> {
    if name.is_empty() {
        return vec!["runAsUserName cannot be an empty string"];
    }
    if name.bytes().any(|byte| byte.is_ascii_control()) {
        return vec!["runAsUserName cannot contain control characters"];
    }
    if name.matches('\\').count() > 1 {
        return vec!["runAsUserName cannot contain more than one backslash"];
    }
    let (domain, user) = match name.split_once('\\') {
        Some((domain, user)) => (Some(domain), user),
        None => (None, name),
    };
    let mut messages = Vec::new();
    if let Some(domain) = domain {
        if domain.len() >= 256 {
            messages.push("runAsUserName's Domain length must be under 256 characters");
        }
        if !is_net_bios(domain) && !is_dns_domain(domain) {
            messages.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
        }
    }
    if user.is_empty() {
        messages.push("runAsUserName's User cannot be empty");
    } else if user.len() > 104 {
        messages.push("runAsUserName's User length must not be longer than 104 characters");
    }
    if !user.is_empty() && user.bytes().all(|byte| b". ".contains(&byte)) {
        messages.push("runAsUserName's User cannot contain only periods or spaces");
    }
    if user.contains([
        '"', '/', '\\', ':', ';', '|', '=', ',', '+', '*', '?', '<', '>', '@', '[', ']',
    ]) {
        messages.push("runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]");
    }
    messages
}

fn is_net_bios(domain: &str) -> bool {
    let banned = ['\\', '/', ':', '*', '?', '"', '<', '>', '|'];
    (1..=15).contains(&domain.chars().count()) && !domain.starts_with('.') && !domain.contains(banned)
}

fn is_dns_domain(domain: &str) -> bool {
    domain.split('.').all(|label| {
        let bytes = label.as_bytes();
        (1..=63).contains(&bytes.len())
            && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
            && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
            && bytes
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
    })
}

// Upstream: pkg/apis/core/validation/validation.go, validateWindowsHostProcessPod
pub(super) fn validate_host_process(spec: &Node<'_, '_>, errors: &mut Errors) {
    let of = |owner: &Node<'_, '_>| {
        let context = owner.child("securityContext");
        let options = context.child("windowsOptions");
        options.child("hostProcess").some_bool()
    };
    let of_pod = of(spec);
    let (mut count, mut host_count) = (0, 0);
    for list in CONTAINER_LISTS {
        for container in spec.child(list).items() {
            count += 1;
            let of_container = of(&container);
            if let (Some(pod), Some(own)) = (of_pod, of_container)
                && pod != own
            {
                let context = container.child("securityContext");
                let options = context.child("windowsOptions");
                let detail =
                    format!("pod hostProcess value must be identical if both are specified, was {pod}");
                errors.invalid(options.child("hostProcess"), own, &detail);
            }
            host_count += usize::from(of_container.or(of_pod) == Some(true));
        }
    }
    if host_count == 0 {
        return;
    }
    if host_count != count {
        let detail =
            "If pod contains any hostProcess containers then all containers must be HostProcess containers";
        errors.invalid(spec, BadValue::Text("".into()), detail);
    }
    let network = spec.child("hostNetwork");
    if !network.is_true() {
        errors.invalid(
            network,
            false,
            "hostNetwork must be true if pod contains any hostProcess containers",
        );
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateOS, validateLinux, validateWindows
pub(super) fn validate_os(spec: &Node<'_, '_>, errors: &mut Errors) {
    let os = spec.child("os");
    if !os.is_set() {
        return;
    }
    let name = os.child("name");
    match name.as_text() {
        "" => errors.required(name, ""),
        "linux" => validate_linux(spec, errors),
        "windows" => validate_windows(spec, errors),
        other => errors.push(pratique_types::field::Error::not_supported(
            os,
            named(other),
            ["linux", "windows"],
        )),
    }
}

fn validate_linux(spec: &Node<'_, '_>, errors: &mut Errors) {
    let mut check = |owner: &Node<'_, '_>| {
        let context = owner.child("securityContext");
        let options = context.child("windowsOptions");
        if options.is_set() {
            errors.forbidden(options, "windows options cannot be set for a linux pod");
        }
    };
    check(spec);
    for list in CONTAINER_LISTS {
        spec.child(list).items().for_each(|container| check(&container));
    }
}

/// A field that Pods of Windows cannot have.
#[derive(Clone, Copy)]
enum BannedField {
    /// Of the security context.
    Context(&'static str),
    /// Of the Pod; `false` is given, too.
    Given(&'static str),
    /// Of the Pod; `false` is as good as absent.
    True(&'static str),
}

/// In the order in which they are looked at.
const BANNED: [BannedField; 15] = {
    use BannedField::{Context, Given, True};
    [
        Context("appArmorProfile"),
        Context("seLinuxOptions"),
        Context("seccompProfile"),
        Context("fsGroup"),
        Context("fsGroupChangePolicy"),
        Context("sysctls"),
        Context("runAsUser"),
        Context("runAsGroup"),
        Context("supplementalGroups"),
        Context("supplementalGroupsPolicy"),
        Context("seLinuxChangePolicy"),
        Given("hostUsers"),
        True("hostPID"),
        True("hostIPC"),
        Given("shareProcessNamespace"),
    ]
};

/// The same before 1.37.
const BANNED_BEFORE_1_37: [BannedField; 15] = {
    use BannedField::{Context, Given, True};
    [
        Context("appArmorProfile"),
        Context("seLinuxOptions"),
        Given("hostUsers"),
        True("hostPID"),
        True("hostIPC"),
        Context("seccompProfile"),
        Context("fsGroup"),
        Context("fsGroupChangePolicy"),
        Context("sysctls"),
        Given("shareProcessNamespace"),
        Context("runAsUser"),
        Context("runAsGroup"),
        Context("supplementalGroups"),
        Context("supplementalGroupsPolicy"),
        Context("seLinuxChangePolicy"),
    ]
};

/// Fields of the security contexts of containers that Pods of Windows cannot have.
const BANNED_OF_CONTAINER: [&str; 10] = [
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
];

fn validate_windows(spec: &Node<'_, '_>, errors: &mut Errors) {
    const DETAIL: &str = "cannot be set for a windows pod";
    // Upstream: pkg/apis/core/types.go: before 1.37, what is shared with the host were fields of the security context.
    let fields = if errors.release().at_least(1, 37) {
        BANNED
    } else {
        BANNED_BEFORE_1_37
    };
    let context = spec.child("securityContext");
    for banned in fields {
        let (field, is_given) = match banned {
            BannedField::Context(name) => {
                let field = context.child(name);
                (field, field.is_set())
            }
            BannedField::Given(name) => {
                let field = spec.child(name);
                (field, field.is_set())
            }
            BannedField::True(name) => {
                let field = spec.child(name);
                (field, field.is_true())
            }
        };
        if is_given {
            errors.forbidden(field, DETAIL);
        }
    }
    for list in CONTAINER_LISTS {
        for container in spec.child(list).items() {
            let context = container.child("securityContext");
            for name in BANNED_OF_CONTAINER {
                let field = context.child(name);
                if field.is_set() {
                    errors.forbidden(field, DETAIL);
                }
            }
        }
    }
}
