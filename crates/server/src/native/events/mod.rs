//! `GET /headroom/v1/events`: events as a list, or as a stream if `Accept` requests `text/event-stream`.
//!
//! Both are read from the feed of the engine, which has the newest records since the process started. A request for
//! older events is rejected as gone, because only the journal has these events.

mod describe;
mod filter;
mod page;
mod stream;

use axum::body::Body;
use axum::extract::State;
use axum::http::Response;
use headroom_engine::Feed;

use super::answer::Refused;
use super::request::NativeRequest;
use super::stream::{check_retained, oldest};
use crate::service::Service;

use filter::Mark;

pub(super) async fn events(
    State(service): State<Service>,
    asked: NativeRequest,
) -> Result<Response<Body>, Refused> {
    if asked.header("accept").is_some_and(wants_stream) {
        return stream::stream(&service, &asked);
    }
    let newest = service.engine.feed().newest();
    let view = service.engine.views().at_least(newest).await;
    // This can scan every record in memory, which might take some milliseconds.
    let listed = tokio::task::spawn_blocking(move || page::list(&service, &asked, &view));
    listed.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
}

/// Returns whether a stream is requested by name. Anything else, including `*/*`, gets a finite list.
fn wants_stream(accept: &str) -> bool {
    let mut media = accept.split(',').map(|one| one.split(';').next().unwrap_or("").trim());
    media.any(|one| one.eq_ignore_ascii_case("text/event-stream"))
}

/// Returns the number of the first wanted record, if all records from there on are in memory.
///
/// # Errors
/// If a record is no longer in memory.
fn first_wanted(feed: &Feed, asked: &NativeRequest, from: Mark) -> Result<u64, Refused> {
    let oldest = oldest(feed);
    let number = match from {
        Mark::Number(number) => number.max(1),
        Mark::Time(time) => {
            let first = feed.read(oldest, 1).ok().and_then(|mut first| first.pop());
            let all_kept = oldest == 1 || first.is_some_and(|first| first.record.time < time);
            if all_kept { oldest } else { 0 }
        }
    };
    check_retained(feed, asked, number)
}
