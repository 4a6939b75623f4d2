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
    /// Position of the ask. `None` if it no longer waits.
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
    let row = books.allocations().get(ask)?;
    if !row.is_pending() {
        let since = Some(row.placed);
        let (verdict, checks) = (Verdict::Allocated, Vec::new());
        let history = Vec::new();
        return Some(Explanation { ask, verdict, since, place: None, checks, history });
    }
    let Some(chain) = scheduler.chain_of(books, ask) else {
        // After a change of the rules, the indexes are invalid. New ones give the same result.
        let scheduler = Scheduler::new(books);
        return Some(explained(books, &scheduler, (ask, scheduler.chain_of(books, ask)?)));
    };
    Some(explained(books, scheduler, (ask, chain)))
}

/// Explains a waiting ask from the data of the scheduler.
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
        place: QueuePosition::of(books, scheduler, ask),
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
