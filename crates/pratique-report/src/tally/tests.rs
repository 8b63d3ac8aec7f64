//! Tallies of parts are the tally of the whole, and JSON keeps them.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::{Action, Finding};

const NAMES: [&str; 6] = ["", "a", "b", "c", "d", "e"];
const DECISIONS: [Decision; 5] = [
    Decision::Allowed,
    Decision::Denied,
    Decision::Error,
    Decision::Undecided,
    Decision::Failed,
];
const ACTIONS: [Action; 5] = [
    Action::Deny,
    Action::Warn,
    Action::Audit,
    Action::Ignore,
    Action::Undecided,
];

fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(NAMES.as_slice())
}

fn finding() -> impl Strategy<Value = Finding<'static>> {
    let action = prop::sample::select(ACTIONS.as_slice());
    (name(), name(), action, any::<bool>(), name()).prop_map(
        |(policy, binding, action, is_error, message)| Finding {
            policy,
            binding,
            action,
            is_error,
            message,
        },
    )
}

fn evaluation() -> impl Strategy<Value = Evaluation<'static>> {
    let decision = prop::sample::select(DECISIONS.as_slice());
    let names = [name(), name(), name(), name(), name(), name(), name(), name()];
    (decision, names, vec(finding(), 0..3)).prop_map(|(decision, names, findings)| {
        let [
            operation,
            api_version,
            kind,
            namespace,
            object,
            user,
            owner,
            place,
        ] = names;
        Evaluation {
            decision,
            operation,
            api_version,
            kind,
            namespace,
            name: object,
            uid: "",
            user,
            owner,
            place,
            time: "",
            is_changed: false,
            is_unmatched: false,
            findings,
        }
    })
}

fn limits() -> impl Strategy<Value = Limits> {
    (0..6_usize, 0..6_usize, 0..4_usize).prop_map(|(rows, example_kinds, examples)| Limits {
        rows,
        example_kinds,
        examples,
    })
}

fn tally(limits: Limits, evaluations: &[Evaluation<'_>]) -> Tally {
    let mut tally = Tally::new(limits);
    evaluations.iter().for_each(|evaluation| tally.count(evaluation));
    tally
}

fn merged(mut first: Tally, second: Tally) -> Tally {
    first.merge(second);
    first
}

proptest! {
    #[test]
    fn parts_merge_to_the_whole(
        limits in limits(),
        first in vec(evaluation(), 0..20),
        second in vec(evaluation(), 0..20),
        third in vec(evaluation(), 0..20),
    ) {
        let whole = tally(limits, &[first.clone(), second.clone(), third.clone()].concat());
        let [first, second, third] = [first, second, third].map(|part| tally(limits, &part));
        let left = merged(merged(first.clone(), second.clone()), third.clone());
        prop_assert_eq!(&left, &whole);
        prop_assert_eq!(merged(first.clone(), merged(second.clone(), third.clone())), left);
        prop_assert_eq!(merged(merged(third, first), second), whole);
    }

    #[test]
    fn the_lower_limits_apply(
        limits in [limits(), limits()],
        first in vec(evaluation(), 0..20),
        second in vec(evaluation(), 0..20),
    ) {
        let [one, two] = limits;
        let both = merged(tally(one, &first), tally(two, &second));
        prop_assert_eq!(&both, &merged(tally(two, &second), tally(one, &first)));
        prop_assert_eq!(&both, &tally(both.limits(), &[first, second].concat()));
    }

    #[test]
    fn json_gives_it_back(limits in limits(), evaluations in vec(evaluation(), 0..20)) {
        let tally = tally(limits, &evaluations);
        prop_assert_eq!(Tally::from_json(&tally.to_json()).unwrap(), tally);
    }

    #[test]
    fn nothing_is_lost(limits in limits(), evaluations in vec(evaluation(), 0..20)) {
        let tally = tally(limits, &evaluations);
        prop_assert_eq!(tally.total().requests(), evaluations.len() as u64);
        prop_assert_eq!(tally.namespaces().sum(), tally.total());
        prop_assert_eq!(tally.kinds().sum(), tally.total());
        prop_assert_eq!(tally.users().sum(), tally.total());
    }
}

fn denied<'a>(namespace: &'a str, name: &'a str, message: &'a str) -> Evaluation<'a> {
    Evaluation {
        decision: Decision::Denied,
        namespace,
        name,
        findings: vec![Finding {
            policy: "p",
            binding: "b",
            action: Action::Deny,
            is_error: false,
            message,
        }],
        ..Evaluation::default()
    }
}

#[test]
fn long_texts_are_shortened() {
    let long = "é".repeat(2000);
    let tally = tally(Limits::default(), &[denied(&long, "a", &long)]);
    let (_, mut examples) = tally.examples().next().unwrap();
    let example = examples.next().unwrap();
    assert!(example.namespace.len() <= MAX_NAME && example.namespace.ends_with("é…"));
    assert!(example.message.len() <= example::MAX_MESSAGE && example.message.ends_with("é…"));
    assert_eq!(tally.namespaces().row([&long]).unwrap().denied, 1);
    assert_eq!(Tally::from_json(&tally.to_json()).unwrap(), tally);
}

#[test]
fn what_is_not_a_tally_is_refused() {
    let limits = Limits {
        rows: 2,
        example_kinds: 1,
        examples: 1,
    };
    let tally = tally(limits, &[denied("a", "x", "m"), denied("b", "y", "m")]);
    let json = tally.to_json();
    let check = |from: &str, to: &str, expected: &str| {
        assert!(json.contains(from), "{from} is not in {json}");
        let error = Tally::from_json(&json.replacen(from, to, 1)).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    };
    check("pratique/v1alpha1", "pratique/v2", "it is a Tally of pratique/v2");
    check("\"limits\"", "\"more\":1,\"limits\"", "unknown field `more`");
    check("\"rows\":2", "\"rows\":1", "more than its limits say");
    check("{\"key\":[\"a\"]", "{\"key\":[\"c\"]", "not in order");
    check("{\"key\":[\"a\"]", "{\"key\":[\"a\",\"b\"]", "another length");
    check(
        "\"total\":{\"denied\":2",
        "\"total\":{\"denied\":3",
        "do not add up",
    );
    check("\"denied\":2", "\"denied\":-2", "invalid value");
    assert!(Tally::from_json("{}").is_err());
}

#[test]
fn what_is_in_no_row_is_counted() {
    let limits = Limits {
        rows: 1,
        ..Limits::default()
    };
    let tally = tally(
        limits,
        &[
            denied("b", "x", "m"),
            denied("a", "y", "m"),
            denied("c", "z", "m"),
        ],
    );
    assert_eq!(
        tally.namespaces().rows().map(|(key, _)| key).collect::<Vec<_>>(),
        [["a"]]
    );
    assert_eq!(tally.namespaces().other().denied, 2);
    let (_, examples) = tally.examples().next().unwrap();
    let names: Vec<_> = examples.map(|example| example.name.as_str()).collect();
    assert_eq!(names, ["y", "x", "z"]);
}
