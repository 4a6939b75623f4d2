//! Complete explanation of a wait: every check with both sides, the largest users of what is short, the position of the
//! ask, and whether waiting can help.
//!
//! This module makes no decision. The checks are those of the scheduler, computed by the same functions.
//! [`Scheduler::wait_of`] is the first failed check. This module adds figures. Source: decision page 32.

mod amount;
mod check;
mod holder;
mod node;
mod preemption;
pub mod remedy;
mod sentence;
mod what_if;

pub use crate::schedule::QueuePosition;
pub use amount::Amount;
pub use check::Check;
pub use holder::{HOLDERS, Holder};
pub use node::{MISSES, Miss, Nodes};
pub use preemption::{PreemptionBarrier, PreemptionFound, PreemptionOutlook, preemption};
pub use sentence::{LINE_MAX, cut};
pub use what_if::{
    Hypothetical, WHAT_IF_STEPS, WhatIfAccepted, WhatIfOutcome, unused_name, what_if,
};

use alloc::vec::Vec;
use core::cell::OnceCell;

use crate::books::Books;
use crate::id::{AllocationId, ApplicationId};
use crate::schedule::{Chain, Scheduler, WaitChange};
use crate::time::Timestamp;
use crate::wait::Kind;

/// Outcome for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// The ask has a node.
    Allocated,
    /// No check fails: the ask is placed in one of the next steps.
    StartsNext,
    /// A check fails that a release can change.
    Waiting,
    /// No release helps: the ask needs another size, other limits, or other nodes.
    Impossible,
    /// The ask fits, but other asks precede it by policy.
    HeldBack,
}

impl Verdict {
    /// Returns a short, stable word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Allocated => "allocated",
            Self::StartsNext => "startsNext",
            Self::Waiting => "waiting",
            Self::Impossible => "impossible",
            Self::HeldBack => "heldBack",
        }
    }
}

/// Explanation of a wait, or of the absence of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The ask, or the allocation that it became.
    pub ask: AllocationId,
    /// Outcome for the ask.
    pub verdict: Verdict,
    /// Time since which it waits for the first failed check. `None` if it was parked for another reason, or if the
    /// scheduler started later.
    pub since: Option<Timestamp>,
    /// Position of the ask. `None` if it no longer waits, and in [`Explainer::checks`].
    pub place: Option<QueuePosition>,
    /// All checks in order.
    pub checks: Vec<Check>,
    /// Wait reasons since its creation, oldest first: at most the last [`WAIT_HISTORY_MAX`](crate::WAIT_HISTORY_MAX)
    /// changes since the scheduler started.
    pub history: Vec<WaitChange>,
}

impl Explanation {
    /// Returns the failed checks in order. The scheduler stops at the first of them.
    pub fn blocked_by(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| check.failed)
    }
}

/// Explains one ask. `None` if it does not exist.
///
/// Costs the depth of its queue, the nodes, the applications of its partition for each failed check, and the
/// applications of its leaf.
pub fn explain(books: &Books, scheduler: &Scheduler, ask: AllocationId) -> Option<Explanation> {
    let explainer = Explainer::new(books, scheduler);
    let (scheduler, mut found) = explainer.with_scheduler(ask)?;
    if found.verdict != Verdict::Allocated {
        found.place = QueuePosition::of(books, scheduler, ask);
        found.checks.iter_mut().for_each(|check| check.add_holders(books));
    }
    Some(found)
}

/// Explains several asks of one state.
#[derive(Debug)]
pub struct Explainer<'state> {
    books: &'state Books,
    scheduler: &'state Scheduler,
    /// Indexes from scratch. After a change of the rules, those of the scheduler are invalid until the next step, and
    /// these give the same result.
    rebuilt: OnceCell<Scheduler>,
}

impl<'state> Explainer<'state> {
    /// Returns an explainer of a state.
    pub const fn new(books: &'state Books, scheduler: &'state Scheduler) -> Self {
        Self { books, scheduler, rebuilt: OnceCell::new() }
    }

    /// Explains one ask without its position and without the holders of its checks, which cost the applications. `None`
    /// if the ask does not exist.
    ///
    /// Costs the depth of its queue and the nodes. If no check fails, also costs the queues and the applications of its
    /// leaf. After a change of the rules, the first call also costs all waiting asks.
    pub fn checks(&self, ask: AllocationId) -> Option<Explanation> {
        Some(self.with_scheduler(ask)?.1)
    }

    /// Explains one ask, and returns the scheduler with valid indexes.
    fn with_scheduler(&self, ask: AllocationId) -> Option<(&Scheduler, Explanation)> {
        let (books, scheduler) = (self.books, self.scheduler);
        let row = books.allocations().get(ask)?;
        if !row.is_pending() {
            let since = Some(row.placed);
            let (verdict, checks) = (Verdict::Allocated, Vec::new());
            let history = Vec::new();
            let found = Explanation { ask, verdict, since, place: None, checks, history };
            return Some((scheduler, found));
        }
        if let Some(chain) = scheduler.chain_of(books, ask) {
            return Some((scheduler, explained(books, scheduler, (ask, chain))));
        }
        let rebuilt = self.rebuilt.get_or_init(|| Scheduler::new(books));
        let chain = rebuilt.chain_of(books, ask)?;
        Some((rebuilt, explained(books, rebuilt, (ask, chain))))
    }
}

/// Explains a waiting ask from the data of the scheduler, as [`Explainer::checks`] does.
fn explained(
    books: &Books,
    scheduler: &Scheduler,
    (ask, chain): (AllocationId, Chain),
) -> Explanation {
    let mut checks: Vec<Check> =
        chain.checks.iter().filter_map(|one| Check::of(books, ask, *one)).collect();
    if !checks.iter().any(|check| check.failed)
        && let Some(before) = scheduler.goes_before(books, ask)
    {
        checks.push(Check::of_order(books, ask, before));
    }
    Explanation {
        ask,
        verdict: verdict(&checks),
        since: since(books, ask, &chain, &checks),
        place: None,
        checks,
        history: chain.history,
    }
}

/// Returns the waiting ask of an application that is placed first. Without a waiting ask, returns one of its
/// allocations.
pub fn first_of(books: &Books, application: ApplicationId) -> Option<AllocationId> {
    let all = books.allocations_of(application);
    let first = all.min_by_key(|(_, row)| {
        (!row.is_pending(), -i64::from(row.priority), row.created, row.number)
    });
    first.map(|(id, _)| id)
}

/// Returns the same with the order of the scheduler, so that not all asks must be visited.
pub fn first_in(
    books: &Books,
    scheduler: &Scheduler,
    application: ApplicationId,
) -> Option<AllocationId> {
    scheduler.first_that_waits(application).or_else(|| first_of(books, application))
}

fn verdict(checks: &[Check]) -> Verdict {
    let failed = || checks.iter().filter(|check| check.failed);
    if failed().next().is_none() {
        Verdict::StartsNext
    } else if failed().any(|check| check.blocker.row().is_permanent) {
        Verdict::Impossible
    } else if failed().all(|check| check.blocker.row().kind == Kind::Policy) {
        Verdict::HeldBack
    } else {
        Verdict::Waiting
    }
}

/// Returns since when an ask waits for its first failed check.
fn since(books: &Books, ask: AllocationId, chain: &Chain, checks: &[Check]) -> Option<Timestamp> {
    let first = checks.iter().find(|check| check.failed)?;
    let (blocker, since) = chain.parked?;
    let kind = blocker.row().kind;
    let same = blocker == first.blocker
        || kind == first.blocker.row().kind && matches!(kind, Kind::Node | Kind::Policy);
    same.then(|| since.max(books.allocation(ask).created))
}
