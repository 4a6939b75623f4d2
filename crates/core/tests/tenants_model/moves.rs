//! Random commands, and what the model says comes of each.

use std::collections::BTreeMap;

use headroom_core::books::TaskSettings;
use headroom_core::config::TenantsConfig;
use headroom_core::config::tenant::INSTANCES;
use headroom_core::resource::{Amounts, Quantity};
use headroom_core::testkit::{parent, partition};
use headroom_core::{
    ApplicationEvent, Ask, Command, Event, Millis, Name, Submit, SubmitTask, TaskChange, Timestamp,
};

use crate::dice::Dice;
use crate::drive::Pair;
use crate::model::{Order, Sizes, State, Task, amount};

mod nodes;
mod tenants;

/// The tenants, each below another or none: three levels.
const TENANTS: [(&str, Option<&str>); 7] = [
    ("dept", None),
    ("lab", Some("dept")),
    ("team", Some("dept")),
    ("ann", Some("team")),
    ("bob", Some("team")),
    ("solo", None),
    ("free", None),
];
const NODES: [&str; 3] = ["n1", "n2", "n3"];
const ORDERS: [Order; 4] = [Order::Fifo, Order::Backfill, Order::Priority, Order::Urgency];
/// More live tasks than that make steps slow.
const LIVE_MAX: usize = 45;

/// Play so many steps; how often what happened. The chance of the seed decides.
///
/// # Panics
/// When the core and the model differ.
#[expect(clippy::print_stderr, reason = "the step that differs is worth knowing")]
pub(crate) fn play(seed: u64, steps: u64) -> BTreeMap<String, u64> {
    let mut root = partition(parent("root", vec![parent("tenants", Vec::new())]));
    root.partitions[0].tenants = Some(TenantsConfig::default());
    let pair = Pair::new(&Command::Configure(Box::new(root)));
    let mut player = Player { pair, dice: Dice::new(seed), names: 0 };
    for node in NODES {
        player.add_node(node);
    }
    for (tenant, above) in TENANTS {
        let said = player.say(above);
        player.set_tenant(tenant, said);
    }
    for step in 0..steps {
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            player.step();
            let most = if player.dice.one_in(6) { 1 } else { usize::MAX };
            player.pair.move_on(most);
            player.pair.compare();
        }));
        if let Err(failure) = outcome {
            eprintln!("HEADROOM_SEED={seed}, step {step}");
            std::panic::resume_unwind(failure);
        }
    }
    player.pair.finish();
    player.pair.counts
}

struct Player {
    pair: Pair,
    dice: Dice,
    names: u64,
}

impl Player {
    fn step(&mut self) {
        match self.dice.below(100) {
            0..30 => self.submit(),
            30..44 => self.end(true),
            44..51 => self.end(false),
            51..58 => self.confirm(),
            58..63 => self.cancel(),
            63..69 => self.resize(),
            69..73 => self.rank(),
            73..81 => self.change(),
            81..82 => self.lower(),
            82..83 => self.lose_node(),
            83..84 => self.node_back(),
            84..86 => self.stray(),
            86..89 => self.stray_ends(),
            89..93 => self.pair.scan(),
            _ => {
                let span =
                    if self.dice.one_in(60) { 80 * 3_600_000 } else { self.dice.below(15_000) };
                self.pair.sleep(span);
            }
        }
    }

    fn name(&mut self, kind: &str) -> String {
        self.names += 1;
        format!("{kind}{}", self.names)
    }

    fn tenant(&mut self) -> &'static str {
        let (tenant, _) = self.dice.of(&TENANTS).expect("there are some");
        tenant
    }

    fn size(&mut self) -> Sizes {
        let mut size = Sizes::from([(INSTANCES, 1)]);
        let large = if self.dice.one_in(5) { 8 } else { 3 };
        match self.dice.below(8) {
            0 => drop(size.insert("gpu", 1 + to_i64(self.dice.below(2)))),
            1 => drop(size.insert("memory", 1 + to_i64(self.dice.below(large)))),
            2..5 => {
                size.insert("vcore", 1 + to_i64(self.dice.below(large)));
                size.insert("memory", 1 + to_i64(self.dice.below(large)));
            }
            _ => drop(size.insert("vcore", 1 + to_i64(self.dice.below(large)))),
        }
        size
    }

    /// A task of any state, known or not.
    fn some_task(&mut self) -> Option<String> {
        if self.dice.one_in(40) {
            let ended: Vec<_> = self.pair.model.ended.iter().rev().take(3).collect();
            return self.dice.of(&ended).map(|(name, _)| name.clone());
        }
        let all: Vec<String> = self.pair.model.tasks.keys().cloned().collect();
        self.dice.of(&all)
    }

    fn task_in(&mut self, is: impl Fn(State) -> bool) -> Option<String> {
        if self.dice.one_in(10) {
            return self.some_task();
        }
        let tasks = self.pair.model.tasks.iter().filter(|(_, task)| is(task.state));
        let all: Vec<String> = tasks.map(|(name, _)| name.clone()).collect();
        self.dice.of(&all)
    }

    fn submit(&mut self) {
        if self.pair.model.tasks.len() >= LIVE_MAX {
            return self.end(true);
        }
        if !self.dice.one_in(10) {
            self.pair.sleep(1);
        }
        let (tenant, each, name) = (self.tenant(), self.size(), self.name("t"));
        let now = self.pair.model.now;
        let until = self.dice.one_in(6).then(|| 1 + self.dice.below(60_000));
        let deadline = self.dice.one_in(2).then(|| now / 1_000 + 1 + self.dice.below(7_200));
        let estimate = if deadline.is_some() { 1 + self.dice.below(600) } else { 0 };
        let priority = i32::try_from(self.dice.below(7)).expect("small") - 3;
        let (number, asked) = (self.pair.model.number(), self.pair.model.number());
        let task = Task {
            tenant,
            each,
            members: 1,
            priority,
            submitted: now,
            number,
            asked,
            deadline: deadline.map(|at| at * 1_000),
            estimate: estimate * 1_000,
            restarts: u32::try_from(self.dice.below(8).saturating_sub(5)).expect("small"),
            requeue: self.dice.one_in(2),
            until: until.map(|until| now + until),
            state: State::Waiting,
            stopping: false,
            overtaken: 0,
            nodes: Vec::new(),
        };
        let said = &self.pair.model.tenants[tenant];
        let waits = to_i64(self.pair.model.line(tenant).len() as u64);
        let full = said.max_waiting.is_some_and(|most| waits >= to_i64(most));
        let oversized = !said.park && !self.pair.model.could_run(tenant, &task.whole());
        let rejected = match (full, oversized) {
            (true, _) => Some("WAITING_LIST_FULL"),
            (_, true) => Some("EXCEEDS_QUOTA_ALWAYS"),
            _ => None,
        };
        let command = submission(&self.pair.partition, &name, &task);
        self.pair.foresee(&command);
        let events = self.pair.send(&Command::SubmitTask(Box::new(command)));
        let events = events.expect("it is taken in or rejected");
        let found = events.iter().find_map(|event| match event {
            Event::Application(ApplicationEvent::Rejected { code, .. }) => Some(code.to_string()),
            _ => None,
        });
        assert_eq!(found.as_deref(), rejected, "whether {name} is rejected: {task:?}");
        match rejected {
            Some(code) => self.pair.count(format!("rejected {code}")),
            None => drop(self.pair.model.tasks.insert(name, task)),
        }
    }

    /// Send a change of a task, and compare whether it is refused.
    fn send(&mut self, task: &str, change: TaskChange, refused: Option<&str>) -> bool {
        let (partition, name) = (self.pair.partition.clone(), Name::new(task));
        let said = format!("{change:?}");
        let outcome = self.pair.send(&Command::ChangeTask { partition, task: name, change });
        let code = outcome.err();
        let known = self.pair.model.tasks.get(task);
        assert_eq!(code, refused, "{said} of {task}: {known:?}");
        if let Some(code) = code {
            self.pair.count(format!("refused {code}"));
        }
        code.is_none()
    }

    /// Why a task cannot be changed in this state; it may be known no more.
    fn state_of(&self, name: &str) -> Option<State> {
        self.pair.model.tasks.get(name).map(|task| task.state)
    }

    fn end(&mut self, succeeded: bool) {
        let Some(name) = self.task_in(State::holds) else { return };
        let Some(state) = self.state_of(&name) else { return self.end_again(&name, succeeded) };
        let refused = (!state.holds()).then_some("TASK_STATE");
        let request = headroom_core::books::TaskRequest::default();
        if !self.send(&name, TaskChange::End { succeeded, request }, refused) {
            return;
        }
        let task = self.pair.model.tasks.get_mut(&name).expect("it is there");
        let how = match state {
            State::Cancelling => State::Cancelled,
            _ if succeeded => State::Succeeded,
            State::Evicting if task.requeue => {
                self.pair.count("requeued");
                return self.pair.model.wait_again(&name);
            }
            State::Evicting => State::Evicted,
            _ if task.restarts > 0 => {
                task.restarts -= 1;
                self.pair.count("restarted");
                return self.pair.model.wait_again(&name);
            }
            _ => State::Failed,
        };
        self.pair.model.end(&name, how);
        self.pair.count(format!("ended {how:?}"));
    }

    /// The end of one that has ended is refused, as long as it is remembered.
    fn end_again(&mut self, name: &str, succeeded: bool) {
        let partition = self.pair.partition.clone();
        let request = headroom_core::books::TaskRequest::default();
        let change = TaskChange::End { succeeded, request };
        let again = Command::ChangeTask { partition, task: Name::new(name), change };
        let code = self.pair.send(&again).expect_err("it has ended");
        assert!(matches!(code, "TASK_STATE" | "UNKNOWN_TASK"), "{code}");
        self.pair.count(format!("refused {code}"));
    }

    fn confirm(&mut self) {
        let Some(name) = self.task_in(|state| state == State::Starting) else { return };
        let Some(state) = self.state_of(&name) else { return };
        let refused = (!state.holds()).then_some("TASK_STATE");
        if self.send(&name, TaskChange::Confirm, refused) && state == State::Starting {
            self.pair.model.tasks.get_mut(&name).expect("it is there").state = State::Running;
        }
    }

    fn cancel(&mut self) {
        let Some(name) = self.some_task() else { return };
        let Some(state) = self.state_of(&name) else { return };
        self.send(&name, TaskChange::Cancel, None);
        if state == State::Waiting {
            self.pair.model.end(&name, State::Cancelled);
            self.pair.count("ended Cancelled");
        } else {
            self.pair.model.tasks.get_mut(&name).expect("it is there").state = State::Cancelling;
        }
    }

    fn resize(&mut self) {
        let Some(name) = self.some_task() else { return };
        let Some(task) = self.pair.model.tasks.get(&name).cloned() else { return };
        let mut each = task.each.clone();
        for (one, amount) in &mut each {
            if *one != INSTANCES {
                *amount = (*amount + to_i64(self.dice.below(5)) - 2).max(1);
            }
        }
        let new = Task { each: each.clone(), ..task.clone() };
        let model = &self.pair.model;
        let (before, after) = (task.whole(), new.whole());
        let more: Sizes =
            after.iter().map(|(one, after)| (*one, after - amount(&before, one))).collect();
        let refused = match task.state {
            State::Cancelling | State::Evicting => Some("TASK_STATE"),
            _ if !model.tenants[task.tenant].park && !model.could_run(task.tenant, &after) => {
                Some("EXCEEDS_QUOTA_ALWAYS")
            }
            State::Starting | State::Running if !model.short(task.tenant, &more).is_empty() => {
                Some("QUOTA")
            }
            _ => None,
        };
        let resources = asked_for(&each);
        if self.send(&name, TaskChange::Resize { resources }, refused) {
            let waits = task.state == State::Waiting;
            self.pair.model.tasks.insert(name, new);
            self.pair.count(if waits { "resized what waits" } else { "resized what runs" });
        }
    }

    fn rank(&mut self) {
        let Some(name) = self.task_in(|state| state == State::Waiting) else { return };
        let Some(state) = self.state_of(&name) else { return };
        let priority = i32::try_from(self.dice.below(9)).expect("small") - 4;
        let priority = (!self.dice.one_in(3)).then_some(priority);
        let deadline = self.pair.model.now + self.dice.below(7_200_000);
        let deadline = self.dice.one_in(2).then_some(deadline);
        let refused = (state != State::Waiting).then_some("TASK_STATE");
        let change = TaskChange::Rank { priority, deadline: deadline.map(Timestamp::from_millis) };
        if !self.send(&name, change, refused) {
            return;
        }
        let asked = self.pair.model.number();
        let task = self.pair.model.tasks.get_mut(&name).expect("it is there");
        if let Some(priority) = priority.filter(|priority| *priority != task.priority) {
            (task.priority, task.asked) = (priority, asked);
        }
        task.deadline = deadline.or(task.deadline);
        self.pair.count("ranked");
    }
}

/// The command that submits a task.
fn submission(partition: &Name, name: &str, task: &Task) -> SubmitTask {
    let ask = Ask {
        partition: partition.clone(),
        application: Name::new(name),
        key: Name::new(name),
        resources: asked_for(&task.each),
        priority: task.priority,
        preemptable: true,
        ..Ask::default()
    };
    let tag = |key: &str, millis: u64| (Name::new(key), Name::from((millis / 1_000).to_string()));
    let deadline = task.deadline.map(|at| tag("headroom/deadline", at));
    let estimate = deadline.is_some().then(|| tag("headroom/estimate", task.estimate));
    let submit = Submit {
        partition: partition.clone(),
        application: Name::new(name),
        tenant: Name::new(task.tenant),
        user: Name::new("somebody"),
        tags: deadline.into_iter().chain(estimate).collect(),
        ..Submit::default()
    };
    let settings = TaskSettings {
        members: u32::try_from(task.members).expect("a few members"),
        requeue: task.requeue,
        restarts: task.restarts,
        max_wait: task.until.map(|until| Millis::new(until - task.submitted)),
        ..TaskSettings::default()
    };
    SubmitTask { submit, ask, settings }
}

/// What an ask names: all but the type that counts tasks.
fn asked_for(size: &Sizes) -> Amounts {
    let mut amounts = Amounts::EMPTY;
    for (one, amount) in size.iter().filter(|(one, _)| **one != INSTANCES) {
        amounts.set(*one, Quantity::of(*amount));
    }
    amounts
}

fn to_i64(number: u64) -> i64 {
    i64::try_from(number).expect("small")
}
