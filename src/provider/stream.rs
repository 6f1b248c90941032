//! What has been written so far?
//!
//! ```text
//! bytes as they come → lines → events → pieces of text, each passed on at once → the whole
//! ```
//!
//! Two framings are read: server-sent events (`text/event-stream`), of which only the data matters,
//! and JSON a line (`application/x-ndjson`). What a protocol says in its events is read by its
//! [`EventReader`].
//!
//! A stream may break off, hold what is no UTF-8, or turn out to be a web page. The text that was
//! passed on is out then; the caller learns in the place of the rest what went wrong.

use std::mem;
use std::time::{Duration, Instant};

use super::call::{CallFailure, HttpReply, Incoming, Patience};
use super::caller::ProviderQuestion;
use super::errors::ErrorFormatter;
use super::retry::{CallError, Remedy};
use super::surrogate::mended;
use crate::protocol::Generated;

/// Longest line of a stream, in bytes.
const MAX_LINE: usize = 4 << 20;

/// How long the connection's end is waited for after the last event, so that it can be kept.
const GRACE: Duration = Duration::from_millis(200);

/// Reads a streamed reply, event by event.
pub trait EventReader {
    /// The text that an event adds. `data` is what stands after "data:" of a server-sent event, or a
    /// line of a reply in lines of JSON.
    fn read(
        &mut self,
        data: &str,
        teller: &ErrorFormatter<'_>,
    ) -> std::result::Result<Option<String>, CallError>;

    /// All that was written, after the last event; an error where the stream broke off before its
    /// end.
    fn finish(&mut self, teller: &ErrorFormatter<'_>) -> std::result::Result<Generated, CallError>;

    /// Whether an event has said that none comes after it.
    fn is_done(&self) -> bool {
        false
    }
}

/// A question whose answer can be passed on while it is written.
pub trait Streamed: ProviderQuestion<Answer = Generated> {
    /// What reads the events of the reply.
    fn reader(&self) -> Box<dyn EventReader>;
}

/// Takes a piece of text; an error ends the call.
pub type Hear<'a> = dyn FnMut(&str) -> crate::error::Result<()> + 'a;

/// A reply that is read while it comes.
pub struct Listener<'a> {
    /// The reply, as it arrives.
    pub incoming: Incoming,
    /// How its events are told apart.
    pub decoder: Decoder,
    /// What says what went wrong.
    pub teller: ErrorFormatter<'a>,
    /// How long the first piece is waited for.
    pub patience: Patience<'a>,
}

impl Listener<'_> {
    /// Reads to the end, passing each piece on to `hear`. What fails after the first piece is not to
    /// be tried again.
    pub fn listen(
        mut self,
        reader: &mut dyn EventReader,
        hear: &mut Hear<'_>,
    ) -> std::result::Result<Generated, CallError> {
        let mut is_told = false;
        let outcome = self.read_all(reader, &mut |piece: &str| {
            is_told = true;
            hear(piece)
        });
        outcome.map_err(|trouble| match is_told {
            true => CallError { remedy: Remedy::None, ..trouble },
            false => trouble,
        })
    }

    fn read_all(
        &mut self,
        reader: &mut dyn EventReader,
        hear: &mut Hear<'_>,
    ) -> std::result::Result<Generated, CallError> {
        while let Some(bytes) = self.bytes(reader)? {
            let events = self.decoder.feed(&bytes).map_err(|why| self.malformed(&why))?;
            self.read_events(&events, reader, hear)?;
        }
        let rest = self.decoder.finish().map_err(|why| self.malformed(&why))?;
        self.read_events(&rest, reader, hear)?;
        reader.finish(&self.teller)
    }

    /// What comes next; nothing at the end.
    fn bytes(
        &mut self,
        reader: &dyn EventReader,
    ) -> std::result::Result<Option<Vec<u8>>, CallError> {
        if reader.is_done() {
            self.patience.until = Some(Instant::now() + GRACE);
        }
        match self.incoming.piece(&self.patience) {
            Ok(bytes) => Ok(bytes),
            Err(CallFailure::Gone) => Err(self.teller.failure(CallFailure::Gone)),
            // Whatever happens to a connection that has served.
            Err(_) if reader.is_done() => Ok(None),
            Err(failure @ CallFailure::BrokeOff(_)) => {
                Err(CallError { remedy: Remedy::Retry(None), ..self.teller.failure(failure) })
            }
            Err(failure) => Err(self.teller.failure(failure)),
        }
    }

    fn read_events(
        &mut self,
        events: &[String],
        reader: &mut dyn EventReader,
        hear: &mut Hear<'_>,
    ) -> std::result::Result<(), CallError> {
        for event in events {
            let piece = reader.read(&mended(event), &self.teller)?;
            // PostgreSQL's text cannot hold it, and no model means it.
            let piece = piece.map(|piece| piece.replace('\0', "")).unwrap_or_default();
            if !piece.is_empty() {
                self.patience.until = None;
                hear(&piece).map_err(|error| CallError { error, remedy: Remedy::None })?;
            }
        }
        Ok(())
    }

    fn malformed(&self, why: &str) -> CallError {
        self.teller.nonsense_in(why, &self.decoder.shown())
    }
}

/// Finds events in bytes.
pub struct Decoder {
    lines: EventLines,
    framing: Framing,
    /// The data of the event that is being read, a line feed after each of its lines.
    data: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Framing {
    Events,
    JsonLines,
}

impl Decoder {
    /// The decoder for a reply of success that is a stream by its `Content-Type`; `None` for any
    /// other.
    pub fn of(reply: &HttpReply) -> Option<Decoder> {
        let kind = reply.content_type.split(';').next().unwrap_or_default().trim();
        let framing = match kind.to_ascii_lowercase().as_str() {
            "text/event-stream" => Framing::Events,
            "application/x-ndjson" | "application/jsonl" | "application/x-jsonlines" => {
                Framing::JsonLines
            }
            _ => return None,
        };
        let is_success = (200..300).contains(&reply.status);
        is_success.then(|| Decoder { lines: EventLines::default(), framing, data: String::new() })
    }

    /// The events that end in `bytes`. Fails, with what is wrong, on what is no text.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<String>, String> {
        let mut events = Vec::new();
        for line in self.lines.feed(bytes)? {
            events.extend(self.line(&line));
        }
        Ok(events)
    }

    /// The event that the end of the stream ends, if its last line is whole: some servers leave the
    /// blank line out. JSON says itself whether it is whole.
    pub fn finish(&mut self) -> Result<Vec<String>, String> {
        let rest = self.lines.rest()?;
        let last = match self.framing {
            Framing::JsonLines => self.line(&rest),
            Framing::Events => self.line(""),
        };
        Ok(last.into_iter().collect())
    }

    fn line(&mut self, line: &str) -> Option<String> {
        if self.framing == Framing::JsonLines {
            return (!line.trim().is_empty()).then(|| line.to_string());
        }
        if line.is_empty() {
            let data = mem::take(&mut self.data);
            return data.strip_suffix('\n').map(str::to_string);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        if field == "data" {
            self.data += value.strip_prefix(' ').unwrap_or(value);
            self.data.push('\n');
        }
        None
    }

    /// What has come and not been understood.
    fn shown(&self) -> String {
        String::from_utf8_lossy(&self.lines.unfinished).into_owned()
    }
}

/// Cuts bytes into lines, which end with CR, LF or both.
#[derive(Default)]
struct EventLines {
    unfinished: Vec<u8>,
    /// Whether a line feed that comes next belongs to the line before.
    after_return: bool,
    /// Whether the first line has begun: before it may stand a byte order mark.
    is_begun: bool,
}

impl EventLines {
    fn feed(&mut self, bytes: &[u8]) -> Result<Vec<String>, String> {
        let mut lines = Vec::new();
        for byte in bytes {
            let follows = mem::replace(&mut self.after_return, *byte == b'\r');
            match byte {
                b'\n' if follows => {}
                b'\n' | b'\r' => {
                    lines.push(text(&self.unfinished, !self.is_begun)?);
                    self.unfinished.clear();
                    self.is_begun = true;
                }
                _ if self.unfinished.len() >= MAX_LINE => {
                    self.unfinished.truncate(1000);
                    return Err(format!("a line is longer than {MAX_LINE} bytes"));
                }
                _ => self.unfinished.push(*byte),
            }
        }
        Ok(lines)
    }

    fn rest(&self) -> Result<String, String> {
        text(&self.unfinished, !self.is_begun)
    }
}

fn text(bytes: &[u8], is_first: bool) -> Result<String, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| format!("not UTF-8: {error}"))?;
    let text = if is_first { text.strip_prefix('\u{feff}').unwrap_or(text) } else { text };
    Ok(text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decoder(content_type: &str) -> Option<Decoder> {
        let content_type = content_type.to_string();
        let (retry_after, location, body) = (None, None, Vec::new());
        Decoder::of(&HttpReply { status: 200, content_type, retry_after, location, body })
    }

    fn decode(content_type: &str, stream: &[u8], sizes: &[usize]) -> Result<Vec<String>, String> {
        let mut decoder = decoder(content_type).expect("a stream");
        let (mut events, mut rest, mut sizes) = (Vec::new(), stream, sizes.iter().cycle());
        while !rest.is_empty() {
            let size = sizes.next().map_or(rest.len(), |size| (*size).clamp(1, rest.len()));
            events.extend(decoder.feed(&rest[..size])?);
            rest = &rest[size..];
        }
        events.extend(decoder.finish()?);
        Ok(events)
    }

    /// Checks that `stream` decodes to `events`, whatever the sizes of the pieces it arrives in.
    fn check(content_type: &str, stream: &[u8], events: &[&str]) {
        for sizes in [&[][..], &[1], &[2], &[3, 1, 7]] {
            assert_eq!(decode(content_type, stream, sizes).unwrap(), events, "{sizes:?}");
        }
    }

    #[test]
    fn events_are_the_data_between_blank_lines() {
        let sse = "text/event-stream";
        check(sse, b"data: a\n\ndata: b\n\n", &["a", "b"]);
        check(sse, b"data: a\r\n\r\ndata:b\r\rdata: c\n\n", &["a", "b", "c"]);
        check(sse, b": comment\nevent: x\nid: 7\nretry: 5\ndata: a\n\n: ping\n\n", &["a"]);
        check(sse, b"data: one\ndata: two\ndata\n\n", &["one\ntwo\n"]);
        check(sse, b"data:  two spaces\n\n", &[" two spaces"]);
        check(sse, b"\xef\xbb\xbfdata: mark\n\n", &["mark"]);
        check(sse, "data: Straße 東京 \u{1f600}\n\n".as_bytes(), &["Straße 東京 \u{1f600}"]);
        check(sse, b"data\n\n\n\ndatas: x\n\n", &[""]);
        check("Text/Event-Stream; charset=utf-8", b"data: a\n\n", &["a"]);
        check(sse, b"", &[]);
    }

    #[test]
    fn the_end_ends_an_event_whose_lines_are_whole() {
        check("text/event-stream", b"data: a\n\ndata: b\n", &["a", "b"]);
        check("text/event-stream", b"data: a\n\ndata: {\"hal", &["a"]);
    }

    #[test]
    fn lines_of_json_are_events() {
        let lines = "application/x-ndjson";
        check(
            lines,
            b"{\"a\":1}\n{\"b\":2}\r\n\n{\"c\":3}",
            &["{\"a\":1}", "{\"b\":2}", "{\"c\":3}"],
        );
        check(lines, b"{\"hal", &["{\"hal"]);
    }

    #[test]
    fn only_streams_are_streams() {
        for other in ["application/json", "text/html", "", "text/event-streams"] {
            assert!(decoder(other).is_none(), "{other}");
        }
    }

    #[test]
    fn what_is_no_text_or_never_ends_is_said() {
        let decode = |stream: &[u8]| decode("text/event-stream", stream, &[]).unwrap_err();
        assert!(decode(b"data: caf\xe9\n\n").contains("not UTF-8"));
        assert!(decode(&vec![b'a'; MAX_LINE + 1]).contains("longer than"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn no_cut_changes_what_is_read(
            stream in prop::collection::vec(prop_oneof![
                Just(b"data: x\n\n".to_vec()), Just(b"\r\n".to_vec()), Just(b"data:".to_vec()),
                Just(b"\r".to_vec()), Just("ß".as_bytes().to_vec()), Just(b": c\n".to_vec()),
                prop::collection::vec(any::<u8>(), 0..4),
            ], 0..40),
            sizes in prop::collection::vec(1_usize..9, 1..9),
        ) {
            let stream = stream.concat();
            let whole = decode("text/event-stream", &stream, &[]);
            let cut = decode("text/event-stream", &stream, &sizes);
            match (whole, cut) {
                (Ok(whole), Ok(cut)) => prop_assert_eq!(whole, cut),
                (whole, cut) => prop_assert!(whole.is_err() && cut.is_err()),
            }
        }
    }
}
