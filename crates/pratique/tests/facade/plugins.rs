//! Plugins in the chain: their places, the second round, pending authorization, what is undecided, and what they tell.

use std::sync::Mutex;
use std::time::Duration;

use pratique::authorization::{AuthorizerDecision, CheckDecider, PendingDecisions, Question};
use pratique::observer::{AdmissionPhase, ChainObserver, ChainSpan, ChainStep, StepResult};
use pratique::plugins::{
    Access, AccessAnswer, ChangedQuota, Effects, Handler, MissingState, MutableAttributes, Plugin,
    PluginContext, Rejection, StateKind,
};
use pratique::policy::DenialCause;
use pratique::types::{AdmissionRequest, Operation, Reason, Status};
use pratique::{
    Admission, AdmissionBuilder, AdmissionContext, AdmissionDecision, Attributes, Objects, Outcome,
    PluginChain,
};

use crate::world::{NoDecider, append, configmap, mutating, run, trail, validating};

/// A plugin of a name that adds a mark to the trail, and validates by a function.
struct Marker {
    handler: Handler,
    mark: &'static str,
    validate: fn(&PluginContext<'_>, &mut Effects) -> Result<(), Rejection>,
}

impl Plugin for Marker {
    fn handler(&self) -> &Handler {
        &self.handler
    }

    fn admit(
        &self,
        attributes: &mut MutableAttributes<'_, '_>,
        _: &PluginContext<'_>,
        _: &mut Effects,
    ) -> Result<(), Rejection> {
        let marked = append(attributes.object(), self.mark);
        *attributes.object_mut() = marked;
        Ok(())
    }

    fn validate(
        &self,
        _: &Attributes<'_>,
        context: &PluginContext<'_>,
        effects: &mut Effects,
    ) -> Result<(), Rejection> {
        (self.validate)(context, effects)
    }
}

fn marker(name: &'static str, mark: &'static str) -> Box<dyn Plugin> {
    let validate = |_: &PluginContext<'_>, _: &mut Effects| Ok(());
    let handler = Handler::new(name, &Operation::ALL).mutating().validating();
    Box::new(Marker {
        handler,
        mark,
        validate,
    })
}

fn validator(
    name: &'static str,
    validate: fn(&PluginContext<'_>, &mut Effects) -> Result<(), Rejection>,
) -> Box<dyn Plugin> {
    Box::new(Marker {
        handler: Handler::new(name, &Operation::ALL).validating(),
        mark: "",
        validate,
    })
}

fn refuse(_: &PluginContext<'_>, _: &mut Effects) -> Result<(), Rejection> {
    Err(Status::failure(Reason::Forbidden, "not here").into())
}

fn need_pods(_: &PluginContext<'_>, _: &mut Effects) -> Result<(), Rejection> {
    Err(StateKind::POD.missing("shop", None))
}

fn may_mark(context: &PluginContext<'_>, effects: &mut Effects) -> Result<(), Rejection> {
    effects.warn("asking");
    let access = Access {
        user: &pratique::types::UserInfo::default(),
        verb: "mark",
        group: "",
        version: "*",
        resource: "trails",
        subresource: "",
        namespace: "shop",
        name: "",
    };
    match context.access.review(&access) {
        AccessAnswer::Allowed => Ok(()),
        AccessAnswer::Pending => Err(Rejection::Pending),
        AccessAnswer::Unknown => Err(MissingState::Access(Box::new(access.question())).into()),
        _ => Err(Rejection::error("no")),
    }
}

/// Has one answer to all questions, and counts them.
struct OneAnswer(bool, Mutex<usize>);

impl CheckDecider for OneAnswer {
    fn decide(&self, questions: Vec<Question>) -> PendingDecisions<'_> {
        *self.1.lock().unwrap() += questions.len();
        let decision = AuthorizerDecision {
            allowed: self.0,
            ..AuthorizerDecision::default()
        };
        Box::pin(async move { vec![decision; questions.len()] })
    }
}

/// Keeps what it hears of, as text.
#[derive(Default)]
struct Heard(Vec<String>);

impl ChainObserver for Heard {
    fn part(&mut self, name: &str, span: &ChainSpan) {
        let rejected = if span.rejected { " rejected" } else { "" };
        self.0.push(format!("{name}{rejected}"));
    }

    fn step(&mut self, step: &ChainStep<'_>) {
        let last = self.0.last_mut().unwrap();
        let phase = match (step.phase, step.is_reinvoked) {
            (AdmissionPhase::Mutating, false) => "admit",
            (AdmissionPhase::Mutating, true) => "admit again",
            (AdmissionPhase::Validating, _) => "validate",
        };
        let trail = step.attributes.object.at(&["data", "trail"]);
        let result = match step.result {
            StepResult::Passed => String::new(),
            StepResult::Refused(status) => format!(": {}", status.message),
            StepResult::Undecided(undecided) => format!(": {undecided}"),
            other => format!(": {other:?}"),
        };
        *last = format!(
            "{last} {phase} {}{result}",
            trail.and_then(|trail| trail.as_str()).unwrap_or_default()
        );
    }
}

fn with(plugins: Vec<Box<dyn Plugin>>) -> AdmissionBuilder {
    Admission::builder().plugins(PluginChain::new(plugins))
}

fn admit_with(builder: AdmissionBuilder, decider: &dyn CheckDecider) -> (Outcome, Vec<String>) {
    let admission = builder.build().unwrap();
    let objects = Objects::new();
    let context = AdmissionContext::new(&objects).with_decider(decider);
    let request: AdmissionRequest<'_> = configmap("");
    let mut heard = Heard::default();
    let outcome = run(admission.admit(&request, context, &mut heard)).unwrap();
    (outcome, heard.0)
}

fn admit(builder: AdmissionBuilder) -> (Outcome, Vec<String>) {
    admit_with(builder, &NoDecider)
}

#[test]
fn plugins_stand_around_policies() {
    let plugins = vec![
        marker("AlwaysDeny", "d"),
        marker("ResourceQuota", "q"),
        marker("Mine", "x"),
        marker("LimitRanger", "l"),
    ];
    let builder = validating(with(plugins), "object.data.trail == 'lxqd'");
    let (outcome, heard) = admit(builder);
    assert_eq!(trail(&outcome), "lxqd");
    let names: Vec<&str> = heard.iter().filter_map(|heard| heard.split(' ').next()).collect();
    let validated = [
        "LimitRanger",
        "Mine",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionWebhook",
        "ResourceQuota",
        "AlwaysDeny",
    ];
    assert_eq!(names.get(6..), Some(validated.as_slice()));
}

/// Sums up the times of phases.
struct PhaseTimes {
    is_asked: bool,
    sum: Duration,
}

impl ChainObserver for PhaseTimes {
    fn measures_time(&self) -> bool {
        self.is_asked
    }

    fn phase(&mut self, span: &ChainSpan) {
        self.sum += span.elapsed;
    }
}

#[test]
fn times_are_measured_where_somebody_asks() {
    for is_asked in [true, false] {
        let admission = with(vec![marker("LimitRanger", "l")]).build().unwrap();
        let objects = Objects::new();
        let sum = Duration::ZERO;
        let mut times = PhaseTimes { is_asked, sum };
        let request: AdmissionRequest<'_> = configmap("");
        run(admission.admit(&request, AdmissionContext::new(&objects), &mut times)).unwrap();
        assert_eq!(times.sum > Duration::ZERO, is_asked);
    }
}

#[test]
fn plugins_run_again_in_the_second_round() {
    let plugins = vec![marker("LimitRanger", "l"), marker("ResourceQuota", "q")];
    let (outcome, heard) = admit(mutating(with(plugins), &[("m", "IfNeeded")]));
    assert_eq!(trail(&outcome), "lmqlmq");
    assert_eq!(heard[0], "LimitRanger admit l");
    assert_eq!(heard[4], "LimitRanger admit again lmql");
}

#[test]
fn plugins_alone_bring_no_second_round() {
    let (outcome, _) = admit(with(vec![marker("LimitRanger", "l")]));
    assert_eq!(trail(&outcome), "l");
}

#[test]
fn a_refusal_names_the_plugin() {
    let builder = with(vec![marker("LimitRanger", "l"), validator("PodSecurity", refuse)]);
    let (outcome, heard) = admit(validating(builder, "false"));
    assert_eq!(outcome.refused_by.as_deref(), Some("PodSecurity"));
    assert_eq!(outcome.cause, Some(DenialCause::Rule));
    assert_eq!(outcome.status.unwrap().message, "not here");
    assert_eq!(outcome.object, None);
    assert_eq!(heard.last().unwrap(), "PodSecurity rejected validate l: not here");
}

#[test]
fn errors_that_are_no_status_are_answered_as_an_internal_error() {
    let (outcome, _) = admit(with(vec![validator("Mine", |_, _| {
        Err(Rejection::error("broken"))
    })]));
    assert_eq!(outcome.cause, Some(DenialCause::Failure));
    let status = outcome.status.unwrap();
    assert_eq!((status.code, status.message.as_str()), (500, "broken"));
}

#[test]
fn what_is_undecided_does_not_keep_others_from_refusing() {
    let undecided = || validator("PodSecurity", need_pods);
    let (outcome, _) = admit(with(vec![undecided()]));
    assert!(!outcome.allowed() && outcome.status.is_none());
    assert_eq!(
        outcome.undecided[0].to_string(),
        r#"PodSecurity is undecided: Pod objects in namespace "shop" are not known"#
    );
    let (outcome, _) = admit(validating(with(vec![undecided()]), "false"));
    assert_eq!(outcome.refused_by.as_deref(), Some("ValidatingAdmissionPolicy"));
    assert_eq!(outcome.undecided.len(), 1);
}

#[test]
fn authorization_is_asked_once_and_the_plugin_repeated() {
    for (allowed, message) in [(true, None), (false, Some("no"))] {
        let decider = OneAnswer(allowed, Mutex::default());
        let (outcome, _) = admit_with(with(vec![validator("Mine", may_mark)]), &decider);
        assert_eq!(
            outcome.status.as_ref().map(|status| status.message.as_str()),
            message
        );
        // What it said while the answer was not there does not count.
        assert_eq!(outcome.warnings, ["asking"]);
        assert_eq!(*decider.1.lock().unwrap(), 1);
    }
    let (outcome, _) = admit(with(vec![validator("Mine", may_mark)]));
    assert_eq!(outcome.undecided[0].missing.kind(), "authorizer");
}

#[test]
fn effects_are_in_the_outcome() {
    fn tell(_: &PluginContext<'_>, effects: &mut Effects) -> Result<(), Rejection> {
        effects.warn("careful");
        effects.annotate("mine.example.com/said", "careful");
        effects.booked.push(ChangedQuota {
            namespace: "shop".to_owned(),
            name: "quota".to_owned(),
            status: pratique_json::Value::Null,
        });
        Ok(())
    }
    let (outcome, _) = admit(with(vec![
        validator("Mine", tell),
        validator("AlwaysDeny", refuse),
    ]));
    assert_eq!(outcome.warnings, ["careful"]);
    assert_eq!(outcome.audit_annotations["mine.example.com/said"], "careful");
    assert_eq!(outcome.booked[0].name, "quota");
    assert_eq!(outcome.refused_by.as_deref(), Some("AlwaysDeny"));
}

/// As of a log that leaves out the groups of users.
#[test]
fn nobody_knows_what_a_user_may_do_whose_groups_are_not_known() {
    let admission = with(vec![validator("Mine", may_mark)]).build().unwrap();
    let objects = Objects::new();
    let decider = OneAnswer(true, Mutex::default());
    let mut request = configmap("");
    for (lacks_details, expected) in [
        (false, AdmissionDecision::Allowed),
        (true, AdmissionDecision::Undecided),
    ] {
        request.lacks_details = lacks_details;
        let context = AdmissionContext::new(&objects).with_decider(&decider);
        let outcome = run(admission.admit(&request, context, &mut Heard::default())).unwrap();
        assert_eq!(outcome.decision(), expected);
    }
    assert_eq!(*decider.1.lock().unwrap(), 1);
}
