//! Quota preemption: room is asked back from queues above their maximum. Scheduling §11.7.

use alloc::vec::Vec;

use crate::books::Books;
use crate::event::Event;
use crate::name::Name;
use crate::rejection::Rejection;
use crate::time::Timestamp;

use super::partition_named;

pub(super) fn scan(
    books: &Books,
    _now: Timestamp,
    partition: &Name,
) -> Result<Vec<Event>, Rejection> {
    partition_named(books, partition)?;
    Ok(Vec::new())
}
