//! Reports to waiting tasks why they wait, once each time that they begin to. Source: tenants §3.1.

use alloc::vec::Vec;

use crate::books::{Books, Task, TaskState};
use crate::event::{Event, TaskEvent, TaskStep, Throttled, ThrottledType};
use crate::id::AllocationId;
use crate::name::Name;

use super::Scheduler;

impl Scheduler {
    /// Follow the tasks that begin to wait.
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

    /// Find the waiting tasks whose reason is not reported yet.
    pub(super) fn find_unreported(&mut self, books: &Books) {
        let tasks = books.applications().iter().filter(|(_, row)| {
            let untold = |task: &Task| task.throttled.is_none() && task.end.is_none();
            row.task.as_deref().is_some_and(untold)
        });
        self.unreported = tasks.map(|(id, _)| id).collect();
    }

    /// Nothing moves: report the reason to the first waiting task that has no report yet. Returns
    /// whether there was one.
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

    /// Why an ask of a task waits, as its tenant sees it.
    fn why(&self, books: &Books, ask: AllocationId) -> Throttled {
        let Some(wait) = self.wait_of(books, ask) else {
            // Nothing is judged where there is no node.
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
