//! Security contexts of Pods and containers, but for Windows.

use super::CONTAINER_LISTS;
use super::internal::security_context_json;
use super::options::PodOptions;
use super::paths::validate_descending;
use super::windows::validate_windows_options;
use crate::errors::Errors;
use crate::member_index::MemberIndex;
use crate::messages::unix_id;
use crate::node::Node;
use crate::seen_texts::SeenTexts;

fn validate_id(id: &Node<'_, '_>, errors: &mut Errors) {
    if let Some(number) = id.some_int()
        && let Some(message) = unix_id(number)
    {
        errors.invalid(id, number, &message);
    }
}

/// A user of files, if it is given.
// Upstream: pkg/apis/core/validation/validation.go, validateUserField
pub(super) fn validate_user(user: &Node<'_, '_>, errors: &mut Errors) {
    validate_id(user, errors);
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateSecurityContext
pub(super) fn validate_security_context(
    context: &Node<'_, '_>,
    uses_host_users: bool,
    options: PodOptions,
    errors: &mut Errors,
) {
    if !context.is_set() {
        return;
    }
    let index = MemberIndex::new(context.value());
    let context = &context.with_index(&index);
    validate_id(&context.child("runAsUser"), errors);
    validate_id(&context.child("runAsGroup"), errors);
    let mount = context.child("procMount");
    if mount.is_set() {
        if !["Default", "Unmasked"].contains(&mount.as_text()) {
            errors.not_supported(&mount, &["Default", "Unmasked"]);
        }
        if uses_host_users && mount.as_text() == "Unmasked" {
            errors.invalid_name(&mount, "`hostUsers` must be false to use `Unmasked`");
        }
    }
    validate_seccomp(&context.child("seccompProfile"), options, errors);
    if context.child("allowPrivilegeEscalation").some_bool() == Some(false) {
        if context.child("privileged").is_true() {
            errors.invalid(
                context,
                security_context_json(errors.release(), context.value()),
                "cannot set `allowPrivilegeEscalation` to false and `privileged` to true",
            );
        }
        let capabilities = context.child("capabilities");
        // Upstream: pkg/api/pod/util.go, hasSysAdminAndPrivilegeEscalationFalse: nothing is tolerated before 1.37.
        if !options.unescalated_sys_admin || !errors.release().at_least(1, 37) {
            for _ in capabilities
                .child("add")
                .items()
                .filter(|added| added.as_text() == "CAP_SYS_ADMIN")
            {
                errors.invalid(
                    context,
                    security_context_json(errors.release(), context.value()),
                    "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN",
                );
            }
        }
    }
    validate_windows_options(&context.child("windowsOptions"), errors);
    validate_app_armor(&context.child("appArmorProfile"), errors);
}

// Upstream: pkg/api/pod/util.go, hasSysAdminAndPrivilegeEscalationFalse
pub(super) fn is_unescalated_sys_admin(container: &Node<'_, '_>) -> bool {
    let context = container.child("securityContext");
    let capabilities = context.child("capabilities");
    context.is_set()
        && !context.child("allowPrivilegeEscalation").is_true()
        && capabilities
            .child("add")
            .items()
            .any(|added| added.as_text() == "CAP_SYS_ADMIN")
}

const PROFILES: &[&str] = &["Localhost", "RuntimeDefault", "Unconfined"];

/// A profile in a registry, which Kubernetes has since 1.38 with the gate SecurityProfileOCI.
const OF_REGISTRY: &str = "OCI";

const PROFILES_WITH_REGISTRIES: &[&str] = &["Localhost", "RuntimeDefault", "Unconfined", OF_REGISTRY];

/// Whether the security context of a Pod's specification or of a container has a profile of a registry.
// Upstream: pkg/api/pod/util.go, seccompProfileOCIInUse
pub(super) fn has_profile_of_registry(owner: &Node<'_, '_>) -> bool {
    let context = owner.child("securityContext");
    let profile = context.child("seccompProfile");
    profile.child("type").as_text() == OF_REGISTRY
}

/// Runtimes do not apply profiles to privileged containers.
// Upstream: pkg/apis/core/validation/validation.go, validatePrivilegedContainersSeccompOCI
pub(super) fn validate_privileged_profiles(spec: &Node<'_, '_>, options: PodOptions, errors: &mut Errors) {
    if !options.profiles_of_registries {
        return;
    }
    for list in CONTAINER_LISTS {
        for container in spec.child(list).items() {
            let context = container.child("securityContext");
            let privileged = context.child("privileged");
            let owner = if context.child("seccompProfile").is_set() {
                &container
            } else {
                spec
            };
            if privileged.is_true() && has_profile_of_registry(owner) {
                let detail = "privileged containers cannot use a seccomp profile of type OCI; set a seccompProfile of another type on \
                              the container";
                errors.forbidden(privileged, detail);
            }
        }
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateSeccompProfileField
fn validate_seccomp(profile: &Node<'_, '_>, options: PodOptions, errors: &mut Errors) {
    if !profile.is_set() {
        return;
    }
    let supported = if options.profiles_of_registries {
        PROFILES_WITH_REGISTRIES
    } else {
        PROFILES
    };
    let (kind, file) = (profile.child("type"), profile.child("localhostProfile"));
    if kind.as_text().is_empty() {
        errors.required(kind, "type is required when seccompProfile is set");
    } else if !supported.contains(&kind.as_text()) {
        errors.not_supported(&kind, supported);
    }
    if kind.as_text() == "Localhost" {
        if file.is_set() {
            validate_descending(file.as_text(), &file, errors);
        } else {
            errors.required(file, "must be set when seccomp type is Localhost");
        }
    } else if file.is_set() {
        errors.invalid(
            file,
            super::internal::seccomp_profile_json(errors.release(), profile.value()),
            "can only be set when seccomp type is Localhost",
        );
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateAppArmorProfileField
fn validate_app_armor(profile: &Node<'_, '_>, errors: &mut Errors) {
    const MAX_PATH: usize = 4095;
    if !profile.is_set() {
        return;
    }
    let (kind, file) = (profile.child("type"), profile.child("localhostProfile"));
    match kind.as_text() {
        "Localhost" if !file.is_set() => errors.required(file, "must be set when AppArmor type is Localhost"),
        "Localhost" => {
            if file.as_text().trim() != file.as_text() {
                errors.invalid_value(&file, "must not be padded with whitespace");
            } else if file.as_text().is_empty() {
                errors.required(file, "must be set when AppArmor type is Localhost");
            }
            if file.as_text().len() > MAX_PATH {
                errors.too_long(file, MAX_PATH as i64);
            }
        }
        "RuntimeDefault" | "Unconfined" => {
            if file.is_set() {
                errors.invalid_name(&file, "can only be set when AppArmor type is Localhost");
            }
        }
        "" => errors.required(kind, "type is required when appArmorProfile is set"),
        _ => errors.not_supported(&kind, PROFILES),
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validatePodSpecSecurityContext
pub(super) fn validate_pod_security_context(spec: &Node<'_, '_>, options: PodOptions, errors: &mut Errors) {
    let context = spec.child("securityContext");
    if !context.is_set() {
        return;
    }
    let index = MemberIndex::new(context.value());
    let context = context.with_index(&index);
    for name in ["fsGroup", "runAsUser", "runAsGroup"] {
        validate_id(&context.child(name), errors);
    }
    for group in context.child("supplementalGroups").items() {
        validate_id(&group, errors);
    }
    // Upstream: pkg/apis/core/validation/validation.go, validatePodSpecSecurityContext
    if !errors.release().at_least(1, 37) {
        let name = "shareProcessNamespace";
        let shares = spec.child(name);
        let shares = Node::with_path(shares.value(), context.path().child(name));
        validate_shared_processes(spec, &shares, errors);
    }
    validate_sysctls(&context.child("sysctls"), spec, options, errors);
    validate_optional_enum(
        &context.child("fsGroupChangePolicy"),
        &["Always", "OnRootMismatch"],
        errors,
    );
    validate_seccomp(&context.child("seccompProfile"), options, errors);
    validate_windows_options(&context.child("windowsOptions"), errors);
    validate_app_armor(&context.child("appArmorProfile"), errors);
    validate_optional_enum(
        &context.child("supplementalGroupsPolicy"),
        &["Merge", "Strict"],
        errors,
    );
    // Upstream: pkg/api/pod/util.go, useOnlyRecursiveSELinuxChangePolicy
    let policies: &[&str] = if options.says_how_to_label || errors.gates().mounts_with_labels {
        &["MountOption", "Recursive"]
    } else {
        &["Recursive"]
    };
    validate_optional_enum(&context.child("seLinuxChangePolicy"), policies, errors);
}

fn validate_optional_enum(value: &Node<'_, '_>, supported: &[&str], errors: &mut Errors) {
    if value.is_set() && !supported.contains(&value.as_text()) {
        errors.not_supported(value, supported);
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateSysctls
fn validate_sysctls(sysctls: &Node<'_, '_>, spec: &Node<'_, '_>, options: PodOptions, errors: &mut Errors) {
    let mut names = SeenTexts::default();
    for sysctl in sysctls.items() {
        let name = sysctl.child("name");
        if name.as_text().is_empty() {
            errors.required(name, "");
        } else if !is_sysctl_name(name.as_text()) {
            errors.invalid_value(
                &name,
                "must have at most 253 characters and match regex \
                 ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$",
            );
        } else if names.contains(name.as_text()) {
            errors.duplicate(name, name.as_text());
        }
        if !options.host_sysctls
            && let Some(detail) = host_sysctl(name.as_text(), spec)
        {
            errors.invalid_or_empty(&name, detail);
        }
        names.insert(name.as_text());
    }
}

// Upstream: pkg/apis/core/validation/validation.go, IsValidSysctlName
fn is_sysctl_name(name: &str) -> bool {
    let is_edge = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_segment = |segment: &str| {
        let bytes = segment.as_bytes();
        bytes.first().is_some_and(is_edge)
            && bytes.last().is_some_and(is_edge)
            && bytes.iter().all(|byte| is_edge(byte) || b"-_".contains(byte))
    };
    name.len() <= 253 && name.split(['.', '/']).all(is_segment)
}

/// Why a kernel parameter may not be set for a Pod that shares a namespace of its host.
// Upstream: pkg/apis/core/validation/validation.go, ValidateHostSysctl
fn host_sysctl(name: &str, spec: &Node<'_, '_>) -> Option<&'static str> {
    let name = normalized_sysctl(name);
    let is_ipc = name == "kernel.sem"
        || ["kernel.shm", "kernel.msg", "fs.mqueue."]
            .iter()
            .any(|prefix| name.starts_with(prefix));
    if spec.child("hostNetwork").is_true() && name.starts_with("net.") {
        return Some("may not be specified when 'hostNetwork' is true");
    }
    (spec.child("hostIPC").is_true() && is_ipc).then_some("may not be specified when 'hostIPC' is true")
}

/// A name whose first separator is a slash has dots where others have slashes, and the other way round.
// Upstream: component-helpers/node/util/sysctl/namespace.go, NormalizeName
fn normalized_sysctl(name: &str) -> String {
    if name
        .find(['.', '/'])
        .is_none_or(|at| name.as_bytes().get(at) == Some(&b'.'))
    {
        return name.to_owned();
    }
    let swap = |letter| match letter {
        '.' => '/',
        '/' => '.',
        other => other,
    };
    name.chars().map(swap).collect()
}

pub(super) fn has_host_sysctls(spec: &Node<'_, '_>) -> bool {
    let context = spec.child("securityContext");
    let sysctls = context.child("sysctls");
    sysctls
        .items()
        .any(|sysctl| host_sysctl(sysctl.child("name").as_text(), spec).is_some())
}

// Upstream: pkg/apis/core/validation/validation.go, validateShareProcessNamespace
pub(super) fn validate_shared_processes(spec: &Node<'_, '_>, shares: &Node<'_, '_>, errors: &mut Errors) {
    if shares.is_true() && spec.child("hostPID").is_true() {
        errors.invalid(
            shares,
            true,
            "ShareProcessNamespace and HostPID cannot both be enabled",
        );
    }
}
