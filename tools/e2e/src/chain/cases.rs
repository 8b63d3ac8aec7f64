//! Objects to create, the initial state of the cluster, and the answers of a kube-apiserver.

use std::fs;
use std::path::PathBuf;

use pratique_harness::{ToolError, workspace};
use pratique_schema::Release;
use serde_json::{Map, Value};

use crate::answers::is_same;

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
pub(super) struct ChainCase {
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

    /// The plugins that are enabled by a flag.
    pub(super) fn enabled(self) -> Vec<&'static str> {
        let mut enabled = vec!["ServiceAccount"];
        if self == PluginSet::All {
            enabled.extend(OPTIONAL);
        }
        enabled
    }
}

impl ChainCase {
    fn read(mut case: Value) -> Self {
        let mut take = |name: &str| case.get_mut(name).map(Value::take).unwrap_or_default();
        let text = |value: Value| value.as_str().unwrap_or_default().to_owned();
        ChainCase {
            name: text(take("name")),
            user: text(take("user")),
            object: take("object"),
            answers: [take("default"), take("all")],
        }
    }

    /// Whether the recorded answers are these.
    fn has_answers(&self, answers: &[Value; 2]) -> bool {
        let mut sets = PluginSet::BOTH.into_iter().zip(answers);
        sets.all(|(set, answer)| is_same(self.answer(set), answer))
    }

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

/// The objects with the answers of a server of the latest release.
const LATEST: &str = "requests.json";

/// The file of the answers of a release that differ from those of the latest one; `None` of that one itself.
fn answers_of(release: &Release) -> Option<PathBuf> {
    (release != Release::latest()).then(|| file(&format!("answers-{release}.json")))
}

/// Whether the answers of a release are recorded.
#[cfg(test)]
pub(super) fn is_recorded(release: &Release) -> bool {
    answers_of(release).is_none_or(|path| path.is_file())
}

fn read(name: &str) -> Result<Vec<Value>, ToolError> {
    let path = file(name);
    let text = fs::read_to_string(&path).map_err(ToolError::file(&path))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()).into())
}

/// The initial objects of the cluster.
pub(super) fn state() -> Result<Vec<Value>, ToolError> {
    read("state.json")
}

/// The objects to create, each on its own: nothing is stored. The answers are those of a release.
pub(super) fn cases(release: &Release) -> Result<Vec<ChainCase>, ToolError> {
    let mut cases: Vec<ChainCase> = read(LATEST)?.into_iter().map(ChainCase::read).collect();
    let Some(path) = answers_of(release).filter(|path| path.is_file()) else {
        return Ok(cases);
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    for other in read(&name)?.into_iter().map(ChainCase::read) {
        if let Some(case) = cases.iter_mut().find(|case| case.name == other.name) {
            case.answers = other.answers;
        }
    }
    Ok(cases)
}

/// Writes the answers of a release to the cases: of each the one with the default plugins, and with all.
pub(super) fn write(release: &Release, cases: &[ChainCase], answers: &[[Value; 2]]) -> Result<(), ToolError> {
    let others = match answers_of(release) {
        None => None,
        Some(path) => Some((path, self::cases(Release::latest())?)),
    };
    let mut lines = Vec::new();
    for (at, (case, answers)) in cases.iter().zip(answers).enumerate() {
        let mut line = Map::new();
        line.insert("name".to_owned(), case.name.clone().into());
        if let Some((_, latest)) = &others {
            if latest.get(at).is_some_and(|latest| latest.has_answers(answers)) {
                continue;
            }
        } else {
            line.insert("user".to_owned(), case.user.clone().into());
            line.insert("object".to_owned(), case.object.clone());
        }
        let [default, all] = answers;
        line.insert("default".to_owned(), default.clone());
        if all != default {
            line.insert("all".to_owned(), all.clone());
        }
        lines.push(Value::Object(line).to_string());
    }
    let path = others.map_or_else(|| file(LATEST), |(path, _)| path);
    let text = format!("[\n{}\n]\n", lines.join(",\n"));
    fs::write(&path, text).map_err(ToolError::file(&path))
}
