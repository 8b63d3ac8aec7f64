//! One request and its scripted answer.

use std::collections::BTreeMap;
use std::fmt;
use std::future::pending;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Version};
use http_body_util::BodyExt;
use hyper::body::{Frame, Incoming, SizeHint};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::{Sleep, sleep};

use crate::connection::SharedConnection;
use crate::record::{Call, RecordState};
use crate::script::{ClosePoint, HangPoint, RefusedCall, Script};

/// Why a connection ends without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionCut {
    Closed,
    Reset,
    Refused(RefusedCall),
}

impl fmt::Display for ConnectionCut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the script ends here")
    }
}

impl std::error::Error for ConnectionCut {
    /// The error with which a stream of HTTP/2 is reset.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        static REFUSED: LazyLock<h2::Error> = LazyLock::new(|| h2::Reason::REFUSED_STREAM.into());
        match self {
            Self::Refused(_) => Some(&*REFUSED),
            Self::Closed | Self::Reset => None,
        }
    }
}

/// Records a request and follows the script of its path.
pub(crate) async fn answer(
    request: Request<Incoming>,
    shared: &Arc<SharedConnection>,
    client: Option<&'static str>,
) -> Result<Response<ScriptedBody>, ConnectionCut> {
    let state = &shared.state;
    let _active = state.enter();
    let mut round = state.round();
    let (head, body) = request.into_parts();
    let body = body
        .collect()
        .await
        .map_err(|_| ConnectionCut::Closed)?
        .to_bytes();
    let review = ReviewFields::read(&body);
    let path = decoded(head.uri.path());
    let script = {
        let mut log = state.lock();
        if state.records.load(Ordering::Relaxed) {
            let headers = log.headers.then(|| recorded(&head, client));
            record(&mut log, &head, headers, &body, &review);
        }
        let count = log.counts.entry(path.clone()).or_default();
        let call = *count;
        *count += 1;
        let script = log.scripts.get(&path).cloned();
        script.map(|script| (script, call))
    };
    let Some((script, call)) = script else {
        return Ok(not_found());
    };
    let script = script.step(call);
    if script.delay_ms > 0 {
        tokio::select! {
            () = sleep(Duration::from_millis(script.delay_ms)) => {}
            _ = round.changed() => {}
        }
    }
    match (script.hang, script.close) {
        (Some(HangPoint::Headers), _) => {
            let _ = round.changed().await;
            return Ok(Response::new(ScriptedBody::new(Bytes::new())));
        }
        (_, Some(ClosePoint::Headers)) => return Err(ConnectionCut::Closed),
        (_, Some(ClosePoint::Reset)) => return Err(ConnectionCut::Reset),
        _ => {}
    }
    if let Some(refuse) = script.refuse {
        return Err(ConnectionCut::Refused(refuse));
    }
    let mut answer = respond(script, &review, shared);
    if script.leave {
        shared.leave.notify_one();
        // The answer may be written before the connection learns of it, and the next request sent to one that closes.
        if head.version < Version::HTTP_2 {
            answer
                .headers_mut()
                .insert(CONNECTION, HeaderValue::from_static("close"));
        }
    }
    Ok(answer)
}

/// The fields of a review that an answer needs.
#[derive(Default, Deserialize)]
struct ReviewFields {
    #[serde(rename = "apiVersion", default)]
    api_version: String,
    #[serde(default)]
    request: AskedRequest,
}

#[derive(Default, Deserialize)]
struct AskedRequest {
    #[serde(default)]
    uid: String,
}

impl ReviewFields {
    fn read(body: &[u8]) -> Self {
        let review: Option<Self> = serde_json::from_slice(body).ok();
        review.unwrap_or_else(|| Self {
            api_version: "admission.k8s.io/v1".to_owned(),
            ..Self::default()
        })
    }
}

fn record(
    log: &mut RecordState,
    head: &http::request::Parts,
    headers: Option<BTreeMap<String, String>>,
    body: &[u8],
    fields: &ReviewFields,
) {
    let review = (!body.is_empty()).then(|| match serde_json::from_slice::<Value>(body) {
        Ok(mut review) => {
            if let Some(request) = review.get_mut("request").and_then(Value::as_object_mut) {
                request.remove("uid");
            }
            review
        }
        Err(_) => Value::String(String::from_utf8_lossy(body).into_owned()),
    });
    if !fields.request.uid.is_empty() {
        log.uids.push(fields.request.uid.clone());
    }
    log.calls.push(Call {
        phase: log.phase.clone(),
        method: (head.method != Method::POST).then(|| head.method.to_string()),
        path: decoded(head.uri.path()),
        query: head.uri.query().unwrap_or_default().to_owned(),
        headers,
        review,
    });
}

/// A path without percent encoding.
fn decoded(path: &str) -> String {
    let mut pieces = path.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let digits = piece.split_at_checked(2);
        match digits.and_then(|(digits, rest)| Some((u8::from_str_radix(digits, 16).ok()?, rest))) {
            Some((byte, rest)) => {
                bytes.push(byte);
                bytes.extend_from_slice(rest.as_bytes());
            }
            None => {
                bytes.push(b'%');
                bytes.extend_from_slice(piece.as_bytes());
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn recorded(head: &http::request::Parts, client: Option<&'static str>) -> BTreeMap<String, String> {
    let text = |name: HeaderName| Some(head.headers.get(name)?.to_str().ok()?.to_owned());
    let mut headers = BTreeMap::new();
    let host = head.uri.authority().map(ToString::to_string);
    headers.insert("Host".to_owned(), host.or_else(|| text(HOST)).unwrap_or_default());
    for (name, header_name) in [
        (http::header::ACCEPT, "Accept"),
        (http::header::AUTHORIZATION, "Authorization"),
        (http::header::CONTENT_TYPE, "Content-Type"),
        (http::header::USER_AGENT, "User-Agent"),
    ] {
        if let Some(value) = text(name).filter(|value| !value.is_empty()) {
            headers.insert(header_name.to_owned(), value);
        }
    }
    if let Some(client) = client {
        headers.insert("(client certificate)".to_owned(), client.to_owned());
    }
    headers
}

fn not_found() -> Response<ScriptedBody> {
    let mut response = Response::new(ScriptedBody::new(Bytes::from_static(b"404 page not found\n")));
    *response.status_mut() = StatusCode::NOT_FOUND;
    let text = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, text);
    response
}

fn respond(script: &Script, review: &ReviewFields, shared: &Arc<SharedConnection>) -> Response<ScriptedBody> {
    let mut body = fill_body(script, review, shared).into_bytes();
    body.resize(body.len() + script.pad_bytes, b' ');
    let length = body.len();
    let mut response = Response::new(ScriptedBody::new(Bytes::from(body)));
    *response.status_mut() = StatusCode::from_u16(script.status).unwrap_or(StatusCode::OK);
    headers(script, shared, response.headers_mut());
    let end = match (script.close, script.hang) {
        (Some(ClosePoint::Body | ClosePoint::Midway), _) => {
            response
                .headers_mut()
                .insert(CONTENT_LENGTH, HeaderValue::from(length + 1000));
            AnswerEnd::Close(
                Box::pin(sleep(Duration::from_millis(20))),
                script.close == Some(ClosePoint::Midway),
            )
        }
        (_, Some(HangPoint::Body)) => AnswerEnd::Hang(released(shared)),
        (_, Some(HangPoint::Drip)) => AnswerEnd::Drip(Box::pin(sleep(Duration::ZERO)), released(shared)),
        (_, Some(HangPoint::Flood)) => AnswerEnd::Flood,
        _ => return response,
    };
    let body = response.body_mut();
    body.end = end;
    body.shared = Some(Arc::clone(shared));
    response
}

fn headers(script: &Script, shared: &Arc<SharedConnection>, headers: &mut HeaderMap) {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in &script.headers {
        let Ok(name) = HeaderName::try_from(name.as_str()) else {
            continue;
        };
        let value = shared.state.filled(value);
        match HeaderValue::try_from(value) {
            Ok(value) if !value.is_empty() => drop(headers.insert(name, value)),
            _ => drop(headers.remove(name)),
        }
    }
}

fn fill_body(script: &Script, review: &ReviewFields, shared: &Arc<SharedConnection>) -> String {
    let uid = &review.request.uid;
    if let Some(body) = &script.body {
        return shared.state.filled(&body.replace("$UID", uid));
    }
    if script.respond.is_none() && script.envelope.is_none() {
        return String::new();
    }
    let mut response = Map::from_iter([("uid".to_owned(), Value::from(uid.as_str()))]);
    for (name, value) in script.respond.iter().flatten() {
        response.insert(name.clone(), value.clone());
    }
    response.retain(|_, value| !value.is_null());
    for (name, value) in &mut response {
        if let Value::String(text) = value {
            *text = text.replace("$UID", uid);
        } else if name == "patch" {
            *value = Value::from(pratique_json::base64::encode(value.to_string().as_bytes()));
        }
    }
    let mut review =
        json!({"apiVersion": review.api_version, "kind": "AdmissionReview", "response": response});
    for (name, value) in script.envelope.iter().flatten() {
        let Some(review) = review.as_object_mut() else {
            continue;
        };
        if value.is_null() {
            review.remove(name);
        } else {
            review.insert(name.clone(), value.clone());
        }
    }
    review.to_string()
}

type ReleaseSignal = Pin<Box<dyn Future<Output = ()> + Send>>;

fn released(shared: &Arc<SharedConnection>) -> ReleaseSignal {
    let mut round = shared.state.round();
    Box::pin(async move {
        if round.changed().await.is_err() {
            pending::<()>().await;
        }
    })
}

/// A body: one piece, and then the script's way to end it.
pub(crate) struct ScriptedBody {
    first: Option<Bytes>,
    end: AnswerEnd,
    shared: Option<Arc<SharedConnection>>,
}

enum AnswerEnd {
    Whole,
    /// Closed, or reset, after a moment in which earlier bytes get through.
    Close(Pin<Box<Sleep>>, bool),
    Hang(ReleaseSignal),
    Drip(Pin<Box<Sleep>>, ReleaseSignal),
    Flood,
}

impl ScriptedBody {
    fn new(bytes: Bytes) -> Self {
        Self {
            first: Some(bytes).filter(|bytes| !bytes.is_empty()),
            end: AnswerEnd::Whole,
            shared: None,
        }
    }
}

impl hyper::body::Body for ScriptedBody {
    type Data = Bytes;
    type Error = ConnectionCut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ConnectionCut>>> {
        static SPACES: [u8; 16 * 1024] = [b' '; 16 * 1024];
        if let Some(bytes) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        let this = &mut *self;
        match &mut this.end {
            AnswerEnd::Whole => Poll::Ready(None),
            AnswerEnd::Close(wait, reset) => {
                ready!(wait.as_mut().poll(context));
                match this.shared.as_ref().filter(|_| *reset) {
                    Some(shared) => {
                        shared.cut.notify_one();
                        Poll::Pending
                    }
                    None => Poll::Ready(Some(Err(ConnectionCut::Closed))),
                }
            }
            AnswerEnd::Hang(released) => released.as_mut().poll(context).map(|()| None),
            AnswerEnd::Drip(wait, released) => {
                if released.as_mut().poll(context).is_ready() {
                    return Poll::Ready(None);
                }
                ready!(wait.as_mut().poll(context));
                *wait = Box::pin(sleep(Duration::from_millis(20)));
                Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b" ")))))
            }
            AnswerEnd::Flood => Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&SPACES))))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && matches!(self.end, AnswerEnd::Whole)
    }

    fn size_hint(&self) -> SizeHint {
        match self.end {
            AnswerEnd::Whole => {
                SizeHint::with_exact(self.first.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            _ => SizeHint::default(),
        }
    }
}
