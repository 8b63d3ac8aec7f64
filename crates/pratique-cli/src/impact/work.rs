//! Evaluates both sets of policies for a part of the inputs.

use std::cell::Cell;
use std::sync::Arc;

use pratique_json::Value;
#[cfg(feature = "kube")]
use pratique_kube::Page;
use pratique_replay::{API_VERSION, EventRequests, Located, Replayed, entries};
use pratique_request::AssumedResource;
use pratique_stream::{Form, Piece};
use pratique_types::admission;

use super::change::{Change, Row};
use super::source::Unit;
use crate::evaluation::assumed::depends_on_resource;
use crate::evaluation::decision::Decision;
use crate::evaluation::definitions::AssumedKind;
use crate::evaluation::expansion::{ExpansionRule, WorkloadPods};
use crate::evaluation::input_request::InputRequest;
use crate::evaluation::limitations::Limitations;
use crate::evaluation::request::RequestBuilder;
use crate::evaluation::result::ReviewResult;
use crate::evaluation::unexpanded::UnexpandedWorkloads;
use crate::explanation;
use crate::input::{InputError, InputObject, piece};
use crate::output::notice::Notice;
use crate::output::problems;
use crate::output::text::Text;
use crate::replay::decision::ReplayDecision;
use crate::replay::engine::{Engine, input};
use crate::replay::faults::Faults;
use crate::replay::log::LogReader;
use crate::replay::possible::without_object;
use crate::replay::subject::Subject;
use crate::replay::units::Unit as FileUnit;
use crate::stream::checkpoint::Mark;
#[cfg(feature = "kube")]
use crate::stream::cluster_objects::{self, ListedContent};
use crate::stream::etcd;
use crate::style::Style;
use pratique_review::Reviewer;

/// The results of a part of the inputs.
#[derive(Default)]
pub(super) struct Part {
    /// Where it begins.
    pub(super) start: Option<Mark>,
    pub(super) rows: Vec<Row>,
    pub(super) not_subject: u64,
    /// The resources that were assumed, with the places of objects.
    pub(super) assumed: Vec<AssumedKind>,
    pub(super) limitations: Limitations,
    /// Warnings about how the inputs are read.
    pub(super) notices: Vec<Notice>,
    /// Workloads of files whose Pods are not evaluated, and may be nowhere else.
    pub(super) unexpanded: UnexpandedWorkloads,
    pub(super) faults: Faults,
}

/// A set of policies, and what evaluates it.
pub(super) struct Side<'a> {
    pub(super) engine: &'a Engine,
    pub(super) evaluator: Reviewer<'a>,
}

/// Evaluates both sets of policies.
pub(super) struct Worker<'a> {
    pub(super) old: Side<'a>,
    pub(super) new: Side<'a>,
    /// Explains decisions of the new policies, if that is wanted.
    pub(super) explains: Option<Reviewer<'a>>,
    /// The style of explanations.
    pub(super) style: Style,
    pub(super) builder: RequestBuilder<'a>,
    /// Of which workloads the Pods are evaluated, for both sets.
    pub(super) expansion: ExpansionRule<'a>,
    /// Whether objects are those of files, and not all that a cluster has.
    pub(super) is_of_files: bool,
    pub(super) log: LogReader,
}

impl Worker<'_> {
    /// Evaluates a part of the inputs.
    pub(super) fn compare(&self, unit: Unit, emit: &mut dyn FnMut(Part)) {
        let mut part = Part::default();
        match unit {
            Unit::File(unit) => self.file(unit, &mut part),
            #[cfg(feature = "kube")]
            Unit::Listed(listed) => {
                part.start = listed.start;
                match listed.content {
                    ListedContent::Page(page) => self.page(&page, &listed.collection, &mut part),
                    ListedContent::Fault { fault, .. } => part.faults.add(fault),
                }
            }
        }
        emit(part);
    }

    fn file(&self, unit: FileUnit, part: &mut Part) {
        match unit {
            FileUnit::Piece { path, piece, start } => {
                part.start = Some(start);
                if is_log(&piece) {
                    for located in entries(&piece) {
                        self.entry(&path, located, part);
                    }
                } else {
                    self.objects(&path, &piece, part)
                }
            }
            FileUnit::Counted { path, piece } if is_log(&piece) => self.log.remember(&path, &piece),
            FileUnit::Counted { .. } => {}
            FileUnit::Fault(fault) => part.faults.add(fault),
        }
    }

    #[cfg(feature = "kube")]
    fn page(&self, page: &Page, collection: &str, part: &mut Part) {
        match cluster_objects::objects(page, collection) {
            Ok(objects) => objects.for_each(|(input, is_changed)| self.object(input, is_changed, part)),
            Err(fault) => part.faults.add(fault),
        }
    }

    fn objects(&self, path: &Arc<str>, piece: &Piece, part: &mut Part) {
        let objects = piece::read(path, piece);
        part.notices.extend(objects.reading_warnings());
        for fault in objects.faults {
            part.faults.add(fault);
        }
        for input in objects.objects {
            self.object(input, false, part);
        }
    }

    /// Compares the decisions on the creation of an object; `is_changed` is whether it has changed since it began to be listed.
    fn object(&self, input: InputObject<'_>, is_changed: bool, part: &mut Part) {
        // Whoever exports workloads exports their Pods.
        let has_pods = !self.is_of_files || etcd::is_item(&input.object);
        let input = match etcd::object(input) {
            Ok(Some(input)) => input,
            Ok(None) => return,
            Err(unread) => return part.faults.add(unread.fault),
        };
        let number = input.location.document + 1;
        let state = &self.new.engine.cluster.state;
        let input = match self.builder.input(input, &state.resolver, number) {
            Ok(built) => built,
            Err(error) => return part.faults.add(error),
        };
        if let (Ok(_), Some(objects)) = (&input.received, state.api_objects()) {
            let validates = self.new.engine.cluster.phases.preparation.validates;
            part.limitations
                .count(objects, &input, &state.unusable, validates);
        }
        let pods = self.expansion.pods_of(&input, has_pods);
        if self.is_of_files && matches!(pods, WorkloadPods::NotEvaluated) {
            part.unexpanded.count(&input, has_pods);
        }
        let subject = Subject::of(&input.request, "");
        self.request((input, &pods), subject, part, |row| Row {
            changed_meanwhile: is_changed,
            ..row
        });
    }

    fn entry(&self, path: &Arc<str>, located: Located<'_>, part: &mut Part) {
        let Some((location, replayed)) = self.log.read(path, located, &mut part.faults) else {
            return;
        };
        let Replayed { at, what, .. } = replayed;
        match what {
            EventRequests::NotSubject(_) => part.not_subject += 1,
            EventRequests::Unknown(why, request) => {
                let subject = Subject::of(&request, &at);
                let decided =
                    |side: &Side<'_>| ReplayDecision::without_policies(without_object(side.engine, &request));
                let row = Row::new(
                    problems::place(&location),
                    subject,
                    decided(&self.old),
                    decided(&self.new),
                );
                part.rows.push(row.unknown(why));
            }
            EventRequests::Requests(requests) => {
                for replayed in requests {
                    let subject = Subject::of(&replayed.request, &at);
                    let approximations = replayed.approximations.clone();
                    let input = input(replayed, location.clone());
                    let validates = self.new.engine.cluster.phases.preparation.validates;
                    part.limitations.count_unvalidated(&input, validates);
                    // A log has the requests for the Pods that there were.
                    let request = (input, &WorkloadPods::None);
                    self.request(request, subject, part, |row| row.approximated(approximations));
                }
            }
        }
    }

    fn request(
        &self,
        (input, pods): (InputRequest<'_>, &WorkloadPods),
        subject: Subject,
        part: &mut Part,
        complete: impl FnOnce(Row) -> Row,
    ) {
        let place = input.place();
        let kept = self.explains.as_ref().map(|_| input.clone());
        let assumed = AssumedResource::of(&input.request).filter(|_| input.received.is_ok());
        let kind = input.request.kind.clone();
        let depends = Cell::new(false);
        let decide = |side: &Side<'_>, input| {
            let decided = side.engine.evaluate(&side.evaluator, input, |mut result| {
                depends.set(depends.get() || depends_on_resource(&result.outcome));
                let mut decision = ReplayDecision::of(&mut result);
                if let Some(pod) = self.pod(pods, &result)? {
                    let of_pod = |mut result: ReviewResult<'_>| ReplayDecision::of(&mut result);
                    decision.add_pod(side.engine.evaluate(&side.evaluator, pod, of_pod)?);
                }
                Ok(decision)
            });
            decided.flatten()
        };
        let decided = decide(&self.old, input.clone()).and_then(|old| Ok((old, decide(&self.new, input)?)));
        match assumed {
            Some(assumed) if depends.get() => {
                let unusable = &self.new.engine.cluster.state.unusable;
                part.assumed.push(unusable.assumed(assumed, &kind, place.clone()));
            }
            Some(assumed) => part.limitations.count_unknown(assumed.kind, &place),
            None => {}
        }
        match decided {
            Ok((old, new)) => {
                let mut row = complete(Row::new(place, subject, old, new));
                if let (Change::NewlyRefused, Some(kept)) = (row.change, kept) {
                    row.explanation = self.explained(kept, pods);
                }
                part.rows.push(row);
            }
            Err(error) => part.faults.add(error),
        }
    }

    /// The request for the Pod of a workload that a set of policies decided about, if it is evaluated.
    fn pod<'r>(
        &self,
        pods: &WorkloadPods,
        result: &'r ReviewResult<'_>,
    ) -> Result<Option<InputRequest<'r>>, InputError> {
        let object = result.outcome.object.as_ref();
        let object = object.unwrap_or(&result.input.request.object);
        let decision = result.outcome.decision().into();
        self.expansion.counted_pod(pods, decision, object, result.input)
    }

    /// Why the new policies refuse a request, or the Pod of its workload.
    fn explained(&self, input: InputRequest<'_>, pods: &WorkloadPods) -> Option<Text> {
        let evaluator = self.explains.as_ref()?;
        let engine = self.new.engine;
        let excerpt = |result: ReviewResult<'_>| {
            let mut explanation = result.review.explanation?;
            engine.policies.locate(&mut explanation);
            Some(explanation::excerpt(&explanation, self.style))
        };
        let explained = engine.evaluate(evaluator, input, |result| {
            let is_refused = Decision::from(result.outcome.decision()) == Decision::Denied;
            match self.pod(pods, &result) {
                Ok(Some(pod)) if !is_refused => engine.evaluate(evaluator, pod, excerpt).ok().flatten(),
                _ => excerpt(result),
            }
        });
        explained.ok().flatten()
    }
}

/// Whether a piece is one of a log, by its first value.
pub(crate) fn is_log(piece: &Piece) -> bool {
    let text = match (&piece.form, piece.values.first()) {
        (Form::Items(list), _) => return list.api_version.as_deref() == Some(API_VERSION),
        (Form::Documents | Form::ListEnd(_), Some(value)) => piece.text.get(value.range.clone()),
        (Form::Documents | Form::ListEnd(_), None) => Some(piece.text.as_slice()),
    };
    let Ok(value) = pratique_json::parse(text.unwrap_or_default()) else {
        return false;
    };
    let version = value.get("apiVersion").and_then(Value::as_str);
    matches!(version, Some(API_VERSION | admission::API_VERSION))
}
