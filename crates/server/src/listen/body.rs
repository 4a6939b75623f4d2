//! What a client sends, as far as it may.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use http_body::{Frame, SizeHint};
use http_body_util::Limited;

type Error = Box<dyn std::error::Error + Send + Sync>;

/// A body of bounded length that tells when all of it is there.
pub(super) struct Incoming {
    inner: Limited<Body>,
    ended: Arc<AtomicBool>,
}

/// Whether all of a body is there.
#[derive(Clone, Debug)]
pub(super) struct Ended(Arc<AtomicBool>);

impl Ended {
    pub(super) fn is_so(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Bound a body, and learn when all of it is there.
pub(super) fn bounded(body: Body, bytes_max: usize) -> (Body, Ended) {
    let ended = Arc::new(AtomicBool::new(body.is_end_stream()));
    let incoming = Incoming { inner: Limited::new(body, bytes_max), ended: Arc::clone(&ended) };
    (Body::new(incoming), Ended(ended))
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
            self.ended.store(true, Ordering::Relaxed);
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
