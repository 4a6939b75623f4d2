//! Check results and wait history of an ask, for explanations.

use alloc::vec::Vec;

use crate::books::Books;
use crate::id::{AllocationId, PartitionId};
use crate::time::Timestamp;
use crate::wait::{Blocker, CheckResult, Kind, Row, Wait};

use super::Scheduler;
use super::checks::{Check, Checked, Position};
use super::class::{Class, ClassId, ClassKey};
use super::placement_mode::PlacementMode;
use super::replacement::blocker;
use super::wait_history::WaitChange;
use super::{fair_share, reserve};

/// Check results of one ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chain {
    /// Results in the order of the checks.
    pub(crate) checks: Vec<CheckResult>,
    /// Reason under which the ask is parked, and since when.
    pub(crate) parked: Option<(Blocker, Timestamp)>,
    /// Reasons since the ask was created, oldest first. Limited by what is stored.
    pub(crate) history: Vec<WaitChange>,
}

/// A waiting ask.
struct Waiting<'scheduler> {
    books: &'scheduler Books,
    scheduler: &'scheduler Scheduler,
    class: ClassId,
    row: &'scheduler Class,
    ask: AllocationId,
}

impl Scheduler {
    /// Returns why an ask waits. `None` if it was placed, or if it is ready to be checked.
    ///
    /// Costs the depth of its queue and a search of the nodes.
    pub fn wait_of(&self, books: &Books, ask: AllocationId) -> Option<Wait> {
        let checked = self.checked(books, ask)?;
        let (check, wait) = checked.first()?;
        // A ready ask is checked in the next step. Until then, it is not known whether it fails the later checks.
        let is_offered = !matches!(
            check,
            Check::Standstill
                | Check::QueueStates
                | Check::Possible
                | Check::Activation
                | Check::HeadOfLine
        );
        (!is_offered || !checked.position.is_ready()).then_some(wait)
    }

    /// Returns all check results of a waiting ask. `None` if the ask does not wait, or before the first step after a
    /// change of the rules.
    ///
    /// Costs the depth of its queue and the nodes.
    pub(crate) fn chain_of(&self, books: &Books, ask: AllocationId) -> Option<Chain> {
        let checked = self.checked(books, ask)?;
        let (checks, row) = (checked.all(), checked.position.row);
        let came = books.allocation(ask).created;
        let first = checks.iter().find(|one| one.failed).map(|one| one.blocker);
        // An ask in a stopped queue, or during recovery, is not checked and therefore not parked.
        let whole = first
            .and_then(|blocker| Some((blocker, self.marking.of(books, (blocker, row.key.leaf))?)));
        let parked = whole.map(|(blocker, mark)| (blocker, mark.at)).or(row.waited.since);
        let history = row.waited.marks.since(came, whole.map(|(_, mark)| mark));
        Some(Chain { checks, parked, history })
    }

    fn checked<'one>(
        &'one self,
        books: &'one Books,
        ask: AllocationId,
    ) -> Option<Checked<'one, Waiting<'one>>> {
        // After a change of the rules, everything is checked again.
        let class = self.class_of(books, ask)?;
        let row = self.classes.rows.get(class)?;
        let activating = row.key.waits().then(|| books.allocation(ask).application);
        let position = Waiting { books, scheduler: self, class, row, ask };
        Some(Checked { books, activating, key: row.key, position })
    }

    /// Checks whether the nodes have enough free capacity for the asks of a class that start together.
    fn any_node(&self, books: &Books, partition: PartitionId, key: ClassKey) -> CheckResult {
        if self.nodes[&partition].has_room_for(books, key.shape, key.members() as usize) {
            CheckResult::passed(Blocker::Nodes(partition))
        } else {
            CheckResult::failed(self.without_node(books, partition, key))
        }
    }

    /// Returns the blocker under which an ask is parked, as of its last check.
    #[cfg(feature = "testkit")]
    pub fn parked_under(&self, books: &Books, ask: AllocationId) -> Option<Blocker> {
        let class = self.class_of(books, ask)?;
        Some(self.classes.rows.get(class)?.wait?.blocker)
    }
}

impl Position for Waiting<'_> {
    const IS_PLACING: bool = false;

    fn in_line(&self) -> Option<CheckResult> {
        let blocker = Blocker::BehindHead(self.row.key.leaf, None);
        let behind = self.scheduler.behind_head(self.books, self.class, self.ask);
        let stands = self.row.key.is_checked_against_head();
        stands.then(|| behind.map_or_else(|| CheckResult::passed(blocker), CheckResult::failed))
    }

    fn gang(&self) -> Option<CheckResult> {
        let key = self.row.key;
        let gang = key.gang?;
        let found = self.row.wait.filter(|wait| matches!(wait.blocker, Blocker::BehindGang(..)));
        // Only an attempt to place a gang shows whether its different sizes fit together.
        let tried = || found.filter(|_| gang.places == 0);
        let wait = self.scheduler.wait_for_gang(self.books, key).or_else(tried)?;
        Some(CheckResult::failed(wait))
    }

    fn back_off(&self) -> Option<CheckResult> {
        let wait = self.row.wait.filter(|wait| matches!(wait.blocker, Blocker::BackOff(_)))?;
        Some(CheckResult::failed(wait))
    }

    fn manager(&self) -> Option<CheckResult> {
        // A class parked for a node was checked. A class parked for another reason can pass that check now.
        let busy = self.books.is_paused(self.partition()) && self.at_nodes().is_none();
        let blocker = Blocker::PartitionPaused(self.partition());
        busy.then(|| CheckResult::failed(Wait::of(blocker)))
    }

    fn node(&self, is_held: bool) -> Option<CheckResult> {
        let found = self.at_nodes().filter(|_| !is_held);
        found.map(|wait| CheckResult::failed(self.as_found(wait))).or_else(|| self.as_it_is())
    }
}

impl Waiting<'_> {
    fn partition(&self) -> PartitionId {
        self.books.queue(self.row.key.leaf).partition
    }

    /// Returns whether the class is ready: it is not parked, and its user can be picked.
    fn is_ready(&self) -> bool {
        let is_turn = || fair_share::wait_for_turn(self.books, self.row.key).is_none();
        self.row.wait.is_none() && !self.books.is_paused(self.partition()) && is_turn()
    }

    /// Returns the wait if the class is parked for a node. Whether it is impossible is a separate check.
    fn at_nodes(&self) -> Option<Wait> {
        let is_found = |row: &Row| row.kind == Kind::Node && !row.is_permanent;
        self.row.wait.filter(|wait| is_found(wait.blocker.row()))
    }

    /// Returns the wait of the last check with full details. The shortfall of nodes is computed only on request, and
    /// another check can fail since.
    fn as_found(&self, wait: Wait) -> Wait {
        let (books, key, scheduler) = (self.books, self.row.key, self.scheduler);
        let wait = if let PlacementMode::ReplacePlaceholderAlone(ask) = key.mode {
            Wait { blocker: blocker(books, &scheduler.places, ask), ..wait }
        } else {
            scheduler.as_refused(books, key, wait)
        };
        let wait = reserve::shown(books, key, wait);
        if let Blocker::Nodes(partition) = wait.blocker {
            return scheduler.without_node(books, partition, key);
        }
        wait
    }

    /// Returns whether a node is available now. `None` if only the next check of the class can determine it.
    fn as_it_is(&self) -> Option<CheckResult> {
        let (books, key, partition) = (self.books, self.row.key, self.partition());
        let ask = books.shapes().on_node(key.shape);
        let any = || self.scheduler.any_node(books, partition, key);
        match key.mode {
            PlacementMode::ReplacePlaceholder(..) | PlacementMode::ReplacePlaceholderAlone(_) => {
                None
            }
            PlacementMode::RequiredNodeAbsent(_) => {
                Some(CheckResult::of(Blocker::NodeAbsent(partition), true, None))
            }
            PlacementMode::RequiredNode(node) => {
                let row = books.node(node);
                let (large, roomy) = (row.could_hold(ask), row.available.fits(ask));
                Some(if large {
                    CheckResult::of(Blocker::RequiredNode(node), !roomy, None)
                } else {
                    CheckResult::of(Blocker::RequiredNodeSize(node), true, None)
                })
            }
            PlacementMode::AnyNode
            | PlacementMode::MayPreempt(_)
            | PlacementMode::AllOrNothing(_) => Some(any()),
            PlacementMode::NeedsVerdict(one) | PlacementMode::ReservedNode(one) => {
                let row = books.allocation(one);
                if row.required_node().is_some() {
                    return None;
                }
                let reserved = row.reservation().map(|one| books.node(one.node));
                let roomy = reserved.is_some_and(|node| node.available.fits(ask));
                Some(if roomy { CheckResult::passed(Blocker::Nodes(partition)) } else { any() })
            }
        }
    }
}
