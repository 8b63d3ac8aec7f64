//! A client of HTTP/2 that asks and does not take answers: as much of the protocol as that needs (RFC 9113, RFC 7541).

use std::io;
use std::net::SocketAddr;

use pratique_harness::ToolError;
use pratique_load_test::client::{ClientTrust, LoadClient};

pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
pub(super) const WINDOW_UPDATE: u8 = 8;
/// The flags END_STREAM (of DATA and HEADERS), ACK (of SETTINGS) and END_HEADERS.
const END_STREAM: u8 = 1;
const ACK: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;
/// The largest frame that a server takes unless it says more.
const FRAME: usize = 16_384;
/// The setting INITIAL_WINDOW_SIZE, of 0: nothing may be sent to this client.
const NO_WINDOW: [u8; 6] = [0, 4, 0, 0, 0, 0];

/// A connection whose answers may not be sent.
pub(super) struct UnreadConnection {
    client: LoadClient,
    next_stream: u32,
    /// How many bytes of bodies the server still takes on the connection.
    window: usize,
}

impl UnreadConnection {
    pub(super) fn connect(address: SocketAddr, trust: &ClientTrust) -> Result<Self, ToolError> {
        let mut client = LoadClient::connect(address, &trust.with_protocol("h2"))?;
        let settings = frame(SETTINGS, 0, 0, &NO_WINDOW);
        let opening = [PREFACE, &settings].concat();
        client
            .send(&opening)
            .map_err(|error| format!("sending: {error}"))?;
        Ok(UnreadConnection {
            client,
            next_stream: 1,
            window: 65_535,
        })
    }

    /// Posts a body on a stream of its own.
    pub(super) fn post(&mut self, path: &str, body: &[u8]) -> io::Result<()> {
        let stream = self.next_stream;
        self.next_stream += 2;
        self.client
            .send(&frame(HEADERS, END_HEADERS, stream, &headers(path)))?;
        let mut rest = body;
        while !rest.is_empty() {
            while self.window == 0 {
                self.receive()?;
            }
            let length = rest.len().min(FRAME).min(self.window);
            let (part, after) = rest.split_at(length);
            let flags = if after.is_empty() { END_STREAM } else { 0 };
            self.client.send(&frame(DATA, flags, stream, part))?;
            self.window -= length;
            rest = after;
        }
        Ok(())
    }

    /// Waits until the server ends the connection, or until nothing came for as long as clients wait.
    pub(super) fn wait_for_end(&mut self) -> io::Result<()> {
        loop {
            match self.receive() {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(error),
                Err(_) => return Ok(()),
            }
        }
    }

    /// Takes one frame of the server.
    fn receive(&mut self) -> io::Result<()> {
        let mut head = [0; 9];
        self.fill(&mut head)?;
        let [a, b, c, kind, flags, s0, s1, s2, s3] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        self.fill(&mut payload)?;
        match (kind, &*payload) {
            (WINDOW_UPDATE, &[w0, w1, w2, w3]) if [s0, s1, s2, s3] == [0; 4] => {
                self.window += u32::from_be_bytes([w0 & 0x7f, w1, w2, w3]) as usize;
            }
            (SETTINGS, _) if flags & ACK == 0 => self.client.send(&frame(SETTINGS, ACK, 0, &[]))?,
            (GOAWAY, _) => return Err(io::ErrorKind::ConnectionAborted.into()),
            _ => {}
        }
        Ok(())
    }

    fn fill(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.client.receive(rest)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                length => filled += length,
            }
        }
        Ok(())
    }
}

/// A frame.
pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let [_, a, b, c] = u32::try_from(payload.len()).unwrap_or_default().to_be_bytes();
    let mut frame = vec![a, b, c, kind, flags];
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// A block of headers: by the static table where it has them, else as literals that are not indexed.
pub(super) fn headers(path: &str) -> Vec<u8> {
    const POST: u8 = 0x83;
    const HTTPS: u8 = 0x87;
    const AUTHORITY: &[u8] = &[0x01];
    const PATH: &[u8] = &[0x04];
    // Index 31, of which four bits are in the first byte.
    const CONTENT_TYPE: &[u8] = &[0x0f, 31 - 15];
    let mut block = vec![POST, HTTPS];
    for (name, value) in [
        (AUTHORITY, "127.0.0.1"),
        (PATH, path),
        (CONTENT_TYPE, "application/json"),
    ] {
        block.extend(name);
        // Shorter than 127 bytes, and not compressed.
        block.push(u8::try_from(value.len()).unwrap_or_default() & 0x7f);
        block.extend(value.bytes());
    }
    block
}
