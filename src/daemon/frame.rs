//! Frames on a stream: a length, then a body.

use std::io::{self, Read, Write};

use super::protocol::{HEADER, body_length};
use crate::error::{Error, ErrorKind, Result};

/// What a stream gave.
pub enum Frame {
    /// A whole body.
    Body(Vec<u8>),
    /// The other side closed between two frames, as it should.
    End,
}

/// Why no frame could be read.
pub enum ReadError {
    /// The stream broke or ended within a frame: there is nobody to answer.
    Lost,
    /// What came isn't a frame.
    Corrupt(Error),
}

/// Memory that is set aside on the word of a header alone.
const TRUSTED: usize = 1 << 20;

/// Reads one frame.
///
/// The buffer grows as bytes arrive: a header that promises a gigabyte costs nothing.
pub fn read(stream: &mut impl Read) -> std::result::Result<Frame, ReadError> {
    let mut header = [0; HEADER];
    match fill(stream, &mut header) {
        Ok(HEADER) => {}
        Ok(0) => return Ok(Frame::End),
        Ok(_) | Err(_) => return Err(ReadError::Lost),
    }
    let length = body_length(header).map_err(ReadError::Corrupt)?;
    let mut body = Vec::with_capacity(length.min(TRUSTED));
    match stream.take(length as u64).read_to_end(&mut body) {
        Ok(read) if read == length => Ok(Frame::Body(body)),
        _ => Err(ReadError::Lost),
    }
}

/// Writes a frame that [`super::protocol::encode`] made.
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
    use super::super::protocol::{MAX_FRAME, Request, encode};
    use super::*;

    #[test]
    fn a_frame_comes_back() {
        let frame = encode(&Request::Status).unwrap();
        let Ok(Frame::Body(body)) = read(&mut &frame[..]) else { panic!("no body") };
        assert_eq!(body, frame[HEADER..]);
    }

    #[test]
    fn the_end_is_only_between_frames() {
        assert!(matches!(read(&mut &[][..]), Ok(Frame::End)));
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
