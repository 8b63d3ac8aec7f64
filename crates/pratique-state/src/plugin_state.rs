//! The state of the cluster that plugins look up.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pratique::api_objects::ApiObjects;
use pratique::plugins::{
    ClusterState as _, Effects, LookedUpPart, Lookup, ObjectText, PluginChain, PluginContext, StateKind,
    StateObjects,
};
use pratique::{AdmissionRequest, Outcome, PluginInputs};
use pratique_json::Value;
use pratique_objects::ObjectCodec;
use pratique_schema::FeatureGates;
use pratique_types::{GroupVersionKind, Operation};

use crate::every_cluster;
use pratique_json::text_at;
use pratique_request::kind_of;

/// The objects of the cluster that plugins look up, as the requests of a run leave them.
#[derive(Clone, Debug, Default)]
pub struct PluginState {
    objects: StateObjects,
    /// The kinds that plugins look up.
    kinds: BTreeSet<StateKind>,
    /// How objects are defaulted, with the custom resources that are known.
    pub api_objects: ApiObjects,
    /// Definitions that cannot be followed.
    faults: Vec<String>,
    /// Whether each namespace that exists has the service account `default`, added or not.
    has_default_accounts: bool,
    gates: FeatureGates,
    /// The parts that plugins read of objects of each kind that they look up.
    parts: Arc<BTreeMap<StateKind, LookedUpPart>>,
}

/// What is kept of an object that is stored.
#[derive(Clone, Debug)]
pub enum StoredPart {
    /// Nothing: plugins look up no objects of its kind.
    Nothing,
    /// What plugins read of it, with its kind and its namespace.
    Text(StateKind, String, ObjectText),
    /// All of it.
    Whole(Value<'static>),
}

/// The time that stands for that of a run: nothing depends on when it is.
const TIME: &str = "2000-01-01T00:00:00Z";

impl PluginState {
    /// The state of nothing but what each API server has in no namespace, for plugins. Namespaces exist, as in a review without
    /// plugins; of those that are not added only the names are known.
    pub fn for_plugins(plugins: &PluginChain) -> Self {
        let mut objects = StateObjects::default().without_controllers();
        objects.assume(StateKind::NAMESPACE);
        let handlers = || plugins.plugins().map(|plugin| plugin.handler());
        let kinds = handlers().flat_map(|handler| handler.needs.iter().copied());
        let kinds: BTreeSet<StateKind> = kinds.collect();
        let parts = kinds
            .iter()
            .map(|kind| (*kind, LookedUpPart::of_kind(handlers(), *kind)));
        let mut state = PluginState {
            objects,
            parts: Arc::new(parts.collect()),
            kinds,
            api_objects: ApiObjects::default(),
            gates: FeatureGates::default(),
            faults: Vec::new(),
            has_default_accounts: false,
        };
        // A server makes these classes again when it starts, and refuses to change or to delete them: nobody has to give them.
        for class in every_cluster::cluster_objects() {
            state.add_missing(&class);
        }
        state
    }

    /// Completes objects as a server of a release with its feature gates.
    #[must_use]
    pub fn with_gates(self, gates: FeatureGates) -> Self {
        PluginState {
            api_objects: self.api_objects.with_gates(gates),
            gates,
            ..self
        }
    }

    /// Keeps objects of some kinds only: plugins find those of other kinds unknown.
    pub fn keep_kinds(&mut self, is_kept: impl Fn(&StateKind) -> bool) {
        self.kinds.retain(is_kept);
    }

    /// The kinds that plugins look up.
    pub fn kinds(&self) -> &BTreeSet<StateKind> {
        &self.kinds
    }

    /// The definitions that cannot be followed: objects of their kinds are not defaulted.
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// Declares the objects of all kinds that plugins look up complete, namespaces only if `has_namespaces`: where none was given,
    /// others may exist. To those that were added come those that [every cluster](every_cluster) has.
    pub fn complete(&mut self, has_namespaces: bool) {
        for kind in &self.kinds {
            if has_namespaces || *kind != StateKind::NAMESPACE {
                self.objects.complete(kind.group, kind.kind);
            }
        }
        for object in every_cluster::objects() {
            self.add_missing(&object);
        }
        self.has_default_accounts = true;
    }

    /// Adds an object that plugins look up unless there is one of its kind and name; whether it was added.
    pub fn add_missing(&mut self, object: &Value<'static>) -> bool {
        let Ok(kind) = kind_of(object) else { return false };
        let needed = self.kinds.iter();
        let mut needed = needed.filter(|needed| needed.group == kind.group && needed.kind == kind.kind);
        let (namespace, name) = (
            text_at(object, &["metadata", "namespace"]),
            text_at(object, &["metadata", "name"]),
        );
        let is_missing = needed
            .next()
            .is_some_and(|kind| self.objects.get(*kind, namespace, name).found().is_none());
        if is_missing {
            self.add(object);
        }
        is_missing
    }

    /// Prepares for a request in a namespace: in one that exists, controllers have created its service account `default`, which
    /// those who describe all objects of a cluster do not write down.
    pub fn enter(&mut self, namespace: &str) {
        let exists = || self.objects.get(StateKind::NAMESPACE, "", namespace) != Lookup::Absent;
        let account = self.objects.get(StateKind::SERVICE_ACCOUNT, namespace, "default");
        let lacks_account = account.found().is_none();
        if self.has_default_accounts && lacks_account && !namespace.is_empty() && exists() {
            self.add_missing(&every_cluster::default_service_account(namespace));
        }
    }

    /// Declares the objects of a kind complete, as somebody says that there are no others: who says so does not count those that
    /// [every cluster](every_cluster) has.
    pub fn complete_given(&mut self, kind: &GroupVersionKind) {
        self.complete_kind(kind);
        let is_of_kind = |object: &Value<'_>| {
            kind_of(object).is_ok_and(|of| of.group == kind.group && of.kind == kind.kind)
        };
        for object in every_cluster::objects().filter(is_of_kind) {
            self.add_missing(&object);
        }
        let accounts = StateKind::SERVICE_ACCOUNT;
        self.has_default_accounts |= kind.group == accounts.group && kind.kind == accounts.kind;
    }

    /// Declares the objects of a kind complete, as a cluster gave all of them.
    pub fn complete_kind(&mut self, kind: &GroupVersionKind) {
        self.objects.complete(&kind.group, &kind.kind);
    }

    /// Adds an object of the cluster if plugins look up objects of its kind, completed as an API server reads it.
    pub fn add(&mut self, object: &Value<'static>) {
        let Ok(kind) = kind_of(object) else { return };
        if kind.kind == "CustomResourceDefinition"
            && let Err(error) = self.api_objects.define_stored(object)
        {
            let name = text_at(object, &["metadata", "name"]);
            self.faults.push(format!(
                "CustomResourceDefinition {name}: its objects are not defaulted: {error}"
            ));
        }
        if !self.is_needed(&kind) {
            return;
        }
        let mut object = object.clone();
        // An object that cannot be converted stays as it is.
        let objects = ObjectCodec::with_placeholder(TIME).with_gates(self.gates);
        drop(objects.default(&kind, &mut object));
        // What has no name is no object of a cluster.
        drop(self.objects.insert(object));
    }

    fn is_needed(&self, kind: &GroupVersionKind) -> bool {
        self.needed(kind).is_some()
    }

    fn needed(&self, kind: &GroupVersionKind) -> Option<&StateKind> {
        let mut kinds = self.kinds.iter();
        kinds.find(|needed| needed.group == kind.group && needed.kind == kind.kind)
    }

    /// What is kept of the object of a request that is stored.
    pub fn stored_part(&self, kind: &GroupVersionKind, object: &Value<'_>) -> StoredPart {
        let Some(needed) = self.needed(kind) else {
            return StoredPart::Nothing;
        };
        match self.parts.get(needed) {
            Some(LookedUpPart::Fields(fields)) => StoredPart::Text(
                *needed,
                text_at(object, &["metadata", "namespace"]).to_owned(),
                ObjectText::of_fields(object, fields),
            ),
            Some(LookedUpPart::Nothing) | None => StoredPart::Nothing,
            Some(LookedUpPart::Whole) => {
                StoredPart::Whole(object.owned_within(self.gates.release().tables().types))
            }
        }
    }

    /// The context of a plugin that is called outside of a chain.
    pub fn context(&self) -> PluginContext<'_> {
        PluginContext::new(&self.objects)
    }

    /// The inputs of the plugins of a chain.
    pub fn inputs(&self) -> PluginInputs<'_> {
        PluginInputs::new(&self.objects)
    }

    /// The used amounts of quotas, by `NAMESPACE/NAME` and by resource.
    pub fn used_quotas(&self) -> BTreeMap<String, BTreeMap<String, String>> {
        let amount = |value: &Value<'_>| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let used = |quota: &Value<'_>| match quota.at(&["status", "used"]) {
            Some(Value::Object(used)) => {
                let amounts = used.iter().map(|(name, value)| (name.to_owned(), amount(value)));
                amounts.collect()
            }
            _ => BTreeMap::new(),
        };
        let quotas = self.objects.of_kind(StateKind::RESOURCE_QUOTA);
        let key = |quota: &Value<'_>| {
            let (namespace, name) = (
                text_at(quota, &["metadata", "namespace"]),
                text_at(quota, &["metadata", "name"]),
            );
            format!("{namespace}/{name}")
        };
        quotas.map(|quota| (key(quota), used(quota))).collect()
    }

    /// Carries out a request that was allowed, and what plugins write for it.
    pub fn apply(&mut self, request: &AdmissionRequest<'_>, object: &Value<'_>, outcome: &Outcome) {
        let part = if is_stored_request(request) && outcome.allowed() {
            self.stored_part(&request.kind, object)
        } else {
            StoredPart::Nothing
        };
        self.apply_part(request, text_at(object, &["metadata", "name"]), part, outcome);
    }

    /// As [`apply`](Self::apply), with the name of the object, and what is [kept](Self::stored_part) of it.
    pub fn apply_part(
        &mut self,
        request: &AdmissionRequest<'_>,
        name: &str,
        part: StoredPart,
        outcome: &Outcome,
    ) {
        let mut effects = Effects::default();
        effects.created.clone_from(&outcome.created);
        effects.booked.clone_from(&outcome.booked);
        self.objects.apply(&effects);
        if !is_stored_request(request) || !outcome.allowed() {
            return;
        }
        let GroupVersionKind { group, kind, .. } = &request.kind;
        match part {
            StoredPart::Nothing => {}
            // What has no name is no object of a cluster.
            StoredPart::Text(..) if name.is_empty() => {}
            StoredPart::Text(kind, namespace, text) => {
                self.objects.insert_text(kind, &namespace, name, text);
            }
            StoredPart::Whole(object) => drop(self.objects.insert(object)),
        }
        // Controllers create it soon after the namespace, before they create Pods.
        let is_namespace = group.is_empty() && kind == "Namespace";
        if request.operation == Operation::Create && is_namespace {
            self.add_created(&every_cluster::default_service_account(name));
        }
    }

    /// Adds an object that is known not to be there yet.
    fn add_created(&mut self, account: &Value<'static>) {
        let namespace = text_at(account, &["metadata", "namespace"]);
        let name = text_at(account, &["metadata", "name"]);
        if self.objects.get(StateKind::SERVICE_ACCOUNT, namespace, name) == Lookup::Absent {
            self.add(account);
        }
    }
}

/// Whether the object of a request is stored, if it is allowed.
pub fn is_stored_request(request: &AdmissionRequest<'_>) -> bool {
    matches!(request.operation, Operation::Create | Operation::Update)
        && request.sub_resource.is_empty()
        && request.dry_run != Some(true)
}
