//! Events as server-sent events.
//!
//! Each stream goes through the feed by itself, so nothing is kept for it but a few pieces of
//! text on their way. One who takes nothing for a while is dropped; one who falls so far behind
//! that the feed has moved on is told so.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Response, header};
use headroom_api::headroomv1::{Bye, Code, Frame, Hello};
use headroom_engine::{Entry, Follower};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;

use super::filter::{Filter, Mark};
use super::first_wanted;
use super::tell::told;
use crate::live::{MAKING, OpenStream, StreamKind};
use crate::native::answer::Refused;
use crate::native::asked::Asked;
use crate::native::words::{epoch, time};
use crate::service::Service;

/// How many streams of events may be open.
const STREAMS_MAX: u64 = 1_000;
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

pub(super) fn stream(service: &Service, asked: &Asked) -> Result<Response<Body>, Refused> {
    let parameters =
        asked.parameters(&["from", "to", "kind", "object", "find", "limit", "cursor"])?;
    let filter = Filter::read(asked, &parameters)?;
    // A stream has no pages; what no list would take is refused all the same.
    parameters.limit()?;
    let first = first(service, asked, &filter)?;
    let open = service.live().open_stream(StreamKind::Events, STREAMS_MAX).ok_or_else(|| {
        let detail = format!("{STREAMS_MAX} streams of events are open, as many as may; try later");
        Refused::new(asked, Code::TooManyRequests, detail)
    })?;
    let feed = service.engine.feed();
    let hello = Hello {
        sequence: feed.newest(),
        epoch: epoch(service),
        server_time: time(service.clock.now()),
    };
    let (sender, receiver) = mpsc::channel(PIECES);
    let teller = Teller { sender, filter, last: first - 1, _open: open };
    tokio::spawn(teller.tell(Frame::Hello(hello), feed.follow(first)));
    let body = ReceiverStream::new(receiver).map(Ok::<_, std::convert::Infallible>);
    let mut response = Response::new(Body::from_stream(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    // A proxy that collects an answer before it passes it on would never pass this one on.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// The number of the first record to be looked at.
fn first(service: &Service, asked: &Asked, filter: &Filter) -> Result<u64, Refused> {
    let feed = service.engine.feed();
    let next = feed.newest() + 1;
    if let Some(last) = asked.header("last-event-id").filter(|last| !last.is_empty()) {
        let last: Option<u64> = last.parse().ok();
        let Some(last) = last else {
            let detail = "`Last-Event-ID` is the number of a record";
            return Err(Refused::new(asked, Code::Malformed, detail));
        };
        if last >= next {
            let detail = format!(
                "record {last} is none of this server, whose last is {}; numbers began anew: \
                 begin from what there is now",
                next - 1
            );
            return Err(Refused::new(asked, Code::Gone, detail));
        }
        return first_wanted(feed, asked, Mark::Number(last + 1));
    }
    filter.from.map_or(Ok(next), |from| first_wanted(feed, asked, from))
}

/// Tells one client.
struct Teller {
    sender: mpsc::Sender<Bytes>,
    filter: Filter,
    /// The last record that was looked at.
    last: u64,
    _open: OpenStream,
}

impl Teller {
    async fn tell(mut self, hello: Frame, mut follower: Follower) {
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
                Ok(None) => return self.part("stopping").await,
                Err(_) => return self.part("slow").await,
            }
        }
    }

    /// Send what is wanted of these; none if nothing is to be sent any more.
    async fn pass_on(&mut self, entries: &[Arc<Entry>]) -> Option<()> {
        let mut piece = String::new();
        let mut making = MAKING.acquire().await.ok()?;
        for entry in entries {
            self.last = entry.record.sequence;
            if self.filter.ends_before(entry) {
                drop(making);
                self.send(piece).await?;
                return None;
            }
            if self.filter.begins_behind(entry) {
                continue;
            }
            let places = 0..entry.record.events.len();
            let wanted: Vec<usize> =
                places.filter(|place| self.filter.takes(entry, *place)).collect();
            for (position, place) in wanted.iter().enumerate() {
                let last = position + 1 == wanted.len();
                let frame = Frame::Event { event: told(entry, *place), last };
                write!(piece, "{frame}").expect("events are JSON");
                // One record may have very many.
                if piece.len() >= PIECE {
                    drop(making);
                    self.send(std::mem::take(&mut piece)).await?;
                    making = MAKING.acquire().await.ok()?;
                }
            }
        }
        drop(making);
        if piece.is_empty() { Some(()) } else { self.send(piece).await }
    }

    /// Keep the connection alive, and have the client resume behind what it did not want.
    async fn still_here(&mut self) -> Option<()> {
        let last = self.last;
        self.send(format!(": still here\nid: {last}\n\n")).await
    }

    async fn part(self, reason: &str) {
        let bye = Bye { reason: reason.to_owned(), retry_after_millis: AGAIN };
        // Whoever takes nothing does not take this either.
        let _ = timeout(PATIENCE, self.sender.send(Frame::Bye(bye).to_string().into())).await;
    }

    /// Send a piece; none if the client takes nothing any more.
    async fn send(&self, piece: String) -> Option<()> {
        if piece.is_empty() {
            return Some(());
        }
        timeout(PATIENCE, self.sender.send(piece.into())).await.ok()?.ok()
    }
}
