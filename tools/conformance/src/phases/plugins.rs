//! The built-in plugins of a server with its default plugins.

use pratique_harness::ToolError;
use pratique_plugin::{
    Access, AccessAnswer, AccessReviewer, Attributes as PluginAttributes, Effects, MutableAttributes,
    PluginChain, PluginContext, PluginSettings, Rejection, Stage, StateObjects, default_plugins_of,
};
use pratique_registry::Attributes;
use pratique_schema::FeatureGates;
use pratique_schema::Release;
use pratique_types::{Status, UserInfo};
use serde_json::{Value, json};

use super::before::StoredObjects;
use super::random::RANDOM;
use crate::fixture::json_value;

/// The default plugins, and the state of the cluster for them.
pub(super) struct CasePlugins {
    chain: PluginChain,
    release: &'static Release,
    state: StateObjects,
    user: UserInfo,
    suffix: String,
}

impl CasePlugins {
    /// The default plugins of a server with these objects and those that it creates itself.
    fn new(stored: &StoredObjects, user: UserInfo, gates: FeatureGates) -> Result<Self, ToolError> {
        let [_, _, (suffix, _), ..] = RANDOM;
        // The plugins for policies and webhooks have no factory.
        let factories = default_plugins_of(gates.release()).filter_map(pratique_plugins::factory);
        let plugins = factories.map(|factory| {
            let plugin = factory.start(&PluginSettings::new(gates));
            plugin.map_err(|error| ToolError::from(error.of_plugin(factory.handler.name)))
        });
        let mut state = StateObjects::whole();
        let of_server = made_by_server();
        for object in of_server.iter().map(json_value).chain(stored.objects().cloned()) {
            drop(state.insert(object));
        }
        Ok(CasePlugins {
            release: gates.release(),
            chain: PluginChain::new(plugins.collect::<Result<_, ToolError>>()?),
            state,
            user,
            suffix: suffix.to_owned(),
        })
    }

    /// Runs the mutating halves of the plugins before webhooks, which may change the object.
    pub(super) fn admit(&self, attributes: &mut Attributes) -> Result<Effects, Box<Status>> {
        let mut effects = Effects::default();
        let request = attributes.request(&self.user);
        let mut mutable = MutableAttributes::new(&request, &mut attributes.object);
        let admitted = self.chain.admit(
            Stage::BeforeDynamic,
            &mut mutable,
            &self.context(),
            &mut effects,
            &mut (),
        );
        admitted.map_err(refused)?;
        Ok(effects)
    }

    /// Runs the validating halves of the plugins of a stage.
    pub(super) fn validate(&self, stage: Stage, attributes: &Attributes) -> Result<Effects, Box<Status>> {
        let mut effects = Effects::default();
        let request = attributes.request(&self.user);
        let validated = self.chain.validate(
            stage,
            &PluginAttributes::mutated(self.release, &request, &attributes.object),
            &self.context(),
            &mut effects,
            &mut (),
        );
        validated.map_err(refused)?;
        Ok(effects)
    }

    fn context(&self) -> PluginContext<'_> {
        PluginContext::new(&self.state)
            .with_access(&AdministratorReviewer)
            .with_suffix(&self.suffix)
    }
}

fn refused(rejection: Rejection) -> Box<Status> {
    let undecided = || Status {
        message: format!("{rejection}"),
        ..Status::default()
    };
    Box::new(rejection.status().unwrap_or_else(undecided))
}

/// Allows everything: the user who recorded the cases is an administrator.
struct AdministratorReviewer;

impl AccessReviewer for AdministratorReviewer {
    fn review(&self, _: &Access<'_>) -> AccessAnswer {
        AccessAnswer::Allowed
    }
}

/// The objects that a server and its controllers create by themselves.
fn made_by_server() -> Vec<Value> {
    let namespace = |name: &str| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}, "status": {"phase": "Active"}});
    let account = |namespace: &str| json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": namespace}});
    let class = |name: &str, value: i64| json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value});
    let namespaces = ["default", "kube-system", "kube-public", "kube-node-lease"];
    let mut objects: Vec<Value> = namespaces.into_iter().map(namespace).collect();
    objects.extend(namespaces.into_iter().map(account));
    objects.push(class("system-cluster-critical", 2_000_000_000));
    objects.push(class("system-node-critical", 2_000_001_000));
    objects
}

/// The default plugins, if a case was recorded with them.
pub(super) fn read_plugins(
    case: &Value,
    stored: &StoredObjects,
    user: UserInfo,
    gates: FeatureGates,
) -> Result<Option<CasePlugins>, ToolError> {
    let name = case["name"].as_str().unwrap_or_default();
    if name.split('/').any(|part| part == "plugins") {
        CasePlugins::new(stored, user, gates).map(Some)
    } else {
        Ok(None)
    }
}
