//! A client whose answers have bounds: an API server, or who answers in its place, may answer without end.
//!
//! Everything that is read of a server passes through one of these clients, whichever part of the client library reads it.

use std::collections::HashMap;
use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::StreamExt as _;
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, BodyStream, StreamBody};
use kube::Client;
use kube::client::Body;
use tokio::runtime::Handle;
use tower_service::Service;

/// The most bytes of an answer, and of an event of a watch. A page of a list is an answer, and objects are no larger than etcd's
/// 1.5 MiB: of pages of usual objects, this is a hundred times what is in them.
pub(super) const MOST_OF_ANSWER: usize = 64 << 20;

/// The most bytes of all pages of a list whose objects are kept.
const MOST_OF_LIST: usize = 512 << 20;

/// An error of a request or of its answer.
pub(super) type ClientError = Box<dyn Error + Send + Sync>;

/// Why an answer is not read to its end.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum TooLong {
    /// An answer, or an event of a watch.
    #[error("the answer is larger than {} MiB", .0 >> 20)]
    Answer(usize),
    /// The pages of a list.
    #[error("the list is larger than {} MiB", .0 >> 20)]
    List(usize),
}

/// A client with bounds on single answers: what is read is not kept, or counted otherwise.
pub(super) fn bounded(client: Client, handle: &Handle) -> Client {
    with_bounds(client, None, handle)
}

/// A client with bounds on single answers and on whole lists, for objects that are kept.
pub(super) fn bounded_lists(client: Client, handle: &Handle) -> Client {
    with_bounds(client, Some(Arc::default()), handle)
}

fn with_bounds(client: Client, lists: Option<Arc<ListBytes>>, handle: &Handle) -> Client {
    // The client starts a task of its own.
    let _runtime = handle.enter();
    let namespace = client.default_namespace().to_owned();
    Client::new(BoundedClient { client, lists }, namespace)
}

#[derive(Clone)]
struct BoundedClient {
    client: Client,
    lists: Option<Arc<ListBytes>>,
}

/// How many bytes of the pages of each list were read, by its path.
#[derive(Debug, Default)]
struct ListBytes(Mutex<HashMap<String, usize>>);

impl ListBytes {
    /// How much of a list may still be read, from the page that a query asks for.
    fn left(&self, path: &str, query: &str) -> usize {
        let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_continued = query
            .split('&')
            .any(|parameter| parameter.starts_with("continue="));
        if !is_continued {
            lists.remove(path);
        }
        MOST_OF_LIST.saturating_sub(lists.get(path).copied().unwrap_or_default())
    }

    fn add(&self, path: &str, bytes: usize) {
        let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let read = lists.entry(path.to_owned()).or_default();
        *read = read.saturating_add(bytes);
    }
}

/// The bytes of an answer that may still be read.
struct AnswerBudget {
    left: usize,
    /// Whether each event of a watch has a budget of its own.
    is_watch: bool,
    /// The list that it is a page of, and its path.
    list: Option<(Arc<ListBytes>, String)>,
    too_long: fn(usize) -> TooLong,
    most: usize,
}

impl AnswerBudget {
    fn new(request: &Request<Body>, lists: Option<&Arc<ListBytes>>) -> Self {
        let uri = request.uri();
        let query = uri.query().unwrap_or_default();
        let is_watch = query
            .split('&')
            .any(|parameter| matches!(parameter, "watch=true" | "watch=1"));
        let mut budget = AnswerBudget {
            left: MOST_OF_ANSWER,
            is_watch,
            list: None,
            too_long: TooLong::Answer,
            most: MOST_OF_ANSWER,
        };
        if let (Some(lists), false) = (lists, is_watch) {
            let left = lists.left(uri.path(), query);
            if left < budget.left {
                (budget.left, budget.most, budget.too_long) = (left, MOST_OF_LIST, TooLong::List);
            }
            budget.list = Some((Arc::clone(lists), uri.path().to_owned()));
        }
        budget
    }

    /// Counts what came of the answer.
    fn count(&mut self, data: &[u8]) -> Result<(), TooLong> {
        if let Some((list, path)) = &self.list {
            list.add(path, data.len());
        }
        let length = match data.iter().rposition(|byte| *byte == b'\n') {
            Some(end) if self.is_watch => {
                self.left = self.most;
                data.len() - end - 1
            }
            _ => data.len(),
        };
        match self.left.checked_sub(length) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err((self.too_long)(self.most)),
        }
    }
}

impl Service<Request<Body>> for BoundedClient {
    type Response = Response<UnsyncBoxBody<Bytes, ClientError>>;
    type Error = ClientError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, ClientError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ClientError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let client = self.client.clone();
        let mut budget = AnswerBudget::new(&request, self.lists.as_ref());
        Box::pin(async move {
            let response = client.send(request).await?;
            Ok(response.map(|body| {
                let frames = BodyStream::new(body).map(move |frame| {
                    let frame = frame.map_err(ClientError::from)?;
                    if let Some(data) = frame.data_ref() {
                        budget.count(data)?;
                    }
                    Ok::<_, ClientError>(frame)
                });
                BodyExt::boxed_unsync(StreamBody::new(frames))
            }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(uri: &str, lists: Option<&Arc<ListBytes>>) -> AnswerBudget {
        AnswerBudget::new(&Request::get(uri).body(Body::empty()).unwrap(), lists)
    }

    /// How many pieces of 16 MiB of an answer are read, and why no more.
    fn pieces(budget: &mut AnswerBudget, piece: &[u8]) -> (usize, String) {
        (0..100)
            .find_map(|count| Some((count, budget.count(piece).err()?.to_string())))
            .unwrap_or((100, String::new()))
    }

    #[test]
    fn answers_have_a_bound() {
        let piece = vec![b' '; 16 << 20];
        let too_large = |what: &str, most: usize| format!("the {what} is larger than {most} MiB");
        let mut discovery = budget("/apis", None);
        assert_eq!(pieces(&mut discovery, &piece), (4, too_large("answer", 64)));
        // Of a watch, an event.
        let mut event = budget("/api/v1/pods?watch=true", None);
        assert_eq!(pieces(&mut event, &piece), (4, too_large("answer", 64)));
        let mut events = budget("/api/v1/pods?limit=1&watch=true", None);
        let lines = [b"\n", piece.as_slice(), b"\n"].concat();
        assert_eq!(pieces(&mut events, &lines), (100, String::new()));
    }

    #[test]
    fn lists_have_a_bound() {
        let piece = vec![b' '; 16 << 20];
        let lists = Arc::new(ListBytes::default());
        let page = |query: &str| budget(&format!("/api/v1/namespaces{query}"), Some(&lists));
        // Three pieces of a page.
        let read = |query: &str| (0..3).all(|_| page(query).count(&piece).is_ok());
        assert!(read("?limit=100"));
        for _ in 0..9 {
            assert!(read("?limit=100&continue=x"));
        }
        assert!(!(0..3).all(|_| read("?limit=100&continue=x")));
        // It begins anew.
        assert!(read("?limit=100"));
    }
}
