//! Checks the states of queues and the ends of lifetimes. Source: user-headroom §10 (C12, C27).

use alloc::collections::BTreeMap;

use crate::books::{Books, Queue, QueueState, Timer};
use crate::id::QueueId;
use crate::time::{Millis, Timestamp};

use super::{Outcome, Violation, equal};

impl Books {
    /// Checks what must hold after all events of a command, but not between them. Each queue of the queue file is in
    /// the state that the file and its applications determine. An application whose lifetime is over has ended, or its
    /// allocations are being stopped.
    ///
    /// # Errors
    ///
    /// Returns the first violation.
    pub fn check_settled(&self) -> Result<(), Violation> {
        let counts = self.applications_below();
        for (id, row) in self.queues().iter().filter(|(_, row)| row.managed) {
            let empty = !counts.contains_key(&id);
            let legal = match row.state {
                QueueState::Active => !row.settings.stopped,
                QueueState::Draining => !row.settings.stopped || !empty || row.stops_at().is_some(),
                QueueState::Stopped => row.settings.stopped && empty,
            };
            equal(&row.path, "whether its state is legal", &legal, &true)?;
        }
        for (_, row) in self.applications().iter().filter(|(_, row)| row.lifetime.over) {
            equal(&row.name, "asks after its lifetime", &(row.ask_count + row.swap_count), &0)?;
            let ends = !row.state.is_active() || row.allocation_count > 0;
            equal(&row.name, "whether it has ended with all it had", &ends, &true)?;
        }
        self.check_settled_tenants()
    }

    /// Returns the number of unfinished applications of each queue with its descendants.
    fn applications_below(&self) -> BTreeMap<QueueId, u64> {
        let mut counts = BTreeMap::new();
        let active = self.applications().iter().filter(|(_, row)| row.state.is_active());
        for (queue, _) in active.flat_map(|(_, row)| self.up(row.queue)) {
            *counts.entry(queue).or_default() += 1;
        }
        counts
    }

    pub(super) fn check_states(&self) -> Outcome {
        let counts = self.applications_below();
        for (id, row) in self.queues().iter() {
            let stops = row.settings.stopped && row.managed && row.state == QueueState::Draining;
            let due = stops && !counts.contains_key(&id);
            equal(&row.path, "whether it is to be Stopped", &self.stops(id, row), &due)?;
        }
        Ok(())
    }

    fn stops(&self, id: QueueId, row: &Queue) -> bool {
        row.stops_at().is_some_and(|at| self.has_timer(at, Timer::Stop(id)))
    }

    pub(super) fn check_lifetimes(&self) -> Outcome {
        for (id, row) in self.applications().iter() {
            let lifetime = &row.lifetime;
            // Uses the settings of the leaf and its ancestors directly, independent of the code of the books.
            let of = |of: fn(&Queue) -> Option<Millis>| {
                let queues = self.up(row.queue).skip_while(|(_, queue)| !queue.managed);
                queues.map(|(_, queue)| queue).next().and_then(of)
            };
            let lives = row.state.is_active() && !lifetime.over;
            let some = |span: Option<Millis>| span.filter(|span| span.get() > 0);
            let most = lives.then(|| some(of(|queue| queue.settings.lifetimes.maximum))).flatten();
            let usual = lives.then(|| some(of(|queue| queue.settings.lifetimes.default))).flatten();
            let wanted = lifetime.asked.filter(|_| lives).or(usual);
            let span = [wanted, most].into_iter().flatten().min();
            let at = span.map(|span| lifetime.since + span);
            equal(&row.name, "end of its lifetime", &lifetime.ends_at, &at)?;
            let timed = at.is_none_or(|at: Timestamp| self.has_timer(at, Timer::Lifetime(id)));
            equal(&row.name, "timer of its lifetime", &timed, &true)?;
        }
        Ok(())
    }
}
