//! Observations of what expressions do: the expressions of a policy are evaluated over generated objects of the kinds
//! that it matches. A warning that something fails is based on an evaluation that failed.

mod kind_observer;
mod observation_memory;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pratique_cel::ast::{Ast, Expr, ExprId, Literal};
use pratique_expression::ExpressionPurpose;
use pratique_sample::{
    CustomKind, CustomKinds, ExpressionOutcome, NodeCoverage, NodeOutcomes, RequiredConstants, SampleExtent,
    SelectedMetadata,
};
use pratique_types::builtin::ServedResource;
use pratique_types::cel_limits::MessageFault;

use self::kind_observer::KindObserver;
pub(crate) use self::observation_memory::ObservationMemory;
use crate::analysis::{ParsedExpressions, chain_text};
use crate::options::LintOptions;
use crate::subject::PolicyView;
use crate::typing::MatchedKinds;
use crate::undefined_resources::unknown_resources;

/// The prefix of the error for a missing field or key.
pub(crate) const NO_KEY: &str = "no such key: ";
/// The start of the error for values of types that a function does not take.
pub(crate) const NO_OVERLOAD: &str = "no such overload";

/// Observations by kind.
pub(crate) struct PolicyObservations {
    pub(crate) kinds: Vec<KindObservations>,
    /// Those of resources without a definition, of whose objects only the metadata is known. Each kind is called by its resource.
    pub(crate) unknown: Vec<KindObservations>,
}

/// Observations for objects of a kind.
pub(crate) struct KindObservations {
    pub(crate) served: Arc<ServedResource>,
    by_operation: OperationMap,
}

/// Observations by operation: `CREATE`
pub(crate) type OperationMap = BTreeMap<&'static str, OperationObservations>;

/// Observations for requests of one operation.
#[derive(Debug, Default)]
pub(crate) struct OperationObservations {
    coverage: NodeCoverage,
    /// The objects by the site and node that failed, and the error.
    failures: BTreeMap<(usize, ExprId, String), FailedObjects>,
    /// Counts by the expression that was evaluated.
    roots: BTreeMap<usize, RootCounts>,
    /// What was wrong with the messages of validations that hold, by the expression.
    idle_messages: BTreeSet<(usize, Option<MessageFault>)>,
    /// Whether the second of two nodes of an expression fails as well once the first is guarded.
    alternatives: BTreeMap<(usize, ExprId, ExprId), bool>,
}

/// The objects for which something failed.
#[derive(Clone, Debug, Default)]
struct FailedObjects {
    /// An object that has all fields that expressions name.
    with_all_fields: bool,
    /// One that has a name.
    named: bool,
    /// One without, or the request for one.
    nameless: bool,
    /// An object that has them, with quantities that are fractions.
    with_fractions: bool,
    /// An object that lacks only the field in the error.
    without_field: bool,
    /// An object that lacks it because a default does not fill it there: the condition.
    unfilled: Option<String>,
}

/// The number of evaluations of an expression, and of failures by origin.
#[derive(Debug, Default)]
struct RootCounts {
    evaluated: u32,
    /// Messages that the server does not use.
    unused: BTreeMap<MessageFault, u32>,
    failed: BTreeMap<(usize, ExprId), u32>,
}

impl RootCounts {
    fn failures(&self) -> u32 {
        self.failed.values().sum()
    }
}

/// Why the server uses none of the texts that an expression gives for a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UselessMessage {
    /// All of them are none that it uses.
    Fault(MessageFault),
    /// The expression fails for every object: the expressions that fail, itself or variables, and the first error.
    Failing { expressions: Vec<usize>, text: String },
}

/// A failure of a node, for objects of a kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeFailure<'o> {
    pub(crate) site: usize,
    pub(crate) node: ExprId,
    /// The error.
    pub(crate) text: &'o str,
    pub(crate) operation: &'static str,
    /// Whether it only failed for requests without a name.
    pub(crate) is_of_nameless: bool,
}

/// A missing field or key that other evaluations find.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MissingField {
    pub(crate) site: usize,
    pub(crate) node: ExprId,
    /// The missing key.
    pub(crate) key: String,
    /// Where defaults do not fill it, if they do in other objects: `type is Recreate`, or empty.
    pub(crate) unfilled: Option<String>,
}

impl PolicyObservations {
    pub(crate) fn new(
        policy: &PolicyView<'_>,
        parsed: &ParsedExpressions,
        kinds: &MatchedKinds,
        options: &LintOptions,
    ) -> Self {
        let is_matched = |served: &ServedResource| policy.rules.iter().any(|rule| rule.matches(served));
        let custom: Vec<&CustomKind> = options.custom_kinds.matching(is_matched).collect();
        let kind_count = kinds.builtin.len() + custom.len();
        let observer = KindObserver::new(policy, parsed, kind_count, options);
        let builtin = kinds.builtin.iter();
        let builtin = builtin.map(|served| observer.observe_builtin(served));
        let custom = custom.into_iter().map(|kind| observer.observe_custom(kind));
        let mut unknown = unknown_resources(policy, &options.custom_kinds);
        // What expressions say of the kind is not known of a resource.
        if !unknown.is_empty() && parsed.asts.iter().flatten().any(reads_kind) {
            unknown.clear();
        }
        let unknown = CustomKinds::without_definition(policy.release, &unknown);
        let of_unknown = unknown.matching(|_| true);
        PolicyObservations {
            kinds: builtin.chain(custom).collect(),
            unknown: of_unknown.map(|kind| observer.observe_custom(kind)).collect(),
        }
    }

    /// Why the server uses none of the messages of an expression, as far as validations were violated.
    pub(crate) fn useless_message(&self, site: usize) -> Option<UselessMessage> {
        let operations = || self.kinds.iter().flat_map(|kind| kind.by_operation.values());
        let roots = || operations().filter_map(|operation| operation.roots.get(&site));
        let mut faults = roots().flat_map(|root| root.unused.keys());
        let is_used =
            |root: &RootCounts| root.evaluated > root.failures() + root.unused.values().sum::<u32>();
        if roots().any(is_used) {
            return None;
        }
        if let Some(fault) = faults.next() {
            return Some(UselessMessage::Fault(*fault));
        }
        let expressions: BTreeSet<usize> = roots()
            .flat_map(|root| root.failed.keys())
            .map(|(expression, _)| *expression)
            .collect();
        let errors = operations().flat_map(|operation| operation.errors_of(site));
        let errors: BTreeSet<&str> = errors.collect();
        // Another object may have what is missing, or another value; it has no other type.
        let is_of_types = |text: &&str| text.starts_with(NO_OVERLOAD);
        let text = errors.first().filter(|_| errors.iter().all(is_of_types))?;
        Some(UselessMessage::Failing {
            expressions: expressions.into_iter().collect(),
            text: (*text).to_owned(),
        })
    }

    /// What is wrong with every message of an expression whose validation no object violates.
    pub(crate) fn idle_message(&self, site: usize) -> Option<MessageFault> {
        let operations = || self.kinds.iter().flat_map(|kind| kind.by_operation.values());
        let is_evaluated = operations().any(|operation| operation.roots.contains_key(&site));
        let idle = operations().flat_map(|operation| &operation.idle_messages);
        let faults: BTreeSet<Option<MessageFault>> = idle
            .filter(|(of, _)| *of == site)
            .map(|(_, fault)| *fault)
            .collect();
        match faults.first() {
            Some(fault) if faults.len() == 1 && !is_evaluated => *fault,
            _ => None,
        }
    }

    /// What expressions did with objects of one of the kinds.
    pub(crate) fn of_kind(&self, served: &ServedResource) -> Option<&KindObservations> {
        self.kinds.iter().find(|observations| {
            observations.served.kind == served.kind && observations.served.subresource == served.subresource
        })
    }
}

/// The constants that the policy's match conditions require.
pub(crate) fn required_constants(policy: &PolicyView<'_>, parsed: &ParsedExpressions) -> RequiredConstants {
    let conditions = policy.sites.iter().zip(&parsed.asts);
    let conditions = conditions.filter(|(site, _)| site.usage == ExpressionPurpose::MatchCondition);
    RequiredConstants::new(conditions.filter_map(|(_, ast)| ast.as_ref()))
}

/// What the policy's rules and selectors require of the objects of a resource.
pub(crate) fn selected_metadata(policy: &PolicyView<'_>, served: &ServedResource) -> SelectedMetadata {
    let mut selected = SelectedMetadata::default();
    let mut rules = policy.rules.iter().filter(|rule| rule.matches(served));
    if let (Some(only), None) = (rules.next(), rules.next()) {
        selected.name = only.names.first().cloned();
    }
    if served.kind.is_core("Namespace") {
        selected.require_label("kubernetes.io/metadata.name", "example");
    }
    let of_bindings = policy
        .bindings
        .iter()
        .map(|binding| binding.resources?.object_selector.as_ref());
    // With several bindings, any of them may have matched the object.
    let most = if policy.bindings.len() > 1 { 1 } else { 2 };
    let selectors = std::iter::once(policy.object_selector).chain(of_bindings);
    for selector in selectors.take(most).flatten() {
        selected.require_selected(selector);
    }
    selected
}

impl OperationObservations {
    /// Adds outcomes for an object that has some of the fields that expressions name.
    fn add(
        &mut self,
        (policy, parsed): (&PolicyView<'_>, &ParsedExpressions),
        outcomes: &[ExpressionOutcome],
        extent: &SampleExtent,
    ) {
        for (index, (site, outcome)) in policy.sites.iter().zip(outcomes).enumerate() {
            if site.variable().is_some() {
                continue;
            }
            match outcome {
                ExpressionOutcome::IdleMessage(fault) => {
                    self.idle_messages.insert((index, *fault));
                }
                ExpressionOutcome::Failed(failure) => {
                    self.add_failure(failure.expression, failure.node, &failure.text, extent);
                    // The other operand of || fails as well, once the first is guarded, and that of && where the first holds of an
                    // object without the field.
                    let ast = parsed.asts.get(failure.expression).and_then(Option::as_ref);
                    for (node, text) in failure.others.iter().filter(|(_, text)| text.starts_with(NO_KEY)) {
                        let others = failure.others.iter().map(|(other, _)| *other);
                        let all = std::iter::once(failure.node).chain(others);
                        let is_alternative = all.filter(|other| other != node).all(|other| {
                            let key = (failure.expression, other, *node);
                            let known = self.alternatives.entry(key);
                            *known
                                .or_insert_with(|| ast.is_some_and(|ast| are_alternatives(ast, other, *node)))
                        });
                        if is_alternative {
                            self.add_failure(failure.expression, *node, text, extent);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Counts outcomes for a number of objects.
    fn count(&mut self, policy: &PolicyView<'_>, outcomes: &[ExpressionOutcome], objects: u32) {
        for (index, (site, outcome)) in policy.sites.iter().zip(outcomes).enumerate() {
            let is_counted = !matches!(
                outcome,
                ExpressionOutcome::Unused | ExpressionOutcome::IdleMessage(_)
            );
            if site.variable().is_some() || !is_counted {
                continue;
            }
            let root = self.roots.entry(index).or_default();
            root.evaluated += objects;
            match outcome {
                ExpressionOutcome::UnusedMessage(fault) => {
                    *root.unused.entry(*fault).or_default() += objects;
                }
                ExpressionOutcome::Failed(failure) => {
                    *root.failed.entry((failure.expression, failure.node)).or_default() += objects;
                }
                _ => {}
            }
        }
    }
}

impl FailedObjects {
    fn merge(&mut self, other: &FailedObjects) {
        self.with_all_fields |= other.with_all_fields;
        self.named |= other.named;
        self.nameless |= other.nameless;
        self.with_fractions |= other.with_fractions;
        self.without_field |= other.without_field;
        if self.unfilled.is_none() {
            self.unfilled.clone_from(&other.unfilled);
        }
    }
}

impl RootCounts {
    fn merge(&mut self, other: &RootCounts) {
        self.evaluated += other.evaluated;
        for (fault, count) in &other.unused {
            *self.unused.entry(*fault).or_default() += count;
        }
        for (origin, count) in &other.failed {
            *self.failed.entry(*origin).or_default() += count;
        }
    }
}

impl OperationObservations {
    /// Adds those of another run of the policy.
    fn merge(&mut self, other: &OperationObservations) {
        self.coverage.merge(&other.coverage);
        for (failure, objects) in &other.failures {
            self.failures.entry(failure.clone()).or_default().merge(objects);
        }
        for (site, counts) in &other.roots {
            self.roots.entry(*site).or_default().merge(counts);
        }
        self.idle_messages.extend(other.idle_messages.iter().copied());
    }

    /// About how many bytes of memory they take.
    fn owned_bytes(&self) -> usize {
        let texts = self.failures.keys().map(|(_, _, text)| text.len());
        let each = size_of::<((usize, ExprId, String), FailedObjects)>();
        let failures: usize = texts.map(|text| each + text).sum();
        let roots = self.roots.values();
        let roots: usize = roots
            .map(|root| size_of::<RootCounts>() + root.failed.len() * each)
            .sum();
        let alternatives = self.alternatives.len() * size_of::<(usize, ExprId, ExprId, bool)>();
        self.coverage.owned_bytes() + failures + roots + alternatives
    }

    /// The errors with which evaluations of an expression ended.
    fn errors_of(&self, site: usize) -> impl Iterator<Item = &str> {
        let failed = self
            .roots
            .get(&site)
            .into_iter()
            .flat_map(|root| root.failed.keys());
        failed.flat_map(move |(expression, node)| {
            let known = self.failures.keys();
            let known = known.filter(move |(of, at, _)| (of, at) == (expression, node));
            known.map(|(_, _, text)| text.as_str())
        })
    }

    fn add_failure(&mut self, expression: usize, node: ExprId, text: &str, extent: &SampleExtent) {
        let failures = self
            .failures
            .entry((expression, node, text.to_owned()))
            .or_default();
        let is_nameless = *extent == SampleExtent::Nameless;
        failures.nameless |= is_nameless;
        failures.named |= !is_nameless;
        match extent {
            SampleExtent::Whole => failures.with_all_fields = true,
            SampleExtent::Fractional => failures.with_fractions = true,
            SampleExtent::Without(name) => {
                failures.without_field |= text.strip_prefix(NO_KEY) == Some(name);
            }
            SampleExtent::Unfilled { name, condition } => {
                if text.strip_prefix(NO_KEY) == Some(name) {
                    failures.without_field = true;
                    failures.unfilled.get_or_insert_with(|| condition.clone());
                }
            }
            SampleExtent::Least | SampleExtent::Nameless => {}
        }
    }
}

/// What fails where quantities are fractions: the site, the node, and the error.
pub(crate) type FractionFailure = (usize, ExprId, String);

impl KindObservations {
    /// What fails only where quantities are fractions.
    pub(crate) fn failures_of_fractions(&self) -> Vec<FractionFailure> {
        let failures = self
            .by_operation
            .values()
            .flat_map(|observations| &observations.failures);
        let mut fractional: Vec<FractionFailure> = failures
            .filter(|((_, _, text), objects)| {
                objects.with_fractions && !objects.with_all_fields && !text.starts_with(NO_KEY)
            })
            .map(|(failure, _)| failure.clone())
            .collect();
        fractional.sort();
        fractional.dedup();
        fractional
    }

    /// The missing fields and keys that make expressions fail, and that other objects have.
    pub(crate) fn missing(&self) -> Vec<MissingField> {
        let mut missing = Vec::new();
        for observations in self.by_operation.values() {
            for ((site, node, text), failures) in &observations.failures {
                let Some(key) = text.strip_prefix(NO_KEY) else {
                    continue;
                };
                let has_value = observations
                    .coverage
                    .node(*site, *node)
                    .is_some_and(|outcomes| outcomes.values > 0);
                if !failures.named {
                    continue;
                }
                let is_found = has_value || (failures.without_field && !failures.with_all_fields);
                let one = MissingField {
                    site: *site,
                    node: *node,
                    key: key.to_owned(),
                    unfilled: failures.unfilled.clone(),
                };
                if is_found && !missing.contains(&one) {
                    missing.push(one);
                }
            }
        }
        missing.sort();
        missing
    }

    /// All failures.
    pub(crate) fn failures(&self) -> impl Iterator<Item = NodeFailure<'_>> {
        self.by_operation.iter().flat_map(|(operation, observations)| {
            let failures = observations.failures.iter();
            failures.map(|((site, node, text), objects)| NodeFailure {
                site: *site,
                node: *node,
                text,
                operation,
                is_of_nameless: objects.nameless && !objects.named,
            })
        })
    }

    /// The outcomes of a node, or of the field chain that it is part of, which the evaluator reports as one. Branches
    /// of a conditional may be reported through the conditional only; then only their errors are known.
    pub(crate) fn outcomes(&self, ast: &Ast, site: usize, node: ExprId) -> (ExprId, NodeOutcomes) {
        let mut at = node;
        let mut is_branch = false;
        loop {
            let mut outcomes = NodeOutcomes::default();
            for observations in self.by_operation.values() {
                if let Some(more) = observations.coverage.node(site, at) {
                    outcomes.add(more);
                }
            }
            match holder(ast, at) {
                Some((outer, holds)) if !outcomes.is_evaluated() => {
                    is_branch |= holds == OperandUse::Branch;
                    at = outer;
                }
                _ => {
                    outcomes.values = if is_branch { 0 } else { outcomes.values };
                    return (at, outcomes);
                }
            }
        }
    }

    /// Whether a node makes expressions fail: some of them, or all that were evaluated.
    pub(crate) fn fails(&self, site: usize, node: ExprId) -> Option<FailureExtent> {
        let roots = || {
            self.by_operation
                .values()
                .flat_map(|observations| observations.roots.values())
                .map(|root| {
                    (
                        root.evaluated,
                        root.failed.get(&(site, node)).copied().unwrap_or_default(),
                    )
                })
                .filter(|(_, failed)| *failed > 0)
        };
        let all = roots().all(|(evaluated, failed)| evaluated == failed);
        roots().next()?;
        Some(if all {
            FailureExtent::Every
        } else {
            FailureExtent::Some
        })
    }
}

/// Whether an expression reads the kind of an object.
fn reads_kind(ast: &Ast) -> bool {
    const KINDS: [&str; 5] = [
        "object.kind",
        "oldObject.kind",
        "object['kind']",
        "request.kind.kind",
        "request.requestKind.kind",
    ];
    let is_kind = |text: String| KINDS.contains(&text.trim_start_matches('.'));
    ast.ids().any(|id| chain_text(ast, id).is_some_and(is_kind))
}

/// Whether two nodes are in different operands of one `||`; or of one `&&`, where that of the first one holds if its field is read with
/// a value that stands for none.
fn are_alternatives(ast: &Ast, one: ExprId, other: ExprId) -> bool {
    let mut at = ast.root;
    loop {
        let mut children = Vec::new();
        ast.expr(at).for_each_child(|child| children.push(child));
        let holder = |node: ExprId| children.iter().copied().find(|child| contains(ast, *child, node));
        match (holder(one), holder(other)) {
            (Some(first), Some(second)) if first == second => at = first,
            (Some(first), Some(_)) => {
                let Expr::Call { function, .. } = ast.expr(at) else {
                    return false;
                };
                return match &**function {
                    "_||_" => true,
                    "_&&_" => holds_of_nothing(ast, first, one),
                    _ => false,
                };
            }
            _ => return false,
        }
    }
}

/// Whether the operand of `&&` that has a node holds where what the node reads is read as false, zero or an empty text.
fn holds_of_nothing(ast: &Ast, junction: ExprId, node: ExprId) -> bool {
    let mut at = junction;
    loop {
        let Expr::Call { function, args, .. } = ast.expr(at) else {
            return false;
        };
        let is_literal = |wanted: fn(&Literal) -> bool| {
            args.iter()
                .any(|arg| matches!(ast.expr(*arg), Expr::Literal(literal) if wanted(literal)))
        };
        return match &**function {
            "_&&_" => match args.iter().find(|arg| contains(ast, **arg, node)) {
                Some(operand) => {
                    at = *operand;
                    continue;
                }
                None => false,
            },
            "!_" => true,
            "_==_" => is_literal(|literal| *literal == Literal::Bool(false)),
            "_!=_" => is_literal(|literal| match literal {
                Literal::Bool(value) => *value,
                Literal::String(text) => !text.is_empty(),
                Literal::Int(number) => *number != 0,
                _ => false,
            }),
            _ => false,
        };
    }
}

/// Whether a node is another one, or within it.
fn contains(ast: &Ast, holder: ExprId, node: ExprId) -> bool {
    let mut pending = vec![holder];
    while let Some(id) = pending.pop() {
        if id == node {
            return true;
        }
        ast.expr(id).for_each_child(|child| pending.push(child));
    }
    false
}

/// How often something fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FailureExtent {
    /// For each of them.
    Every,
    /// Whenever it is evaluated.
    Some,
}

/// How a node uses one of its operands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OperandUse {
    /// It selects from the operand's value.
    Start,
    /// It returns the operand's value if a condition holds.
    Branch,
}

/// The node that uses the value of another one.
fn holder(ast: &Ast, of: ExprId) -> Option<(ExprId, OperandUse)> {
    let holds = |id: ExprId| match ast.expr(id) {
        Expr::Select { operand, .. } if *operand == of => Some((id, OperandUse::Start)),
        Expr::Call {
            target: Some(target), ..
        } if *target == of => Some((id, OperandUse::Start)),
        Expr::Call {
            function,
            target: None,
            args,
        } => match (&**function, args.as_slice()) {
            ("_[_]" | "_?._" | "_[?_]", [operand, _]) if *operand == of => Some((id, OperandUse::Start)),
            ("_?_:_", [_, yes, no]) if *yes == of || *no == of => Some((id, OperandUse::Branch)),
            _ => None,
        },
        _ => None,
    };
    ast.ids().find_map(holds)
}
