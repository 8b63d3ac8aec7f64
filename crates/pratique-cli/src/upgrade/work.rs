//! Evaluates a part of the inputs as servers of both releases do.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

use pratique_json::Value;
use pratique_replay::{
    EventRequests, LocatedEntry, ReplayRequest, ReplayResult, RequestApproximation, UnknownRequest,
};
use pratique_report::Decision;
use pratique_request::{AssumedResource, RequestTemplate, Resolution, kind_of};
use pratique_review::{ReceiveFailure, Reviewer, WorkloadPods};
use pratique_schema::{FeatureGates, Release};
use pratique_typed::decode::received_in;
use pratique_types::{GroupVersionKind, Operation};

use super::compare::{SideReview, compare};
use super::finding::{UpgradeFinding, UpgradeRule};
use super::server_command::ServerCommand;
use super::unmatched_rules::unmatched_rules;
use super::{versions, webhooks};
use crate::evaluation::assumptions::depends_on_resource;
use crate::evaluation::input_request::InputRequest;
use crate::evaluation::request::RequestBuilder;
use crate::evaluation::result::ReviewResult;
use crate::impact::part::{ComparisonPart, InputComparison, WorkloadScope};
use crate::input::rendering::RenderedInputs;
use crate::input::{InputError, InputObject};
use crate::output::notice::{InputNotice, NOT_EVALUATED};
use crate::output::problems;
use crate::replay::decision::ReplayDecision;
use crate::replay::engine::{ReplayEngine, input};
use crate::replay::log::LogReader;
use crate::replay::possible::without_object;
use crate::replay::subject::RequestSubject;
use crate::stream::etcd;

/// What becomes of the requests of a part of the inputs.
#[derive(Default)]
pub(super) struct UpgradeResults {
    pub(super) findings: Vec<UpgradeFinding>,
    pub(super) requests: u64,
    /// The requests of which both releases make the same.
    pub(super) same: u64,
    pub(super) changed_meanwhile: u64,
    /// Why the log does not have enough of some requests.
    pub(super) unknown: Vec<UnknownRequest>,
    pub(super) approximations: Vec<RequestApproximation>,
}

pub(super) type UpgradePart = ComparisonPart<UpgradeResults>;

/// A server of a release.
pub(super) struct UpgradeSide<'a> {
    pub(super) engine: &'a ReplayEngine,
    pub(super) evaluator: Reviewer<'a>,
    pub(super) gates: FeatureGates,
}

/// Evaluates requests as servers of both releases do.
pub(super) struct UpgradeWorker<'a> {
    pub(super) old: UpgradeSide<'a>,
    pub(super) new: UpgradeSide<'a>,
    pub(super) builder: RequestBuilder<'a>,
    pub(super) workloads: WorkloadScope<'a>,
    pub(super) log: LogReader,
    /// What objects were made of.
    pub(super) rendered: RenderedInputs,
    /// Whether an AdmissionConfiguration was given.
    pub(super) has_configuration: bool,
}

impl InputComparison for UpgradeWorker<'_> {
    type Results = UpgradeResults;

    fn log(&self) -> &LogReader {
        &self.log
    }

    fn release(&self) -> &'static Release {
        reading_release()
    }

    fn rendered(&self) -> &RenderedInputs {
        &self.rendered
    }

    fn object(&self, input: InputObject<'_>, is_changed: bool, part: &mut UpgradePart) {
        part.results.changed_meanwhile += u64::from(is_changed);
        let has_pods = self.workloads.has_pods(&input.object);
        let input = match etcd::object(input) {
            Ok(Some(input)) => input,
            Ok(None) => return,
            Err(unread) => return part.faults.add(unread.fault),
        };
        let requests = [&self.old, &self.new].map(|side| self.request_of(side, input.clone()));
        let [old, new] = match requests {
            [Ok(old), Ok(new)] => [old, new],
            [Err(error), _] | [_, Err(error)] => return part.faults.add(error),
        };
        part.count_limitations(&new.0, self.new.engine);
        part.add_named(&new.0, &self.workloads);
        let pods = self.workloads.pods_of(&new.0, has_pods, &mut part.unexpanded);
        // Whoever creates it is not in the inputs.
        let mut subject = RequestSubject::from_request(&new.0.request, "");
        subject.user.clear();
        let subject = subject.to_string();
        if let Some(command) = ServerCommand::from_pod(&new.0.request.object, "") {
            let place = new.0.place();
            let findings = command.findings(self.new.gates.release()).into_iter();
            part.results
                .findings
                .extend(findings.map(|finding| finding.at(&place)));
            if let (Some(path), false) = (&command.configuration, self.has_configuration) {
                let message = format!(
                    "--admission-control-config-file {path} is not compared: give it with the flag of that name"
                );
                part.notices.push(InputNotice::new(NOT_EVALUATED, place, message));
            }
        }
        self.review_both([old, new], &pods, &subject, part);
    }

    fn entry(&self, path: &Arc<str>, located: LocatedEntry<'_>, part: &mut UpgradePart) {
        let Some((location, replayed)) = self.log.read(path, located, &mut part.faults) else {
            return;
        };
        let ReplayResult { at, what, .. } = replayed;
        match what {
            EventRequests::NotSubject(_) => part.not_subject += 1,
            EventRequests::Unknown(why, request) => {
                let place = problems::place(&location);
                let subject = RequestSubject::from_request(&request, &at).to_string();
                let release = self.new.gates.release();
                // The name of the kind is that of the object.
                let of_resource = || versions::kind_of_resource(&request.resource, self.old.gates.release());
                let kind = match request.kind.kind.as_str() {
                    "" => of_resource().unwrap_or_else(|| request.kind.clone()),
                    _ => request.kind.clone(),
                };
                let kind = &kind;
                let about = match kind.kind.as_str() {
                    "" => request.resource.to_string(),
                    _ => versions::named(kind),
                };
                let mut findings = Vec::new();
                if request.sub_resource.is_empty() {
                    findings.extend(versions::findings(kind, &Value::Null, release));
                }
                let sides = [&self.old, &self.new];
                let reviews = sides.map(|side| {
                    let unserved = unserved(side, kind, &request.sub_resource).map(|(_, help)| help);
                    let decision = match unserved {
                        Some(_) => Decision::Denied,
                        None => without_object(side.engine, (&request, why)),
                    };
                    SideReview {
                        decision: ReplayDecision::without_policies(decision),
                        object: None,
                        costs: Vec::new(),
                        unserved,
                        is_gone: versions::is_gone(kind, side.gates.release()),
                        unknown_fields: BTreeSet::new(),
                    }
                });
                let [old, new] = &reviews;
                let mut compared = compare(old, new, &about);
                // What its object is could be refused by either release, whatever policies decide.
                if compared.is_empty() && matches!(request.operation, Operation::Create | Operation::Update) {
                    let message = "the log does not have its object";
                    compared.push(UpgradeRule::Undecided.about(about, message));
                }
                findings.extend(compared);
                part.results.unknown.push(why);
                count(findings, &place, &subject, part);
            }
            EventRequests::Requests(requests) => {
                for replayed in requests {
                    self.replayed(replayed, &location, &at, part);
                }
            }
        }
    }
}

impl UpgradeWorker<'_> {
    /// The request that creates an object, as the server of a side decodes it, with its messages about unknown fields.
    fn request_of<'t>(
        &self,
        side: &UpgradeSide<'_>,
        input: InputObject<'t>,
    ) -> Result<(InputRequest<'t>, BTreeSet<String>), InputError> {
        let number = input.location.document + 1;
        let received = match kind_of(&input.object) {
            Ok(kind) => decoded(side.gates.release(), &kind, &input.object, &input.received),
            // The builder says so.
            Err(_) => Ok(Vec::new()),
        };
        let unknown = unknown_fields(&received);
        let input = InputObject { received, ..input };
        let resolver = &side.engine.cluster.state.view.resolver;
        let request = self.builder.input(input, resolver, number)?;
        Ok((request, unknown))
    }

    /// Compares what becomes of a request of a log, whose object a client would send again.
    fn replayed(
        &self,
        replayed: ReplayRequest<'_>,
        location: &pratique_manifest::Location,
        at: &str,
        part: &mut UpgradePart,
    ) {
        let subject = RequestSubject::from_request(&replayed.request, at).to_string();
        part.results.approximations.extend(&replayed.approximations);
        let request = input(replayed, location.clone());
        let is_written = matches!(request.request.operation, Operation::Create | Operation::Update)
            && request.request.sub_resource.is_empty()
            && !request.request.object.is_null();
        let both = [&self.old, &self.new].map(|side| {
            let mut request = request.clone();
            let kind = &request.request.kind;
            let mut unknown = BTreeSet::new();
            let received = match unserved(side, kind, &request.request.sub_resource) {
                Some((failure, _)) => Err(failure),
                None if is_written => {
                    let received = decoded(
                        side.gates.release(),
                        kind,
                        &request.request.object,
                        &Ok(Vec::new()),
                    );
                    unknown = unknown_fields(&received);
                    received.map_err(ReceiveFailure::from)
                }
                None => Ok(Vec::new()),
            };
            request.input.is_sent &= !is_written;
            request.input.received = received;
            (request, unknown)
        });
        // A log has the requests for the Pods that there were.
        self.review_both(both, &WorkloadPods::None, &subject, part);
    }

    /// Reviews a request on both sides, and counts what differs.
    fn review_both(
        &self,
        [old, new]: [(InputRequest<'_>, BTreeSet<String>); 2],
        pods: &WorkloadPods,
        subject: &str,
        part: &mut UpgradePart,
    ) {
        let (place, request) = (new.0.place(), &new.0.request);
        let kind = request.kind.clone();
        let (old_gates, new_gates) = (self.old.gates, self.new.gates);
        let mut findings = Vec::new();
        if request.sub_resource.is_empty() {
            findings.extend(versions::findings(&kind, new.0.object(), new_gates.release()));
        }
        if webhooks::is_webhook_configuration(&kind) && request.operation != Operation::Delete {
            findings.extend(webhooks::excluded(&request.object, old_gates, new_gates));
        }
        if request.sub_resource.is_empty() && request.operation != Operation::Delete {
            let releases = [old_gates.release(), new_gates.release()];
            findings.extend(unmatched_rules(&kind, &request.object, releases));
        }
        let assumed = AssumedResource::from_request(request).filter(|_| new.0.received.is_ok());
        let depends = Cell::new(false);
        let reviewed = self
            .review(&self.old, old, pods, &depends)
            .and_then(|old| Ok((old, self.review(&self.new, new, pods, &depends)?)));
        if let Some(assumed) = assumed {
            part.count_assumed((assumed, &kind), &place, depends.get(), self.new.engine);
        }
        match reviewed {
            Ok((old, new)) => {
                findings.extend(compare(&old, &new, &versions::named(&kind)));
                count(findings, &place, subject, part);
            }
            Err(error) => part.faults.add(error),
        }
    }

    fn review(
        &self,
        side: &UpgradeSide<'_>,
        (input, unknown_fields): (InputRequest<'_>, BTreeSet<String>),
        pods: &WorkloadPods,
        depends: &Cell<bool>,
    ) -> Result<SideReview, InputError> {
        let unserved = input.help().map(str::to_owned);
        let is_gone = versions::is_gone(&input.request.kind, side.gates.release());
        let reviewed = side.engine.evaluate(&side.evaluator, input, |mut result| {
            depends.set(depends.get() || depends_on_resource(&result.outcome));
            let mut costs = std::mem::take(&mut result.costs);
            let mut decision = ReplayDecision::new(&mut result);
            if let Some(pod) = self.workloads.pod(pods, &result)? {
                let of_pod = |mut result: ReviewResult<'_>| {
                    let costs = std::mem::take(&mut result.costs);
                    (ReplayDecision::new(&mut result), costs)
                };
                let (of_pod, pod_costs) = side.engine.evaluate(&side.evaluator, pod, of_pod)?;
                decision.add_pod(of_pod);
                costs.extend(pod_costs);
            }
            let object = result.outcome.allowed().then(|| {
                // Both releases prepare what they store, each in its way: one may drop while it decodes what another drops then.
                let outcome = &result.outcome;
                let stored = outcome.prepared.as_ref().or(outcome.object.as_ref());
                let object = stored.unwrap_or(&result.input.request.object);
                without_generation(object.clone().into_owned())
            });
            Ok(SideReview {
                decision,
                object,
                costs,
                unserved,
                is_gone,
                unknown_fields,
            })
        });
        reviewed.flatten()
    }
}

/// An object without its generation: no manifest says it, and not every release counts that of each kind.
fn without_generation(mut object: Value<'static>) -> Value<'static> {
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("generation");
    }
    object
}

/// Counts what was found about a request.
fn count(findings: Vec<UpgradeFinding>, place: &str, subject: &str, part: &mut UpgradePart) {
    let results = &mut part.results;
    results.requests += 1;
    let is_same = |finding: &UpgradeFinding| finding.rule == UpgradeRule::DeprecatedVersion;
    results.same += u64::from(findings.iter().all(is_same));
    let findings = findings.into_iter();
    results
        .findings
        .extend(findings.map(|finding| finding.at(place).about(subject)));
}

/// The failure of requests for a kind that the server of a side does not serve, and what can be said of it.
fn unserved(
    side: &UpgradeSide<'_>,
    kind: &GroupVersionKind,
    subresource: &str,
) -> Option<(ReceiveFailure, String)> {
    if !subresource.is_empty() {
        return None;
    }
    let resolver = &side.engine.cluster.state.view.resolver;
    match RequestTemplate::default().resolve(kind, resolver) {
        Ok(Resolution::Unserved(unserved)) => {
            let help = unserved.help();
            Some((ReceiveFailure::from(*unserved), help))
        }
        _ => None,
    }
}

/// What a server of a release says when it decodes an object, of which `read` is what the newest says of it as it is written.
fn decoded(
    release: &'static Release,
    kind: &GroupVersionKind,
    object: &Value<'_>,
    read: &Result<Vec<String>, String>,
) -> Result<Vec<String>, String> {
    let of_release = received_in(release.schema(), kind, object)?;
    match read {
        Ok(warnings) => {
            // Fields that are given twice are not in the object any more.
            let others = warnings.iter().filter(|warning| !is_unknown_field(warning));
            Ok(others.cloned().chain(of_release).collect())
        }
        // The release that it was read by refuses it for its types, which this one has otherwise.
        Err(_) if received_in(reading_release().schema(), kind, object).is_err() => Ok(of_release),
        Err(why) => Err(why.clone()),
    }
}

/// The release that objects are read by: once, with all fields that there are, and then they are decoded as each side does.
fn reading_release() -> &'static Release {
    Release::latest()
}

fn is_unknown_field(warning: &str) -> bool {
    warning.starts_with("unknown field ")
}

fn unknown_fields(received: &Result<Vec<String>, String>) -> BTreeSet<String> {
    let warnings = received.iter().flatten();
    warnings
        .filter(|warning| is_unknown_field(warning))
        .cloned()
        .collect()
}
