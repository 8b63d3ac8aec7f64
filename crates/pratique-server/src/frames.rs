//! Limits how many frames of HTTP/2 a connection may send that ask for nothing.
//!
//! Each frame takes time, and some of them much: h2 walks over all streams of a connection for a SETTINGS frame that changes
//! the window, and answers each PING. It has limits for some floods (streams that are reset before they are accepted or by
//! errors, the blocks of headers, small DATA frames that are not read) and none for these. So the frames are counted beneath
//! it: [`FrameParser`] follows the frames of what is read, and says what they cost; answers pay for them ([`FrameCredits`]);
//! and the rest comes from an allowance of the connection, past which it is closed, and from one that all connections of an
//! address share, past which they wait ([`FrameAllowance`]). The work for connections without evaluated reviews is done in
//! turns ([`InTurn`]), beginning with their handshake: a client whose connection was closed opens the next one.

mod allowance;
mod counted_stream;
mod credits;
mod parser;
mod turns;
mod work_time;

pub(crate) use allowance::{AddressShare, AddressShares};
pub(crate) use counted_stream::CountedStream;
pub(crate) use credits::{FrameCredits, OpenRequest};
pub(crate) use parser::MAX_STREAMS;
pub(crate) use turns::InTurn;
