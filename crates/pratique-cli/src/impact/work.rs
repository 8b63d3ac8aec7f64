//! Evaluates both sets of policies for a part of the inputs.

use std::cell::Cell;
use std::sync::Arc;

use pratique_replay::{EventRequests, LocatedEntry, ReplayResult};
use pratique_request::AssumedResource;

use super::change::{DecisionChange, ImpactRow};
use super::part::{ComparisonPart, InputComparison, WorkloadScope};
use crate::acceptance::{AcceptanceRules, AcceptedFindings};
use crate::evaluation::assumptions::depends_on_resource;
use crate::evaluation::decision::read_decision;
use crate::evaluation::input_request::InputRequest;
use crate::evaluation::request::RequestBuilder;
use crate::evaluation::result::ReviewResult;
use crate::explanation;
use crate::input::InputObject;
use crate::input::rendering::RenderedInputs;
use crate::output::problems;
use crate::output::text::PrintableText;
use crate::replay::decision::ReplayDecision;
use crate::replay::engine::{ReplayEngine, input};
use crate::replay::log::LogReader;
use crate::replay::possible::without_object;
use crate::replay::subject::RequestSubject;
use crate::stream::etcd;
use crate::style::StreamStyle;
use pratique_review::{Reviewer, WorkloadPods};
use pratique_schema::Release;

/// The decisions about the requests of a part of the inputs.
pub(super) type ImpactPart = ComparisonPart<Vec<ImpactRow>>;

/// A set of policies, and what evaluates it.
pub(super) struct PolicySide<'a> {
    pub(super) engine: &'a ReplayEngine,
    pub(super) evaluator: Reviewer<'a>,
}

/// Evaluates both sets of policies.
pub(super) struct ImpactWorker<'a> {
    pub(super) old: PolicySide<'a>,
    pub(super) new: PolicySide<'a>,
    /// Explains decisions of the new policies, if that is wanted.
    pub(super) explains: Option<Reviewer<'a>>,
    /// The style of explanations.
    pub(super) style: StreamStyle,
    pub(super) builder: RequestBuilder<'a>,
    pub(super) workloads: WorkloadScope<'a>,
    pub(super) log: LogReader,
    /// What objects were made of.
    pub(super) rendered: RenderedInputs,
    /// Which findings of the new policies are accepted.
    pub(super) acceptance: &'a AcceptanceRules,
}

impl InputComparison for ImpactWorker<'_> {
    type Results = Vec<ImpactRow>;

    fn log(&self) -> &LogReader {
        &self.log
    }

    fn release(&self) -> &'static Release {
        self.new.engine.cluster.gates.release()
    }

    fn rendered(&self) -> &RenderedInputs {
        &self.rendered
    }

    fn object(&self, input: InputObject<'_>, is_changed: bool, part: &mut ImpactPart) {
        let has_pods = self.workloads.has_pods(&input.object);
        let input = match etcd::object(input) {
            Ok(Some(input)) => input,
            Ok(None) => return,
            Err(unread) => return part.faults.add(unread.fault),
        };
        let number = input.location.document + 1;
        let state = &self.new.engine.cluster.state;
        let input = match self.builder.input(input, &state.view.resolver, number) {
            Ok(built) => built,
            Err(error) => return part.faults.add(error),
        };
        part.count_limitations(&input, self.new.engine);
        part.add_named(&input, &self.workloads);
        let pods = self.workloads.pods_of(&input, has_pods, &mut part.unexpanded);
        let subject = RequestSubject::from_request(&input.request, "");
        self.request((input, &pods), subject, part, |row| ImpactRow {
            changed_meanwhile: is_changed,
            ..row
        });
    }

    fn entry(&self, path: &Arc<str>, located: LocatedEntry<'_>, part: &mut ImpactPart) {
        let Some((location, replayed)) = self.log.read(path, located, &mut part.faults) else {
            return;
        };
        let ReplayResult { at, what, .. } = replayed;
        match what {
            EventRequests::NotSubject(_) => part.not_subject += 1,
            EventRequests::Unknown(why, request) => {
                let subject = RequestSubject::from_request(&request, &at);
                let decided = |side: &PolicySide<'_>| {
                    ReplayDecision::without_policies(without_object(side.engine, (&request, why)))
                };
                let row = ImpactRow::new(
                    problems::place(&location),
                    subject,
                    decided(&self.old),
                    decided(&self.new),
                );
                part.results.push(row.unknown(why));
            }
            EventRequests::Requests(requests) => {
                for replayed in requests {
                    let subject = RequestSubject::from_request(&replayed.request, &at);
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
}

impl ImpactWorker<'_> {
    fn request(
        &self,
        (input, pods): (InputRequest<'_>, &WorkloadPods),
        subject: RequestSubject,
        part: &mut ImpactPart,
        complete: impl FnOnce(ImpactRow) -> ImpactRow,
    ) {
        let place = input.place();
        let kept = self.explains.as_ref().map(|_| input.clone());
        let assumed = AssumedResource::from_request(&input.request).filter(|_| input.received.is_ok());
        let kind = input.request.kind.clone();
        let depends = Cell::new(false);
        let none = AcceptanceRules::default();
        let mut accepted = AcceptedFindings::default();
        let mut decide = |side: &PolicySide<'_>, input, acceptance: &AcceptanceRules| {
            let decided = side.engine.evaluate(&side.evaluator, input, |mut result| {
                depends.set(depends.get() || depends_on_resource(&result.outcome));
                let mut decision = ReplayDecision::of_accepting(&mut result, acceptance, &mut accepted);
                if let Some(pod) = self.workloads.pod(pods, &result)? {
                    let of_pod = |mut result: ReviewResult<'_>| {
                        ReplayDecision::of_accepting(&mut result, acceptance, &mut accepted)
                    };
                    decision.add_pod(side.engine.evaluate(&side.evaluator, pod, of_pod)?);
                }
                Ok(decision)
            });
            decided.flatten()
        };
        let decided = decide(&self.old, input.clone(), &none)
            .and_then(|old| Ok((old, decide(&self.new, input, self.acceptance)?)));
        part.accepted.add(accepted);
        if let Some(assumed) = assumed {
            part.count_assumed((assumed, &kind), &place, depends.get(), self.new.engine);
        }
        match decided {
            Ok((old, new)) => {
                let mut row = complete(ImpactRow::new(place, subject, old, new));
                if let (DecisionChange::NewlyRefused, Some(kept)) = (row.change, kept) {
                    row.explanation = self.explained(kept, pods);
                }
                part.results.push(row);
            }
            Err(error) => part.faults.add(error),
        }
    }

    /// Why the new policies refuse a request, or the Pod of its workload.
    fn explained(&self, input: InputRequest<'_>, pods: &WorkloadPods) -> Option<PrintableText> {
        let evaluator = self.explains.as_ref()?;
        let engine = self.new.engine;
        let excerpt = |result: ReviewResult<'_>| {
            let mut explanation = result.review.explanation?;
            engine.policies.locate(&mut explanation);
            Some(explanation::excerpt(&explanation, self.style))
        };
        let explained = engine.evaluate(evaluator, input, |result| {
            let is_refused = read_decision(&result.outcome).denies();
            match self.workloads.pod(pods, &result) {
                Ok(Some(pod)) if !is_refused => engine.evaluate(evaluator, pod, excerpt).ok().flatten(),
                _ => excerpt(result),
            }
        });
        explained.ok().flatten()
    }
}
