//! Who may submit to a queue, and who may administer it.

use crate::books::Books;
use crate::config::legal::RECOVERY_QUEUE;
use crate::id::QueueId;
use crate::name::Name;

/// Whether a user may submit to a queue. Its access lists for submitting or administering must
/// allow the user, or those of a queue above. Nobody may submit to the recovery queue.
pub fn may_submit(books: &Books, queue: QueueId, user: &str, groups: &[Name]) -> bool {
    !is_recovery(books, queue)
        && books.up(queue).any(|(_, row)| {
            row.settings.submit_acl.allows(user, groups)
                || row.settings.admin_acl.allows(user, groups)
        })
}

/// Whether a user may administer a queue: its access list for that allows the user, or that of a
/// queue above.
pub fn may_administer(books: &Books, queue: QueueId, user: &str, groups: &[Name]) -> bool {
    books.up(queue).any(|(_, row)| row.settings.admin_acl.allows(user, groups))
}

/// Whether a queue is the one that takes in applications which must not be lost.
pub fn is_recovery(books: &Books, queue: QueueId) -> bool {
    let row = books.queue(queue);
    row.depth == 1 && row.name == RECOVERY_QUEUE
}
