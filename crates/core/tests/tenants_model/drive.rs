//! The core and the model side by side: each command goes to both, and whatever comes of it is compared.

use std::collections::{BTreeMap, BTreeSet};

use headroom_core::books::{ApplicationState, TaskState};
use headroom_core::config::tenant::INSTANCES;
use headroom_core::explain::explain;
use headroom_core::id::{AllocationId, PartitionId, QueueId};
use headroom_core::testkit::World;
use headroom_core::view::{PredictedTask, leaf_of_tenant, predict_task, waiting};
use headroom_core::{
    AllocationEvent, ApplicationEvent, AskEvent, Command, Event, Millis, Name, PreemptionCause,
    Scheduler, Step, SubmitTask, TaskEvent, Timestamp, view,
};

use crate::model::{Lower, Model, State, amount};

/// When everything begins.
pub(crate) const START: u64 = 1_000_000;

/// How many of the tasks that ended last are looked at after each step.
const REMEMBERED: usize = 20;

/// Both, and how often what happened.
pub(crate) struct Pair {
    pub(crate) world: World,
    pub(crate) model: Model,
    pub(crate) counts: BTreeMap<String, u64>,
    pub(crate) partition: Name,
    /// How often each allocation was charged, less how often it was released.
    charged: BTreeMap<AllocationId, i32>,
    /// Since when somebody else could have gone: nothing is left to do once it is idle.
    idle: bool,
}

impl Pair {
    pub(crate) fn new(configure: &Command) -> Self {
        let mut world = World { now: Timestamp::from_millis(START), ..World::default() };
        world.command(configure).expect("the configuration is legal");
        let model = Model { now: START, ..Model::default() };
        let (counts, charged) = (BTreeMap::new(), BTreeMap::new());
        Self { world, model, counts, charged, partition: Name::new("default"), idle: true }
    }

    pub(crate) fn count(&mut self, what: impl Into<String>) {
        *self.counts.entry(what.into()).or_default() += 1;
    }

    /// Time goes on, and timers fire.
    pub(crate) fn sleep(&mut self, millis: u64) {
        self.model.now += millis;
        self.world.now = self.world.now + Millis::new(millis);
        self.send(&Command::Tick).expect("time passes");
        for (name, task) in self.model.tasks.clone() {
            if task.until.is_some_and(|until| until <= self.model.now) {
                match task.state {
                    State::Waiting => {
                        self.model.end(&name, State::Expired);
                        self.count("ended Expired");
                    }
                    _ => self.model.tasks.get_mut(&name).expect("it is there").until = None,
                }
            }
        }
    }

    /// Send a command to the core; what came of it, or the code of the refusal.
    pub(crate) fn send(&mut self, command: &Command) -> Result<Vec<Event>, &'static str> {
        self.idle = false;
        let events = self.world.command(command).map_err(|refusal| refusal.code().as_str())?;
        for event in &events {
            self.hear(event);
        }
        self.check_books();
        Ok(events)
    }

    fn check_books(&self) {
        self.world.books.check().unwrap_or_else(|wrong| panic!("{wrong}"));
    }

    /// Each allocation is charged once and released once. Source: tenants §5, I4.
    fn hear(&mut self, event: &Event) {
        let (id, by) = match event {
            Event::Ask(AskEvent::Placed { ask, .. }) => (*ask, 1),
            Event::Allocation(AllocationEvent::Released { allocation, .. }) => (*allocation, -1),
            _ => return,
        };
        let charged = self.charged.entry(id).or_default();
        *charged += by;
        assert!(matches!(charged, 0 | 1), "{id} is charged {charged} times after {event:?}");
        if *charged == 0 {
            self.charged.remove(&id);
        }
    }

    /// Lets the scheduler make at most this many steps. Each start must be the one that the model would choose in its
    /// tenant, and only the head can be overtaken.
    pub(crate) fn move_on(&mut self, most: usize) {
        for _ in 0..most {
            let mut events = Vec::new();
            let step = self.world.scheduler.next(&self.world.books, self.world.now, &mut events);
            if step != Step::Moved {
                assert!(events.is_empty());
                self.idle = true;
                return;
            }
            let mut overtaken = None;
            for event in &events {
                match event {
                    Event::Ask(AskEvent::Placed { ask, node }) => {
                        overtaken = self.start(*ask, *node);
                    }
                    Event::Application(ApplicationEvent::Overtaken { application, .. }) => {
                        let name = self.world.books.application(*application).name.to_string();
                        assert_eq!(Some(&name), overtaken.as_ref(), "who is overtaken");
                        let head = self.model.tasks.get_mut(&name).expect("it waits");
                        head.overtaken += 1;
                        overtaken = None;
                        self.count("overtaken");
                    }
                    Event::Task(TaskEvent::Throttled { .. }) => self.count("throttled"),
                    _ => {}
                }
                self.world.apply(event);
                self.hear(event);
            }
            assert_eq!(overtaken, None, "somebody is overtaken, and nobody says so");
            for event in &events {
                if let Event::Ask(AskEvent::Placed { ask, .. }) = event {
                    let placed = self.world.books.check_placed(*ask);
                    placed.unwrap_or_else(|wrong| panic!("{wrong}"));
                }
            }
            self.check_books();
        }
    }

    /// The core starts a task; whom that overtakes.
    fn start(&mut self, ask: AllocationId, node: headroom_core::id::NodeId) -> Option<String> {
        let books = &self.world.books;
        let name = books.application(books.allocation(ask).application).name.to_string();
        let node = books.node(node).name.to_string();
        let task = self.model.tasks.get(&name).expect("whatever starts is a task");
        let (tenant, size) = (task.tenant, task.whole());
        let short = self.model.short(tenant, &size);
        assert_eq!(short, [], "I1: {name} starts, and does not fit");
        assert!(self.model.nodes.contains(&node), "{node} is gone");
        let next = self.model.next(tenant);
        let Some((first, overtaken)) = next else {
            panic!("{name} starts, and nobody of {tenant} may")
        };
        assert_eq!(name, first, "who of {tenant} starts: {:#?}", self.model.line(tenant));
        self.model.place(&name, &node);
        let order = self.model.tenants[tenant].order;
        self.count(format!("started by {order:?}"));
        overtaken
    }

    /// What would become of a task, and what becomes of it on books that nobody else sees. Source: tenants TR-82.
    pub(crate) fn foresee(&mut self, command: &SubmitTask) {
        let World { books, scheduler, now, .. } = &self.world;
        if !self.idle || self.model.nodes.is_empty() {
            return;
        }
        let foreseen = predict_task(books, scheduler, *now, command).expect("it can be submitted");
        let mut then = World { books: books.clone(), now: *now, ..World::default() };
        then.scheduler = Scheduler::new(&then.books);
        let events = then.command(&Command::SubmitTask(Box::new(command.clone())));
        let events = events.expect("it is taken in or rejected");
        let name = &command.submit.application;
        let partition = then.books.partition_named(&self.partition).expect("it is there");
        // Before anything else moves: a task that becomes the first may let others go that the first before it
        // held up.
        let taken_in = then.books.task_named(partition, name);
        let at_once = taken_in.and_then(|id| view::place(&then.books, *now, id));
        then.settle();
        let id = then
            .books
            .task_named(partition, name)
            .filter(|id| then.books.task_state(*id) == Some(TaskState::Waiting));
        match (foreseen, id) {
            (PredictedTask::Declined { code, .. }, None) => {
                let rejected = events.iter().find_map(|event| match event {
                    Event::Application(ApplicationEvent::Rejected { code, .. }) => Some(code),
                    _ => None,
                });
                assert_eq!(rejected, Some(&code), "why {name} is declined");
                self.count("foreseen that it is declined");
            }
            (PredictedTask::Starts, None) => self.count("foreseen that it starts"),
            (PredictedTask::Waits { wait, ask, books }, Some(id)) => {
                let tenant = &command.submit.tenant;
                let leaf = leaf_of_tenant(&then.books, partition, tenant).expect("it has a leaf");
                let all = waiting(&then.books, *now, leaf);
                let place = all.iter().position(|one| one.application == id).expect("it waits");
                let foreseen = view::place(&books, *now, books.allocation(ask).application);
                assert_eq!(foreseen, at_once, "the place of {name}");
                if foreseen != Some((place + 1, all.len())) {
                    self.count("foreseen that it waits, and others went");
                    return;
                }
                let found = then.scheduler.wait_of(&then.books, all[place].ask);
                let found = found.expect("there are nodes").sentence(&then.books, all[place].ask);
                assert_eq!(wait.sentence(&books, ask), found, "why {name} waits");
                self.count("foreseen that it waits");
            }
            (other, id) => panic!("{name} waits: {}, foreseen was {other:?}", id.is_some()),
        }
    }

    /// Who of each tenant is to be stopped now is who the model would choose.
    pub(crate) fn scan(&mut self) {
        let partition = self.partition.clone();
        let command = Command::ScanQuotas { partition };
        let events = self.send(&command).expect("a scan is never refused");
        let mut all: Vec<(QueueId, Vec<String>)> = Vec::new();
        for event in &events {
            let Event::Allocation(AllocationEvent::Preempted {
                victim,
                cause: PreemptionCause::Quota(queue),
            }) = event
            else {
                continue;
            };
            let row = self.world.books.allocation(*victim);
            let name = self.world.books.application(row.application).name.to_string();
            match all.last_mut().filter(|(one, _)| one == queue) {
                Some((_, victims)) => victims.push(name),
                None => all.push((*queue, vec![name])),
            }
        }
        for (queue, victims) in all {
            let mark = self.world.books.queue(queue).settings.tenant.as_ref();
            let tenant = mark.expect("only tenants are lowered").tenant.clone();
            let (tenant, said) = self.model.tenants.get_key_value(&*tenant).expect("it is there");
            let Lower::Preempt(grace) = said.lower else { panic!("{tenant} stops nobody") };
            let due = said.lowered.is_some_and(|at| at + grace <= self.model.now);
            assert!(due, "{tenant} stops tasks too early at {}: {said:?}", self.model.now);
            let told: BTreeSet<String> = victims.into_iter().collect();
            assert_eq!(told, self.model.victims(tenant), "who of {tenant} is stopped");
            for name in told {
                let task = self.model.tasks.get_mut(&name).expect("it runs");
                task.stopping = true;
                if task.state != State::Cancelling {
                    task.state = State::Evicting;
                }
                self.count("evicted");
            }
        }
        self.forget_the_lowered();
    }

    /// A tenant that is now within its quota is not preempted for its earlier usage.
    fn forget_the_lowered(&mut self) {
        for tenant in self.model.tenants.keys().copied().collect::<Vec<_>>() {
            let used = self.model.used(tenant);
            let said = self.model.tenants.get_mut(tenant).expect("it is there");
            if said.quota.iter().all(|(one, limit)| amount(&used, one) <= *limit) {
                said.lowered = None;
            }
        }
    }

    /// Compare everything.
    pub(crate) fn compare(&mut self) {
        let settled = self.world.books.check_settled();
        settled.unwrap_or_else(|wrong| panic!("{wrong}"));
        let partition = self.world.books.partition_named(&self.partition).expect("it is there");
        self.compare_tasks(partition);
        for tenant in self.model.tenants.keys().copied().collect::<Vec<_>>() {
            self.compare_usage(partition, tenant);
            self.compare_line(partition, tenant);
            if self.idle {
                let next = self.model.next(tenant);
                assert_eq!(next, None, "I6: {tenant} has somebody who may start, and waits");
            }
        }
    }

    fn compare_tasks(&self, partition: PartitionId) {
        let books = &self.world.books;
        let state = |name: &str| {
            let id = books.task_named(partition, &Name::new(name));
            id.and_then(|id| books.task_state(id)).map(TaskState::as_str)
        };
        for (name, task) in &self.model.tasks {
            assert_eq!(state(name), Some(task.state.word()), "state of {name}: {task:?}");
        }
        for (name, how) in self.model.ended.iter().rev().take(REMEMBERED) {
            let found = state(name);
            assert!(found.is_none_or(|found| found == how.word()), "{name}: {found:?}, {how:?}");
        }
        let live = books.applications().iter().filter(|(id, one)| {
            let ended = matches!(books.task_state(*id), Some(TaskState::Ended(_)));
            one.task.is_some() && !ended
        });
        assert_eq!(live.count(), self.model.tasks.len(), "how many tasks there are");
    }

    /// I2, I3 and I5: what each tenant uses is the sum of what its tasks and those below have.
    fn compare_usage(&self, partition: PartitionId, tenant: &'static str) {
        let books = &self.world.books;
        let row = books.partition(partition);
        let root = &row.settings.tenants.as_ref().expect("there are tenants").root;
        let path = row.tenants.path_of(root, &Name::new(tenant)).expect("it is there");
        let queue = books.queue(*row.queues.get(&*path).expect("it has a queue"));
        let used = self.model.used(tenant);
        for one in ["vcore", "memory", "gpu", INSTANCES] {
            let lane = books.types().find(one);
            let found = lane.map_or(0, |lane| queue.allocated.get_or_zero(lane).get());
            assert_eq!(found, amount(&used, one), "what {tenant} uses of {one}");
            assert!(found >= 0, "{tenant} uses less than nothing of {one}");
        }
    }

    /// The order of those who wait, and why each does.
    fn compare_line(&self, partition: PartitionId, tenant: &'static str) {
        let books = &self.world.books;
        let leaf = leaf_of_tenant(books, partition, &Name::new(tenant)).expect("it has a leaf");
        let view = waiting(books, self.world.now, leaf);
        let name = |one: &view::WaitingView| books.application(one.application).name.to_string();
        let found: Vec<String> = view.iter().map(name).collect();
        let expected: Vec<String> = self.model.line(tenant).into_iter().cloned().collect();
        assert_eq!(found, expected, "the line of {tenant}");
        if !self.idle {
            return;
        }
        let head = self.model.head(tenant);
        for (one, name) in view.iter().zip(&found) {
            let wait = self.world.scheduler.wait_of(books, one.ask);
            let Some(wait) = wait else {
                assert!(self.model.nodes.is_empty(), "{name} waits for no reason");
                continue;
            };
            let reason = wait.tenant_reason(books, one.ask);
            let explained = explain(books, &self.world.scheduler, one.ask).expect("it waits");
            let first = explained.blocked_by().next().map(|check| check.code);
            let code = wait.code(books, one.ask);
            assert_eq!(first, Some(code), "{name} waits under one code");
            let code = code.as_str();
            match code {
                "IMPOSSIBLE" => {
                    let whole = self.model.tasks[name].whole();
                    assert!(!self.model.could_run(tenant, &whole), "{name} could run");
                }
                "TENANT_SUSPENDED" => assert!(self.model.suspended(tenant), "{name}: {code}"),
                "BEHIND_HEAD" | "HELD_FOR_HEAD" => {
                    assert_ne!(head, Some(name), "the head is behind nobody");
                    assert!(self.model.is_behind(name), "{name}: {code}");
                }
                "TENANT_QUOTA"
                | "TENANT_INSTANCES"
                | "ANCESTOR_QUOTA"
                | "OVER_QUOTA_AFTER_LOWERING" => {
                    let reason = reason.expect("it has a code");
                    let task = &self.model.tasks[name];
                    let (scope, said) =
                        self.model.tenants.get_key_value(&*reason.scope).expect("it is there");
                    let used = self.model.used(scope);
                    assert!(!reason.types.is_empty(), "{name}: {code} of nothing");
                    let whole = task.whole();
                    for short in &reason.types {
                        let one = short.resource.as_str();
                        let limit = said.quota.get(one).copied();
                        assert_eq!(Some(short.limit.get()), limit, "{name}: {one}");
                        assert_eq!(short.used.get(), amount(&used, one), "{name}: {one}");
                        assert_eq!(short.asked.get(), amount(&whole, one), "{name}: {one}");
                        let missing =
                            amount(&used, one) + amount(&whole, one) - limit.unwrap_or_default();
                        assert!(missing > 0 && short.short.get() == missing, "{name}: {short:?}");
                    }
                    if code == "ANCESTOR_QUOTA" {
                        assert!(*scope != tenant && self.model.path(tenant).contains(scope));
                    }
                }
                _ => panic!("{name} of {tenant} waits for {code}"),
            }
        }
    }

    /// At the end: the journal makes the same books, and what ends leaves nothing behind.
    pub(crate) fn finish(&mut self) {
        self.move_on(usize::MAX);
        self.compare();
        assert_eq!(self.world.replayed(), self.world.books, "the journal makes the same books");
        let books = &self.world.books;
        let all: Vec<Name> = books
            .applications()
            .iter()
            .filter(|(_, one)| one.state != ApplicationState::Completed)
            .map(|(_, one)| one.name.clone())
            .collect();
        for application in all {
            let partition = self.partition.clone();
            drop(self.send(&Command::RemoveApplication { partition, application }));
        }
        assert!(self.charged.is_empty(), "what was charged is released: {:?}", self.charged);
        for (_, queue) in self.world.books.queues().iter() {
            assert!(queue.allocated.is_empty(), "{} still uses {:?}", queue.path, queue.allocated);
        }
    }
}
