//! What tenants use, rebuilt from the audit alone, equals the ledger at every moment of random days.
//!
//! `HEADROOM_AUDIT_STEPS` says how many steps each of four days has; 400 if it is not set.

use std::collections::BTreeMap;

use headroom_core::books::{TaskRequest, TaskSettings};
use headroom_core::config::TenantSettings;
use headroom_core::config::tenant::OnLower;
use headroom_core::resource::Quantity;
use headroom_core::{
    AddNode, Ask, Command, Millis, Name, Submit, SubmitTask, TaskChange, Timestamp, view,
};
use serde_json::Value;

use headroom_core::testkit::amounts;

use crate::cluster::{START, default};
use crate::trail_scene::{Disks, Scene, by_ann, furniture, lines_of, quota, set};

const TENANTS: [&str; 3] = ["a", "b", "c"];

struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn vcores(&mut self, most: u64) -> i64 {
        1 + i64::try_from(self.below(most)).unwrap()
    }
}

fn submission(chance: &mut Chance, tenant: &str, task: &str) -> Command {
    let submit = Submit {
        partition: default(),
        application: Name::new(task),
        tenant: Name::new(tenant),
        user: Name::new("ann"),
        ..Submit::default()
    };
    let ask = Ask {
        partition: default(),
        application: Name::new(task),
        key: Name::new(task),
        resources: amounts([("vcore", chance.vcores(9) * 1_000)]),
        preemptable: true,
        ..Ask::default()
    };
    let settings = TaskSettings {
        members: u32::try_from(1 + chance.below(3)).unwrap(),
        requeue: chance.below(2) == 0,
        restarts: u32::try_from(chance.below(2)).unwrap(),
        max_wait: (chance.below(4) == 0).then(|| Millis::from_secs(20)),
        ..TaskSettings::default()
    };
    Command::SubmitTask(Box::new(SubmitTask { submit, ask, settings }))
}

fn command(chance: &mut Chance, tasks: &mut u64) -> Command {
    let tenant = TENANTS[usize::try_from(chance.below(3)).unwrap()];
    let task = Name::from(format!("t{}", chance.below(*tasks + 1)));
    let change = |change| Command::ChangeTask { partition: default(), task: task.clone(), change };
    let end = |succeeded| TaskChange::End { succeeded, request: TaskRequest::default() };
    match chance.below(20) {
        0..=6 => {
            *tasks += 1;
            submission(chance, tenant, &format!("t{tasks}"))
        }
        7 | 8 => change(TaskChange::Confirm),
        9 | 10 => change(end(true)),
        11 => change(end(false)),
        12 => change(TaskChange::Cancel),
        13 | 14 => {
            change(TaskChange::Resize { resources: amounts([("vcore", chance.vcores(9) * 1_000)]) })
        }
        15 => {
            let deadline = Some(Timestamp::from_millis(START.as_millis() + 90_000_000));
            let priority = Some(i32::try_from(chance.below(5)).unwrap());
            change(TaskChange::Rank { priority, deadline })
        }
        16 => change(TaskChange::Measure { resources: amounts([("vcore", 700)]) }),
        17 => {
            let on_lower = Some(OnLower::Preempt { grace: Millis::from_secs(1) });
            set(tenant, TenantSettings { on_lower, ..quota(chance.vcores(40)) })
        }
        18 => Command::RemoveNode { partition: default(), node: Name::new("n2") },
        _ => Command::AddNode(AddNode {
            partition: default(),
            node: Name::new("n2"),
            capacity: amounts([("vcore", 30_000)]),
            schedulable: true,
            ..AddNode::default()
        }),
    }
}

/// What runs by the audit: of each task and key the tenant and its vcores.
#[derive(Default)]
struct Ledger {
    runs: BTreeMap<(String, String), (String, i64)>,
    seen: BTreeMap<String, u64>,
}

impl Ledger {
    fn read(&mut self, record: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let kind = text(&record["type"]);
        *self.seen.entry(kind.clone()).or_default() += 1;
        let of = |said: &Value| (text(&record["task"]), text(&said["key"]));
        let vcores = |said: &Value| said["resources"]["vcore"].as_i64().unwrap_or_default();
        let (before, after) = (&record["before"], &record["after"]);
        match kind.as_str() {
            "TASK_STARTED" => {
                let runs = (text(&record["tenant"]), vcores(after));
                assert!(self.runs.insert(of(after), runs).is_none(), "it runs already: {record:#}");
            }
            "TASK_ENDED" => {
                assert!(before["key"].is_string() && record["reason"].is_string(), "{record:#}");
                assert!(before["resources"].is_object(), "{record:#}");
                if before["node"].is_string() {
                    let (_, held) = self.runs.remove(&of(before)).unwrap_or_else(|| {
                        panic!("it ended, and did not run: {record:#}");
                    });
                    assert_eq!(vcores(before), held, "{record:#}");
                }
            }
            "TASK_RESIZED" if after["node"].is_string() => {
                let runs = self.runs.get_mut(&of(after)).expect("what has a node runs");
                assert_eq!(runs.1, vcores(before), "{record:#}");
                runs.1 = vcores(after);
            }
            _ => {}
        }
    }

    fn used(&self, tenant: &str) -> i64 {
        self.runs.values().filter(|(of, _)| of == tenant).map(|(_, vcores)| vcores).sum()
    }
}

async fn day(seed: u64, steps: u64) -> BTreeMap<String, u64> {
    let disks = Disks::default();
    let scene = Scene::start(&disks, START, 1_000_000).unwrap();
    for command in furniture() {
        scene.accept(command).await;
    }
    for tenant in TENANTS {
        scene.accept(set(tenant, quota(30))).await;
    }
    let (mut chance, mut tasks, mut ledger) = (Chance(seed), 0, Ledger::default());
    let mut read = 0;
    for step in 0..steps {
        let command = command(&mut chance, &mut tasks);
        // Many are refused, which changes nothing.
        let _ = scene.handle.submit(by_ann(command.clone())).await.unwrap();
        scene.turn(Millis::new(chance.below(3_000))).await;
        let lines = lines_of(scene.handle.audit());
        for (_, _, line) in &lines[read..] {
            ledger.read(&serde_json::from_str(line).unwrap());
        }
        read = lines.len();
        let view = scene.handle.views().at_least(0).await;
        let partition = view.books.partition_named(&default()).unwrap();
        for tenant in TENANTS {
            let used = view::tenant_use(&view.books, partition, &Name::new(tenant)).unwrap().used;
            let used = used.get("vcore").map_or(0, Quantity::get);
            assert_eq!(ledger.used(tenant), used, "{tenant} at step {step} of {seed}: {command:?}");
        }
    }
    ledger.seen
}

#[tokio::test]
async fn what_is_used_follows_from_the_audit_alone() {
    let steps = std::env::var("HEADROOM_AUDIT_STEPS").ok().and_then(|text| text.parse().ok());
    let mut seen = BTreeMap::<String, u64>::new();
    for seed in 1..=4 {
        for (kind, count) in day(seed, steps.unwrap_or(400)).await {
            *seen.entry(kind).or_default() += count;
        }
    }
    for kind in [
        "TASK_STARTED",
        "TASK_ENDED",
        "TASK_EVICTED",
        "TASK_CANCELLED",
        "TASK_CONFIRMED",
        "TASK_MEASURED",
        "TASK_RESIZED",
        "TASK_RANKED",
    ] {
        assert!(seen.contains_key(kind), "{kind} never came: {seen:?}");
    }
}
