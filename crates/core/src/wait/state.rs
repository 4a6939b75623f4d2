//! Sentences about queues in which nothing starts.

use alloc::format;
use alloc::string::String;

use crate::books::{Books, QueueState};
use crate::id::AllocationId;

use super::Wait;

pub(super) fn sentence(wait: &Wait, books: &Books, _: AllocationId) -> String {
    let Some(queue) = wait.blocker.about().queue() else { return String::new() };
    let (subject, queue) = (wait.blocker.subject_in_sentence(books), books.queue(queue));
    if queue.state == QueueState::Stopped {
        format!(
            "{subject} is stopped, so nothing starts in the queue or in its child queues. Start \
             the queue."
        )
    } else if let Some(mark) = queue.settings.tenant.as_ref().filter(|mark| mark.suspended) {
        let tenant = &mark.tenant;
        format!(
            "tenant {tenant} is suspended, so nothing starts in {subject} or in its child queues. Resume the tenant."
        )
    } else if queue.leaf {
        format!(
            "{subject} is a leaf now, so nothing starts in its former child queues. Set `parent: \
             true` for the queue, or submit the application to another queue."
        )
    } else {
        format!(
            "{subject} is a parent now, so its own applications cannot start. Change the queue to \
             a leaf, or submit the application to another queue."
        )
    }
}
