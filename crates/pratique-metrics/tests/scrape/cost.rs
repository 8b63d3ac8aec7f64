//! What counting costs.

use std::time::{Duration, Instant};

use pratique_metrics::{Action, Metrics, Operation, PolicyError, StepType, WebhookType};

/// How long counting takes; run it with `--release --ignored --nocapture` for figures.
#[test]
#[ignore = "measures"]
fn counting_takes() {
    let metrics = Metrics::new("server");
    let elapsed = Duration::from_micros(30);
    measure("step", || {
        metrics.step(StepType::Validate, Operation::Create, false, elapsed)
    });
    measure("validation", || {
        metrics.validation(
            "a-policy.static.k8s.io",
            "a-binding.static.k8s.io",
            Action::Deny,
            PolicyError::Invalid,
            elapsed,
        );
    });
    measure("webhook call", || {
        metrics.webhook_call(
            "hook.example.com",
            WebhookType::Validating,
            Operation::Create,
            (false, 200),
            elapsed,
        );
    });
    for policy in 0..10_000 {
        metrics.validation(
            &format!("policy-{policy}"),
            "b",
            Action::Deny,
            PolicyError::Invalid,
            elapsed,
        );
    }
    let (start, text) = (Instant::now(), metrics.to_text());
    println!("scrape of {} kB: {:?}", text.len() / 1000, start.elapsed());
}

fn measure(what: &str, mut act: impl FnMut()) {
    const TIMES: u32 = 1_000_000;
    let start = Instant::now();
    (0..TIMES).for_each(|_| act());
    println!("{what}: {:?}", start.elapsed() / TIMES);
}
