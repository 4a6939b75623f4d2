//! Prediction of preemption for a waiting ask, and the reason why nothing is preempted. Source: no-starvation NS-42.
//!
//! The scheduler would execute the same plan: it comes from the same function and the same books.

use core::fmt;

use crate::books::Books;
use crate::schedule::preempt::{self, Obstacle, Outcome, VictimPlan};
use crate::time::Timestamp;
use crate::wait::Blocker;

use super::{Explanation, Verdict};

/// Prediction of preemption for an ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreemptionOutlook {
    /// Time of the earliest attempt.
    pub from: Timestamp,
    /// Time of the last failed attempt, for this ask or an equal one.
    pub tried: Option<Timestamp>,
    /// Result of an attempt.
    pub found: PreemptionFound,
}

/// Result of a preemption attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PreemptionFound {
    /// Allocations are already being stopped for the ask.
    Pending,
    /// These allocations would be stopped. In observation mode, they would only be reported.
    Stops(VictimPlan),
    /// The RM would be asked about this number of nodes first.
    AsksManager(usize),
    /// Nothing is preempted for this reason.
    Nothing(PreemptionBarrier),
}

/// Reason why nothing is preempted for an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreemptionBarrier {
    /// Preemption is disabled in the partition.
    Off,
    /// Members that start together never preempt.
    SeveralMembers,
    /// The ask first fails another check, which preemption cannot change.
    OtherReason(Blocker),
    /// An attempt fails.
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

/// Returns the prediction of preemption for an explained ask. `None` if the ask never preempts, or if preemption is not
/// necessary.
///
/// Costs as much as an attempt, and changes nothing.
pub fn preemption(
    books: &Books,
    explanation: &Explanation,
    now: Timestamp,
) -> Option<PreemptionOutlook> {
    let ask = explanation.ask;
    let row = books.allocations().get(ask).filter(|row| row.is_pending())?;
    let is_possible = explanation.verdict != Verdict::Impossible;
    // Members of a task never preempt, but other tasks of the tenant do.
    let may = row.may_preempt || books.members_of(row.application) > 1;
    if !may || row.required_node().is_some() || !is_possible {
        return None;
    }
    let leaf = books.application(row.application).queue;
    if !preempt::has_claim(books, leaf) {
        return None;
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
