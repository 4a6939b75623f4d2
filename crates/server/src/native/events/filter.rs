//! Filter for events.

use std::hash::{DefaultHasher, Hash, Hasher};

use headroom_api::headroomv1::Code;
use headroom_core::Timestamp;
use headroom_core::event_text::{kind_of, subjects, text_of};
use headroom_engine::Entry;

use crate::native::answer::Refused;
use crate::native::request::{NativeRequest, Parameters};

/// A position in the order of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Mark {
    /// Number of a record.
    Number(u64),
    /// A point in time.
    Time(Timestamp),
}

/// Filter for events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Filter {
    /// First position.
    pub(super) from: Option<Mark>,
    /// Last position, inclusive.
    pub(super) to: Option<Mark>,
    kind: Option<String>,
    object: Option<String>,
    /// Search text in lower case.
    find: Option<String>,
}

impl Filter {
    pub(super) fn read(
        asked: &NativeRequest,
        parameters: &Parameters<'_>,
    ) -> Result<Self, Refused> {
        let mark =
            |name: &str| parameters.get(name).map(|text| mark(asked, name, text)).transpose();
        let text = |name: &str| parameters.get(name).map(str::to_owned);
        Ok(Self {
            from: mark("from")?,
            to: mark("to")?,
            kind: text("kind"),
            object: text("object"),
            find: parameters.get("find").map(str::to_lowercase),
        })
    }

    /// Returns a hash that distinguishes lists with different filters.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }

    /// Returns whether an entry is after the last wanted position.
    pub(super) fn ends_before(&self, entry: &Entry) -> bool {
        match self.to {
            None => false,
            Some(Mark::Number(number)) => entry.record.sequence > number,
            Some(Mark::Time(time)) => entry.record.time > time,
        }
    }

    /// Returns whether an entry is before the first wanted position.
    pub(super) fn begins_behind(&self, entry: &Entry) -> bool {
        match self.from {
            None => false,
            Some(Mark::Number(number)) => entry.record.sequence < number,
            Some(Mark::Time(time)) => entry.record.time < time,
        }
    }

    /// Returns whether the filter accepts an event of an entry, regardless of its position.
    pub(super) fn takes(&self, entry: &Entry, place: usize) -> bool {
        let event = &entry.record.events[place];
        let named = &entry.named[place];
        self.kind.as_deref().is_none_or(|kind| kind == kind_of(event))
            && self.object.as_deref().is_none_or(|object| subjects(named).any(|one| one == object))
            && self
                .find
                .as_deref()
                .is_none_or(|find| text_of(event, named).to_lowercase().contains(find))
    }
}

fn mark(asked: &NativeRequest, name: &str, text: &str) -> Result<Mark, Refused> {
    if let Ok(number) = text.parse() {
        return Ok(Mark::Number(number));
    }
    let time = text.parse::<jiff::Timestamp>().ok();
    let millis = time.and_then(|time| u64::try_from(time.as_millisecond()).ok());
    millis.map(|millis| Mark::Time(Timestamp::from_millis(millis))).ok_or_else(|| {
        let detail = format!(
            "{name} is {text:?}, but it must be a record number, or a time such as 2026-11-22T09:00:00Z"
        );
        Refused::new(asked, Code::Malformed, detail)
    })
}
