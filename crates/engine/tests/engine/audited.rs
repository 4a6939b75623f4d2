//! A journal judged again.

use headroom_core::{AskEvent, Event, Millis};
use headroom_engine::{Pace, ReplayError, audit};
use headroom_journal::{
    Journal, MemoryJournal, MemoryStore, ReadStore as _, Record, SnapshotHead, Store as _,
};

use crate::cluster::{Cluster, ask, release};

/// Some asks and releases, of which the keys begin with `name`; then a last snapshot.
async fn played(name: &str, snapshot_every: u64) -> MemoryJournal {
    let journal = MemoryJournal::default();
    let cluster = Cluster::with(&journal, |settings| {
        settings.pace = Pace::ByHand;
        settings.retention.snapshot_every = snapshot_every;
    });
    play(cluster, name).await;
    journal
}

async fn play(cluster: Cluster, name: &str) {
    cluster.furnish().await;
    for round in 0..30 {
        cluster.accept(ask(&format!("{name}{round}"), 1 + round % 3)).await;
        cluster.turn(Millis::from_secs(1)).await;
        if round % 3 == 2 {
            cluster.accept(release(&format!("{name}{}", round - 1))).await;
        }
    }
    cluster.engine.stop().await.unwrap();
}

/// The same records in another journal, some of them changed, and no snapshot.
fn copied(store: &MemoryStore, change: impl Fn(&mut Record)) -> MemoryStore {
    let journal = MemoryJournal::default();
    let mut copy = Journal::new(Box::new(journal.open()));
    for stored in store.read(1).unwrap() {
        let mut record = store.decode(&stored.unwrap()).unwrap();
        change(&mut record);
        let bytes = copy.encode(&record).unwrap();
        copy.add(&record, bytes);
    }
    copy.sync().unwrap();
    journal.open()
}

#[tokio::test]
async fn what_was_decided_is_decided_again() {
    let store = played("a", 1_000).await.open();
    let audited = audit(&store).unwrap();
    let last = store.next() - 1;
    assert_eq!((audited.base, audited.judged, audited.others), (None, last, 0));
    assert_eq!(audited.compared, [last], "the last snapshot is what the records make");
}

#[tokio::test]
async fn where_the_first_records_are_gone_it_begins_with_a_snapshot() {
    let journal = played("a", 10).await;
    let store = journal.open();
    let (first, last) = (store.first(), store.next() - 1);
    assert!(first > 1, "some were dropped");
    let audited = audit(&store).unwrap();
    assert_eq!((audited.base, audited.judged), (Some(first - 1), last + 1 - first));
    assert_eq!((audited.others, audited.compared), (0, vec![last]));
    drop(store);
    let cluster = Cluster::on(&journal);
    cluster.accept(ask("later", 1)).await;
    drop(cluster);
    // By now there may be another snapshot, and less before it.
    let store = journal.open();
    let judged = audit(&store).unwrap().judged;
    assert_eq!((store.next(), judged), (last + 2, store.next() - store.first()));
}

#[tokio::test]
async fn what_would_be_decided_otherwise_is_counted() {
    let store = played("a", 1_000).await.open();
    let other = copied(&store, |record| {
        for event in &mut record.events {
            if let (10.., Event::Ask(AskEvent::Added { priority, .. })) = (record.sequence, event) {
                *priority += 1;
            }
        }
    });
    let audited = audit(&other).unwrap();
    assert_eq!((audited.judged, audited.others), (store.next() - 1, 28), "28 of the asks");
    assert_eq!(audited.first_other, Some(10));
}

#[tokio::test]
async fn a_snapshot_that_differs_from_its_records_is_found() {
    let store = played("a", 1_000).await.open();
    let last = store.next() - 1;
    let other = played("b", 1_000).await.open();
    assert_eq!(other.next() - 1, last);
    let mut copy = copied(&store, |_| {});
    let head = SnapshotHead { sequence: last, format: 1, digest: 0 };
    let mut writer = copy.begin_snapshot(copy.lease(), head).unwrap();
    for chunk in other.snapshot(last).unwrap().chunks {
        writer.chunk(&chunk.unwrap()).unwrap();
    }
    writer.finish().unwrap();
    let found = audit(&copy);
    assert!(
        matches!(found, Err(ReplayError::Differs { sequence }) if sequence == last),
        "{found:?}"
    );
}
