//! Trials of a mutating policy: its mutations are run over generated objects of the kinds that it matches, and a server
//! reviews the results. A warning about a mutation is based on a trial that shows it.

mod policy_mutations;

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::Arc;

use pratique_json::{Object, Value};
use pratique_objects::changed_paths;
use pratique_sample::{
    CustomKind, CustomKinds, MutationTrial, NamedFields, Policy, SAMPLE_USER, Sample, SampleExtent,
    SampleServer, SampleSpec, ServerFinding, TrialOutcome, describe_difference, find_filled_lists,
};
use pratique_types::builtin::ServedResource;
use pratique_types::{AdmissionRequest, ObjectForm, Operation};

use crate::analysis::ParsedExpressions;
use crate::observations::{required_constants, selected_metadata};
use crate::options::LintOptions;
use crate::subject::{PolicyView, matched_operations};
use crate::typing::MatchedKinds;
use crate::undefined_resources::unknown_resources;
use crate::warning::WarningExample;
use policy_mutations::PolicyMutations;

/// The most requests that the mutations of a policy are tried for, and the fewest for a kind.
const MOST_REQUESTS: usize = 600;
const FEWEST_OF_KIND: usize = 12;
const MOST_OF_KIND: usize = 120;
/// The most results of a kind that a server reviews.
const MOST_REVIEWED: usize = 12;
/// The most failures of a mutation that are told.
const MOST_FAILURES: usize = 3;

/// Trials by kind; none of a validating policy.
#[derive(Default)]
pub(crate) struct PolicyTrials {
    pub(crate) kinds: Vec<KindTrials>,
}

/// Trials for objects of a kind.
pub(crate) struct KindTrials {
    pub(crate) served: Arc<ServedResource>,
    /// How many requests the mutations ran for.
    ran: usize,
    /// The first object that no mutation failed for.
    passed: Option<Value<'static>>,
    /// By mutation and text.
    pub(crate) failures: BTreeMap<(usize, String), TrialFailure>,
    /// Results of which a server makes something.
    pub(crate) reviewed: BTreeMap<ServerFinding, ReviewedResult>,
    /// Whether a server stores something of a result: not all of them are dropped.
    pub(crate) is_stored: bool,
    /// Whether something is left of a result after all plugins.
    has_effect: bool,
    /// What a server makes of results.
    findings: Vec<ResultReview>,
    /// The lists that a result has.
    kept: BTreeSet<String>,
    /// Objects that were changed.
    pub(crate) changes: Vec<ObjectChange>,
    /// Objects that were left as they are.
    pub(crate) unchanged: usize,
    /// The first field that is changed again when the policy runs again.
    pub(crate) repeated: Option<(String, WarningExample)>,
}

/// A result of which a server makes something.
pub(crate) struct ReviewedResult {
    pub(crate) example: WarningExample,
    /// The mutation that leaves it so.
    pub(crate) mutation: usize,
}

/// What a server makes of a result.
struct ResultReview {
    /// The lists that had elements before, and have none in the result.
    emptied: Vec<String>,
    findings: Vec<ServerFinding>,
    example: WarningExample,
    request: AdmissionRequest<'static>,
    /// What the authorizer answers.
    allows: bool,
}

/// A failure of a mutation.
pub(crate) struct TrialFailure {
    count: usize,
    /// The objects that it failed for.
    pub(crate) extent: FailedExtent,
    pub(crate) example: WarningExample,
}

/// The objects that a mutation failed for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FailedExtent {
    Every,
    Some,
    Without(String),
}

/// An object before and after the mutations.
pub(crate) struct ObjectChange {
    pub(crate) before: Value<'static>,
    pub(crate) after: Value<'static>,
    pub(crate) operation: Operation,
}

impl PolicyTrials {
    pub(crate) fn new(
        policy: &PolicyView<'_>,
        parsed: &ParsedExpressions,
        kinds: &MatchedKinds,
        options: &LintOptions,
    ) -> Self {
        let Policy::Mutating(manifest) = policy.manifest else {
            return PolicyTrials::default();
        };
        let named = policy.sites.iter().zip(&parsed.asts);
        let interest =
            NamedFields::new(named.filter_map(|(site, ast)| Some((site.variable(), ast.as_ref()?))));
        let required = required_constants(policy, parsed);
        let mutations = |custom: &Arc<CustomKinds>| PolicyMutations {
            gates: options.feature_gates,
            manifest,
            custom: Arc::clone(custom),
        };
        let known = mutations(&options.custom_kinds);
        let trial = known.trial();
        // Most policies change no object that they are tried over.
        let server = LazyCell::new(|| SampleServer::new(options.feature_gates));
        let is_matched = |served: &ServedResource| policy.rules.iter().any(|rule| rule.matches(served));
        let custom: Vec<&CustomKind> = options.custom_kinds.matching(is_matched).collect();
        let most = MOST_REQUESTS / (kinds.builtin.len() + custom.len()).max(1);
        let most = most.clamp(FEWEST_OF_KIND, MOST_OF_KIND);
        let runs_again = manifest
            .spec
            .as_ref()
            .is_some_and(|spec| spec.reinvocation_policy.as_deref() == Some("IfNeeded"));
        let operations_of = |served: &ServedResource| {
            let mut operations = matched_operations(policy.rules.iter().filter(|rule| rule.matches(served)));
            operations.retain(|operation| matches!(operation, Operation::Create | Operation::Update));
            operations
        };
        let try_samples = |(mutations, trial): (&PolicyMutations<'_>, &MutationTrial),
                           served: Arc<ServedResource>,
                           make: &dyn Fn(&SampleSpec<'_>) -> Vec<Sample>| {
            if options.interruption.has_come() {
                return KindTrials::new(served);
            }
            let samples = make(&SampleSpec {
                release: policy.release,
                served: &served,
                operations: &operations_of(&served),
                interest: &interest,
                selected: &selected_metadata(policy, &served),
                required: &required,
                // A server reviews all of an object.
                footprints: &[],
                is_mutating: true,
                most,
            });
            let mut trials = KindTrials::new(served);
            // What has no name yet is another lint's: absent-name.
            for sample in samples
                .into_iter()
                .filter(|sample| sample.extent != SampleExtent::Nameless)
            {
                if options.interruption.has_come() {
                    break;
                }
                trials.add(trial, &server, &sample, runs_again);
            }
            trials.conclude(mutations, &server);
            trials
        };
        let of_kind = |served: &&'static ServedResource| {
            try_samples((&known, &trial), Arc::new((*served).clone()), &|spec| {
                decoded_samples(options, spec)
            })
        };
        let of_custom_kind = |kind: &CustomKind| {
            try_samples((&known, &trial), Arc::clone(&kind.served), &|spec| {
                kind.requests(spec)
            })
        };
        let builtin = kinds.builtin.iter().map(of_kind);
        let custom = custom.into_iter().map(of_custom_kind);
        let mut all: Vec<KindTrials> = builtin.chain(custom).collect();
        let unknown = unknown_resources(policy, &options.custom_kinds);
        if !unknown.is_empty() {
            let unknown = Arc::new(CustomKinds::without_definition(policy.release, &unknown));
            let undefined = mutations(&unknown);
            let trial = undefined.trial();
            all.extend(unknown.matching(|_| true).map(|kind| {
                let mut trials = try_samples((&undefined, &trial), Arc::clone(&kind.served), &|spec| {
                    kind.requests(spec)
                });
                trials.keep_metadata();
                trials
            }));
        }
        PolicyTrials { kinds: all }
    }
}

/// A user whose name has other signs than that of samples of whose user nothing is required.
const SERVICE_ACCOUNT: &str = "system:serviceaccount:default:example";

/// Samples in the form of objects that a server has decoded, which is theirs. Behind match conditions expressions read such objects,
/// and what they make of them may be no value of a configuration.
// Upstream: plugin/cel/activation.go, useSchemalessTypeRef
fn decoded_samples(options: &LintOptions, spec: &SampleSpec<'_>) -> Vec<Sample> {
    let objects = options.sample_objects(spec);
    let inputs = objects.inputs(spec).into_iter();
    let mut samples: Vec<Sample> = inputs.map(|input| input.into_sample(spec)).collect();
    for (index, sample) in samples.iter_mut().enumerate() {
        sample.request.form = ObjectForm::Settled;
        if !spec.interest.names("volumeMounts") {
            for object in [&mut sample.request.object, &mut sample.request.old_object] {
                mount_first_volume(object);
            }
        }
        // Most objects come of a controller; conditions leave out some users.
        if index % 2 == 1 && sample.request.user_info.username == SAMPLE_USER {
            SERVICE_ACCOUNT.clone_into(&mut sample.request.user_info.username);
        }
    }
    samples
}

/// Mounts the first volume of a template of Pods, as most volumes are. Pods have the volume of their service account, which is mounted.
fn mount_first_volume(object: &mut Value<'static>) {
    const TEMPLATES: [&[&str]; 2] = [
        &["spec", "template"],
        &["spec", "jobTemplate", "spec", "template"],
    ];
    for template in TEMPLATES {
        let mut at = Some(&mut *object);
        for step in template.iter().chain(&["spec"]) {
            at = at.and_then(|holder| holder.get_mut(step));
        }
        let Some(Value::Object(pod)) = at else { continue };
        let volume = pod
            .get("volumes")
            .and_then(|volumes| volumes.as_array()?.first()?.get("name"));
        let Some(name) = volume.cloned() else { continue };
        let containers = pod.get_mut("containers");
        if let Some(Value::Array(containers)) = containers
            && let Some(Value::Object(container)) = containers.first_mut()
            && container.get("volumeMounts").is_none()
        {
            let mut mount = Object::new();
            mount.insert("name", name);
            mount.insert("mountPath", "/example");
            container.insert("volumeMounts", Value::Array(vec![mount.into()]));
        }
    }
}

impl KindTrials {
    fn new(served: Arc<ServedResource>) -> Self {
        KindTrials {
            served,
            ran: 0,
            passed: None,
            failures: BTreeMap::new(),
            reviewed: BTreeMap::new(),
            is_stored: false,
            has_effect: false,
            findings: Vec::new(),
            kept: BTreeSet::new(),
            changes: Vec::new(),
            unchanged: 0,
            repeated: None,
        }
    }

    fn add(
        &mut self,
        trial: &MutationTrial,
        server: &impl Deref<Target = SampleServer>,
        sample: &Sample,
        runs_again: bool,
    ) {
        let request = &sample.request;
        match trial.mutate(request, sample.allows) {
            TrialOutcome::Unused => {}
            TrialOutcome::Unchanged => {
                self.ran += 1;
                self.unchanged += 1;
                self.passed.get_or_insert_with(|| request.object.clone());
                self.kept.extend(find_filled_lists(&request.object));
            }
            TrialOutcome::Overruled { field } => {
                self.ran += 1;
                self.unchanged += 1;
                if self.findings.len() < MOST_REVIEWED {
                    self.findings.push(ResultReview {
                        emptied: Vec::new(),
                        findings: vec![ServerFinding::Dropped { field }],
                        example: example_of(request),
                        request: request.clone(),
                        allows: sample.allows,
                    });
                }
            }
            TrialOutcome::Failed { mutation, text } => {
                self.ran += 1;
                self.add_failure(mutation, &text, sample);
            }
            TrialOutcome::Changed(after) => {
                self.ran += 1;
                self.passed.get_or_insert_with(|| request.object.clone());
                let operation = request.operation;
                if self.repeated.is_none() && (runs_again || operation == Operation::Update) {
                    self.repeated = repetition(trial, sample, &after);
                }
                let lists = find_filled_lists(&after);
                let is_counted = self.changes.len() < MOST_REVIEWED;
                // What is dropped of all results so far may be stored of a later one, such as one of another operation.
                if is_counted || !self.is_stored {
                    let findings = server.review(trial, request, sample.allows);
                    let is_dropped =
                        |finding: &ServerFinding| matches!(finding, ServerFinding::Dropped { .. });
                    self.is_stored |= !findings.iter().any(is_dropped);
                    self.has_effect |= !findings.iter().any(is_idle);
                    if is_counted && !findings.is_empty() {
                        let mut emptied = find_filled_lists(&request.object);
                        emptied.retain(|list| !lists.contains(list));
                        let example = WarningExample {
                            difference: describe_difference(&request.object, &after)
                                .map(|text| format!("the policy leaves {text}")),
                            ..example_of(request)
                        };
                        self.findings.push(ResultReview {
                            emptied,
                            findings,
                            example,
                            request: request.clone(),
                            allows: sample.allows,
                        });
                    }
                }
                self.kept.extend(lists);
                if is_counted {
                    self.changes.push(ObjectChange {
                        before: request.object.clone(),
                        after,
                        operation,
                    });
                }
            }
        }
    }

    fn add_failure(&mut self, mutation: usize, text: &str, sample: &Sample) {
        let of_mutation = self.failures.keys().filter(|(of, _)| *of == mutation).count();
        let key = (mutation, text.to_owned());
        if of_mutation >= MOST_FAILURES && !self.failures.contains_key(&key) {
            return;
        }
        let failure = self.failures.entry(key).or_insert_with(|| TrialFailure {
            count: 0,
            extent: FailedExtent::Every,
            example: example_of(&sample.request),
        });
        failure.count += 1;
        match (&failure.extent, &sample.extent) {
            (FailedExtent::Some, _) => {}
            (_, SampleExtent::Whole | SampleExtent::Fractional) => failure.extent = FailedExtent::Some,
            (FailedExtent::Every, SampleExtent::Without(name)) => {
                failure.extent = FailedExtent::Without(name.clone());
            }
            // An object without another field may lack this one as well: the text says which one it is about, at the end of its path.
            (FailedExtent::Without(known), SampleExtent::Without(name))
                if find_field(text, name) > find_field(text, known) =>
            {
                failure.extent = FailedExtent::Without(name.clone());
            }
            _ => {}
        }
    }

    /// Keeps what is about the metadata: of the objects nothing else is known.
    fn keep_metadata(&mut self) {
        self.failures.retain(|(_, text), _| text.contains("\"/metadata/"));
        self.reviewed.retain(
            |finding, _| matches!(finding, ServerFinding::Invalid { text } if text.starts_with("metadata.")),
        );
        self.changes.clear();
        self.repeated = None;
        // Of whether the policy has an effect nothing is known.
        self.unchanged = 0;
        self.is_stored = true;
    }

    /// Failures for all objects are those that no object escapes. What comes of an empty list is told only if no object keeps
    /// elements: generated objects have one element in each list, which a policy may mean to remove.
    fn conclude(&mut self, mutations: &PolicyMutations<'_>, server: &impl Deref<Target = SampleServer>) {
        for review in std::mem::take(&mut self.findings) {
            let is_of_empty_list = review.emptied.iter().any(|list| self.kept.contains(list));
            for finding in review.findings {
                let is_known = self.reviewed.keys().any(|known| is_same_finding(known, &finding));
                let has_other_reason = if is_idle(&finding) {
                    self.has_effect
                } else {
                    is_of_empty_list
                };
                if !is_known && !has_other_reason {
                    let request = (&review.request, review.allows);
                    let result = ReviewedResult {
                        example: review.example.clone(),
                        mutation: mutations.find_cause(&finding, server, request),
                    };
                    self.reviewed.insert(finding, result);
                }
            }
        }
        for failure in self.failures.values_mut() {
            let failed = pratique_json::parse(failure.example.object.as_bytes()).ok();
            if let Some((passed, failed)) = self.passed.as_ref().zip(failed) {
                failure.example.difference = describe_difference(passed, &failed);
            }
            if failure.count == self.ran {
                failure.extent = FailedExtent::Every;
            } else if failure.extent == FailedExtent::Every {
                failure.extent = FailedExtent::Some;
            }
        }
    }
}

/// Where the text of a failure names a field last, in a path or between quotes.
fn find_field(text: &str, name: &str) -> Option<usize> {
    let is_apart = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && !"-_~".contains(c));
    let places = text.rmatch_indices(name).map(|(at, _)| at);
    let mut places = places.filter(|at| {
        let (head, rest) = (text.get(..*at), text.get(*at + name.len()..));
        head.is_some_and(|head| head.ends_with(['/', '.', '"']))
            && is_apart(rest.and_then(|rest| rest.chars().next()))
    });
    places.next()
}

/// The first field that a policy changes when it runs over its own result.
fn repetition(
    trial: &MutationTrial,
    sample: &Sample,
    after: &Value<'static>,
) -> Option<(String, WarningExample)> {
    let is_update = sample.request.operation == Operation::Update;
    let again = AdmissionRequest {
        object: after.clone(),
        old_object: if is_update { after.clone() } else { Value::Null },
        ..sample.request.clone()
    };
    let TrialOutcome::Changed(twice) = trial.mutate(&again, sample.allows) else {
        return None;
    };
    let field = changed_paths(after, &twice).into_iter().next()?;
    let example = WarningExample {
        difference: describe_difference(after, &twice).map(|text| format!("the second run leaves {text}")),
        ..example_of(&sample.request)
    };
    Some((field, example))
}

/// Whether what a mutation did is of no effect.
fn is_idle(finding: &ServerFinding) -> bool {
    matches!(
        finding,
        ServerFinding::Undone { .. } | ServerFinding::Dropped { .. }
    )
}

/// Whether two findings are one: about one field, whatever the element of a list and the value.
fn is_same_finding(one: &ServerFinding, other: &ServerFinding) -> bool {
    match (one, other) {
        (ServerFinding::Invalid { text: one }, ServerFinding::Invalid { text: other }) => {
            let key = |text: &str| {
                let field = text.split(": ").next().unwrap_or_default();
                field.replace(|c: char| c.is_ascii_digit(), "")
            };
            key(one) == key(other)
        }
        _ => one == other,
    }
}

fn example_of(request: &AdmissionRequest<'_>) -> WarningExample {
    WarningExample {
        kind: request.kind.clone(),
        operation: request.operation,
        object: request.object.to_string(),
        difference: None,
        cost: None,
    }
}
