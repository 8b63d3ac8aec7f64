//! A client of `pratique serve` over one connection of HTTP/1.1 that is kept: the time from writing a review until its
//! answer is read.
//!
//! The setup is `{"address", "review"}`: where the server is, and the file of the AdmissionReview.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use pratique_benches::contest::{Order, Sample, Side};
use pratique_harness::Error;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Setup {
    address: String,
    review: String,
}

/// The connection, and what is sent over it.
pub(crate) struct Asking {
    connection: RefCell<BufReader<TcpStream>>,
    message: Vec<u8>,
}

impl Asking {
    pub(crate) fn new(setup: Value) -> Result<Self, Error> {
        let Setup { address, review } = serde_json::from_value(setup).map_err(|error| error.to_string())?;
        let body = std::fs::read(&review).map_err(|error| format!("{review}: {error}"))?;
        let connection = TcpStream::connect(&address).map_err(|error| format!("{address}: {error}"))?;
        connection.set_nodelay(true).map_err(|error| error.to_string())?;
        let mut message = format!(
            "POST /validate HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        )
        .into_bytes();
        message.extend(body);
        Ok(Asking {
            connection: RefCell::new(BufReader::new(connection)),
            message,
        })
    }

    /// Sends the review and reads the answer's body.
    fn ask(&self) -> Result<Vec<u8>, Error> {
        let failed = |error: std::io::Error| error.to_string();
        let mut connection = self.connection.borrow_mut();
        connection.get_mut().write_all(&self.message).map_err(failed)?;
        let (mut line, mut length) = (String::new(), 0);
        loop {
            line.clear();
            connection.read_line(&mut line).map_err(failed)?;
            match line.trim_end().split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().map_err(|error| format!("{line}: {error}"))?;
                }
                None if line.trim_end().is_empty() => break,
                _ => {}
            }
        }
        let mut body = vec![0; length];
        connection.read_exact(&mut body).map_err(failed)?;
        Ok(body)
    }
}

impl Side for Asking {
    fn facts(&self) -> Result<Value, Error> {
        let answer: Value = serde_json::from_slice(&self.ask()?).map_err(|error| error.to_string())?;
        Ok(answer.pointer("/response/allowed").cloned().unwrap_or_default())
    }

    fn measure(&self, order: &Order) -> Result<Sample, Error> {
        Ok(order.time(|| self.ask()))
    }
}
