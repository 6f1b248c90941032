//! Does ragd answer?
//!
//! The supervisor asks over ragd's socket, never waits for it, and looks for the answer when it is
//! time to ask again, [`LOOKS`] times within `rag.ragd_heartbeat_timeout`. ragd hangs if so many
//! looks in a row were in vain, or if it says itself that something in it does.
//!
//! Looks are counted, and not the time alone: where the machine slept, or the supervisor did not
//! get to run, one look comes late, and ragd has all the others to answer.

use std::io::{ErrorKind as Io, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::socket;
use crate::pg::server::guc;
use crate::protocol::{self, HEADER, Request, Response};

/// Looks within the timeout.
const LOOKS: u32 = 10;

/// Time that a ragd gets at least before its first answer: on a busy machine it starts late.
const START: Duration = Duration::from_secs(10);

/// The longest answer that is read.
const LONGEST: usize = 4096;

/// What is known of whether a ragd answers. One for each ragd.
pub struct Beat {
    /// One for all questions, as long as it holds: a ragd that has no descriptor left for new ones
    /// serves those that it has.
    connection: Option<UnixStream>,
    /// Whether there is a question that was not answered yet.
    is_asked: bool,
    /// What has come of the answer.
    received: [u8; LONGEST],
    length: usize,
    next: Option<Instant>,
    looks: Looks,
}

impl Beat {
    /// The heartbeat of a ragd that has just been started.
    pub fn new() -> Beat {
        Beat {
            connection: None,
            is_asked: false,
            received: [0; LONGEST],
            length: 0,
            next: None,
            looks: Looks::default(),
        }
    }

    /// Looks for the answer and asks again, if it is time to. Why ragd hangs, if it does.
    pub fn look(&mut self) -> Option<String> {
        let Some(timeout) = guc::ragd_heartbeat_timeout() else {
            *self = Beat::new();
            return None;
        };
        let now = Instant::now();
        let hang = match self.next {
            Some(next) if now < next => return None,
            Some(_) => {
                let answer = self.answer();
                self.looks.note(answer, timeout)
            }
            None => None,
        };
        self.ask(timeout);
        self.next = Some(now + timeout / LOOKS);
        hang
    }

    /// When to look again; `None`: not before the settings change.
    pub fn next(&self) -> Option<Instant> {
        self.next
    }

    /// Asks, unless the last question still waits for its answer.
    fn ask(&mut self, timeout: Duration) {
        if self.connection.is_none() {
            // ragd does not listen yet, or too many wait to be let in: then it has not answered.
            self.connection = socket::open_socket().ok().flatten();
            (self.is_asked, self.length) = (false, 0);
        }
        let Some(mut connection) = self.connection.as_ref() else { return };
        if self.is_asked {
            return;
        }
        let request = Request::Heartbeat { timeout_ms: timeout.as_millis() as u64 };
        let Ok(frame) = protocol::encode_call(0, &request) else { return };
        match connection.write(&frame) {
            Ok(written) if written == frame.len() => self.is_asked = true,
            _ => self.connection = None,
        }
    }

    /// What ragd has answered, if it has.
    fn answer(&mut self) -> Option<Response> {
        let mut connection = self.connection.as_ref()?;
        loop {
            match connection.read(&mut self.received[self.length..]) {
                Ok(read) if read > 0 => self.length += read,
                Err(error) if error.kind() == Io::Interrupted => {}
                Err(error) if error.kind() == Io::WouldBlock => return self.take_answer(),
                // Closed, or there is more than an answer can be. ragd closes after what it does not
                // understand, but says so before.
                _ => {
                    self.connection = None;
                    return self.take_answer();
                }
            }
        }
    }

    fn take_answer(&mut self) -> Option<Response> {
        let answer = read_frame(&self.received[..self.length])?;
        (self.is_asked, self.length) = (false, 0);
        Some(answer)
    }
}

/// The answer, if all of it is there. What can't be understood is an answer, too: ragd is alive if
/// it sends anything.
fn read_frame(bytes: &[u8]) -> Option<Response> {
    let length = match protocol::body_length(*bytes.first_chunk::<HEADER>()?) {
        Ok(length) => length,
        Err(error) => return Some(Response::Failed(error)),
    };
    let body = bytes.get(HEADER..)?.get(..length)?;
    Some(protocol::decode(body).unwrap_or_else(Response::Failed))
}

/// How often it was looked in vain.
#[derive(Default)]
struct Looks {
    in_vain: u32,
    has_answered: bool,
}

impl Looks {
    /// Notes what a look has found; why ragd hangs, if that was one look too many.
    fn note(&mut self, answer: Option<Response>, timeout: Duration) -> Option<String> {
        match answer {
            Some(answer) => {
                *self = Looks { in_vain: 0, has_answered: true };
                // Of another version it may answer something else.
                let Response::Heartbeat { hang } = answer else { return None };
                return hang;
            }
            None => self.in_vain += 1,
        }
        if self.in_vain < self.allowed(timeout) {
            return None;
        }
        let waited = (timeout / LOOKS).saturating_mul(self.in_vain).as_millis();
        // Where it does not end when it is killed, it gets the same time once more.
        self.in_vain = 0;
        Some(format!("it has not answered for {waited} ms"))
    }

    fn allowed(&self, timeout: Duration) -> u32 {
        let look = (timeout / LOOKS).as_millis().max(1);
        let at_start = START.as_millis().div_ceil(look) as u32;
        if self.has_answered { LOOKS } else { at_start.max(LOOKS) }
    }
}

#[cfg(feature = "pg_test")]
mod tests {
    use pgrx::pg_extern;

    use super::*;
    use crate::error::{Error, ErrorKind};

    const TIMEOUT: Duration = Duration::from_secs(1);

    const FINE: Response = Response::Heartbeat { hang: None };

    /// After how many looks in vain a ragd hangs.
    fn looks_until_it_hangs(looks: &mut Looks, timeout: Duration) -> u32 {
        (1..).find(|_| looks.note(None, timeout).is_some()).unwrap_or_default()
    }

    #[pg_extern]
    fn ten_looks_in_a_row_are_too_many() {
        let mut looks = Looks::default();
        assert_eq!(looks.note(Some(FINE), TIMEOUT), None);
        for _ in 0..3 {
            (0..9).for_each(|_| assert_eq!(looks.note(None, TIMEOUT), None));
            assert_eq!(looks.note(Some(FINE), TIMEOUT), None);
        }
        (0..9).for_each(|_| assert_eq!(looks.note(None, TIMEOUT), None));
        let why = looks.note(None, TIMEOUT).unwrap();
        assert_eq!(why, "it has not answered for 1000 ms");
        // If it is still there, the same once more.
        assert_eq!(looks_until_it_hangs(&mut looks, TIMEOUT), 10);
    }

    #[pg_extern]
    fn a_ragd_that_starts_has_ten_seconds() {
        let from_start = |timeout| looks_until_it_hangs(&mut Looks::default(), timeout);
        assert_eq!(from_start(TIMEOUT), 100);
        assert_eq!(from_start(10 * TIMEOUT), 10);
        assert_eq!(from_start(60 * TIMEOUT), 10);
        assert_eq!(from_start(TIMEOUT / 10), 1000);
    }

    #[pg_extern]
    fn what_ragd_says_of_itself_is_believed() {
        let why = || Some("a batch stands still".to_owned());
        let mut looks = Looks::default();
        assert_eq!(looks.note(Some(Response::Heartbeat { hang: why() }), TIMEOUT), why());
    }

    #[pg_extern]
    fn an_answer_may_come_late_and_in_parts() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let mut beat = Beat { connection: Some(ours), ..Beat::new() };
        let question = protocol::encode_call(0, &Request::Heartbeat { timeout_ms: 1000 }).unwrap();
        let answer = protocol::encode(&FINE).unwrap();
        for _ in 0..2 {
            beat.ask(TIMEOUT);
            assert_eq!(beat.answer(), None);
            // Nothing is asked before that is answered.
            beat.ask(TIMEOUT);
            let mut bytes = [0; 100];
            let read = theirs.read(&mut bytes).unwrap();
            assert_eq!(bytes[..read], question);

            let (first, rest) = answer.split_at(answer.len() - 1);
            theirs.write_all(first).unwrap();
            assert_eq!(beat.answer(), None);
            theirs.write_all(rest).unwrap();
            assert_eq!(beat.answer(), Some(FINE));
        }
    }

    #[pg_extern]
    fn the_last_answer_is_read_before_the_connection_is_given_up() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let mut beat = Beat { connection: Some(ours), ..Beat::new() };
        theirs.write_all(&protocol::encode(&FINE).unwrap()).unwrap();
        drop(theirs);
        assert_eq!(beat.answer(), Some(FINE));
        assert!(beat.connection.is_none());
        assert_eq!(beat.answer(), None);

        let (ours, mut theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        beat.connection = Some(ours);
        // The beginning of a frame that is longer than an answer can be.
        theirs.write_all(&(1_u32 << 20).to_le_bytes()).unwrap();
        theirs.write_all(&[0; 2 * LONGEST]).unwrap();
        assert_eq!(beat.answer(), None);
        assert!(beat.connection.is_none());
    }

    #[pg_extern]
    fn any_answer_is_one() {
        let error = Error::new(ErrorKind::DataCorrupted, "cannot decode frame");
        let mut looks = Looks::default();
        assert_eq!(looks.note(Some(Response::Failed(error)), TIMEOUT), None);
        assert!(looks.has_answered);

        let frame = protocol::encode(&FINE).unwrap();
        assert_eq!(read_frame(&frame), Some(FINE));
        assert_eq!(read_frame(&frame[..frame.len() - 1]), None);
        assert_eq!(read_frame(&[]), None);
        for nonsense in [&[0xff; HEADER][..], &[1, 0, 0, 0, 0xff]] {
            assert!(matches!(read_frame(nonsense), Some(Response::Failed(_))));
        }
    }
}
