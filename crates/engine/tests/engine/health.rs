//! Health of the engine, and its periodic work.

use std::sync::Arc;
use std::time::Duration;

use headroom_core::config::{Configuration, PartitionConfig, QueueConfig};
use headroom_core::{Millis, Name};
use headroom_engine::users::{Resolvers, Submitted, Users};
use headroom_engine::{
    CHECK_EVERY, Engine, HandClock, Pace, SNAPSHOT_AGAIN_AFTER, Settings, Unavailable,
};
use headroom_journal::{MemoryJournal, NoStore};

use crate::cluster::{Cluster, START, ask, from};

/// Why an ask for nothing is refused.
const NOTHING: &str = "ask none of application app requests {vcore: 0 m}, but at least one amount must be \
                       positive and none negative. Correct the amounts.";

#[tokio::test]
async fn what_is_counted_is_as_new_as_the_last_answer() {
    let cluster = Cluster::furnished(&MemoryJournal::default()).await;
    let before = cluster.handle.views().at_least(0).await;
    assert_eq!((before.work.records, before.work.commands), (3, 3));
    assert!(before.work.bytes > 100 && (1..=3).contains(&before.work.batches()));
    let refused = cluster.handle.submit(ask("none", 0)).await.unwrap().unwrap_err();
    assert_eq!(refused.to_string(), NOTHING);
    let after = cluster.handle.views().latest();
    assert_eq!(after.sequence, before.sequence, "a refusal makes no record");
    assert_eq!((after.work.commands, after.work.refused), (4, 1));
    assert_eq!(after.counters.errors, before.counters.errors + 1);
    assert!(Arc::ptr_eq(&after.books, &before.books), "and copies no books");
    cluster.accept(from("ann", "1", ask("a1", 1))).await;
    cluster.accept(from("ann", "1", ask("a1", 1))).await;
    cluster.turn(Millis::new(1)).await;
    let work = cluster.handle.views().latest().work;
    assert_eq!((work.commands, work.repeated, work.steps), (6, 1, 2));
    assert_eq!(work.records, cluster.handle.feed().newest());
}

#[tokio::test]
async fn without_a_journal_books_are_published_for_a_reader_and_otherwise_at_intervals() {
    let clock = HandClock::at(START);
    let engine =
        Engine::start(Box::new(NoStore::default()), Settings::with(clock.clone())).unwrap();
    let handle = engine.handle();
    let cluster = Cluster { engine, handle, clock };
    cluster.furnish().await;
    let views = cluster.handle.views();
    let mut copies = 0;
    let mut last = Arc::clone(&views.latest().books);
    for number in 0..200 {
        cluster.accept(ask(&format!("a{number}"), 1)).await;
        let books = &views.latest().books;
        copies += u32::from(!Arc::ptr_eq(&last, books));
        last.clone_from(books);
    }
    assert!(copies < 200, "each small batch made a copy, without a reader");
    // A reader has the books.
    let newest = cluster.handle.feed().newest();
    let read = tokio::time::timeout(Duration::from_secs(10), views.at_least(newest)).await.unwrap();
    assert!(read.sequence >= newest);
    // Without a reader, the writer publishes them by itself.
    cluster.accept(ask("b", 1)).await;
    cluster.accept(ask("c", 1)).await;
    while views.latest().sequence < cluster.handle.feed().newest() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn with_a_journal_what_was_answered_can_be_read_after_the_journal_failed() {
    let journal = MemoryJournal::default();
    let cluster = Cluster::with(&journal, |settings| settings.pace = Pace::Automatic);
    cluster.furnish().await;
    for number in 0..100 {
        cluster.accept(ask(&format!("a{number}"), 1)).await;
    }
    journal.set_failing(true);
    cluster.handle.submit(ask("lost", 1)).await.unwrap_err();
    let view = cluster.handle.views().at_least(0).await;
    let keys = || view.books.allocations().iter().map(|(_, row)| row.key.as_str());
    assert!(keys().any(|key| key == "a99") && keys().all(|key| key != "lost"));
}

#[tokio::test]
async fn health_is_told_while_it_works_and_after_it_has_stopped() {
    let journal = MemoryJournal::default();
    let cluster = Cluster::furnished(&journal).await;
    cluster.accept(ask("a1", 1)).await;
    cluster.turn(Millis::new(1)).await;
    let health = cluster.handle.health();
    assert!(health.is_serving(), "{health:?}");
    assert_eq!(health.last_flush, Some(START + Millis::new(1)));
    assert!(health.flush_p99.is_some_and(|p99| p99 < Duration::from_secs(5)), "{health:?}");
    assert_eq!((health.backlog, health.flushing_since, health.snapshot_failure), (0, None, None));
    assert_eq!(health.steps_per_second, 2, "in what counts as a second at least");
    journal.set_failing(true);
    let refused = cluster.handle.submit(ask("a2", 1)).await.unwrap_err();
    let health = cluster.handle.health();
    assert!(!health.is_serving());
    let failure = health.journal_failure.expect("the journal failed");
    assert!(failure.contains("a test made the store fail"), "{failure}");
    assert_eq!(health.stopped.as_deref(), Some(failure.as_str()));
    assert_eq!(refused, Unavailable::Stopped { reason: failure });
    let Cluster { engine, handle, .. } = Cluster::on(&MemoryJournal::default());
    engine.stop().await.unwrap();
    let health = handle.health();
    assert_eq!((health.is_serving(), health.journal_failure), (false, None));
    assert_eq!(health.stopped.as_deref(), Some("the scheduler has ended"));
}

#[tokio::test]
async fn what_waits_is_told() {
    let cluster = Cluster::on(&MemoryJournal::default());
    let (release, released) = std::sync::mpsc::channel::<()>();
    let (began, begins) = tokio::sync::oneshot::channel();
    let handle = cluster.handle.clone();
    let held = tokio::spawn(async move {
        let hold = move |_: &_, _: &_| {
            began.send(()).unwrap();
            released.recv().unwrap();
        };
        handle.inspect(hold).await
    });
    begins.await.unwrap();
    let handle = cluster.handle.clone();
    let waiting = tokio::spawn(async move { handle.submit(ask("x", 1)).await });
    while cluster.handle.backlog() == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(cluster.handle.health().backlog, 1);
    release.send(()).unwrap();
    held.await.unwrap().unwrap();
    waiting.await.unwrap().unwrap().unwrap_err();
    assert_eq!(cluster.handle.health().backlog, 0);
}

#[tokio::test]
async fn a_snapshot_that_cannot_be_taken_is_told_and_tried_again_later() {
    let journal = MemoryJournal::default();
    let cluster = Cluster::with(&journal, |settings| {
        settings.pace = Pace::ByHand;
        settings.retention.snapshot_every = 5;
    });
    cluster.furnish().await;
    journal.set_snapshots_failing(true);
    for round in 0..20 {
        cluster.accept(ask(&format!("a{round}"), 1)).await;
    }
    let health = cluster.handle.health();
    let failure = health.snapshot_failure.expect("it failed");
    assert_eq!((failure.time, health.stopped), (START, None));
    assert!(failure.reason.contains("a test made the store fail"), "{failure:?}");
    let work = cluster.handle.views().latest().work.snapshots;
    assert_eq!((work.failed, work.taken.count()), (1, 0), "not again at once");

    journal.set_snapshots_failing(false);
    cluster.turn(SNAPSHOT_AGAIN_AFTER).await;
    while cluster.handle.views().latest().work.snapshots.taken.count() == 0 {
        cluster.turn(Millis::new(1)).await;
    }
    assert_eq!(cluster.handle.health().snapshot_failure, None);
    assert!(cluster.handle.views().latest().work.snapshots.last_bytes > 0);
    journal.set_snapshots_failing(true);
    let Cluster { engine, handle, .. } = cluster;
    handle.submit(ask("last", 1)).await.unwrap().unwrap();
    engine.stop().await.expect("what was answered is durable without a snapshot");
    assert!(handle.health().snapshot_failure.is_some());
}

#[tokio::test]
async fn the_books_are_checked_at_the_start_and_by_the_clock() {
    let cluster = Cluster::furnished(&MemoryJournal::default()).await;
    let first = cluster.handle.checked().expect("a check at the start");
    assert_eq!((first.sequence, first.time, first.is_healthy()), (0, START, true));
    let refused = cluster.handle.submit(ask("none", 0)).await.unwrap().unwrap_err();
    assert_eq!(refused.to_string(), NOTHING);
    cluster.turn(CHECK_EVERY - Millis::new(1)).await;
    assert_eq!(cluster.handle.checked().unwrap().time, START, "not yet");
    cluster.turn(Millis::new(1)).await;
    let second = cluster.handle.checked().unwrap();
    assert_eq!((second.sequence, second.time), (3, START + CHECK_EVERY));
    assert!(!second.is_healthy(), "an ask was refused: {second:?}");
    cluster.handle.check_every(None);
    cluster.turn(CHECK_EVERY + CHECK_EVERY).await;
    assert_eq!(cluster.handle.checked().unwrap().time, second.time, "it was turned off");
    cluster.handle.check_every(Some(Millis::from_secs(1)));
    cluster.turn(Millis::new(1)).await;
    assert!(cluster.handle.checked().unwrap().time > second.time);
}

#[tokio::test]
async fn by_itself_it_goes_round_too() {
    let cluster = Cluster::with(&MemoryJournal::default(), |_| {});
    let checked = loop {
        match cluster.handle.checked() {
            Some(checked) => break checked,
            None => tokio::time::sleep(Duration::from_millis(1)).await,
        }
    };
    assert!(checked.is_healthy());
    cluster.engine.stop().await.unwrap();
}

#[tokio::test]
async fn what_is_remembered_of_users_is_cleaned_by_the_clock() {
    let mut partition = PartitionConfig::new("default", QueueConfig::default());
    "test".clone_into(&mut partition.user_group_resolver);
    let partitions = vec![partition];
    let resolvers = Resolvers::of(&Configuration { partitions, ..Configuration::default() });
    let users = Arc::new(Users::default());
    users.configure(&resolvers.unwrap(), START);
    let cluster = Cluster::with(&MemoryJournal::default(), |settings| {
        settings.pace = Pace::ByHand;
        settings.users = Some(Arc::clone(&users));
    });
    let submitted = Submitted { user: Name::new("ann"), ..Submitted::default() };
    users.convert("default", &submitted, START).unwrap();
    let is_remembered = || users.cache("default").unwrap().entry("ann").is_some();
    cluster.turn(Millis::from_secs(300)).await;
    assert!(is_remembered());
    cluster.turn(Millis::from_secs(2)).await;
    assert!(!is_remembered(), "it is too old");
}
