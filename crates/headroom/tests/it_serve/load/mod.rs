//! A thousand clients of one tenant at once, and a server that is killed meanwhile: its quota holds at every version
//! of the ledger, each task starts once and ends once, and every reader sees one moment. Source: tenants TR-10,
//! TR-11, TR-13, TR-30, TR-42; TS-10, TS-11, TS-30.

mod ledger;
mod place;
mod reader;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use ledger::Ledger;
use place::Place;
use reader::Read;

const CLIENTS: usize = 1_000;
/// How many of them the quota lets start.
const QUOTA: usize = 100;
const THREADS: usize = 16;
/// How many end tasks at once.
const ENDERS: usize = 16;
const READERS: usize = 2;

const TASKS: &str = "/headroom/v1/tenants/a/tasks";

/// What a client was answered.
#[derive(Debug)]
struct Submitted {
    status: u16,
    task: String,
}

fn threads() -> Runtime {
    Builder::new_multi_thread().worker_threads(THREADS).enable_all().build().unwrap()
}

/// All clients submit a task of one core at once, each under a key of its own, and each says when it is answered.
async fn submit(place: Arc<Place>, answered: Sender<()>) -> Vec<Submitted> {
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let (place, answered) = (Arc::clone(&place), answered.clone());
        clients.spawn(async move {
            let body = json!({"resources": {"vcore": "1"}});
            let answer = place.post(TASKS, &format!("submit-{number}"), &body).await;
            answered.send(()).unwrap();
            assert!(matches!(answer.status, 201 | 202), "{answer:?}");
            let task = answer.body["id"].as_str().unwrap().to_owned();
            Submitted { status: answer.status, task }
        });
    }
    clients.join_all().await
}

fn ids(page: &Value) -> Vec<String> {
    let items = page["items"].as_array().unwrap();
    items.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

/// End tasks that run, by chance, until all have ended. Nobody asks for another start.
async fn drain(place: Arc<Place>, ended: Arc<Mutex<BTreeSet<String>>>, told: Sender<()>) {
    let mut enders = JoinSet::new();
    let left = Arc::new(AtomicUsize::new(CLIENTS));
    for number in 0..ENDERS {
        let (place, ended, told) = (Arc::clone(&place), Arc::clone(&ended), told.clone());
        let left = Arc::clone(&left);
        enders.spawn(async move {
            let mut chance = number as u64 + 1;
            let until = Instant::now() + place::PATIENCE;
            while left.load(Ordering::Relaxed) > 0 {
                let page = place.get(&format!("{TASKS}?state=STARTING&limit=1000")).await;
                let running = ids(&page);
                assert!(running.len() <= QUOTA, "{} run", running.len());
                assert!(Instant::now() < until, "something does not end");
                for _ in 0..running.len().min(4) {
                    chance = chance
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    let place_of = usize::try_from(chance >> 33).unwrap() % running.len();
                    let task = &running[place_of];
                    // Others may choose the same one: under its key it ends once.
                    let path = format!("/headroom/v1/tasks/{task}/release");
                    let body = json!({"outcome": "succeeded"});
                    let answer = place.post(&path, &format!("end-{task}"), &body).await;
                    assert_eq!(answer.status, 200, "{answer:?}");
                    let mut ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
                    if ended.insert(task.clone()) {
                        left.fetch_sub(1, Ordering::Relaxed);
                        told.send(()).unwrap();
                    }
                }
            }
        });
    }
    enders.join_all().await;
}

/// Kill the server as soon as so many were answered, and start it again.
fn kill_at(place: &Place, answered: &Receiver<()>, kills: &[usize]) {
    let mut count = 0;
    for kill in kills {
        while count < *kill {
            answered.recv().expect("clients continue");
            count += 1;
        }
        place.kill();
    }
}

/// All of it, with a server that is killed after so many submissions, and after so many ends. How often somebody has
/// read meanwhile.
fn load(name: &str, kills: &[usize]) -> usize {
    let runtime = threads();
    let place = Arc::new(Place::start(name, CLIENTS + ENDERS + READERS));
    runtime.block_on(place.furnish(QUOTA));
    let over = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..READERS)
        .map(|_| runtime.spawn(reader::read(Arc::clone(&place), Arc::clone(&over))))
        .collect();

    let (answered, to_count) = channel();
    let submitting = runtime.spawn(submit(Arc::clone(&place), answered));
    kill_at(&place, &to_count, kills);
    let submitted = runtime.block_on(submitting).unwrap();
    let count = |status: u16| submitted.iter().filter(|one| one.status == status).count();
    let stand = |state: &'static str| {
        let page = place.get_at(format!("{TASKS}?state={state}&limit=1000"));
        ids(&runtime.block_on(page)).len()
    };
    if kills.is_empty() {
        assert_eq!((count(201), count(202)), (QUOTA, CLIENTS - QUOTA), "at once, and later");
    } else {
        // After a restart nothing starts before the node has reported, or its time is over.
        assert!(count(201) <= QUOTA, "{} were answered as running", count(201));
        let until = Instant::now() + place::PATIENCE;
        while stand("STARTING") < QUOTA {
            assert!(Instant::now() < until, "the quota is not used");
            thread::sleep(Duration::from_millis(50));
        }
    }
    let tasks: BTreeSet<String> = submitted.into_iter().map(|one| one.task).collect();
    assert_eq!(tasks.len(), CLIENTS, "each client has a task of its own");
    assert_eq!((stand("STARTING"), stand("WAITING")), (QUOTA, CLIENTS - QUOTA));

    let ended = Arc::new(Mutex::new(BTreeSet::new()));
    let (answered, to_count) = channel();
    let draining = runtime.spawn(drain(Arc::clone(&place), Arc::clone(&ended), answered));
    kill_at(&place, &to_count, kills);
    runtime.block_on(draining).unwrap();
    over.store(true, Ordering::Relaxed);
    let reads: Vec<Vec<Read>> =
        readers.into_iter().map(|one| runtime.block_on(one).unwrap()).collect();
    assert_eq!(*ended.lock().unwrap(), tasks, "what was submitted has ended");

    let ledger = Ledger::of(&runtime.block_on(place.audit(CLIENTS)));
    ledger.judge(QUOTA, CLIENTS);
    for reads in &reads {
        assert!(reads.len() > 10, "somebody has read meanwhile: {}", reads.len());
        ledger.agrees_with(reads);
    }
    place.judge_and_end();
    reads.iter().map(Vec::len).sum()
}

#[test]
#[doc(alias = "SD-62")]
#[doc(alias = "SD-65")]
#[doc(alias = "TR-10")]
#[doc(alias = "TR-11")]
#[doc(alias = "TR-13")]
#[doc(alias = "TR-30")]
#[doc(alias = "TR-42")]
#[doc(alias = "TS-10")]
#[doc(alias = "TS-11")]
#[doc(alias = "TS-30")]
fn a_thousand_clients_never_pass_the_quota() {
    println!("{} answers were read", load("load", &[]));
}

#[test]
#[doc(alias = "SD-62")]
#[doc(alias = "TR-13")]
#[doc(alias = "TS-10")]
#[doc(alias = "TS-11")]
fn kill_9_in_the_middle_starts_nothing_twice_and_loses_nothing() {
    println!("{} answers were read", load("load-killed", &[37, 300, 700]));
}
