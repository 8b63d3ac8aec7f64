//! A policy that is tried with requests, of which those that it cannot tell apart are evaluated once.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use foldhash::HashMap;
use pratique_cel::ast::Ast;
use pratique_expression::ExpressionPurpose;
use pratique_json::Value;
use pratique_sample::{
    CustomKind, ExpressionId, NamedFields, ObservedPolicy, ObservedRun, PolicyObservation, ReadFootprint,
    RequiredConstants, Sample, SampleExtent, SampleInput, SampleSpec, SelectedMetadata,
};
use pratique_types::Operation;
use pratique_types::builtin::ServedResource;

use super::{KindObservations, OperationMap, required_constants, selected_metadata};
use crate::analysis::ParsedExpressions;
use crate::options::LintOptions;
use crate::subject::{ExpressionSite, PolicyView, matched_operations};

/// The most requests that the expressions of a run are evaluated for, and the fewest for a kind.
const MOST_REQUESTS: usize = 4_000;
const FEWEST_OF_KIND: usize = 60;
const MOST_OF_KIND: usize = 1_000;

/// The most validations of several conditions for which there are requests of their own, the most requests for one, and the most
/// kinds of a policy with such.
const MOST_CHAINS: usize = 3;
const MOST_OF_CHAIN: usize = 40;
const MOST_KINDS_OF_CHAINS: usize = 8;

/// Observes a policy with requests about objects of one kind after another.
pub(super) struct KindObserver<'o> {
    policy: &'o PolicyView<'o>,
    parsed: &'o ParsedExpressions,
    options: &'o LintOptions,
    observed: ObservedPolicy,
    /// What the policy's match conditions require.
    required: RequiredConstants,
    /// What validations of several conditions require as well, by their indexes.
    of_chains: Vec<(usize, RequiredConstants)>,
    /// The most requests for a kind.
    most: usize,
    /// What is known of kinds that a run cannot tell apart, by what a request has that is read.
    of_kinds: RefCell<HashMap<KindShape, HashMap<String, Rc<PolicyObservation>>>>,
}

/// What kinds have in common that a run cannot tell apart: the key of the run, whether they have a namespace, and the
/// [shape](ReadFootprint::shape) of what is read.
type KindShape = (Arc<str>, bool, String);

/// What there is to observe of a kind.
struct ObservedKind<'k> {
    served: &'k ServedResource,
    operations: Vec<Operation>,
    selected: SelectedMetadata,
    /// The definition of a custom resource.
    custom: Option<&'k CustomKind>,
}

impl<'o> KindObserver<'o> {
    pub(super) fn new(
        policy: &'o PolicyView<'o>,
        parsed: &'o ParsedExpressions,
        kind_count: usize,
        options: &'o LintOptions,
    ) -> Self {
        let required = required_constants(policy, parsed);
        let of_chains = if kind_count > MOST_KINDS_OF_CHAINS {
            Vec::new()
        } else {
            collect_chain_constants(policy, parsed, &required)
        };
        KindObserver {
            policy,
            parsed,
            options,
            observed: ObservedPolicy::new(policy.release, policy.manifest, &parsed.asts),
            required,
            of_chains,
            most: (MOST_REQUESTS / kind_count.max(1)).clamp(FEWEST_OF_KIND, MOST_OF_KIND),
            of_kinds: RefCell::default(),
        }
    }

    /// Observations of objects of a built-in kind.
    pub(super) fn observe_builtin(&self, served: &ServedResource) -> KindObservations {
        self.observe_kind(Arc::new(served.clone()), None)
    }

    /// Observations of custom resources of a kind.
    pub(super) fn observe_custom(&self, kind: &CustomKind) -> KindObservations {
        self.observe_kind(Arc::clone(&kind.served), Some(kind))
    }

    fn observe_kind(&self, served: Arc<ServedResource>, custom: Option<&CustomKind>) -> KindObservations {
        let rules = self.policy.rules.iter().filter(|rule| rule.matches(&served));
        let kind = ObservedKind {
            served: &served,
            operations: matched_operations(rules),
            selected: selected_metadata(self.policy, &served),
            custom,
        };
        let mut by_operation = OperationMap::new();
        for run in self.observed.runs() {
            if self.is_over() {
                break;
            }
            let of_run = match &self.options.observations {
                Some(memory) => memory.recall_or(self.run_key(run, &kind), || {
                    let observations = self.observe_run_of_kind(run, &kind);
                    (!self.is_over()).then_some(observations)
                }),
                None => Arc::new(self.observe_run_of_kind(run, &kind)),
            };
            for (operation, observations) in &*of_run {
                by_operation.entry(operation).or_default().merge(observations);
            }
        }
        KindObservations { served, by_operation }
    }

    fn is_over(&self) -> bool {
        self.options.interruption.has_come()
    }

    /// All that observations of a run depend on, apart from the definitions of custom kinds: what it evaluates, and what its requests
    /// are made of.
    fn run_key(&self, run: &ObservedRun, kind: &ObservedKind<'_>) -> String {
        let ObservedKind {
            served,
            operations,
            selected,
            custom: _,
        } = kind;
        let (release, most) = (self.policy.release.version(), self.most);
        let required: Vec<_> = self.required_of(run).collect();
        format!(
            "{release:?} {served:?} {operations:?} {selected:?} {required:?} {most} {}",
            run.key()
        )
    }

    /// What requests for a run have, each with the most of them: what conditions require, and what its validation requires.
    fn required_of(&self, run: &ObservedRun) -> impl Iterator<Item = (&RequiredConstants, usize)> {
        let of_chains = self.of_chains.iter();
        let of_chain = of_chains.filter(|(index, _)| run.is_of_validation(*index));
        let of_chain = of_chain.map(|(_, required)| (required, MOST_OF_CHAIN));
        std::iter::once((&self.required, self.most)).chain(of_chain)
    }

    /// The observations of a run over objects that have what its expressions name.
    fn observe_run_of_kind(&self, run: &ObservedRun, kind: &ObservedKind<'_>) -> OperationMap {
        let asts = &self.parsed.asts;
        let interest = NamedFields::new(self.observed.run_trees(run, asts));
        let footprint = self.observed.footprint(run, &kind.served.kind.kind, asts);
        let mut by_operation = OperationMap::new();
        for (required, most) in self.required_of(run) {
            if self.is_over() {
                break;
            }
            let spec = SampleSpec {
                release: self.policy.release,
                served: kind.served,
                operations: &kind.operations,
                interest: &interest,
                selected: &kind.selected,
                required,
                footprints: footprint.as_slice(),
                is_mutating: self.policy.is_mutating,
                most,
            };
            let of_run = (run, footprint.as_ref());
            match kind.custom {
                Some(custom) => {
                    let samples = custom.requests(&spec);
                    let inputs: Vec<SampleInput<'_>> = samples.iter().map(Sample::input).collect();
                    self.observe_run(of_run, &spec, &inputs, &mut by_operation);
                }
                None => {
                    let objects = self.options.sample_objects(&spec);
                    self.observe_run(of_run, &spec, &objects.inputs(&spec), &mut by_operation);
                }
            }
        }
        by_operation
    }

    /// The observations of a run. Of requests that it cannot tell apart one is evaluated.
    fn observe_run<'i>(
        &self,
        (run, footprint): (&ObservedRun, Option<&ReadFootprint>),
        spec: &SampleSpec<'_>,
        inputs: &'i [SampleInput<'i>],
        by_operation: &mut OperationMap,
    ) {
        let mut groups: Vec<AlikeInputs<'i>> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::default();
        let mut last: Option<(&Value<'_>, usize)> = None;
        let mut of_kinds = self.of_kinds.borrow_mut();
        let shape = footprint.and_then(ReadFootprint::shape);
        let mut of_kinds = shape.map(|shape| {
            let key = (Arc::clone(run.key()), spec.served.namespaced, shape);
            of_kinds.entry(key).or_default()
        });
        for input in inputs {
            if self.is_over() {
                break;
            }
            let next = groups.len();
            let mut key = None;
            let group = match (footprint, last) {
                (None, _) => next,
                (Some(footprint), Some((object, group)))
                    if footprint.is_of_object(input) && std::ptr::eq(object, input.object()) =>
                {
                    group
                }
                (Some(footprint), _) => {
                    let of_input = footprint.key(input);
                    // Most requests are like one before, for which no key is kept.
                    known.get(&of_input).copied().unwrap_or_else(|| {
                        known.insert(of_input.clone(), next);
                        key = Some(of_input);
                        next
                    })
                }
            };
            last = Some((input.object(), group));
            if group == next {
                let evaluate = || {
                    let request = input.request(spec);
                    Rc::new(self.observed.evaluate(run, &request, input.allows))
                };
                let observation = match of_kinds.as_mut().zip(key) {
                    Some((of_kinds, key)) => Rc::clone(of_kinds.entry(key).or_insert_with(evaluate)),
                    None => evaluate(),
                };
                groups.push(AlikeInputs {
                    observation,
                    counts: HashMap::default(),
                });
            }
            let Some(alike) = groups.get_mut(group) else {
                continue;
            };
            let operation = input.operation.as_str();
            let of_operation = by_operation.entry(operation).or_default();
            let count = alike.counts.entry((operation, &*input.extent)).or_default();
            *count += 1;
            if *count == 1 {
                let outcomes = &alike.observation.outcomes;
                of_operation.add((self.policy, self.parsed), outcomes, &input.extent);
            }
        }
        for AlikeInputs { observation, counts } in groups {
            for ((operation, _), count) in counts {
                if let Some(of_operation) = by_operation.get_mut(operation) {
                    of_operation.coverage.add(&observation, count);
                    of_operation.count(self.policy, &observation.outcomes, count);
                }
            }
        }
    }
}

/// Requests that a run of a policy cannot tell apart.
struct AlikeInputs<'i> {
    observation: Rc<PolicyObservation>,
    /// How many there are by operation and what their objects have.
    counts: HashMap<(&'static str, &'i SampleExtent), u32>,
}

/// The constants that validations of several conditions require, each with those of the match conditions: with other values most
/// objects fail one of the conditions, which hides what the others fail with.
fn collect_chain_constants(
    policy: &PolicyView<'_>,
    parsed: &ParsedExpressions,
    required: &RequiredConstants,
) -> Vec<(usize, RequiredConstants)> {
    let sites = policy.sites.iter().zip(&parsed.asts);
    let chains =
        sites.filter(|(site, _)| site.usage == ExpressionPurpose::Validation && site.text.contains("&&"));
    let of_chain = |(site, ast): (&ExpressionSite<'_>, &Option<Ast>)| match &site.id {
        ExpressionId::Validation(index) => Some((*index, required.with_condition(ast.as_ref()?)?)),
        _ => None,
    };
    chains.filter_map(of_chain).take(MOST_CHAINS).collect()
}
