//! Bodies: small ones whole, large ones piece by piece as the client takes them.

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

/// The media type of all JSON of `/ws/v1`.
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=UTF-8");
/// The media type of a queue file.
pub(crate) const YAML: HeaderValue = HeaderValue::from_static("application/x-yaml; charset=UTF-8");
/// The media type of texts.
pub(crate) const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// How many bytes are made at once of a body that is sent piece by piece.
const PIECE_BYTES: usize = 64 << 10;

/// How long a large answer waits for others to end.
const WAIT_FOR_OTHERS: Duration = Duration::from_secs(5);

/// A body of this media type.
pub(crate) fn body(media: HeaderValue, body: impl Into<Body>) -> Response {
    let mut response = body.into().into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, media);
    response
}

/// A body as the reference writes it.
pub(crate) fn json<T: Serialize + ?Sized>(of: &T) -> Response {
    let bytes = wsv1::to_json(of).expect("bodies have texts for keys, and no other faults");
    body(JSON, bytes)
}

/// Do work that takes a while where it holds up no other request.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    // It cannot be cancelled, so all that is left is a panic: our own fault.
    tokio::task::spawn_blocking(work).await.map_err(|_| {
        Refusal::failed("the server failed to create the response. See the log of the server.")
    })
}

/// Something large that is sent in pieces. It is asked for the next when the client has taken the
/// last, so that one who reads slowly costs one piece.
pub(crate) trait Pieces: Send + 'static {
    /// Add the next part of the body, a few kilobytes; false once there is nothing more.
    fn add_to(&mut self, bytes: &mut Vec<u8>) -> bool;
}

/// A list of objects, as the reference writes it.
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

/// How many large answers there are, and how long they may take.
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

    /// A list of what `make` gives, which is asked for it where it holds up nobody.
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

    /// What `make` gives; whole if it is small.
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

/// The next piece, and whether there is another.
fn piece(pieces: &mut impl Pieces) -> (Vec<u8>, bool) {
    let mut bytes = Vec::with_capacity(PIECE_BYTES + PIECE_BYTES / 4);
    while bytes.len() < PIECE_BYTES {
        if !pieces.add_to(&mut bytes) {
            return (bytes, false);
        }
    }
    (bytes, true)
}

/// What is left to send. It goes when its time is over, even if nobody asks for it: it keeps the
/// books as they were.
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
    // The compressor asks once more at the end.
    let first = stream::once(async { Ok(Bytes::from(first)) });
    Body::from_stream(first.chain(rest).fuse())
}

fn next_of<P: Pieces>(left: &Mutex<Left<P>>) -> io::Result<Option<Vec<u8>>> {
    let mut left = left.lock().unwrap_or_else(PoisonError::into_inner);
    if left.is_late {
        // The connection breaks off, so that a part is not taken for the whole.
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

/// Ends with the answer that it is for.
struct Timer(tokio::task::JoinHandle<()>);

impl Drop for Timer {
    fn drop(&mut self) {
        self.0.abort();
    }
}
