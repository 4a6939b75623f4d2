//! Why an ask waits, in full: every check that it goes through, with both sides, who has what it lacks,
//! where it stands, and whether waiting can help at all.
//!
//! Nothing here decides anything. The checks are those of the scheduler, made by the functions by
//! which it decides. [`Scheduler::wait_of`] is the first of them that fails. This module adds
//! figures to them. Decision page 32.

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

/// What becomes of something that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// It has its node.
    Allocated,
    /// Nothing holds it back: it is placed as soon as the scheduler comes to it.
    StartsNext,
    /// Something holds it back that can give way.
    Waiting,
    /// Whatever is given back, it does not fit: it needs another size, other limits or other nodes.
    Impossible,
    /// It fits, and others go first by what the policy says.
    HeldBack,
}

impl Verdict {
    /// A short word that does not change.
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

/// Why an ask waits, or that it does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The ask, or the allocation that it became.
    pub ask: AllocationId,
    /// What becomes of it.
    pub verdict: Verdict,
    /// Since when it waits for what it waits for first; none where it was put aside for something else, or
    /// the scheduler is younger.
    pub since: Option<Timestamp>,
    /// Where it stands; none where it waits no more.
    pub place: Option<QueuePosition>,
    /// All checks, in their order.
    pub checks: Vec<Check>,
    /// What it waited for since it came, the oldest first: at most the last [`WAIT_HISTORY_MAX`](crate::WAIT_HISTORY_MAX) changes, as the
    /// scheduler has put it aside since it was started.
    pub history: Vec<WaitChange>,
}

impl Explanation {
    /// The checks that it fails, in their order. The first is the one at which the scheduler stops.
    pub fn blocked_by(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| check.failed)
    }
}

/// Explain one ask; none if it is not there.
///
/// Costs the depth of its queue, the nodes, the applications of its partition for each check that it
/// fails, and those of its leaf.
pub fn explain(books: &Books, scheduler: &Scheduler, ask: AllocationId) -> Option<Explanation> {
    let row = books.allocations().get(ask)?;
    if !row.is_pending() {
        let since = Some(row.placed);
        let (verdict, checks) = (Verdict::Allocated, Vec::new());
        let history = Vec::new();
        return Some(Explanation { ask, verdict, since, place: None, checks, history });
    }
    let Some(chain) = scheduler.chain_of(books, ask) else {
        // While the rules are new the indexes are void; what they would be is known.
        let scheduler = Scheduler::new(books);
        return Some(explained(books, &scheduler, (ask, scheduler.chain_of(books, ask)?)));
    };
    Some(explained(books, scheduler, (ask, chain)))
}

/// An ask that waits, by what the scheduler knows of it.
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

/// The ask of an application that is placed first of those that wait; if none does, one of its allocations.
pub fn first_of(books: &Books, application: ApplicationId) -> Option<AllocationId> {
    let all = books.allocations_of(application);
    let first = all.min_by_key(|(_, row)| {
        (!row.is_pending(), -i64::from(row.priority), row.created, row.number)
    });
    first.map(|(id, _)| id)
}

/// The same where the scheduler of these books is at hand: what waits is in its order there, and need not be gone through.
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

/// Since when an ask waits for the first check that it fails.
fn since(books: &Books, ask: AllocationId, chain: &Chain, checks: &[Check]) -> Option<Timestamp> {
    let first = checks.iter().find(|check| check.failed)?;
    let (blocker, since) = chain.parked?;
    let kind = blocker.row().kind;
    let same = blocker == first.blocker
        || kind == first.blocker.row().kind && matches!(kind, Kind::Node | Kind::Policy);
    same.then(|| since.max(books.allocation(ask).created))
}
