//! The newest records, with ids that count from 0 and never start again.

use alloc::collections::VecDeque;
use core::num::NonZeroUsize;

use super::Record;

/// The newest so many records. Memory grows with what is in it, up to the capacity.
#[derive(Clone, Debug)]
pub struct Ring<T = Record> {
    stored: VecDeque<T>,
    capacity: NonZeroUsize,
    /// The id that the next one gets.
    next: u64,
}

/// What a query finds.
#[derive(Debug)]
pub struct Found<I> {
    /// The lowest stored id; 0 if none is stored.
    pub lowest: u64,
    /// The highest stored id; 0 if none is stored.
    pub highest: u64,
    /// The records from the id that was asked for, in order.
    pub records: I,
}

impl<T> Ring<T> {
    /// The default number of stored records. Source: scheduling §17.3.
    pub const CAPACITY: NonZeroUsize = NonZeroUsize::new(100_000).expect("it is more than zero");

    /// An empty one that keeps so many; the default for 0.
    pub fn new(capacity: usize) -> Self {
        let capacity = NonZeroUsize::new(capacity).unwrap_or(Self::CAPACITY);
        Self { stored: VecDeque::new(), capacity, next: 0 }
    }

    /// Keep one more, and forget the oldest if there is no room; its id.
    pub fn push(&mut self, record: T) -> u64 {
        if self.stored.len() == self.capacity.get() {
            self.stored.pop_front();
        }
        self.stored.push_back(record);
        self.next += 1;
        self.next - 1
    }

    /// At most `count` records from the id `start` on. None if nothing has this id, whether too old
    /// or yet to come. The result has the stored range in any case.
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

    /// The newest `count` records, in order.
    pub fn newest(&self, count: usize) -> impl ExactSizeIterator<Item = &T> {
        self.stored.range(self.stored.len().saturating_sub(count)..)
    }

    /// Set the number of stored records, the default for 0. Of the stored records the newest stay,
    /// with their ids.
    pub fn resize(&mut self, capacity: usize) {
        self.capacity = NonZeroUsize::new(capacity).unwrap_or(Self::CAPACITY);
        let surplus = self.stored.len().saturating_sub(self.capacity.get());
        self.stored.drain(..surplus);
        self.stored.shrink_to(self.capacity.get());
    }

    /// How many it can keep.
    pub const fn capacity(&self) -> usize {
        self.capacity.get()
    }

    /// How many it keeps.
    pub fn len(&self) -> usize {
        self.stored.len()
    }

    /// Whether it keeps none.
    pub fn is_empty(&self) -> bool {
        self.stored.is_empty()
    }

    /// The id that the next one gets.
    pub const fn next_id(&self) -> u64 {
        self.next
    }
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self::new(0)
    }
}
