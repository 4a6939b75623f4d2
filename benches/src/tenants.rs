//! Tenants with tasks that wait, behind an engine with its journal on a disk: how soon a release starts the next,
//! and whether a tenant feels how many of another wait. Source: tenants TR-31, TR-61.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use headroom_core::books::TaskRequest;
use headroom_core::config::{
    Configuration, PartitionConfig, QueueConfig, TenantSettings, TenantsConfig,
};
use headroom_core::resource::Amounts;
use headroom_core::{
    AddNode, Ask, AskEvent, Command, Event, Name, SetTenant, Submit, SubmitTask, TaskChange, view,
};
use headroom_engine::{Follower, Handle, SNAPSHOT_EVERY};

use crate::durable::Served;

/// How many commands are sent at once while a benchmark is set up.
const AT_ONCE: usize = 10_000;

/// An engine with tenants.
#[derive(Debug)]
pub struct Tenants {
    served: Served,
    /// How many tasks of each tenant run at first, which is its quota.
    running: u64,
}

impl Tenants {
    /// So many tenants with a quota of `running` tasks, of which as many run and `waiting` more wait.
    ///
    /// # Panics
    /// When the engine cannot begin.
    pub fn start(folder: &Path, tenants: u64, running: u64, waiting: u64) -> Self {
        let started = Self { served: Served::start(folder, SNAPSHOT_EVERY), running };
        let nodes = (0..10).map(|number| {
            Command::AddNode(AddNode {
                partition: Name::new("default"),
                node: Name::from(format!("node-{number}")),
                capacity: vcore(1_000_000_000),
                schedulable: true,
                ..AddNode::default()
            })
        });
        let first = [Command::Configure(Box::new(configuration()))].into_iter().chain(nodes);
        started.served.send(first.collect());
        started.add(0..tenants, running);
        for tenant in 0..tenants {
            started.submit(tenant, running + waiting);
        }
        started
    }

    /// Tenants with a quota of so many tasks.
    pub fn add(&self, numbers: impl Iterator<Item = u64>, quota: u64) {
        let quota = i64::try_from(quota).expect("few tasks");
        let set = |number| {
            let settings =
                TenantSettings { quota: Some(vcore(quota * 100)), ..TenantSettings::default() };
            let (partition, tenant) = (Name::new("default"), tenant(number));
            Command::SetTenant(Box::new(SetTenant {
                partition,
                tenant,
                settings,
                ..SetTenant::default()
            }))
        };
        self.served.send(numbers.map(set).collect());
    }

    /// So many tasks of a tenant.
    pub fn submit(&self, of: u64, tasks: u64) {
        let commands: Vec<Command> = (0..tasks).map(|number| submission(of, number)).collect();
        for part in commands.chunks(AT_ONCE) {
            self.served.send(part.to_vec());
        }
    }

    /// One task of each of so many tenants ends, all at the same time or one after the other: how long each took
    /// until another task of its tenant had started, sorted.
    ///
    /// # Panics
    /// When one starts nobody.
    pub fn release(&self, tenants: u64, at_once: bool) -> Vec<Duration> {
        let running = self.running;
        self.served.run(async move |handle| {
            let mut starts = Starts::from_now(&handle);
            let (mut sent, mut times) = (BTreeMap::new(), Vec::new());
            for of in 0..tenants {
                let next = task(of, running);
                sent.insert(next.clone(), Instant::now());
                let answer = tokio::spawn(end(handle.clone(), task(of, 0)));
                if !at_once {
                    starts.until(&mut sent, &mut times).await;
                    answer.await.expect("no client fails");
                }
            }
            starts.until(&mut sent, &mut times).await;
            times.sort_unstable();
            times
        })
    }

    /// So many tasks of a tenant one after the other, each of which starts at once: how long each took until then,
    /// sorted.
    ///
    /// # Panics
    /// When one does not.
    pub fn starts(&self, of: u64, tasks: u64) -> Vec<Duration> {
        self.served.run(async move |handle| {
            let mut starts = Starts::from_now(&handle);
            let (mut sent, mut times) = (BTreeMap::new(), Vec::new());
            for number in 0..tasks {
                sent.insert(task(of, number), Instant::now());
                let answer = handle.submit(submission(of, number)).await;
                answer.expect("the engine runs").expect("a benchmark's commands are legal");
                starts.until(&mut sent, &mut times).await;
            }
            times.sort_unstable();
            times
        })
    }

    /// How many tasks of a tenant wait.
    ///
    /// # Panics
    /// When there is no such tenant.
    pub fn waiting(&self, of: u64) -> u64 {
        self.served.run(async move |handle| {
            let view = handle.views().at_least(0).await;
            let partition = view.books.partition_named("default").expect("it is there");
            view::tenant(&view.books, partition, &tenant(of)).expect("it is there").waiting
        })
    }

    /// A result counts only if the books balance.
    pub fn check(&self) {
        self.served.check();
    }
}

/// Follows what starts.
struct Starts(Follower);

impl Starts {
    fn from_now(handle: &Handle) -> Self {
        Self(handle.feed().follow(handle.feed().newest() + 1))
    }

    /// Wait until all that was sent has led to a start, and take down how long each took.
    async fn until(&mut self, sent: &mut BTreeMap<Name, Instant>, times: &mut Vec<Duration>) {
        while !sent.is_empty() {
            let entries =
                self.0.next().await.expect("all entries are retained").expect("the engine runs");
            let now = Instant::now();
            for entry in entries {
                let events = entry.record.events.iter().zip(&entry.named);
                for (_, named) in
                    events.filter(|(one, _)| matches!(one, Event::Ask(AskEvent::Placed { .. })))
                {
                    let begun = sent.remove(&named.key);
                    times.extend(begun.map(|begun| now.duration_since(begun)));
                }
            }
        }
    }
}

async fn end(handle: Handle, task: Name) {
    let change = TaskChange::End { succeeded: true, request: TaskRequest::default() };
    let command = Command::ChangeTask { partition: Name::new("default"), task, change };
    let answer = handle.submit(command).await;
    answer.expect("the engine runs").expect("a benchmark's commands are legal");
}

fn submission(of: u64, number: u64) -> Command {
    let (partition, application) = (Name::new("default"), task(of, number));
    let ask = Ask {
        partition: partition.clone(),
        application: application.clone(),
        key: application.clone(),
        resources: vcore(100),
        ..Ask::default()
    };
    let submit = Submit {
        partition,
        application,
        tenant: tenant(of),
        user: Name::new("user"),
        ..Submit::default()
    };
    Command::SubmitTask(Box::new(SubmitTask { submit, ask, ..SubmitTask::default() }))
}

fn tenant(number: u64) -> Name {
    Name::from(format!("tenant-{number}"))
}

fn task(of: u64, number: u64) -> Name {
    Name::from(format!("{of}-{number}"))
}

fn vcore(amount: i64) -> Amounts {
    Amounts::from([("vcore", amount)])
}

fn configuration() -> Configuration {
    let tenants =
        QueueConfig { name: Name::new("tenants"), parent: true, ..QueueConfig::default() };
    let root = QueueConfig {
        name: Name::new("root"),
        parent: true,
        children: vec![tenants],
        submit_acl: "*".into(),
        ..QueueConfig::default()
    };
    let mut partition = PartitionConfig::new("default", root);
    partition.tenants = Some(TenantsConfig::default());
    Configuration { partitions: vec![partition], ..Configuration::default() }
}
