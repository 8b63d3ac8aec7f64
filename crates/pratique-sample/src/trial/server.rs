//! The parts of a server around mutating policies: the built-in plugins that run by default, before policies and again after
//! a change, and the validation of built-in kinds.
//!
//! A policy whose result is the fault is told apart from an object that is refused anyway: what a server says of the object
//! without the policy is never told.

use pratique_json::Value;
use pratique_objects::changed_paths;
use pratique_plugin::{
    AdmissionPhase, Attributes, Effects, MutableAttributes, PluginChain, PluginContext, PluginObserver,
    PluginSettings, Rejection, Stage, StateObjects, default_plugins_of,
};
use pratique_plugins::factory;
use pratique_schema::FeatureGates;
use pratique_types::{AdmissionRequest, ObjectForm, Operation};
use pratique_validation::{Candidate, FieldFault, Validator};

use crate::complete::remove_generated;
use crate::custom::CustomKind;

use super::comparison::{has_only_fewer, with_sorted_lists};
use super::server_state::state_naming;
use super::storage::PreparedChange;
use super::{MutationTrial, TrialOutcome};

/// A server with its default plugins and its validation.
#[derive(Debug)]
pub struct SampleServer {
    chain: PluginChain,
    validator: Validator,
}

/// What a server makes of the result of a policy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServerFinding {
    /// A plugin refuses it.
    Refused {
        /// The plugin.
        plugin: String,
        /// Its text.
        text: String,
    },
    /// A plugin sets the object back to what it was.
    Undone {
        /// The plugin.
        plugin: String,
        /// The first field.
        field: String,
    },
    /// A plugin has done before the policy what it would not have done if the object had come as the policy leaves it.
    Late {
        /// The plugin.
        plugin: String,
        /// The first field that is different.
        field: String,
        /// The field that the policy sets.
        set: String,
    },
    /// Nothing of what the policy changes is stored: the server sets it back.
    Dropped {
        /// The first field.
        field: String,
    },
    /// The validation refuses it.
    Invalid {
        /// The field, and the server's text.
        text: String,
    },
}

/// What plugins made of an object.
struct AdmittedObject {
    written: Value<'static>,
    object: Value<'static>,
    /// The plugins that changed it, each with the object after it.
    steps: Vec<(String, Value<'static>)>,
}

/// Why there is no object.
enum AdmissionFailure {
    Refused {
        plugin: String,
        text: String,
    },
    /// It depends on state that is not known here.
    Undecided,
}

/// The fields of a Pod that plugins set, and samples have.
const OF_PLUGINS: [&str; 5] = [
    "serviceAccountName",
    "serviceAccount",
    "tolerations",
    "priority",
    "preemptionPolicy",
];

impl SampleServer {
    /// A server with these feature gates.
    pub fn new(gates: FeatureGates) -> Self {
        let settings = PluginSettings::new(gates);
        let plugins = default_plugins_of(gates.release())
            .filter_map(factory)
            // Without configuration all of them start.
            .filter_map(|factory| factory.start(&settings).ok());
        SampleServer {
            chain: PluginChain::new(plugins.collect()),
            validator: Validator::new().with_gates(gates),
        }
    }

    /// What it makes of the result of a policy for a request to create or update an object.
    pub fn review(
        &self,
        trial: &MutationTrial,
        request: &AdmissionRequest<'static>,
        allowed: bool,
    ) -> Vec<ServerFinding> {
        if let Some(kind) = trial.custom.find(&request.kind) {
            return review_custom(kind, trial, request, allowed);
        }
        match request.operation {
            Operation::Create => self.review_creation(trial, request, allowed),
            Operation::Update => {
                // An update that changes nothing is valid.
                let stored = &as_stored(request);
                let request = AdmissionRequest {
                    object: stored.clone(),
                    old_object: stored.clone(),
                    ..request.clone()
                };
                let TrialOutcome::Changed(mutated) = trial.mutate(&request, allowed) else {
                    return Vec::new();
                };
                let change = PreparedChange::new(&trial.objects, &request, stored, &mutated);
                if let Some(finding) = find_dropped(&request, &change, (stored, &mutated)) {
                    return vec![finding];
                }
                self.validate_change(&request, &change)
            }
            _ => Vec::new(),
        }
    }

    fn review_creation(
        &self,
        trial: &MutationTrial,
        request: &AdmissionRequest<'static>,
        allowed: bool,
    ) -> Vec<ServerFinding> {
        let written = as_written(request);
        let plain = state_naming(&[&written], None);
        let Ok(admitted) = self.admit(request, written.clone(), &plain) else {
            return Vec::new();
        };
        let mutate = |object: &Value<'static>| {
            let request = with_object(request, object.clone());
            match trial.mutate(&request, allowed) {
                TrialOutcome::Changed(object) => Some(object),
                _ => None,
            }
        };
        let Some(mutated) = mutate(&admitted.object) else {
            return Vec::new();
        };
        let change = PreparedChange::new(&trial.objects, request, &admitted.object, &mutated);
        if let Some(finding) = find_dropped(request, &change, (&admitted.object, &mutated)) {
            return vec![finding];
        }
        let priority = |object: &Value<'_>| object.at(&["spec", "priority"]).and_then(Value::as_int);
        let set_priority = priority(&mutated).filter(|set| Some(*set) != priority(&admitted.object));
        let state = state_naming(&[&written, &mutated], set_priority);
        let after = match self.admit(request, mutated.clone(), &state) {
            Ok(after) => after,
            Err(AdmissionFailure::Refused { plugin, text }) => {
                return vec![ServerFinding::Refused { plugin, text }];
            }
            Err(AdmissionFailure::Undecided) => return Vec::new(),
        };
        let sorted = with_sorted_lists(&admitted.object);
        if with_sorted_lists(&after.object) == sorted {
            if self.keeps_of_users(trial, request, allowed) {
                return Vec::new();
            }
            let undone = after
                .steps
                .iter()
                .find(|(_, object)| with_sorted_lists(object) == sorted);
            let field = changed_paths(&admitted.object, &mutated).into_iter().next();
            let undone = undone
                .zip(field)
                .map(|((plugin, _), field)| ServerFinding::Undone {
                    plugin: plugin.clone(),
                    field,
                });
            return undone.into_iter().collect();
        }
        let mut findings: Vec<ServerFinding> = Vec::new();
        if let Some(early) = mutate(&written) {
            let changes = (
                changed_paths(&written, &early),
                changed_paths(&admitted.object, &mutated),
            );
            if changes.0 == changes.1
                && let Ok(early) = self.admit(request, early, &state)
            {
                let late = late(&admitted, &early.object, (&mutated, &after.object), &changes.1);
                findings.extend(late);
            }
        }
        let change = if after.object == mutated {
            change
        } else {
            PreparedChange::new(&trial.objects, request, &admitted.object, &after.object)
        };
        findings.extend(self.validate_change(request, &change));
        findings
    }

    /// Whether the policy has an effect on a Pod with tolerations of its own, besides those that a plugin sets.
    fn keeps_of_users(
        &self,
        trial: &MutationTrial,
        request: &AdmissionRequest<'static>,
        allowed: bool,
    ) -> bool {
        let mut written = as_written(request);
        let is_pod = request.kind.is_core("Pod");
        let Some(Value::Object(spec)) = written.get_mut("spec").filter(|_| is_pod) else {
            return false;
        };
        let Ok(tolerations) = pratique_json::parse(TOLERATIONS_OF_USERS) else {
            return false;
        };
        spec.insert("tolerations", tolerations.into_owned());
        let state = state_naming(&[&written], None);
        let Ok(admitted) = self.admit(request, written, &state) else {
            return false;
        };
        let request = with_object(request, admitted.object.clone());
        let TrialOutcome::Changed(mutated) = trial.mutate(&request, allowed) else {
            return false;
        };
        let after = self.admit(&request, mutated, &state);
        after.is_ok_and(|after| with_sorted_lists(&after.object) != with_sorted_lists(&admitted.object))
    }

    /// What the validation refuses of an object that a policy changed, if it takes the one before.
    fn validate_change(&self, request: &AdmissionRequest<'_>, change: &PreparedChange) -> Vec<ServerFinding> {
        let PreparedChange { previous, after, .. } = change;
        let is_update = request.operation == Operation::Update;
        let old = if is_update {
            previous.borrowed()
        } else {
            Value::Null
        };
        let faults = |object: &Value<'_>| {
            let mut object = object.clone();
            // A generated entry says nothing of who manages what.
            if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
                metadata.remove("managedFields");
            }
            let candidate = Candidate::new(&request.kind, &object).of_subresource(&request.sub_resource);
            self.validator.faults(&candidate, &old)
        };
        // What is wrong with a generated object may be why the result is wrong, but not why a field may not change.
        let known = faults(previous);
        let is_new = |fault: &FieldFault| {
            let message = &fault.cause.message;
            let is_of_change = is_update && CHANGES_REFUSED.iter().any(|words| message.contains(words));
            known.is_empty() || is_of_change && known.iter().all(|other| other.cause.message != *message)
        };
        let new = faults(after).into_iter().find(is_new);
        let text = new.map(|fault| {
            let message = fault
                .cause
                .message
                .lines()
                .next()
                .unwrap_or_default()
                .trim_end_matches(['{', ' ']);
            format!("{}: {}", fault.cause.field, without_long_value(message))
        });
        text.map(|text| ServerFinding::Invalid { text })
            .into_iter()
            .collect()
    }

    fn admit(
        &self,
        request: &AdmissionRequest<'static>,
        mut object: Value<'static>,
        state: &StateObjects,
    ) -> Result<AdmittedObject, AdmissionFailure> {
        let written = object.clone();
        let context = PluginContext::new(state);
        let mut steps = PluginSteps {
            last: object.clone(),
            ..PluginSteps::default()
        };
        let mut effects = Effects::default();
        let mut attributes = MutableAttributes::new(request, &mut object);
        let admitted = self
            .chain
            .admit(Stage::All, &mut attributes, &context, &mut effects, &mut steps);
        admitted.map_err(|rejection| steps.unadmitted(&rejection))?;
        let attributes = Attributes {
            request,
            object: &object,
            form: ObjectForm::Settled,
        };
        let validated = self
            .chain
            .validate(Stage::All, &attributes, &context, &mut effects, &mut steps);
        validated.map_err(|rejection| steps.unadmitted(&rejection))?;
        Ok(AdmittedObject {
            written,
            object,
            steps: steps.changes,
        })
    }
}

/// What a server makes of the change of a policy before it validates the object: it stores nothing of it, or refuses another namespace.
fn find_dropped(
    request: &AdmissionRequest<'_>,
    change: &PreparedChange,
    (previous, mutated): (&Value<'static>, &Value<'static>),
) -> Option<ServerFinding> {
    if change.is_dropped()
        && let Some(field) = changed_paths(previous, mutated).into_iter().next()
    {
        return Some(ServerFinding::Dropped { field });
    }
    find_other_namespace(request, mutated).map(|text| ServerFinding::Invalid { text })
}

/// What the validation of a custom resource refuses of an object that a policy changed, and not of the one before; or that all of
/// the change is dropped.
fn review_custom(
    kind: &CustomKind,
    trial: &MutationTrial,
    request: &AdmissionRequest<'static>,
    allowed: bool,
) -> Vec<ServerFinding> {
    let TrialOutcome::Changed(after) = trial.mutate(request, allowed) else {
        return Vec::new();
    };
    let (previous, known) = kind.receive(&request.object);
    let (stored, errors) = kind.receive(&after);
    if stored == previous
        && let Some(field) = changed_paths(&request.object, &after).into_iter().next()
    {
        return vec![ServerFinding::Dropped { field }];
    }
    let new = errors.into_iter().find(|error| !known.contains(error));
    new.map(|text| ServerFinding::Invalid { text })
        .into_iter()
        .collect()
}

/// What a server says of an object whose namespace is not that of the request.
// Upstream: apiserver/pkg/registry/rest/meta.go, EnsureObjectNamespaceMatchesRequestNamespace
fn find_other_namespace(request: &AdmissionRequest<'_>, object: &Value<'_>) -> Option<String> {
    let namespace = object.at(&["metadata", "namespace"])?.as_str()?;
    let is_other =
        !request.kind.is_core("Namespace") && !namespace.is_empty() && namespace != request.namespace;
    is_other.then(|| {
        "metadata.namespace: the namespace of the provided object does not match the namespace sent on the request".to_owned()
    })
}

/// The most bytes of an object in a text of the server.
const LONGEST: usize = 200;

/// A text of the server without the fields of a long object in it, such as a whole template of Pods.
fn without_long_value(message: &str) -> String {
    let object = message.find('{').zip(message.rfind('}'));
    match object.filter(|(start, end)| end.saturating_sub(*start) > LONGEST) {
        Some((start, end)) => {
            let (head, tail) = (message.get(..=start), message.get(end..));
            format!("{}…{}", head.unwrap_or_default(), tail.unwrap_or_default())
        }
        None => message.to_owned(),
    }
}

/// Words of the server about a field that an update changes.
const CHANGES_REFUSED: [&str; 4] = ["immutable", "may not change", "may not be changed", "Forbidden: "];

/// Tolerations that authors of Pods write.
const TOLERATIONS_OF_USERS: &[u8] = br#"[{"key":"example","operator":"Exists","effect":"NoSchedule"},
    {"key":"example.com/a","operator":"Equal","value":"b","effect":"NoSchedule"}]"#;

/// The object of a request as its author wrote it, without what plugins set, and without resources of the whole Pod: an expression
/// names those of its containers.
fn as_written(request: &AdmissionRequest<'static>) -> Value<'static> {
    let mut object = request.object.clone();
    let is_pod = request.kind.is_core("Pod");
    if let Value::Object(members) = &mut object
        && let Some(Value::Object(spec)) = members.get_mut("spec").filter(|_| is_pod)
    {
        for field in OF_PLUGINS.into_iter().chain(["resources"]) {
            spec.remove(field);
        }
    }
    remove_generated(&request.kind, &mut object);
    object
}

/// The object of a request as a server would have it: a toleration of everything says so.
fn as_stored(request: &AdmissionRequest<'static>) -> Value<'static> {
    let mut object = request.object.clone();
    let is_pod = request.kind.is_core("Pod");
    if let Some(Value::Object(spec)) = object.get_mut("spec").filter(|_| is_pod)
        && let Some(Value::Array(tolerations)) = spec.get_mut("tolerations")
    {
        for toleration in tolerations.iter_mut() {
            if let Value::Object(toleration) = toleration
                && !toleration.contains_key("key")
                && !toleration.contains_key("operator")
            {
                toleration.insert("operator", "Exists");
            }
        }
    }
    object
}

fn with_object(request: &AdmissionRequest<'static>, object: Value<'static>) -> AdmissionRequest<'static> {
    AdmissionRequest {
        object,
        ..request.clone()
    }
}

/// What a plugin has done too early: how the result is different from that of an object that came as the policy leaves it.
fn late(
    previous: &AdmittedObject,
    early: &Value<'static>,
    (mutated, after): (&Value<'static>, &Value<'static>),
    changes: &[String],
) -> Option<ServerFinding> {
    let (early, after) = (with_sorted_lists(early), with_sorted_lists(after));
    // The alias follows when the object is stored.
    let is_own = |path: &String| path != "spec.serviceAccount" && !changes.contains(path);
    let field = changed_paths(&early, &after).into_iter().find(is_own)?;
    // A plugin sets something for each element: that of an element that the policy removes was no mistake.
    let set = changes
        .iter()
        .find(|path| !has_only_fewer(&previous.object, mutated, path))?;
    let mut earlier = &previous.written;
    let mut responsible = None;
    for (plugin, object) in &previous.steps {
        let changed = changed_paths(earlier, object);
        if changed.iter().any(|path| overlaps(path, &field)) {
            responsible = Some(plugin.clone());
        }
        earlier = object;
    }
    Some(ServerFinding::Late {
        plugin: responsible?,
        field,
        set: set.clone(),
    })
}

/// Whether one of two paths is the other, or within it. Lists are compared as a whole: their elements were sorted.
fn overlaps(one: &str, other: &str) -> bool {
    let list = |path: &str| path.split('[').next().unwrap_or_default().to_owned();
    let (one, other) = (list(one), list(other));
    one.starts_with(&other) || other.starts_with(&one)
}

/// Remembers which plugins changed the object.
#[derive(Default)]
struct PluginSteps {
    running: String,
    last: Value<'static>,
    changes: Vec<(String, Value<'static>)>,
}

impl PluginSteps {
    fn unadmitted(&self, rejection: &Rejection) -> AdmissionFailure {
        let plugin = self.running.clone();
        match rejection {
            Rejection::Denied(status) => AdmissionFailure::Refused {
                plugin,
                text: status.message.clone(),
            },
            Rejection::Error(text) => AdmissionFailure::Refused {
                plugin,
                text: text.clone(),
            },
            Rejection::Undecided(_) | Rejection::Pending => AdmissionFailure::Undecided,
        }
    }
}

impl PluginObserver for PluginSteps {
    fn began(&mut self, plugin: &str, _: AdmissionPhase) {
        plugin.clone_into(&mut self.running);
    }

    fn ended(
        &mut self,
        plugin: &str,
        phase: AdmissionPhase,
        attributes: &Attributes<'_>,
        _: &Result<(), Rejection>,
    ) {
        if phase == AdmissionPhase::Mutating && *attributes.object != self.last {
            self.last = attributes.object.clone().into_owned();
            self.changes.push((plugin.to_owned(), self.last.clone()));
        }
    }
}
