//! Checks whether webhooks respond, before requests depend on them.
//!
//! A webhook receives a review of a dry run that its rules match, and its answer is verified like any other. Selectors and
//! match conditions are ignored, because the object is made up.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use k8s_openapi::api::admissionregistration::v1 as api;
use pratique_cel::library::authz;
use pratique_expression::Cache;
use pratique_match::{Equivalents, Namespace, Namespaces};
use pratique_schema::Release;
use pratique_types::{GroupVersionResource, OwnedAdmissionRequest, Status};
use serde_json::json;

use crate::Origin;
use crate::configurations::{MutatingWebhooks, ValidatingWebhooks, WebhookSet};
use crate::context::WebhookContext;
use crate::mutate::mutate;
use crate::observer::{EndedCall, Rejection, WebhookObserver};
use crate::reinvocation::Reinvocation;
use crate::transport::{Certificate, HttpCaller};
use crate::validate::validate;

/// The result of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeResult {
    /// The name of the webhook.
    pub webhook: String,
    /// Its URL; empty if it is not known.
    pub url: String,
    /// Its certificate, whether it is trusted or not.
    pub certificate: Option<Certificate>,
    /// How long the answer took, or an API server's message on why there is none.
    pub answered: Result<Duration, String>,
}

/// A webhook that is called for every request and fails closed; the types of both phases have no trait in common.
macro_rules! matching_all {
    ($webhook:ident as $type:ident) => {
        api::$type {
            rules: Some(vec![match_all()]),
            match_conditions: None,
            namespace_selector: None,
            object_selector: None,
            failure_policy: Some("Fail".to_owned()),
            ..$webhook.clone()
        }
    };
}

/// Probes each webhook of a configuration, which must have the API's defaults.
pub async fn probe_mutating(
    configuration: &api::MutatingWebhookConfiguration,
    caller: &HttpCaller,
) -> Vec<ProbeResult> {
    let probe = async |webhook: &api::MutatingWebhook| {
        let request = match request(webhook.rules.as_deref().unwrap_or_default()) {
            Ok(OwnedAdmissionRequest(request)) => request,
            Err(error) => return ProbeResult::failed(&webhook.name, error.to_string()),
        };
        let mut configuration = configuration.clone();
        configuration.webhooks = Some(vec![matching_all!(webhook as MutatingWebhook)]);
        let webhooks = MutatingWebhooks::compile([&configuration], Origin::Api, &Cache::new());
        let (mut recorder, mut reinvocation) = (CallRecorder::default(), Reinvocation::default());
        let equivalents = Equivalents::new();
        let context = context(&equivalents);
        let sets = [&webhooks];
        let mutated = mutate(
            &sets,
            &request,
            &context,
            &mut reinvocation,
            caller,
            &mut recorder,
        )
        .await;
        let status = mutated.ok().and_then(|mutated| mutated.status);
        recorder.probed(&webhooks.webhooks, caller, status)
    };
    join_all(configuration.webhooks.iter().flatten().map(probe)).await
}

/// Probes each webhook of a configuration, which must have the API's defaults.
pub async fn probe_validating(
    configuration: &api::ValidatingWebhookConfiguration,
    caller: &HttpCaller,
) -> Vec<ProbeResult> {
    let probe = async |webhook: &api::ValidatingWebhook| {
        let request = match request(webhook.rules.as_deref().unwrap_or_default()) {
            Ok(OwnedAdmissionRequest(request)) => request,
            Err(error) => return ProbeResult::failed(&webhook.name, error.to_string()),
        };
        let mut configuration = configuration.clone();
        configuration.webhooks = Some(vec![matching_all!(webhook as ValidatingWebhook)]);
        let webhooks = ValidatingWebhooks::compile([&configuration], Origin::Api, &Cache::new());
        let mut recorder = CallRecorder::default();
        let equivalents = Equivalents::new();
        let context = context(&equivalents);
        let outcome = validate(&[&webhooks], &request, &context, caller, &mut recorder).await;
        let status = outcome.ok().and_then(|outcome| outcome.status);
        recorder.probed(&webhooks.webhooks, caller, status)
    };
    join_all(configuration.webhooks.iter().flatten().map(probe)).await
}

impl ProbeResult {
    fn failed(webhook: &str, reason: String) -> Self {
        ProbeResult {
            webhook: webhook.to_owned(),
            url: String::new(),
            certificate: None,
            answered: Err(reason),
        }
    }
}

/// Records the end of the call.
#[derive(Default)]
struct CallRecorder {
    ended: Option<Result<Duration, String>>,
}

impl WebhookObserver for CallRecorder {
    fn called(&mut self, called: &EndedCall<'_>) {
        let answered = !called.answer.is_empty() && called.rejection != Some(Rejection::CallFailed);
        self.ended = Some(match called.failure {
            Some(failure) if !answered => Err(failure.to_owned()),
            _ => Ok(called.duration),
        });
    }
}

impl CallRecorder {
    /// The result of probing the only webhook, whose status denies the request if there is one.
    fn probed(self, webhooks: &WebhookSet, caller: &HttpCaller, status: Option<Box<Status>>) -> ProbeResult {
        let webhook = webhooks.all.first();
        let name = webhook
            .map(|webhook| webhook.name.to_string())
            .unwrap_or_default();
        let endpoint = webhook.and_then(|webhook| webhook.location.endpoint.as_ref().ok());
        let not_called =
            || Err(status.map_or_else(|| "it was not called".to_owned(), |status| status.message));
        ProbeResult {
            webhook: name,
            url: endpoint.map(|endpoint| endpoint.url.clone()).unwrap_or_default(),
            certificate: endpoint.and_then(|endpoint| caller.certificate(endpoint)),
            answered: self.ended.unwrap_or_else(not_called),
        }
    }
}

/// A rule that matches everything.
fn match_all() -> api::RuleWithOperations {
    let star = || Some(vec!["*".to_owned()]);
    api::RuleWithOperations {
        api_groups: star(),
        api_versions: star(),
        operations: star(),
        resources: Some(vec!["*/*".to_owned()]),
        scope: Some("*".to_owned()),
    }
}

/// A dry run that the rules match.
fn request(rules: &[api::RuleWithOperations]) -> Result<OwnedAdmissionRequest, serde_json::Error> {
    let first = |list: fn(&api::RuleWithOperations) -> &Option<Vec<String>>, otherwise: &str| {
        let listed = rules.first().and_then(|rule| list(rule).as_ref()?.first());
        let specific = listed.filter(|text| *text != "*");
        specific.map_or_else(|| otherwise.to_owned(), Clone::clone)
    };
    let resource = first(|rule| &rule.resources, "configmaps");
    let resource = match resource.split('/').next() {
        Some(resource) if !resource.is_empty() && resource != "*" => resource.to_owned(),
        _ => "configmaps".to_owned(),
    };
    let (group, version) = (
        first(|rule| &rule.api_groups, ""),
        first(|rule| &rule.api_versions, "v1"),
    );
    let operation = first(|rule| &rule.operations, "CREATE");
    let served = GroupVersionResource {
        group: group.clone(),
        version: version.clone(),
        resource: resource.clone(),
    };
    let served = Release::latest().resources().find(&served, "");
    let kind = served.map_or_else(|| "Unknown".to_owned(), |served| served.kind.kind.clone());
    let api_version = if group.is_empty() {
        version.clone()
    } else {
        format!("{group}/{version}")
    };
    let name = "pratique-check";
    let metadata = json!({"name": name, "namespace": "default"});
    let object = json!({"apiVersion": api_version, "kind": kind, "metadata": metadata});
    let (new, old) = match operation.as_str() {
        "UPDATE" => (object.clone(), object),
        "DELETE" => (json!(null), object),
        "CONNECT" => (json!(null), json!(null)),
        _ => (object, json!(null)),
    };
    serde_json::from_value(json!({
        "uid": "",
        "kind": {"group": group, "version": version, "kind": kind},
        "resource": {"group": group, "version": version, "resource": resource},
        "name": name,
        "namespace": "default",
        "operation": operation,
        "userInfo": {"username": "system:admin"},
        "object": new,
        "oldObject": old,
        "dryRun": true,
    }))
}

/// An empty cluster whose authorizer has no opinion.
#[derive(Debug)]
struct EmptyCluster;

impl Namespaces for EmptyCluster {
    fn namespace<'a>(&'a self, _: &str) -> Namespace<'a> {
        Namespace::Absent
    }
}

impl authz::Authorizer for EmptyCluster {
    fn authorize(&self, _: &authz::Check<'_>) -> authz::Answer {
        authz::Answer::Decided(authz::AuthorizerDecision::default())
    }
}

fn context(equivalents: &Equivalents) -> WebhookContext<'_> {
    WebhookContext::new(equivalents, &EmptyCluster, Arc::new(EmptyCluster))
        .without_types()
        .excluding_virtual(false)
}
