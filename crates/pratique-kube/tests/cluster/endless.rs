//! A server whose answers do not end: they are read up to a bound, whatever asks.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::io;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::stream;
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Frame;
use kube::client::Body;
use pratique::types::{GroupVersionKind, GroupVersionResource};
use pratique_kube::{ApiServer, Client, ListOf};
use tokio::runtime::Runtime;
use tower_service::Service;

#[derive(Clone)]
struct EndlessServer;

impl Service<Request<Body>> for EndlessServer {
    type Response = Response<UnsyncBoxBody<Bytes, io::Error>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<Body>) -> Self::Future {
        let piece = Bytes::from(vec![b' '; 1 << 20]);
        let frames = stream::repeat_with(move || Ok(Frame::data(piece.clone())));
        ready(Ok(Response::new(StreamBody::new(frames).boxed_unsync())))
    }
}

#[test]
fn answers_without_end_are_not_read() {
    let runtime = Runtime::new().unwrap();
    let client = {
        let _entered = runtime.enter();
        Client::new(EndlessServer, "default")
    };
    let api = ApiServer::of_client(client).unwrap();
    let reader = api.reader();
    let discovered = reader.discovered().unwrap_err().to_string();
    assert!(
        discovered.contains("the answer is larger than 64 MiB"),
        "{discovered}"
    );
    let listed = reader.list(
        ListOf {
            resource: &GroupVersionResource::new("", "v1", "namespaces"),
            kind: &GroupVersionKind::new("", "v1", "Namespace"),
            namespace: None,
        },
        |_| true,
    );
    let listed = listed.unwrap_err().to_string();
    assert_eq!(listed, "larger than the 32 MiB that are read of a cluster");
}
