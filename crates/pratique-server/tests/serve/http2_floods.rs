//! Connections of HTTP/2 that send frames which ask for nothing.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf, split};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::client::review;
use super::handler::DEADLINE;
use super::running::Running;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const END_HEADERS: u8 = 4;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let [_, l0, l1, l2] = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = vec![l0, l1, l2, kind, flags];
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// `POST https://a/validate`, without its end.
fn headers(stream: u32, flags: u8) -> Vec<u8> {
    let block = b"\x83\x87\x01\x01a\x04\x09/validate";
    frame(HEADERS, flags, stream, block)
}

type Connection = (ReadHalf<TlsStream<TcpStream>>, WriteHalf<TlsStream<TcpStream>>);

async fn connect(server: &Running, config: &Arc<ClientConfig>) -> Connection {
    let stream = TcpStream::connect(server.address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let connector = TlsConnector::from(config.clone());
    let (reader, mut writer) = split(connector.connect(name, stream).await.unwrap());
    writer.write_all(PREFACE).await.unwrap();
    writer.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
    (reader, writer)
}

/// Sends frames until the connection is closed.
async fn flood(server: &Running, config: &Arc<ClientConfig>, name: &str, frames: impl Fn(u32) -> Vec<u8>) {
    let (mut reader, mut writer) = connect(server, config).await;
    let reading = tokio::spawn(async move {
        let mut buffer = vec![0; 64 << 10];
        while reader.read(&mut buffer).await.is_ok_and(|length| length > 0) {}
    });
    let writing = async {
        for number in 0.. {
            if writer.write_all(&frames(number)).await.is_err() || writer.flush().await.is_err() {
                return;
            }
        }
    };
    let closed = timeout(DEADLINE, writing).await;
    assert!(closed.is_ok(), "{name}: it is read without end");
    timeout(DEADLINE, reading).await.unwrap().unwrap();
}

/// Opens so many streams without bodies first.
fn after_streams(open: u32, frames: impl Fn(u32) -> Vec<u8>) -> impl Fn(u32) -> Vec<u8> {
    move |number| match number {
        number if number < open => headers(2 * number + 1, END_HEADERS),
        number => frames(number),
    }
}

/// Settings that change the window of all streams.
fn settings(number: u32) -> Vec<u8> {
    let [_, _, high, low] = (60_000 + number % 2).to_be_bytes();
    frame(SETTINGS, 0, 0, &[0, 4, 0, 0, high, low])
}

#[test]
fn floods_of_all_kinds_end() {
    let (server, _, config, _directory) = Running::over_http2(|_| {});
    let config = Arc::new(config);
    let runtime = Runtime::new().unwrap();
    let check = |name: &str, frames: &dyn Fn(u32) -> Vec<u8>| {
        runtime.block_on(flood(&server, &config, name, frames));
    };
    check("settings", &settings);
    check("settings and streams", &after_streams(90, settings));
    check("pings", &|number| {
        frame(PING, 0, 0, &[number.to_be_bytes(), [0; 4]].concat())
    });
    check("windows", &|_| frame(WINDOW_UPDATE, 0, 0, &1_u32.to_be_bytes()));
    let of_streams = |number: u32| frame(WINDOW_UPDATE, 0, 2 * (number % 90) + 1, &1_u32.to_be_bytes());
    check("windows of streams", &after_streams(90, of_streams));
    check("priorities", &|_| frame(PRIORITY, 0, 1, &[0, 0, 0, 0, 16]));
    check("streams that are reset", &|number| {
        let stream = 2 * number + 1;
        let reset = frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes());
        [headers(stream, END_HEADERS), reset].concat()
    });
    check("streams that are refused", &|number| {
        headers(2 * number + 1, END_HEADERS)
    });
    check(
        "data without bytes",
        &after_streams(1, |_| frame(DATA, 0, 1, &[])),
    );
    check("data of a byte", &after_streams(1, |_| frame(DATA, 0, 1, b" ")));
    let unended = |number: u32| match number {
        0 => headers(1, 0),
        _ => frame(CONTINUATION, 0, 1, &[]),
    };
    check("headers that do not end", &unended);
    check("frames of unknown kinds", &|_| frame(0x20, 0, 0, &[]));
}

/// What usual clients send is paid for by their answers, however many there are.
#[test]
fn requests_are_no_flood() {
    let (server, _, config, _directory) = Running::over_http2(|_| {});
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        let stream = TcpStream::connect(server.address).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let connector = TlsConnector::from(Arc::new(config));
        let stream = connector.connect(name, stream).await.unwrap();
        let (client, connection) = h2::client::handshake(stream).await.unwrap();
        tokio::spawn(connection);
        let requests = (0..40).map(|_| {
            let client = client.clone();
            tokio::spawn(async move {
                for _ in 0..50 {
                    let request = http::Request::post("https://localhost/validate");
                    let request = request.header("content-type", "application/json");
                    let mut client = client.clone().ready().await.unwrap();
                    let (answer, mut body) = client.send_request(request.body(()).unwrap(), false).unwrap();
                    // As Go's client does, the end comes by itself.
                    let review = review("web").to_string();
                    body.send_data(review.into_bytes().into(), false).unwrap();
                    body.send_data(bytes::Bytes::new(), true).unwrap();
                    assert_eq!(answer.await.unwrap().status(), 200);
                }
            })
        });
        for request in requests.collect::<Vec<_>>() {
            request.await.unwrap();
        }
    });
}
