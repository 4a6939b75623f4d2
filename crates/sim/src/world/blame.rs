//! Who waited for what, how long.
//!
//! The scheduler notes when a class of equal asks starts to wait, and for what. So time is
//! counted per class, and a job is charged the difference between joining and leaving its
//! class: the cost does not grow with the jobs that wait.

use std::collections::BTreeMap;

use headroom_core::books::Books;
use headroom_core::id::ApplicationId;
use headroom_core::{Blocker, ClassId, Note};

use crate::outcome::BlockerRecord;

/// Milliseconds per blocker, by position in the records; in order of position.
type Totals = BTreeMap<usize, u64>;

/// The accounts of one run.
#[derive(Debug, Default)]
pub(super) struct Blame {
    /// What made anything wait, in order of first appearance.
    pub(super) blockers: Vec<BlockerRecord>,
    by_text: BTreeMap<(&'static str, String), usize>,
    by_id: BTreeMap<Blocker, usize>,
    classes: BTreeMap<ClassId, ClassAccount>,
    applications: BTreeMap<ApplicationId, ApplicationAccount>,
}

#[derive(Debug, Default)]
struct ClassAccount {
    /// What it waits for now, and since when.
    waiting: Option<(usize, u64)>,
    totals: Totals,
    members: u64,
}

impl ClassAccount {
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
    /// None where its classes are void and it did not join a new one yet.
    class: Option<ClassId>,
    /// The totals of the class when it joined.
    before: Totals,
    /// What it waited for in earlier classes.
    waited: Totals,
}

impl Blame {
    /// Take in what the scheduler noted at this time.
    pub(super) fn take(&mut self, books: &Books, now_ms: u64, notes: Vec<Note>) {
        for note in notes {
            match note {
                Note::Renewed => self.renew(now_ms),
                Note::Joined { application, class } => self.join(now_ms, application, class),
                Note::Parked { class, wait } => {
                    let blocker = self.position(books, wait.blocker);
                    let account = self.classes.entry(class).or_default();
                    if let Some((before, since)) = account.waiting.replace((blocker, now_ms)) {
                        *account.totals.entry(before).or_default() += now_ms - since;
                    }
                }
            }
        }
    }

    /// What an application waited for in all, now that its last ask was placed or withdrawn,
    /// or the run ends: blocker and ms, in order of first appearance.
    pub(super) fn close(&mut self, now_ms: u64, application: ApplicationId) -> Vec<(usize, u64)> {
        let Some(account) = self.applications.remove(&application) else { return Vec::new() };
        let waited = self.leave(now_ms, account);
        waited.into_iter().filter(|(_, ms)| *ms > 0).collect()
    }

    /// Settle with all classes, which are void from now on.
    fn renew(&mut self, now_ms: u64) {
        for (application, account) in std::mem::take(&mut self.applications) {
            let waited = self.leave(now_ms, account);
            let account = ApplicationAccount { class: None, before: Totals::new(), waited };
            self.applications.insert(application, account);
        }
        self.classes.clear();
    }

    fn join(&mut self, now_ms: u64, application: ApplicationId, class: ClassId) {
        let left = self.applications.remove(&application);
        let waited = left.map(|account| self.leave(now_ms, account)).unwrap_or_default();
        let account = self.classes.entry(class).or_default();
        account.members += 1;
        let before = account.totals_at(now_ms);
        self.applications
            .insert(application, ApplicationAccount { class: Some(class), before, waited });
    }

    /// Settle with the class that an application leaves.
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
                // The scheduler forgot it with its last ask; its name is not used again.
                self.classes.remove(&id);
            }
        }
        waited
    }

    /// The record of a blocker. Ids may differ for what a user reads as one thing: a user
    /// who left and came back.
    pub(super) fn position(&mut self, books: &Books, blocker: Blocker) -> usize {
        if let Some(known) = self.by_id.get(&blocker) {
            return *known;
        }
        let (code, subject) = (blocker.code(books), blocker.subject(books));
        let position = self.named(code, subject);
        self.by_id.insert(blocker, position);
        position
    }

    /// The record with this code and subject.
    pub(super) fn named(&mut self, code: &'static str, subject: String) -> usize {
        let next = self.blockers.len();
        let position = *self.by_text.entry((code, subject.clone())).or_insert(next);
        if position == next {
            self.blockers.push(BlockerRecord { code, subject });
        }
        position
    }
}
