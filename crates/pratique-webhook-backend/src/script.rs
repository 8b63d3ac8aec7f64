//! Scripts: the answers of a path.

use std::collections::BTreeMap;
use std::io;

use serde::Deserialize;
use serde_json::{Map, Value};

/// The answer of one path. All members are optional; an empty script is an empty answer with status 200.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Script {
    /// The AdmissionResponse, in a review of the request's version and with its uid.
    pub respond: Option<Map<String, Value>>,
    /// Members of the AdmissionReview to override; null leaves one out.
    pub envelope: Option<Map<String, Value>>,
    /// A body to send instead, with `$UID` replaced.
    pub body: Option<String>,
    /// As many spaces after the body.
    pub pad_bytes: usize,
    /// 200 unless set.
    pub status: u16,
    /// An empty value: no such header.
    pub headers: BTreeMap<String, String>,
    /// A wait before the answer.
    pub delay_ms: u64,
    /// Where it stops, and keeps the connection.
    pub hang: Option<HangPoint>,
    /// Where it stops, and closes the connection.
    pub close: Option<ClosePoint>,
    /// The connection announces that it takes no further calls (GOAWAY in HTTP/2).
    pub leave: bool,
    /// The call is not taken up (HTTP/2).
    pub refuse: Option<RefusedCall>,
    /// One script a call; the last repeats.
    pub steps: Vec<Script>,
}

/// Where a script stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HangPoint {
    /// Never answers.
    Headers,
    /// Sends the body and never ends it.
    Body,
    /// Sends the body and then a space now and then, for ever.
    Drip,
    /// Sends the body and then spaces, for ever and as fast as they are taken.
    Flood,
}

/// Where a script closes the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClosePoint {
    /// Without an answer.
    Headers,
    /// After a body that is shorter than announced.
    Body,
    /// Without an answer, and by a reset.
    Reset,
    /// By a reset after a body that is shorter than announced.
    Midway,
}

/// How a script does not take a call up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RefusedCall {
    /// The stream is reset, as one that nothing was done about.
    Stream,
    /// The connection is left (GOAWAY), with no stream that is answered, and closed.
    Leave,
    /// As `leave`, with an error.
    Calm,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// It is no script.
    pub fn from_json(text: &str) -> io::Result<Self> {
        serde_json::from_str(text).map_err(io::Error::other)
    }

    /// The script of the n-th call.
    pub(crate) fn step(&self, call: usize) -> &Self {
        let last = self.steps.len().saturating_sub(1);
        self.steps.get(call.min(last)).unwrap_or(self)
    }
}
