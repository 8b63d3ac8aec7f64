//! A server that follows the configuration of a cluster, by a task that dies.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pratique::live::{Source, SourceNotifier};
use pratique::{Admission, Configurations};
use pratique_metrics::Metrics;
use pratique_server::{Endpoint, FollowedSource, KnownState, LastReloads, LiveHandler, Settings};

use super::client::Client;
use super::running::Running;

/// A source of nothing, whose task dies when told to.
#[derive(Clone, Default)]
struct Dying(Arc<AtomicBool>);

impl Source for Dying {
    fn current(&self) -> Option<Arc<Configurations>> {
        Some(Arc::default())
    }

    fn subscribe(&self, _: SourceNotifier) {}

    fn has_ended(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[test]
fn the_death_of_what_follows_a_cluster_has_the_server_restarted() {
    let dying = Dying::default();
    let reached = Endpoint::Url("https://nowhere".into());
    let followed = FollowedSource::new(dying.clone(), "cluster x", reached);
    let live = Admission::builder()
        .live()
        .source(followed.clone())
        .start()
        .unwrap();
    let handler = LiveHandler::new(live, LastReloads::default(), KnownState::ALL).following(followed);
    let server = Running::of(Arc::new(handler), Settings::new(Metrics::new("test")));
    let mut client = Client::to(server.address);
    let counter = "pratique_background_tasks_ended_total{task=\"cluster\"}";
    assert_eq!(
        (client.get("/readyz").code, client.get("/livez").code),
        (200, 200)
    );
    assert!(client.get("/metrics").body.contains(&format!("{counter} 0\n")));

    dying.0.store(true, Ordering::Relaxed);
    for (path, code) in [("/readyz", 503), ("/livez", 500)] {
        let answer = client.get(path);
        let expected = (code, "background tasks ended: cluster\n");
        assert_eq!((answer.code, &*answer.body), expected, "{path}");
    }
    let metrics = client.get("/metrics").body;
    assert!(metrics.contains(&format!("{counter} 1\n")), "{metrics}");
    assert_eq!(
        client.review("/validate", "web").code,
        200,
        "what was in effect stays"
    );
}
