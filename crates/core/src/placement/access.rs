//! Access checks for submission and administration.

use crate::books::Books;
use crate::config::legal::RECOVERY_QUEUE;
use crate::id::QueueId;
use crate::name::Name;

/// Returns whether a user can submit to a queue. The access list for submission or for administration must allow the
/// user, at the queue or an ancestor. No user can submit to the recovery queue.
pub fn may_submit(books: &Books, queue: QueueId, user: &str, groups: &[Name]) -> bool {
    !is_recovery(books, queue)
        && books.up(queue).any(|(_, row)| {
            row.settings.submit_acl.allows(user, groups)
                || row.settings.admin_acl.allows(user, groups)
        })
}

/// Returns whether a user can administer a queue. The access list for administration must allow the user, at the queue
/// or an ancestor.
pub fn may_administer(books: &Books, queue: QueueId, user: &str, groups: &[Name]) -> bool {
    books.up(queue).any(|(_, row)| row.settings.admin_acl.allows(user, groups))
}

/// Returns whether a queue is the recovery queue, which accepts applications that must not be lost.
pub fn is_recovery(books: &Books, queue: QueueId) -> bool {
    let row = books.queue(queue);
    row.depth == 1 && row.name == RECOVERY_QUEUE
}
