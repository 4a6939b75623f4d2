//! Answers on their way out.
//!
//! A client of HTTP/2 decides how much of each answer it takes, and a connection that answers pings looks alive. So
//! an answer counts until its last byte is taken: against `limits.requests`, and against a budget of bytes of its
//! connection and of the server. A connection on which an answer makes no progress for [`STALL_MAX`] ends.
//!
//! [`Unsent`] is what one connection has not taken; [`Outgoing`] wraps the body of each answer and keeps it up to date.
//! Costs a copy of each byte that is sent, and nothing while nothing is sent.

use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use futures_util::{future, stream};
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use super::byte_budget::{BudgetExhausted, BudgetPermit, ByteBudget};

/// How long a client may take nothing of an answer of which there is more.
pub(super) const STALL_MAX: Duration = Duration::from_secs(30);

/// The bytes of answers that one connection may leave untaken.
pub(super) const CONNECTION_BYTES_MAX: usize = 64 << 20;
/// The bytes of answers that all connections together may leave untaken.
///
/// With what the other budgets allow, a server grows by less than 256 MiB.
pub(super) const BYTES_MAX: usize = 160 << 20;

/// The bytes that are handed over at once. What is handed over is in the buffers of the connection, even if the client
/// takes none of it.
const PIECE_BYTES: usize = 16 << 10;

/// A response that goes on until its client goes, and is not one of the requests that are answered at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Endless;

/// The answers that a connection has not taken. Clones are one.
#[derive(Clone, Debug)]
pub struct Unsent(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    room: ByteBudget,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    /// Since when the client could take more of an answer, and has not.
    owed: BTreeMap<u64, Instant>,
}

impl Default for Unsent {
    fn default() -> Self {
        let room = ByteBudget::new(CONNECTION_BYTES_MAX);
        Self(Arc::new(Shared { room, open: Mutex::default() }))
    }
}

impl Unsent {
    /// Whether an answer has made no progress for too long.
    pub(super) fn is_stalled(&self, now: Instant) -> bool {
        self.open().owed.values().any(|since| now.duration_since(*since) >= STALL_MAX)
    }

    fn enter(&self) -> Owed {
        let mut open = self.open();
        let number = open.next;
        open.next += 1;
        open.owed.insert(number, Instant::now());
        Owed { unsent: self.clone(), number }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of one answer in the list of its connection.
#[derive(Debug)]
struct Owed {
    unsent: Unsent,
    number: u64,
}

impl Owed {
    /// The client has taken what there was. `more` tells whether there is more for it.
    fn progress(&self, more: bool) {
        let mut open = self.unsent.open();
        if more {
            open.owed.insert(self.number, Instant::now());
        } else {
            open.owed.remove(&self.number);
        }
    }
}

impl Drop for Owed {
    fn drop(&mut self) {
        self.unsent.open().owed.remove(&self.number);
    }
}

/// A body that counts until its last byte is taken.
pub(super) struct Outgoing {
    inner: Body,
    /// What was taken from `inner` and not handed over. Each piece has memory of its own, of its size: an answer that was
    /// written bit by bit may have twice the memory that it needs, and a slice would keep all of it until its end.
    pieces: VecDeque<Bytes>,
    /// The bytes of all pieces.
    rest: usize,
    size: Size,
    /// Whether `inner` has ended.
    is_over: bool,
    owed: Owed,
    _permit: Option<OwnedSemaphorePermit>,
}

/// How many bytes there are of an answer, in both budgets.
struct Size {
    bytes: usize,
    of_connection: BudgetPermit,
    of_all: BudgetPermit,
}

impl Size {
    fn resize(&mut self, bytes: usize) -> Result<(), BudgetExhausted> {
        self.of_connection.resize(bytes)?;
        self.of_all.resize(bytes)?;
        self.bytes = bytes;
        Ok(())
    }
}

impl Outgoing {
    /// Wraps the body of an answer. It holds `permit` until its last byte is taken.
    ///
    /// # Errors
    /// When clients have left as many bytes untaken as they may.
    pub(super) async fn wrap(
        inner: Body,
        permit: Option<OwnedSemaphorePermit>,
        unsent: &Unsent,
        all: &ByteBudget,
    ) -> Result<Body, BudgetExhausted> {
        let whole = inner.size_hint().exact().unwrap_or_default();
        let mut size = Size { bytes: 0, of_connection: unsent.0.room.hold(), of_all: all.hold() };
        let bytes = usize::try_from(whole).unwrap_or(usize::MAX);
        size.resize(bytes)?;
        let owed = unsent.enter();
        let is_over = inner.is_end_stream();
        let pieces = VecDeque::new();
        let mut outgoing = Self { inner, pieces, rest: 0, size, is_over, owed, _permit: permit };
        if bytes > PIECE_BYTES {
            outgoing.take_all().await;
        }
        Ok(Body::new(outgoing))
    }

    /// Takes a body of known length, which is all there.
    async fn take_all(&mut self) {
        match std::mem::take(&mut self.inner).collect().await {
            Ok(whole) => {
                self.take(&whole.to_bytes());
                self.is_over = true;
            }
            Err(error) => {
                self.inner = Body::from_stream(stream::once(future::ready(Err::<Bytes, _>(error))));
            }
        }
    }

    fn take(&mut self, data: &[u8]) {
        self.rest += data.len();
        self.pieces.extend(data.chunks(PIECE_BYTES).map(Bytes::copy_from_slice));
    }

    /// The next piece of what was taken from the body. What is left counts, and so does the piece until the client
    /// has taken it, which is known when it asks for more.
    fn piece(&mut self) -> Frame<Bytes> {
        let piece = self.pieces.pop_front().unwrap_or_default();
        self.rest -= piece.len();
        Frame::data(piece)
    }
}

impl HttpBody for Outgoing {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        while this.pieces.is_empty() && !this.is_over {
            match Pin::new(&mut this.inner).poll_frame(cx) {
                Poll::Pending => {
                    // The client waits for us.
                    this.owed.progress(false);
                    return Poll::Pending;
                }
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => this.take(&data),
                    Err(other) => {
                        this.owed.progress(true);
                        return Poll::Ready(Some(Ok(other)));
                    }
                },
                Poll::Ready(None) => this.is_over = true,
                failed @ Poll::Ready(Some(Err(_))) => return failed,
            }
        }
        if this.pieces.is_empty() {
            return Poll::Ready(None);
        }
        let left = usize::try_from(this.inner.size_hint().exact().unwrap_or_default());
        let bytes = left.unwrap_or(usize::MAX).saturating_add(this.rest);
        // A body whose length was known only shrinks. Of any other there is one piece, for which there is room in a
        // moment if others have left as much as they may: the answer breaks off.
        if let Err(no_room) = this.size.resize(bytes.min(this.size.bytes.max(this.rest))) {
            return Poll::Ready(Some(Err(axum::Error::new(no_room))));
        }
        let piece = this.piece();
        this.owed.progress(true);
        Poll::Ready(Some(Ok(piece)))
    }

    fn is_end_stream(&self) -> bool {
        // An answer without a body needs no frame. Of any other the end is a frame of its own: it is asked for when
        // the client has taken all before it, so what is untaken counts until then.
        self.is_over && self.pieces.is_empty() && self.size.bytes == 0
    }

    fn size_hint(&self) -> SizeHint {
        let inner = self.inner.size_hint();
        let rest = self.rest as u64;
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower().saturating_add(rest));
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper.saturating_add(rest));
        }
        hint
    }
}
