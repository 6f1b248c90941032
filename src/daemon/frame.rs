//! Frames on a stream: a length, then a body.

use std::io::{self, Read, Write};

use crate::error::{Error, ErrorKind, Result};
use crate::protocol::{HEADER, body_length};

/// What a stream gave.
pub enum ReceivedFrame {
    /// The body of a frame, whole.
    Body(Vec<u8>),
    /// The other side closed between two frames, as it should.
    End,
}

/// Why no frame could be read.
pub enum ReadError {
    /// The stream broke or ended within a frame: there is no client to answer.
    Lost,
    /// The bytes that came are no frame.
    Corrupt(Error),
}

/// Memory that is set aside on the word of a header alone.
const TRUSTED: usize = 1 << 20;

/// Reads one frame.
///
/// The buffer grows as bytes arrive: a header that promises a gigabyte costs nothing.
pub fn read(stream: &mut impl Read) -> std::result::Result<ReceivedFrame, ReadError> {
    let mut header = [0; HEADER];
    match fill(stream, &mut header) {
        Ok(HEADER) => {}
        Ok(0) => return Ok(ReceivedFrame::End),
        Ok(_) | Err(_) => return Err(ReadError::Lost),
    }
    let length = body_length(header).map_err(ReadError::Corrupt)?;
    let mut body = Vec::with_capacity(length.min(TRUSTED));
    match stream.take(length as u64).read_to_end(&mut body) {
        Ok(read) if read == length => Ok(ReceivedFrame::Body(body)),
        _ => Err(ReadError::Lost),
    }
}

/// Writes a frame that [`crate::protocol::encode`] made.
pub fn write(stream: &mut impl Write, frame: &[u8]) -> Result<()> {
    stream.write_all(frame).map_err(|error| {
        Error::new(ErrorKind::DaemonLost, format!("cannot write to socket: {error}"))
    })
}

/// Reads until `buffer` is full or the stream ends; gives the number of bytes.
fn fill(stream: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match stream.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::embed::EmbeddingKind;
    use crate::protocol::{
        Call, MAX_FRAME, ModelRef, Request, Response, VectorKey, decode, encode, encode_call,
    };

    /// A stream that gives a few bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let some = self.1.min(buffer.len());
            self.0.read(&mut buffer[..some])
        }
    }

    /// Messages of both directions with texts, lists, numbers and choices in them, as bodies.
    fn bodies() -> Vec<Vec<u8>> {
        let (name, path) = ("m".to_owned(), "/models".to_owned());
        let model = ModelRef { name, path, file: None, digest: Some("d".repeat(64)) };
        let text = || "Straße \u{1f600}".to_owned();
        let key = VectorKey { model: "m".to_owned(), kind: EmbeddingKind::Query, text: text() };
        let requests = [
            Request::Status,
            Request::Describe(model.clone()),
            Request::CountTokens { model, texts: vec![text(), String::new()] },
            Request::RecallVector(key),
        ];
        let error = Error::new(ErrorKind::Internal, text()).hint("none");
        let responses = [
            Response::Counts(vec![0, 7, u32::MAX]),
            Response::Vectors { dimension: 2, values: vec![0.5, f32::NAN], tokens: u64::MAX },
            Response::Piece(text()),
            Response::Failed(error),
        ];
        let calls = requests.iter().map(|request| encode_call(16384, request));
        let frames = calls.chain(responses.iter().map(encode));
        frames.map(|frame| frame.unwrap().split_off(HEADER)).collect()
    }

    /// What is read from these bytes can be written; whatever they are, nothing panics.
    fn check_decode(body: &[u8]) {
        if let Ok(call) = decode::<Call>(body) {
            encode(&call).unwrap();
        }
        if let Ok(response) = decode::<Response>(body) {
            encode(&response).unwrap();
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_frame_the_end_or_an_error(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            length in prop::option::of(0..200u32),
            size in 1..9usize,
        ) {
            let header = length.map(|length| length.to_le_bytes().to_vec()).unwrap_or_default();
            let stream = [header, bytes].concat();
            let outcome = read(&mut Slow(&stream, size));
            let promised = stream.first_chunk::<HEADER>().map(|it| u32::from_le_bytes(*it) as usize);
            match (outcome, promised) {
                (Ok(ReceivedFrame::Body(body)), Some(promised)) => {
                    prop_assert_eq!(&body[..], &stream[HEADER..HEADER + promised]);
                    check_decode(&body);
                }
                (Ok(ReceivedFrame::End), _) => prop_assert!(stream.is_empty()),
                (Err(ReadError::Corrupt(_)), Some(promised)) => prop_assert!(promised > MAX_FRAME),
                (Err(ReadError::Lost), Some(promised)) => prop_assert!(promised > stream.len() - HEADER),
                (Err(ReadError::Lost), None) => prop_assert!(!stream.is_empty()),
                _ => prop_assert!(false, "a frame without a header"),
            }
        }

        #[test]
        fn a_harmed_message_is_another_or_an_error(
            number in 0..8usize,
            harms in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
            left in any::<prop::sample::Index>(),
            is_cut in any::<bool>(),
        ) {
            let mut body = bodies().swap_remove(number);
            for (place, byte) in harms {
                let place = place.index(body.len());
                body[place] = byte;
            }
            if is_cut {
                body.truncate(left.index(body.len() + 1));
            }
            check_decode(&body);
        }
    }

    #[test]
    fn a_frame_comes_back() {
        let frame = encode(&Request::Status).unwrap();
        let Ok(ReceivedFrame::Body(body)) = read(&mut &frame[..]) else { panic!("no body") };
        assert_eq!(body, frame[HEADER..]);
    }

    #[test]
    fn the_end_is_only_between_frames() {
        assert!(matches!(read(&mut &[][..]), Ok(ReceivedFrame::End)));
        assert!(matches!(read(&mut &[1, 0][..]), Err(ReadError::Lost)));
        assert!(matches!(read(&mut &[5, 0, 0, 0, 1][..]), Err(ReadError::Lost)));
    }

    #[test]
    fn a_giant_is_refused_and_a_promise_costs_nothing() {
        let giant = ((MAX_FRAME + 1) as u32).to_le_bytes();
        assert!(matches!(read(&mut &giant[..]), Err(ReadError::Corrupt(_))));
        let promise = (MAX_FRAME as u32).to_le_bytes();
        assert!(matches!(read(&mut &promise[..]), Err(ReadError::Lost)));
    }
}
