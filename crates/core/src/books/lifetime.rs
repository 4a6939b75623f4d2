//! Lifetimes of applications, and the stop of draining queues without applications. Source: user-headroom §10 (C12,
//! C27).

use alloc::vec;
use alloc::vec::Vec;

use crate::id::{ApplicationId, QueueId};
use crate::time::{Millis, Timestamp};

use super::{Books, Timer};

/// Lifetime of an application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Lifetime {
    /// Start of the lifetime: the submission, or the creation if that was earlier.
    pub since: Timestamp,
    /// Requested lifetime. The maximum of the queue has precedence.
    pub asked: Option<Millis>,
    /// End of the lifetime. `None` if there is none, or if it is over.
    pub ends_at: Option<Timestamp>,
    /// Whether the lifetime is over. Then the asks are withdrawn and the allocations released.
    pub over: bool,
}

impl Books {
    /// Returns the lifetime of an application: the request, limited by the nearest queue on its path that the queue
    /// file defines. `None` without a limit.
    pub fn lifetime_of(&self, application: ApplicationId) -> Option<Millis> {
        let row = &self.applications[application];
        let (_, configured) = self.up(row.queue).find(|(_, queue)| queue.managed)?;
        configured.settings.lifetimes.of(row.lifetime.asked)
    }

    /// Updates the end of the lifetime of an application with the current settings.
    pub(super) fn renew_lifetime(&mut self, application: ApplicationId) {
        let span = self.lifetime_of(application);
        let row = &mut self.applications[application];
        let lives = row.state.is_active() && !row.lifetime.over;
        let at = span.filter(|_| lives).map(|span| row.lifetime.since + span);
        let before = core::mem::replace(&mut row.lifetime.ends_at, at);
        if before == at {
            return;
        }
        if let Some(before) = before {
            self.timers.remove(&(before, Timer::Lifetime(application)));
        }
        if let Some(at) = at {
            self.timers.insert((at, Timer::Lifetime(application)), ());
        }
    }

    /// Updates the lifetimes of all applications that depend on a queue: its own, and those of descendants that
    /// placement rules created.
    pub(super) fn renew_lifetimes(&mut self, queue: QueueId) {
        let mut open: Vec<QueueId> = vec![queue];
        while let Some(queue) = open.pop() {
            let made = self.children(queue).filter(|(_, child)| !child.managed);
            open.extend(made.map(|(id, _)| id));
            let all: Vec<ApplicationId> = self.applications_in(queue).map(|(id, _)| id).collect();
            for application in all {
                self.renew_lifetime(application);
            }
        }
    }

    /// Sets the start and the request of a lifetime.
    pub(super) fn set_lifetime(
        &mut self,
        application: ApplicationId,
        since: Timestamp,
        asked: Option<Millis>,
    ) {
        let lifetime = &mut self.applications[application].lifetime;
        (lifetime.since, lifetime.asked) = (since, asked);
        self.renew_lifetime(application);
    }

    /// Ends the lifetime of an application.
    pub(super) fn end_lifetime(&mut self, application: ApplicationId) {
        self.applications[application].lifetime.over = true;
        self.forget_lifetime(application);
    }

    /// Clears the timer of the lifetime of an application.
    pub(super) fn forget_lifetime(&mut self, application: ApplicationId) {
        if let Some(at) = self.applications[application].lifetime.ends_at.take() {
            self.timers.remove(&(at, Timer::Lifetime(application)));
        }
    }

    /// Sets or clears the time at which a queue is to be Stopped: immediately after the last application of a queue
    /// that the queue file stops has ended.
    pub(super) fn watch_drain(&mut self, now: Timestamp, queue: QueueId) {
        let row = &mut self.queues[queue];
        let drained = row.has_drained();
        if drained == row.stops_at.is_some() {
            return;
        }
        let at = drained.then_some(now);
        if let Some(before) = core::mem::replace(&mut row.stops_at, at) {
            self.timers.remove(&(before, Timer::Stop(queue)));
        }
        if let Some(at) = at {
            self.timers.insert((at, Timer::Stop(queue)), ());
        }
    }

    /// Checks the leaf of an added or removed application and the ancestors.
    pub(super) fn watch_drains(&mut self, now: Timestamp, leaf: QueueId) {
        let mut next = Some(leaf);
        while let Some(queue) = next {
            self.watch_drain(now, queue);
            next = self.queues[queue].parent;
        }
    }
}
