//! Gangs for which others are stopped: benchmarks, B9.

use std::time::{Duration, Instant};

use headroom_core::config::{Configuration, QueueConfig};
use headroom_core::id::{AllocationId, NodeId};
use headroom_core::resource::{Amounts, Resources};
use headroom_core::{
    AddNode, AllocationEvent, Ask, AskEvent, Command, Event, Millis, Name, Step, Submit,
    Termination, Timestamp,
};

use crate::cluster::Cluster;

const NODES: u64 = 1_000;
const GANGS: u64 = 200;
const MEMBERS: u64 = 64;
/// GPUs of a member; a node has eight.
const MEMBER: i64 = 4;

/// The cluster, and what was seen.
#[derive(Debug)]
pub struct Rush {
    cluster: Cluster,
    /// How long each step took that asked for somebody to be stopped.
    pub plans: Vec<Duration>,
    /// How many the RM was asked to stop.
    pub victims: usize,
    /// How many of these could have stayed.
    pub useless: usize,
    stopping: Vec<AllocationId>,
}

impl Rush {
    /// 1,000 nodes of eight GPUs, all in use by allocations of one, two and four GPUs of a queue
    /// that is guaranteed a tenth; and 200 gangs of 64 members of four GPUs each, whose queue is
    /// guaranteed the rest, which is enough for 28 of them.
    pub fn of_gangs() -> Self {
        let cluster = Cluster { now: Timestamp::from_millis(1_000), ..Cluster::default() };
        let (plans, stopping) = (Vec::new(), Vec::new());
        let mut rush = Self { cluster, plans, victims: 0, useless: 0, stopping };
        rush.command(&Command::Configure(Box::new(configuration())));
        for node in 0..NODES {
            rush.command(&Command::AddNode(AddNode {
                partition: Name::new("default"),
                node: node_name(node),
                capacity: Amounts::from([("gpu", 8), ("vcore", 64)]),
                schedulable: true,
                ..AddNode::default()
            }));
        }
        rush.submit("low", "root.low", Amounts::EMPTY);
        for node in 0..NODES {
            for (part, gpus) in [1, 2, 4, 1].into_iter().enumerate() {
                rush.command(&Command::Ask(Ask {
                    key: Name::from(format!("low-{node}-{part}")),
                    node: Some(node_name(node)),
                    preemptable: part % 2 == 0,
                    created: Some(Timestamp::from_millis(node % 97)),
                    ..ask("low", gpus)
                }));
            }
        }
        for gang in 0..GANGS {
            let name = format!("gang-{gang}");
            let all = i64::try_from(MEMBERS).unwrap_or(i64::MAX);
            rush.submit(&name, "root.high", Amounts::from([("gpu", all * MEMBER), ("vcore", all)]));
            for member in 0..MEMBERS {
                rush.command(&Command::Ask(Ask {
                    key: Name::from(format!("{name}-{member}")),
                    placeholder: true,
                    task_group: Name::new("members"),
                    may_preempt: true,
                    ..ask(&name, MEMBER)
                }));
            }
        }
        rush.cluster.now = Timestamp::from_millis(100_000);
        rush
    }

    /// Let the scheduler move, have the RM stop what it was asked to, and so on until nobody is
    /// stopped any more.
    pub fn run(&mut self) {
        loop {
            self.settle();
            let stopping = core::mem::take(&mut self.stopping);
            if stopping.is_empty() {
                break;
            }
            for victim in stopping {
                let row = self.cluster.books.allocation(victim);
                let application = self.cluster.books.application(row.application).name.clone();
                let key = Some(row.key.clone());
                self.command(&Command::Release {
                    partition: Name::new("default"),
                    application,
                    key,
                    termination: Termination::Preempted,
                });
            }
            self.cluster.now = self.cluster.now + Millis::from_secs(15);
        }
    }

    fn settle(&mut self) {
        let mut events = Vec::new();
        loop {
            let Cluster { books, scheduler, now } = &mut self.cluster;
            let start = Instant::now();
            let step = scheduler.next(books, *now, &mut events);
            let took = start.elapsed();
            if step != Step::Moved {
                return;
            }
            self.look(&events, took);
            let Cluster { books, scheduler, now } = &mut self.cluster;
            for event in events.drain(..) {
                scheduler.apply(books, *now, &event);
            }
        }
    }

    /// Note a step that has somebody stopped.
    fn look(&mut self, events: &[Event], took: Duration) {
        let victims: Vec<AllocationId> = events
            .iter()
            .filter_map(|event| match event {
                Event::Allocation(AllocationEvent::Preempted { victim, .. }) => Some(*victim),
                _ => None,
            })
            .collect();
        let triggered = events.iter().find_map(|event| match event {
            Event::Ask(AskEvent::PreemptionTriggered { ask }) => Some(*ask),
            _ => None,
        });
        let Some(ask) = triggered else { return };
        self.plans.push(took);
        self.victims += victims.len();
        self.useless += victims.iter().filter(|one| !self.is_needed(ask, &victims, **one)).count();
        self.stopping.extend(victims);
    }

    /// Whether the ask would not fit the node if this one stayed.
    fn is_needed(&self, ask: AllocationId, victims: &[AllocationId], one: AllocationId) -> bool {
        let books = &self.cluster.books;
        let node: NodeId = books.allocation(one).node.expect("a victim runs on a node");
        let mut free: Resources = books.node(node).available.clone();
        let going = self.stopping.iter().chain(victims).filter(|id| **id != one);
        for id in going {
            if books.allocation(*id).node == Some(node) {
                free.add(books.resources_of(*id));
            }
        }
        !free.fits(books.resources_of(ask))
    }

    /// Gangs that run.
    ///
    /// # Panics
    /// When the books do not balance.
    pub fn gangs_that_run(&self) -> usize {
        self.cluster.books.check().expect("the books balance");
        let all = self.cluster.books.applications().iter();
        let gangs = all.filter(|(_, row)| row.gang.as_ref().is_some_and(|gang| gang.is_complete()));
        gangs.count()
    }

    fn submit(&mut self, name: &str, queue: &str, placeholder_ask: Amounts) {
        self.command(&Command::Submit(Submit {
            partition: Name::new("default"),
            application: Name::new(name),
            queue: Name::new(queue),
            user: Name::new("ann"),
            placeholder_ask,
            ..Submit::default()
        }));
    }

    fn command(&mut self, command: &Command) {
        self.cluster.command(command);
    }
}

fn ask(application: &str, gpus: i64) -> Ask {
    Ask {
        partition: Name::new("default"),
        application: Name::new(application),
        resources: Amounts::from([("gpu", gpus), ("vcore", 1)]),
        ..Ask::default()
    }
}

fn node_name(number: u64) -> Name {
    Name::from(format!("node-{number:04}"))
}

fn configuration() -> Configuration {
    let leaf = |name: &str, gpus: i64| QueueConfig {
        name: Name::new(name),
        guaranteed: Amounts::from([("gpu", gpus)]),
        ..QueueConfig::default()
    };
    let root = QueueConfig {
        name: Name::new("root"),
        parent: true,
        children: vec![leaf("low", 800), leaf("high", 7_200)],
        submit_acl: "*".into(),
        ..QueueConfig::default()
    };
    let partitions = vec![crate::partition(root)];
    Configuration { partitions, ..Configuration::default() }
}
