//! Server-sent events from the feed of the engine, for any source of events.
//!
//! Each stream reads the feed by itself, so it needs memory only for a few pieces of text. The server ends a stream
//! whose client reads nothing for some time, or falls behind the oldest record of the feed. The client can still read
//! the reason afterward.

use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Response, header};
use futures_util::{StreamExt as _, stream};
use headroom_api::headroomv1::{Bye, Code, Event, Frame, Hello, Streamed};
use headroom_engine::{Entry, Feed, Follower};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_stream::wrappers::ReceiverStream;

use super::answer::Refused;
use super::request::NativeRequest;
use super::words::{epoch, time};
use crate::listen::Endless;
use crate::live::{MAKING, OpenStream};
use crate::service::Service;

/// Longest time between two frames. Source: the wire contract of frames.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Longest time for which a client can read nothing.
const PATIENCE: Duration = Duration::from_secs(30);
/// Size from which a piece is sent, in bytes.
const PIECE: usize = 32 << 10;
/// Maximum number of pieces that wait for a client.
const PIECES: usize = 4;
/// Delay before a reconnect, in milliseconds.
const AGAIN: u64 = 1_000;

/// Reason why the server ends a stream, as in `Bye`.
pub(super) type Reason = &'static str;

/// Selects what a client receives of the feed.
pub(super) trait EventSource: Send + Sync + 'static {
    /// Type of the events that are sent.
    type Event: Streamed + Send;

    /// Returns how much of an entry is sent.
    fn look(&mut self, entry: &Entry) -> Selection;

    /// Returns the event at this position in the entry that was last selected.
    fn event(&self, entry: &Entry, place: usize) -> Self::Event;
}

/// Extent to which an entry is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Selection {
    /// This number of events.
    Some(usize),
    /// This number of events, and then the end of the stream.
    Last(usize, Option<Reason>),
}

/// Returns the stream of a client, from this record on.
pub(super) fn stream<T: EventSource>(
    service: &Service,
    (tells, first): (T, u64),
    open: OpenStream,
) -> Response<Body> {
    let feed = service.engine.feed();
    let hello = Hello {
        sequence: feed.newest(),
        epoch: epoch(service),
        server_time: time(service.clock.now()),
    };
    let (sender, receiver) = mpsc::channel(PIECES);
    let parting = Arc::new(OnceLock::new());
    let teller =
        Teller { sender, tells, last: first - 1, parting: Arc::clone(&parting), _open: open };
    tokio::spawn(teller.tell(hello, feed.follow(first)));
    // The reason for the end is sent after all pending pieces.
    let bye = stream::once(async move { parting.get().map(|reason| Bytes::from(bye(reason))) });
    let pieces = ReceiverStream::new(receiver).chain(bye.filter_map(|bye| async { bye }));
    let body = pieces.map(Ok::<_, std::convert::Infallible>);
    let mut response = Response::new(Body::from_stream(body));
    response.extensions_mut().insert(Endless);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    // A buffering proxy would otherwise never forward this response.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

fn bye(reason: Reason) -> String {
    let bye = Bye { reason: reason.to_owned(), retry_after_millis: AGAIN };
    Frame::<Event>::Bye(bye).to_string()
}

/// Returns the number of the first record that a client has not seen, from its `Last-Event-ID`. `None` without that
/// header.
///
/// # Errors
/// If the value is not a number, is not from this server, or is too old.
pub(super) fn resumed(feed: &Feed, asked: &NativeRequest) -> Result<Option<u64>, Refused> {
    let Some(last) = asked.header("last-event-id").filter(|last| !last.is_empty()) else {
        return Ok(None);
    };
    let Ok(last) = last.parse::<u64>() else {
        let detail = "`Last-Event-ID` must be the number of a record";
        return Err(Refused::new(asked, Code::Malformed, detail));
    };
    let newest = feed.newest();
    if last > newest {
        let detail = format!(
            "record {last} does not exist. The last record is {newest}, because the journal \
             restarted its numbers. Start again from the current state."
        );
        return Err(Refused::new(asked, Code::Gone, detail));
    }
    check_retained(feed, asked, (last + 1).max(1)).map(Some)
}

/// Returns the number of the oldest record in the feed. If the feed is empty, returns the number of the next record.
pub(super) fn oldest(feed: &Feed) -> u64 {
    feed.read(1, 0).map_or_else(|gone| gone.oldest, |_| 1)
}

/// Returns the number of a record, if all records from there on are in memory.
///
/// # Errors
/// If a record is no longer in memory.
pub(super) fn check_retained(
    feed: &Feed,
    asked: &NativeRequest,
    number: u64,
) -> Result<u64, Refused> {
    let oldest = oldest(feed);
    if number >= oldest {
        return Ok(number);
    }
    let detail = format!(
        "records before {oldest} are no longer in memory. Start again from the current state, or \
         read the journal."
    );
    Err(Refused::new(asked, Code::Gone, detail))
}

/// Sends events to one client.
struct Teller<T> {
    sender: mpsc::Sender<Bytes>,
    tells: T,
    /// The last record that was read.
    last: u64,
    /// Reason for the end of the stream, set at its end.
    parting: Arc<OnceLock<Reason>>,
    _open: OpenStream,
}

impl<T: EventSource> Teller<T> {
    async fn tell(mut self, hello: Hello, mut follower: Follower) {
        let hello = Frame::<T::Event>::Hello(hello);
        if self.send(hello.to_string()).await.is_none() {
            return;
        }
        let mut beat = interval(HEARTBEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        beat.reset();
        loop {
            let entries = tokio::select! {
                entries = follower.next() => entries,
                _ = beat.tick() => {
                    if self.still_here().await.is_none() {
                        return;
                    }
                    continue;
                }
                // The client has disconnected.
                () = self.sender.closed() => return,
            };
            match entries {
                Ok(Some(entries)) => {
                    if self.pass_on(&entries).await.is_none() {
                        return;
                    }
                }
                Ok(None) => return self.part("stopping"),
                Err(_) => return self.part("slow"),
            }
        }
    }

    /// Sends the wanted parts of these entries. `None` if nothing more is to be sent.
    async fn pass_on(&mut self, entries: &[Arc<Entry>]) -> Option<()> {
        let mut piece = String::new();
        let mut making = MAKING.acquire().await.ok()?;
        for entry in entries {
            self.last = entry.record.sequence;
            let look = self.tells.look(entry);
            let (Selection::Some(count) | Selection::Last(count, _)) = look;
            for place in 0..count {
                let event = self.tells.event(entry, place);
                let frame = Frame::Event { event, last: place + 1 == count };
                write!(piece, "{frame}").expect("events are JSON");
                // One record can have very many events.
                if piece.len() >= PIECE {
                    drop(making);
                    self.send(std::mem::take(&mut piece)).await?;
                    making = MAKING.acquire().await.ok()?;
                }
            }
            if let Selection::Last(_, reason) = look {
                drop(making);
                self.send(piece).await?;
                if let Some(reason) = reason {
                    self.part(reason);
                }
                return None;
            }
        }
        drop(making);
        self.send(piece).await
    }

    /// Preserves the connection. The client can then also resume after records that it did not want.
    async fn still_here(&self) -> Option<()> {
        let last = self.last;
        self.send(format!(": still here\nid: {last}\n\n")).await
    }

    /// Sets the reason for the end. Only the first call has an effect.
    fn part(&self, reason: Reason) {
        let _ = self.parting.set(reason);
    }

    /// Sends a piece. `None` if the client no longer reads.
    async fn send(&self, piece: String) -> Option<()> {
        if piece.is_empty() {
            return Some(());
        }
        let sent = timeout(PATIENCE, self.sender.send(piece.into())).await;
        if sent.is_err() {
            self.part("slow");
        }
        sent.ok()?.ok()
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;
    use crate::live::{Live, StreamKind};

    /// A source that sends nothing.
    struct Nothing;

    impl EventSource for Nothing {
        type Event = Event;

        fn look(&mut self, _: &Entry) -> Selection {
            Selection::Some(0)
        }

        fn event(&self, _: &Entry, _: usize) -> Event {
            unreachable!("no entry has an event here")
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_takes_nothing_for_thirty_seconds_is_dropped_and_told_so() {
        let live = Arc::new(Live::default());
        let open = live.open_stream(StreamKind::Events, 1).expect("it is the first");
        let (sender, mut receiver) = mpsc::channel(PIECES);
        let parting: Arc<OnceLock<Reason>> = Arc::default();
        let teller =
            Teller { sender, tells: Nothing, last: 0, parting: Arc::clone(&parting), _open: open };
        let piece = || "piece".to_owned();
        for _ in 0..PIECES {
            assert_eq!(teller.send(piece()).await, Some(()), "so many are on their way");
        }
        // The client reads one piece just in time.
        let late = async {
            tokio::time::sleep(Duration::from_secs(29)).await;
            receiver.recv().await
        };
        let (sent, taken) = tokio::join!(teller.send(piece()), late);
        assert_eq!((sent, taken.as_deref()), (Some(()), Some(&b"piece"[..])));
        assert_eq!(parting.get(), None);

        let begun = Instant::now();
        assert_eq!(teller.send(piece()).await, None);
        assert_eq!(begun.elapsed(), Duration::from_secs(30));
        assert_eq!(parting.get(), Some(&"slow"));
        drop(teller);
        assert!(live.open_stream(StreamKind::Events, 1).is_some(), "its place is free again");
        // If the client reads on, it gets the pending pieces.
        let mut left = 0;
        while receiver.recv().await.is_some() {
            left += 1;
        }
        assert_eq!(left, PIECES);
    }
}
