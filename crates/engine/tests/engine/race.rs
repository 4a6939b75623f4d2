//! Tasks that independent threads cancel while they start, and whose ends are reported three times. Source: tenants
//! TR-51, TR-52, TS-12.

use std::collections::BTreeMap;

use headroom_core::books::TaskRequest;
use headroom_core::testkit::amounts;
use headroom_core::{
    AllocationEvent, Ask, AskEvent, Command, Event, Name, Submit, SubmitTask, TaskChange, view,
};
use headroom_engine::testkit::MemoryJournal;
use headroom_engine::{Handle, Pace};
use tokio::task::JoinSet;

use crate::cluster::{Cluster, default};
use crate::trail_scene::{furniture, quota, set};

const TASKS: u32 = 10_000;
/// How many run at once.
const QUOTA: i64 = 8;
/// How many are under way at once: more than may run, so that each end starts another.
const AT_ONCE: usize = 32;

fn submission(task: &str) -> Command {
    let submit = Submit {
        partition: default(),
        application: Name::new(task),
        tenant: Name::new("a"),
        user: Name::new("ann"),
        ..Submit::default()
    };
    let ask = Ask {
        partition: default(),
        application: Name::new(task),
        key: Name::new(task),
        resources: amounts([("vcore", 1_000)]),
        ..Ask::default()
    };
    Command::SubmitTask(Box::new(SubmitTask { submit, ask, ..SubmitTask::default() }))
}

/// Have something happen to a task; none if it is not there.
async fn change(handle: &Handle, task: &str, change: TaskChange) -> Option<bool> {
    let command = Command::ChangeTask { partition: default(), task: Name::new(task), change };
    match handle.submit(command).await.unwrap() {
        Ok(_) => Some(true),
        Err(refusal) if refusal.code().as_str() == "UNKNOWN_TASK" => None,
        Err(_) => Some(false),
    }
}

/// Submit a task on one thread, cancel it on another, and tell on three that it has stopped.
async fn one(handle: Handle, number: u32) {
    let task = format!("t{number}");
    let (submitter, name) = (handle.clone(), task.clone());
    let submitted = tokio::spawn(async move {
        submitter.submit(submission(&name)).await.unwrap().unwrap();
    });
    let (canceller, name) = (handle.clone(), task.clone());
    let cancelled = tokio::spawn(async move {
        // Some come with the submission, others a while behind it.
        for _ in 0..number % 5 {
            tokio::task::yield_now().await;
        }
        while change(&canceller, &name, TaskChange::Cancel).await.is_none() {}
    });
    submitted.await.unwrap();
    cancelled.await.unwrap();
    let mut ends = JoinSet::new();
    for _ in 0..3 {
        let (handle, task) = (handle.clone(), task.clone());
        let end = TaskChange::End { succeeded: false, request: TaskRequest::default() };
        ends.spawn(async move { change(&handle, &task, end).await });
    }
    let taken = ends.join_all().await.into_iter().filter(|end| *end == Some(true)).count();
    assert!(taken <= 1, "{task} has ended {taken} times");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[doc(alias = "TS-12")]
#[doc(alias = "TR-51")]
#[doc(alias = "TR-52")]
async fn a_cancel_that_races_with_a_start_charges_and_releases_once() {
    let cluster = Cluster::with(&MemoryJournal::default(), |settings| {
        settings.pace = Pace::Automatic;
        settings.retention.entries = usize::MAX;
    });
    for command in furniture() {
        cluster.accept(command).await;
    }
    cluster.accept(set("a", quota(QUOTA))).await;
    let mut tasks = JoinSet::new();
    for number in 0..TASKS {
        tasks.spawn(one(cluster.handle.clone(), number));
        if tasks.len() >= AT_ONCE {
            tasks.join_next().await.unwrap().unwrap();
        }
    }
    tasks.join_all().await;

    let (mut charged, mut released) = (BTreeMap::new(), BTreeMap::new());
    let mut running = 0;
    for entry in cluster.handle.feed().read(1, usize::MAX).unwrap() {
        for (event, named) in entry.record.events.iter().zip(&entry.named) {
            let (counts, by) = match event {
                Event::Ask(AskEvent::Placed { .. }) => (&mut charged, 1),
                Event::Allocation(AllocationEvent::Released { .. }) => (&mut released, -1),
                _ => continue,
            };
            *counts.entry(named.key.clone()).or_insert(0) += 1;
            running += by;
            assert!((0..=QUOTA).contains(&running), "{running} run");
        }
    }
    assert!(charged.values().all(|count| *count == 1), "nobody is charged twice");
    assert_eq!(charged, released, "each charge was released once");
    let started = u32::try_from(charged.len()).unwrap();
    // The race has gone either way, many times.
    assert!((100..=TASKS - 100).contains(&started), "{started} have started");
    let view = cluster.handle.views().at_least(0).await;
    let partition = view.books.partition_named(&default()).unwrap();
    let used = view::tenant(&view.books, partition, &Name::new("a")).unwrap().used;
    assert!(used.iter().all(|(_, amount)| amount.get() == 0), "{used:?}");
    println!("{started} of {TASKS} had started when they were cancelled");
}
