//! A client of `pratique serve` over one kept-alive HTTP/1.1 connection: the time from writing a review until its
//! response is read.
//!
//! The setup is `{"address", "review"}`: where the server is, and the file of the AdmissionReview.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use pratique_benches::BenchError;
use pratique_benches::contest::{ContestOrder, ContestSide, TurnSample};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct AskSetup {
    address: String,
    review: String,
}

/// The connection, and the request that is sent over it.
pub(crate) struct ReviewClient {
    connection: RefCell<BufReader<TcpStream>>,
    message: Vec<u8>,
}

impl ReviewClient {
    pub(crate) fn new(setup: Value) -> Result<Self, BenchError> {
        let AskSetup { address, review } = serde_json::from_value(setup)?;
        let body = std::fs::read(&review).map_err(|error| format!("{review}: {error}"))?;
        let connection = TcpStream::connect(&address).map_err(|error| format!("{address}: {error}"))?;
        connection.set_nodelay(true)?;
        let mut message = format!(
            "POST /validate HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        )
        .into_bytes();
        message.extend(body);
        Ok(ReviewClient {
            connection: RefCell::new(BufReader::new(connection)),
            message,
        })
    }

    /// Sends the review and reads the body of the response.
    fn review(&self) -> Result<Vec<u8>, BenchError> {
        let mut connection = self.connection.borrow_mut();
        connection.get_mut().write_all(&self.message)?;
        let (mut line, mut length) = (String::new(), 0);
        loop {
            line.clear();
            connection.read_line(&mut line)?;
            match line.trim_end().split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().map_err(|error| format!("{line}: {error}"))?;
                }
                None if line.trim_end().is_empty() => break,
                _ => {}
            }
        }
        let mut body = vec![0; length];
        connection.read_exact(&mut body)?;
        Ok(body)
    }
}

impl ContestSide for ReviewClient {
    fn facts(&self) -> Result<Value, BenchError> {
        let answer: Value = serde_json::from_slice(&self.review()?)?;
        Ok(answer.pointer("/response/allowed").cloned().unwrap_or_default())
    }

    fn measure(&self, order: &ContestOrder) -> Result<TurnSample, BenchError> {
        Ok(order.time(|| self.review()))
    }
}
