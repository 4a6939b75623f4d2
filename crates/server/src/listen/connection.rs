//! A connection that a silent client cannot hold open.

use std::future::Future as _;
use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use super::connection_limit::ConnectionPermit;
use super::outgoing::Unsent;

/// A stream of bytes, encrypted or not.
pub(super) trait Bytes: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Bytes for T {}

/// First bytes of HTTP/2. No request of HTTP/1 begins with them.
const HTTP2: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The first head of a connection, as far as it has arrived.
#[derive(Debug, Default)]
struct FirstHead {
    bytes: usize,
    /// Whether all bytes are those of HTTP/2.
    is_other: bool,
    /// Whether a line of HTTP/1 has text. Empty lines before the head are no end.
    has_text: bool,
    /// Whether the current line is empty. HTTP/1 also allows lines that end without a carriage return.
    is_line_empty: bool,
}

impl FirstHead {
    /// Adds bytes. Returns whether the head is complete.
    fn add(&mut self, bytes: &[u8]) -> bool {
        for byte in bytes {
            self.is_other |= HTTP2.get(self.bytes) != Some(byte);
            self.bytes += 1;
            let is_end = *byte == b'\n' && self.is_line_empty && self.has_text;
            match byte {
                b'\n' => self.is_line_empty = true,
                b'\r' => {}
                _ => (self.is_line_empty, self.has_text) = (false, true),
            }
            let is_complete = if self.is_other { is_end } else { self.bytes == HTTP2.len() };
            if is_complete {
                return true;
            }
        }
        false
    }
}

/// Interval of checks for answers without progress.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// A connection. The connection ends if the client does not begin a request in time, or does not read its responses,
/// because both use memory for a long time.
pub(super) struct Connection {
    bytes: Box<dyn Bytes>,
    /// The first head, and its deadline. `None` after the head has arrived.
    beginning: Option<(FirstHead, Pin<Box<Sleep>>)>,
    /// Longest time for which a write can be blocked.
    stall_max: Duration,
    /// Deadline of a blocked write. `None` while no write is blocked.
    stalled: Option<Pin<Box<Sleep>>>,
    /// Answers that the client has not read. `next_look` is the time of their next check.
    unsent: Unsent,
    next_look: Pin<Box<Sleep>>,
    _place: ConnectionPermit,
}

impl Connection {
    /// Returns a connection whose first head must be complete within `begin_max`, and that can block writes for `stall_max`.
    pub(super) fn new(
        bytes: Box<dyn Bytes>,
        (begin_max, stall_max): (Duration, Duration),
        place: ConnectionPermit,
        unsent: Unsent,
    ) -> Self {
        let beginning = Some((FirstHead::default(), Box::pin(sleep(begin_max))));
        let next_look = Box::pin(sleep(LOOK_EVERY));
        Self { bytes, beginning, stall_max, stalled: None, unsent, next_look, _place: place }
    }

    /// Returns whether the client has not read a response for too long, even if the client is otherwise active.
    fn is_abandoned(&mut self, cx: &mut Context<'_>) -> bool {
        while self.next_look.as_mut().poll(cx).is_ready() {
            let now = Instant::now();
            if self.unsent.is_stalled(now) {
                return true;
            }
            self.next_look.as_mut().reset(now + LOOK_EVERY);
        }
        false
    }

    /// Returns the result of a write, or an error if the write is blocked for too long.
    fn written<T>(
        &mut self,
        cx: &mut Context<'_>,
        poll: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if poll.is_ready() {
            self.stalled = None;
            return poll;
        }
        let stall_max = self.stall_max;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(stall_max)));
        match stalled.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.is_abandoned(cx) {
            return Poll::Ready(Err(ErrorKind::TimedOut.into()));
        }
        let before = buffer.filled().len();
        let poll = Pin::new(&mut this.bytes).poll_read(cx, buffer);
        if let Some((head, until)) = &mut this.beginning {
            if head.add(buffer.filled().get(before..).unwrap_or_default()) {
                this.beginning = None;
            } else if until.deadline() <= Instant::now() || until.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Err(ErrorKind::TimedOut.into()));
            }
        }
        poll
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.bytes).poll_write(cx, bytes);
        self.written(cx, poll)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.bytes).poll_flush(cx);
        self.written(cx, poll)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.bytes).poll_shutdown(cx);
        self.written(cx, poll)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.bytes).poll_write_vectored(cx, parts);
        self.written(cx, poll)
    }

    fn is_write_vectored(&self) -> bool {
        self.bytes.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_complete_with_its_last_byte() {
        for text in [
            "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nA: \r\r\n\r\n",
            "\r\n\r\nGET / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\nHost: a\n\n",
            "PRI * HTTP/1.1\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        ] {
            let (last, rest) = text.as_bytes().split_last().unwrap();
            let mut head = FirstHead::default();
            assert!(rest.iter().all(|byte| !head.add(&[*byte])), "{text:?}");
            assert!(head.add(&[*last]), "{text:?}");
            assert!(FirstHead::default().add(text.as_bytes()), "{text:?}");
        }
    }
}
