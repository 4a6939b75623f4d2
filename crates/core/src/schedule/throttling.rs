//! Reports the wait reason of each waiting task, once for each time that it begins to wait. Source: tenants §3.1.

use alloc::vec::Vec;

use crate::books::{Books, Task, TaskState};
use crate::event::{Event, TaskEvent, TaskStep, Throttled, ThrottledType};
use crate::id::AllocationId;
use crate::name::Name;

use super::Scheduler;

impl Scheduler {
    /// Records tasks that begin to wait.
    pub(super) fn follow_task(&mut self, event: &TaskEvent) {
        match event {
            TaskEvent::Added { application, .. }
            | TaskEvent::Moved {
                application,
                step: TaskStep::Restarted { .. } | TaskStep::Requeued { .. },
            } => {
                self.unreported.insert(*application);
            }
            TaskEvent::Moved { .. } | TaskEvent::Throttled { .. } => {}
        }
    }

    /// Finds the waiting tasks without a reported reason.
    pub(super) fn find_unreported(&mut self, books: &Books) {
        let tasks = books.applications().iter().filter(|(_, row)| {
            let untold = |task: &Task| task.throttled.is_none() && task.end.is_none();
            row.task.as_deref().is_some_and(untold)
        });
        self.unreported = tasks.map(|(id, _)| id).collect();
    }

    /// Reports the reason of the first waiting task without a report. Call it when nothing moves. Returns whether there
    /// was such a task.
    pub(super) fn report_throttled(&mut self, books: &Books, events: &mut Vec<Event>) -> bool {
        while let Some(application) = self.unreported.pop_first() {
            let lives = books.applications().get(application).is_some();
            if !lives || books.task_state(application) != Some(TaskState::Waiting) {
                continue;
            }
            let mut asks = books.allocations_of(application).filter(|(_, row)| row.is_pending());
            let Some((ask, _)) = asks.next() else { continue };
            let reason = self.why(books, ask);
            events.push(Event::Task(TaskEvent::Throttled { application, reason }));
            return true;
        }
        false
    }

    /// Returns the reason why an ask of a task waits, in terms of its tenant.
    fn why(&self, books: &Books, ask: AllocationId) -> Throttled {
        let Some(wait) = self.wait_of(books, ask) else {
            // Without nodes, no ask is checked.
            return Throttled { code: Name::new("NO_NODE_FITS"), ..Throttled::default() };
        };
        let code = Name::new(wait.code(books, ask).as_str());
        match wait.tenant_reason(books, ask) {
            Some(reason) => Throttled {
                code,
                scope: reason.scope,
                types: reason
                    .types
                    .into_iter()
                    .map(|one| ThrottledType {
                        resource: one.resource,
                        used: one.used,
                        asked: one.asked,
                        limit: one.limit,
                    })
                    .collect(),
            },
            None => Throttled { code, ..Throttled::default() },
        }
    }
}
