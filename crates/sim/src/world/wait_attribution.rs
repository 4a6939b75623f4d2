//! Attributes the waits of jobs to reasons.
//!
//! The scheduler notes when a class of equal asks starts to wait, and why. Time is counted per class. A job is charged
//! the difference between joining and leaving its class, so the cost does not grow with the number of waiting jobs.
//!
//! Some classes have no note, because the scheduler does not check them: the user is above their share, or the ask gets
//! a reservation at its first check. The simulator queries the reasons of such classes, see
//! [`WaitAttribution::unjudged`].

use std::collections::BTreeMap;
use std::ops::Bound;

use headroom_core::books::Books;
use headroom_core::id::ApplicationId;
use headroom_core::{Blocker, ClassId, Note, WaitCode};

use crate::outcome::BlockerRecord;

/// Milliseconds by position of the blocker in the records.
type Totals = BTreeMap<usize, u64>;

/// Wait attribution of one run.
#[derive(Debug, Default)]
pub(super) struct WaitAttribution {
    /// Reasons of waits, in order of first appearance.
    pub(super) blockers: Vec<BlockerRecord>,
    by_text: BTreeMap<(&'static str, String), usize>,
    by_id: BTreeMap<(Blocker, WaitCode), usize>,
    classes: BTreeMap<ClassId, ClassAccount>,
    applications: BTreeMap<ApplicationId, ApplicationAccount>,
    /// Applications that joined a class without a note of the scheduler.
    fresh: Vec<(ApplicationId, ClassId)>,
    /// Classes whose reason was queried, each with an application of the class.
    asked: BTreeMap<ClassId, ApplicationId>,
    /// The class that was queried last.
    last_asked: Option<ClassId>,
}

/// Number of classes whose reason is queried again at each point in time.
const ASKED_AGAIN: usize = 16;

#[derive(Debug, Default)]
struct ClassAccount {
    /// Current wait reason, and the start of the wait.
    waiting: Option<(usize, u64)>,
    totals: Totals,
    members: u64,
}

impl ClassAccount {
    fn wait_for(&mut self, now_ms: u64, blocker: usize) {
        if self.waiting.is_some_and(|(before, _)| before == blocker) {
            return;
        }
        if let Some((before, since)) = self.waiting.replace((blocker, now_ms)) {
            *self.totals.entry(before).or_default() += now_ms - since;
        }
    }

    fn totals_at(&self, now_ms: u64) -> Totals {
        let mut totals = self.totals.clone();
        if let Some((blocker, since)) = self.waiting {
            *totals.entry(blocker).or_default() += now_ms - since;
        }
        totals
    }
}

#[derive(Debug)]
struct ApplicationAccount {
    /// Class of the application. `None` if its classes are void and it has not joined a new class.
    class: Option<ClassId>,
    /// Totals of the class when the application joined it.
    before: Totals,
    /// Waits in earlier classes.
    waited: Totals,
}

impl WaitAttribution {
    /// Processes the notes of the scheduler at this time.
    pub(super) fn take(&mut self, books: &Books, now_ms: u64, notes: Vec<Note>) {
        for note in notes {
            match note {
                Note::Renewed => self.renew(now_ms),
                Note::Joined { application, class } => self.join(now_ms, application, class),
                Note::Parked { class, wait, code, .. } => {
                    let blocker = self.position(books, wait.blocker, code);
                    self.asked.remove(&class);
                    self.classes.entry(class).or_default().wait_for(now_ms, blocker);
                }
            }
        }
    }

    /// Returns the classes whose reason must be queried, each with an application of the class. These are classes
    /// without a note of the scheduler, and a few of the previously queried classes.
    pub(super) fn unjudged(&mut self) -> Vec<(ApplicationId, ClassId)> {
        let mut all = std::mem::take(&mut self.fresh);
        all.retain(|(application, class)| {
            self.is_in(*application, *class)
                && self.classes.get(class).is_some_and(|account| account.waiting.is_none())
        });
        all.dedup_by_key(|(_, class)| *class);
        let after = self.last_asked.map_or(Bound::Unbounded, Bound::Excluded);
        let again = self.asked.range((after, Bound::Unbounded)).take(ASKED_AGAIN);
        let known = all.len();
        all.extend(again.map(|(class, application)| (*application, *class)));
        self.last_asked = all[known..].last().map(|(_, class)| *class);
        all
    }

    /// Stores the queried reason of a class. Without a reason, the class is queried again.
    pub(super) fn explain(
        &mut self,
        now_ms: u64,
        (application, class): (ApplicationId, ClassId),
        blocker: Option<usize>,
    ) {
        let Some(account) = self.classes.get_mut(&class) else { return };
        match blocker {
            Some(blocker) => {
                account.wait_for(now_ms, blocker);
                self.asked.insert(class, application);
            }
            None if account.waiting.is_none() => self.fresh.push((application, class)),
            None => {}
        }
    }

    /// Moves an application to another class of its asks that has a note of the scheduler. Returns whether such a class
    /// exists.
    pub(super) fn move_to(
        &mut self,
        now_ms: u64,
        application: ApplicationId,
        class: ClassId,
    ) -> bool {
        let noted = self.classes.get(&class).is_some_and(|account| account.waiting.is_some());
        if noted && !self.is_in(application, class) {
            self.join(now_ms, application, class);
        }
        noted
    }

    fn is_in(&self, application: ApplicationId, class: ClassId) -> bool {
        self.applications.get(&application).is_some_and(|account| account.class == Some(class))
    }

    /// Returns the whole wait of an application, when its last ask is placed or withdrawn, or when the run ends:
    /// blocker and ms, in order of first appearance.
    pub(super) fn close(&mut self, now_ms: u64, application: ApplicationId) -> Vec<(usize, u64)> {
        let Some(account) = self.applications.remove(&application) else { return Vec::new() };
        let waited = self.leave(now_ms, account);
        waited.into_iter().filter(|(_, ms)| *ms > 0).collect()
    }

    /// Closes the accounts of all applications in their classes, which are void from now on.
    fn renew(&mut self, now_ms: u64) {
        for (application, account) in std::mem::take(&mut self.applications) {
            let waited = self.leave(now_ms, account);
            let account = ApplicationAccount { class: None, before: Totals::new(), waited };
            self.applications.insert(application, account);
        }
        self.classes.clear();
        self.fresh.clear();
        self.asked.clear();
    }

    fn join(&mut self, now_ms: u64, application: ApplicationId, class: ClassId) {
        let left = self.applications.remove(&application);
        let waited = left.map(|account| self.leave(now_ms, account)).unwrap_or_default();
        let account = self.classes.entry(class).or_default();
        account.members += 1;
        let before = account.totals_at(now_ms);
        if account.waiting.is_none() {
            self.fresh.push((application, class));
        }
        self.applications
            .insert(application, ApplicationAccount { class: Some(class), before, waited });
    }

    /// Adds the waits in a class that an application leaves. Returns all its waits.
    fn leave(&mut self, now_ms: u64, account: ApplicationAccount) -> Totals {
        let mut waited = account.waited;
        if let Some(id) = account.class
            && let Some(class) = self.classes.get_mut(&id)
        {
            for (blocker, ms) in class.totals_at(now_ms) {
                let before = account.before.get(&blocker).copied().unwrap_or(0);
                *waited.entry(blocker).or_default() += ms - before;
            }
            class.members -= 1;
            if class.members == 0 {
                // The scheduler removed the class with its last ask, and does not reuse its id.
                self.classes.remove(&id);
                self.asked.remove(&id);
            }
        }
        waited
    }

    /// Returns the record of a blocker under a code. Two IDs can be the same object for a reader, such as a user who
    /// left and came back.
    pub(super) fn position(&mut self, books: &Books, blocker: Blocker, code: WaitCode) -> usize {
        if let Some(known) = self.by_id.get(&(blocker, code)) {
            return *known;
        }
        let position = self.named(code.as_str(), blocker.subject(books));
        self.by_id.insert((blocker, code), position);
        position
    }

    /// Returns the position of the record with this code and subject. Adds it if it is missing.
    pub(super) fn named(&mut self, code: &'static str, subject: String) -> usize {
        let next = self.blockers.len();
        let position = *self.by_text.entry((code, subject.clone())).or_insert(next);
        if position == next {
            self.blockers.push(BlockerRecord { code, subject });
        }
        position
    }
}
