//! Events as a list: from `from` on in their order, or the newest first if `from` is absent.

use std::sync::Arc;

use axum::body::Body;
use axum::http::Response;
use headroom_api::headroomv1::{Code, Event as Told, Page};
use headroom_engine::{Entry, Feed, View};

use super::describe::event_body;
use super::filter::Filter;
use super::first_wanted;
use crate::native::answer::{Refused, json};
use crate::native::request::NativeRequest;
use crate::native::stream::oldest;
use crate::native::words::{epoch, stamp};
use crate::service::Service;

/// Up to this number, the length of a list is exact.
const TOTAL_MAX: u64 = 10_000;
/// Number of entries that are read from the feed at once.
const AT_ONCE: u64 = 1_024;

/// Position in a list where a page begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Start {
    /// Last record of the list. All pages of a list use the same last record.
    newest: u64,
    /// Number of events before the page.
    passed: u64,
}

/// Lists events up to the record of the view.
pub(super) fn list(
    service: &Service,
    asked: &NativeRequest,
    view: &View,
) -> Result<Response<Body>, Refused> {
    let known = ["from", "to", "kind", "object", "find", "limit", "cursor"];
    let parameters = asked.parameters(&known)?;
    let (filter, limit) = (Filter::read(asked, &parameters)?, parameters.limit()?);
    let feed = service.engine.feed();
    let series = format!("{}-{:x}", epoch(service), filter.fingerprint());
    let start = match parameters.get("cursor") {
        None => Start { newest: feed.newest().min(view.sequence), passed: 0 },
        Some(cursor) => read_cursor(cursor, &series).ok_or_else(|| {
            let detail = "the cursor belongs to another list; start again without a cursor";
            Refused::new(asked, Code::Malformed, detail)
        })?,
    };
    let first = match filter.from {
        Some(from) => first_wanted(feed, asked, from)?,
        None => oldest(feed),
    };
    let mut found = Found { limit, start, count: 0, events: Vec::new() };
    let up = filter.from.is_some();
    gather(feed, &filter, (first, start.newest), up, &mut found).map_err(|gone| {
        let detail = format!("{gone}");
        Refused::new(asked, Code::Gone, detail)
    })?;
    let passed = start.passed + found.events.len() as u64;
    let more = found.count > passed;
    let page = Page {
        stamp: stamp(service, view),
        items: found.events,
        total: (found.count <= TOTAL_MAX).then_some(found.count),
        total_at_least: (found.count > TOTAL_MAX).then_some(TOTAL_MAX),
        cursor: more.then(|| format!("e-{series}-{:x}-{passed:x}", start.newest)),
        hidden: 0,
    };
    Ok(json(asked, &page))
}

fn read_cursor(cursor: &str, series: &str) -> Option<Start> {
    let rest = cursor.strip_prefix("e-")?.strip_prefix(series)?.strip_prefix('-')?;
    let (newest, passed) = rest.split_once('-')?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    Some(Start { newest: number(newest)?, passed: number(passed)? })
}

/// Events of a list that are on the page.
struct Found {
    limit: usize,
    start: Start,
    count: u64,
    events: Vec<Told>,
}

impl Found {
    /// Adds the matching events of an entry. Returns whether the page and the length are complete.
    fn take(&mut self, filter: &Filter, entry: &Entry, up: bool) -> bool {
        let places = 0..entry.record.events.len();
        let count = places.len();
        for place in places.map(|place| if up { place } else { count - 1 - place }) {
            if !filter.takes(entry, place) {
                continue;
            }
            self.count += 1;
            if self.count > self.start.passed && self.events.len() < self.limit {
                self.events.push(event_body(entry, place));
            }
        }
        self.count > TOTAL_MAX && self.events.len() == self.limit
    }
}

/// Scans the records of a range, upward or downward, until the page is full and the length is known.
fn gather(
    feed: &Feed,
    filter: &Filter,
    (first, last): (u64, u64),
    up: bool,
    found: &mut Found,
) -> Result<(), headroom_engine::TooOld> {
    let (mut low, mut high) = (first, last);
    while low <= high {
        let from = if up { low } else { low.max((high + 1).saturating_sub(AT_ONCE)) };
        let until = high.min(from + AT_ONCE - 1);
        let count = usize::try_from(until - from + 1).unwrap_or(usize::MAX);
        let entries: Vec<Arc<Entry>> = match feed.read(from, count) {
            Ok(entries) => entries,
            // Downward, the oldest records can be dropped while the list is collected.
            Err(gone) if !up => feed.read(gone.oldest, count)?,
            Err(gone) => return Err(gone),
        };
        let wanted = entries.iter().filter(|entry| {
            entry.record.sequence <= until
                && !filter.begins_behind(entry)
                && !filter.ends_before(entry)
        });
        let wanted: Vec<&Arc<Entry>> = wanted.collect();
        let enough = if up {
            wanted.iter().any(|entry| found.take(filter, entry, up))
        } else {
            wanted.iter().rev().any(|entry| found.take(filter, entry, up))
        };
        if enough {
            return Ok(());
        }
        if up {
            low = until + 1;
        } else if from == low {
            return Ok(());
        } else {
            high = from - 1;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_of_another_list_is_not_read() {
        let start = Some(Start { newest: 255, passed: 16 });
        assert_eq!(read_cursor("e-abc-1-ff-10", "abc-1"), start);
        for cursor in ["", "e-abc-2-ff-10", "e-abc-1-ff", "e-abc-1-ff-xyz", "p-abc-1-ff-10"] {
            assert_eq!(read_cursor(cursor, "abc-1"), None, "{cursor:?}");
        }
    }
}
