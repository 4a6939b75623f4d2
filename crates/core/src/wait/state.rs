//! About queues that offer no room.

use alloc::format;
use alloc::string::String;

use crate::books::{Queue, QueueState};

pub(super) fn sentence(subject: &str, queue: &Queue) -> String {
    if queue.state == QueueState::Stopped {
        format!("{subject} is stopped, and offers no room here and below; start it")
    } else if let Some(mark) = queue.settings.tenant.as_ref().filter(|mark| mark.suspended) {
        let tenant = &mark.tenant;
        format!("tenant {tenant} is suspended, so nothing starts in {subject} and below; resume it")
    } else if queue.leaf {
        format!(
            "{subject} is a leaf by now, and offers no room to queues below it; make it a parent again, or submit the application to another queue"
        )
    } else {
        format!(
            "{subject} is a parent by now, and offers no room to applications of its own; make it a leaf again, or submit the application to another queue"
        )
    }
}
