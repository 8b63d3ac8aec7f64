//! The frames of what a client sends, and what they cost.

/// The length of what precedes the frames: `PRI * HTTP/2.0`.
const PREFACE: usize = 24;
/// The length of the head of a frame.
const HEAD: usize = 9;
/// From this length on, a DATA frame is worth its head.
const LARGE_DATA: usize = 1024;

/// The maximum number of requests of a connection at a time.
pub(crate) const MAX_STREAMS: u32 = 100;
const MOST_STREAMS: usize = MAX_STREAMS as usize;
/// What HEADERS of a stream cost that is refused: they are decoded, and answered by a frame.
const REFUSAL: usize = 8;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
/// The flag of SETTINGS frames.
const ACK: u8 = 1;

/// Follows the frames of a stream of bytes that arrives in parts. Nothing is copied but the heads of frames.
#[derive(Debug)]
pub(super) struct FrameParser {
    /// How many bytes to skip until the next head: of the preface or of a payload.
    skip: usize,
    head: [u8; HEAD],
    /// How many bytes of the head there are.
    length: usize,
}

impl FrameParser {
    pub(super) fn new() -> Self {
        FrameParser {
            skip: PREFACE,
            head: [0; HEAD],
            length: 0,
        }
    }

    /// How many bytes there are until the next head.
    pub(super) fn until_head(&self) -> usize {
        self.skip
    }

    /// What the frames whose heads end in these bytes cost, while a connection has so many streams open. The unit is a frame
    /// that takes no more than to read it.
    pub(super) fn cost(&mut self, mut bytes: &[u8], open_streams: usize) -> usize {
        let mut cost: usize = 0;
        loop {
            let skipped = self.skip.min(bytes.len());
            self.skip -= skipped;
            bytes = bytes.get(skipped..).unwrap_or_default();
            let missing = HEAD - self.length;
            let (part, rest) = bytes.split_at(missing.min(bytes.len()));
            let room = self.head.iter_mut().skip(self.length);
            room.zip(part).for_each(|(byte, read)| *byte = *read);
            self.length += part.len();
            if self.length < HEAD {
                return cost;
            }
            bytes = rest;
            self.length = 0;
            let [l0, l1, l2, kind, flags, ..] = self.head;
            self.skip = usize::try_from(u32::from_be_bytes([0, l0, l1, l2])).unwrap_or(usize::MAX);
            cost = cost.saturating_add(cost_of(kind, flags, self.skip, open_streams));
        }
    }
}

/// What a frame costs.
fn cost_of(kind: u8, flags: u8, length: usize, open_streams: usize) -> usize {
    match kind {
        DATA if length >= LARGE_DATA => 0,
        // h2 walks over all streams: proto/streams/send.rs, apply_remote_settings, and recv_go_away.
        SETTINGS if flags & ACK == 0 => 1 + open_streams,
        GOAWAY => 1 + open_streams,
        HEADERS if open_streams >= MOST_STREAMS => REFUSAL,
        // HEADERS, CONTINUATION, RST_STREAM, PRIORITY, PING, WINDOW_UPDATE, and kinds that are not known.
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, length: usize) -> Vec<u8> {
        let [_, l0, l1, l2] = u32::try_from(length).unwrap().to_be_bytes();
        let mut frame = vec![l0, l1, l2, kind, flags, 0, 0, 0, 1];
        // Payloads that look like heads must not be taken for such.
        frame.resize(HEAD + length, SETTINGS);
        frame
    }

    #[test]
    fn frames_are_followed_however_they_arrive() {
        let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        let sent = [
            preface,
            frame(SETTINGS, 0, 18),
            frame(SETTINGS, ACK, 0),
            frame(1, 4, 300),
            frame(DATA, 0, 16_384),
            frame(DATA, 1, 0),
            frame(6, 0, 8),
            frame(GOAWAY, 0, 8),
            frame(0x10, 0, 70_000),
        ]
        .concat();
        for size in [1, 2, 3, 7, 8, 9, 10, 100, 4096, sent.len()] {
            let mut parser = FrameParser::new();
            let cost: usize = sent.chunks(size).map(|part| parser.cost(part, 10)).sum();
            assert_eq!(cost, 11 + 1 + 1 + 1 + 1 + 11 + 1, "in parts of {size}");
        }
    }

    #[test]
    fn kinds_cost_what_they_take() {
        let check = |kind, flags, length, open, expected| {
            assert_eq!(
                cost_of(kind, flags, length, open),
                expected,
                "{kind} {flags} {length} {open}"
            );
        };
        check(DATA, 0, 0, 200, 1);
        check(DATA, 1, LARGE_DATA - 1, 200, 1);
        check(DATA, 0, LARGE_DATA, 200, 0);
        check(SETTINGS, 0, 6, 200, 201);
        check(SETTINGS, ACK, 0, 200, 1);
        check(GOAWAY, 0, 8, 200, 201);
        check(HEADERS, 4, 80, MOST_STREAMS - 1, 1);
        check(HEADERS, 4, 80, MOST_STREAMS, REFUSAL);
        for kind in [2, 3, 5, 6, 8, 9, 10, 255] {
            check(kind, 0, 8, 200, 1);
        }
    }
}
