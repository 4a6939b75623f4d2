//! An endless stream of new events, one event per line.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{StatusCode, header};
use futures_util::{StreamExt as _, stream};
use headroom_api::wsv1::{ErrorBody, EventStream, StreamStart, message, to_json};
use headroom_engine::Watcher;
use serde::Serialize;
use tokio::sync::mpsc;

use crate::convert::event::event;
use crate::listen::Endless;
use crate::live::MAKING;

use super::event::settings;
use super::refusal::{Answer, Refusal};
use super::request::RestRequest;
use super::respond::{JSON, body};

/// Maximum number of lines that wait for a reader, in addition to the lines in the buffers of its connection.
const LINES_WAITING: usize = 128;

/// Longest time for which a client can read no line before its stream is dropped.
const PATIENCE: Duration = Duration::from_secs(5);

/// The open streams of events.
#[derive(Debug, Default)]
pub struct Streams(Mutex<Open>);

#[derive(Debug, Default)]
struct Open {
    next: u64,
    by_number: BTreeMap<u64, Follower>,
}

#[derive(Debug)]
struct Follower {
    /// Host name under which the client addressed this server.
    host: String,
    since: jiff::Timestamp,
}

impl Streams {
    /// Returns the number of open streams.
    pub fn count(&self) -> usize {
        self.open().by_number.len()
    }

    /// Returns the open streams, the oldest first.
    pub(crate) fn all(&self) -> Vec<EventStream> {
        let open = self.open();
        let followers = open.by_number.values();
        followers
            .map(|one| EventStream { name: one.host.clone(), created_at: Some(one.since) })
            .collect()
    }

    /// Adds a stream, if the total limit and the limit of this host name allow another stream.
    fn enter(self: &Arc<Self>, host: &str, most: usize, most_per_host: usize) -> Option<Entered> {
        let mut open = self.open();
        let same = open.by_number.values().filter(|one| one.host == host).count();
        if open.by_number.len() >= most || same >= most_per_host {
            return None;
        }
        let number = open.next;
        open.next += 1;
        let follower = Follower { host: host.to_owned(), since: jiff::Timestamp::now() };
        open.by_number.insert(number, follower);
        Some(Entered { streams: Arc::clone(self), number })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open stream. Dropping it removes the stream.
#[derive(Debug)]
struct Entered {
    streams: Arc<Streams>,
    number: u64,
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.streams.open().by_number.remove(&self.number);
    }
}

pub(crate) async fn stream_events(asked: RestRequest, request: Request) -> Answer {
    let settings = settings(&asked)?;
    let host = host_of(&request);
    let streams = &asked.rest.streams;
    let entered = streams.enter(&host, settings.streams, settings.streams_per_host);
    let too_many = || Refusal::new(StatusCode::SERVICE_UNAVAILABLE, message::TOO_MANY_STREAMS);
    let entered = entered.ok_or_else(too_many)?;
    let count = asked.number("count")?.unwrap_or(0);
    // A larger count than fits has the same effect as the largest.
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let watcher = asked.service.engine.watched().follow(count);
    let start = StreamStart { instance_uuid: asked.service.about.instance.clone() };
    let mut response = body(JSON, lines(line(&start), watcher, entered));
    response.extensions_mut().insert(Endless);
    Ok(response)
}

/// Returns the host name under which the client addressed this server.
fn host_of(request: &Request) -> String {
    let header = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let host = header.or_else(|| request.uri().authority().map(Authority::as_str));
    host.unwrap_or_default().to_owned()
}

fn line<T: Serialize>(of: &T) -> Bytes {
    to_json(of).expect("bodies have texts for keys").into()
}

/// The reading end of a stream.
struct Reader {
    first: Option<Bytes>,
    lines: mpsc::Receiver<Bytes>,
    /// Whether the stream was dropped because the client was too slow.
    is_dropped: Arc<AtomicBool>,
    _entered: Entered,
}

impl Reader {
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        if let Some(line) = self.lines.recv().await {
            return Some(line);
        }
        let was_dropped = self.is_dropped.swap(false, Ordering::SeqCst);
        was_dropped.then(|| line(&ErrorBody::new(200, message::STREAM_CLOSED)))
    }
}

fn lines(first: Bytes, watcher: Watcher, entered: Entered) -> Body {
    let (sender, lines) = mpsc::channel(LINES_WAITING);
    let is_dropped = Arc::new(AtomicBool::new(false));
    tokio::spawn(pass_on(watcher, sender, Arc::clone(&is_dropped)));
    let reader = Reader { first: Some(first), lines, is_dropped, _entered: entered };
    let lines = stream::unfold(reader, |mut reader| async move {
        let line = reader.next().await?;
        Some((Ok::<_, std::convert::Infallible>(line), reader))
    });
    Body::from_stream(lines.fuse())
}

/// Forwards events until the client disconnects, is too slow, or the engine ends.
async fn pass_on(mut watcher: Watcher, lines: mpsc::Sender<Bytes>, is_dropped: Arc<AtomicBool>) {
    loop {
        let next = tokio::select! {
            next = watcher.next() => next,
            () = lines.closed() => return,
        };
        let records = match next {
            Ok(Some(records)) => records,
            Ok(None) => return,
            // Some events in between are no longer stored.
            Err(_) => return is_dropped.store(true, Ordering::SeqCst),
        };
        let Ok(making) = MAKING.acquire().await else { return };
        let made: Vec<Bytes> = records.iter().map(|record| line(&event(record))).collect();
        drop(making);
        for line in made {
            match tokio::time::timeout(PATIENCE, lines.send(line)).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return,
                Err(_) => return is_dropped.store(true, Ordering::SeqCst),
            }
        }
    }
}
