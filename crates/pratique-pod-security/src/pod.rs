//! A pod as the checks read it: extracted once from its JSON, then only compared.

use pratique_json::{Object, Value};
use smallvec::SmallVec;

/// The fields of a pod or pod template that the checks read.
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

/// The fields of a container of any list that the checks read.
#[derive(Debug)]
pub(crate) struct Container<'a> {
    pub(crate) name: &'a str,
    pub(crate) context: SecurityContext<'a>,
    pub(crate) ports: &'a [Value<'a>],
    /// The probes and the lifecycle handlers.
    pub(crate) handlers: [Option<&'a Value<'a>>; 5],
}

/// The fields of the security context of a pod or a container that the checks read.
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
        let mut pod = Pod {
            annotations: metadata.get("annotations").and_then(Value::as_object),
            containers: SmallVec::new(),
            context: SecurityContext::default(),
            sysctls: &[],
            volumes: &[],
            host_network: false,
            host_pid: false,
            host_ipc: false,
            has_user_namespace: false,
            is_windows: false,
        };
        let (mut init, mut containers, mut ephemeral): (&[Value<'_>], &[Value<'_>], &[Value<'_>]) =
            (&[], &[], &[]);
        for (name, value) in members(spec) {
            match name {
                "initContainers" => init = elements(value),
                "containers" => containers = elements(value),
                "ephemeralContainers" => ephemeral = elements(value),
                "securityContext" => {
                    pod.context = SecurityContext::new(value);
                    pod.sysctls = items(value, "sysctls");
                }
                "volumes" => pod.volumes = elements(value),
                "hostNetwork" => pod.host_network = value.as_bool() == Some(true),
                "hostPID" => pod.host_pid = value.as_bool() == Some(true),
                "hostIPC" => pod.host_ipc = value.as_bool() == Some(true),
                "hostUsers" => pod.has_user_namespace = value.as_bool() == Some(false),
                "os" => pod.is_windows = text(value, "name") == "windows",
                _ => {}
            }
        }
        let all = [init, containers, ephemeral].into_iter().flatten();
        pod.containers.extend(all.map(Container::new));
        pod
    }
}

impl<'a> Container<'a> {
    fn new(container: &'a Value<'a>) -> Self {
        let mut read = Container {
            name: "",
            context: SecurityContext::default(),
            ports: &[],
            handlers: [None; 5],
        };
        let [liveness, readiness, startup, post_start, pre_stop] = &mut read.handlers;
        for (name, value) in members(container) {
            match name {
                "name" => read.name = value.as_str().unwrap_or_default(),
                "securityContext" => read.context = SecurityContext::new(value),
                "ports" => read.ports = elements(value),
                "livenessProbe" => *liveness = Some(value),
                "readinessProbe" => *readiness = Some(value),
                "startupProbe" => *startup = Some(value),
                "lifecycle" => {
                    *post_start = present(value, "postStart");
                    *pre_stop = present(value, "preStop");
                }
                _ => {}
            }
        }
        read
    }
}

impl<'a> SecurityContext<'a> {
    fn new(context: &'a Value<'a>) -> Self {
        let mut read = SecurityContext::default();
        for (name, value) in members(context) {
            match name {
                "allowPrivilegeEscalation" => read.allow_privilege_escalation = value.as_bool(),
                "privileged" => read.privileged = value.as_bool() == Some(true),
                "runAsNonRoot" => read.run_as_non_root = value.as_bool(),
                "runAsUser" => read.runs_as_root = value.as_int() == Some(0),
                "windowsOptions" => read.host_process = is_true(value, "hostProcess"),
                "procMount" => read.proc_mount = value.as_str(),
                "capabilities" => read.capabilities = Some(value),
                "seLinuxOptions" => read.se_linux = Some(value),
                "seccompProfile" => read.seccomp = Some(text(value, "type")),
                "appArmorProfile" => read.app_armor = Some(text(value, "type")),
                _ => {}
            }
        }
        read
    }
}

/// The members of an object that are not null.
fn members<'a>(value: &'a Value<'a>) -> impl Iterator<Item = (&'a str, &'a Value<'a>)> {
    let members = value.as_object().map_or(&[] as &[_], Object::members);
    let set = members.iter().filter(|(_, value)| !value.is_null());
    set.map(|(name, value)| (name.as_ref(), value))
}

fn elements<'a>(value: &'a Value<'a>) -> &'a [Value<'a>] {
    value.as_array().unwrap_or_default()
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
    value.get(name).map_or(&[], elements)
}

fn is_true(value: &Value<'_>, name: &str) -> bool {
    value.get(name).and_then(Value::as_bool) == Some(true)
}
