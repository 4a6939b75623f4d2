//! All checks that an ask goes through, in their order, as it would go through them now.
//!
//! The scheduler stops at the first that fails. Whoever asks why wants to know the others, too: these
//! are the same functions, and none of them is left out. Decision page 32.

use alloc::vec::Vec;

use crate::books::Books;
use crate::explain::{Kind, kind};
use crate::id::{AllocationId, PartitionId};
use crate::rules::activation;
use crate::time::Timestamp;
use crate::userlimit::Enforcement;
use crate::wait::{Blocker, Looked, Wait, standstill};

use super::class::{ClassId, ClassKey, Standing};
use super::lane::Lane;
use super::marks::Mark;
use super::{Scheduler, judge, questions, turns};

/// The checks of one ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chain {
    /// In order.
    pub(crate) checks: Vec<Looked>,
    /// What it waits for and since when, as it was parked.
    pub(crate) parked: Option<(Blocker, Timestamp)>,
    /// What it waited for since it came, the oldest first, as far as that is kept.
    pub(crate) history: Vec<Mark>,
}

impl Scheduler {
    /// The checks of an ask that waits; none while the rules are new, and where none waits.
    ///
    /// Costs the depth of its queue, and the nodes.
    pub(crate) fn chain_of(&self, books: &Books, ask: AllocationId) -> Option<Chain> {
        let class = self.class_of(books, ask)?;
        let row = self.classes.rows.get(class)?;
        let (key, stop) = (row.key, self.wait_of(books, ask));
        let partition = books.queue(key.leaf).partition;
        let still = standstill(books, partition);
        let failed = |blocker| Looked::failed(Wait { blocker, shortfall: None });
        let mut checks: Vec<Looked> = still.map(failed).into_iter().collect();
        checks.extend(super::waits::states(books, key.leaf));
        if key.waits() {
            checks.extend(activation::checks(books, books.allocation(ask).application));
        }
        checks.extend(self.place_in_line(books, class, ask));
        let backs_off = row.wait.filter(|wait| matches!(wait.blocker, Blocker::BackOff(_)));
        let question = question(books, key);
        if let Some(wait) = backs_off {
            // It is not asked about before the pause is over.
            checks.extend(numbers(books, key));
            checks.push(Looked::failed(wait));
            checks.extend(question);
        } else {
            checks.extend(question);
            checks.extend(numbers(books, key));
        }
        checks.extend(amounts(books, key));
        checks.extend(turn(books, key));
        checks.extend(stop.filter(|wait| is_busy(*wait)).map(Looked::failed));
        if !matches!(still, Some(Blocker::NoNodes(_))) {
            let stop = stop.filter(|wait| kind(wait.blocker) == Kind::Node);
            checks.extend(self.node(books, key, stop));
        }
        let came = books.allocation(ask).created;
        let first = checks.iter().find(|one| one.failed).map(|one| one.blocker);
        // Who waits for a queue that is shut, or for nodes to report, is not looked at, and so not put aside.
        let whole = first.and_then(|blocker| Some((blocker, self.marking.of(books, blocker)?)));
        let parked = whole.map(|(blocker, mark)| (blocker, mark.at)).or(row.waited.since);
        let history = row.waited.marks.since(came, whole.map(|(_, mark)| mark));
        Some(Chain { checks, parked, history })
    }

    /// Whether it is behind the head of its line, if it stands in one.
    fn place_in_line(&self, books: &Books, class: ClassId, ask: AllocationId) -> Option<Looked> {
        let key = self.classes.rows[class].key;
        let blocker = Blocker::BehindHead(key.leaf, None);
        let behind = self.behind_head(books, class, ask);
        let stands = key.is_judged_in_line();
        stands.then(|| behind.map_or_else(|| Looked::passed(blocker), Looked::failed))
    }

    /// Whether there is a node for it; what the scheduler found, where it came as far as that.
    fn node(&self, books: &Books, key: ClassKey, stop: Option<Wait>) -> Option<Looked> {
        if let Some(wait) = stop {
            return Some(Looked::failed(wait));
        }
        let (partition, ask) = (books.queue(key.leaf).partition, books.shapes().on_node(key.shape));
        match key.lane {
            Lane::Swap(..) | Lane::PinnedSwap(_) => None,
            Lane::Absent(_) => Some(Looked::of(Blocker::NodeAbsent(partition), true, None)),
            Lane::Pinned(node) => {
                let row = books.node(node);
                let (large, roomy) = (row.could_hold(ask), row.available.fits(ask));
                Some(if large {
                    Looked::of(Blocker::RequiredNode(node), !roomy, None)
                } else {
                    Looked::of(Blocker::RequiredNodeSize(node), true, None)
                })
            }
            Lane::Open | Lane::Calling(_) | Lane::Whole(_) => {
                Some(self.any_node(books, partition, key))
            }
            Lane::Asking(one) | Lane::Kept(one) => {
                let row = books.allocation(one);
                if row.required_node().is_some() {
                    return None; // Whether it may have that is found out once it comes as far.
                }
                let kept = row.reservation().map(|kept| books.node(kept.node));
                let roomy = kept.is_some_and(|node| node.available.fits(ask));
                let any = || self.any_node(books, partition, key);
                Some(if roomy { Looked::passed(Blocker::Nodes(partition)) } else { any() })
            }
        }
    }

    /// Whether nodes have room for a class, for all of it that starts together.
    fn any_node(&self, books: &Books, partition: PartitionId, key: ClassKey) -> Looked {
        if self.nodes[&partition].has_room_for(books, key.shape, key.members() as usize) {
            Looked::passed(Blocker::Nodes(partition))
        } else {
            Looked::failed(self.without_node(books, partition, key))
        }
    }

    /// The check under which an ask was put aside, as it was when it was last judged.
    #[cfg(feature = "testkit")]
    pub fn parked_under(&self, books: &Books, ask: AllocationId) -> Option<Blocker> {
        let class = self.class_of(books, ask)?;
        Some(self.classes.rows.get(class)?.wait?.blocker)
    }
}

/// Whether it is the turn of its user, where that is waited for.
fn turn(books: &Books, key: ClassKey) -> Option<Looked> {
    let (level, users) = (key.sharer()?, books.users_of(key.leaf)?);
    if users.rules().enforcement == Enforcement::Progress {
        return None;
    }
    let blocker = Blocker::UserShare(books.queue(key.leaf).partition, level);
    let held_back = turns::held_back(books, key);
    Some(held_back.map_or_else(|| Looked::passed(blocker), Looked::failed))
}

/// Whether the RM has answered what it was asked about an ask, where it answers.
fn question(books: &Books, key: ClassKey) -> Option<Looked> {
    let (Lane::Asking(ask) | Lane::Kept(ask) | Lane::PinnedSwap(ask)) = key.lane else {
        return None;
    };
    let awaits = questions::awaits_rm(books, ask);
    let asks = books.asks_about_nodes(books.queue(key.leaf).partition);
    asks.then(|| Looked::of(Blocker::AwaitingRm(ask), awaits, None))
}

/// How many applications may run; nothing where it counts already.
fn numbers(books: &Books, key: ClassKey) -> Vec<Looked> {
    let Standing::Linked { link, counts_in_queues, counts_in_limits, .. } = key.standing else {
        return Vec::new();
    };
    if key.lane.is_swap() {
        return Vec::new();
    }
    let mut checks = Vec::new();
    if counts_in_queues {
        checks.extend(judge::numbers_of_queues(books, key.leaf));
        checks.reverse();
    }
    if counts_in_limits {
        let partition = books.queue(key.leaf).partition;
        checks.extend(judge::numbers_of_limits(books, partition, link));
    }
    checks
}

/// What its user, his group and its queues may use; of the queues alone before it is known which group counts.
fn amounts(books: &Books, key: ClassKey) -> Vec<Looked> {
    if key.lane.is_swap() {
        return Vec::new();
    }
    let (leaf, ask) = (key.leaf, key.needs(books));
    let ask = &*ask;
    let mut checks = Vec::new();
    if let Standing::Linked { link, .. } = key.standing {
        let partition = books.queue(leaf).partition;
        checks.extend(judge::amounts_of_limits(books, partition, link, ask));
        checks.extend(turns::cap_of(books, leaf, link, ask));
    }
    checks.extend(judge::amounts_of_queues(books, leaf, ask));
    checks
}

const fn is_busy(wait: Wait) -> bool {
    matches!(wait.blocker, Blocker::RmBusy(_))
}
