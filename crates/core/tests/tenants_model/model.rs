//! A model of tenants §1, §7, and §8 in plain maps: the usage, the state of each task, the order of the waiting
//! tasks, and which can start. It uses nothing of the core, and computes each answer from scratch.

use std::collections::{BTreeMap, BTreeSet};

/// Amounts by type.
pub(crate) type Sizes = BTreeMap<&'static str, i64>;

/// In which order the tasks of a tenant start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Order {
    Fifo,
    Backfill,
    Priority,
    Urgency,
}

/// What becomes of tasks when a quota is lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lower {
    Block,
    /// Stopped after so many milliseconds.
    Preempt(u64),
    Refuse,
}

/// Settings of a tenant.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) parent: Option<&'static str>,
    pub(crate) quota: Sizes,
    pub(crate) order: Order,
    pub(crate) overtakes: u32,
    pub(crate) max_waiting: Option<u64>,
    pub(crate) lower: Lower,
    pub(crate) park: bool,
    pub(crate) suspended: bool,
    /// Since when its quota is below what it uses, where tasks are stopped for that.
    pub(crate) lowered: Option<u64>,
}

/// After how long, in milliseconds, a task counts as more urgent, by how much, and by how much at most.
pub(crate) const AGING: (u64, u32, u32) = (20_000, 1, 5);
/// How long the head of a line may be overtaken.
pub(crate) const HEAD_WAIT: u64 = 120_000;
/// How much time has a task that does not say until when it is to be done.
const SLACK: u64 = 3_600_000;

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    Waiting,
    Starting,
    Running,
    Cancelling,
    Evicting,
    Succeeded,
    Failed,
    Cancelled,
    Evicted,
    Expired,
}

impl State {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Waiting => "WAITING",
            Self::Starting => "STARTING",
            Self::Running => "RUNNING",
            Self::Cancelling => "CANCELLING",
            Self::Evicting => "EVICTING",
            Self::Succeeded => "SUCCEEDED",
            Self::Failed => "FAILED",
            Self::Cancelled => "CANCELLED",
            Self::Evicted => "EVICTED",
            Self::Expired => "EXPIRED",
        }
    }

    /// Whether it is charged.
    pub(crate) const fn holds(self) -> bool {
        matches!(self, Self::Starting | Self::Running | Self::Cancelling | Self::Evicting)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) tenant: &'static str,
    /// What each member needs, `instances` included.
    pub(crate) each: Sizes,
    pub(crate) members: usize,
    pub(crate) priority: i32,
    pub(crate) submitted: u64,
    /// Counts submissions.
    pub(crate) number: u64,
    /// Counts asks: a task that asks again is younger than others of the same time.
    pub(crate) asked: u64,
    pub(crate) deadline: Option<u64>,
    pub(crate) estimate: u64,
    pub(crate) restarts: u32,
    pub(crate) requeue: bool,
    /// Until when it may wait.
    pub(crate) until: Option<u64>,
    pub(crate) state: State,
    /// Whether it was asked to stop for a quota.
    pub(crate) stopping: bool,
    pub(crate) overtaken: u32,
    /// Where its members are.
    pub(crate) nodes: Vec<String>,
}

impl Task {
    pub(crate) fn whole(&self) -> Sizes {
        let members = i64::try_from(self.members).expect("few");
        self.each.iter().map(|(one, amount)| (*one, amount * members)).collect()
    }
}

/// What runs for a tenant and is no task: it came with a node.
#[derive(Clone, Debug)]
pub(crate) struct Stray {
    pub(crate) tenant: &'static str,
    pub(crate) size: Sizes,
    pub(crate) node: String,
}

#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) now: u64,
    pub(crate) tenants: BTreeMap<&'static str, Said>,
    /// Those that have not ended.
    pub(crate) tasks: BTreeMap<String, Task>,
    /// Those that have, the newest last.
    pub(crate) ended: Vec<(String, State)>,
    pub(crate) strays: BTreeMap<String, Stray>,
    pub(crate) nodes: BTreeSet<String>,
    pub(crate) numbers: u64,
}

impl Model {
    pub(crate) const fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// A tenant and those above it.
    pub(crate) fn path(&self, tenant: &'static str) -> Vec<&'static str> {
        let parent = |one: &&'static str| self.tenants[one].parent;
        std::iter::successors(Some(tenant), parent).collect()
    }

    /// What a tenant uses, with those below it.
    pub(crate) fn used(&self, tenant: &'static str) -> Sizes {
        let tasks = self.tasks.values().filter(|task| task.state.holds());
        let tasks = tasks.map(|task| (task.tenant, task.whole()));
        let strays = self.strays.values().map(|stray| (stray.tenant, stray.size.clone()));
        let mut used = Sizes::new();
        for (whose, size) in tasks.chain(strays) {
            if self.path(whose).contains(&tenant) {
                for (one, amount) in size {
                    *used.entry(one).or_default() += amount;
                }
            }
        }
        used
    }

    /// The types of which a tenant on the way up has too little left for this, with the tenant.
    pub(crate) fn short(
        &self,
        tenant: &'static str,
        more: &Sizes,
    ) -> Vec<(&'static str, &'static str)> {
        let mut short = Vec::new();
        for one in self.path(tenant) {
            let used = self.used(one);
            for (resource, limit) in &self.tenants[one].quota {
                let asked = amount(more, resource);
                if asked > 0 && amount(&used, resource) + asked > *limit {
                    short.push((one, *resource));
                }
            }
        }
        short
    }

    /// Whether this could run if nothing else did.
    pub(crate) fn could_run(&self, tenant: &'static str, size: &Sizes) -> bool {
        let above = self.path(tenant);
        let mut quotas = above.iter().flat_map(|one| &self.tenants[one].quota);
        quotas.all(|(resource, limit)| amount(size, resource) <= *limit)
    }

    pub(crate) fn suspended(&self, tenant: &'static str) -> bool {
        self.path(tenant).iter().any(|one| self.tenants[one].suspended)
    }

    /// What waits of a tenant, in its order.
    pub(crate) fn line(&self, tenant: &'static str) -> Vec<&String> {
        let key = |task: &Task| {
            let waited = self.now - task.submitted;
            let first = match self.tenants[tenant].order {
                Order::Fifo | Order::Backfill => 0,
                Order::Priority => {
                    let (interval, step, most) = AGING;
                    let grown = (waited / interval * u64::from(step)).min(u64::from(most));
                    -(i64::from(task.priority) + i64::try_from(grown).expect("small"))
                }
                Order::Urgency => {
                    let at = task
                        .deadline
                        .map_or(task.submitted + SLACK, |at| at.saturating_sub(task.estimate));
                    i64::try_from(at).expect("small")
                }
            };
            (first, task.number)
        };
        let waits = |task: &Task| task.tenant == tenant && task.state == State::Waiting;
        let mut line: Vec<_> = self.tasks.iter().filter(|(_, task)| waits(task)).collect();
        line.sort_by_key(|(_, task)| key(task));
        line.into_iter().map(|(name, _)| name).collect()
    }

    /// The head of the line of a tenant: the first that could ever run.
    pub(crate) fn head(&self, tenant: &'static str) -> Option<&String> {
        let mut line = self.line(tenant).into_iter();
        line.find(|name| self.could_run(tenant, &self.tasks[*name].whole()))
    }

    /// Whether a task behind the head takes room that the head needs in some quota.
    fn takes(&self, head: &Task, task: &Task) -> bool {
        let (needs, wants) = (head.whole(), task.whole());
        self.path(task.tenant).into_iter().any(|one| {
            let used = self.used(one);
            self.tenants[one].quota.iter().any(|(resource, limit)| {
                let (need, want) = (amount(&needs, resource), amount(&wants, resource));
                need > 0 && want > 0 && amount(&used, resource) + need + want > *limit
            })
        })
    }

    /// Whether the head of its line may not be overtaken by those who take its room.
    fn is_held_for(&self, head: &Task) -> bool {
        let said = &self.tenants[head.tenant];
        said.order == Order::Fifo
            || head.overtaken >= said.overtakes
            || self.now - head.submitted >= HEAD_WAIT
    }

    /// Returns whether a waiting task has to wait for the head of its line.
    pub(crate) fn is_behind(&self, name: &str) -> bool {
        let task = &self.tasks[name];
        let Some(head) = self.head(task.tenant) else { return false };
        let before = self.line(task.tenant).into_iter().take_while(|one| *one != name);
        let is_after = before.into_iter().any(|one| one == head);
        let head = &self.tasks[head];
        is_after && self.takes(head, task) && self.is_held_for(head)
    }

    /// Who of a tenant starts next, and whom that overtakes; none if nobody may.
    pub(crate) fn next(&self, tenant: &'static str) -> Option<(String, Option<String>)> {
        if self.suspended(tenant) || self.nodes.is_empty() {
            return None;
        }
        let head = self.head(tenant);
        let mut behind = false;
        for name in self.line(tenant) {
            let task = &self.tasks[name];
            let first = head.filter(|_| behind).map(|head| &self.tasks[head]);
            let takes = first.filter(|first| self.takes(first, task));
            behind |= head == Some(name);
            if takes.is_some_and(|first| self.is_held_for(first))
                || !self.short(tenant, &task.whole()).is_empty()
            {
                continue;
            }
            return Some((name.clone(), head.filter(|_| takes.is_some()).cloned()));
        }
        None
    }

    /// All tasks of one tenant that are to stop for its quota. Source: tenants §7.
    pub(crate) fn victims(&self, tenant: &'static str) -> BTreeSet<String> {
        let mut left = self.used(tenant);
        let mut may_go = Vec::new();
        for (name, task) in self.tasks.iter().filter(|(_, task)| task.state.holds()) {
            if !self.path(task.tenant).contains(&tenant) {
                continue;
            }
            if task.stopping {
                take(&mut left, &task.whole());
            } else {
                may_go.push((task.priority, std::cmp::Reverse((task.submitted, task.asked)), name));
            }
        }
        may_go.sort();
        let quota = &self.tenants[tenant].quota;
        let over = |left: &Sizes| -> Sizes {
            let over = quota.iter().map(|(one, limit)| (*one, amount(left, one) - limit));
            over.filter(|(_, over)| *over > 0).collect()
        };
        let mut picked = Vec::new();
        for (_, _, name) in may_go {
            let size = self.tasks[name].whole();
            if over(&left).keys().any(|one| amount(&size, one) > 0) {
                take(&mut left, &size);
                picked.push(name);
            }
        }
        let rest = over(&left);
        let mut stay = BTreeSet::new();
        for name in picked.iter().rev() {
            let mut without = left.clone();
            for (one, amount) in self.tasks[*name].whole() {
                *without.entry(one).or_default() += amount;
            }
            if over(&without) == rest {
                left = without;
                stay.insert(*name);
            }
        }
        picked.into_iter().filter(|name| !stay.contains(name)).cloned().collect()
    }

    /// A task has ended.
    pub(crate) fn end(&mut self, name: &str, state: State) {
        self.tasks.remove(name).expect("it has not ended");
        self.ended.push((name.to_owned(), state));
    }

    /// A task waits again.
    pub(crate) fn wait_again(&mut self, name: &str) {
        let asked = self.number();
        let task = self.tasks.get_mut(name).expect("it is there");
        task.state = State::Waiting;
        task.stopping = false;
        task.nodes.clear();
        task.asked = asked;
    }

    /// A member of a task has a node.
    pub(crate) fn place(&mut self, name: &str, node: &str) {
        let task = self.tasks.get_mut(name).expect("it is there");
        task.nodes.push(node.to_owned());
        task.overtaken = 0;
        if task.nodes.len() == task.members {
            task.state = State::Starting;
        }
    }
}

pub(crate) fn amount(sizes: &Sizes, one: &str) -> i64 {
    sizes.get(one).copied().unwrap_or_default()
}

fn take(from: &mut Sizes, size: &Sizes) {
    for (one, amount) in size {
        *from.entry(one).or_default() -= amount;
    }
}
