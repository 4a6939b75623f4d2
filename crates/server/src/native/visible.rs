//! Visibility of objects for a caller. [`Visibility`] makes the decisions.

use std::hash::{DefaultHasher, Hash, Hasher};

use headroom_core::books::Books;
use headroom_core::id::QueueId;

use crate::caller::Caller;
use crate::rest::{Extent, Visibility};

/// Returns whether the caller sees everything.
pub(super) fn everything(caller: &Caller) -> bool {
    Visibility::of(caller).is_all()
}

/// Returns whether the caller sees the totals of a queue.
pub(super) fn queue(books: &Books, caller: &Caller, queue: QueueId) -> bool {
    Visibility::of(caller).extent(books, queue) >= Extent::Figures
}

/// Returns whether the caller sees what a user does in a queue.
pub(super) fn user_in(books: &Books, caller: &Caller, user: &str, queue: QueueId) -> bool {
    let own = !caller.user.is_empty() && *caller.user == *user;
    own || Visibility::of(caller).extent(books, queue) == Extent::All
}

/// Returns whether the caller sees how many objects are hidden.
pub(super) fn counts_hidden(caller: &Caller) -> bool {
    Visibility::of(caller).counts_hidden()
}

/// Returns a hash that differs for callers with different rights.
pub(super) fn rights(caller: &Caller) -> u64 {
    if everything(caller) {
        return 0;
    }
    let groups: Vec<&str> = caller.groups.iter().map(|group| &**group).collect();
    let mut hasher = DefaultHasher::new();
    let tenants: Vec<&str> = caller.tenants.iter().map(|tenant| &**tenant).collect();
    (&*caller.user, groups, &caller.roles, tenants).hash(&mut hasher);
    hasher.finish().max(1)
}
