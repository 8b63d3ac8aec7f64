//! The command line of kube-apiserver, as its static Pod has it: what a server of a release refuses of it.

use std::collections::{BTreeMap, BTreeSet};

use pratique_gotext::strconv::parse_bool;
use pratique_json::Value;
use pratique_schema::{FeatureGates, Release};
use pratique_types::admission_plugins::known_in;

use super::finding::{UpgradeFinding, UpgradeRule};

/// The name of the program.
const PROGRAM: &str = "kube-apiserver";

/// The flags of a kube-apiserver that depend on its release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ServerCommand {
    /// Where it was found.
    pub(super) place: String,
    /// Each of them may be given several times.
    feature_gates: Vec<String>,
    enabled_plugins: Vec<String>,
    disabled_plugins: Vec<String>,
    runtime_config: BTreeMap<String, String>,
    /// `--admission-control-config-file`, a path on the server's machine.
    pub(super) configuration: Option<String>,
    /// The version in the name of the image.
    pub(super) image_version: Option<String>,
}

/// Why a server does not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FlagRefusal {
    pub(super) flag: &'static str,
    pub(super) message: String,
}

/// The versions that a key of `--runtime-config` stands for besides single ones.
// Upstream: apiserver/pkg/server/resourceconfig/helpers.go, groupVersionMatchers
const VERSION_CLASSES: [&str; 4] = ["api/all", "api/ga", "api/beta", "api/alpha"];

impl ServerCommand {
    /// The command of a Pod that runs kube-apiserver.
    pub(super) fn from_pod(pod: &Value<'_>, place: &str) -> Option<Self> {
        let text = |name: &str| pod.get(name).and_then(Value::as_str);
        if (text("apiVersion"), text("kind")) != (Some("v1"), Some("Pod")) {
            return None;
        }
        let containers = pod.at(&["spec", "containers"]).and_then(Value::as_array)?;
        let (words, container) = containers.iter().find_map(|container| {
            let list = |name: &str| container.get(name).and_then(Value::as_array).unwrap_or_default();
            let words: Vec<&str> = ["command", "args"]
                .into_iter()
                .flat_map(list)
                .filter_map(Value::as_str)
                .collect();
            let is_named = container.get("name").and_then(Value::as_str) == Some(PROGRAM);
            let runs = |word: &&str| word.rsplit('/').next() == Some(PROGRAM);
            (words.iter().take(2).any(runs) || (is_named && !words.is_empty())).then_some((words, container))
        })?;
        let image = container.get("image").and_then(Value::as_str).unwrap_or_default();
        let tag = image.split('@').next().and_then(|image| image.rsplit_once(':'));
        let version = tag
            .map(|(_, tag)| tag)
            .filter(|tag| Release::parse_version(tag).is_some());
        Some(ServerCommand {
            image_version: version.map(str::to_owned),
            ..ServerCommand::parse(&words, place)
        })
    }

    /// The command of its words.
    fn parse(words: &[&str], place: &str) -> Self {
        let mut command = ServerCommand {
            place: place.to_owned(),
            ..ServerCommand::default()
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let Some(flag) = word.strip_prefix("--") else {
                continue;
            };
            let (name, value) = match flag.split_once('=') {
                Some((name, value)) => (name, value),
                None if command.takes(flag) => (flag, words.next().copied().unwrap_or_default()),
                None => continue,
            };
            command.set(name, value);
        }
        command
    }

    /// Whether a flag is one that is read: then its value may be the next word.
    fn takes(&self, name: &str) -> bool {
        const READ: [&str; 5] = [
            "admission-control-config-file",
            "disable-admission-plugins",
            "enable-admission-plugins",
            "feature-gates",
            "runtime-config",
        ];
        READ.contains(&name)
    }

    fn set(&mut self, name: &str, value: &str) {
        let plugins = || {
            value
                .split(',')
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
        };
        match name {
            "feature-gates" => self.feature_gates.push(value.to_owned()),
            "enable-admission-plugins" => self.enabled_plugins.extend(plugins()),
            "disable-admission-plugins" => self.disabled_plugins.extend(plugins()),
            "admission-control-config-file" => self.configuration = Some(value.to_owned()),
            // Upstream: component-base/cli/flag/configuration_map.go, Set
            "runtime-config" => {
                for pair in value.split(',').filter(|pair| !pair.is_empty()) {
                    let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
                    self.runtime_config
                        .insert(key.trim().to_owned(), value.trim().to_owned());
                }
            }
            _ => {}
        }
    }

    /// A finding for each flag that a server of a release refuses.
    pub(super) fn findings(&self, release: &'static Release) -> Vec<UpgradeFinding> {
        let refusals = self.refusals(release).into_iter();
        refusals.map(UpgradeFinding::from).collect()
    }

    /// The value of `--feature-gates`.
    pub(super) fn feature_gates(&self) -> String {
        self.feature_gates.join(",")
    }

    /// What a server of a release refuses.
    pub(super) fn refusals(&self, release: &'static Release) -> Vec<FlagRefusal> {
        let mut refusals = gate_refusals(release, &self.feature_gates());
        refusals.extend(self.plugin_refusals(release));
        let flag = "--runtime-config";
        let of_config = self.runtime_config_refusals(release).into_iter();
        refusals.extend(of_config.map(|message| FlagRefusal { flag, message }));
        refusals
    }

    // Upstream: apiserver/pkg/server/options/admission.go, AdmissionOptions.Validate
    fn plugin_refusals(&self, release: &Release) -> Vec<FlagRefusal> {
        let flags = [
            ("--enable-admission-plugins", &self.enabled_plugins),
            ("--disable-admission-plugins", &self.disabled_plugins),
        ];
        let unknown = flags.into_iter().flat_map(|(flag, names)| {
            let unknown = names.iter().filter(|name| !has_plugin(release, name));
            unknown.map(move |name| FlagRefusal {
                flag,
                message: format!("{} plugin {name:?} is unknown", flag.trim_start_matches("--")),
            })
        });
        unknown.collect()
    }

    // Upstream: apiserver/pkg/server/options/api_enablement.go, Validate, and apiserver/pkg/server/resourceconfig/helpers.go,
    // MergeAPIResourceConfigs
    fn runtime_config_refusals(&self, release: &'static Release) -> Vec<String> {
        let config = &self.runtime_config;
        if config.len() == 1 && config.get("api/all").is_some_and(|value| value == "false") {
            let what = if release.at_least(1, 37) {
                "runtime-config"
            } else {
                "key"
            };
            return vec![format!("invalid {what} with only api/all=false")];
        }
        let keys = config
            .iter()
            .filter(|(key, _)| !VERSION_CLASSES.contains(&key.as_str()));
        let mut refusals = Vec::new();
        let mut unknown = BTreeSet::new();
        for (key, value) in keys {
            let tokens: Vec<&str> = key.split('/').collect();
            let (group, version) = match tokens.as_slice() {
                [group, version] | [group, version, _] => (*group, *version),
                _ => {
                    refusals.push(format!("runtime-config invalid key {key}"));
                    continue;
                }
            };
            let (has_group, has_version) = registered(release, group, version);
            if !has_group {
                // Upstream: since 1.37, versions of unknown groups are named, not only the groups.
                unknown.insert(if release.at_least(1, 37) {
                    format!("{group}/{version}")
                } else {
                    group.to_owned()
                });
            } else if !has_version {
                refusals.push(format!(
                    "group version {group}/{version} that has not been registered"
                ));
            } else if let Err(error) = parse_bool(if value.is_empty() { "true" } else { value }) {
                refusals.push(format!("invalid value of {key}: {value}, err: {error}"));
            }
        }
        for class in VERSION_CLASSES {
            if let Some(value) = config
                .get(class)
                .filter(|value| !["true", "false"].contains(&value.as_str()))
            {
                refusals.push(format!("invalid value {class}={value}"));
            }
        }
        if !unknown.is_empty() {
            let unknown: Vec<String> = unknown.into_iter().collect();
            refusals.insert(0, format!("unknown api groups {}", unknown.join(",")));
        }
        refusals
    }
}

impl From<FlagRefusal> for UpgradeFinding {
    fn from(refusal: FlagRefusal) -> Self {
        let finding = UpgradeRule::RefusedFlag.about(refusal.flag, refusal.message);
        finding.about(refusal.flag)
    }
}

/// What a server of a release refuses of `--feature-gates`.
pub(super) fn gate_refusals(release: &'static Release, gates: &str) -> Vec<FlagRefusal> {
    let (_, refused) = accepted_gates(release, gates);
    refused
        .into_iter()
        .map(|message| FlagRefusal {
            flag: "--feature-gates",
            message,
        })
        .collect()
}

/// The gates that a server of a release accepts, one after another, and why it refuses the others.
pub(super) fn accepted_gates(release: &'static Release, text: &str) -> (String, Vec<String>) {
    let (mut accepted, mut refused) = (String::new(), Vec::new());
    // Gates that others need may be named after these.
    let mut left: Vec<&str> = text.split(',').filter(|pair| !pair.trim().is_empty()).collect();
    loop {
        let count_before = left.len();
        let mut errors = Vec::new();
        left.retain(|pair| {
            let with_pair = match accepted.as_str() {
                "" => (*pair).to_owned(),
                accepted => format!("{accepted},{pair}"),
            };
            match FeatureGates::parse(release, &with_pair) {
                Ok(_) => {
                    accepted = with_pair;
                    false
                }
                Err(error) => {
                    errors.push(error.to_string());
                    true
                }
            }
        });
        if left.is_empty() || left.len() == count_before {
            refused.extend(errors);
            return (accepted, refused);
        }
    }
}

/// Whether a server of a release has a plugin.
pub(super) fn has_plugin(release: &Release, name: &str) -> bool {
    known_in(name, release.version()).is_ok()
}

/// Whether the schemes of a release have a group, and a version of it.
fn registered(release: &'static Release, group: &str, version: &str) -> (bool, bool) {
    let in_group = release.schema().kinds().filter(|kind| kind.group == group);
    in_group.fold((false, false), |(_, has_version), kind| {
        (true, has_version || kind.version == version)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(words: &[&str]) -> ServerCommand {
        ServerCommand::parse(words, "")
    }

    fn refusals(words: &[&str], version: &str) -> Vec<String> {
        let release = Release::by_version(version).unwrap();
        let refusals = command(words).refusals(release).into_iter();
        refusals
            .map(|refusal| format!("{}: {}", refusal.flag, refusal.message))
            .collect()
    }

    #[test]
    fn the_command_is_that_of_a_static_pod() {
        let pod = |container: &str| {
            let text = format!(r#"{{"apiVersion":"v1","kind":"Pod","spec":{{"containers":[{container}]}}}}"#);
            let pod = pratique_json::parse(text.as_bytes()).unwrap();
            ServerCommand::from_pod(&pod, "a.yaml:1:1")
        };
        let command = pod(
            r#"{"name":"proxy"},{"name":"kube-apiserver","image":"registry.k8s.io/kube-apiserver:v1.36.3@sha256:0","command":["/usr/local/bin/kube-apiserver","--v=2","--feature-gates=A=true"],
               "args":["--feature-gates","B=false","--runtime-config=api/beta,apps/v1=false","--enable-admission-plugins=X,Y",
               "--admission-control-config-file=/etc/k.yaml"]}"#,
        )
        .unwrap();
        assert_eq!(command.feature_gates(), "A=true,B=false");
        assert_eq!(command.enabled_plugins, ["X", "Y"]);
        assert_eq!(command.configuration.as_deref(), Some("/etc/k.yaml"));
        assert_eq!(command.image_version.as_deref(), Some("v1.36.3"));
        let config: Vec<(&str, &str)> = command
            .runtime_config
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        assert_eq!(config, [("api/beta", ""), ("apps/v1", "false")]);
        assert_eq!(pod(r#"{"name":"web","command":["web"]}"#), None);
    }

    #[test]
    fn flags_are_refused_as_by_a_server() {
        let gates = ["--feature-gates=GangScheduling=true,GenericWorkload=true"];
        assert_eq!(refusals(&gates, "1.36"), [""; 0]);
        assert_eq!(
            refusals(&gates, "1.37"),
            ["--feature-gates: unrecognized feature gate: GangScheduling"]
        );
        let plugins = [
            "--enable-admission-plugins=PodGroupWorkloadExists,NodeRestriction",
            "--disable-admission-plugins=JobValidation",
        ];
        assert_eq!(refusals(&plugins, "1.36"), [""; 0]);
        assert_eq!(
            refusals(&plugins, "1.37"),
            [
                "--enable-admission-plugins: enable-admission-plugins plugin \"PodGroupWorkloadExists\" is unknown",
                "--disable-admission-plugins: disable-admission-plugins plugin \"JobValidation\" is unknown",
            ]
        );
        assert_eq!(
            refusals(&["--runtime-config=api/all=false"], "1.37"),
            ["--runtime-config: invalid runtime-config with only api/all=false"]
        );
        assert_eq!(
            refusals(
                &["--runtime-config=nope.example.com/v1=true,apps/v9=true,batch/v1=x,a"],
                "1.37"
            ),
            [
                "--runtime-config: unknown api groups nope.example.com/v1",
                "--runtime-config: runtime-config invalid key a",
                "--runtime-config: group version apps/v9 that has not been registered",
                "--runtime-config: invalid value of batch/v1: x, err: strconv.ParseBool: parsing \"x\": invalid syntax",
            ]
        );
        let scheduling = ["--runtime-config=scheduling.k8s.io/v1alpha2=true"];
        assert_eq!(refusals(&scheduling, "1.36"), [""; 0]);
        assert_eq!(
            refusals(&scheduling, "1.37"),
            ["--runtime-config: group version scheduling.k8s.io/v1alpha2 that has not been registered"]
        );
    }

    #[test]
    fn gates_that_need_others_are_accepted_with_them() {
        let release = Release::by_version("1.37").unwrap();
        let text =
            "CompositePodGroup=true,Nope=true,GenericWorkload=true,TopologyAwareWorkloadScheduling=true";
        let (accepted, refused) = accepted_gates(release, text);
        assert!(accepted.contains("CompositePodGroup=true"), "{accepted}");
        assert_eq!(refused, ["unrecognized feature gate: Nope"]);
    }
}
