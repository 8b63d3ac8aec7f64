//! Tests of authorization checks against a host that allows what its one rule says.

use std::sync::Mutex;

use super::*;
use crate::Environment;

/// Answers `reason` when the question reads as expected, and keeps what it was asked.
#[derive(Debug, Default)]
struct Recorder {
    asked: Mutex<Vec<String>>,
    pending: bool,
}

impl Authorizer for Recorder {
    fn authorize(&self, check: &Check<'_>) -> Answer {
        if self.pending {
            return Answer::Pending;
        }
        let target = match check.target {
            Target::Path(path) => path.to_owned(),
            Target::Resource(resource) => format!("{resource:?}"),
        };
        self.asked
            .lock()
            .unwrap()
            .push(format!("{} {} {target}", check.user.name, check.verb));
        Answer::Decided(AuthorizerDecision {
            allowed: check.verb == "get",
            reason: "rule".to_owned(),
            error: None,
        })
    }
}

/// Calls overloads in turn, each on the result of the one before.
fn chain<'a>(context: &Context<'a>, start: Value<'a>, calls: &[(&str, &[&'a str])]) -> Evaluation<'a> {
    let functions = library().and(selectors()).functions;
    let overloads: Vec<_> = functions
        .iter()
        .flat_map(|function| &function.overloads)
        .collect();
    calls.iter().try_fold(start, |receiver, (id, rest)| {
        let arguments: Vec<_> = [receiver]
            .into_iter()
            .chain(rest.iter().map(|text| Value::String(text)))
            .collect();
        let overload = overloads.iter().find(|overload| *overload.id == **id);
        let implementation = overload.and_then(|overload| overload.implementation.as_ref());
        implementation.expect(id).call(context, &arguments)
    })
}

fn user() -> Arc<User> {
    Arc::new(User {
        name: "ann".to_owned(),
        ..User::default()
    })
}

fn check(calls: &[(&str, &'static [&'static str])], expected: &str) {
    let host = Arc::new(Recorder::default());
    let arena = Arena::new();
    let context = Context::new(&arena, u64::MAX);
    let result = chain(&context, authorizer(&arena, user(), host.clone()), calls);
    let got = match result {
        Ok(value) => format!("{value:?} {}", host.asked.lock().unwrap().join("; ")),
        Err(fault) => fault.to_string(),
    };
    assert_eq!(got, expected);
}

#[test]
fn paths() {
    check(
        &[
            ("authorizer_path", &["/healthz"]),
            ("pathcheck_check", &["get"]),
            ("decision_allowed", &[]),
        ],
        "Bool(true) ann get /healthz",
    );
    check(
        &[
            ("authorizer_path", &["/healthz"]),
            ("pathcheck_check", &["put"]),
            ("decision_allowed", &[]),
        ],
        "Bool(false) ann put /healthz",
    );
    check(
        &[
            ("authorizer_path", &["/x"]),
            ("pathcheck_check", &["get"]),
            ("decision_reason", &[]),
        ],
        "String(\"rule\") ann get /x",
    );
    check(
        &[
            ("authorizer_path", &["/x"]),
            ("pathcheck_check", &["get"]),
            ("decision_errored", &[]),
        ],
        "Bool(false) ann get /x",
    );
    check(
        &[
            ("authorizer_path", &["/x"]),
            ("pathcheck_check", &["get"]),
            ("decision_error", &[]),
        ],
        "String(\"\") ann get /x",
    );
    check(&[("authorizer_path", &[" \u{a0}"])], "path must not be empty");
}

#[test]
fn answers_that_cannot_be_known() {
    let arena = Arena::new();
    let context = Context::new(&arena, u64::MAX);
    let calls: &[(&str, &[&str])] = &[
        ("authorizer_group", &["apps"]),
        ("groupcheck_resource", &["deployments"]),
        ("resourcecheck_subresource", &["scale"]),
        ("resourcecheck_namespace", &["n"]),
        ("resourcecheck_name", &["d"]),
        ("resourcecheck_check", &["get"]),
    ];
    let fault = chain(
        &context,
        authorizer(&arena, user(), Arc::new(NoAuthorizer)),
        calls,
    )
    .unwrap_err();
    assert!(fault.is_stop());
    assert_eq!(
        fault.to_string(),
        r#"undecided: it is not known whether user "ann" may get deployments.apps/scale "d" in namespace "n""#
    );
}

#[test]
fn resources() {
    check(
        &[("authorizer_group", &["apps"]), ("groupcheck_resource", &["\t"])],
        "resource must not be empty",
    );
    let expected = ResourceCheck {
        group: "apps".to_owned(),
        resource: "deployments".to_owned(),
        subresource: "scale".to_owned(),
        namespace: "n".to_owned(),
        name: "d".to_owned(),
        field_selector: "a=b".to_owned(),
        label_selector: "c".to_owned(),
    };
    check(
        &[
            ("authorizer_group", &["apps"]),
            ("groupcheck_resource", &["deployments"]),
            ("resourcecheck_subresource", &["scale"]),
            ("resourcecheck_namespace", &["n"]),
            ("resourcecheck_name", &["d"]),
            ("authorizer_fieldselector", &["a=b"]),
            ("authorizer_labelselector", &["c"]),
            ("resourcecheck_check", &["get"]),
            ("decision_allowed", &[]),
        ],
        &format!("Bool(true) ann get {expected:?}"),
    );
}

#[test]
fn service_accounts() {
    check(
        &[
            ("authorizer_serviceaccount", &["default", "robot"]),
            ("authorizer_path", &["/x"]),
            ("pathcheck_check", &["get"]),
            ("decision_allowed", &[]),
        ],
        "Bool(true) system:serviceaccount:default:robot get /x",
    );
    check(
        &[("authorizer_serviceaccount", &["default", "Robot"])],
        "Invalid service account name",
    );
    check(
        &[("authorizer_serviceaccount", &["a.b", "robot"])],
        "Invalid service account namespace",
    );
    assert_eq!(
        User::service_account("a", "b").groups,
        ["system:serviceaccounts", "system:serviceaccounts:a"]
    );
}

#[test]
fn no_answer_yet_stops_the_evaluation() {
    let host = Arc::new(Recorder {
        pending: true,
        ..Recorder::default()
    });
    let arena = Arena::new();
    let context = Context::new(&arena, u64::MAX);
    let value = request_resource(&arena, user(), host, ResourceCheck::default());
    let fault = chain(&context, value, &[("resourcecheck_check", &["get"])]).unwrap_err();
    assert_eq!(fault, Fault::stop(Stop::Pending));
}

#[test]
fn nothing_equals_an_authorizer() {
    let arena = Arena::new();
    let value = authorizer(&arena, user(), Arc::new(Recorder::default()));
    let Value::Opaque(opaque) = value else {
        panic!("{value:?}")
    };
    assert_eq!(opaque.equal(&value), Err(Fault::no_such_overload()));
}

#[test]
fn selectors_cost_by_length() {
    let cost = |text| parsing_selector(&[Value::Null, Value::String(text)], None);
    assert_eq!((cost(""), cost("a"), cost("app=example")), (10, 61, 312));
}

/// Nothing by themselves, checks are equal within objects of mutations when they ask the same.
#[test]
fn equality_within_objects() {
    let environment = Environment::kubernetes()
        .with_library(crate::library::mutation::library())
        .with_variable("authorizer", Type::Dyn);
    let arena = Arena::new();
    let checked = |text: &str| {
        let program = environment.compile(text).unwrap();
        let mut activation = environment.activation();
        let value = authorizer(&arena, user(), Arc::new(Recorder::default()));
        activation.set(environment.slot("authorizer").unwrap(), value);
        let context = Context::new(&arena, u64::MAX);
        program
            .evaluate(&context, &activation)
            .map_or_else(|fault| fault.to_string(), |value| format!("{value:?}"))
    };
    assert_eq!(
        checked("Object{a: authorizer.path('/x')} == Object{a: authorizer.path('/x')}"),
        "Bool(true)"
    );
    assert_eq!(
        checked("Object{a: authorizer.path('/x')} == Object{a: authorizer.path('/y')}"),
        "Bool(false)"
    );
}
