//! How long an application may live, and when a queue that is stopped has nothing left: what time,
//! or nothing any more, brings to an end. Source: user-headroom §10 (C12, C27).

use alloc::vec;
use alloc::vec::Vec;

use crate::id::{ApplicationId, QueueId};
use crate::time::{Millis, Timestamp};

use super::{Books, Timer};

/// How long an application may live, and until when it may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Lifetime {
    /// From when it counts: its submission, or its making if that was earlier.
    pub since: Timestamp,
    /// What it asked for; the maximum of its queue goes before it.
    pub asked: Option<Millis>,
    /// When it is over, while that is ahead.
    pub ends_at: Option<Timestamp>,
    /// Whether it is over: it asks for nothing any more, and gives back what it has.
    pub over: bool,
}

impl Books {
    /// How long an application may live: what it asks for and what is in force at the nearest
    /// queue of the queue file, its leaf or one above. None: for ever.
    pub fn lifetime_of(&self, application: ApplicationId) -> Option<Millis> {
        let row = &self.applications[application];
        let (_, configured) = self.up(row.queue).find(|(_, queue)| queue.managed)?;
        configured.settings.lifetimes.of(row.lifetime.asked)
    }

    /// Set the end of an application's lifetime by what is in force now.
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

    /// Set the ends again of all applications whose lifetimes are those of a queue: its own, and
    /// those of leaves below that rules have made.
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

    /// A lifetime counts from another time, or is another one.
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

    /// The lifetime of an application is over.
    pub(super) fn end_lifetime(&mut self, application: ApplicationId) {
        self.applications[application].lifetime.over = true;
        self.forget_lifetime(application);
    }

    /// Nothing ends the lifetime of an application any more.
    pub(super) fn forget_lifetime(&mut self, application: ApplicationId) {
        if let Some(at) = self.applications[application].lifetime.ends_at.take() {
            self.timers.remove(&(at, Timer::Lifetime(application)));
        }
    }

    /// Set or clear the time when a queue is to be Stopped: at once, when the last application of
    /// one that the queue file stops has ended.
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

    /// An application has come or gone: look at its leaf and those above.
    pub(super) fn watch_drains(&mut self, now: Timestamp, leaf: QueueId) {
        let mut next = Some(leaf);
        while let Some(queue) = next {
            self.watch_drain(now, queue);
            next = self.queues[queue].parent;
        }
    }
}
