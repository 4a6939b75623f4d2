//! A fault at any operation on the disk, the death of the process and a loss of power, seen through
//! the engine: what was answered is there, nothing is there twice, and it goes on.

use std::collections::BTreeSet;
use std::sync::Arc;

use headroom_core::Command;
use headroom_engine::{Accepted, Engine, HandClock, Pace, Settings, Unavailable, audit};
use headroom_journal::disk::faulty::{Fault, FaultyDisk, Kept};
use headroom_journal::{FileStore, JournalError, ReadStore as _};

use crate::cluster::{START, ask, from, furniture, release};

/// What is sent, each under its number as id.
fn commands() -> Vec<Command> {
    let mut commands = furniture();
    for round in 0..8 {
        commands.push(ask(&format!("a{round}"), 1 + round % 3));
        if round % 3 == 2 {
            commands.push(release(&format!("a{}", round - 1)));
        }
    }
    commands
}

fn open(disk: &FaultyDisk) -> Result<FileStore, JournalError> {
    FileStore::open(Arc::new(disk.clone()))
}

fn start(store: FileStore) -> Option<Engine> {
    let mut settings = Settings::with(HandClock::at(START));
    settings.pace = Pace::ByHand;
    settings.retention.snapshot_every = 6;
    Engine::start(Box::new(store), settings).ok()
}

/// Sends the commands, with a restart in the middle, until none is accepted any more. Returns what was answered.
async fn work(disk: &FaultyDisk) -> Vec<Accepted> {
    let (mut answered, commands) = (Vec::new(), commands());
    let (front, back) = commands.split_at(commands.len() / 2);
    for half in [front, back] {
        let Some(engine) = open(disk).ok().and_then(start) else { return answered };
        let handle = engine.handle();
        for command in half {
            let id = answered.len().to_string();
            let outcome = match handle.submit(from("ann", &id, command.clone())).await {
                Ok(outcome) => outcome,
                Err(refused) => {
                    // The reason is the error of the disk, and is published.
                    engine.stop().await.expect_err("the disk failed");
                    let health = handle.health();
                    let reason = health.stopped.clone().expect("the engine has stopped");
                    assert_eq!(refused, Unavailable::Stopped { reason });
                    assert_eq!(health.stopped, health.journal_failure);
                    return answered;
                }
            };
            answered.push(outcome.expect("the commands are legal"));
            if answered.len().is_multiple_of(3) {
                let _ = handle.step(u32::MAX).await;
            }
        }
        if engine.stop().await.is_err() {
            return answered;
        }
    }
    answered
}

/// What is on a disk after all that can be done with it: it must hold what was answered, and take
/// the rest.
async fn check(disk: &FaultyDisk, answered: &[Accepted], how: &str) {
    let store = open(disk).unwrap_or_else(|error| panic!("{how}: {error}"));
    let audited = audit(&store).unwrap_or_else(|error| panic!("{how}: {error}"));
    assert_eq!(audited.others, 0, "{how}: {audited:?}");
    let mut ids = BTreeSet::new();
    for stored in store.read(store.first()).unwrap() {
        let record = store.decode(&stored.unwrap()).unwrap();
        if let Some(origin) = &record.origin {
            assert!(ids.insert(origin.command_id.clone()), "{how}: twice: {record:?}");
            let number: usize = origin.command_id.parse().unwrap();
            if let Some(accepted) = answered.get(number) {
                assert_eq!(record, accepted.entry.as_ref().unwrap().record, "{how}");
            }
        }
    }
    let engine = start(store).unwrap_or_else(|| panic!("{how}: it does not start"));
    let handle = engine.handle();
    for (number, command) in commands().into_iter().enumerate() {
        let again = handle.submit(from("ann", &number.to_string(), command)).await;
        let again = again.unwrap().unwrap_or_else(|refused| panic!("{how}: {number}: {refused}"));
        if let Some(first) = answered.get(number) {
            assert_eq!((again.sequence, again.repeated), (first.sequence, true), "{how}");
        }
    }
    handle.step(u32::MAX).await.unwrap();
    let view = handle.views().at_least(0).await;
    view.books.check().unwrap_or_else(|violation| panic!("{how}: {violation}"));
    let keys: BTreeSet<String> =
        view.books.allocations().iter().map(|(_, row)| row.key.to_string()).collect();
    assert_eq!(keys.len(), view.books.allocations().iter().count(), "{how}: twice");
    assert_eq!(keys, ["a0", "a2", "a3", "a5", "a6", "a7"].map(str::to_owned).into(), "{how}");
    engine.stop().await.unwrap_or_else(|error| panic!("{how}: {error}"));
}

async fn operations() -> u64 {
    let disk = FaultyDisk::default();
    let answered = work(&disk).await;
    assert_eq!(answered.len(), commands().len());
    check(&disk.after_kill(), &answered, "no fault").await;
    disk.operations()
}

/// In the quick loop, which says how many histories it wants, every tenth case.
fn stride() -> usize {
    if std::env::var_os("HEADROOM_HISTORIES").is_some() { 10 } else { 1 }
}

#[tokio::test]
async fn a_fault_at_any_operation_loses_nothing_that_was_answered() {
    let operations = operations().await;
    for (start, fault) in (0..).zip([Fault::Fails, Fault::Short, Fault::Full, Fault::Gone]) {
        for at in (start..operations).step_by(stride()) {
            let disk = FaultyDisk::default();
            disk.fail_at(at, fault);
            let answered = work(&disk).await;
            check(&disk.after_kill(), &answered, &format!("{fault:?} at {at}")).await;
        }
    }
    println!("{operations} operations");
}

#[tokio::test]
async fn a_loss_of_power_at_any_operation_loses_nothing_that_was_answered() {
    let mut chance = 1_u64;
    let mut kept = move || {
        chance =
            chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        [Kept::All, Kept::Half, Kept::Nothing][usize::try_from((chance >> 33) % 3).unwrap()]
    };
    for at in (0..operations().await).step_by(stride()) {
        let disk = FaultyDisk::default();
        disk.fail_at(at, Fault::Gone);
        let answered = work(&disk).await;
        check(&disk.after_power_loss(&mut kept), &answered, &format!("no power at {at}")).await;
    }
}
