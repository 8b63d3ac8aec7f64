//! Profiles of AppArmor and seccomp, and SELinux options.

use pratique_gotext::strconv::quote;
use pratique_json::{Value, text_at};

use crate::pod::Pod;
use crate::violation::{
    FailedContainers, FieldSetters, QuotedNames, SortedValues, Violation, detail, plural,
};

const APP_ARMOR_ANNOTATIONS: &str = "container.apparmor.security.beta.kubernetes.io/";
const SECCOMP_POD_ANNOTATION: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_ANNOTATIONS: &str = "container.seccomp.security.alpha.kubernetes.io/";

/// The profile types that both allow.
fn is_allowed(profile: &str) -> bool {
    matches!(profile, "RuntimeDefault" | "Localhost")
}

// Upstream: pod-security-admission/policy/check_appArmorProfile.go, appArmorProfile_1_0
pub(super) fn app_armor(pod: &Pod<'_>) -> Option<Violation> {
    let mut types = SortedValues::new();
    let mut setters = FieldSetters::with(pod, |context| forbidden(context.app_armor, &mut types));
    let mut annotations = annotations(pod, |key, value| {
        let is_allowed = value.is_empty() || value == "runtime/default" || value.starts_with("localhost/");
        key.starts_with(APP_ARMOR_ANNOTATIONS) && !is_allowed
    });
    setters.annotations = annotations.len();
    if setters.is_empty() {
        return None;
    }
    annotations.sort();
    let values = types.into_iter().chain(annotations.iter().map(String::as_str));
    let values: Vec<&str> = values.collect();
    let reason = plural(
        values.len(),
        "forbidden AppArmor profile",
        "forbidden AppArmor profiles",
    );
    let detail = detail(&[
        &setters,
        &" must not set AppArmor profile type to ",
        &QuotedNames(&values),
    ]);
    Some(Violation::new(reason, detail))
}

// Upstream: pod-security-admission/policy/check_seccompProfile_baseline.go, seccompProfileBaseline_1_0
pub(super) fn seccomp_annotations(pod: &Pod<'_>) -> Option<Violation> {
    let mut forbidden = annotations(pod, |key, value| {
        let container = key.strip_prefix(SECCOMP_ANNOTATIONS);
        let names_container = |name| pod.containers.iter().any(|container| container.name == name);
        let is_read = key == SECCOMP_POD_ANNOTATION || container.is_some_and(names_container);
        let is_allowed =
            matches!(value, "runtime/default" | "docker/default") || value.starts_with("localhost/");
        is_read && !is_allowed
    });
    if forbidden.is_empty() {
        return None;
    }
    forbidden.sort();
    let word = plural(forbidden.len(), "annotation", "annotations");
    let detail = format!("forbidden {word} {}", forbidden.join(", "));
    Some(Violation::new("seccompProfile", detail))
}

// Upstream: pod-security-admission/policy/check_seccompProfile_baseline.go, seccompProfileBaseline_1_19
pub(super) fn seccomp(pod: &Pod<'_>) -> Option<Violation> {
    let mut types = SortedValues::new();
    let setters = FieldSetters::with(pod, |context| forbidden(context.seccomp, &mut types));
    (!setters.is_empty()).then(|| {
        let detail = detail(&[
            &setters,
            &" must not set securityContext.seccompProfile.type to ",
            &QuotedNames(&types),
        ]);
        Violation::new("seccompProfile", detail)
    })
}

// Upstream: pod-security-admission/policy/check_seccompProfile_restricted.go, seccompProfileRestricted_1_19 and seccompProfileRestricted_1_25
pub(super) fn seccomp_required(pod: &Pod<'_>) -> Option<Violation> {
    if let Some(violation) = seccomp(pod) {
        return Some(violation);
    }
    if pod.context.seccomp.is_some() {
        return None;
    }
    let containers = FailedContainers::with(pod, |container| container.context.seccomp.is_none());
    (!containers.is_empty()).then(|| {
        let detail = detail(&[
            &"pod or ",
            &containers,
            &r#" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost""#,
        ]);
        Violation::new("seccompProfile", detail)
    })
}

/// The check of SELinux options from a minor version on.
// Upstream: pod-security-admission/policy/check_seLinuxOptions.go, seLinuxOptions
pub(super) fn se_linux_since<const MINOR: u8>(pod: &Pod<'_>) -> Option<Violation> {
    let is_allowed = |name: &str| match name {
        "" | "container_t" | "container_init_t" | "container_kvm_t" => true,
        "container_engine_t" => MINOR >= 31,
        _ => false,
    };
    let mut types = SortedValues::new();
    let (mut has_user, mut has_role) = (false, false);
    let setters = FieldSetters::with(pod, |context| {
        let Some(options) = context.se_linux else {
            return false;
        };
        let name = text_at(options, &["type"]);
        if !is_allowed(name) {
            types.insert(name);
        }
        let (user, role) = (
            !text_at(options, &["user"]).is_empty(),
            !text_at(options, &["role"]).is_empty(),
        );
        has_user |= user;
        has_role |= role;
        !is_allowed(name) || user || role
    });
    if setters.is_empty() {
        return None;
    }
    let mut data = Vec::new();
    if !types.is_empty() {
        data.push(detail(&[
            &plural(types.len(), "type ", "types "),
            &QuotedNames(&types),
        ]));
    }
    if has_user {
        data.push("user may not be set".to_owned());
    }
    if has_role {
        data.push("role may not be set".to_owned());
    }
    let detail = detail(&[
        &setters,
        &" set forbidden securityContext.seLinuxOptions: ",
        &data.join("; ").as_str(),
    ]);
    Some(Violation::new("seLinuxOptions", detail))
}

/// Whether a profile has a type that is not allowed.
fn forbidden<'a>(profile: Option<&'a str>, types: &mut SortedValues<'a>) -> bool {
    let forbidden_type = profile.filter(|profile| !is_allowed(profile));
    forbidden_type
        .inspect(|forbidden_type| _ = types.insert(forbidden_type))
        .is_some()
}

/// The annotations that are forbidden: `key="value"`.
fn annotations(pod: &Pod<'_>, is_bad: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let annotations = pod
        .annotations
        .into_iter()
        .flat_map(|annotations| annotations.iter());
    let texts = annotations.map(|(key, value)| (key, value_text(value)));
    let bad = texts.filter(|(key, value)| is_bad(key, value));
    bad.map(|(key, value)| format!("{key}={}", quote(value)))
        .collect()
}

fn value_text<'a>(value: &'a Value<'a>) -> &'a str {
    value.as_str().unwrap_or_default()
}
