//! The parts of a server around mutating policies: the built-in plugins that run by default, before policies and again after
//! a change, and the validation of built-in kinds.
//!
//! A policy whose result is the fault is told apart from an object that is refused anyway: what a server says of the object
//! without the policy is never told.

use pratique_json::Value;
use pratique_objects::changed_paths;
use pratique_plugin::{
    Attributes, Effects, MutableAttributes, Phase, PluginChain, PluginContext, PluginObserver,
    PluginSettings, Rejection, Stage, StateObjects, default_plugins_of,
};
use pratique_plugins::factory;
use pratique_schema::FeatureGates;
use pratique_types::{AdmissionRequest, ObjectForm, Operation};
use pratique_validation::{Candidate, FieldFault, Validator};

use crate::custom::CustomKind;

use super::comparison::with_sorted_lists;
use super::server_state::state_naming;
use super::storage::dropped_field;
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
    pub fn judge(
        &self,
        trial: &MutationTrial,
        request: &AdmissionRequest<'static>,
        allowed: bool,
    ) -> Vec<ServerFinding> {
        if let Some(kind) = trial.custom.find(&request.kind) {
            return judge_custom(kind, trial, request, allowed);
        }
        match request.operation {
            Operation::Create => self.judge_creation(trial, request, allowed),
            Operation::Update => {
                // An update that changes nothing is valid.
                let stored = &request.object;
                let request = AdmissionRequest {
                    old_object: stored.clone(),
                    ..request.clone()
                };
                let TrialOutcome::Changed(mutated) = trial.mutate(&request, allowed) else {
                    return Vec::new();
                };
                if let Some(field) = dropped_field(&trial.objects, &request, stored, &mutated) {
                    return vec![ServerFinding::Dropped { field }];
                }
                self.judge_validity(&request, stored, &mutated)
            }
            _ => Vec::new(),
        }
    }

    fn judge_creation(
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
        if let Some(field) = dropped_field(&trial.objects, request, &admitted.object, &mutated) {
            return vec![ServerFinding::Dropped { field }];
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
                findings.extend(late(&admitted, &early.object, &after.object, &changes.1));
            }
        }
        findings.extend(self.judge_validity(request, &admitted.object, &after.object));
        findings
    }

    /// What the validation refuses of an object that a policy changed, and does not refuse of the one before.
    fn judge_validity(
        &self,
        request: &AdmissionRequest<'_>,
        previous: &Value<'_>,
        after: &Value<'_>,
    ) -> Vec<ServerFinding> {
        let is_update = request.operation == Operation::Update;
        let old = if is_update {
            previous.borrowed()
        } else {
            Value::Null
        };
        let faults = |object: &Value<'_>| {
            let candidate = Candidate::new(&request.kind, object).of_subresource(&request.sub_resource);
            self.validator.faults(&candidate, &old)
        };
        let known: Vec<String> = faults(previous).iter().map(without_indices).collect();
        let new = faults(after)
            .into_iter()
            .find(|fault| !known.contains(&without_indices(fault)));
        let text = new.map(|fault| {
            let message = fault
                .cause
                .message
                .lines()
                .next()
                .unwrap_or_default()
                .trim_end_matches(['{', ' ']);
            format!("{}: {message}", fault.cause.field)
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

/// What the validation of a custom resource refuses of an object that a policy changed, and not of the one before; or that all of
/// the change is dropped.
fn judge_custom(
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

/// The object of a request as its author wrote it, without what plugins set.
fn as_written(request: &AdmissionRequest<'static>) -> Value<'static> {
    let mut object = request.object.clone();
    let is_pod = request.kind.is_core("Pod");
    if let Value::Object(members) = &mut object
        && let Some(Value::Object(spec)) = members.get_mut("spec").filter(|_| is_pod)
    {
        for field in OF_PLUGINS {
            spec.remove(field);
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
    after: &Value<'static>,
    changes: &[String],
) -> Option<ServerFinding> {
    let (early, after) = (with_sorted_lists(early), with_sorted_lists(after));
    // The alias follows when the object is stored.
    let is_own = |path: &String| path != "spec.serviceAccount" && !changes.contains(path);
    let field = changed_paths(&early, &after).into_iter().find(is_own)?;
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
        set: changes.first()?.clone(),
    })
}

/// Whether one of two paths is the other, or within it. Lists are compared as a whole: their elements were sorted.
fn overlaps(one: &str, other: &str) -> bool {
    let list = |path: &str| path.split('[').next().unwrap_or_default().to_owned();
    let (one, other) = (list(one), list(other));
    one.starts_with(&other) || other.starts_with(&one)
}

/// A fault, regardless of its place in lists.
fn without_indices(fault: &FieldFault) -> String {
    let field: String = fault
        .cause
        .field
        .chars()
        .filter(|c| !c.is_ascii_digit())
        .collect();
    let message = fault.cause.message.lines().next().unwrap_or_default();
    format!("{field}: {message}")
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
    fn began(&mut self, plugin: &str, _: Phase) {
        plugin.clone_into(&mut self.running);
    }

    fn ended(&mut self, plugin: &str, phase: Phase, attributes: &Attributes<'_>, _: &Result<(), Rejection>) {
        if phase == Phase::Mutating && *attributes.object != self.last {
            self.last = attributes.object.clone().into_owned();
            self.changes.push((plugin.to_owned(), self.last.clone()));
        }
    }
}
