//! One check with its figures.

use alloc::vec;
use alloc::vec::Vec;

use crate::books::Books;
use crate::id::{AllocationId, LevelId, PartitionId, QueueId};
use crate::resource::{Quantity, Resources};
use crate::schedule::Before;
use crate::wait::{Blocker, CheckResult, Compared, Wait, WaitCode};

use super::amount::{self, Amount};
use super::holder::{self, Holder};
use super::node::Nodes;

/// One check of an ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Bound that is checked. [`Blocker::code`] and [`Blocker::subject`] return the code and the scope.
    pub blocker: Blocker,
    /// The code of the check.
    pub code: WaitCode,
    /// Whether the check failed.
    pub failed: bool,
    /// Both sides: of a failed check, for each type that is short; of a passed check, for each compared type.
    pub amounts: Vec<Amount>,
    /// Largest users of the types that are short, largest first. If other asks precede, the next of them. Empty in
    /// [`Explainer::checks`](super::Explainer::checks), except for the next ask.
    pub holders: Vec<Holder>,
    /// Number of nodes by reason. `None` if the check is not about nodes.
    pub nodes: Option<Nodes>,
    /// Wait of a failed check, as the scheduler reports it.
    pub wait: Option<Wait>,
}

impl Check {
    /// Creates a check with its figures, without holders. `None` if nothing is limited, so that nothing is compared.
    pub(super) fn of(books: &Books, ask: AllocationId, looked: CheckResult) -> Option<Self> {
        let CheckResult { blocker, failed, .. } = looked;
        let mut amounts = amounts(books, ask, looked)?;
        amount::short_only(&mut amounts, failed);
        let holders = Vec::new();
        let nodes = Nodes::of(books, ask, blocker);
        let code = Wait::of(blocker).code(books, ask);
        Some(Self { blocker, code, failed, amounts, holders, nodes, wait: looked.wait() })
    }

    /// Adds the largest users of the types that are short. Costs the applications of the partition.
    pub(super) fn add_holders(&mut self, books: &Books) {
        // No release helps an impossible ask.
        if self.failed && !self.blocker.row().is_permanent {
            self.holders.extend(holder::of(books, self.blocker, &self.amounts));
        }
    }

    /// Creates the failed check that other asks precede. The next ask is the holder.
    pub(super) fn of_order(books: &Books, ask: AllocationId, before: Before) -> Self {
        let wait = Wait::of(Blocker::Order(before.queue, before.by));
        let holder = before.first.map(|ask| Holder {
            application: books.allocation(ask).application,
            used: Resources::new(),
        });
        Self {
            blocker: wait.blocker,
            code: wait.code(books, ask),
            failed: true,
            amounts: Vec::new(),
            holders: holder.into_iter().collect(),
            nodes: None,
            wait: Some(wait),
        }
    }
}

/// Returns both sides of a check. `None` without a bound.
fn amounts(books: &Books, ask: AllocationId, looked: CheckResult) -> Option<Vec<Amount>> {
    // Queues and users are charged for everything that starts together.
    let asked = &*books.total_request(ask);
    match looked.blocker.compared() {
        Compared::Nothing => Some(Vec::new()),
        Compared::Queue(queue) => {
            let row = books.queue(queue);
            Some(amount::compared_amounts(row.max.as_ref()?, &row.allocated, asked))
        }
        Compared::Limit(partition, level) => {
            let level = books.partition(partition).trackers.level(level);
            Some(amount::compared_amounts(level.max()?, &level.used(), asked))
        }
        Compared::RunningIn(_)
        | Compared::RunningAt(..)
        | Compared::ActivatedIn(_)
        | Compared::ActivatedOf(..) => {
            count(books, ask, looked.blocker.compared()).map(|one| vec![one])
        }
        Compared::Cap(partition, level) => Some(cap(books, asked, (partition, level), looked)),
        Compared::Share(partition, level) => {
            let used = books.partition(partition).trackers.level(level).used();
            Some(worked_out(looked, &used))
        }
        Compared::DriversIn(leaf) => {
            let used = books.drivers_of(leaf).map(|one| one.used.clone());
            Some(worked_out(looked, &used.unwrap_or_default()))
        }
        Compared::DriversOf(partition, level) => {
            let level = books.partition(partition).trackers.level(level);
            let user = &books.application(books.allocation(ask).application).user;
            let drivers = books.drivers_of(level.queue).and_then(|leaf| leaf.user(user));
            Some(worked_out(looked, &drivers.map(|one| one.used.clone()).unwrap_or_default()))
        }
        Compared::LeftByHead(_) => Some(worked_out(looked, &Resources::new())),
        Compared::Free(node) => {
            let row = books.node(node);
            Some(amount::on_node(&row.capacity, &row.available, books.node_request(ask)))
        }
        Compared::Size(node) => {
            let row = books.node(node);
            let free = row.capacity.minus(&row.occupied);
            Some(amount::on_node(&row.capacity, &free, books.node_request(ask)))
        }
        Compared::MostFree(_) => {
            let most = looked.shortfall.map(|short| Amount {
                resource: Some(short.resource),
                limit: short.available.max(Quantity::ZERO),
                used: Quantity::ZERO,
                asked: short.needed,
            });
            Some(most.into_iter().collect())
        }
    }
}

/// Returns the sides of a bound that the scheduler computed.
fn worked_out(looked: CheckResult, used: &Resources) -> Vec<Amount> {
    let of = |short| Amount::of_shortfall(short, used.get_or_zero(short.resource));
    looked.shortfall.map(of).into_iter().collect()
}

/// Returns the sides of the user cap of a leaf.
fn cap(
    books: &Books,
    asked: &Resources,
    (partition, level): (PartitionId, LevelId),
    looked: CheckResult,
) -> Vec<Amount> {
    let leaf = books.partition(partition).trackers.level(level).queue;
    let users = books.users_of(leaf);
    let Some((users, user)) = users.and_then(|users| Some((users, users.user(level)?))) else {
        return Vec::new();
    };
    let counted = users.normalised(asked);
    let amounts =
        amount::compared_amounts(&users.cap(user.weight, &counted), &user.used(), &counted);
    let explains = !looked.failed || amounts.iter().any(|one| one.short() > Quantity::ZERO);
    // If types are compared by shares, it is possible that no single type is short.
    if explains { amounts } else { worked_out(looked, &user.used()) }
}

/// Returns the number of applications and its limit. `None` if they are not counted or not limited.
fn count(books: &Books, ask: AllocationId, compared: Compared) -> Option<Amount> {
    let some = |used, limit| (limit > 0).then(|| Amount::count(used, limit));
    let counts = |queue: QueueId| books.queue(queue).settings.application_limits.as_ref();
    match compared {
        Compared::RunningIn(queue) => {
            let row = books.queue(queue);
            some(row.running + row.allocating, row.settings.max_applications)
        }
        Compared::RunningAt(partition, level) => {
            let level = books.partition(partition).trackers.level(level);
            some(level.running, level.max_applications())
        }
        Compared::ActivatedIn(queue) => {
            let max = counts(queue)?.max_parallel?;
            Some(Amount::count(books.queue(queue).activated, max))
        }
        Compared::ActivatedOf(partition, level) => {
            let queue = books.partition(partition).trackers.level(level).queue;
            let user = &books.application(books.allocation(ask).application).user;
            let max = counts(queue)?.parallel_of(user)?;
            Some(Amount::count(books.activated_of(partition, user), max))
        }
        Compared::Nothing
        | Compared::Queue(_)
        | Compared::Limit(..)
        | Compared::Cap(..)
        | Compared::Share(..)
        | Compared::DriversIn(_)
        | Compared::DriversOf(..)
        | Compared::LeftByHead(_)
        | Compared::Free(_)
        | Compared::Size(_)
        | Compared::MostFree(_) => None,
    }
}
