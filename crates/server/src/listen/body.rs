//! Bodies of REST requests, within their limits.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use http_body::{Frame, SizeHint};
use http_body_util::Limited;

use super::byte_budget::{BudgetExhausted, BudgetPermit, ByteBudget};

type Error = Box<dyn std::error::Error + Send + Sync>;

/// A body of bounded length that reports its state.
pub(super) struct Incoming {
    inner: Limited<Body>,
    bytes: usize,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    ended: AtomicBool,
    crowded: Mutex<Option<BudgetExhausted>>,
    held: Mutex<BudgetPermit>,
}

/// State of a body. The state holds the budget of the body, because the reader holds the bytes of the body.
#[derive(Clone, Debug)]
pub(super) struct Taken(Arc<State>);

impl Taken {
    /// Returns whether the body is complete.
    pub(super) fn has_ended(&self) -> bool {
        self.0.ended.load(Ordering::Relaxed)
    }

    /// Returns the error of the budget, if the rest of the body exceeded the budget.
    pub(super) fn crowded(&self) -> Option<BudgetExhausted> {
        *self.0.crowded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Limits the size of a body. Returns the body with its state.
pub(super) fn bounded(body: Body, bytes_max: usize, room: &ByteBudget) -> (Body, Taken) {
    let state = Arc::new(State {
        ended: AtomicBool::new(body.is_end_stream()),
        crowded: Mutex::default(),
        held: Mutex::new(room.hold()),
    });
    let inner = Limited::new(body, bytes_max);
    let incoming = Incoming { inner, bytes: 0, state: Arc::clone(&state) };
    (Body::new(incoming), Taken(state))
}

impl Incoming {
    /// Counts more bytes, if the budget allows this.
    fn hold(&mut self, more: usize) -> Result<(), BudgetExhausted> {
        self.bytes = self.bytes.saturating_add(more);
        let mut held = self.state.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.resize(self.bytes).inspect_err(|no_room| {
            *self.state.crowded.lock().unwrap_or_else(PoisonError::into_inner) = Some(*no_room);
        })
    }
}

impl HttpBody for Incoming {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let polled = Pin::new(&mut self.inner).poll_frame(cx);
        if self.inner.is_end_stream() || matches!(polled, Poll::Ready(None)) {
            self.state.ended.store(true, Ordering::Relaxed);
        }
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(data) = frame.data_ref()
            && let Err(no_room) = self.hold(data.len())
        {
            return Poll::Ready(Some(Err(no_room.into())));
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
