//! Bodies of responses. Small bodies are sent at once, and large bodies in pieces, at the speed of the client.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::{StreamExt as _, stream};
use headroom_api::wsv1;
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::refusal::{Answer, Refusal};
use super::settings::RestSettings;

/// Media type of all JSON of `/ws/v1`.
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=UTF-8");
/// Media type of a queue file.
pub(crate) const YAML: HeaderValue = HeaderValue::from_static("application/x-yaml; charset=UTF-8");
/// Media type of plain text.
pub(crate) const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// Size of a piece of a large body, in bytes.
const PIECE_BYTES: usize = 64 << 10;

/// Longest wait of a large answer for the end of another.
const WAIT_FOR_OTHERS: Duration = Duration::from_secs(5);

/// Returns a response with a body of this media type.
pub(crate) fn body(media: HeaderValue, body: impl Into<Body>) -> Response {
    let mut response = body.into().into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, media);
    response
}

/// Returns a JSON response in the format of the reference.
pub(crate) fn json<T: Serialize + ?Sized>(of: &T) -> Response {
    let bytes = wsv1::to_json(of).expect("bodies have texts for keys, and no other faults");
    body(JSON, bytes)
}

/// Runs long work on a thread on which the work blocks no other request.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    // The work is never cancelled, so an error means a panic.
    tokio::task::spawn_blocking(work).await.map_err(|_| {
        Refusal::failed("the server failed to create the response. See the log of the server.")
    })
}

/// A large body that is sent in pieces. The next piece is created after the client has read the last piece, so a slow
/// client costs one piece of memory.
pub(crate) trait Pieces: Send + 'static {
    /// Appends the next part of the body, a few kilobytes. Returns `false` after the last part.
    fn add_to(&mut self, bytes: &mut Vec<u8>) -> bool;
}

/// A list of objects, in the format of the reference.
struct List<I> {
    items: I,
    is_first: bool,
    is_done: bool,
}

impl<T: Serialize, I: Iterator<Item = T> + Send + 'static> Pieces for List<I> {
    fn add_to(&mut self, bytes: &mut Vec<u8>) -> bool {
        if self.is_done {
            return false;
        }
        if let Some(item) = self.items.next() {
            bytes.push(if self.is_first { b'[' } else { b',' });
            self.is_first = false;
            let item = wsv1::to_json(&item).expect("bodies have texts for keys");
            bytes.extend_from_slice(item.trim_ascii_end());
        } else {
            bytes.extend_from_slice(if self.is_first { b"[]\n" } else { b"]\n" });
            self.is_done = true;
        }
        true
    }
}

/// Limits the number and the duration of large answers.
#[derive(Debug)]
pub(crate) struct Large {
    permits: Arc<Semaphore>,
    time: Duration,
}

impl Large {
    pub(crate) fn new(settings: &RestSettings) -> Self {
        let permits = Arc::new(Semaphore::new(settings.answers_at_once));
        Self { permits, time: settings.answer_time }
    }

    /// Returns the list that `make` returns. `make` runs on a thread for blocking work.
    pub(crate) async fn list<T, I>(
        &self,
        make: impl FnOnce() -> Result<I, Refusal> + Send + 'static,
    ) -> Answer
    where
        T: Serialize,
        I: Iterator<Item = T> + Send + 'static,
    {
        let make = || Ok(List { items: make()?, is_first: true, is_done: false });
        self.answer(JSON, make).await
    }

    /// Returns the body that `make` returns. A small body is sent at once.
    pub(crate) async fn answer<P: Pieces>(
        &self,
        media: HeaderValue,
        make: impl FnOnce() -> Result<P, Refusal> + Send + 'static,
    ) -> Answer {
        let begin = move || {
            let mut pieces = make()?;
            let (bytes, more) = piece(&mut pieces);
            Ok((bytes, more.then_some(pieces)))
        };
        let (first, rest) = blocking(begin).await??;
        let Some(pieces) = rest else {
            return Ok(body(media, first));
        };
        let permit = Arc::clone(&self.permits).acquire_owned();
        let Ok(Ok(permit)) = tokio::time::timeout(WAIT_FOR_OTHERS, permit).await else {
            return Err(Refusal::later(5, "the limit of large responses in progress is reached"));
        };
        Ok(body(media, sent_in_pieces(first, pieces, permit, self.time)))
    }
}

/// Returns the next piece, and whether another piece follows.
fn piece(pieces: &mut impl Pieces) -> (Vec<u8>, bool) {
    let mut bytes = Vec::with_capacity(PIECE_BYTES + PIECE_BYTES / 4);
    while bytes.len() < PIECE_BYTES {
        if !pieces.add_to(&mut bytes) {
            return (bytes, false);
        }
    }
    (bytes, true)
}

/// The unsent rest of a body. The rest holds a view of the books, so it is dropped after its time limit, even if the
/// client reads nothing.
struct Left<P> {
    pieces: Option<(P, OwnedSemaphorePermit)>,
    is_late: bool,
}

fn sent_in_pieces<P: Pieces>(
    first: Vec<u8>,
    pieces: P,
    permit: OwnedSemaphorePermit,
    time: Duration,
) -> Body {
    let left = Arc::new(Mutex::new(Left { pieces: Some((pieces, permit)), is_late: false }));
    let forgotten = Arc::downgrade(&left);
    let timer = tokio::spawn(async move {
        tokio::time::sleep(time).await;
        if let Some(left) = forgotten.upgrade() {
            let mut left = left.lock().unwrap_or_else(PoisonError::into_inner);
            left.is_late = left.pieces.take().is_some();
        }
    });
    let timer = Timer(timer);
    let rest = stream::unfold((left, timer), |(left, timer)| async move {
        let asked = Arc::clone(&left);
        let next = tokio::task::spawn_blocking(move || next_of(&asked)).await;
        match next
            .unwrap_or_else(|_| Err(io::Error::other("the server failed to create the response")))
        {
            Ok(None) => None,
            Ok(Some(bytes)) => Some((Ok(Bytes::from(bytes)), (left, timer))),
            Err(error) => Some((Err(error), (left, timer))),
        }
    });
    // The compressor polls once more after the end.
    let first = stream::once(async { Ok(Bytes::from(first)) });
    Body::from_stream(first.chain(rest).fuse())
}

fn next_of<P: Pieces>(left: &Mutex<Left<P>>) -> io::Result<Option<Vec<u8>>> {
    let mut left = left.lock().unwrap_or_else(PoisonError::into_inner);
    if left.is_late {
        // The error closes the connection, so that the client does not treat a part as the whole body.
        let late = "the client read the response too slowly";
        return Err(io::Error::new(io::ErrorKind::TimedOut, late));
    }
    let Some((pieces, _)) = &mut left.pieces else {
        return Ok(None);
    };
    let (bytes, more) = piece(pieces);
    if !more {
        left.pieces = None;
    }
    Ok((!bytes.is_empty()).then_some(bytes))
}

/// Aborts its task when the answer ends.
struct Timer(tokio::task::JoinHandle<()>);

impl Drop for Timer {
    fn drop(&mut self) {
        self.0.abort();
    }
}
