//! Evaluates a part of the inputs, up to what is counted and printed.

use pratique::Admission;
use pratique_json::Value;
#[cfg(feature = "kube")]
use pratique_kube::ListPage;
use pratique_report::{InputShard, owner_of, uid_of};
use pratique_request::{AssumedResource, kind_of, options, review};
use pratique_types::Operation;
use serde::Serialize;

use super::evaluation::ControlledDecision;
use super::plugins::{PluginRun, concerns};
use super::source::{ScanUnit, UnitContent};
use crate::acceptance::AcceptanceRules;
use crate::evaluation::assumptions::depends_on_resource;
use crate::evaluation::definitions::AssumedKind;
use crate::evaluation::expansion::ExpansionRule;
use crate::evaluation::input_request::InputRequest;
use crate::evaluation::limitations::ObjectLimitations;
use crate::evaluation::record::DecisionRecord;
use crate::evaluation::request::RequestBuilder;
use crate::evaluation::result::ReviewResult;
use crate::evaluation::state::ClusterState;
use crate::evaluation::unexpanded_workloads::UnexpandedWorkloads;
use crate::exit::CliError;
use crate::input::fields::PieceFields;
use crate::input::rendering::RenderedInputs;
use crate::input::{InputError, InputObject, piece};
use crate::output::PrintedOutput;
use crate::output::notice::InputNotice;
use crate::output::text::PrintableText;
use crate::stream::checkpoint::InputMark;
#[cfg(feature = "kube")]
use crate::stream::cluster_objects;
use crate::stream::etcd::{self, UnreadableItem};
use crate::stream::input_errors::{ErrorLine, JsonError, described};
use crate::stream::ordered_work::UnitTurn;
use crate::stream::repeated_objects::NamedInput;
use crate::stream::stable_hash::hash_bytes;
use crate::style::StreamStyle;
use pratique_review::Reviewer;

/// Evaluates objects.
pub(super) struct ObjectScanner<'a> {
    pub(super) builder: RequestBuilder<'a>,
    pub(super) operation: Operation,
    pub(super) evaluator: Reviewer<'a>,
    /// Has the plugins that are evaluated besides policies.
    pub(super) admission: &'a Admission,
    /// Whether there is an output of lines.
    pub(super) prints_lines: bool,
    /// Whether an output has the fields that findings are about, which are looked for only then.
    pub(super) shows_fields: bool,
    /// Of which workloads the Pods are evaluated.
    pub(super) expansion: ExpansionRule<'a>,
    /// Whether the objects are those of files, and not all that a cluster has.
    pub(super) is_of_files: bool,
    /// Whether the Pods that exist are among the objects.
    pub(super) has_pods: bool,
    pub(super) shard: InputShard,
    /// Which findings are accepted.
    pub(super) acceptance: &'a AcceptanceRules,
    /// What objects were made of.
    pub(super) rendered: RenderedInputs,
}

/// The results of a part of the inputs.
#[derive(Default)]
pub(super) struct ScannedPart {
    /// Where it begins, in its first part.
    pub(super) start: Option<InputMark>,
    pub(super) found: Vec<ControlledDecision>,
    pub(super) failed: Vec<FailedObject>,
    pub(super) notices: Vec<InputNotice>,
    /// The objects of files by their names, of which each should be there once.
    pub(super) named: Vec<NamedInput>,
    /// The resources that were assumed, with the places of objects.
    pub(super) assumed: Vec<AssumedKind>,
    pub(super) limitations: ObjectLimitations,
    /// Workloads of files whose Pods are not evaluated, and may be nowhere else.
    pub(super) unexpanded: UnexpandedWorkloads,
    /// The output.
    pub(super) out: PrintedOutput,
    /// Ends the command.
    pub(super) fatal: Option<CliError>,
}

/// The decision on an object.
struct DecidedObject {
    record: DecisionRecord,
    /// The object, if policies change it.
    changed: Option<Value<'static>>,
    /// Whether it is known that no policy matched it, nor a plugin decides about such objects.
    is_unmatched: bool,
}

/// An object that could not be read or evaluated.
pub(super) struct FailedObject {
    pub(super) text: PrintableText,
    pub(super) error: JsonError,
    /// Its API version and kind, if these are known.
    pub(super) kind: Option<(String, String)>,
}

/// A line of output about an object.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ObjectLine<'a> {
    #[serde(flatten)]
    record: &'a DecisionRecord,
    #[serde(skip_serializing_if = "str::is_empty")]
    owner: &'a str,
    /// Whether it changed while objects were listed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    changed_meanwhile: bool,
}

/// An object, and whether its Pods are inputs as well.
struct ScannedInput<'t> {
    object: InputObject<'t>,
    has_pods: bool,
}

/// `None` for what is no object.
type DecodedInput<'t> = Result<Option<ScannedInput<'t>>, Box<UnreadableItem>>;

impl ObjectScanner<'_> {
    /// Evaluates a part of the inputs.
    pub(super) fn scan(&self, unit: ScanUnit, turn: UnitTurn, emit: &mut dyn FnMut(ScannedPart)) {
        let mut scanned = ScannedPart {
            start: unit.start,
            ..ScannedPart::default()
        };
        let is_shared = unit.is_shared;
        match unit.content {
            #[cfg(feature = "kube")]
            UnitContent::Page(page) => self.page(&page, &unit.file, is_shared, &unit.state, &mut scanned),
            UnitContent::Piece(piece) => {
                let objects = piece::read(&unit.file, &piece, unit.state.release());
                let fields = PieceFields::new(&unit.file, &piece);
                scanned.notices.extend(objects.reading_warnings());
                for fault in objects.faults {
                    self.fault(fault, None, is_shared, &mut scanned);
                }
                let is_own = |input: &InputObject<'_>| {
                    let (document, item) = (input.location.document, input.item);
                    !is_shared || self.is_own(&format!("{} {document} {item}", unit.file))
                };
                let decoded: Vec<DecodedInput<'_>> = objects
                    .objects
                    .into_iter()
                    .filter(is_own)
                    .map(|input| self.decode(input))
                    .collect();
                let is_in_order =
                    |input: &ScannedInput<'_>| self.evaluator.keeps_order_of(&input.object.object);
                let _turn = turn.begin_if(decoded.iter().flatten().flatten().any(is_in_order));
                for input in decoded {
                    self.object(input, false, (&unit.state, Some(&fields)), &mut scanned);
                }
            }
            UnitContent::Notices(notices) => scanned.notices.extend(notices),
            UnitContent::Fault { fault, kind } => self.fault(fault, kind, is_shared, &mut scanned),
        }
        emit(scanned);
    }

    /// Evaluates the objects of a page of a collection.
    #[cfg(feature = "kube")]
    fn page(
        &self,
        page: &ListPage,
        collection: &str,
        is_shared: bool,
        state: &ClusterState,
        scanned: &mut ScannedPart,
    ) {
        let objects = match cluster_objects::objects(page, collection) {
            Ok(objects) => objects,
            Err(fault) => return self.fault(fault, None, is_shared, scanned),
        };
        for (input, is_changed) in objects {
            if !is_shared || self.is_own(&input.location.file) {
                self.object(self.decode(input), is_changed, (state, None), scanned);
            }
        }
    }

    /// The object itself, or that of an item of an export.
    fn decode<'t>(&self, input: InputObject<'t>) -> DecodedInput<'t> {
        // Whoever exports workloads exports their Pods.
        let has_pods = self.has_pods || etcd::is_item(&input.object);
        let object = etcd::object(input)?;
        Ok(object.map(|object| ScannedInput { object, has_pods }))
    }

    /// Evaluates an object; `is_changed` is whether it has changed since it began to be listed.
    fn object(
        &self,
        decoded: DecodedInput<'_>,
        is_changed: bool,
        (state, fields): (&ClusterState, Option<&PieceFields<'_>>),
        scanned: &mut ScannedPart,
    ) {
        let (mut input, has_pods) = match decoded {
            Ok(Some(input)) => (input.object, input.has_pods),
            Ok(None) => return,
            Err(unread) => return self.fault(unread.fault, unread.kind, false, scanned),
        };
        input.origin = fields.and_then(|fields| self.rendered.origin(fields, &input.location, &input.object));
        let kind = kind_of(&input.object).ok();
        let kind = kind.map(|kind| (kind.api_version(), kind.kind));
        if review::is_review(&input.object) {
            let place = input.place();
            let why = "it is a request, and not an object: `pratique review` evaluates it".to_owned();
            return self.fault(InputError::Faulty { place, why }, kind, false, scanned);
        }
        let evaluated = self.evaluate(input, has_pods, (state, fields), scanned);
        match evaluated {
            Ok(mut controlled_decision) => {
                controlled_decision.is_changed = is_changed;
                self.found(controlled_decision, scanned);
            }
            Err(error) => self.fault(error, kind, false, scanned),
        }
    }

    fn evaluate(
        &self,
        input: InputObject<'_>,
        has_pods: bool,
        (state, fields): (&ClusterState, Option<&PieceFields<'_>>),
        scanned: &mut ScannedPart,
    ) -> Result<ControlledDecision, InputError> {
        let number = input.location.document + 1;
        let (owner, uid) = (owner_of(&input.object), uid_of(&input.object).to_owned());
        let mut input = self.builder.input(input, &state.view.resolver, number)?;
        if self.is_of_files {
            scanned.named.extend(NamedInput::from_request(&input, false));
        }
        let changed_state = state.at(&input.location, &input.request.namespace);
        let state = changed_state.as_deref().unwrap_or(state);
        if self.operation == Operation::Update {
            let request = &mut input.request;
            request.operation = Operation::Update;
            request.options = options(Operation::Update, false);
            request.old_object = request.object.clone();
        }
        let pods = self.expansion.pods_of(&input, has_pods);
        if self.is_of_files {
            scanned.unexpanded.count(&pods, &input, has_pods);
        }
        let mut decided = self.decide(&mut input, (state, fields), scanned)?;
        let object = decided.changed.as_ref().unwrap_or(&input.request.object);
        let decision = decided.record.decision;
        if let Some(mut pod) = self.expansion.counted_pod(&pods, decision, object, &input)? {
            let of_pod = self.decide(&mut pod, (state, fields), scanned)?;
            decided.record.add_pod(of_pod.record);
            decided.is_unmatched &= of_pod.is_unmatched;
        }
        self.acceptance.apply(&mut decided.record, &input.request.object);
        let mut decision = ControlledDecision::new(decided.record, owner, uid, input.place());
        decision.is_unmatched = decided.is_unmatched;
        Ok(decision)
    }

    /// Decides about a request, whose object it completes.
    fn decide(
        &self,
        input: &mut InputRequest<'_>,
        (state, fields): (&ClusterState, Option<&PieceFields<'_>>),
        scanned: &mut ScannedPart,
    ) -> Result<DecidedObject, InputError> {
        let prepared = self.evaluator.prepare(input, state.api_objects());
        if let (Ok(_), Some(objects)) = (&input.received, state.api_objects()) {
            let validates = self.evaluator.validates();
            scanned
                .limitations
                .count(objects, input, &state.unusable, validates);
        }
        let is_received = prepared.refusal(input).is_none();
        let plugins = state.plugins().filter(|_| is_received);
        let mut plugins = plugins.map(|plugins| PluginRun::new(self.admission, plugins.context()));
        if let Some(plugins) = &mut plugins {
            plugins.admit(&mut input.request);
        }
        let review = self.evaluator.decide(&state.view.objects, input, &prepared);
        let review = review.map_err(|why| input.unfinished(&why))?;
        let mut result = ReviewResult::new(input, review);
        let place = input.place();
        if let Some(assumed) = AssumedResource::from_request(&input.request) {
            if depends_on_resource(&result.outcome) {
                let kind = &input.request.kind;
                let assumed = state.unusable.assumed(assumed, kind, place.clone());
                scanned.assumed.push(assumed);
            } else if input.received.is_ok() {
                scanned.limitations.count_unknown(assumed.kind, &place);
            }
        }
        let fields = fields.filter(|_| self.shows_fields);
        result.place_causes(fields);
        result.place_drops(fields);
        result.place_warnings(fields);
        let mut record = DecisionRecord::new(&mut result);
        if let Some(mut plugins) = plugins {
            let object = result.outcome.object.as_ref().unwrap_or(&input.request.object);
            // Nothing validates what is invalid.
            if record.invalid.is_empty() {
                plugins.validate(&input.request, object);
            }
            plugins.add_to(&mut record);
        }
        let resource = input.request.resource.group_resource();
        let mut plugin_names = self.admission.plugin_names();
        let is_unmatched = result.is_unmatched && !plugin_names.any(|name| concerns(name, &resource));
        Ok(DecidedObject {
            record,
            changed: result.review.outcome.object.take(),
            is_unmatched,
        })
    }

    fn found(&self, controlled_decision: ControlledDecision, scanned: &mut ScannedPart) {
        if self.prints_lines && controlled_decision.has_findings() {
            let line = ObjectLine {
                record: &controlled_decision.record,
                owner: &controlled_decision.owner,
                changed_meanwhile: controlled_decision.is_changed,
            };
            if let Err(error) = scanned.out.json_line(&line) {
                scanned.fatal = Some(error);
            }
        }
        scanned.found.push(controlled_decision);
    }

    fn fault(
        &self,
        fault: InputError,
        kind: Option<(String, String)>,
        is_shared: bool,
        scanned: &mut ScannedPart,
    ) {
        let (text, errors) = match described(fault, StreamStyle::of_stderr()) {
            Ok(described) => described,
            Err(error) => {
                scanned.fatal = Some(error);
                return;
            }
        };
        let item_errors = errors
            .into_iter()
            .filter(|error| !is_shared || self.is_own(&error.place));
        for (index, error) in item_errors.enumerate() {
            if self.prints_lines
                && let Err(error) = scanned.out.json_line(&ErrorLine { error: &error })
            {
                scanned.fatal = Some(error);
            }
            scanned.failed.push(FailedObject {
                // The text is about all of them.
                text: if index == 0 {
                    text.clone()
                } else {
                    PrintableText::new()
                },
                error,
                kind: kind.clone(),
            });
        }
    }

    /// Whether something belongs to the shard, by a name that is the same for all shards.
    fn is_own(&self, name: &str) -> bool {
        hash_bytes(name.bytes()) % u64::from(self.shard.of.max(1)) == u64::from(self.shard.index)
    }
}
