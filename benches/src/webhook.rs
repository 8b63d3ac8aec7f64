//! Our side of `cargo xtask bench webhook`: requests before webhooks, one after the other and several at once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pratique::Objects;
use pratique::types::AdmissionRequest;
use pratique_benches::BenchError;
use pratique_benches::contest::{ContestOrder, ContestSide, TurnSample};
use pratique_expression::Cache;
use pratique_match::Equivalents;
use pratique_schema::Release;
use pratique_testkit::NoOpinion;
use pratique_webhook::{
    HttpCaller, MutatedRequest, MutatingWebhooks, Origin, Reinvocation, ValidatingWebhooks, WebhookContext,
    mutate, validate,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

/// The webhooks by case, all over one request.
pub(crate) struct WebhookCases {
    runtime: Runtime,
    cases: BTreeMap<String, Arc<WebhookSubject>>,
}

struct WebhookSubject {
    mutating: MutatingWebhooks,
    validating: ValidatingWebhooks,
    request: &'static AdmissionRequest<'static>,
    cluster: Objects,
    equivalents: Equivalents,
    caller: HttpCaller,
}

#[derive(Deserialize)]
struct WebhookSetup {
    request: Value,
    namespace: Value,
    cases: BTreeMap<String, WebhookConfigurations>,
}

#[derive(Deserialize)]
struct WebhookConfigurations {
    mutating: Value,
    validating: Value,
}

impl WebhookCases {
    pub(crate) fn new(setup: Value) -> Result<Self, BenchError> {
        let setup: WebhookSetup = serde_json::from_value(setup)?;
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
        // Both live as long as the process.
        let text: &'static str = Box::leak(setup.request.to_string().into_boxed_str());
        let request: AdmissionRequest<'static> = serde_json::from_str(text)?;
        let request: &'static AdmissionRequest<'static> = Box::leak(Box::new(request));
        let subject = |(name, configurations): (String, WebhookConfigurations)| {
            let subject = WebhookSubject::new(&configurations, &setup.namespace, request)?;
            Ok((name, Arc::new(subject)))
        };
        Ok(WebhookCases {
            runtime: runtime?,
            cases: setup
                .cases
                .into_iter()
                .map(subject)
                .collect::<Result<_, BenchError>>()?,
        })
    }
}

impl WebhookSubject {
    fn new(
        configurations: &WebhookConfigurations,
        namespace: &Value,
        request: &'static AdmissionRequest<'static>,
    ) -> Result<Self, BenchError> {
        let mutating = serde_json::from_value(configurations.mutating.clone())?;
        let validating = serde_json::from_value(configurations.validating.clone())?;
        let mut cluster = Objects::new();
        let text = namespace.to_string();
        let namespace = pratique_json::parse(text.as_bytes())?;
        let _ = cluster.insert(namespace.into_owned());
        Ok(WebhookSubject {
            mutating: MutatingWebhooks::compile([&mutating], Origin::Api, &Cache::new()),
            validating: ValidatingWebhooks::compile([&validating], Origin::Api, &Cache::new()),
            request,
            cluster,
            equivalents: Equivalents::of_release(Release::latest().resources()),
            caller: HttpCaller::default(),
        })
    }

    fn context(&self) -> WebhookContext<'_> {
        let deadline = Instant::now() + Duration::from_secs(30);
        WebhookContext::new(&self.equivalents, &self.cluster, Arc::new(NoOpinion)).with_deadline(deadline)
    }

    async fn mutate(&self) -> Result<MutatedRequest, BenchError> {
        let mut reinvocation = Reinvocation::default();
        let context = self.context();
        let sets = [&self.mutating];
        Ok(mutate(
            &sets,
            self.request,
            &context,
            &mut reinvocation,
            &self.caller,
            &mut (),
        )
        .await?)
    }

    /// The labels of the mutated object.
    async fn labels(&self) -> Result<Value, BenchError> {
        let mutated = self.mutate().await?;
        let object = mutated
            .object
            .ok_or_else(|| format!("nothing was changed: {:?}", mutated.status))?;
        let object: Value = serde_json::from_str(&object.to_string())?;
        Ok(object.pointer("/metadata/labels").cloned().unwrap_or_default())
    }

    async fn validate(&self) -> Result<(), BenchError> {
        let context = self.context();
        let validated = validate(&[&self.validating], self.request, &context, &self.caller, &mut ()).await;
        let validated = validated?;
        validated
            .status
            .map_or(Ok(()), |status| Err(status.message.into()))
    }

    async fn work(&self, measure: &str) -> Result<(), BenchError> {
        match measure {
            "mutate" => self
                .mutate()
                .await?
                .status
                .map_or(Ok(()), |status| Err(status.message.into())),
            _ => self.validate().await,
        }
    }
}

impl ContestSide for WebhookCases {
    fn facts(&self) -> Result<Value, BenchError> {
        let mut facts = serde_json::Map::new();
        for (name, subject) in &self.cases {
            let labels = self.runtime.block_on(async {
                subject.validate().await?;
                subject.labels().await
            });
            facts.insert(name.clone(), labels?);
        }
        Ok(json!({"labels": facts}))
    }

    fn measure(&self, order: &ContestOrder) -> Result<TurnSample, BenchError> {
        let subject = self
            .cases
            .get(&order.case)
            .ok_or_else(|| format!("no case is named {:?}", order.case))?;
        let length = Duration::from_nanos(order.nanoseconds);
        if order.measure == "throughput" {
            return self.runtime.block_on(at_once(subject, length));
        }
        let (subject, measure) = (Arc::clone(subject), order.measure.clone());
        let measured = self
            .runtime
            .spawn(async move { one_by_one(&subject, &measure, length).await });
        self.runtime.block_on(measured)?
    }
}

/// How many requests are under way at once.
const AT_ONCE: usize = 16;

/// The median of how long requests take.
async fn one_by_one(
    subject: &WebhookSubject,
    measure: &str,
    length: Duration,
) -> Result<TurnSample, BenchError> {
    let (mut times, start) = (Vec::new(), Instant::now());
    while times.is_empty() || start.elapsed() < length {
        let began = Instant::now();
        subject.work(measure).await?;
        times.push(u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX));
    }
    times.sort_unstable();
    Ok(TurnSample {
        operations: 1,
        nanoseconds: times.get(times.len() / 2).copied().unwrap_or(0),
    })
}

/// How many requests are answered.
async fn at_once(subject: &Arc<WebhookSubject>, length: Duration) -> Result<TurnSample, BenchError> {
    let start = Instant::now();
    let workers: Vec<_> = (0..AT_ONCE)
        .map(|_| {
            let subject = Arc::clone(subject);
            tokio::spawn(async move {
                let mut requests = 0;
                while start.elapsed() < length {
                    subject.validate().await?;
                    requests += 1;
                }
                Ok::<u64, BenchError>(requests)
            })
        })
        .collect();
    let mut operations = 0;
    for worker in workers {
        operations += worker.await??;
    }
    Ok(TurnSample {
        operations,
        nanoseconds: u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX),
    })
}
