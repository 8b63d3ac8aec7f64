//! Our chain: an object is received, admitted by plugins, prepared to be stored, validated as its kind is, and by plugins.

use std::time::Duration;

use pratique_harness::ToolError;
use pratique_json as json;
use pratique_objects::ObjectCodec;
use pratique_plugin::{
    Access, AccessAnswer, AccessReviewer, Effects, MutableAttributes, PluginChain, PluginContext,
    PluginSettings, Rejection, Stage, StateObjects, default_plugins_of,
};
use pratique_registry::{Attributes, Placeholders, Prepared, Registry, Request, Store, Target, Verb};
use pratique_schema::{FeatureGates, Release};
use pratique_types::{GroupVersion, ObjectForm, Status, UserInfo};
use pratique_validation::{Candidate, Validator};
use serde_json::{Value, json};

use super::cases::{ChainCase, EVENTS, OPTIONAL, PluginSet, SECURITY};
use crate::answers::{TIME, UID, plain};

/// The cluster, and the plugins.
pub(super) struct OurChain {
    gates: FeatureGates,
    scheme: ObjectCodec,
    validator: Validator,
    stored: NothingStored,
    placeholders: Placeholders,
    state: StateObjects,
    default: PluginChain,
    all: PluginChain,
}

/// Nothing is updated, so nothing stored is asked for.
struct NothingStored;

impl Store for NothingStored {
    fn get(&self, _: &str, _: &str, _: &str, _: &str) -> Option<json::Value<'static>> {
        None
    }
}

/// The roles of the cluster: administrators may do everything, the developer creates ConfigMaps in one namespace.
struct RoleReviewer;

impl AccessReviewer for RoleReviewer {
    fn review(&self, access: &Access<'_>) -> AccessAnswer {
        let is_administrator = access.user.groups.iter().any(|group| group == "system:masters");
        let creates = (access.namespace, access.resource, access.verb) == ("shop", "configmaps", "create");
        if is_administrator || creates {
            AccessAnswer::Allowed
        } else {
            AccessAnswer::Denied {
                reason: String::new(),
            }
        }
    }
}

impl OurChain {
    /// Decodes and defaults the state, and starts the plugins of a release.
    pub(super) fn new(objects: &[Value], release: &'static Release) -> Result<Self, ToolError> {
        let gates = FeatureGates::new(release);
        let placeholders = Placeholders {
            uid: UID.to_owned(),
            time: TIME.to_owned(),
            name_suffix: "xxxxx".to_owned(),
            ..Placeholders::default()
        };
        let scheme = ObjectCodec::with_placeholder(placeholders.time.clone()).with_gates(gates);
        let default: Vec<&str> = default_plugins_of(release).collect();
        let all: Vec<&str> = default.iter().copied().chain(OPTIONAL).collect();
        let mut ours = OurChain {
            gates,
            scheme,
            validator: Validator::new().with_gates(gates),
            stored: NothingStored,
            placeholders,
            state: StateObjects::whole(),
            default: chain(&default, gates)?,
            all: chain(&all, gates)?,
        };
        for object in objects {
            let administrator = administrator();
            let prepared = ours.create(
                object,
                &administrator,
                None,
                &mut Effects::default(),
                &mut Vec::new(),
            );
            let prepared = prepared.map_err(|refused| format!("{object}: {}", refused.message))?;
            let mut stored = prepared.stored;
            // Controllers write it, which do not run.
            if let (json::Value::Object(members), Some(status)) = (&mut stored, object.get("status")) {
                members.insert("status", value(status)?);
            }
            ours.insert(stored)?;
        }
        for name in NAMESPACES {
            let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
            ours.insert(value(&namespace)?)?;
        }
        for (name, priority) in PRIORITIES {
            let class = json!({
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": name},
                "value": priority,
                "preemptionPolicy": "PreemptLowerPriority",
            });
            ours.insert(value(&class)?)?;
        }
        Ok(ours)
    }

    fn insert(&mut self, object: json::Value<'static>) -> Result<(), ToolError> {
        let inserted = self.state.insert(object);
        inserted.map_err(|rejected| ToolError::from(rejected.to_string()))
    }

    /// The answer, in the form of a recorded one.
    pub(super) fn answer(&self, case: &ChainCase, set: PluginSet) -> Value {
        let chain = match set {
            PluginSet::Default => &self.default,
            PluginSet::All => &self.all,
        };
        let user = match case.user.as_str() {
            "admin" => administrator(),
            name => UserInfo {
                username: name.to_owned(),
                groups: vec!["developers".to_owned(), "system:authenticated".to_owned()],
                ..UserInfo::default()
            },
        };
        let mut effects = Effects::default();
        let mut warnings = Vec::new();
        let created = self.create(&case.object, &user, Some(chain), &mut effects, &mut warnings);
        let mut answer = match created {
            Ok(prepared) => json!({"code": 201, "object": Value::from(prepared.stored)}),
            Err(status) => {
                let mut reported = serde_json::to_value(&status).unwrap_or_default();
                if let Some(members) = reported.as_object_mut() {
                    members.retain(|name, _| matches!(name.as_str(), "reason" | "message" | "details"));
                }
                json!({"code": status.code, "status": reported})
            }
        };
        warnings.extend(effects.warnings);
        if let (false, Some(members)) = (warnings.is_empty(), answer.as_object_mut()) {
            members.insert("warnings".to_owned(), json!(warnings));
        }
        plain(answer, &case.object)
    }

    fn create(
        &self,
        object: &Value,
        user: &UserInfo,
        chain: Option<&PluginChain>,
        effects: &mut Effects,
        warnings: &mut Vec<String>,
    ) -> Result<Prepared<'static>, Box<Status>> {
        let registry = Registry {
            scheme: &self.scheme,
            store: &self.stored,
            placeholders: &self.placeholders,
            release: Some(self.gates.release().version()),
        };
        let body = object.to_string();
        let request = Request {
            verb: Verb::Create,
            target: target(object).map_err(|why| unexpected(&why))?,
            user: user.clone(),
            body: body.as_bytes(),
            field_manager: "e2e".to_owned(),
            dry_run: true,
            ..Request::default()
        };
        let mut received = registry.receive(request).map_err(|refusal| refusal.status)?;
        let context = PluginContext::new(&self.state)
            .with_access(&RoleReviewer)
            .at(Duration::from_secs(1_767_323_045));
        if let Some(chain) = chain {
            let request = received.attributes.request(user);
            let mut object = received.attributes.object.clone();
            let mut attributes = MutableAttributes::new(&request, &mut object);
            let admitted = chain.admit(Stage::All, &mut attributes, &context, effects, &mut ());
            admitted.map_err(|rejection| status(&rejection))?;
            // Plugins change the decoded object in place: it is not decoded and defaulted again.
            received.attributes.object = object;
        }
        let prepared = registry.prepare_valid(received, &|prepared| self.validate(&prepared.attributes));
        let prepared = prepared.map_err(|refusal| refusal.status)?;
        warnings.extend(prepared.warnings.iter().cloned());
        if let Some(chain) = chain {
            let request = prepared.attributes.request(user);
            let attributes = pratique_plugin::Attributes {
                request: &request,
                object: &prepared.attributes.object,
                form: ObjectForm::Settled,
            };
            let validated = chain.validate(Stage::All, &attributes, &context, effects, &mut ());
            validated.map_err(|rejection| status(&rejection))?;
        }
        Ok(prepared)
    }

    fn validate(&self, attributes: &Attributes) -> Result<(), Box<Status>> {
        let candidate = Candidate::new(&attributes.kind, &attributes.object).in_dry_run();
        self.validator
            .create(&candidate)
            .map_err(|rejection| match rejection {
                pratique_validation::Rejection::Invalid(status) => status,
                open => unexpected(&open.to_string()),
            })
    }
}

/// The namespaces that every server makes for itself.
const NAMESPACES: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];

/// The priority classes that every server makes for itself.
// Upstream: pkg/apis/scheduling/types.go, SystemCriticalPriority
const PRIORITIES: [(&str, i64); 2] = [
    ("system-node-critical", 2_000_001_000),
    ("system-cluster-critical", 2_000_000_000),
];

fn administrator() -> UserInfo {
    UserInfo {
        username: "admin".to_owned(),
        groups: vec!["system:masters".to_owned(), "system:authenticated".to_owned()],
        ..UserInfo::default()
    }
}

fn chain(names: &[&str], gates: FeatureGates) -> Result<PluginChain, ToolError> {
    let plugins = names.iter().map(|name| {
        let factory = pratique_plugins::factory(name).ok_or_else(|| format!("there is no plugin {name}"))?;
        let configuration = match *name {
            "EventRateLimit" => Some(EVENTS.as_bytes()),
            "PodSecurity" => Some(SECURITY.as_bytes()),
            _ => None,
        };
        let settings = PluginSettings::new(gates).with_configuration(configuration);
        factory
            .start(&settings)
            .map_err(|error| ToolError::from(error.of_plugin(name)))
    });
    Ok(PluginChain::new(plugins.collect::<Result<_, ToolError>>()?))
}

fn target(object: &Value) -> Result<Target, String> {
    let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let version = GroupVersion::parse(text("/apiVersion")).map_err(|error| error.to_string())?;
    let kind = version.with_kind(text("/kind"));
    Target::collection(&kind, text("/metadata/namespace")).ok_or_else(|| format!("no resource of {kind}"))
}

/// The status of a rejection; an undecided one has no counterpart in a server.
fn status(rejection: &Rejection) -> Box<Status> {
    match rejection.status() {
        Some(status) => Box::new(status),
        None => unexpected(&rejection.to_string()),
    }
}

fn unexpected(why: &str) -> Box<Status> {
    Box::new(Status {
        message: format!("undecided: {why}"),
        ..Status::default()
    })
}

fn value(object: &Value) -> Result<json::Value<'static>, ToolError> {
    json::Value::try_from(object)
        .map(json::Value::into_owned)
        .map_err(|error| ToolError::from(format!("{object}: {error}")))
}
