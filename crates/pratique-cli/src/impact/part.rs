//! A part of the inputs of a comparison: whatever is compared, the part is read in one way, and what reading tells is told in one.

use std::sync::Arc;

use pratique_json::Value;
use pratique_replay::{LocatedEntry, entries, is_log};
use pratique_request::AssumedResource;
use pratique_schema::Release;
use pratique_stream::Piece;
use pratique_types::GroupVersionKind;

use super::source::ImpactUnit;
use pratique_review::WorkloadPods;

use crate::acceptance::AcceptedFindings;
use crate::evaluation::assumptions::AssumedKinds;
use crate::evaluation::decision::read_decision;
use crate::evaluation::definitions::AssumedKind;
use crate::evaluation::expansion::ExpansionRule;
use crate::evaluation::input_request::InputRequest;
use crate::evaluation::limitations::ObjectLimitations;
use crate::evaluation::result::ReviewResult;
use crate::evaluation::unexpanded_workloads::UnexpandedWorkloads;
use crate::input::fields::PieceFields;
use crate::input::rendering::RenderedInputs;
use crate::input::{InputError, InputObject, piece};
use crate::output::notice::{InputNotice, InputNotices};
use crate::replay::engine::ReplayEngine;
use crate::replay::faults::InputFaults;
use crate::replay::log::LogReader;
use crate::replay::units::LogUnit as FileUnit;
use crate::stream::checkpoint::InputMark;
#[cfg(feature = "kube")]
use crate::stream::cluster_objects::{self, ListedContent};
use crate::stream::etcd;
use crate::stream::progress::ProgressLine;
use crate::stream::repeated_objects::NamedInput;

/// What came of a part: `results` is of the comparison, and the rest of how its inputs were read.
#[derive(Default)]
pub(crate) struct ComparisonPart<R> {
    /// Where it begins.
    pub(crate) start: Option<InputMark>,
    pub(crate) results: R,
    pub(crate) not_subject: u64,
    /// The resources that were assumed, with the places of objects.
    pub(crate) assumed: Vec<AssumedKind>,
    pub(crate) limitations: ObjectLimitations,
    /// The objects of files by their names, of which each should be there once.
    pub(crate) named: Vec<NamedInput>,
    /// Warnings about how the inputs are read.
    pub(crate) notices: Vec<InputNotice>,
    /// Workloads of files whose Pods are not evaluated, and may be nowhere else.
    pub(crate) unexpanded: UnexpandedWorkloads,
    pub(crate) accepted: AcceptedFindings,
    pub(crate) faults: InputFaults,
}

/// Something that compares what becomes of the inputs.
pub(crate) trait InputComparison {
    type Results: Default;

    fn log(&self) -> &LogReader;

    /// The release of the server that objects of files are sent to.
    fn release(&self) -> &'static Release;

    /// What objects were made of.
    fn rendered(&self) -> &RenderedInputs;

    /// Compares what becomes of the creation of an object; `is_changed` is whether it has changed since it began to be listed.
    fn object(&self, input: InputObject<'_>, is_changed: bool, part: &mut ComparisonPart<Self::Results>);

    /// Compares what becomes of the requests of an entry of a log.
    fn entry(&self, path: &Arc<str>, located: LocatedEntry<'_>, part: &mut ComparisonPart<Self::Results>);

    /// Compares what becomes of a part of the inputs.
    fn compare(&self, unit: ImpactUnit, emit: &mut dyn FnMut(ComparisonPart<Self::Results>)) {
        let mut part = ComparisonPart::default();
        match unit {
            ImpactUnit::File(unit) => self.file(unit, &mut part),
            #[cfg(feature = "kube")]
            ImpactUnit::Listed(listed) => {
                part.start = listed.start;
                match listed.content {
                    ListedContent::Page(page) => match cluster_objects::objects(&page, &listed.collection) {
                        Ok(objects) => {
                            objects.for_each(|(input, is_changed)| self.object(input, is_changed, &mut part));
                        }
                        Err(fault) => part.faults.add(fault),
                    },
                    ListedContent::Fault { fault, .. } => part.faults.add(fault),
                }
            }
        }
        emit(part);
    }

    /// Compares what becomes of a part of a file.
    fn file(&self, unit: FileUnit, part: &mut ComparisonPart<Self::Results>) {
        match unit {
            FileUnit::Piece { path, piece, start } => {
                part.start = Some(start);
                if is_log(&piece) {
                    for located in entries(&piece) {
                        self.entry(&path, located, part);
                    }
                } else {
                    self.objects(&path, &piece, part);
                }
            }
            FileUnit::Counted { path, piece } if is_log(&piece) => self.log().remember(&path, &piece),
            FileUnit::Counted { .. } => {}
            FileUnit::Fault(fault) => part.faults.add(fault),
        }
    }

    /// Compares what becomes of the objects in a part of a file.
    fn objects(&self, path: &Arc<str>, piece: &Piece, part: &mut ComparisonPart<Self::Results>) {
        let objects = piece::read(path, piece, self.release());
        part.notices.extend(objects.reading_warnings());
        for fault in objects.faults {
            part.faults.add(fault);
        }
        let fields = PieceFields::new(path, piece);
        for mut input in objects.objects {
            input.origin = self.rendered().origin(&fields, &input.location, &input.object);
            self.object(input, false, part);
        }
    }
}

impl<R> ComparisonPart<R> {
    /// Counts the object of a request by what is known of its kind.
    pub(crate) fn count_limitations(&mut self, input: &InputRequest<'_>, engine: &ReplayEngine) {
        let state = &engine.cluster.state;
        if let (Ok(_), Some(objects)) = (&input.received, state.api_objects()) {
            let validates = engine.cluster.phases.preparation.validates;
            self.limitations.count(objects, input, &state.unusable, validates);
        }
    }

    /// Adds the object of a request by its name, if it is one of a file.
    pub(crate) fn add_named(&mut self, input: &InputRequest<'_>, workloads: &WorkloadScope<'_>) {
        if workloads.is_of_files {
            self.named.extend(NamedInput::from_request(input, false));
        }
    }

    /// Counts a kind whose resource was assumed at a place; `depends` is whether a decision depends on the resource.
    pub(crate) fn count_assumed(
        &mut self,
        (resource, kind): (AssumedResource, &GroupVersionKind),
        place: &str,
        depends: bool,
        engine: &ReplayEngine,
    ) {
        if depends {
            let unusable = &engine.cluster.state.unusable;
            self.assumed
                .push(unusable.assumed(resource, kind, place.to_owned()));
        } else {
            self.limitations.count_unknown(resource.kind, place);
        }
    }

    /// Tells what is to be told of how the inputs were read. Kinds that are not known are kept for the end.
    pub(crate) fn tell(
        &mut self,
        (assumed, limitations): (&mut AssumedKinds, &mut ObjectLimitations),
        notices: &mut InputNotices,
        progress: &mut ProgressLine,
    ) {
        if !self.notices.is_empty() {
            progress.clear();
        }
        for notice in self.notices.drain(..) {
            notices.tell(notice);
        }
        self.assumed.drain(..).for_each(|kind| assumed.add(kind));
        limitations.add(std::mem::take(&mut self.limitations));
    }
}

/// Which Pods of workloads a comparison evaluates.
pub(crate) struct WorkloadScope<'a> {
    /// The same for both sides.
    pub(crate) expansion: ExpansionRule<'a>,
    /// Whether objects are those of files, and not all that a cluster has.
    pub(crate) is_of_files: bool,
}

impl WorkloadScope<'_> {
    /// Whether the Pods of an input are inputs themselves, if they exist: whoever exports workloads exports their Pods.
    pub(crate) fn has_pods(&self, object: &Value<'_>) -> bool {
        !self.is_of_files || etcd::is_item(object)
    }

    /// The Pods of the object of a request, which counts where they are not evaluated and may be nowhere else.
    pub(crate) fn pods_of(
        &self,
        input: &InputRequest<'_>,
        has_pods: bool,
        unexpanded: &mut UnexpandedWorkloads,
    ) -> WorkloadPods {
        let pods = self.expansion.pods_of(input, has_pods);
        if self.is_of_files {
            unexpanded.count(&pods, input, has_pods);
        }
        pods
    }

    /// The request for the Pod of a workload that one side decided about, if it is evaluated.
    ///
    /// # Errors
    /// The workload has no Pod template.
    pub(crate) fn pod<'r>(
        &self,
        pods: &WorkloadPods,
        result: &'r ReviewResult<'_>,
    ) -> Result<Option<InputRequest<'r>>, InputError> {
        let object = result.outcome.object.as_ref();
        let object = object.unwrap_or(&result.input.request.object);
        let decision = read_decision(&result.outcome);
        self.expansion.counted_pod(pods, decision, object, result.input)
    }
}
