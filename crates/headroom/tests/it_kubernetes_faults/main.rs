//! `headroom kubernetes` under load, killed at random moments, with the API server restarted and etcd stopped.
//!
//! The audit log of the API server shows afterwards what was bound and deleted, and when. The test needs
//! `HEADROOM_KUBERNETES`, and is skipped without it. `HEADROOM_KILLS` is the number of kills, `HEADROOM_SEED` the seed.
#![allow(clippy::print_stdout, reason = "counts of a long test")]
#![allow(clippy::unwrap_used, reason = "tests")]

mod audit;
mod load;
mod scheduler;
#[path = "../../../kubernetes/tests/support/tools.rs"]
mod tools;

use std::path::Path;
use std::time::{Duration, Instant};

use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

use crate::load::{Client, Load};
use crate::scheduler::Scheduler;
use crate::tools::{Running, TOOLS};

/// Kills without `HEADROOM_KILLS`.
const KILLS: u64 = 8;
/// Kills between two restarts of the API server.
const KILLS_PER_RESTART: u64 = 25;
/// Time within which everything that can run must run.
const SETTLED_WITHIN: Duration = Duration::from_mins(2);

/// Limits of namespaces, in thousandths of a core.
const QUOTAS: [(&str, u64); 3] = [("f-a", 2_000), ("f-b", 3_000), ("f-c", 6_000)];
/// Limits of users, in thousandths of a core.
const LIMITS: [(&str, u64); 2] = [("ann", 3_000), ("bob", 5_000)];

const QUEUES: &str = "
partitions:
  - name: default
    placementrules: [{name: tag, value: namespace, create: true}]
    queues:
      - name: root
        submitacl: '*'
        limits:
          - {limit: ann, users: [ann], maxresources: {vcore: 3}}
          - {limit: bob, users: [bob], maxresources: {vcore: 5}}
";

const POLICY: &str = r#"
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- level: RequestResponse
  verbs: [create, delete]
  resources: [{group: "", resources: [pods, pods/binding]}]
- level: None
"#;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

#[test]
fn no_pod_is_bound_twice_and_no_limit_is_exceeded() {
    let Some(tools) = std::env::var_os(TOOLS) else {
        println!("skipped: {TOOLS} names no folder of tools that start a cluster");
        return;
    };
    let kills = number("HEADROOM_KILLS", KILLS);
    let mut random = Pcg64Mcg::seed_from_u64(number("HEADROOM_SEED", 1));
    let sizes = [("NODE_CPU", "8"), ("NODE_MEMORY", "32Gi")];
    let cluster = Running::start(Path::new(&tools), "it-faults", 4, &sizes);
    let log = cluster.folder.join("audit.log");
    let policy = cluster.folder.join("policy.yaml");
    std::fs::write(&policy, POLICY).unwrap();
    let audit = [("policy-file", &policy), ("log-path", &log)]
        .map(|(name, path)| format!("--audit-{name}={}", path.display()));
    cluster.start_part_with("kube-apiserver", &audit);

    let client = Client::new(&cluster);
    client.wait();
    client.prepare();
    let load = Load::start(client.clone(), random.random());
    let mut scheduler = Scheduler::start(&cluster);
    let begin = Instant::now();
    for kill in 1..=kills {
        // Often during the start, and often later.
        let most = if random.random_bool(0.5) { 600 } else { 3_000 };
        std::thread::sleep(Duration::from_millis(random.random_range(0..most)));
        if kill == kills / 2 {
            stop_etcd(&cluster, if kills > 100 { 60 } else { 5 });
        }
        if kill % KILLS_PER_RESTART == KILLS_PER_RESTART / 2 || kill == kills - 1 {
            cluster.start_part_with("kube-apiserver", &[]);
            if random.random_bool(0.5) {
                client.wait();
            }
        }
        scheduler.kill();
        scheduler = Scheduler::start(&cluster);
    }
    println!("{kills} kills in {:?}", begin.elapsed());
    client.wait();
    let created = load.stop();

    settle(&client, &mut scheduler);
    let rounds = drain(&client, &mut scheduler);
    scheduler.kill();

    let found = audit::check(&std::fs::read_to_string(&log).unwrap(), &QUOTAS, &LIMITS);
    println!(
        "{created} pods created by the load, {} pods in the audit log, {} binds, {} refused as bound already, all \
         gone after {rounds} rounds; the fullest namespace used {} %, the fullest user {} %",
        found.pods, found.binds, found.conflicts, found.namespace_percent, found.user_percent
    );
    assert!(found.binds > 0 && found.pods >= created);
    assert!(found.faults.is_empty(), "{:#?}", found.faults);
}

/// Stops etcd for a time. Meanwhile, the API server answers nothing.
fn stop_etcd(cluster: &Running, seconds: u64) {
    cluster.signal_part("etcd", "STOP");
    std::thread::sleep(Duration::from_secs(seconds));
    cluster.signal_part("etcd", "CONT");
}

/// Waits until usage equals the sum over live pods, and until no pod waits that could run.
fn settle(client: &Client, scheduler: &mut Scheduler) {
    let begin = Instant::now();
    loop {
        let wrong = client.differences(scheduler);
        if wrong.is_empty() {
            println!("settled after {:?}", begin.elapsed());
            return;
        }
        assert!(begin.elapsed() < SETTLED_WITHIN, "{wrong:#?}\n{}", scheduler.log());
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Deletes what runs until no pod is left. Each pod that waits must get its turn.
fn drain(client: &Client, scheduler: &mut Scheduler) -> usize {
    for round in 1.. {
        let pods = client.pods();
        if pods.is_empty() {
            settle(client, scheduler);
            return round;
        }
        let running: Vec<_> = pods.iter().filter(|pod| pod.is_bound()).collect();
        for pod in &running {
            client.delete(&pod.namespace, &pod.name);
        }
        let begin = Instant::now();
        while !client.pods().is_empty() && !client.pods().iter().any(load::Pod::is_bound) {
            assert!(begin.elapsed() < SETTLED_WITHIN, "pods wait for nothing\n{}", scheduler.log());
            std::thread::sleep(Duration::from_millis(100));
        }
    }
    unreachable!("the loop has no end")
}
