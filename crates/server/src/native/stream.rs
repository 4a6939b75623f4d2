//! Server-sent events from the feed of the engine, for any source of events.
//!
//! Each stream goes through the feed by itself, so it needs no memory but a few pieces of
//! text on their way. One who takes nothing for a while is dropped, and one who falls so far behind
//! that the feed has moved on; both get the reason, if they ever read on.

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

/// How often something is sent at least. Source: the wire contract of frames.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How long a client may take nothing.
const PATIENCE: Duration = Duration::from_secs(30);
/// A piece is sent when it is so long, bytes.
const PIECE: usize = 32 << 10;
/// How many pieces may be on their way to a client.
const PIECES: usize = 4;
/// When to come back, milliseconds.
const AGAIN: u64 = 1_000;

/// Why a stream ends that the client does not end; what `Bye` says.
pub(super) type Reason = &'static str;

/// What of the feed one client receives.
pub(super) trait EventSource: Send + Sync + 'static {
    /// As what.
    type Event: Streamed + Send;

    /// How much of an entry is sent.
    fn look(&mut self, entry: &Entry) -> Selection;

    /// What is sent of the entry that was looked at last, at this place among its events.
    fn event(&self, entry: &Entry, place: usize) -> Self::Event;
}

/// How much of an entry is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Selection {
    /// So many events.
    Some(usize),
    /// So many, and nothing behind them.
    Last(usize, Option<Reason>),
}

/// The stream of one client, from this record on.
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
    // Whatever is on its way goes before the reason why nothing follows.
    let bye = stream::once(async move { parting.get().map(|reason| Bytes::from(bye(reason))) });
    let pieces = ReceiverStream::new(receiver).chain(bye.filter_map(|bye| async { bye }));
    let body = pieces.map(Ok::<_, std::convert::Infallible>);
    let mut response = Response::new(Body::from_stream(body));
    response.extensions_mut().insert(Endless);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    // A proxy that collects an answer before it passes it on would never pass this one on.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

fn bye(reason: Reason) -> String {
    let bye = Bye { reason: reason.to_owned(), retry_after_millis: AGAIN };
    Frame::<Event>::Bye(bye).to_string()
}

/// The number of the first record that a client has not seen, by its `Last-Event-ID`; none if it has none.
///
/// # Errors
/// When that is no number, none of this server, or too old.
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

/// The oldest record that the feed has; the next one if it has none.
pub(super) fn oldest(feed: &Feed) -> u64 {
    feed.read(1, 0).map_or_else(|gone| gone.oldest, |_| 1)
}

/// The number of a record, if all from there on are in memory.
///
/// # Errors
/// When they are not.
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

/// Tells one client.
struct Teller<T> {
    sender: mpsc::Sender<Bytes>,
    tells: T,
    /// The last record that was looked at.
    last: u64,
    /// Why nothing follows, once that is so.
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
                // The client has gone.
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

    /// Send what is wanted of these; none if nothing is to be sent any more.
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
                // One record may have very many.
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

    /// Keep the connection alive, and have the client resume behind what it did not want.
    async fn still_here(&self) -> Option<()> {
        let last = self.last;
        self.send(format!(": still here\nid: {last}\n\n")).await
    }

    /// Nothing follows, for this reason; the first one counts.
    fn part(&self, reason: Reason) {
        let _ = self.parting.set(reason);
    }

    /// Send a piece; none if the client takes nothing any more.
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

    /// Tells nobody anything.
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
        // The client takes one just in time.
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
        // Should the client ever read on, it finds what was on its way.
        let mut left = 0;
        while receiver.recv().await.is_some() {
            left += 1;
        }
        assert_eq!(left, PIECES);
    }
}
