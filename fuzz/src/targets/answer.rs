//! Answers of webhooks.

use std::sync::{Arc, OnceLock};

use pratique::Objects;
use pratique::authorization::NoAuthorizer;
use pratique_expression::Cache;
use pratique_match::{Equivalents, Namespace, Namespaces};
use pratique_schema::Release;
use pratique_types::{AdmissionRequest, Status};
use pratique_webhook::{
    Answer, Call, Caller, MutatedRequest, MutatingWebhooks, Origin, Reinvocation, ValidatingWebhooks,
    ValidationOutcome, WebhookContext, mutate, validate,
};
use serde_json::json;

/// The body of a webhook's answer; `$UID` in it stands for the request's. A mutating webhook that gives it and a validating
/// one each come to one decision, the same again, and an object that is still an object.
pub fn answer(input: &[u8]) {
    let Some(webhooks) = webhooks() else {
        return;
    };
    let (mutated, verdict) = webhooks.asked(input);
    let (again, verdict_again) = webhooks.asked(input);
    // Messages may name the identity of a call.
    let code = |status: &Option<Box<Status>>| status.as_ref().map(|status| status.code);
    assert_eq!(
        (&again.object, &again.warnings),
        (&mutated.object, &mutated.warnings)
    );
    assert_eq!(code(&again.status), code(&mutated.status));
    assert_eq!(code(&verdict_again.status), code(&verdict.status));
    for status in [&mutated.status, &verdict.status].into_iter().flatten() {
        assert!((400..600).contains(&status.code), "{status:?}");
    }
    if let Some(object) = &mutated.object {
        assert!(object.as_object().is_some() && mutated.status.is_none());
    }
}

struct FuzzedWebhooks {
    runtime: tokio::runtime::Runtime,
    mutating: MutatingWebhooks,
    validating: ValidatingWebhooks,
    equivalents: Equivalents,
    cluster: Objects,
}

impl FuzzedWebhooks {
    fn new() -> Option<Self> {
        let configuration = json!({
            "metadata": {"name": "example"},
            "webhooks": [{
                "name": "example.example.com",
                "clientConfig": {"url": "https://example.com/"},
                "rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}],
                "admissionReviewVersions": ["v1", "v1beta1"],
                "sideEffects": "None",
                "failurePolicy": "Fail",
                "timeoutSeconds": 5,
            }],
        });
        let cache = Cache::new();
        let mutating = serde_json::from_value(configuration.clone()).ok()?;
        let validating = serde_json::from_value(configuration).ok()?;
        Some(FuzzedWebhooks {
            runtime: tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .build()
                .ok()?,
            mutating: MutatingWebhooks::compile([&mutating], Origin::Api, &cache),
            validating: ValidatingWebhooks::compile([&validating], Origin::Api, &cache),
            equivalents: Equivalents::of_release(Release::latest().resources()),
            cluster: Objects::new(),
        })
    }

    fn asked(&self, body: &[u8]) -> (MutatedRequest, ValidationOutcome) {
        let request = json!({
            "uid": "u", "operation": "CREATE", "name": "web", "namespace": "shop",
            "kind": {"version": "v1", "kind": "Pod"}, "resource": {"version": "v1", "resource": "pods"},
            "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "labels": {"a": "b"}},
                       "spec": {"containers": [{"name": "web", "image": "web:1"}]}},
        });
        let request = request.to_string();
        let Ok(request) = serde_json::from_str::<AdmissionRequest<'_>>(&request) else {
            return Default::default();
        };
        let caller = FixedAnswers(body);
        let context = WebhookContext::new(&self.equivalents, self, Arc::new(NoAuthorizer));
        let mut turns = Reinvocation::default();
        self.runtime.block_on(async {
            let mutated = mutate(
                &[&self.mutating],
                &request,
                &context,
                &mut turns,
                &caller,
                &mut (),
            )
            .await;
            let verdict = validate(&[&self.validating], &request, &context, &caller, &mut ()).await;
            (mutated.unwrap_or_default(), verdict.unwrap_or_default())
        })
    }
}

impl Namespaces for FuzzedWebhooks {
    fn namespace<'a>(&'a self, name: &str) -> Namespace<'a> {
        self.cluster.namespace(name).or(|| Namespace::Named)
    }
}

/// One set for all threads: an input at a time.
fn webhooks() -> Option<&'static FuzzedWebhooks> {
    static WEBHOOKS: OnceLock<Option<FuzzedWebhooks>> = OnceLock::new();
    WEBHOOKS.get_or_init(FuzzedWebhooks::new).as_ref()
}

/// Gives each call the same answer.
struct FixedAnswers<'a>(&'a [u8]);

impl Caller for FixedAnswers<'_> {
    fn call<'a>(&'a self, call: Call) -> Answer<'a> {
        let review: serde_json::Value = serde_json::from_slice(&call.body).unwrap_or_default();
        let uid = review
            .pointer("/request/uid")
            .and_then(serde_json::Value::as_str)
            .unwrap_or_default();
        let body = replaced(self.0, b"$UID", uid.as_bytes());
        Box::pin(async move { Ok(body.into()) })
    }
}

fn replaced(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut replaced = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.windows(from.len()).position(|window| window == from) {
        let (preceding_bytes, after) = rest.split_at(at);
        replaced.extend(preceding_bytes);
        replaced.extend(to);
        rest = after.get(from.len()..).unwrap_or_default();
    }
    replaced.extend(rest);
    replaced
}
