//! Many connections at once, over HTTP/1.1 or HTTP/2, each with one request at a time.

use std::fmt::{self, Display, Formatter};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use pratique_harness::ToolError;
use reqwest::Client;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::client::ClientTrust;
use crate::measurements::MeasuredRequests;

/// How long to wait for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// How many clients connect at the same time.
const OPENED_TOGETHER: usize = 32;

/// A version of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HttpVersion {
    One,
    Two,
}

impl HttpVersion {
    pub(crate) const ALL: [HttpVersion; 2] = [HttpVersion::One, HttpVersion::Two];

    /// Its name in the negotiation of a connection.
    fn protocol(self) -> &'static str {
        match self {
            HttpVersion::One => "http/1.1",
            HttpVersion::Two => "h2",
        }
    }
}

impl Display for HttpVersion {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            HttpVersion::One => "HTTP/1.1",
            HttpVersion::Two => "HTTP/2",
        })
    }
}

/// Clients that keep a connection each.
pub(crate) struct ConnectionSet {
    runtime: Runtime,
    clients: Vec<Client>,
    url: String,
    body: String,
}

impl ConnectionSet {
    /// So many clients of a server; they connect with their first request.
    pub(crate) fn new(
        address: SocketAddr,
        trust: &ClientTrust,
        version: HttpVersion,
        count: usize,
        body: &str,
    ) -> Result<Self, ToolError> {
        let failed = |error: reqwest::Error| ToolError::from(format!("a client: {error}"));
        let trust = trust.with_protocol(version.protocol());
        let client = || {
            let client = Client::builder()
                .tls_backend_preconfigured(trust.config())
                .timeout(PATIENCE)
                .pool_max_idle_per_host(1);
            match version {
                HttpVersion::One => client.http1_only(),
                HttpVersion::Two => client.http2_prior_knowledge(),
            }
            .build()
            .map_err(failed)
        };
        // One thread: the servers need the processors.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("a runtime: {error}"))?;
        Ok(ConnectionSet {
            runtime,
            clients: (0..count).map(|_| client()).collect::<Result<_, _>>()?,
            url: format!("https://{address}/validate?timeout=30s"),
            body: body.to_owned(),
        })
    }

    /// Has each client ask once, few at a time: a thousand handshakes at once are no load that servers have.
    pub(crate) fn open(&self) -> Result<(), ToolError> {
        for clients in self.clients.chunks(OPENED_TOGETHER) {
            let parts = self.ask_all(clients, Instant::now());
            MeasuredRequests::merge(parts, Duration::ZERO).flawless()?;
        }
        Ok(())
    }

    /// Has all clients ask again and again for some time.
    pub(crate) fn run(&self, time: Duration) -> Result<MeasuredRequests, ToolError> {
        let begun = Instant::now();
        let parts = self.ask_all(&self.clients, begun + time);
        Ok(MeasuredRequests::merge(parts, begun.elapsed()))
    }

    fn ask_all(&self, clients: &[Client], end: Instant) -> Vec<MeasuredRequests> {
        self.runtime.block_on(async {
            let mut tasks = JoinSet::new();
            for client in clients {
                tasks.spawn(ask_until(
                    client.clone(),
                    self.url.clone(),
                    self.body.clone(),
                    end,
                ));
            }
            tasks.join_all().await
        })
    }
}

/// Asks one request after another.
async fn ask_until(client: Client, url: String, body: String, end: Instant) -> MeasuredRequests {
    let mut measured = MeasuredRequests::default();
    loop {
        let begun = Instant::now();
        match ask(&client, &url, &body).await {
            Ok(()) => measured.answered(begun.elapsed()),
            Err(error) => {
                measured.failed(error);
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
        if Instant::now() >= end {
            return measured;
        }
    }
}

async fn ask(client: &Client, url: &str, body: &str) -> Result<(), String> {
    let request = client.post(url).header("content-type", "application/json");
    let response = request.body(body.to_owned()).send().await;
    let response = response.map_err(|error| format!("asking: {error:?}"))?;
    let status = response.status();
    let text = response
        .text()
        .await
        .map_err(|error| format!("reading: {error:?}"))?;
    if status.is_success() && text.contains("\"allowed\":true") {
        Ok(())
    } else {
        Err(format!("{status}: {text}"))
    }
}
