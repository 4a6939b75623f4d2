//! What a caller may see.

use std::hash::{DefaultHasher, Hash, Hasher};

use headroom_api::headroomv1::Role;
use headroom_core::books::Books;
use headroom_core::id::QueueId;
use headroom_core::placement::{may_administer, may_submit};

use crate::caller::Caller;

/// Whether the caller may see everything.
pub(super) fn everything(caller: &Caller) -> bool {
    [Role::Admin, Role::Operator, Role::Viewer].into_iter().any(|role| caller.is(role))
}

/// Whether the caller may see a queue: its name and its totals.
pub(super) fn queue(books: &Books, caller: &Caller, queue: QueueId) -> bool {
    everything(caller) || may_submit(books, queue, &caller.user, &caller.groups)
}

/// Whether the caller may see what a user does in a queue.
pub(super) fn user_in(books: &Books, caller: &Caller, user: &str, queue: QueueId) -> bool {
    everything(caller)
        || (!caller.user.is_empty() && *caller.user == *user)
        || may_administer(books, queue, &caller.user, &caller.groups)
}

/// Differs for callers who may see different things.
pub(super) fn rights(caller: &Caller) -> u64 {
    if everything(caller) {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    (&*caller.user, caller.groups.iter().map(|group| &**group).collect::<Vec<_>>(), &caller.roles)
        .hash(&mut hasher);
    hasher.finish().max(1)
}
