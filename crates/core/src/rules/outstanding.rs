//! Which asks more nodes would help. Scheduling §15.

use alloc::vec::Vec;

use crate::books::Books;
use crate::event::Event;
use crate::name::Name;
use crate::rejection::Rejection;

use super::partition_named;

pub(super) fn scan(books: &Books, partition: &Name) -> Result<Vec<Event>, Rejection> {
    partition_named(books, partition)?;
    Ok(Vec::new())
}
