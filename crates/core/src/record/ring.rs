//! Ring of the newest records, with IDs that count from 0 and never restart.

use alloc::collections::VecDeque;
use core::num::NonZeroUsize;

use super::Record;

/// The newest records. Memory grows with the content, up to the capacity.
#[derive(Clone, Debug)]
pub struct Ring<T = Record> {
    stored: VecDeque<T>,
    capacity: NonZeroUsize,
    /// ID of the next record.
    next: u64,
}

/// Result of a query.
#[derive(Debug)]
pub struct Found<I> {
    /// Lowest stored ID. 0 if the ring is empty.
    pub lowest: u64,
    /// Highest stored ID. 0 if the ring is empty.
    pub highest: u64,
    /// Records from the requested ID, in order.
    pub records: I,
}

impl<T> Ring<T> {
    /// Default capacity. Source: scheduling §17.3.
    pub const CAPACITY: NonZeroUsize = NonZeroUsize::new(100_000).expect("it is more than zero");

    /// Creates an empty ring with this capacity. 0 selects the default.
    pub fn new(capacity: usize) -> Self {
        let capacity = NonZeroUsize::new(capacity).unwrap_or(Self::CAPACITY);
        Self { stored: VecDeque::new(), capacity, next: 0 }
    }

    /// Adds a record, and drops the oldest beyond the capacity. Returns the ID.
    pub fn push(&mut self, record: T) -> u64 {
        if self.stored.len() == self.capacity.get() {
            self.stored.pop_front();
        }
        self.stored.push_back(record);
        self.next += 1;
        self.next - 1
    }

    /// Returns at most `count` records from the ID `start`. No records if nothing is stored with this ID. The result
    /// always has the stored range.
    pub fn query(&self, start: u64, count: usize) -> Found<impl ExactSizeIterator<Item = &T>> {
        let length = self.stored.len() as u64;
        let (first, highest) = (self.next - length, self.next.saturating_sub(1));
        let inside = length > 0 && (first..=highest).contains(&start);
        let from = usize::try_from(start.wrapping_sub(first)).ok().filter(|_| inside);
        let range =
            from.map_or(0..0, |from| from..self.stored.len().min(from.saturating_add(count)));
        let lowest = if length > 0 { first } else { 0 };
        Found {
            lowest,
            highest: if length > 0 { highest } else { 0 },
            records: self.stored.range(range),
        }
    }

    /// Returns the newest `count` records, in order.
    pub fn newest(&self, count: usize) -> impl ExactSizeIterator<Item = &T> {
        self.stored.range(self.stored.len().saturating_sub(count)..)
    }

    /// Changes the capacity. 0 selects the default. The newest records remain, with their IDs.
    pub fn resize(&mut self, capacity: usize) {
        self.capacity = NonZeroUsize::new(capacity).unwrap_or(Self::CAPACITY);
        let surplus = self.stored.len().saturating_sub(self.capacity.get());
        self.stored.drain(..surplus);
        self.stored.shrink_to(self.capacity.get());
    }

    /// Returns the capacity.
    pub const fn capacity(&self) -> usize {
        self.capacity.get()
    }

    /// Returns the number of stored records.
    pub fn len(&self) -> usize {
        self.stored.len()
    }

    /// Returns whether the ring is empty.
    pub fn is_empty(&self) -> bool {
        self.stored.is_empty()
    }

    /// Returns the ID of the next record.
    pub const fn next_id(&self) -> u64 {
        self.next
    }
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self::new(0)
    }
}
