//! Tasks that follow a cluster, and die of a fault in them.

use std::time::Duration;

use pratique::Admission;
use pratique::cluster::ClusterView;
use pratique::live::Source;
use serde_json::json;
use tokio::time::sleep;

use crate::follow::{binding, code, policy, start};
use crate::server::{BINDINGS, FakeServer, MUTATING, NAMESPACES, POLICIES};

/// Kills what follows a collection; gives whether the view of the cluster, and the source of configuration, tell so.
async fn killed(collection: &str) -> (bool, bool) {
    let server = FakeServer::default();
    server.lack(MUTATING);
    let api = server.api();
    let (cluster, source) = (api.cluster(), api.source());
    let live = Admission::builder().live().cluster(cluster.clone());
    let live = live
        .source(source.clone())
        .decider(api.reviewer())
        .start()
        .unwrap();
    live.ready().await.unwrap();
    server.panic_at(collection);
    server.disconnect();
    for _ in 0..3000 {
        if !live.ended_tasks().is_empty() {
            break;
        }
        sleep(Duration::from_millis(20)).await;
    }
    let ended = (cluster.has_ended(), source.has_ended());
    live.stop();
    ended
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_dies_is_noticed_and_what_it_knew_stays() {
    let server = FakeServer::default();
    server.lack(MUTATING);
    server.put(POLICIES, policy("false"));
    server.put(BINDINGS, binding());
    server.put(NAMESPACES, json!({"metadata": {"name": "shop"}}));
    let live = start(&server);
    live.ready().await.unwrap();
    assert_eq!(live.ended_tasks(), [""; 0]);
    server.panic_at(POLICIES);
    server.disconnect();
    for _ in 0..3000 {
        if !live.ended_tasks().is_empty() {
            break;
        }
        sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(live.ended_tasks(), ["cluster"]);
    assert!(live.is_ready());
    assert_eq!(code(&live, "shop").await, 422);
    live.stop();
    assert_eq!(live.ended_tasks(), [""; 0], "it was told to");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_reports_the_end_of_its_own_task() {
    assert_eq!(killed(NAMESPACES).await, (true, false));
    assert_eq!(killed(BINDINGS).await, (false, true));
}
