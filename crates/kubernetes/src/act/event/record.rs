//! Which events were written, so that repeats become a series.

use std::collections::{BTreeSet, HashMap, VecDeque};

use headroom_pods::convert::event::{Event, EventKind, EventObject, Frequency};
use serde_json::Value;
use tokio::time::Instant;

use super::SERIES_PAUSE;
use super::body::{NOTE_MAX, Place, Source, series};
use crate::act::pod::cut;

/// Most events of each frequency that are remembered. A repeat of a forgotten one is written as a new event.
const REMEMBERED: usize = 4_096;

/// Events with the same key are one series.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    about: EventObject,
    kind: EventKind,
    /// Empty for a kind whose events of one application are a series, whatever they say.
    note: String,
}

/// A write of an event.
#[derive(Debug)]
pub(super) enum Write {
    /// A new event.
    Create { namespace: String, body: Value },
    /// More events of a series.
    Series { namespace: String, name: String, patch: Value },
}

#[derive(Debug)]
struct Record {
    place: Place,
    /// Number of events.
    count: u32,
    is_in_flight: bool,
    /// When the last write began.
    written: Instant,
    number: u64,
}

/// Events that were written.
#[derive(Debug)]
pub(super) struct Records {
    by_key: HashMap<Key, Record>,
    /// Keys in the order of their creation, for each frequency.
    each: VecDeque<(Key, u64)>,
    series: VecDeque<(Key, u64)>,
    /// Records with more events than written, by the time of their last write.
    waiting: BTreeSet<(Instant, u64)>,
    keys_waiting: HashMap<u64, Key>,
    last_number: u64,
}

impl Default for Records {
    fn default() -> Self {
        Self {
            by_key: HashMap::new(),
            each: VecDeque::new(),
            series: VecDeque::new(),
            waiting: BTreeSet::new(),
            keys_waiting: HashMap::new(),
            // Another run of the scheduler must not choose the same names.
            last_number: rand::random::<u64>() >> 1,
        }
    }
}

impl Records {
    /// Takes an event. Returns the write for a new one. A repeat is written later, by [`Records::due`].
    pub(super) fn take(
        &mut self,
        event: &Event,
        source: &Source,
        now: Instant,
    ) -> Option<(Key, Write)> {
        let frequency = event.kind.frequency();
        let note = match frequency {
            Frequency::Each => cut(&event.note, NOTE_MAX).to_owned(),
            Frequency::Series => String::new(),
        };
        let key = Key { about: event.about.clone(), kind: event.kind, note };
        if let Some(record) = self.by_key.get_mut(&key) {
            record.count = record.count.saturating_add(1);
            self.waiting.insert((record.written, record.number));
            self.keys_waiting.insert(record.number, key);
            return None;
        }
        self.last_number += 1;
        let number = self.last_number;
        let (place, body) = source.body(event, number);
        let namespace = place.namespace.clone();
        let record = Record { place, count: 1, is_in_flight: true, written: now, number };
        self.by_key.insert(key.clone(), record);
        let order = match frequency {
            Frequency::Each => &mut self.each,
            Frequency::Series => &mut self.series,
        };
        order.push_back((key.clone(), number));
        if order.len() > REMEMBERED
            && let Some((oldest, number)) = order.pop_front()
            && self.by_key.get(&oldest).is_some_and(|record| record.number == number)
        {
            self.forget(&oldest);
        }
        Some((key, Write::Create { namespace, body }))
    }

    /// Takes the end of a write. An event that was not created is forgotten.
    pub(super) fn ended(&mut self, key: &Key, is_written: bool) {
        if is_written {
            if let Some(record) = self.by_key.get_mut(key) {
                record.is_in_flight = false;
            }
        } else {
            self.forget(key);
        }
    }

    /// Returns the writes of series that are due.
    pub(super) fn due(&mut self, now: Instant) -> Vec<(Key, Write)> {
        let mut writes = Vec::new();
        let mut later = Vec::new();
        while let Some(&(written, number)) = self.waiting.first() {
            if written + SERIES_PAUSE > now {
                break;
            }
            self.waiting.pop_first();
            let Some(key) = self.keys_waiting.get(&number) else { continue };
            let Some(record) = self.by_key.get_mut(key) else { continue };
            if record.is_in_flight {
                later.push((written, number));
                continue;
            }
            let Some(key) = self.keys_waiting.remove(&number) else { continue };
            (record.written, record.is_in_flight) = (now, true);
            let Place { namespace, name } = record.place.clone();
            writes.push((key, Write::Series { namespace, name, patch: series(record.count) }));
        }
        self.waiting.extend(later);
        writes
    }

    fn forget(&mut self, key: &Key) {
        if let Some(record) = self.by_key.remove(key) {
            self.waiting.remove(&(record.written, record.number));
            self.keys_waiting.remove(&record.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn event(kind: EventKind, name: &str, note: &str) -> Event {
        let about = EventObject::Pod { namespace: "d".into(), name: name.into(), uid: name.into() };
        Event { about, kind, note: note.into() }
    }

    #[test]
    fn repeats_are_a_series_that_is_written_seldom() {
        let source = Source::new("d", "i");
        let (mut records, start) = (Records::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        let take = |records: &mut Records, seconds, note: &str| {
            records.take(&event(EventKind::Bound, "a", note), &source, at(seconds))
        };
        let (key, _) = take(&mut records, 0, "one").unwrap();
        assert!(take(&mut records, 1, "two").is_none());
        assert!(records.due(at(40)).is_empty(), "the creation is in flight");
        records.ended(&key, true);
        assert!(take(&mut records, 2, "three").is_none());
        assert!(records.due(at(29)).is_empty());
        let due = records.due(at(31));
        let [(_, Write::Series { patch, .. })] = &due[..] else { panic!("{due:?}") };
        assert_eq!(patch["series"]["count"], 3);
        records.ended(&key, true);
        assert!(records.due(at(100)).is_empty());
        assert!(take(&mut records, 101, "four").is_none());
        assert_eq!(records.due(at(102)).len(), 1);
        // The API server has the event no more.
        records.ended(&key, false);
        assert!(take(&mut records, 103, "five").is_some());
    }

    #[test]
    fn events_with_other_words_are_others_and_old_ones_are_forgotten() {
        let source = Source::new("d", "i");
        let (mut records, now) = (Records::default(), Instant::now());
        for number in 0..2 * REMEMBERED {
            let event = event(EventKind::Scheduled, "a", &number.to_string());
            assert!(records.take(&event, &source, now).is_some());
        }
        assert_eq!(records.by_key.len(), REMEMBERED);
        assert_eq!(records.each.len(), REMEMBERED);
    }
}
