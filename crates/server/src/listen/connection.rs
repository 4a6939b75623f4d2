//! A connection that cannot be held open by saying nothing.

use std::future::Future as _;
use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use super::connection_limit::ConnectionPermit;
use super::outgoing::Unsent;

/// Bytes, encrypted or not.
pub(super) trait Bytes: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Bytes for T {}

/// How many bytes tell which version of HTTP is spoken; every request has more.
const PREFACE_BYTES: usize = 24;

/// How often it is looked whether an answer makes no progress.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// A connection. It ends when the client does not say in time what it wants, or does not take what
/// it is sent: neither may cost memory for long.
pub(super) struct Connection {
    bytes: Box<dyn Bytes>,
    /// Until the first bytes are there: how many are, and when all must be.
    beginning: Option<(usize, Pin<Box<Sleep>>)>,
    /// For how long a write may stand still.
    stall_max: Duration,
    /// Since a write stands still: when that ends.
    stalled: Option<Pin<Box<Sleep>>>,
    /// The answers that the client has not taken, and when they are looked at next.
    unsent: Unsent,
    next_look: Pin<Box<Sleep>>,
    _place: ConnectionPermit,
}

impl Connection {
    /// That must begin within `begin_max`, and may keep us waiting for `stall_max`.
    pub(super) fn new(
        bytes: Box<dyn Bytes>,
        (begin_max, stall_max): (Duration, Duration),
        place: ConnectionPermit,
        unsent: Unsent,
    ) -> Self {
        let beginning = Some((0, Box::pin(sleep(begin_max))));
        let next_look = Box::pin(sleep(LOOK_EVERY));
        Self { bytes, beginning, stall_max, stalled: None, unsent, next_look, _place: place }
    }

    /// Whether the client has left an answer untaken for too long, though it may be awake otherwise.
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

    /// What came of writing, unless it stands still for too long.
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
        if let Some((read, until)) = &mut this.beginning {
            *read += buffer.filled().len() - before;
            if *read >= PREFACE_BYTES {
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
