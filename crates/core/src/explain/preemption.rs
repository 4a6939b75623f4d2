//! What preemption would do for an ask that waits, and why it does nothing. No-starvation NS-42.
//!
//! The plan is the one that the scheduler would carry out: it is made by the same function, on the same books.

use core::fmt;

use crate::books::Books;
use crate::schedule::preempt::{self, Obstacle, Outcome, VictimPlan};
use crate::time::Timestamp;
use crate::wait::Blocker;

use super::{Explanation, Verdict};

/// What preemption would do for an ask at some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreemptionOutlook {
    /// When the ask is old enough for the first try.
    pub from: Timestamp,
    /// The last try that found nothing, for this ask or for an equal one.
    pub tried: Option<Timestamp>,
    /// What a try would find.
    pub found: PreemptionFound,
}

/// What a try would find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PreemptionFound {
    /// It was found already: allocations are being stopped for the ask.
    Pending,
    /// These would be stopped. Where preemption is only observed, they would be reported.
    Stops(VictimPlan),
    /// The RM would be asked about this many nodes first.
    AsksManager(usize),
    /// Nothing, for this reason.
    Nothing(PreemptionBarrier),
}

/// Why nothing is stopped for an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreemptionBarrier {
    /// Preemption is off in the partition.
    Off,
    /// Members that start together preempt nothing.
    SeveralMembers,
    /// The ask first waits for something that no victim has.
    OtherReason(Blocker),
    /// A try finds nothing.
    Obstacle(Obstacle),
}

impl fmt::Display for PreemptionFound {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pending => out.write_str("allocations are being preempted for the ask"),
            Self::Stops(plan) => match plan.victims.len() {
                1 => out.write_str("1 allocation would be preempted for the ask"),
                count => write!(out, "{count} allocations would be preempted for the ask"),
            },
            Self::AsksManager(nodes) => write!(
                out,
                "the resource manager would be asked which of {nodes} nodes the ask can use after \
                 preemption"
            ),
            Self::Nothing(barrier) => barrier.fmt(out),
        }
    }
}

impl fmt::Display for PreemptionBarrier {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => out.write_str(
                "nothing is preempted for the ask: `preemption.enabled` of its partition is false",
            ),
            Self::SeveralMembers => out.write_str(
                "nothing is preempted for the ask: the members of a task that start together \
                 preempt nothing",
            ),
            Self::OtherReason(_) => out.write_str(
                "nothing is preempted for the ask now: preempted allocations would not lift its \
                 first wait reason",
            ),
            Self::Obstacle(obstacle) => obstacle.fmt(out),
        }
    }
}

/// What preemption would do for an ask that is explained; none where others are never stopped for it, and where nothing
/// has to be.
///
/// Costs what a try costs, and changes nothing.
pub fn preemption(
    books: &Books,
    explanation: &Explanation,
    now: Timestamp,
) -> Option<PreemptionOutlook> {
    let ask = explanation.ask;
    let row = books.allocations().get(ask).filter(|row| row.is_pending())?;
    let is_possible = explanation.verdict != Verdict::Impossible;
    // Members of a task never may; others of its tenant do.
    let may = row.may_preempt || books.members_of(row.application) > 1;
    if !may || row.required_node().is_some() || !is_possible {
        return None;
    }
    let leaf = books.application(row.application).queue;
    let mut ancestors = books.up(leaf);
    let has_guarantee =
        ancestors.any(|(_, queue)| queue.guaranteed.as_ref().is_some_and(|all| !all.is_empty()));
    if !has_guarantee && !preempt::can_preempt(books, row) {
        return None; // Nothing entitles the ask to what others use.
    }
    let first = explanation.blocked_by().next()?.blocker;
    let found = if row.preemption_triggered {
        PreemptionFound::Pending
    } else {
        found(books, explanation, first, now)
    };
    Some(PreemptionOutlook {
        from: preempt::ripe_at(books, leaf, row),
        tried: books.last_try(ask).map(|tried| tried.at),
        found,
    })
}

fn found(
    books: &Books,
    explanation: &Explanation,
    first: Blocker,
    now: Timestamp,
) -> PreemptionFound {
    use PreemptionBarrier::{Off, OtherReason, SeveralMembers};
    let ask = explanation.ask;
    let row = books.allocation(ask);
    let partition = books.application(row.application).partition;
    let barrier = if !books.partition(partition).settings.preemption.enabled {
        Off
    } else if books.members_of(row.application) > 1 {
        SeveralMembers
    } else if !preempt::can_preempt(books, row) {
        PreemptionBarrier::Obstacle(Obstacle::NoGuarantee)
    } else if !preempt::helps_against(first) {
        OtherReason(first)
    } else {
        let nodes_tried = preempt::is_for_nodes(first);
        return match preempt::plan(books, ask, now, nodes_tried).outcome {
            Ok(Outcome::Stop(plan)) => PreemptionFound::Stops(plan),
            Ok(Outcome::Ask(removals)) => PreemptionFound::AsksManager(removals.len()),
            Err(obstacle) => PreemptionFound::Nothing(PreemptionBarrier::Obstacle(obstacle)),
        };
    };
    PreemptionFound::Nothing(barrier)
}
