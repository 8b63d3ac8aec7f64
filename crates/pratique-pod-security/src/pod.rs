//! A pod as the checks read it: extracted once from its JSON, then only compared.

use pratique_json::{Object, Value};
use smallvec::SmallVec;

/// What the checks read of a pod, or of the template of pods.
#[derive(Debug)]
pub struct Pod<'a> {
    pub(crate) annotations: Option<&'a Object<'a>>,
    pub(crate) containers: SmallVec<[Container<'a>; 4]>,
    pub(crate) context: SecurityContext<'a>,
    pub(crate) sysctls: &'a [Value<'a>],
    pub(crate) volumes: &'a [Value<'a>],
    pub(crate) host_network: bool,
    pub(crate) host_pid: bool,
    pub(crate) host_ipc: bool,
    /// `hostUsers: false`
    pub(crate) has_user_namespace: bool,
    pub(crate) is_windows: bool,
}

/// What the checks read of a container of any list.
#[derive(Debug)]
pub(crate) struct Container<'a> {
    pub(crate) name: &'a str,
    pub(crate) context: SecurityContext<'a>,
    pub(crate) ports: &'a [Value<'a>],
    /// The probes and the lifecycle handlers.
    pub(crate) handlers: [Option<&'a Value<'a>>; 5],
}

/// What the checks read of the security context of a pod or a container.
#[derive(Debug, Default)]
pub(crate) struct SecurityContext<'a> {
    pub(crate) allow_privilege_escalation: Option<bool>,
    pub(crate) privileged: bool,
    pub(crate) run_as_non_root: Option<bool>,
    pub(crate) runs_as_root: bool,
    pub(crate) host_process: bool,
    pub(crate) proc_mount: Option<&'a str>,
    pub(crate) capabilities: Option<&'a Value<'a>>,
    pub(crate) se_linux: Option<&'a Value<'a>>,
    /// The type of the profile, empty where the profile has none.
    pub(crate) seccomp: Option<&'a str>,
    pub(crate) app_armor: Option<&'a str>,
}

impl<'a> Pod<'a> {
    /// A pod of its metadata and its specification, or those of a template.
    pub fn new(metadata: &'a Value<'a>, spec: &'a Value<'a>) -> Self {
        let context = present(spec, "securityContext");
        let lists = ["initContainers", "containers", "ephemeralContainers"];
        let containers = lists.iter().flat_map(|list| items(spec, list));
        Pod {
            annotations: metadata.get("annotations").and_then(Value::as_object),
            containers: containers.map(Container::new).collect(),
            context: context.map(SecurityContext::new).unwrap_or_default(),
            sysctls: context.map_or(&[], |context| items(context, "sysctls")),
            volumes: items(spec, "volumes"),
            host_network: is_true(spec, "hostNetwork"),
            host_pid: is_true(spec, "hostPID"),
            host_ipc: is_true(spec, "hostIPC"),
            has_user_namespace: flag(spec, "hostUsers") == Some(false),
            is_windows: present(spec, "os").is_some_and(|os| text(os, "name") == "windows"),
        }
    }
}

impl<'a> Container<'a> {
    fn new(container: &'a Value<'a>) -> Self {
        let lifecycle = present(container, "lifecycle");
        let hook = |name| lifecycle.and_then(|lifecycle| present(lifecycle, name));
        Container {
            name: text(container, "name"),
            context: present(container, "securityContext")
                .map(SecurityContext::new)
                .unwrap_or_default(),
            ports: items(container, "ports"),
            handlers: [
                present(container, "livenessProbe"),
                present(container, "readinessProbe"),
                present(container, "startupProbe"),
                hook("postStart"),
                hook("preStop"),
            ],
        }
    }
}

impl<'a> SecurityContext<'a> {
    fn new(context: &'a Value<'a>) -> Self {
        let profile_type = |name| present(context, name).map(|profile| text(profile, "type"));
        let windows = present(context, "windowsOptions");
        SecurityContext {
            allow_privilege_escalation: flag(context, "allowPrivilegeEscalation"),
            privileged: is_true(context, "privileged"),
            run_as_non_root: flag(context, "runAsNonRoot"),
            runs_as_root: present(context, "runAsUser").and_then(Value::as_int) == Some(0),
            host_process: windows.is_some_and(|windows| is_true(windows, "hostProcess")),
            proc_mount: present(context, "procMount").and_then(Value::as_str),
            capabilities: present(context, "capabilities"),
            se_linux: present(context, "seLinuxOptions"),
            seccomp: profile_type("seccompProfile"),
            app_armor: profile_type("appArmorProfile"),
        }
    }
}

/// A member that is not null.
pub(crate) fn present<'a>(value: &'a Value<'a>, name: &str) -> Option<&'a Value<'a>> {
    value.get(name).filter(|value| !value.is_null())
}

/// A text, empty where there is none.
pub(crate) fn text<'a>(value: &'a Value<'a>, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The elements of a list.
pub(crate) fn items<'a>(value: &'a Value<'a>, name: &str) -> &'a [Value<'a>] {
    value.get(name).and_then(Value::as_array).unwrap_or_default()
}

fn flag(value: &Value<'_>, name: &str) -> Option<bool> {
    value.get(name)?.as_bool()
}

fn is_true(value: &Value<'_>, name: &str) -> bool {
    flag(value, name) == Some(true)
}
