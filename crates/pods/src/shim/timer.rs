//! Timers.

use std::collections::BTreeMap;

use crate::object::Text;

use super::Shim;
use super::message::{ApiWrite, DeletePurpose, Moment, PodIdentity};

/// What happens at a moment.
#[derive(Debug)]
pub(super) enum Timer {
    /// The next try of a bind, unless the ticket is out of date.
    Bind { uid: Text, ticket: u64 },
    /// The next try of a deletion.
    Delete { pod: PodIdentity },
}

/// Timers by their moment.
#[derive(Debug, Default)]
pub(super) struct Timers {
    due: BTreeMap<(Moment, u64), Timer>,
    /// Moment of the last request to be woken.
    requested: Option<Moment>,
}

impl Timers {
    /// Returns the moment of the first timer, if it differs from the last request.
    pub(super) fn changed_wake(&mut self) -> Option<Moment> {
        let first = self.due.first_key_value().map(|((moment, _), _)| *moment);
        let changed = first != self.requested;
        self.requested = first;
        first.filter(|_| changed)
    }

    fn pop(&mut self, now: Moment) -> Option<Timer> {
        let first = self.due.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }
}

impl Shim {
    pub(super) fn start_timer(&mut self, seconds: i64, timer: Timer) {
        let number = self.next_number();
        self.timers.due.insert((self.now.after_seconds(seconds), number), timer);
    }

    pub(super) fn fire_timers(&mut self) {
        while let Some(timer) = self.timers.pop(self.now) {
            match timer {
                Timer::Bind { uid, ticket } => self.bind_again(&uid, ticket),
                Timer::Delete { pod } => {
                    self.write(ApiWrite::DeletePod { pod, purpose: DeletePurpose::Cleanup });
                }
            }
        }
    }
}
