//! Events as server-sent events.

use axum::body::Body;
use axum::http::Response;
use headroom_api::headroomv1::{Code, Event};
use headroom_engine::Entry;

use super::describe::event_body;
use super::filter::Filter;
use super::first_wanted;
use crate::live::StreamKind;
use crate::native::answer::Refused;
use crate::native::request::NativeRequest;
use crate::native::stream::{self, EventSource, Selection};
use crate::service::Service;

/// Maximum number of open streams of events.
const STREAMS_MAX: u64 = 1_000;

pub(super) fn stream(service: &Service, asked: &NativeRequest) -> Result<Response<Body>, Refused> {
    let parameters =
        asked.parameters(&["from", "to", "kind", "object", "find", "limit", "cursor"])?;
    let filter = Filter::read(asked, &parameters)?;
    // A stream has no pages, but an invalid limit is refused as for lists.
    parameters.limit()?;
    let first = first(service, asked, &filter)?;
    let open = service.live().open_stream(StreamKind::Events, STREAMS_MAX).ok_or_else(|| {
        let detail = format!(
            "{STREAMS_MAX} streams of events are open, which is the limit. Try again later."
        );
        Refused::new(asked, Code::TooManyRequests, detail)
    })?;
    Ok(stream::stream(service, (Wanted { filter, places: Vec::new() }, first), open))
}

/// Returns the number of the first record to be scanned.
fn first(service: &Service, asked: &NativeRequest, filter: &Filter) -> Result<u64, Refused> {
    let feed = service.engine.feed();
    if let Some(first) = stream::resumed(feed, asked)? {
        return Ok(first);
    }
    filter.from.map_or(Ok(feed.newest() + 1), |from| first_wanted(feed, asked, from))
}

/// The events that a filter accepts.
struct Wanted {
    filter: Filter,
    /// Positions of the accepted events in the current entry.
    places: Vec<usize>,
}

impl EventSource for Wanted {
    type Event = Event;

    fn look(&mut self, entry: &Entry) -> Selection {
        self.places.clear();
        if self.filter.ends_before(entry) {
            return Selection::Last(0, None);
        }
        if !self.filter.begins_behind(entry) {
            let places = 0..entry.record.events.len();
            self.places.extend(places.filter(|place| self.filter.takes(entry, *place)));
        }
        Selection::Some(self.places.len())
    }

    fn event(&self, entry: &Entry, place: usize) -> Event {
        event_body(entry, self.places[place])
    }
}
