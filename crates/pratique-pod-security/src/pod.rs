//! A pod as the checks read it: extracted once from its JSON, then only compared.

use pratique_json::{Object, Value, text_at};
use smallvec::SmallVec;

use crate::extract::{ObjectKind, pod_of};

/// The fields of a pod or pod template that the checks read.
#[derive(Debug)]
pub struct Pod<'a> {
    pub(crate) annotations: Option<&'a Object<'a>>,
    pub(crate) containers: SmallVec<[PodContainer<'a>; 4]>,
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
pub(crate) struct PodContainer<'a> {
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

/// Why a value has no pod to check.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PodError {
    /// It has no specification: it is something else, or a part of a pod.
    #[error("expected a pod: {0}: must be an object")]
    NoSpec(&'static str),
    /// Its specification has no containers, so it is something else.
    #[error("expected a pod: {0}: must be a list")]
    NoContainers(&'static str),
    /// It is an object of a kind that has no pods.
    #[error("objects of kind {kind:?} of {api_version:?} have no pods")]
    Kind {
        /// Its `kind`.
        kind: String,
        /// Its `apiVersion`.
        api_version: String,
    },
    /// It is an object of a kind that has pods, and has none.
    #[error("the {0} has no pod template")]
    NoTemplate(String),
}

impl<'a> Pod<'a> {
    /// The pod of an object as the API has it: a Pod, or an object with a template of pods, such as a Deployment or a CronJob.
    ///
    /// ```
    /// use pratique_pod_security::{Pod, json};
    ///
    /// let deployment = json::parse(br#"{"apiVersion": "apps/v1", "kind": "Deployment",
    ///     "spec": {"template": {"spec": {"containers": [{"name": "app", "image": "app:1"}]}}}}"#)?;
    /// assert!(Pod::from_object(&deployment).is_ok());
    ///
    /// let spec = json::parse(br#"{"containers": [{"name": "app", "image": "app:1"}]}"#)?;
    /// let error = Pod::from_object(&spec).unwrap_err();
    /// assert_eq!(error.to_string(), "objects of kind \"\" of \"\" have no pods");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// It is an object of another kind, or none; or its pod has no containers.
    pub fn from_object(object: &'a Value<'a>) -> Result<Self, PodError> {
        // Without the kind of a request, an object has to say its own.
        let kind = ObjectKind::new(object, ("", ""));
        match pod_of(kind, object) {
            Ok(Some(parts)) => {
                let names = if kind == ObjectKind::Pod {
                    ["spec", "spec.containers"]
                } else {
                    ["template.spec", "template.spec.containers"]
                };
                check_spec(parts.spec, names)?;
                Ok(Pod::from_parts(parts.metadata, parts.spec))
            }
            Ok(None) => Err(PodError::NoTemplate(text_at(object, &["kind"]).to_owned())),
            Err(_) => Err(PodError::Kind {
                kind: text_at(object, &["kind"]).to_owned(),
                api_version: text_at(object, &["apiVersion"]).to_owned(),
            }),
        }
    }

    /// The pod of a template: an object with `metadata` and `spec`, and no kind of its own. A Pod that does not say its kind is
    /// one, too.
    ///
    /// # Errors
    /// It has no specification, or one without containers.
    pub fn from_template(template: &'a Value<'a>) -> Result<Self, PodError> {
        let spec = &template["spec"];
        check_spec(spec, ["spec", "spec.containers"])?;
        Ok(Pod::from_parts(&template["metadata"], spec))
    }

    /// A pod of its metadata and its specification, or those of a template.
    pub(crate) fn from_parts(metadata: &'a Value<'a>, spec: &'a Value<'a>) -> Self {
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
                "os" => pod.is_windows = text_at(value, &["name"]) == "windows",
                _ => {}
            }
        }
        let all = [init, containers, ephemeral].into_iter().flatten();
        pod.containers.extend(all.map(PodContainer::new));
        pod
    }
}

impl<'a> PodContainer<'a> {
    fn new(container: &'a Value<'a>) -> Self {
        let mut read = PodContainer {
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
                "seccompProfile" => read.seccomp = Some(text_at(value, &["type"])),
                "appArmorProfile" => read.app_armor = Some(text_at(value, &["type"])),
                _ => {}
            }
        }
        read
    }
}

/// Whether a specification is one of a pod, by what each has. `names` are those of it and of its containers.
fn check_spec(spec: &Value<'_>, [name, containers]: [&'static str; 2]) -> Result<(), PodError> {
    if spec.as_object().is_none() {
        return Err(PodError::NoSpec(name));
    }
    if spec.get("containers").and_then(Value::as_array).is_none() {
        return Err(PodError::NoContainers(containers));
    }
    Ok(())
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

/// The elements of a list.
pub(crate) fn items<'a>(value: &'a Value<'a>, name: &str) -> &'a [Value<'a>] {
    value.get(name).map_or(&[], elements)
}

fn is_true(value: &Value<'_>, name: &str) -> bool {
    value.get(name).and_then(Value::as_bool) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Evaluator, Level, LevelVersion, Version, details};

    fn parse(text: &str) -> Value<'_> {
        pratique_json::parse(text.as_bytes()).unwrap()
    }

    fn violations(pod: Result<Pod<'_>, PodError>) -> Result<String, String> {
        let baseline = LevelVersion {
            level: Level::Baseline,
            version: Version::Latest,
        };
        let pod = pod.map_err(|error| error.to_string())?;
        Ok(details(&Evaluator::new().violations(baseline, &pod)))
    }

    const POD: &str = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"},
        "spec": {"hostNetwork": true, "containers": [{"name": "app", "image": "app:1"}]}}"#;

    #[test]
    fn a_pod_is_found_in_what_has_one() {
        let denied = Ok("host namespaces (hostNetwork=true)".to_owned());
        assert_eq!(violations(Pod::from_object(&parse(POD))), denied);
        assert_eq!(violations(Pod::from_template(&parse(POD))), denied);
        let cron_job = format!(
            r#"{{"apiVersion": "batch/v1", "kind": "CronJob", "spec": {{"jobTemplate": {{"spec": {{"template": {POD}}}}}}}}}"#
        );
        assert_eq!(violations(Pod::from_object(&parse(&cron_job))), denied);
    }

    #[test]
    fn what_is_no_pod_is_an_error() {
        let check_object = |text: &str, expected: &str| {
            let object = parse(text);
            assert_eq!(violations(Pod::from_object(&object)), Err(expected.to_owned()));
        };
        let check_template = |text: &str, expected: &str| {
            let object = parse(text);
            assert_eq!(violations(Pod::from_template(&object)), Err(expected.to_owned()));
        };
        let spec = r#"{"hostNetwork": true, "containers": []}"#;
        check_object(spec, r#"objects of kind "" of "" have no pods"#);
        check_template(spec, "expected a pod: spec: must be an object");
        check_template(r#"{"name": "web"}"#, "expected a pod: spec: must be an object");
        let deployment =
            r#"{"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": {"spec": {}}}}"#;
        check_object(
            deployment,
            "expected a pod: template.spec.containers: must be a list",
        );
        // The whole object where its template is expected.
        check_template(deployment, "expected a pod: spec.containers: must be a list");
        check_object(
            r#"{"apiVersion": "v1", "kind": "ConfigMap"}"#,
            r#"objects of kind "ConfigMap" of "v1" have no pods"#,
        );
        check_object(
            r#"{"apiVersion": "v1", "kind": "ReplicationController", "spec": {}}"#,
            "the ReplicationController has no pod template",
        );
    }
}
