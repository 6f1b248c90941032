//! How long is a client waited for that does not read what it has asked for?
//!
//! In: a connection. Out: the same connection, of which a write fails that makes no way for too long: what is behind it is
//! dropped then, and its place free for another client.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A connection whose other side has to read.
pub struct ReadInTime<S> {
    connection: S,
    longest: Duration,
    /// When a write has waited for too long; nothing where none waits.
    late: Option<Pin<Box<Sleep>>>,
}

impl<S> ReadInTime<S> {
    /// Lets a write wait for as long as `longest`.
    pub fn new(connection: S, longest: Duration) -> Self {
        Self { connection, longest, late: None }
    }

    /// What came of a write, or that it is late.
    fn in_time<T>(
        &mut self,
        context: &mut Context<'_>,
        done: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if done.is_ready() {
            self.late = None;
            return done;
        }
        let longest = self.longest;
        let late = self.late.get_or_insert_with(|| Box::pin(sleep(longest)));
        late.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ReadInTime<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ReadInTime<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.connection).poll_write(context, bytes);
        self.in_time(context, done)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.connection).poll_flush(context);
        self.in_time(context, done)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.connection).poll_shutdown(context);
        self.in_time(context, done)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.connection).poll_write_vectored(context, slices);
        self.in_time(context, done)
    }

    fn is_write_vectored(&self) -> bool {
        self.connection.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::Instant;

    use super::*;

    const LONGEST: Duration = Duration::from_secs(9);

    #[tokio::test(start_paused = true)]
    async fn who_does_not_read_is_not_waited_for() {
        let (server, mut client) = duplex(4);
        let mut server = ReadInTime::new(server, LONGEST);
        let began = Instant::now();
        let error = server.write_all(b"12345678").await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(began.elapsed() >= LONGEST && began.elapsed() < 2 * LONGEST);
        drop(server);
        let mut read = String::new();
        client.read_to_string(&mut read).await.unwrap();
        assert_eq!(read, "1234");
    }

    #[tokio::test(start_paused = true)]
    async fn who_reads_slowly_gets_all() {
        let (server, mut client) = duplex(1);
        let mut server = ReadInTime::new(server, LONGEST);
        let reading = tokio::spawn(async move {
            let mut read = Vec::new();
            while let Ok(byte) = client.read_u8().await {
                read.push(byte);
                sleep(LONGEST * 2 / 3).await;
            }
            read
        });
        let began = Instant::now();
        server.write_all(b"12345678").await.unwrap();
        assert!(began.elapsed() > 3 * LONGEST, "it has waited for {:?}", began.elapsed());
        drop(server);
        assert_eq!(reading.await.unwrap(), b"12345678");
    }

    #[tokio::test(start_paused = true)]
    async fn time_in_which_nothing_is_written_does_not_count() {
        let (server, mut client) = duplex(4);
        let mut server = ReadInTime::new(server, LONGEST);
        for _ in 0..3 {
            server.write_all(b"1234").await.unwrap();
            sleep(2 * LONGEST).await;
            let mut read = [0; 4];
            client.read_exact(&mut read).await.unwrap();
            assert_eq!(&read, b"1234");
        }
    }
}
