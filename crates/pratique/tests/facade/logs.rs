//! What is logged of webhooks: an API server's messages.

use std::fmt::{self, Write};
use std::sync::{Arc, Mutex};

use pratique::Admission;
use pratique::webhook::{Answer, Call, CallError, CallErrorKind, Caller};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::webhooks::{MUTATING, Markers, VALIDATING, webhook};
use crate::world::{configmap_in_shop, file};

/// Keeps what is logged, level and message first.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("pratique::webhooks")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        struct Line(String);
        impl Visit for Line {
            fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
                write!(self.0, " {field}={value:?}").unwrap();
            }
        }
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// A caller whose calls fail.
struct Gone;

impl Caller for Gone {
    fn call<'a>(&'a self, _: Call) -> Answer<'a> {
        Box::pin(async {
            Err(CallError {
                message: "failed to call webhook: gone".to_owned(),
                kind: CallErrorKind::Transport,
            })
        })
    }
}

#[track_caller]
fn check(
    plugin: pratique::manifest::ManifestPlugin,
    policy: &str,
    caller: impl Caller + 'static,
    expected: &[&str],
) {
    check_with(plugin, &format!("  failurePolicy: {policy}\n"), caller, expected);
}

/// What is logged of a request and a webhook with more members.
#[track_caller]
fn check_with(
    plugin: pratique::manifest::ManifestPlugin,
    more: &str,
    caller: impl Caller + 'static,
    expected: &[&str],
) {
    let text = webhook(plugin, "w.static.k8s.io", "deny", more);
    let builder = Admission::builder().caller(caller);
    let live = builder
        .files([file("w.yaml", &text)], plugin)
        .live()
        .start()
        .unwrap();
    let lines = Lines::default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let admit = || runtime.block_on(live.admit(&configmap_in_shop(""))).unwrap();
    tracing::subscriber::with_default(lines.clone(), admit);
    assert_eq!(*lines.0.lock().unwrap(), expected);
}

#[test]
fn calls_that_fail_and_denials() {
    let failed = "failed calling webhook \"deny.example.com\": failed to call webhook: gone";
    for plugin in [MUTATING, VALIDATING] {
        let open = format!("WARN message=Failed calling webhook, failing open deny.example.com: {failed}");
        check(plugin, "Ignore", Gone, &[&open]);
        let closed =
            format!("WARN message=Failed calling webhook, failing closed deny.example.com: {failed}");
        check(plugin, "Fail", Gone, &[&closed]);
    }
    let rejected = "WARN message=rejected by webhook \"deny.example.com\" code=400";
    check(VALIDATING, "Fail", Markers::default(), &[rejected]);
    check(MUTATING, "Fail", Markers::default(), &[]);
}

#[test]
fn conditions_that_fail() {
    let conditions = "  matchConditions: [{name: c, expression: object.nothing == 1}]\n";
    let told = "WARN message=Failed evaluating match conditions, failing closed deny.example.com: \
                expression 'object.nothing == 1' resulted in error: no such key: nothing";
    for plugin in [MUTATING, VALIDATING] {
        check_with(plugin, conditions, Gone, &[told]);
        let ignored = format!("  failurePolicy: Ignore\n{conditions}");
        check_with(plugin, &ignored, Gone, &[]);
    }
}
