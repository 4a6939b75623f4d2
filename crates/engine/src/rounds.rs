//! What is due by the clock and is no work of the writer's: checks of the books, and cleaning what
//! is remembered of users. Neither changes the books.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use headroom_core::Timestamp;

use crate::clock::Clock;
use crate::health::{Checked, Vitals};
use crate::users::Users;
use crate::view::View;

/// How often somebody looks whether anything is due.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Goes round.
#[derive(Debug)]
pub(crate) struct Rounds {
    users: Option<Arc<Users>>,
    vitals: Arc<Vitals>,
    /// When the books were checked last.
    checked: Option<Timestamp>,
}

impl Rounds {
    pub(crate) const fn new(users: Option<Arc<Users>>, vitals: Arc<Vitals>) -> Self {
        Self { users, vitals, checked: None }
    }

    /// Do what is due; `view` gives the newest books.
    pub(crate) fn go(&mut self, now: Timestamp, view: impl FnOnce() -> Arc<View>) {
        if let Some(users) = &self.users {
            users.tick(now);
        }
        if self.is_check_due(now) {
            self.checked = Some(now);
            let view = view();
            let checked = Checked::of(&view.books, view.counters, view.sequence, now);
            self.vitals.set_checked(checked);
        }
    }

    /// The first check is made in any case.
    fn is_check_due(&self, now: Timestamp) -> bool {
        let Some(last) = self.checked else { return true };
        // After the wall clock stepped back, the next one is not further off than ever.
        self.vitals.check_every().is_some_and(|every| now >= last + every || now < last)
    }

    /// Go round until the other end of `end` is dropped.
    pub(crate) fn run(
        mut self,
        clock: &dyn Clock,
        end: &Receiver<()>,
        mut view: impl FnMut() -> Arc<View>,
    ) {
        loop {
            self.go(clock.now(), &mut view);
            if end.recv_timeout(LOOK_EVERY) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    }
}
