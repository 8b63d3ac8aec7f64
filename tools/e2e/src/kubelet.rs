//! A stand-in for the kubelet and the scheduler: runs the containers of the Pods of Jobs as processes, each with a root, mounts
//! and a user of its own, and reports to the API server how they ended.
//!
//! Unknown fields of a Pod are errors, so that no part of a manifest is ignored silently.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use pratique_deploy::{items, part, text_at};
use pratique_harness::ToolError;
use serde_json::{Map, Value, json};

use super::kubectl::KubectlUser;

/// The path of the program in the image.
const ENTRYPOINT: &str = "/usr/local/bin/pratique";
/// Directories that a dynamically linked program needs in addition to the image.
const OF_THE_SYSTEM: [&str; 5] = ["/dev", "/lib", "/lib64", "/proc", "/usr/lib"];
/// Mounts directories and files, and gives what may be written to the group of the Pod's volumes.
const BIND: &str = r#"bind() {
    if [ -d "$1" ]; then mkdir -p "$2"; else mkdir -p "$(dirname "$2")"; touch "$2"; fi
    if [ "$3" = rw ]; then chgrp -R "$fs_group" "$1"; chmod -R g+rwX "$1"; fi
    mount --bind "$1" "$2"
    if [ "$3" = ro ]; then mount -o remount,bind,ro "$2"; fi
}
"#;
/// The data of a Secret as lines.
const SECRET: &str =
    "go-template={{range $name, $value := .data}}{{$name}}={{base64decode $value}}{{\"\\n\"}}{{end}}";
/// The supported fields of Pods and containers, and those that a node may ignore.
const OF_PODS: &str = "automountServiceAccountToken containers dnsPolicy enableServiceLinks hostname nodeSelector \
    preemptionPolicy priority restartPolicy schedulerName securityContext serviceAccount \
    serviceAccountName terminationGracePeriodSeconds tolerations volumes";
const OF_CONTAINERS: &str = "args env envFrom image imagePullPolicy name resources securityContext terminationMessagePath \
    terminationMessagePolicy volumeMounts";

/// A node for everything.
pub(super) struct FakeKubelet {
    kubectl: KubectlUser,
    pratique: PathBuf,
    folder: PathBuf,
    /// Pods by their uid, with the process of each until its end was reported.
    runs: BTreeMap<String, (Value, Option<Child>)>,
}

impl FakeKubelet {
    /// A node whose containers have a program, with its state in a folder.
    pub(super) fn new(kubectl: &KubectlUser, pratique: &Path, folder: PathBuf) -> Self {
        FakeKubelet {
            kubectl: kubectl.clone(),
            pratique: pratique.to_owned(),
            folder,
            runs: BTreeMap::new(),
        }
    }

    /// The directory that a claim of a volume stands for.
    pub(super) fn claim(&self, name: &str) -> PathBuf {
        self.folder.join("claims").join(name)
    }

    /// The output of the container of a Pod.
    pub(super) fn log(&self, pod: &str) -> Result<String, ToolError> {
        let path = self.folder.join(format!("{pod}.log"));
        fs::read_to_string(&path).map_err(ToolError::file(&path))
    }

    /// Starts new Pods, and reports those that have ended.
    pub(super) fn turn(&mut self) -> Result<(), ToolError> {
        let pods = self.kubectl.json(&["get", "pods", "--all-namespaces"])?;
        for pod in items(part(&pods, "/items")) {
            let is_of_job = items(part(pod, "/metadata/ownerReferences"))
                .iter()
                .any(|owner| owner["kind"] == "Job");
            let uid = text_at(pod, "/metadata/uid");
            let is_there = part(pod, "/metadata/deletionTimestamp").is_null();
            if is_of_job && is_there && !self.runs.contains_key(uid) {
                let child = self.start(pod)?;
                self.runs.insert(uid.to_owned(), (pod.clone(), Some(child)));
            }
        }
        for (pod, child) in self.runs.values_mut() {
            let ended = child.as_mut().map(Child::try_wait).transpose()?.flatten();
            if let Some(status) = ended {
                *child = None;
                let code = status.code().or(status.signal().map(|signal| 128 + signal));
                tell(&self.kubectl, pod, code.unwrap_or(255), &json!([]))?;
            }
        }
        Ok(())
    }

    /// Ends the container of a Pod at once, as where its node has no more room.
    pub(super) fn evict(&mut self, name: &str) -> Result<(), ToolError> {
        let mut runs = self.runs.values_mut();
        let run = runs.find(|(pod, _)| text_at(pod, "/metadata/name") == name);
        let (pod, child) = run.ok_or_else(|| format!("{name} does not run"))?;
        let mut child = child.take().ok_or_else(|| format!("{name} has ended"))?;
        child.kill()?;
        if child.wait()?.signal().is_none() {
            return Err(format!("{name} has ended by itself").into());
        }
        let condition =
            json!([{"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet"}]);
        tell(&self.kubectl, pod, 137, &condition)
    }

    fn start(&self, pod: &Value) -> Result<Child, ToolError> {
        let (name, spec) = (text_at(pod, "/metadata/name"), &pod["spec"]);
        let [container] = items(&spec["containers"]) else {
            return Err(format!("{name}: not one container").into());
        };
        known(spec, OF_PODS)?;
        known(container, OF_CONTAINERS)?;
        let environment = self.environment(pod, container)?;
        let arguments = items(&container["args"]).iter().filter_map(Value::as_str);
        let arguments = arguments.map(|argument| {
            let expand =
                |text: String, (name, value): &(String, String)| text.replace(&format!("$({name})"), value);
            environment.iter().fold(argument.to_owned(), expand)
        });
        let log = self.folder.join(format!("{name}.log"));
        let log = File::create(&log).map_err(ToolError::file(&log))?;
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "sh", "-euc", &self.script(pod, container)?, "sh"])
            .args(arguments)
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .envs(environment)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        command.spawn().map_err(ToolError::program("unshare"))
    }

    /// The script that mounts what the container has, and becomes its program.
    fn script(&self, pod: &Value, container: &Value) -> Result<String, ToolError> {
        let folder = self.folder.join(text_at(pod, "/metadata/uid"));
        let root = folder.join("root");
        let system = OF_THE_SYSTEM.into_iter().filter(|path| Path::new(path).exists());
        let system = system.map(|path| (path.into(), path.to_owned(), true));
        let mut mounts: Vec<(PathBuf, String, bool)> = system.collect();
        mounts.push((self.pratique.clone(), ENTRYPOINT.to_owned(), true));
        for mount in items(&container["volumeMounts"]) {
            let mut volumes = items(part(pod, "/spec/volumes")).iter();
            let volume = volumes.find(|volume| volume["name"] == mount["name"]);
            let volume = volume.ok_or("a mount of no volume")?;
            let source = self.volume(pod, volume, &folder.join(text_at(volume, "/name")))?;
            let is_read_only = mount["readOnly"] == true;
            mounts.push((source, text_at(mount, "/mountPath").to_owned(), is_read_only));
        }
        let of_pod = |field: &str| part(pod, &format!("/spec/securityContext/{field}")).to_string();
        let group_of_volumes = of_pod("fsGroup");
        let root = root.display();
        let mut script =
            format!("{BIND}fs_group={group_of_volumes}\nmkdir -p '{root}'\nmount --bind '{root}' '{root}'\n");
        for (source, target, is_read_only) in mounts {
            let how = if is_read_only { "ro" } else { "rw" };
            // Writing to a String cannot fail.
            let _ = writeln!(script, "bind '{}' '{root}{target}' {how}", source.display());
        }
        if *part(container, "/securityContext/readOnlyRootFilesystem") == true {
            let _ = writeln!(script, "mount -o remount,bind,ro '{root}'");
        }
        let (user, group) = (of_pod("runAsUser"), of_pod("runAsGroup"));
        let ids = format!("--userspec={user}:{group} --groups={group_of_volumes}");
        Ok(format!(
            "{script}exec chroot {ids} '{root}' {ENTRYPOINT} \"$@\"\n"
        ))
    }

    /// The directory of a volume, filled.
    fn volume(&self, pod: &Value, volume: &Value, folder: &Path) -> Result<PathBuf, ToolError> {
        if let Some(claim) = part(volume, "/persistentVolumeClaim/claimName").as_str() {
            return Ok(self.claim(claim));
        }
        fs::create_dir_all(folder).map_err(ToolError::file(folder))?;
        let place = |name: &str, content: &str| {
            let path = folder.join(name);
            fs::write(&path, content).map_err(ToolError::file(&path))
        };
        let sources = if volume["projected"].is_object() {
            items(part(volume, "/projected/sources"))
        } else {
            std::slice::from_ref(volume)
        };
        for source in sources {
            if let Some(name) = part(source, "/configMap/name").as_str() {
                for (name, content) in self.data(pod, "configmaps", name)? {
                    place(&name, content.as_str().unwrap_or_default())?;
                }
            } else if let Some(path) = part(source, "/serviceAccountToken/path").as_str() {
                place(path, &self.token(pod)?)?;
            } else if source["downwardAPI"].is_object() {
                for item in items(part(source, "/downwardAPI/items")) {
                    let value = field(pod, text_at(item, "/fieldRef/fieldPath"))?;
                    place(text_at(item, "/path"), &value)?;
                }
            } else if !source["emptyDir"].is_object() {
                return Err(format!("a volume of a kind that is not known here: {source}").into());
            }
        }
        Ok(folder.to_owned())
    }

    /// The data of an object of the Pod's namespace.
    fn data(&self, pod: &Value, resource: &str, name: &str) -> Result<Map<String, Value>, ToolError> {
        let namespace = text_at(pod, "/metadata/namespace");
        let object = self
            .kubectl
            .json(&["get", resource, name, "--namespace", namespace])?;
        Ok(part(&object, "/data").as_object().cloned().unwrap_or_default())
    }

    /// A token of the Pod's account, which holds as long as the Pod is there.
    fn token(&self, pod: &Value) -> Result<String, ToolError> {
        let [namespace, name, uid] =
            ["namespace", "name", "uid"].map(|of| text_at(&pod["metadata"], &format!("/{of}")));
        let account = text_at(pod, "/spec/serviceAccountName");
        let create = format!(
            "create token {account} --namespace {namespace} --bound-object-kind Pod --bound-object-name {name} \
             --bound-object-uid {uid}"
        );
        let token = self.kubectl.must(&create.split(' ').collect::<Vec<_>>(), "")?;
        Ok(token.trim().to_owned())
    }

    fn environment(&self, pod: &Value, container: &Value) -> Result<Vec<(String, String)>, ToolError> {
        let place = [
            ("HOST", "127.0.0.1".to_owned()),
            ("PORT", self.kubectl.port().to_string()),
        ];
        let mut all = place
            .map(|(name, value)| (format!("KUBERNETES_SERVICE_{name}"), value))
            .to_vec();
        for source in items(&container["envFrom"]) {
            known(source, "secretRef")?;
            let namespace = text_at(pod, "/metadata/namespace");
            let name = text_at(source, "/secretRef/name");
            let get = ["get", "secret", name, "--namespace", namespace, "-o", SECRET];
            let lines = self.kubectl.must(&get, "")?;
            let variables = lines.lines().filter_map(|line| line.split_once('='));
            all.extend(variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
        }
        for variable in items(&container["env"]) {
            let value = if variable["valueFrom"].is_null() {
                text_at(variable, "/value").to_owned()
            } else {
                field(pod, text_at(variable, "/valueFrom/fieldRef/fieldPath"))?
            };
            all.push((text_at(variable, "/name").to_owned(), value));
        }
        Ok(all)
    }
}

/// Tells the API server how the container of a Pod has ended.
fn tell(kubectl: &KubectlUser, pod: &Value, code: i32, conditions: &Value) -> Result<(), ToolError> {
    let container = part(pod, "/spec/containers/0");
    let (phase, reason) = if code == 0 {
        ("Succeeded", "Completed")
    } else {
        ("Failed", "Error")
    };
    let status = json!({"status": {"phase": phase, "conditions": conditions, "containerStatuses": [{
        "name": container["name"], "image": container["image"], "imageID": "", "ready": false, "restartCount": 0,
        "state": {"terminated": {"exitCode": code, "reason": reason}},
    }]}});
    let [namespace, name] = ["/metadata/namespace", "/metadata/name"].map(|path| text_at(pod, path));
    let patch = format!(
        "patch pod {name} --namespace {namespace} --subresource=status --type=merge --patch {status}"
    );
    kubectl
        .must(&patch.splitn(9, ' ').collect::<Vec<_>>(), "")
        .map(drop)
}

/// The value of a field of a Pod, as the kubelet resolves it.
fn field(pod: &Value, path: &str) -> Result<String, ToolError> {
    let (map, key) = path.split_once("['").unwrap_or((path, ""));
    let mut pointer = format!("/{}", map.replace('.', "/"));
    if let Some(key) = key.strip_suffix("']") {
        pointer = format!("{pointer}/{}", key.replace('/', "~1"));
    }
    let value = pod.pointer(&pointer).and_then(Value::as_str);
    let value = value.ok_or_else(|| format!("the Pod has no {path}"))?;
    Ok(value.to_owned())
}

/// Whether all fields of an object are among these.
fn known(object: &Value, fields: &str) -> Result<(), ToolError> {
    let mut names = object.as_object().into_iter().flat_map(Map::keys);
    match names.find(|name| !fields.split(' ').any(|field| field == *name)) {
        Some(name) => Err(format!("a Pod has {name}, which is not known here").into()),
        None => Ok(()),
    }
}
