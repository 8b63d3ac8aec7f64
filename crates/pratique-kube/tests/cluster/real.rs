//! It creates a policy, a binding and a namespace of the name `pratique-test`, and deletes them again.

use std::time::{Duration, Instant};

use k8s_openapi::api::admissionregistration::v1::{
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};
use kube::Api;
use kube::api::{DeleteParams, PostParams};
use pratique::Admission;
use pratique::authorization::{CheckDecider, Question, QuestionSubject, User};
use pratique_kube::{ApiServer, Client};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::follow::{becomes, binding, code, policy};

const NAME: &str = "pratique-test";

fn named<T: DeserializeOwned>(mut object: Value) -> T {
    object["metadata"] = json!({"name": NAME});
    serde_json::from_value(object).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster"]
async fn a_policy_of_the_cluster_is_a_verdict() {
    let client = Client::try_default().await.unwrap();
    let policies: Api<ValidatingAdmissionPolicy> = Api::all(client.clone());
    let bindings: Api<ValidatingAdmissionPolicyBinding> = Api::all(client);
    let _ = policies.delete(NAME, &DeleteParams::default()).await;
    let _ = bindings.delete(NAME, &DeleteParams::default()).await;
    let server = ApiServer::infer().unwrap();
    let live = Admission::builder().live().cluster(server.cluster());
    let live = live
        .source(server.source())
        .decider(server.reviewer())
        .start()
        .unwrap();
    let began = Instant::now();
    tokio::time::timeout(Duration::from_secs(30), live.ready())
        .await
        .unwrap()
        .unwrap();
    println!("ready after {:?}", began.elapsed());
    assert_eq!(server.cluster().problems(), Vec::<String>::new());
    assert_eq!(code(&live, "default").await, 200);
    let mut binding = binding();
    binding["spec"]["policyName"] = json!(NAME);
    bindings
        .create(&PostParams::default(), &named(binding))
        .await
        .unwrap();
    let expression = "authorizer.path('/healthz').check('nothing').allowed()";
    policies
        .create(&PostParams::default(), &named(policy(expression)))
        .await
        .unwrap();
    let began = Instant::now();
    becomes(&live, "default", 422).await;
    println!("denied after {:?}", began.elapsed());
    bindings.delete(NAME, &DeleteParams::default()).await.unwrap();
    becomes(&live, "default", 200).await;
    policies.delete(NAME, &DeleteParams::default()).await.unwrap();
    let question = Question {
        user: User {
            name: "admin".to_owned(),
            groups: vec!["system:masters".to_owned()],
            ..User::default()
        },
        verb: "get".to_owned(),
        subject: QuestionSubject::Path("/healthz".to_owned()),
    };
    let decisions = server.reviewer().decide(vec![question]).await;
    assert!(decisions[0].allowed, "{decisions:?}");
    live.stop();
}
