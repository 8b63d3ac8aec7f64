//! Objects to create, the initial state of the cluster, and the answers of a kube-apiserver.

use std::fs;
use std::path::PathBuf;

use pratique_harness::{Error, workspace};
use serde_json::{Map, Value};

/// The plugins of an API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PluginSet {
    /// The plugins that are on without flags.
    Default,
    /// These and all others that can be enabled together.
    All,
}

/// Plugins of [`PluginSet::All`] that are off by default: all but AlwaysDeny, which denies every request, ImagePolicyWebhook,
/// which has no backend here, and NamespaceAutoProvision, which hides what NamespaceExists finds.
pub(super) const OPTIONAL: [&str; 11] = [
    "AlwaysAdmit",
    "AlwaysPullImages",
    "DenyServiceExternalIPs",
    "EventRateLimit",
    "ExtendedResourceToleration",
    "LimitPodHardAntiAffinityTopology",
    "NamespaceExists",
    "NodeRestriction",
    "OwnerReferencesPermissionEnforcement",
    "PodNodeSelector",
    "PodTolerationRestriction",
];

/// The configuration of EventRateLimit, which does not start without one.
pub(super) const EVENTS: &str = "apiVersion: eventratelimit.admission.k8s.io/v1alpha1\nkind: Configuration\n\
    limits:\n- {type: Server, qps: 1000, burst: 1000}\n";

/// The configuration of PodSecurity: one namespace and one runtime class are exempt.
pub(super) const SECURITY: &str = "apiVersion: pod-security.admission.config.k8s.io/v1\nkind: PodSecurityConfiguration\n\
    exemptions: {namespaces: [tools], runtimeClasses: [sandbox]}\n";

/// An object to create, and the answers.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) user: String,
    pub(super) object: Value,
    answers: [Value; 2],
}

impl PluginSet {
    pub(super) const BOTH: [Self; 2] = [PluginSet::Default, PluginSet::All];

    pub(super) fn name(self) -> &'static str {
        match self {
            PluginSet::Default => "default plugins",
            PluginSet::All => "all plugins",
        }
    }
}

impl Case {
    /// The recorded answer.
    pub(super) fn answer(&self, set: PluginSet) -> &Value {
        let [default, all] = &self.answers;
        match (set, all) {
            (PluginSet::Default, _) | (PluginSet::All, Value::Null) => default,
            (PluginSet::All, all) => all,
        }
    }
}

fn file(name: &str) -> PathBuf {
    workspace::root().join("testdata/e2e/chain").join(name)
}

fn read(name: &str) -> Result<Vec<Value>, Error> {
    let path = file(name);
    let text = fs::read_to_string(&path).map_err(Error::file(&path))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()).into())
}

/// The initial objects of the cluster.
pub(super) fn state() -> Result<Vec<Value>, Error> {
    read("state.json")
}

/// The objects to create, each on its own: nothing is stored.
pub(super) fn cases() -> Result<Vec<Case>, Error> {
    let case = |mut case: Value| {
        let mut take = |name: &str| case.get_mut(name).map(Value::take).unwrap_or_default();
        let text = |value: Value| value.as_str().unwrap_or_default().to_owned();
        Case {
            name: text(take("name")),
            user: text(take("user")),
            object: take("object"),
            answers: [take("default"), take("all")],
        }
    };
    Ok(read("requests.json")?.into_iter().map(case).collect())
}

/// Writes the cases with other answers: of each the one with the default plugins, and with all.
pub(super) fn write(cases: &[Case], answers: &[[Value; 2]]) -> Result<(), Error> {
    let lines = cases.iter().zip(answers).map(|(case, [default, all])| {
        let mut line = Map::new();
        line.insert("name".to_owned(), case.name.clone().into());
        line.insert("user".to_owned(), case.user.clone().into());
        line.insert("object".to_owned(), case.object.clone());
        line.insert("default".to_owned(), default.clone());
        if all != default {
            line.insert("all".to_owned(), all.clone());
        }
        Value::Object(line).to_string()
    });
    let text = format!("[\n{}\n]\n", lines.collect::<Vec<_>>().join(",\n"));
    let path = file("requests.json");
    fs::write(&path, text).map_err(Error::file(&path))
}

/// The placeholder for the uid of an object.
pub(super) const UID: &str = "11111111-2222-4333-8444-555555555555";

/// The placeholder for the time of a request.
pub(super) const TIME: &str = "2026-01-02T03:04:05Z";

/// An answer without what is different each time.
pub(super) fn plain(mut answer: Value) -> Value {
    let random = |path: &str, constant| {
        let value = answer.pointer(path).and_then(Value::as_str);
        value.map(|value| (value.to_owned(), constant))
    };
    let random = [
        random("/object/metadata/uid", UID),
        random("/object/metadata/creationTimestamp", TIME),
    ];
    if let Some(Value::Object(metadata)) = answer.pointer_mut("/object/metadata") {
        for name in ["managedFields", "uid", "creationTimestamp", "resourceVersion"] {
            metadata.remove(name);
        }
        if let Some(prefix) = metadata.get("generateName").and_then(Value::as_str) {
            let name = format!("{prefix}xxxxx");
            metadata.insert("name".to_owned(), name.into());
        }
    }
    if let Some(Value::Array(warnings)) = answer.get_mut("warnings") {
        // Handlers of the server warn in an order of their own.
        warnings.sort_by_key(ToString::to_string);
    }
    constant(answer, &random.into_iter().flatten().collect::<Vec<_>>())
}

/// Random values are made the same everywhere: these, and the end of the name of the volume that ServiceAccount adds.
fn constant(value: Value, random: &[(String, &str)]) -> Value {
    const PREFIX: &str = "kube-api-access-";
    match value {
        Value::String(text) if text.starts_with(PREFIX) && text.len() == PREFIX.len() + 5 => {
            format!("{PREFIX}xxxxx").into()
        }
        Value::String(text) => {
            let known = random.iter().find(|(value, _)| *value == text);
            known.map_or(text.as_str(), |(_, constant)| constant).into()
        }
        Value::Array(elements) => elements
            .into_iter()
            .map(|value| constant(value, random))
            .collect(),
        Value::Object(members) => {
            let members = members.into_iter();
            Value::Object(
                members
                    .map(|(name, value)| (name, constant(value, random)))
                    .collect(),
            )
        }
        other => other,
    }
}
