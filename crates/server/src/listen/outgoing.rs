//! Outgoing answers.
//!
//! An HTTP/2 client decides how much of each answer it reads, and a connection that answers pings appears to be active.
//! An answer therefore counts until its last byte is read: in `limits.requests`, and in the byte budgets of its
//! connection and of the server. A connection ends if an answer makes no progress for [`STALL_MAX`].
//!
//! [`Unsent`] lists the unread answers of a connection. [`Outgoing`] wraps the body of each answer and updates the
//! list. The cost is a copy of each sent byte, and nothing while nothing is sent.

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

/// Longest time for which a client can read nothing of an answer that has more.
pub(super) const STALL_MAX: Duration = Duration::from_secs(30);

/// Maximum number of unread bytes of answers on one connection.
pub(super) const CONNECTION_BYTES_MAX: usize = 64 << 20;
/// Maximum number of unread bytes of answers on all connections together.
///
/// Together with the other budgets, a server grows by less than 256 MiB.
pub(super) const BYTES_MAX: usize = 160 << 20;

/// Size of the pieces that are passed on at once. These bytes are in the buffers of the connection, even if the
/// client reads none of them.
const PIECE_BYTES: usize = 16 << 10;

/// A response that lasts until its client disconnects. The limit of concurrent requests does not count this response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Endless;

/// Answers that a connection has not read. Clones share the list.
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
    /// Time since which the client could have read more of an answer, by number of the answer.
    owed: BTreeMap<u64, Instant>,
}

impl Default for Unsent {
    fn default() -> Self {
        let room = ByteBudget::new(CONNECTION_BYTES_MAX);
        Self(Arc::new(Shared { room, open: Mutex::default() }))
    }
}

impl Unsent {
    /// Returns whether an answer has made no progress for too long.
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

/// Entry of an answer in the list of its connection.
#[derive(Debug)]
struct Owed {
    unsent: Unsent,
    number: u64,
}

impl Owed {
    /// Stores that the client has read everything so far. `more` specifies whether more bytes are available.
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

/// A body that counts until its last byte is read.
pub(super) struct Outgoing {
    inner: Body,
    /// Bytes of `inner` that are not passed on yet. Each piece has its own memory of exactly its size. Otherwise, an
    /// answer that was built in small steps could use twice the necessary memory, and a slice would hold all of this
    /// memory until the end.
    pieces: VecDeque<Bytes>,
    /// Number of bytes in all pieces.
    rest: usize,
    size: Size,
    /// Whether `inner` has ended.
    is_over: bool,
    owed: Owed,
    _permit: Option<OwnedSemaphorePermit>,
}

/// Size of an answer in both budgets.
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
    /// Wraps the body of an answer. The body holds `permit` until its last byte is read.
    ///
    /// # Errors
    /// If the budget of unread bytes is used up.
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

    /// Reads a whole body of known length, which is completely available.
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

    /// Returns the next piece. The remaining pieces count. The returned piece counts until the client has read it,
    /// which is known when the client requests more.
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
                    // The client waits for the server.
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
        // A body of known length only shrinks. Any other body has one piece at a time. If other clients use the whole
        // budget, there is no budget for it, and the answer ends with an error.
        if let Err(no_room) = this.size.resize(bytes.min(this.size.bytes.max(this.rest))) {
            return Poll::Ready(Some(Err(axum::Error::new(no_room))));
        }
        let piece = this.piece();
        this.owed.progress(true);
        Poll::Ready(Some(Ok(piece)))
    }

    fn is_end_stream(&self) -> bool {
        // An answer without a body needs no frame. The end of any other answer is a separate frame. It is requested
        // when the client has read everything before it, so unread bytes count until then.
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
