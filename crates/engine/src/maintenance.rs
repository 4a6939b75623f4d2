//! Periodic work outside the writer: checks of the books, and cleaning the cache of users. Neither changes the books,
//! but their findings can be recorded.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use headroom_core::books::Books;
use headroom_core::{Command, Millis, Timestamp, view};

use crate::clock::Clock;
use crate::health::{Checked, Verified, Vitals};
use crate::users::Users;
use crate::view::View;

/// Interval at which due work is started.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// State of the periodic work.
#[derive(Debug)]
pub(crate) struct Maintenance {
    users: Option<Arc<Users>>,
    vitals: Arc<Vitals>,
    /// Time of the last check of the books.
    checked: Option<Timestamp>,
    /// Time of the last verification of tenants, and the interval until the next verification.
    verified: Option<(Timestamp, Millis)>,
}

impl Maintenance {
    pub(crate) const fn new(users: Option<Arc<Users>>, vitals: Arc<Vitals>) -> Self {
        Self { users, vitals, checked: None, verified: None }
    }

    /// Does all due work. `view` returns the newest books. Returns a command that records a finding. `None` without a
    /// finding.
    pub(crate) fn run_due(
        &mut self,
        now: Timestamp,
        view: impl FnOnce() -> Arc<View>,
    ) -> Option<Command> {
        if let Some(users) = &self.users {
            users.tick(now);
        }
        let (check, verify) = (self.is_check_due(now), self.is_verification_due(now));
        if !check && !verify {
            return None;
        }
        let view = view();
        if check {
            self.checked = Some(now);
            let checked = Checked::of(&view.books, view.counters, view.sequence, now);
            self.vitals.set_checked(checked);
        }
        if !verify {
            return None;
        }
        self.verified = Some((now, verify_every(&view.books)));
        let before = self.vitals.verified();
        let verified = Verified::of(&view.books, view.sequence, now);
        // The same finding is recorded only once.
        let is_told = before.is_some_and(|before| before.drift == verified.drift);
        let report = verified.report(&view.books).filter(|_| !is_told);
        self.vitals.set_verified(verified);
        report
    }

    fn is_verification_due(&self, now: Timestamp) -> bool {
        self.verified.is_none_or(|(last, every)| now >= last + every || now < last)
    }

    /// Returns whether a check is due. The first check is always due.
    fn is_check_due(&self, now: Timestamp) -> bool {
        let Some(last) = self.checked else { return true };
        // If the clock was set back, the next check is made at once.
        self.vitals.check_every().is_some_and(|every| now >= last + every || now < last)
    }

    /// Does due work at intervals until the other end of `end` is dropped.
    pub(crate) fn run(
        mut self,
        clock: &dyn Clock,
        end: &Receiver<()>,
        mut view: impl FnMut() -> Arc<View>,
        mut report: impl FnMut(Command),
    ) {
        loop {
            if let Some(command) = self.run_due(clock.now(), &mut view) {
                report(command);
            }
            if end.recv_timeout(LOOK_EVERY) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    }
}

/// Returns the interval of verifications of tenants. Without tenants, returns the interval until the next search for
/// tenants.
fn verify_every(books: &Books) -> Millis {
    let every = view::tenants(books).map(|(_, _, config)| config.verify_interval);
    every.unwrap_or(Millis::from_secs(60)).max(Millis::from_secs(1))
}

#[cfg(test)]
mod tests {
    use headroom_core::Name;
    use headroom_core::resource::{Quantity, ResourceType};
    use headroom_core::testkit::tell_world;

    use super::*;

    #[test]
    #[doc(alias = "TR-55")]
    fn tenants_are_verified_by_the_clock_and_what_disagrees_is_named() {
        let world = tell_world(
            "
            tenants root.tenants
            node n1 vcore=128 memory=256G
            tenant a quota vcore=100
            app a1 of:a ann
            ask t1 a1 vcore=60
            ",
        );
        let vitals = Arc::new(Vitals::default());
        let mut rounds = Maintenance::new(None, Arc::clone(&vitals));
        let view = |books: &Books| {
            let books = Arc::new(books.clone());
            move || Arc::new(View { books, sequence: 7, ..View::default() })
        };
        let at = Timestamp::from_millis(1_000_000);
        assert_eq!(rounds.run_due(at, view(&world.books)), None);
        let first = vitals.verified().expect("the first time");
        assert_eq!((first.sequence, first.time, first.drift.as_slice()), (7, at, &[][..]));
        let mut damaged = world.books.clone();
        let partition = *damaged.partitions().keys().next().expect("one partition");
        let queue = damaged.queue_at(partition, "root.tenants.a").expect("the queue of a");
        damaged.miscount(queue, ResourceType::VCORE, Quantity::of(-5_000));
        let every = Millis::from_secs(60);
        assert_eq!(rounds.run_due(at + (every - Millis::new(1)), view(&damaged)), None);
        assert_eq!(vitals.verified().expect("as before").time, at, "not yet");
        let found = rounds.run_due(at + every, view(&damaged));
        let second = vitals.verified().expect("the second time");
        let [drift] = second.drift.as_slice() else { panic!("{second:?}") };
        assert_eq!((drift.tenant.as_str(), drift.resource.as_str()), ("a", "vcore"));
        assert_eq!(
            (drift.counted.get(), drift.found.get(), drift.by().get()),
            (55_000, 60_000, -5_000)
        );
        let report =
            Command::ReportDrift { partition: Name::new("default"), drift: second.drift.clone() };
        assert_eq!(found, Some(report));
        let again = rounds.run_due(at + every + every, view(&damaged));
        assert_eq!(again, None, "it was written down");
        let third = rounds.run_due(at + every + every + every, view(&world.books));
        assert_eq!((third, vitals.verified().map(|one| one.drift.len())), (None, Some(0)));
    }
}
