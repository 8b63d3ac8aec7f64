//! The load: connections with one request at a time each.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use pratique_benches::request;
use pratique_harness::{ToolError, together};
use serde_json::{Value, json};

use super::client::{ClientTrust, LoadClient};
use super::measurements::MeasuredRequests;

/// How large a request is: Pods of clusters are, of which most says who manages which field.
const BYTES: usize = 9_000;

/// A load: the request, the server, and the number of connections.
pub struct ServerLoad {
    /// The server.
    pub address: SocketAddr,
    /// Whose certificate the server has.
    pub trust: ClientTrust,
    /// How many connections there are, each with one request at a time.
    pub connections: usize,
    /// The body of each request.
    pub request: String,
}

/// An action during the load.
pub struct LoadAction<'a>(Option<std::cell::RefCell<Box<dyn FnMut() + 'a>>>);

impl<'a> LoadAction<'a> {
    /// Nothing.
    pub fn nothing() -> Self {
        LoadAction(None)
    }

    /// Something each second.
    pub fn each_second(what: impl FnMut() + 'a) -> Self {
        LoadAction(Some(std::cell::RefCell::new(Box::new(what))))
    }
}

impl ServerLoad {
    /// Asks for some time.
    pub fn run(&self, time: Duration, during: &LoadAction<'_>) -> Result<MeasuredRequests, ToolError> {
        let start = Instant::now();
        let end = start + time;
        thread::scope(|scope| {
            let clients: Vec<_> = (0..self.connections)
                .map(|_| scope.spawn(|| self.ask(|| Instant::now() < end)))
                .collect();
            while Instant::now() + Duration::from_secs(1) < end {
                thread::sleep(Duration::from_secs(1));
                if let LoadAction(Some(what)) = during {
                    (what.borrow_mut())();
                }
            }
            let all = clients.into_iter().map(|client| client.join());
            let all = all.collect::<Result<Vec<_>, _>>();
            let all = all.map_err(|_| "a client panicked".to_owned())?;
            Ok(MeasuredRequests::merge(all, start.elapsed()))
        })
    }

    /// Sends requests until connections are refused.
    pub fn run_until_refused(&self) -> Result<MeasuredRequests, ToolError> {
        let start = Instant::now();
        let all = together(self.connections, || self.ask_until_refused())?;
        Ok(MeasuredRequests::merge(all, start.elapsed()))
    }

    /// One connection after the other; there is but one as long as nothing goes wrong.
    fn ask(&self, goes_on: impl Fn() -> bool) -> MeasuredRequests {
        let mut measured = MeasuredRequests::default();
        while goes_on() {
            let ended = LoadClient::connect(self.address, &self.trust)
                .and_then(|mut client| self.keep_asking(&mut client, &goes_on, &mut measured));
            if let Err(error) = ended {
                measured.failed(error.to_string());
                thread::sleep(Duration::from_millis(10));
            }
        }
        measured
    }

    /// The same, but the end of the server is no error where no request has begun: a connection that the system took
    /// and the server did not begins nothing.
    fn ask_until_refused(&self) -> MeasuredRequests {
        let mut measured = MeasuredRequests::default();
        while let Ok(mut client) = LoadClient::connect(self.address, &self.trust) {
            let mut attempt = MeasuredRequests::default();
            let ended = self.keep_asking(&mut client, || true, &mut attempt);
            let begun = attempt.flawless().is_ok();
            measured = MeasuredRequests::merge(vec![measured, attempt], Duration::ZERO);
            if let Err(error) = ended {
                if begun {
                    measured.failed(error.to_string());
                }
                break;
            }
        }
        measured
    }

    /// Asks on a connection until it ends.
    fn keep_asking(
        &self,
        client: &mut LoadClient,
        goes_on: impl Fn() -> bool,
        measured: &mut MeasuredRequests,
    ) -> Result<(), ToolError> {
        while goes_on() {
            let start = Instant::now();
            let answer = client.review(&self.request)?;
            let took = start.elapsed();
            let text = String::from_utf8_lossy(&answer.body);
            if answer.code == 200 && text.contains("\"allowed\":true") {
                measured.answered(took)
            } else {
                measured.failed(format!("{}: {text}", answer.code))
            }
            if answer.last {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// A review of a Pod of usual size, which all policies are about and none denies.
pub fn review() -> String {
    let mut request: Value = serde_json::from_str(&request()).unwrap_or_default();
    let wanted = BYTES.saturating_sub(request.to_string().len() + 100);
    if let Some(metadata) = request
        .pointer_mut("/object/metadata")
        .and_then(Value::as_object_mut)
    {
        metadata.insert("managedFields".to_owned(), managed_fields(wanted));
    }
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}).to_string()
}

/// Who manages which field, as long as wanted.
fn managed_fields(bytes: usize) -> Value {
    let mut fields = serde_json::Map::new();
    let mut length = 0;
    for index in 0.. {
        let field = format!("k:{{\"name\":\"SETTING_{index}\"}}");
        let value = json!({".": {}, "f:name": {}, "f:value": {}});
        length += value.to_string().len() + field.len() + 10;
        if length > bytes {
            break;
        }
        fields.insert(field, value);
    }
    json!([{"apiVersion": "v1", "fieldsType": "FieldsV1", "manager": "kubectl", "operation": "Update",
        "time": "2026-01-01T00:00:00Z", "fieldsV1": {"f:spec": {"f:containers": {"k:{\"name\":\"app\"}": {"f:env": fields}}}}}])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reviews_are_of_usual_size() {
        let length = review().len();
        assert!((8_500..9_500).contains(&length), "{length}");
    }
}
